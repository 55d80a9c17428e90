//! Notes what interfaces send for who tells collectors of it; the frames themselves go on.
//!
//! ```text
//!  interface_output, (a feature) ─▶ export_output ─▶ (the next feature), interface_leave
//! ```
//! What other features drop is not told: it does not leave.

use crate::interface::Exporting;
use crate::tables::{Feature, Sent};

/// See the module.
pub enum ExportOutput {}

impl Feature for ExportOutput {
    const NAME: &'static str = "export-output";
    const ABOUT: &'static str = "notes sent packets for collectors of flows";
    const PLACE: u8 = 55;
    type Side = Sent;
    type Work = Exporting<Sent>;
}
