//! A graph with all that a picture has to show.
//!
//! ```text
//!  source ─┬▶ work ⟲ ═▶ output      two exits; one back to work itself; one back from output
//!          └──────────▶             one past work
//! ```

use crate::exit::{ExitSpec, To};
use crate::harness::TEST_DROP;
use crate::layout::Layout;
use crate::node::{NodeSpec, Role};

const fn exit(name: &'static str, about: &'static str, to: To) -> ExitSpec {
    ExitSpec { name, about, to, mend: "" }
}

const fn to(node: &'static str) -> To {
    To::Node(node, 0)
}

/// Only drawn, so that what would run does not matter.
const SOURCE: NodeSpec<()> = NodeSpec {
    name: "source",
    about: "brings packets in",
    role: Role::Input,
    exits: &[
        exit("Work", "To be worked on.", to("work")),
        exit("Bypass", "Past the work.", to("output")),
    ],
    ..TEST_DROP
};
const WORK: NodeSpec<()> = NodeSpec {
    name: "work",
    about: "weighs <packets> & \"judges\" them",
    exits: &[
        exit("Good", "Good.", to("output")),
        exit("Better", "Better.", to("output")),
        exit("Again", "Not done yet.", to("work")),
        exit("TooShort", "A length < 20.", To::Drop),
        exit("TooOld", "Stale.", To::Drop),
    ],
    ..TEST_DROP
};
const OUTPUT: NodeSpec<()> = NodeSpec {
    name: "output",
    about: "sends",
    exits: &[
        exit("Retry", "Once more from the start.", to("work")),
        exit("Full", "The queue is full.", To::Drop),
    ],
    ..TEST_DROP
};

pub(super) fn small_graph() -> Layout<()> {
    Layout::new(&[TEST_DROP, OUTPUT, WORK, SOURCE]).unwrap()
}
