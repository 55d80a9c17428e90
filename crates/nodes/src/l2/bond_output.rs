//! Finds the member of a bond that a frame leaves by: all frames of a flow by one, so that none
//! overtakes another (IEEE 802.1AX-2014 section 6.6).
//!
//! ```text
//!  interface_output, vlan_output ─▶ bond_output ┬▶ interface_output   of the member
//!                                               └▶ drop
//! ```
//! The member counts it once more, and its features and its scheduler see it.

use crate::tables::{BondWays, Interfaces, Setup};
use graph::{Context, Exits, Node, Published};
use packet::Frame;

/// See the module.
pub struct BondOutput {
    interfaces: Published<Interfaces>,
}

graph::exits! {
    /// What becomes of a frame that is to leave by a bond.
    pub enum Exit {
        /// By this member.
        Output => node "interface-output",
        /// No member carries frames.
        NoMember => drop "Look why no member of the bond carries frames: `volley show bonds`.",
    }
}

impl Node for BondOutput {
    const NAME: &'static str = "bond-output";
    const ABOUT: &'static str = "finds the members that frames of bonds leave by";
    const BEGINS_AGAIN: bool = true;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone() }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut tx = frame.tx()[0];
        let mut ways = interfaces.bond_ways(tx);
        exits.each(frame, |packet| {
            if packet.tx() != tx {
                tx = packet.tx();
                ways = interfaces.bond_ways(tx);
            }
            let leaves =
                |ways: &BondWays| ways.member_for(packet.header(), packet.length(), context.worker);
            match ways.and_then(leaves) {
                Some(member) => {
                    packet.set_tx(member);
                    Exit::Output
                }
                None => Exit::NoMember,
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{SHARES, ShareLoads};
    use crate::testing::{BOND, BOND_MEMBERS, World};
    use graph::harness::NodeHarness;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use wire::craft;

    fn run(world: &World, frames: &[Vec<u8>], tx: u16) -> Vec<(String, u16)> {
        let mut node = NodeHarness::<BondOutput>::new(&world.setup).unwrap();
        let out = node.run_prepared(frames, 9, 0, |frame| frame.tx_mut().fill(tx));
        out.into_iter().map(|out| (out.exit, out.tx)).collect()
    }

    #[test]
    fn frames_leave_by_the_members_that_carry_each_flow_by_one() {
        let mut world = World::new();
        let frames: Vec<Vec<u8>> = (0..100)
            .map(|port| craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(port, 6).build())
            .collect();
        let by = run(&world, &frames, BOND);
        assert!(by.iter().all(|(exit, _)| exit == "output"));
        assert_eq!(by.iter().map(|(_, tx)| *tx).collect::<BTreeSet<_>>(), BOND_MEMBERS.into());
        assert_eq!(run(&world, &frames, BOND), by);
        let ways = |members: Vec<u16>| Some(BondWays { members, ..BondWays::default() });
        world.change_interface(BOND, |row| row.put(ways(vec![BOND_MEMBERS[1]])));
        let by = run(&world, &frames, BOND);
        assert!(by.iter().all(|it| *it == ("output".to_owned(), BOND_MEMBERS[1])));
        world.change_interface(BOND, |row| row.put(ways(Vec::new())));
        assert_eq!(run(&world, &frames[..1], BOND)[0].0, "no-member");
        assert_eq!(run(&world, &frames[..1], 0)[0].0, "no-member");
    }

    #[test]
    fn what_each_share_of_stations_carries_is_counted_where_that_is_asked_for() {
        let mut world = World::new();
        let loads = Arc::new(ShareLoads::new(1));
        let counting = Some(Arc::clone(&loads));
        let ways = BondWays { loads: counting, ..BondWays::by_source(&BOND_MEMBERS) };
        world.change_interface(BOND, |row| row.put(Some(ways.clone())));
        let frame = |last: u8| craft::ethernet([4, 0, 0, 0, 0, last], [2; 6]).ipv4(1, 2).udp(3, 4);
        let frames = [1, 2, 1].map(|last| frame(last).payload_len(100).build());
        let by = run(&world, &frames, BOND);
        assert_eq!(by[0], by[2]);
        let totals = loads.totals();
        let (used, of): (Vec<usize>, Vec<u64>) =
            (0..SHARES).map(|share| (share, totals[share])).filter(|it| it.1 != 0).unzip();
        let bytes = frames[0].len() as u64;
        assert_eq!((of.len(), of.iter().sum::<u64>()), (2, 3 * bytes));
        for (share, of) in used.iter().zip(of) {
            let member = ways.members[*share];
            let left = by.iter().filter(|(_, tx)| *tx == member).count() as u64;
            assert!(of == left * bytes || left == 3);
        }
    }
}
