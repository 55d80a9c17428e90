//! What nodes stand on: the tables they read, the counters they write, the ways to the control
//! thread and back.
//!
//! ```text
//!  control thread ── Published tables ──▶ workers        interfaces (and fib's tables)
//!                 ── mailbox ──────────▶ one worker      queues of ports that come and go
//!                 ── shape letters ────▶ one worker      schedulers of shaped ports
//!                 ◀─ slow path ───────── workers         packets and news, bounded
//!  kernel's twins ◀─ twin queue ─────── workers         packets for us, bounded
//!                 ◀─ counters ────────── workers         read at any time
//! ```

mod access;
mod arp_answer;
mod bindings;
mod bridge;
mod classify;
mod counters;
mod departure;
mod entrance;
mod feature;
mod flow;
mod icmp_message;
mod interfaces;
mod ip4_stamps;
mod ip6_options;
mod judge;
mod link_header;
mod mailbox;
mod marking;
mod mirror;
mod nd_answer;
mod own_ip4;
mod own_ip6;
mod policing;
mod protocols;
mod ranges;
mod rate_limit;
mod route_lookup;
mod setup;
mod shaping;
mod slow_path;
mod source;
mod source_lookup;
mod stations;
mod suppression;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod topology;
mod transport;
mod tunnel;
mod tunnel_headers;
mod twin;
mod vlan;
mod vrfs;
mod way_out;

pub use access::{Access, AccessList, Question};
pub use arp_answer::answer_arp;
pub use bindings::{Bindings, Bound};
pub use bridge::{BridgeId, BridgePort};
pub use classify::{Classifier, ForwardedIn, mark_congestion};
pub use counters::{
    BridgedCounters, DropCounters, InterfaceCounters, MOST_INTERFACES, MirroredCounters,
    TwinnedCounters, WorkerCounters, is_outbound,
};
pub use departure::Departure;
pub(crate) use departure::departures;
pub(crate) use entrance::entrances;
pub use entrance::{Entrance, ReceivedRun};
pub use feature::{Feature, Features, Run, Setting, Side, Turns, input_turn, output_turn, run_of};
pub use flow::{MemberPicker, ip4_flow, ip6_flow, split_words};
pub use icmp_message::{ICMP_BYTES, icmp_cause, sum_icmp, was_group_frame, write_icmp_error};
pub use interfaces::{
    Interface, InterfaceId, Interfaces, Link, Mode, address_of_link_key, bridge_port, link_key,
};
pub use ip4_stamps::{OptionsFound, Stamp, blank_options, stamp_options};
pub use ip6_options::{OptionFault, check_options};
pub use judge::{Judge, Refusal};
pub use link_header::{each_with_adjacency, leave_by};
pub use mailbox::{Mailbox, RxAttachment, TxAttachment};
pub use marking::{Mark, colour_of};
pub(crate) use mirror::copy_each;
pub use mirror::{Copies, MirrorTo};
pub use nd_answer::NdAnswer;
pub use own_ip4::{OWN_TTL, OwnIp4, sum_ip4_header};
pub use own_ip6::OwnIp6;
#[cfg(test)]
pub(crate) use policing::testing as testing_police;
pub use policing::{NamedPolicer, Policed, Treatment};
pub use protocols::Protocols;
pub use ranges::Ranges;
pub use rate_limit::RateLimit;
pub use route_lookup::{MOST_LED_ON, PacketRoutes, RouteAddress, RouteLookup};
pub use setup::{IcmpLimits, Kind, Reception, Setup, Shared};
pub use shaping::{
    HandOver, Leftover, Outcome, PacketScheduler, ShapeLetter, ShapeLetters, Shaper,
};
pub use slow_path::{
    ArpNews, BetterWay, BindingNews, Injected, Injector, NdNews, NdSaid, SlowPath, SlowPathEvents,
    SlowPathNews, StationMoved, slow_path,
};
pub use source::Source;
pub use source_lookup::SourceLookup;
pub use stations::Stations;
pub use suppression::Suppression;
pub use transport::{TcpFault, TcpReset, UdpFault, UdpFound, UdpPorts, find_udp};
pub use tunnel::{Ends, Inside, Tunnel, TunnelKey, Wrap};
pub use tunnel_headers::TunnelHeaders;
pub use twin::{ToTwin, TwinClass, TwinLimits, TwinQueue, twin_queue};
pub use vlan::{TAG_BYTES, Vlan, VlanMap, VlanTags};
pub use vrfs::{VrfId, VrfTables, Vrfs};
pub use way_out::leaves_by;
