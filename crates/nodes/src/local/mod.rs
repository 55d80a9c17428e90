//! Packets to the router itself, and what it answers: ARP and neighbour discovery, ICMP, closed
//! ports of UDP and TCP. What is for others on this machine goes to the kernel's twin of the
//! interface.
//!
//! ```text
//!  ip4_lookup ─▶ ip4_local ┬▶ icmp4_input ─▶ icmp4_echo                ip6 likewise
//!                          ├▶ udp4_local, tcp4_reset
//!                          └▶ twin_output                             the kernel answers
//!  any node ─▶ icmp4_error                                            why a packet was not forwarded
//! ```

mod arp_answer;
mod echo_heard;
mod icmp_message;
mod nd_answer;
mod protocols;
mod proxy_nd;
mod refusals;
mod transport;

pub use arp_answer::answer_arp;
pub use echo_heard::{EchoEar, Heard, read_echo4, read_echo6, unsent_echo4, unsent_echo6};
pub use icmp_message::{ICMP_BYTES, icmp_cause, sum_icmp, was_group_frame, write_icmp_error};
pub use nd_answer::NdAnswer;
pub use protocols::Protocols;
pub use proxy_nd::ProxyNd;
pub(crate) use proxy_nd::hears_for_others;
pub use refusals::Refusals;
pub(crate) use transport::udp_exits;
pub use transport::{
    TcpFault, TcpReset, UdpFault, UdpFound, UdpLocal, UdpOver, UdpPorts, find_udp,
};

pub use arp_input::ProxyArp;
pub use icmp4_error::{LONGEST_BYTES, NEEDS_FRAGMENTS, PRECEDENCE, is_answerable4};
pub use icmp6_error::{TOO_BIG, is_answerable6};
pub use twin_output::Twin;

nodes! {
    arp_input::ArpInput,
    ip4_local::Ip4Local,
    icmp4_input::Icmp4Input,
    icmp4_broadcast::Icmp4Broadcast,
    icmp4_echo::Icmp4Echo,
    icmp4_error::Icmp4Error,
    udp4_local::Udp4Local,
    tcp4_reset::Tcp4Reset,
    ip6_local::Ip6Local,
    icmp6_input::Icmp6Input,
    icmp6_echo::Icmp6Echo,
    icmp6_error::Icmp6Error,
    nd_input::NdInput,
    mld_input::MldInput,
    udp6_local::Udp6Local,
    tcp6_reset::Tcp6Reset,
    ip_reassemble::IpReassemble,
    twin_output::TwinOutput,
}
