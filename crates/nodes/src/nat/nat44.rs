//! What a translation is, and what it does to one packet: the same for both of its nodes.
//!
//! ```text
//!  to an outer address ─┬─ known ───────────────▶ its other side
//!                       ├─ forwarded (a port) ──▶ to the server; from inside, seen as its outer address
//!                       └─ of nobody ───────────▶ for ourselves, or dropped
//!  from inside ─────────┬─ known ───────────────▶ its other side
//!                       └─ new ─────────────────▶ an endpoint of the pool
//! ```
//! Errors of ICMP are translated with the packet that they tell of (RFC 5508). A packet in pieces
//! is translated by its first one: those that come before it are of nobody (RFC 4787 REQ-14).

use conntrack::cross::Prefix64;
use conntrack::{
    Asked, Begun, Family, Found, Inner, Nat, Pool, Read, Refused, Seen, Table, Timeouts, Tuple,
    Verdict,
};
use graph::{Context, tsc_hz};
use std::ops::RangeInclusive;
use std::sync::Arc;
use wire::ip::protocol;
use wire::{icmp4, ipv4};

/// What of a destination is another's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forward {
    /// The outer address.
    pub address: u32,
    /// TCP or UDP.
    pub protocol: u8,
    /// The outer ports.
    pub ports: RangeInclusive<u16>,
    /// The server inside, and its port that stands for the first.
    pub to: (u32, u16),
}

/// A translation of the configuration.
#[derive(Debug)]
pub struct Nat44 {
    /// What it is called.
    pub name: String,
    /// Connections; all translations share them.
    pub table: Arc<Table>,
    /// For how long they are kept.
    pub timeouts: Timeouts,
    /// Tells them from those of other translations.
    pub zone: u16,
    /// The interfaces that are inside, by number.
    pub inside: Vec<u16>,
    /// What stands for those inside.
    pub pool: Pool,
    /// Ports that are servers' inside.
    pub forwards: Vec<Forward>,
    /// Those of its outer addresses that are our own as well.
    pub own: Vec<u32>,
    /// Anybody may reach an endpoint that is known (RFC 4787 section 5: endpoint-independent
    /// filtering).
    pub open: bool,
    /// Hosts inside that speak IPv6 alone reach those of IPv4 by addresses that begin so.
    pub nat64: Option<Prefix64>,
}

/// A translation, as a port says it. Two are the same that are one.
#[derive(Clone, Debug)]
pub struct Translated(pub Arc<Nat44>);

impl PartialEq for Translated {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

graph::exits! {
    /// Why a packet goes no further.
    pub enum Untranslated {
        /// It is to an outer address, of no connection, and nobody's (RFC 4787 section 5).
        NoConnection => drop "Forward the port, if a server inside is meant; or it came too late: \
            `volley show connections` has those that there are.",
        /// It cannot be of the connection that it names, or begins none: a late one, or a forged
        /// one.
        Invalid => drop "Nothing, unless they are many: then look who sends them.",
        /// There is room for no more connections, and none that could make room.
        Full => drop "Raise `max` of `[connections]`, or look with `volley show connections` who \
            has so many.",
        /// No port of the pool is free for another endpoint inside.
        NoPort => drop "Give the translation more addresses (`pool`) or more `ports`.",
        /// Another worker was making a connection at that moment.
        Busy => drop "Nothing: whoever sent it will send it again.",
        /// A piece of a packet whose first piece was not seen before it.
        PieceUnknown => drop "Have the sender's packets fit the links between (path MTU discovery).",
        /// Its headers end too early, or say what cannot be.
        Unreadable => drop "Look at whoever sends such packets: `volley why-dropped` has one.",
    }
}

/// When packets are looked at, and whether they are only asked about: the same for all of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// The second, by the time-stamp counter.
    pub(super) second: u32,
    /// Nothing is to begin or to change.
    pub(super) only_looks: bool,
}

impl Now {
    pub(super) fn of(context: &Context<'_>) -> Self {
        Self { second: (context.now_tsc / tsc_hz()) as u32, only_looks: fib::only_looks() }
    }
}

/// What becomes of a packet.
pub(super) type Fate = Result<(), Untranslated>;

impl Nat44 {
    /// Whether an interface is inside.
    #[inline]
    pub fn is_inside(&self, interface: u16) -> bool {
        self.inside.contains(&interface)
    }

    /// Whether an address is one of those that stand for the inside.
    #[inline]
    pub fn is_outer(&self, address: u32) -> bool {
        self.pool.addresses.iter().any(|range| range.contains(&address))
            || self.forwards.iter().any(|forward| forward.address == address)
    }

