//! What scenarios vary, one file an axis.
//!
//! ```text
//! [sweep] workers = [1, 2] ─▶ Spec: are these values of it? ─▶ cases ─▶ get::<Workers>() ─▶ device, generator
//!                                                                └──▶ Subject::axes ─▶ figures of the report
//! ```
//! An axis is a type with its name, what a value of it is, and who sets it; its line of the list
//! makes scenarios know it, restarts happen where they must, and figures be drawn over it.

pub mod clock_percent;
pub mod cost_cycles;
pub mod endpoint;
pub mod entries;
pub mod flows;
pub mod frame_bytes;
pub mod load_percent;
pub mod placement;
pub mod scheduler;
pub mod vector_packets;
pub mod workers;

mod axis;

use axis::spec;
pub use axis::{Axis, Figure, SetBy, Spec, Value};
pub use clock_percent::ClockPercent;
pub use cost_cycles::CostCycles;
pub use endpoint::Endpoint;
pub use entries::Entries;
pub use flows::Flows;
pub use frame_bytes::FrameBytes;
pub use load_percent::LoadPercent;
pub use placement::Placement;
pub use scheduler::Scheduler;
pub use vector_packets::VectorPackets;
pub use workers::Workers;

/// Every axis: outermost what restarts the device, innermost what only the generator changes.
pub static ALL: &[Spec] = &[
    spec::<Scheduler>(),
    spec::<Endpoint>(),
    spec::<Placement>(),
    spec::<Workers>(),
    spec::<ClockPercent>(),
    spec::<CostCycles>(),
    spec::<VectorPackets>(),
    spec::<Entries>(),
    spec::<Flows>(),
    spec::<FrameBytes>(),
    spec::<LoadPercent>(),
];

/// The axis of a name.
pub fn named(name: &str) -> Option<&'static Spec> {
    ALL.iter().find(|axis| axis.name == name)
}

/// Those that figures are drawn over, in the order of the figures.
pub fn drawn() -> Vec<(&'static str, Figure)> {
    let mut drawn: Vec<_> = ALL.iter().filter_map(|it| Some((it.name, it.figure?))).collect();
    drawn.sort_by_key(|(_, figure)| figure.place);
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_of_the_axis_s_own_type() {
        assert_eq!(<Workers as Axis>::Value::read("3"), Some(3));
        assert_eq!(Scheduler::read("fq-codel"), Some(Scheduler::FqCodel));
        assert_eq!((<Workers as Axis>::Value::read("many"), Endpoint::read("cloud")), (None, None));
        let words = named("scheduler").unwrap().words;
        assert!(words.iter().all(|word| Scheduler::read(word).is_some()));
    }

    #[test]
    fn the_figures_have_an_order_of_their_own() {
        let names: Vec<&str> = drawn().into_iter().map(|(name, _)| name).collect();
        let order =
            ["entries", "flows", "workers", "clock_percent", "vector_packets", "frame_bytes"];
        assert_eq!(names, order);
    }
}
