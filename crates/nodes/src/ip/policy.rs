//! Policy routing: what a list says of a packet leads it elsewhere than its destination does.
//!
//! ```text
//!  ip4_input ─▶ ip4_policy ─┬─ no rule says so, for us ─▶ ip4_lookup
//!                           └─ a rule does ─┬─ next hop ─▶ ip4_rewrite
//!                                           ├─ VRF ─▶ (as its routes say)
//!                                           └─ not to be had ─▶ ip4_lookup, or drop      ip6 likewise
//! ```
//! Both nodes stand on the way only while some port has a policy; packets of other ports pass them
//! by the interface that they came in by.

use crate::filter::{AccessList, PacketJudge};
use crate::interface::run_of;
use crate::ip::{MemberPicker, PacketRoutes, RouteAddress};
use crate::tables::{Interfaces, Kind, Setup, VrfId, Vrfs};
use acl::Verdict;
use fib::Forward;
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::ecmp::GroupId;
use graph::{Context, Exit, ExitIndex, Exits, Published};
use packet::{Frame, PacketView};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Whether some port has a policy: nodes in front of a lookup ask once a vector.
pub struct ByPolicy(Arc<AtomicBool>);

impl ByPolicy {
    /// As all workers know.
    pub fn new(setup: &Setup) -> Self {
        Self(Arc::clone(&setup.shared.has_policies))
    }

    /// Whether packets go by a policy first.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Has the first `count` packets that would be looked up go by a policy first, if there is one.
    #[inline(always)]
    pub fn lead<E: Exit>(&self, count: usize, exits: &mut Exits<'_, E>, [lookup, policy]: [E; 2]) {
        if self.is_on() {
            let (lookup, policy): (ExitIndex, ExitIndex) = (lookup.into(), policy.into());
            for slot in 0..count {
                if exits.is(slot, lookup) {
                    exits.set(slot, policy);
                }
            }
        }
    }
}

/// The list by which an interface's packets are routed, in its row. Two are the same that are one
/// list.
#[derive(Clone, Debug)]
pub struct Policy {
    /// What packets are judged by.
    pub list: Arc<AccessList>,
    /// By the numbers of its rules: where those lead that lead somewhere.
    pub ways: Arc<[Option<Arc<PolicyWay>>]>,
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.list, &other.list) && Arc::ptr_eq(&self.ways, &other.ways)
    }
}

/// Where a rule leads packets, written by the control thread whenever that changes.
#[derive(Debug, Default)]
pub struct PolicyWay {
    to: AtomicU32,
    /// Packets are dropped while it is not to be had; otherwise they are routed as usual.
    pub or_drop: bool,
}

impl PolicyWay {
    /// Nowhere yet.
    pub fn new(or_drop: bool) -> Self {
        Self { to: AtomicU32::new(Forward::NONE.bits()), or_drop }
    }

    /// By this adjacency, as this VRF says, or nowhere.
    pub fn lead(&self, to: Forward) {
        self.to.store(to.bits(), Ordering::Release);
    }

    /// Where it leads now.
    pub fn to(&self) -> Forward {
        Forward::from_bits(self.to.load(Ordering::Acquire))
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Its destination's route says.
    AsUsual,
    /// By the kind of what was found; its id is in the packet.
    Led(u8),
    /// The list denies it.
    Denied,
    /// No list can judge it.
    Unreadable,
    /// A rule leads it where nobody is, and it shall not go elsewhere.
    NoWay,
}

/// What both nodes are.
pub(super) struct PolicyRouting<A> {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    members: MemberPicker,
    judge: PacketJudge,
    family: std::marker::PhantomData<A>,
}

impl<A: RouteAddress> PolicyRouting<A> {
    /// As all workers route.
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            vrfs: setup.shared.vrfs.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            members: MemberPicker::new(setup),
            judge: PacketJudge::new(),
            family: std::marker::PhantomData,
        }
    }

    /// Tells of each packet of an interface with a policy what becomes of it.
    pub(super) fn hold(
        &mut self,
        frame: &mut Frame,
        context: &Context<'_>,
        mut told: impl FnMut(usize, Outcome),
    ) {
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        let mut from = 0;
        while from < frame.len() {
            let (id, until) = run_of(frame.rx(), from);
            let slots = std::mem::replace(&mut from, until)..until;
            let Some(row) = interfaces.get(id) else { continue };
            let Some(policy) = row.get::<Policy>() else { continue };
            let vlan = row.outer_vlan().unwrap_or(0);
            let Self { adjacencies, members, judge, .. } = self;
            let looked_up = Lookup { interfaces, vrfs, adjacencies, members, rx: id };
            hold_run(
                judge,
                &policy.list,
                frame,
                (slots, vlan, context.worker),
                &mut |packet, verdict| {
                    let outcome = looked_up.outcome::<A>(&policy.ways, packet, verdict);
                    told(packet.index(), outcome);
                },
            );
        }
    }
}