    /// Begins to look for the connection of a packet of the usual form, from its IPv4 header on;
    /// and what is read next.
    #[inline(always)]
    pub(super) fn ask(&self, packet: &[u8]) -> Option<(Asked, *const u8)> {
        let (tuple, seen) = conntrack::usual4(packet, self.zone)?;
        Some(self.table.ask(tuple, seen))
    }

    /// A packet that was asked for, if its connection is known; others begin one, or are none's.
    #[inline(always)]
    pub(super) fn known_one(&self, packet: &mut [u8], asked: &Asked, now: Now) -> Option<Fate> {
        let found = self.table.find_asked(asked, now.second)?;
        let to = self.translation(&found)?;
        match self.take_in(&found, &asked.tuple, asked.seen, None, now) {
            Verdict::Passes(_) => {
                conntrack::translate_usual4(packet, &asked.tuple, &to);
                Some(Ok(()))
            }
            Verdict::Invalid => Some(Err(Untranslated::Invalid)),
            Verdict::Anew => None,
        }
    }

    /// A packet, from its IPv4 header on, to an outer address.
    pub(super) fn received(&self, packet: &mut [u8], rx: u16, now: Now) -> Fate {
        let is_own = destination(packet).is_some_and(|address| self.own.contains(&address));
        let of_nobody = if is_own { Ok(()) } else { Err(Untranslated::NoConnection) };
        match conntrack::read4(packet, self.zone) {
            Read::Flow { tuple, seen, pieces } => {
                let Some(to) = self.known(&tuple, seen, pieces, now)? else {
                    let Some(begun) = self.begun_outside(&tuple, seen, rx, now) else {
                        return of_nobody;
                    };
                    return self.begin(packet, begun, pieces, now);
                };
                conntrack::translate4(packet, &to);
                Ok(())
            }
            Read::Error(inner) => match self.error(packet, inner, true, now) {
                true => Ok(()),
                false => of_nobody,
            },
            Read::Piece(whose) => match self.piece(packet, &whose, now) {
                true => Ok(()),
                false => of_nobody,
            },
            // What is for ourselves is judged by who takes it.
            Read::Broken => of_nobody,
        }
    }

    /// A packet, from its IPv4 header on, that leaves for the outside.
    pub(super) fn sent(&self, packet: &mut [u8], rx: u16, now: Now) -> Fate {
        if !self.is_inside(rx) {
            // Our own errors tell of packets that were translated already.
            if tells_of_error(packet)
                && let Read::Error(inner) = conntrack::read4(packet, self.zone)
            {
                self.error(packet, inner, false, now);
            }
            return Ok(());
        }
        match conntrack::read4(packet, self.zone) {
            Read::Flow { tuple, seen, pieces } => {
                if self.is_outer(tuple.source4()) {
                    // It was translated where it came in.
                    return Ok(());
                }
                let Some(to) = self.known(&tuple, seen, pieces, now)? else {
                    let nat = self.nat(now);
                    let begun = match now.only_looks {
                        true => nat.would_be(&tuple, seen, &self.pool),
                        false => nat.from_inside(&tuple, seen, &self.pool),
                    };
                    return self.begin(packet, begun, pieces, now);
                };
                conntrack::translate4(packet, &to);
                Ok(())
            }
            Read::Error(_) | Read::Piece(_) if self.is_from_outer(packet) => Ok(()),
            Read::Error(inner) => match self.error(packet, inner, true, now) {
                true => Ok(()),
                false => Err(Untranslated::Invalid),
            },
            Read::Piece(whose) => match self.piece(packet, &whose, now) {
                true => Ok(()),
                false => Err(Untranslated::PieceUnknown),
            },
            Read::Broken => Err(Untranslated::Unreadable),
        }
    }

    /// Whether it was translated where it came in.
    #[cold]
    fn is_from_outer(&self, packet: &[u8]) -> bool {
        ipv4::Header::new(packet).is_some_and(|header| self.is_outer(header.source()))
    }

    /// What a packet is on the other side, where that is IPv4 as well.
    #[inline]
    fn translation(&self, found: &Found) -> Option<Tuple> {
        self.table.translation(found).filter(|to| to.family() != Family::Ip6)
    }

