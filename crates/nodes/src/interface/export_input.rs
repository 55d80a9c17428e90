//! Notes what interfaces receive for who tells collectors of it; the frames themselves go on.
//!
//! ```text
//!  interface_input, (a feature) ─▶ export_input ─▶ (the next feature), interface_enter
//! ```
//! What other features drop is told, too: it came.

use crate::interface::Exporting;
use crate::tables::{Feature, Received};

/// See the module.
pub enum ExportInput {}

impl Feature for ExportInput {
    const NAME: &'static str = "export-input";
    const ABOUT: &'static str = "notes received packets for collectors of flows";
    const PLACE: u8 = 5;
    type Side = Received;
    type Work = Exporting<Received>;
}
