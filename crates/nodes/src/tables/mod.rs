//! What the control thread and workers share: the tables that workers read, the counters they
//! write, the ways to the control thread and back.
//!
//! ```text
//!  control thread ── Published tables ──▶ workers        interfaces (and fib's tables)
//!                 ── mailbox ──────────▶ one worker      queues of ports that come and go
//!                 ── shape letters ────▶ one worker      schedulers of shaped ports
//!                 ◀─ slow path ───────── workers         punts, bounded
//!  kernel's twins ◀─ twin queue ─────── workers         packets for us, bounded
//!                 ◀─ counters ────────── workers         read at any time
//! ```

mod bindings;
mod bond;
mod bridge;
mod counters;
mod dropped;
mod echoes;
mod feature;
mod flow_asked;
mod flow_bridges;
mod flow_rules;
mod interfaces;
mod lisp;
mod listeners;
mod mailbox;
#[cfg(test)]
mod mailbox_tests;
mod next_hop_counters;
mod rate_limit;
mod settings;
mod setup;
mod shaping;
mod slow_path;
mod stations;
mod tunnel;
mod twin;
mod vlan;
mod vrfs;

pub use bindings::{Bindings, Bound};
pub use bond::{BondHash, BondMember, BondWays, Collects, SHARES, ShareLoads};
use bridge::Members;
pub use bridge::{BridgeId, BridgePort, ComesBack, FlowPort, Heeds, Spanning, bridge_port};
pub use counters::{
    BridgedCounters, DropCounters, InterfaceCounters, MOST_INTERFACES, MirroredCounters,
    TwinnedCounters, WorkerCounters, is_outbound,
};
pub use dropped::{DroppedPacket, KEPT_BYTES, KEPT_PACKETS, Keeper, LastDropped};
pub use echoes::{EchoHeard, EchoIds, EchoSaid, MOST_ECHOES};
pub use feature::{Feature, Features, Received, Run, Sent, Setting, SettingOf, Side, Work};
pub use flow_asked::{FlowAsked, FlowTelling, FlowsTold};
pub use flow_bridges::{
    FlowBridge, FlowBridges, FlowClock, FlowRow, FlowState, MOST_MEGAFLOWS, Tracking,
};
pub use flow_rules::{FlowRule, FlowRules, MOST_VXLAN_PORTS, flow_field};
pub use interfaces::{
    Interface, InterfaceId, Interfaces, Link, Mode, address_of_link_key, link_key,
};
use lisp::lisps;
pub use lisp::{Lisp, LispInstance, LispLink, LispSource, LispSources};
pub use listeners::{Heeding, Listeners, Way, is_for_all, is_of_link};
pub use mailbox::{Mailbox, RxAttachment, TxAttachment};
pub use next_hop_counters::NextHopCounters;
pub use rate_limit::{RateLimit, RateLimits};
pub use settings::Settings;
pub use setup::{IcmpLimits, Ip4Rules, Kind, Reception, Setup, Shared};
pub use shaping::{HandOver, Leftover, Outcome, ShapeLetter, ShapeLetters, Shaper};
pub use slow_path::{
    ArpHeard, BetterWay, BetterWay6, BindingHeard, BpduHeard, EidWanted, FlowTold, GroupsSaid,
    Injected, InjectedQueue, Injector, LacpHeard, Lane, LispSaid, ListenersWanted, NdHeard, NdSaid,
    PieceCame, Punt, Punts, RemoteHeard, RouterWanted, SlowPath, StationMoved, Unresolved,
    slow_path,
};
pub use stations::{Announced, Stations};
use tunnel::Tunnels;
pub(crate) use tunnel::gre_bytes;
pub use tunnel::{
    Ends, Erspan, ErspanVersion, Inside, Numbered, Tunnel, TunnelKey, Wrap, own_of, tell_own,
};
pub use twin::{ToTwin, TwinClass, TwinLimits, TwinQueue, twin_queue};
use vlan::Vlans;
pub use vlan::{CustomerVlans, OneTag, TAG_BYTES, Vlan, VlanMap, VlanTags};
pub use vrfs::{VrfId, VrfTables, Vrfs};
