//! Holds what interfaces receive to their access lists: the first rule that fits decides.
//!
//! ```text
//!  interface_input, (a feature) ─▶ acl_input ┬▶ (the next feature), interface_enter
//!                                            └▶ drop     denied
//! ```
//! Lists speak of IP packets alone: ARP and what else there is passes.

use crate::filter::Judge;
use crate::tables::{Feature, Received};

/// See the module.
pub enum AclInput {}

impl Feature for AclInput {
    const NAME: &'static str = "acl-input";
    const ABOUT: &'static str = "holds received packets to access lists";
    const PLACE: u8 = 20;
    type Side = Received;
    type Work = Judge;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{Access, AccessList, WideList};
    use crate::interface::InTurn;
    use crate::testing::{FAR, GRE_LINK, HOST, ROUTED_VLAN, World};
    use acl::{Acl4, Acl6, Action, More, Pieces, Ports, Rule, RuleCounters, Wide4, Wide6};
    use graph::harness::NodeHarness;
    use std::sync::Arc;
    use wire::craft;

    const ROOM: usize = 1 << 20;

    /// Denies port 53, permits UDP, and denies the rest.
    fn list() -> Arc<AccessList> {
        fn rules<A: fib::Address>() -> [(u32, Rule<A>); 2] {
            let udp = Rule { protocol: Some(17), ..Rule::any(Action::Permit) };
            let dns = Rule { destination_ports: Some(Ports::one(53)), action: Action::Deny, ..udp };
            [(0, dns), (1, udp)]
        }
        Arc::new(AccessList {
            ip4: Acl4::new::<u32>(&rules(), Action::Deny, ROOM).unwrap(),
            ip6: Acl6::new::<u128>(&rules(), Action::Deny, ROOM).unwrap(),
            wide: None,
            counters: [RuleCounters::new(2)].into(),
        })
    }

    fn frames() -> Vec<Vec<u8>> {
        let frame = || craft::ethernet([2; 6], [4; 6]);
        let mut arp = frame().ipv4(HOST, FAR).udp(1, 53).build();
        arp[12..14].copy_from_slice(&[8, 6]);
        let mut lying = frame().ipv4(HOST, FAR).udp(1, 99).build();
        lying[14] = 0x65;
        vec![
            frame().ipv4(HOST, FAR).udp(1, 53).build(),
            frame().ipv4(HOST, FAR).udp(1, 99).build(),
            frame().ipv6([1; 16], [2; 16]).udp(1, 53).build(),
            frame().ipv6([1; 16], [2; 16]).udp(1, 99).build(),
            frame().ipv4(HOST, FAR).tcp(1, 99).build(),
            arp,
            lying,
        ]
    }

    /// The exits of all frames, received by `id` that has the list.
    fn exits(id: u16, list: &Arc<AccessList>) -> Vec<String> {
        let mut world = World::new();
        world.change_interface(id, |row| row.set::<AclInput>(Some(Access::new(Arc::clone(list)))));
        let mut node = NodeHarness::<InTurn<AclInput>>::new(&world.setup).unwrap();
        node.run(&frames(), id, 0).into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn the_first_rule_decides_for_both_families_and_counts() {
        let list = list();
        let expected = ["denied", "enter", "denied", "enter", "denied", "enter", "unreadable"];
        assert_eq!(exits(0, &list), expected);
        let all = frames();
        let bytes = |which: &[usize]| {
            (which.len() as u64, which.iter().map(|n| all[*n].len() as u64).sum())
        };
        let counted: Vec<_> = list.counters[0].read().collect();
        assert_eq!(counted, [bytes(&[0, 2]), bytes(&[1, 3]), bytes(&[4])]);
    }

    #[test]
    fn frames_of_several_ports_are_each_held_to_their_own_list() {
        let mut world = World::new();
        world.change_interface(0, |row| row.set::<AclInput>(Some(Access::new(list()))));
        let mut node = NodeHarness::<InTurn<AclInput>>::new(&world.setup).unwrap();
        let denied = &frames()[..1];
        assert_eq!(node.run(denied, 0, 0)[0].exit, "denied");
        assert_eq!(node.run(denied, 2, 0)[0].exit, "enter");
    }

    #[test]
    fn a_sub_interface_is_asked_with_the_vlan_that_it_takes_off() {
        let of_vlan = |vlan| Rule { vlan: Some(vlan), ..Rule::any(Action::Permit) };
        for (vlan, exit) in [(100, "enter"), (0, "denied"), (7, "denied")] {
            let list = Arc::new(AccessList {
                ip4: Acl4::new::<u32>(&[(0, of_vlan(vlan))], Action::Deny, ROOM).unwrap(),
                ip6: Acl6::new::<u128>(&[], Action::Deny, ROOM).unwrap(),
                wide: None,
                counters: [RuleCounters::new(1)].into(),
            });
            assert_eq!(exits(ROUTED_VLAN, &list)[1], exit);
        }
    }

    #[test]
    fn a_list_may_ask_for_service_ttl_fragments_and_stations() {
        let more = More { dscp: Some(46), pieces: Some(Pieces::None), ..More::default() };
        let only = Rule { more, ..Rule::any(Action::Permit) };
        let list = Arc::new(AccessList {
            ip4: Acl4::new::<u32>(&[], Action::Deny, ROOM).unwrap(),
            ip6: Acl6::new::<u128>(&[], Action::Deny, ROOM).unwrap(),
            wide: Some(Box::new(WideList {
                ip4: Wide4::new::<u32>(&[(0, only)], Action::Deny, ROOM).unwrap(),
                ip6: Wide6::new::<u128>(&[], Action::Deny, ROOM).unwrap(),
            })),
            counters: [RuleCounters::new(1)].into(),
        });
        let mut world = World::new();
        world.change_interface(0, |row| row.set::<AclInput>(Some(Access::new(Arc::clone(&list)))));
        let mut node = NodeHarness::<InTurn<AclInput>>::new(&world.setup).unwrap();
        let to = |tos| craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR).tos(tos);
        let mut arp = to(0).build();
        arp[12..14].copy_from_slice(&[8, 6]);
        let frames = [
            to(46 << 2 | 1).udp(1, 2).build(),
            to(0).udp(1, 2).build(),
            to(46 << 2).fragment(0, true).udp(1, 2).payload(&[0; 16]).build(),
            craft::ethernet([2; 6], [4; 6]).ipv6([1; 16], [2; 16]).udp(1, 2).build(),
            arp,
        ];
        let out = node.run(&frames, 0, 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["enter", "denied", "denied", "denied", "enter"]);
        let counted: Vec<_> = list.counters[0].read().collect();
        assert_eq!((counted[0].0, counted[1].0), (1, 3));
    }