/// Has a list judge packets of one interface, and counts what it decides.
fn hold_run(
    judge: &mut PacketJudge,
    list: &AccessList,
    frame: &mut Frame,
    (slots, vlan, worker): (Range<usize>, u16, u16),
    told: &mut dyn FnMut(&mut PacketView<'_>, Option<Verdict>),
) {
    let counters = list.counters.get(usize::from(worker));
    judge.ask(list, frame, slots, vlan);
    for (slot, verdict) in judge.answers() {
        let mut packet = frame.view(slot);
        if let (Some(counters), Some(verdict)) = (counters, verdict) {
            counters.add(verdict, packet.length() as u32);
        }
        told(&mut packet, verdict);
    }
}

/// What routes of one interface's packets are asked.
struct Lookup<'a> {
    interfaces: &'a Interfaces,
    vrfs: &'a Vrfs,
    adjacencies: &'a AdjacencyTable,
    members: &'a MemberPicker,
    rx: u16,
}

impl Lookup<'_> {
    fn outcome<A: RouteAddress>(
        &self,
        ways: &[Option<Arc<PolicyWay>>],
        packet: &mut PacketView<'_>,
        verdict: Option<Verdict>,
    ) -> Outcome {
        let Some(verdict) = verdict else { return Outcome::Unreadable };
        if !verdict.is_permitted() {
            return Outcome::Denied;
        }
        let number = verdict.number().map(|number| number as usize);
        let Some(Some(way)) = number.and_then(|number| ways.get(number)) else {
            return Outcome::AsUsual;
        };
        let destination = A::destination(packet.header()).unwrap_or_default();
        let usual = PacketRoutes::new(self.vrfs, self.interfaces, self.rx).to(destination);
        // What is for us, or for a link alone, is nothing that a policy leads elsewhere.
        let stays = [Kind::Local, Kind::Link, Kind::Martian];
        if stays.iter().any(|kind| usual.kind() == *kind as u8) {
            return Outcome::AsUsual;
        }
        match self.way::<A>(way.to(), destination, packet) {
            Some(to) => {
                packet.set_adjacency(to.id());
                Outcome::Led(to.kind())
            }
            None if way.or_drop => Outcome::NoWay,
            None => Outcome::AsUsual,
        }
    }

    /// Where a rule leads a packet; none if that is not to be had.
    fn way<A: RouteAddress>(
        &self,
        to: Forward,
        destination: A,
        packet: &mut PacketView<'_>,
    ) -> Option<Forward> {
        if to.kind() == Kind::Rewrite as u8 {
            let entry = self.adjacencies.entry(AdjacencyId(to.id()))?;
            return entry.fields().is_complete().then_some(to);
        }
        if to.kind() != Kind::Vrf as u8 {
            return None;
        }
        let found = PacketRoutes::of_vrf(self.vrfs, VrfId(to.id() as u16)).to(destination);
        let found = match found.kind() == Kind::Group as u8 {
            true => self.members.pick_one(GroupId(found.id()), packet.header(), self.rx),
            false => found,
        };
        (found.kind() != Kind::NoRoute as u8).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::ip4_input::Ip4Input;
    use crate::ip::{ip4_policy::Ip4Policy, ip6_policy::Ip6Policy};
    use crate::testing::{
        FAR, FAR6, HOST, HOST6, INCOMPLETE, NARROW, RED, ROUTED_VLAN, TO_GATEWAY, TO_GATEWAY6,
        TO_HOST, US, US6, World,
    };
    use acl::{Acl4, Acl6, Action, Ports, Rule, RuleCounters};
    use graph::Node;
    use graph::harness::NodeHarness;
    use wire::craft;

    const ROOM: usize = 1 << 20;

    /// UDP: port 1 is led by a way, port 2 by one that drops, port 3 as usual, port 4 denied; the
    /// rest as usual. Of VLAN 100, port 5 is led as well.
    fn policy() -> Policy {
        fn rules<A: fib::Address>() -> Vec<(u32, Rule<A>)> {
            let to = |port| Rule {
                protocol: Some(17),
                destination_ports: Some(Ports::one(port)),
                ..Rule::any(if port == 4 { Action::Deny } else { Action::Permit })
            };
            let tagged = Rule { vlan: Some(100), ..to(5) };
            (0..).zip([to(1), to(2), to(3), to(4), tagged]).collect()
        }
        let list = AccessList {
            ip4: Acl4::new::<u32>(&rules(), Action::Permit, ROOM).unwrap(),
            ip6: Acl6::new::<u128>(&rules(), Action::Permit, ROOM).unwrap(),
            wide: None,
            counters: [RuleCounters::new(5)].into(),
        };
        let way = |or_drop| Some(Arc::new(PolicyWay::new(or_drop)));
        let ways = [way(false), way(true), None, None, way(false)].into();
        Policy { list: Arc::new(list), ways }
    }

    fn lead(policy: &Policy, kind: Kind, id: u32) {
        policy.ways.iter().flatten().for_each(|way| way.lead(Forward::new(kind as u8, id)));
    }

    fn world(policy: &Policy) -> World {
        let mut world = World::new();
        for id in [0, ROUTED_VLAN] {
            world.change_interface(id, |row| row.put(Some(policy.clone())));
        }
        world
    }

    /// Exits and adjacencies of datagrams to these ports of an address.
    fn run(world: &World, rx: u16, to: [u8; 4], ports: &[u16]) -> Vec<(String, u32)> {
        let packet = |port: &u16| craft::ipv4(HOST, to).udp(9, *port).build();
        let packets: Vec<_> = ports.iter().map(packet).collect();
        let mut node = NodeHarness::<Ip4Policy>::new(&world.setup).unwrap();
        node.run(&packets, rx, 0).into_iter().map(|out| (out.exit, out.adjacency)).collect()
    }

    fn exits(world: &World, rx: u16, ports: &[u16]) -> Vec<String> {
        run(world, rx, FAR, ports).into_iter().map(|(exit, _)| exit).collect()
    }

    #[test]
    fn a_rule_leads_packets_to_its_next_hop_and_counts() {
        let policy = policy();
        let world = world(&policy);
        lead(&policy, Kind::Rewrite, TO_HOST);
        let led = run(&world, 0, FAR, &[1, 2]);
        assert_eq!(led, vec![("rewrite".to_owned(), TO_HOST); 2]);
        assert_eq!(exits(&world, 0, &[3, 4, 5]), ["lookup", "denied", "lookup"]);
        let counted: Vec<_> = policy.list.counters[0].read().collect();
        assert_eq!(counted, [(1, 28), (1, 28), (1, 28), (1, 28), (0, 0), (1, 28)]);
        // Other interfaces have no policy; a VLAN is known by what its row says.
        assert_eq!(exits(&world, 1, &[1, 2, 4]), ["lookup"; 3]);
        assert_eq!(exits(&world, ROUTED_VLAN, &[5]), ["rewrite"]);
    }

    #[test]
    fn what_is_not_to_be_had_goes_as_usual_or_nowhere() {
        let policy = policy();
        let world = world(&policy);
        assert_eq!(exits(&world, 0, &[1, 2]), ["lookup", "no-way"], "nowhere yet");
        for (kind, id) in [(Kind::Rewrite, INCOMPLETE), (Kind::Rewrite, 9999), (Kind::Vrf, 77)] {
            lead(&policy, kind, id);
            assert_eq!(exits(&world, 0, &[1, 2]), ["lookup", "no-way"], "{kind:?} {id}");
        }
    }

    #[test]
    fn a_rule_leads_packets_to_a_vrf_whose_routes_say_the_rest() {
        let policy = policy();
        let mut world = world(&policy);
        let red = world.add_red();
        let add = |prefix: &str, kind: Kind, id| {
            red.ip4.insert(prefix.parse().unwrap(), Forward::new(kind as u8, id)).unwrap()
        };
        add("10.0.0.0/8", Kind::Rewrite, NARROW);
        add("10.1.0.0/16", Kind::Blackhole, 0);
        add("10.2.0.0/16", Kind::Group, 0);
        add("10.3.0.0/16", Kind::Vrf, 0);
        add("10.4.0.0/16", Kind::Glean, 1);
        lead(&policy, Kind::Vrf, RED.0.into());
        let one = |to| run(&world, 0, to, &[1]).remove(0);
        assert_eq!(one(FAR), ("rewrite".to_owned(), NARROW));
        assert_eq!(one([10, 1, 0, 1]).0, "blackhole");
        let (exit, member) = one([10, 2, 0, 1]);
        assert!(exit == "rewrite" && [TO_HOST, TO_GATEWAY].contains(&member));
        // Led back to the default VRF, where another route says.
        assert_eq!(one([10, 3, 0, 1]).0, "prohibit");
        assert_eq!(one([10, 4, 0, 1]), ("glean".to_owned(), 1));
        assert_eq!(run(&world, 0, [172, 16, 0, 1], &[1])[0].0, "lookup");
        assert_eq!(run(&world, 0, [172, 16, 0, 1], &[2])[0].0, "no-way");
    }

    #[test]
    fn what_is_for_us_or_for_a_link_stays() {
        let policy = policy();
        let world = world(&policy);
        lead(&policy, Kind::Rewrite, TO_GATEWAY);
        for to in [US, [224, 0, 0, 5], [192, 0, 2, 255]] {
            assert_eq!(run(&world, 0, to, &[1, 2])[0].0, "lookup", "{to:?}");
        }
    }

    #[test]
    fn over_ipv6_likewise() {
        let policy = policy();
        let world = world(&policy);
        lead(&policy, Kind::Rewrite, TO_GATEWAY6);
        let mut node = NodeHarness::<Ip6Policy>::new(&world.setup).unwrap();
        let of = |to, port| craft::ipv6(HOST6, to).udp(9, port).build();
        let link: std::net::Ipv6Addr = "fe80::1".parse().unwrap();
        let mut short = of(FAR6, 1);
        short.truncate(40);
        short[6] = 0;
        let packets = [of(FAR6, 1), of(FAR6, 4), of(FAR6, 9), of(US6, 1), of(link, 1), short];
        let out = node.run(&packets, 0, 0);
        let exits: Vec<&str> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["rewrite", "denied", "lookup", "lookup", "lookup", "unreadable"]);
        assert_eq!(out[0].adjacency, TO_GATEWAY6);
    }

    #[test]
    fn packets_come_by_only_while_some_port_has_a_policy() {
        fn exits<N: Node<Setup = Setup>>(world: &World, packets: &[Vec<u8>]) -> Vec<String> {
            let mut node = NodeHarness::<N>::new(&world.setup).unwrap();
            node.run(packets, 0, 0).into_iter().map(|out| out.exit).collect()
        }
        let world = World::new();
        let good = craft::ipv4(HOST, FAR).udp(1, 2).build();
        let mut bad = good.clone();
        bad[10] ^= 1;
        let mixed = [good.clone(), bad];
        let plain = [good.clone(), good];
        assert_eq!(exits::<Ip4Input>(&world, &plain), ["lookup"; 2]);
        assert_eq!(exits::<Ip4Input>(&world, &mixed), ["lookup", "bad-checksum"]);
        world.setup.shared.has_policies.store(true, Ordering::Relaxed);
        assert_eq!(exits::<Ip4Input>(&world, &plain), ["policy"; 2]);
        assert_eq!(exits::<Ip4Input>(&world, &mixed), ["policy", "bad-checksum"]);
        let six = [craft::ipv6(HOST6, FAR6).udp(1, 2).build()];
        assert_eq!(exits::<crate::ip::ip6_input::Ip6Input>(&world, &six), ["policy"]);
        let options = [craft::ipv4(HOST, FAR).raw_options(&[1, 1, 1, 0]).udp(1, 2).build()];
        assert_eq!(exits::<crate::ip::ip4_options::Ip4Options>(&world, &options), ["policy"]);
        let hops = [craft::ipv6(HOST6, FAR6).hop_by_hop(&[]).udp(1, 2).build()];
        assert_eq!(exits::<crate::ip::ip6_hop_by_hop::Ip6HopByHop>(&world, &hops), ["policy"]);
    }
}
