//! Leads what comes to an outer address to whom inside it stands for: of ports outside, and of
//! those inside whose hosts know each other by outer addresses (RFC 4787 REQ-9).
//!
//! ```text
//!  interface_input, (a feature) ─▶ nat44_input ┬▶ (the next feature), interface_enter
//!                                              └▶ drop     of nobody, not valid
//! ```

use crate::nat::nat44::Now;
use crate::nat::packet::ip4_at;
use crate::nat::together::{Together, parts};
use crate::nat::{Translated, Untranslated};
use crate::tables::{Feature, Received, Run, Setup, Work};
use graph::{Context, Exits};
use packet::Frame;
use wire::ipv4;

/// See the module.
pub struct Nat44Input(Together);

impl Feature for Nat44Input {
    const NAME: &'static str = "nat44-input";
    const ABOUT: &'static str = "leads packets to outer addresses inside";
    const PLACE: u8 = 45;
    type Side = Received;
    type Work = Self;
}

impl Work for Nat44Input {
    const CHANGES: bool = true;
    type Setting = Translated;
    type Exit = Untranslated;

    fn new(_: &Setup) -> Self {
        Self(Together::new())
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
        for slots in parts(run.slots) {
            for slot in slots {
                let packet = frame.view(slot);
                let bytes = packet.header();
                let Some(at) = ip4_at(bytes, has_packets) else { continue };
                let bytes = &bytes[at..];
                let header = ipv4::Header::new(bytes);
                if header.is_some_and(|header| nat.is_outer(header.destination())) {
                    self.0.add(nat, slot, at, Some(bytes));
                }
            }
            for it in self.0.take(nat) {
                let mut packet = frame.view(it.slot);
                let bytes = &mut packet.header_mut()[it.at..];
                let known = it.asked.and_then(|asked| nat.known_one(bytes, &asked, now));
                if let Err(why) = known.unwrap_or_else(|| nat.received(bytes, run.id, now)) {
                    exits.set(it.slot, why);
                }
            }
        }
    }
}
