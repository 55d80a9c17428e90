//! Has what comes from inside leave as if an outer address had sent it.
//!
//! ```text
//!  interface_output, (a feature) ─▶ nat44_output ┬▶ (the next feature), interface_leave
//!                                                └▶ drop     no port, no room, not valid
//! ```
//! What is our own, or came from elsewhere, leaves as it is.

use crate::nat::nat44::Now;
use crate::nat::packet::ip4_at;
use crate::nat::together::{Together, parts};
use crate::nat::{Translated, Untranslated};
use crate::tables::{Feature, Run, Sent, Setup, Work};
use graph::{Context, Exits};
use packet::Frame;
use wire::ipv4;

/// See the module.
pub struct Nat44Output(Together);

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
                let bytes = Some(&bytes[at..]).filter(|_| nat.is_inside(packet.rx()));
                // One from an outer address was translated where it came in.
                let is_inner = |bytes: &&[u8]| {
                    ipv4::Header::new(bytes).is_some_and(|header| !nat.is_outer(header.source()))
                };
                self.0.add(nat, slot, at, bytes.filter(is_inner));
            }
            for it in self.0.take(nat) {
                let mut packet = frame.view(it.slot);
                let rx = packet.rx();
                let bytes = &mut packet.header_mut()[it.at..];
                let known = it.asked.and_then(|asked| nat.known_one(bytes, &asked, now));
                if let Err(why) = known.unwrap_or_else(|| nat.sent(bytes, rx, now)) {
                    exits.set(it.slot, why);
                }
            }
        }
    }
}
