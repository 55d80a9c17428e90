//! Makes IPv6 from inside to hosts of IPv4 what those understand, and what they answer IPv6 again
//! (RFC 6146): where it comes in, so that it is routed as what it is then.
//!
//! ```text
//!  interface_input, (a feature) ─▶ nat64_input ┬▶ (the next feature), interface_enter
//!                                              ├▶ nat64_cut     too long for links of IPv6
//!                                              ├▶ icmp6_error, icmp4_error   no hops left
//!                                              └▶ drop          of nobody, not valid
//! ```
//! What is not of the prefix, or not of a connection that began so, goes on as it is.

use crate::nat::nat44::Now;
use crate::nat::nat64::put;
use crate::nat::packet::{ip4_at, ip6_at};
use crate::nat::{Nat44, Translated, Uncrossed};
use crate::tables::{Feature, Received, Run, Setup, Work};
use conntrack::cross::{Front, Prefix64};
use graph::{Context, Exits};
use packet::{Frame, PacketView};
use wire::{ipv4, ipv6};

/// See the module.
pub struct Nat64Input {
    /// Of the last packet that had to be told apart from others.
    id: u16,
}

impl Feature for Nat64Input {
    const NAME: &'static str = "nat64-input";
    const ABOUT: &'static str = "makes IPv6 to hosts of IPv4 theirs, and what they answer IPv6";
    const PLACE: u8 = 44;
    type Side = Received;
    type Work = Self;
}

impl Work for Nat64Input {
    const CHANGES: bool = true;
    type Setting = Translated;
    type Exit = Uncrossed;

    fn new(_: &Setup) -> Self {
        Self { id: 0 }
    }

    fn hold(
        &mut self,
        run: Run<'_, Translated>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Uncrossed>,
        context: &mut Context<'_>,
    ) {
        let Translated(nat) = run.setting;
        let Some(prefix) = nat.nat64 else { return };
        let (has_packets, is_inside) = (run.row.carries_packets(), nat.is_inside(run.id));
        let now = Now::of(context);
        for slot in run.slots {
            let mut packet = frame.view(slot);
            // What is for another station, or for several, ends where Ethernet is read.
            if !has_packets && packet.header().get(..6) != Some(&run.row.mac) {
                continue;
            }
            let done = match is_inside {
                true => self.out(nat, prefix, &mut packet, has_packets, now),
                false => back(nat, prefix, &mut packet, has_packets, now),
            };
            if let Err(why) = done {
                exits.set(slot, why);
            }
        }
    }
}

impl Nat64Input {
    fn out(
        &mut self,
        nat: &Nat44,
        prefix: Prefix64,
        packet: &mut PacketView<'_>,
        has_packets: bool,
        now: Now,
    ) -> Result<(), Uncrossed> {
        let bytes = packet.header();
        let Some(at) = ip6_at(bytes, has_packets) else { return Ok(()) };
        let header = ipv6::Header::new(&bytes[at..]);
        if !header.is_some_and(|header| prefix.has(header.destination())) {
            return Ok(());
        }
        let front = nat.crosses_out(prefix, &mut packet.header_mut()[at..], &mut self.id, now);
        change(packet, at, front.map(Some))?;
        let front = nat.turns_back(prefix, &mut packet.header_mut()[at..], now);
        change(packet, at, front)
    }
}

fn back(
    nat: &Nat44,
    prefix: Prefix64,
    packet: &mut PacketView<'_>,
    has_packets: bool,
    now: Now,
) -> Result<(), Uncrossed> {
    let bytes = packet.header();
    let Some(at) = ip4_at(bytes, has_packets) else { return Ok(()) };
    let header = ipv4::Header::new(&bytes[at..]);
    if !header.is_some_and(|header| nat.is_outer(header.destination())) {
        return Ok(());
    }
    let front = nat.crosses_back(prefix, &mut packet.header_mut()[at..], now);
    change(packet, at, front)
}

/// Puts the new headers in front; where a packet goes elsewhere, its link header is behind it.
fn change(
    packet: &mut PacketView<'_>,
    at: usize,
    front: Result<Option<Front>, Uncrossed>,
) -> Result<(), Uncrossed> {
    match front {
        Ok(None) => return Ok(()),
        Ok(Some(front)) => match put(packet, at, &front) {
            false => return Err(Uncrossed::NoHeadroom),
            true if !front.is_cut => return Ok(()),
            true => {}
        },
        Err(Uncrossed::HopLimitExceeded | Uncrossed::TtlExpired) => {}
        Err(why) => return Err(why),
    }
    packet.advance(at);
    front.map_or_else(Err, |_| Err(Uncrossed::Cut))
}
