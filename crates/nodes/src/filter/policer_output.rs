//! Holds what interfaces send to what was agreed, and marks it (RFC 2697, RFC 2698, RFC 2474).
//!
//! ```text
//!  interface_output, (a feature) ─▶ policer_output ┬▶ (the next feature), interface_leave    perhaps marked
//!                                                  └▶ drop    above what was agreed
//! ```

use crate::filter::Policing;
use crate::tables::{Feature, Sent};

/// See the module.
pub enum PolicerOutput {}

impl Feature for PolicerOutput {
    const NAME: &'static str = "policer-output";
    const ABOUT: &'static str = "holds sent frames to what was agreed, and marks them";
    const PLACE: u8 = 40;
    type Side = Sent;
    type Work = Policing;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{
        Mark, Policed,
        testing_police::{EF, counted, frame, policed},
    };
    use crate::interface::InTurn;
    use crate::testing::{GRE_LINK, World};
    use graph::harness::{NodeHarness, Outcome};

    fn run(id: u16, policed: &Policed, frames: &[Vec<u8>]) -> Vec<Outcome> {
        let mut world = World::new();
        world.change_interface(id, |row| row.set::<PolicerOutput>(Some(policed.clone())));
        let mut node = NodeHarness::<InTurn<PolicerOutput>>::new(&world.setup).unwrap();
        node.run_prepared(frames, id, 0, |frame| {
            (0..frame.len()).for_each(|slot| frame.view(slot).set_tx(id))
        })
    }

    #[test]
    fn each_colour_has_its_treatment_and_is_counted() {
        let policed = policed(Mark::default(), false);
        let out = run(0, &policed, &[frame(1), frame(1), frame(1), frame(1)]);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["leave", "leave", "leave", "exceeding"]);
        let frames: Vec<_> = out[..3].iter().map(|out| out.header.clone()).collect();
        assert_eq!(frames, [frame(1), frame(1), frame(12)]);
        assert_eq!(counted(&policed), [(2, 120), (1, 60), (1, 60)]);
    }

    #[test]
    fn packets_of_a_tunnel_have_no_link_header() {
        let alone = Policed { policer: None, mark: EF };
        let out = run(GRE_LINK, &alone, &[frame(0)[14..].to_vec()]);
        assert_eq!((out[0].exit.as_str(), &out[0].header[..]), ("leave", &frame(46)[14..]));
    }
}
