//! Holds what interfaces receive to what was agreed, and marks it (RFC 2697, RFC 2698, RFC 2474).
//!
//! ```text
//!  interface_input, (a feature) ─▶ policer_input ┬▶ (the next feature), interface_enter    perhaps marked
//!                                                └▶ drop    above what was agreed
//! ```

use crate::filter::Policing;
use crate::tables::{Feature, Received};

/// See the module.
pub enum PolicerInput {}

impl Feature for PolicerInput {
    const NAME: &'static str = "policer-input";
    const ABOUT: &'static str = "holds received frames to what was agreed, and marks them";
    const PLACE: u8 = 40;
    type Side = Received;
    type Work = Policing;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{
        Mark, Policed,
        testing_police::{EF, counted, few_packets, frame, policed},
    };
    use crate::interface::InTurn;
    use crate::testing::{FAR, FAR6, GRE_LINK, HOST, HOST6, World};
    use graph::harness::{NodeHarness, Outcome};
    use wire::craft;

    fn run(id: u16, policed: &Policed, frames: &[Vec<u8>]) -> Vec<Outcome> {
        let mut world = World::new();
        world.change_interface(id, |row| row.set::<PolicerInput>(Some(policed.clone())));
        let mut node = NodeHarness::<InTurn<PolicerInput>>::new(&world.setup).unwrap();
        node.run(frames, id, 0)
    }

    #[test]
    fn each_colour_has_its_treatment_and_is_counted() {
        let policed = policed(Mark::default(), false);
        let out = run(0, &policed, &[frame(1), frame(1), frame(1), frame(1)]);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["enter", "enter", "enter", "exceeding"]);
        let frames: Vec<_> = out[..3].iter().map(|out| out.header.clone()).collect();
        assert_eq!(frames, [frame(1), frame(1), frame(12)]);
        assert_eq!(counted(&policed), [(2, 120), (1, 60), (1, 60)]);
    }

    #[test]
    fn packets_are_counted_whatever_their_length() {
        let policed = few_packets();
        let long = || craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR).udp(1, 2).payload_len(1400);
        let long = || long().build();
        let out = run(0, &policed, &[long(), frame(0), long(), frame(0), long()]);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["enter", "enter", "enter", "exceeding", "exceeding"]);
        assert_eq!(counted(&policed), [(3, 2 * 1442 + 60), (0, 0), (2, 60 + 1442)]);
    }

    #[test]
    fn one_that_is_aware_of_colours_makes_nothing_better() {
        let policed = policed(Mark::default(), true);
        let out = run(0, &policed, &[frame(22), frame(20), frame(10)]);
        assert_eq!(out[0].exit, "exceeding");
        assert_eq!((&out[1].header, &out[2].header), (&frame(12), &frame(10)));
        assert_eq!(counted(&policed).map(|(packets, _)| packets), [1, 1, 1]);
    }

    #[test]
    fn what_no_policer_marks_is_marked_for_the_interface() {
        let out = run(0, &policed(EF, false), &[frame(0), frame(0), frame(0)]);
        let frames: Vec<_> = out.iter().map(|out| out.header.clone()).collect();
        assert_eq!(frames, [frame(46), frame(46), frame(12)]);
        let alone = Policed { policer: None, mark: EF };
        let six = || craft::ethernet([2; 6], [4; 6]).ipv6(HOST6, FAR6);
        let mut expected = six().udp(1, 2).build();
        (expected[14], expected[15]) = (0x6b, 0x80);
        assert_eq!(run(0, &alone, &[six().udp(1, 2).build()])[0].header, expected);
    }

    #[test]
    fn packets_of_a_tunnel_have_no_link_header() {
        let alone = Policed { policer: None, mark: EF };
        let out = run(GRE_LINK, &alone, &[frame(0)[14..].to_vec()]);
        assert_eq!((out[0].exit.as_str(), &out[0].header[..]), ("enter", &frame(46)[14..]));
    }
}
