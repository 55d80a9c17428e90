//! Connection tracking, as flows ask for it: what is done with a packet's connection, and what a
//! packet takes along that begins again in a table.

use crate::key::{END_OF_PACKET, WORDS};
use openflow::action::{Action, Program};
use openflow::{Field, Nat};

/// Bits of `ct_state`, as Open vSwitch has them.
pub mod ct_state {
    /// It begins a connection.
    pub const NEW: u8 = 1;
    /// It is of one that is known, and answered.
    pub const EST: u8 = 2;
    /// It is about one.
    pub const REL: u8 = 4;
    /// It answers.
    pub const RPL: u8 = 8;
    /// It cannot be of one.
    pub const INV: u8 = 0x10;
    /// It was looked at.
    pub const TRK: u8 = 0x20;
    /// Its source was translated.
    pub const SNAT: u8 = 0x40;
    /// Its destination was translated.
    pub const DNAT: u8 = 0x80;
    /// Those that packets have one of which are of a connection, or begin one.
    pub const OF_ONE: u8 = NEW | EST | RPL;
}

/// Protocols whose connections bring others, by their ports.
pub mod helper {
    /// FTP.
    pub const FTP: u16 = 21;
    /// TFTP.
    pub const TFTP: u16 = 69;
}

/// What tracking says of a packet.
pub(crate) const SAID: [Field; 11] = [
    Field::CtState,
    Field::CtZone,
    Field::CtMark,
    Field::CtLabel,
    Field::CtIp4Src,
    Field::CtIp4Dst,
    Field::CtIp6Src,
    Field::CtIp6Dst,
    Field::CtProto,
    Field::CtSrc,
    Field::CtDst,
];

/// What `ct` asks for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Track {
    /// In which zone.
    pub zone: u16,
    /// A connection that is not known is remembered.
    pub commits: bool,
    /// One that the other side began goes, and this one's begins.
    pub forces: bool,
    /// How it was translated in this zone already: bits of [`ct_state`].
    pub was: u8,
    /// How it is translated.
    pub nat: Option<Nat>,
    /// Of which protocol it is, if its connections bring others: one of [`helper`].
    pub helper: u16,
    /// Bits of its mark that become these, and which.
    pub mark: (u32, u32),
    /// Bits of its label that become these, and which.
    pub label: (u128, u128),
}

impl Track {
    /// Bits of the connection's mark or label become these.
    pub(crate) fn set(&mut self, field: Field, value: u128, mask: u128) {
        let value = value & mask;
        match field {
            Field::CtMark => {
                let (value, mask) = (value as u32, mask as u32);
                self.mark = (self.mark.0 & !mask | value, self.mark.1 | mask);
            }
            Field::CtLabel => self.label = (self.label.0 & !mask | value, self.label.1 | mask),
            _ => {}
        }
    }
}

/// Words of a key that are beside the packet.
pub(crate) const BESIDE: usize = 22;

/// What of a packet's way is not in the packet, where it begins again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frozen {
    /// In which table it goes on, or was.
    pub(crate) table: u8,
    /// What was left to do, innermost first; nothing: it is looked up in the table.
    pub(crate) rests: Vec<Rest>,
    /// What tracking said of it before; none: what it says now counts.
    pub(crate) tracked: Option<Tracked>,
    /// How often it has begun again.
    pub(crate) times: u8,
    /// Registers, and what else is beside the packet.
    pub(crate) words: [u64; BESIDE],
    pub(crate) stack: Vec<(u128, u16)>,
    pub(crate) set: Program,
    pub(crate) queue: Option<u32>,
}

/// A list of actions that was stopped in the middle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Rest {
    /// Of the flow's table.
    pub(crate) table: u8,
    pub(crate) cookie: u64,
    pub(crate) actions: Vec<Action>,
}

impl Frozen {
    /// In which table it goes on; none where it was stopped within one.
    pub fn table(&self) -> Option<u8> {
        self.rests.is_empty().then_some(self.table)
    }

    /// What tracking said of it before it began again, if it did not pass it then.
    pub fn tracked(&self) -> Option<&Tracked> {
        self.tracked.as_ref()
    }
}

/// What connection tracking said of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Tracked {
    /// Bits of [`ct_state`].
    pub state: u8,
    /// In which zone.
    pub zone: u16,
    /// What the connection was marked with.
    pub mark: u32,
    /// Its label.
    pub label: u128,
    /// Who began it.
    pub origin: Origin,
}

/// Who began a connection, and with whom: the words of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Origin([u64; WORDS - END_OF_PACKET]);

impl Origin {
    /// Addresses of IPv4, with ports (of ICMP, type and code).
    #[inline]
    pub fn ip4(from: u32, to: u32, protocol: u8, ports: (u16, u16)) -> Self {
        let addresses = u64::from(from) << 32 | u64::from(to);
        Self([addresses, 0, 0, 0, 0, Self::last(protocol, ports)])
    }

    /// The same of IPv6.
    #[inline]
    pub fn ip6(from: u128, to: u128, protocol: u8, ports: (u16, u16)) -> Self {
        let [a, b, c, d] = [from >> 64, from, to >> 64, to].map(|half| half as u64);
        Self([0, a, b, c, d, Self::last(protocol, ports)])
    }

    fn last(protocol: u8, (from, to): (u16, u16)) -> u64 {
        u64::from(protocol) | u64::from(from) << 16 | u64::from(to) << 32
    }
}

impl crate::Key {
    /// What tracking said of the packet.
    pub(crate) fn tracked(&self) -> Tracked {
        let half = |word: usize| u128::from(self.words[word]);
        let mut origin = Origin::default();
        origin.0.copy_from_slice(&self.words[END_OF_PACKET..]);
        Tracked {
            state: self.words[18] as u8,
            zone: (self.words[18] >> 32) as u16,
            mark: (self.words[17] >> 32) as u32,
            label: half(19) << 64 | half(20),
            origin,
        }
    }

    /// The key of a packet that begins again, for what is beside the packet; `number`: who
    /// remembers's.
    pub fn begin_again(&mut self, frozen: &Frozen, number: u32, tracked: &Tracked) {
        self.words[..BESIDE].copy_from_slice(&frozen.words);
        let Tracked { state, zone, mark, label, origin } = *frozen.tracked().unwrap_or(tracked);
        self.words[16] |= u64::from(number);
        self.words[17] |= u64::from(mark) << 32;
        self.words[18] = u64::from(state) | u64::from(zone) << 32;
        (self.words[19], self.words[20]) = ((label >> 64) as u64, label as u64);
        self.words[END_OF_PACKET..].copy_from_slice(&origin.0);
    }
}
