//! CONTRIBUTING.md shows how a scheduler is added: its example is compiled and tested, and its
//! lines are those of the sources.

use crate::{Config, Shape, build};

#[test]
fn the_lines_that_contributing_shows_stand_in_the_sources() {
    let page = include_str!("../../../CONTRIBUTING.md");
    for (file, source, line) in [
        (
            "plan.rs",
            include_str!("plan.rs"),
            "PfifoHeadDrop(crate::pfifo_head_drop::PfifoHeadDropShape),",
        ),
        (
            "kind.rs",
            include_str!("kind.rs"),
            "PfifoHeadDrop(crate::pfifo_head_drop::PfifoHeadDrop),",
        ),
        ("lib.rs", include_str!("lib.rs"), "mod pfifo_head_drop;"),
    ] {
        assert!(
            page.contains(&format!("+{line}")) || page.contains(&format!("+    {line}")),
            "{line}"
        );
        assert!(source.lines().any(|of| of.trim() == line), "{file}: {line}");
    }
}

#[test]
fn a_discipline_that_is_declared_can_be_named_built_and_reported() {
    for kind in Shape::kinds().into_iter().filter(|kind| !["tbf", "bfifo"].contains(kind)) {
        let shape = Shape::of_kind(kind).unwrap();
        let scheduler = build::<u64>(&Config::of(shape)).unwrap();
        assert_eq!(scheduler.report().kind, kind);
    }
}
