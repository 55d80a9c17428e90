//! Has errors that we tell ourselves, of packets that were translated, go to who sent those: of the
//! family that he speaks (RFC 7915 section 6).
//!
//! ```text
//!  icmp4_error ─▶ nat64_error ┬▶ ip6_lookup     a host inside
//!  icmp6_error ─▶             ├▶ ip4_lookup     a host outside
//!                             └▶ drop           of no known connection
//! ```

use crate::nat::nat44::Now;
use crate::nat::nat64::put;
use crate::nat::{Nat64Input, Translated};
use crate::tables::{Interfaces, Setup};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use wire::ip;

/// See the module.
pub struct Nat64Error {
    interfaces: Published<Interfaces>,
    /// Of the last error that had to be told apart from others.
    id: u16,
}

graph::exits! {
    /// What becomes of an error.
    pub enum Exit {
        /// To who sent IPv6.
        Ip6 => node "ip6-lookup",
        /// To who sent IPv4.
        Ip4 => node "ip4-lookup",
        /// The connection of the packet that it tells of is over, or it can be told in one family
        /// alone.
        Untellable => drop "Nothing: who sent the packet waits for an answer no longer.",
    }
}

impl Node for Nat64Error {
    const NAME: &'static str = "nat64-error";
    const ABOUT: &'static str = "tells senders of what was translated in their own family";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone(), id: 0 }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let now = Now::of(context);
        let interfaces = self.interfaces.get(context);
        let id = &mut self.id;
        exits.each(frame, |packet| cross(packet, interfaces, id, now).unwrap_or(Exit::Untellable));
    }
}

fn cross(
    packet: &mut PacketView<'_>,
    interfaces: &Interfaces,
    id: &mut u16,
    now: Now,
) -> Option<Exit> {
    let Translated(nat) = interfaces.get(packet.rx())?.setting::<Nat64Input>()?;
    let prefix = nat.nat64?;
    if ip::version(packet.header()) == 4 {
        let front = nat.crosses_back(prefix, packet.header_mut(), now).ok()??;
        return put(packet, 0, &front).then_some(Exit::Ip6);
    }
    let front = nat.crosses_out(prefix, packet.header_mut(), id, now).ok()?;
    if !put(packet, 0, &front) {
        return None;
    }
    match nat.turns_back(prefix, packet.header_mut(), now).ok()? {
        Some(front) => put(packet, 0, &front).then_some(Exit::Ip6),
        None => Some(Exit::Ip4),
    }
}
