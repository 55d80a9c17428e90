//! Leads IPv4 packets where their port's policy says, before their destination is looked up.

use crate::ip::ip_resolve;
use crate::ip::policy::{Outcome, PolicyRouting};
use crate::ip::route_lookup::numbered_as_kinds;
use crate::local::icmp_cause;
use crate::tables::Setup;
use graph::{Context, ExitIndex, Exits, Node, exit_index};
use packet::Frame;
use wire::icmp4::{message, unreachable};

/// See the module.
pub struct Ip4Policy(PolicyRouting<u32>);

graph::exits! {
    /// In the order of [`Kind`](crate::tables::Kind), but for the first and the last ones.
    pub enum Exit {
        /// No rule leads it elsewhere, or where nobody is: its destination's route says.
        Lookup => node "ip4-lookup",
        /// Out by an adjacency.
        Rewrite => node "ip4-rewrite",
        /// The other VRF has its destination for an address of ours.
        Local => node "ip4-local",
        /// A neighbour on a connected subnet of the other VRF that is not known yet.
        Glean => node "ip-resolve" cause ip_resolve::INTERFACE,
        /// The other VRF's route says to drop.
        Blackhole => drop "If it is to be forwarded: `volley lookup ADDRESS --vrf NAME` names the \
            route that says so.",
        /// The other VRF's route says that the host cannot be reached.
        Unreachable => answer "icmp4-error"
            "If it is to be forwarded: `volley lookup ADDRESS --vrf NAME` names the route that \
            says so."
            cause icmp_cause(message::UNREACHABLE, unreachable::HOST),
        /// The other VRF's route says that this is forbidden.
        Prohibit => answer "icmp4-error"
            "If it is to be forwarded: `volley lookup ADDRESS --vrf NAME` names the route that \
            says so."
            cause icmp_cause(message::UNREACHABLE, unreachable::ADMIN_PROHIBITED),
        /// Loopback, multicast or reserved: no router forwards to it.
        MartianDestination => drop "Nothing for the router: the sender's application asks for an \
            address that is no host's.",
        /// RFC 2644: directed broadcasts are not forwarded.
        DirectedBroadcast => drop "Nothing: such broadcasts served attacks.",
        /// Routes lead from one VRF to the next and on, in a ring perhaps.
        VrfRing => drop "Look at the routes with `via_vrf`: two VRFs lead this network to each \
            other.",
        /// The list of the port's `policy` denies it.
        Denied => drop "`volley show acl` counts what each rule met; put a rule that permits or \
            routes it in front of the one that denies it.",
        /// Its headers are cut short or wrong: no list can judge it.
        Unreadable => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The rule's next hop does not answer, its port is down, or its VRF has no route; and the
        /// rule has `fallback = "drop"`.
        NoWay => drop "Look at the next hop by `volley show neighbors`, or at the VRF's routes; \
            `fallback = \"usual\"` routes such packets as others.",
    }
}

const _: () = numbered_as_kinds([
    Exit::Lookup as u8,
    Exit::Rewrite as u8,
    Exit::Local as u8,
    Exit::Glean as u8,
    Exit::Blackhole as u8,
    Exit::Unreachable as u8,
    Exit::Prohibit as u8,
    Exit::MartianDestination as u8,
    Exit::DirectedBroadcast as u8,
    Exit::VrfRing as u8,
]);

impl Node for Ip4Policy {
    const NAME: &'static str = "ip4-policy";
    const ABOUT: &'static str = "routes IPv4 packets by access lists";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self(PolicyRouting::new(setup))
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        exits.run(0..frame.len(), Exit::Lookup);
        self.0.hold(frame, context, |slot, outcome| exits.set(slot, exit(outcome)));
    }
}

fn exit(outcome: Outcome) -> ExitIndex {
    match outcome {
        Outcome::AsUsual => Exit::Lookup.into(),
        Outcome::Led(kind) => exit_index(kind.min(Exit::VrfRing as u8)),
        Outcome::Denied => Exit::Denied.into(),
        Outcome::Unreadable => Exit::Unreadable.into(),
        Outcome::NoWay => Exit::NoWay.into(),
    }
}
