//! Has what comes from inside leave as if an outer address had sent it.
//!
//! ```text
//!  interface_output, (a feature) ─▶ nat44_output ┬▶ (the next feature), interface_leave
//!                                                └▶ drop     no port, no room, not valid
//! ```
//! What is our own, or came from elsewhere, leaves as it is.

use crate::nat::nat44::Now;
use crate::nat::packet::ip4_at;
use crate::nat::{Translated, Untranslated};
use crate::tables::{Feature, Run, Sent, Setup, Work};
use graph::{Context, Exits};
use packet::Frame;

/// See the module.
pub struct Nat44Output;

impl Feature for Nat44Output {
    const NAME: &'static str = "nat44-output";
    const ABOUT: &'static str = "gives packets from inside an outer address";
    const PLACE: u8 = 30;
    type Side = Sent;
    type Work = Self;
}

impl Work for Nat44Output {
    const CHANGES: bool = true;
    type Setting = Translated;
    type Exit = Untranslated;

    fn new(_: &Setup) -> Self {
        Self
    }

    fn hold(
        &mut self,
        run: Run<'_, Translated>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Untranslated>,
        context: &mut Context<'_>,
    ) {
        let (Translated(nat), has_packets) = (run.setting, run.row.carries_packets());
        let now = Now::of(context);
        for slot in run.slots {
            let mut packet = frame.view(slot);
            let Some(at) = ip4_at(packet.header(), has_packets) else { continue };
            let rx = packet.rx();
            if let Err(why) = nat.sent(&mut packet.header_mut()[at..], rx, now) {
                exits.set(slot, why);
            }
        }
    }
}
