//! What happens to frames at an interface, on the way in and on the way out: features take their
//! turns between the two ends of each way.
//!
//! ```text
//!  port_rx … ─▶ interface_input ─▶ (features) ─▶ interface_enter ─▶ an entrance: Ethernet, a bridge, IP
//!  rewrite … ─▶ interface_output ─▶ (features) ─▶ interface_leave ─▶ a departure: port_tx, shape, tags, a tunnel
//! ```

mod departure;
mod entrance;
mod exporting;
mod mirror;
mod turns;
mod whole_frames;

pub use departure::Departure;
pub(crate) use departure::departures;
pub(crate) use entrance::entrances;
pub use entrance::{Entrance, ReceivedRun};
pub use exporting::{ExportTo, Exporter, Exporting, Noted, Wanted, told};
pub use mirror::{Copies, ForCopies, MirrorPart, MirrorParts, MirrorTo, Mirroring};
pub use turns::{InTurn, Onward, Turns, run_of};

nodes! {
    interface_input::InterfaceInput,
    mirror_input::MirrorInput as feature,
    export_input::ExportInput as feature,
    interface_enter::InterfaceEnter,
    interface_output::InterfaceOutput,
    export_output::ExportOutput as feature,
    mirror_output::MirrorOutput as feature,
    interface_leave::InterfaceLeave,
}
