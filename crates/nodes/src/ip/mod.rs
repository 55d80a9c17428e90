//! Forwarding of IPv4 and IPv6: checks, options, lookup, the link header of the next hop.
//!
//! ```text
//!  ip_express ─▶ interface_output                                     whole vectors of plain packets
//!  ip4_input ─▶ ip4_lookup ─▶ ip4_rewrite ─▶ interface_output        ip6 likewise
//!        └▶ ip4_options  │        └▶ ip4_fragment
//!                        └▶ ip_resolve                               the next hop's MAC is asked for
//! ```
//! While a port has a policy, packets pass `ip4_policy` in front of the lookup. What is to stand
//! between these nodes has `ip_express` leave packets to them, as that does.

mod better_way6;
mod express;
mod flow;
mod flow_by_rule;
mod inside;
mod ip4_headers;
mod ip4_stamps;
mod ip6_headers;
mod ip6_options;
mod link_header;
mod next_hop_count;
mod own_ip4;
mod own_ip6;
mod policy;
mod route_lookup;
mod way_out;

pub(crate) use flow::ip4_header_and_ports;
pub use flow::{MemberPicker, ip4_flow, ip6_flow, split_words};
pub use flow_by_rule::flow_by_rule;
pub use inside::innermost;
pub use ip4_broadcast::DirectedBroadcasts;
pub use ip4_stamps::{OptionsFound, Stamp, blank_options, stamp_options};
pub use ip6_options::{OptionFault, check_options};
pub use link_header::{each_with_adjacency, leave_by, leave_by_sole_next_hop};
pub use next_hop_count::NextHopCount;
pub use own_ip4::{OWN_TTL, OwnIp4, sum_ip4_header};
pub use own_ip6::OwnIp6;
pub use policy::{ByPolicy, Policy, PolicyWay};
pub use route_lookup::{MOST_LED_ON, PacketRoutes, RouteAddress, RouteLookup};
pub use way_out::{is_on_link, leaves_by};

nodes! {
    redirect_input::RedirectInput as feature,
    ip_express::IpExpress,
    ip4_express::Ip4Express,
    ip6_express::Ip6Express,
    ip4_input::Ip4Input,
    ip4_options::Ip4Options,
    ip4_policy::Ip4Policy,
    ip4_lookup::Ip4Lookup,
    ip4_broadcast::Ip4Broadcast,
    ip4_rewrite::Ip4Rewrite,
    ip4_fragment::Ip4Fragment,
    ip6_input::Ip6Input,
    ip6_hop_by_hop::Ip6HopByHop,
    ip6_policy::Ip6Policy,
    ip6_lookup::Ip6Lookup,
    ip6_link::Ip6Link,
    ip6_rewrite::Ip6Rewrite,
    ip_resolve::IpResolve,
}