    pub(super) fn nat(&self, now: Now) -> Nat<'_> {
        Nat { table: &self.table, timeouts: &self.timeouts, now_s: now.second }
    }

    /// What a packet of a known connection is on its other side; none of an unknown one.
    #[inline]
    fn known(
        &self,
        tuple: &Tuple,
        seen: Seen,
        pieces: Option<Tuple>,
        now: Now,
    ) -> Result<Option<Tuple>, Untranslated> {
        let Some(found) = self.table.find(tuple, now.second) else { return Ok(None) };
        let Some(to) = self.translation(&found) else { return Ok(None) };
        match self.take_in(&found, tuple, seen, pieces, now) {
            Verdict::Passes(_) => Ok(Some(to)),
            Verdict::Invalid => Err(Untranslated::Invalid),
            Verdict::Anew => Ok(None),
        }
    }

    /// Takes a packet of a known connection in; one that begins another in its place ends it.
    #[inline]
    pub(super) fn take_in(
        &self,
        found: &Found,
        tuple: &Tuple,
        seen: Seen,
        pieces: Option<Tuple>,
        now: Now,
    ) -> Verdict {
        if now.only_looks {
            return Verdict::Passes(found.status);
        }
        let verdict = self.table.advance(found, tuple.protocol(), seen, &self.timeouts, now.second);
        match verdict {
            Verdict::Passes(_) => {
                if let Some(whose) = pieces {
                    self.table.remember_pieces(&whose, found, now.second);
                }
            }
            Verdict::Invalid => {}
            Verdict::Anew => _ = self.table.end_found(found),
        }
        verdict
    }

    fn begin(
        &self,
        packet: &mut [u8],
        begun: Result<Begun, Refused>,
        pieces: Option<Tuple>,
        now: Now,
    ) -> Fate {
        let Begun { found, to } = begun.map_err(|refused| match refused {
            Refused::Invalid => Untranslated::Invalid,
            Refused::Full => Untranslated::Full,
            Refused::NoPort | Refused::Taken => Untranslated::NoPort,
            Refused::Busy => Untranslated::Busy,
        })?;
        if let Some(whose) = pieces
            && !now.only_looks
        {
            self.table.remember_pieces(&whose, &found, now.second);
        }
        conntrack::translate4(packet, &to);
        Ok(())
    }

    /// A connection that somebody outside begins, or somebody inside by an outer address.
    fn begun_outside(
        &self,
        tuple: &Tuple,
        seen: Seen,
        rx: u16,
        now: Now,
    ) -> Option<Result<Begun, Refused>> {
        let (nat, is_inside) = (self.nat(now), self.is_inside(rx));
        let known = || nat.inside_of(tuple).filter(|_| self.open || is_inside);
        let to = self.forwarded(tuple).or_else(known)?;
        if now.only_looks {
            return Some(Ok(nat.would_reach(tuple, to)));
        }
        Some(match is_inside {
            true => nat.hairpin(tuple, seen, to, &self.pool),
            false => nat.to_inside(tuple, seen, to),
        })
    }

    /// The server inside, and its port, that a packet from outside is forwarded to.
    pub fn forwarded(&self, tuple: &Tuple) -> Option<(u32, u16)> {
        let port = tuple.destination_port();
        let fits = |it: &&Forward| {
            it.address == tuple.destination4()
                && it.protocol == tuple.protocol()
                && it.ports.contains(&port)
        };
        let forward = self.forwards.iter().find(fits)?;
        let (address, first) = forward.to;
        Some((address, first.wrapping_add(port - forward.ports.start())))
    }

    /// A piece that is not the first; false if nobody knows whose it is.
    fn piece(&self, packet: &mut [u8], whose: &Tuple, now: Now) -> bool {
        let found = self.table.find_pieces(whose, now.second);
        let Some(to) = found.and_then(|found| self.translation(&found)) else {
            return false;
        };
        conntrack::translate4(packet, &to);
        true
    }

    /// An error that tells of a packet of a connection; false if of none. Its source is the other
    /// end's address where the other end sent it, or where it is to be hidden: `hides`.
    fn error(&self, packet: &mut [u8], inner: Inner, hides: bool, now: Now) -> bool {
        let as_if = inner.tuple.inverse();
        let found = self.table.find(&as_if, now.second);
        let Some(to) = found.and_then(|found| self.translation(&found)) else {
            return false;
        };
        let Some(header) = ipv4::Header::new(packet) else { return false };
        let is_ends = header.source() == as_if.source4();
        // Who is between inside and us is nobody's business outside (RFC 5508 section 4.2); who is
        // between us and the other end is known by its own address.
        let is_from_inside = to.source4() != as_if.source4();
        let source = match is_ends || (hides && is_from_inside) {
            true => to.source4(),
            false => header.source(),
        };
        conntrack::translate_error4(packet, inner.at, source, to.destination4(), &to.inverse());
        true
    }
}

fn destination(packet: &[u8]) -> Option<u32> {
    Some(ipv4::Header::new(packet)?.destination())
}

/// Whether it is ICMP that tells of an error.
#[inline]
fn tells_of_error(packet: &[u8]) -> bool {
    let Some(header) = ipv4::Header::new(packet) else { return false };
    header.protocol() == protocol::ICMP4
        && packet.get(header.header_len()).is_some_and(|kind| icmp4::is_error(*kind))
}