    #[test]
    fn what_could_be_laid_over_a_judged_tcp_header_passes_no_list() {
        let list = list();
        let mut world = World::new();
        world.change_interface(0, |row| row.set::<AclInput>(Some(Access::new(list))));
        let mut node = NodeHarness::<InTurn<AclInput>>::new(&world.setup).unwrap();
        let piece = |protocol, offset, more, length| {
            let to = craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR);
            to.fragment(offset, more).protocol(protocol).payload(&vec![0; length]).build()
        };
        let frames = [
            piece(6, 8, false, 40),
            piece(6, 16, true, 40),
            piece(6, 24, false, 40),
            piece(6, 0, true, 16),
            piece(6, 0, true, 24),
            piece(17, 8, false, 40),
            piece(17, 0, true, 8),
        ];
        let out = node.run(&frames, 0, 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        // UDP has all of its header in the first eight octets: what follows is no trick.
        let expected =
            ["unreadable", "unreadable", "denied", "unreadable", "denied", "enter", "enter"];
        assert_eq!(exits, expected);
    }

    /// What of a whole packet and of one in three parts goes by a list that permits the rest.
    fn parts_through(rule: Rule<u32>) -> [bool; 4] {
        let list = Arc::new(AccessList {
            ip4: Acl4::new::<u32>(&[(0, rule)], Action::Permit, ROOM).unwrap(),
            ip6: Acl6::new::<u128>(&[], Action::Permit, ROOM).unwrap(),
            wide: None,
            counters: [RuleCounters::new(1)].into(),
        });
        let mut world = World::new();
        world.change_interface(0, |row| row.set::<AclInput>(Some(Access::new(list))));
        let mut node = NodeHarness::<InTurn<AclInput>>::new(&world.setup).unwrap();
        let to = || craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR);
        // What stands where the ports would be says 53.
        let later =
            |offset, more| to().fragment(offset, more).protocol(17).payload(&[0, 53, 0, 53]);
        let frames = [
            to().udp(53, 53).payload(&[0; 40]).build(),
            to().fragment(0, true).udp(53, 53).payload(&[0; 40]).build(),
            later(48, true).build(),
            later(96, false).build(),
        ];
        let out = node.run(&frames, 0, 0);
        std::array::from_fn(|at| out[at].exit == "enter")
    }

    #[test]
    fn later_fragments_fit_rules_without_ports_alone() {
        let udp = Rule { protocol: Some(17), ..Rule::any(Action::Deny) };
        assert_eq!(parts_through(udp), [false; 4]);
        for ports in [Ports::one(53), Ports::ALL] {
            let by_port = Rule { destination_ports: Some(ports), ..udp };
            assert_eq!(parts_through(by_port), [false, false, true, true]);
        }
    }

    #[test]
    fn packets_of_a_tunnel_are_judged_from_their_own_header_on() {
        let mut world = World::new();
        world.change_interface(GRE_LINK, |row| row.set::<AclInput>(Some(Access::new(list()))));
        let mut node = NodeHarness::<InTurn<AclInput>>::new(&world.setup).unwrap();
        let packets = [
            craft::ipv4(HOST, FAR).udp(1, 53).build(),
            craft::ipv4(HOST, FAR).udp(1, 99).build(),
            craft::ipv6([1; 16], [2; 16]).udp(1, 53).build(),
            vec![0x50; 20],
        ];
        let out = node.run(&packets, GRE_LINK, 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["denied", "enter", "denied", "unreadable"]);
    }
}
