//! What few lists ask for: service, TTL, fragments, the station a frame is for, the inner VLAN.
//!
//! ```text
//!  three cells more  │ TTL 8 │ DSCP, ECN 8 │ fragment 8 │ 0 │   │ inner VLAN 16 │ MAC 16 │   │ MAC 32 │
//! ```
//! Lists that ask for none of it have keys without these cells, and cost what they did before there
//! were any.

use crate::cell::{halves, pair};

/// Cells that hold it.
pub(crate) const MORE_CELLS: usize = 3;

/// A piece of a packet, the first one included.
const PIECE: u8 = 1;
/// A piece that is not the first.
const LATER: u8 = 2;
/// The bits of a class of service.
const DSCP: u8 = 0xfc;

/// Whether a packet is a piece of one, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Piece {
    /// It is whole.
    #[default]
    Whole,
    /// The first one: it has the ports.
    First,
    /// Another one.
    Later,
}

/// What a rule asks of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// Whole packets.
    None,
    /// Any piece, the first one included.
    Any,
    /// First pieces.
    First,
    /// All but first pieces.
    Later,
}

/// What is known of a packet beside its [`Fields`](crate::Fields).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoreFields {
    /// Its time to live, or hop limit.
    pub ttl: u8,
    /// Its type of service, or traffic class, congestion marks included.
    pub tos: u8,
    /// Whether it is a piece.
    pub piece: Piece,
    /// The VLAN behind the outer one; 0: none.
    pub inner_vlan: u16,
    /// The station that it is for.
    pub destination_mac: [u8; 6],
}

/// What a rule asks for beside the usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// The time to live, or hop limit.
    pub ttl: Option<u8>,
    /// The class of service, 0 to 63.
    pub dscp: Option<u8>,
    /// Whether it is a piece.
    pub pieces: Option<Pieces>,
    /// The VLAN behind the outer one; 0: none.
    pub inner_vlan: Option<u16>,
    /// The station that it is for.
    pub destination_mac: Option<[u8; 6]>,
}

impl More {
    /// Whether it asks for anything.
    pub fn is_asked(&self) -> bool {
        *self != Self::default()
    }

    /// Whether a packet fits: what the compiled list is held to.
    pub fn matches(&self, packet: &MoreFields) -> bool {
        let fits = |pieces: Pieces| match pieces {
            Pieces::None => packet.piece == Piece::Whole,
            Pieces::Any => packet.piece != Piece::Whole,
            Pieces::First => packet.piece == Piece::First,
            Pieces::Later => packet.piece == Piece::Later,
        };
        self.ttl.is_none_or(|ttl| ttl == packet.ttl)
            && self.dscp.is_none_or(|dscp| dscp == packet.tos >> 2)
            && self.pieces.is_none_or(fits)
            && self.inner_vlan.is_none_or(|vlan| vlan == packet.inner_vlan)
            && self.destination_mac.is_none_or(|mac| mac == packet.destination_mac)
    }

    /// The cells of a rule: how a packet's must be, and which bits of them count.
    pub(crate) fn cells(&self) -> ([u32; MORE_CELLS], [u32; MORE_CELLS]) {
        let (piece, piece_mask) = match self.pieces {
            None => (0, 0),
            Some(Pieces::None) => (0, PIECE),
            Some(Pieces::Any) => (PIECE, PIECE),
            Some(Pieces::First) => (PIECE, PIECE | LATER),
            Some(Pieces::Later) => (PIECE | LATER, PIECE | LATER),
        };
        let all = |is_asked: bool| if is_asked { u8::MAX } else { 0 };
        let mac = self.destination_mac.unwrap_or_default();
        let mac_mask = self.destination_mac.map_or([0; 6], |_| [0xff; 6]);
        let vlan_mask = if self.inner_vlan.is_some() { u16::MAX } else { 0 };
        (
            laid_out(
                [self.ttl.unwrap_or(0), self.dscp.unwrap_or(0) << 2, piece],
                self.inner_vlan.unwrap_or(0),
                mac,
            ),
            laid_out(
                [all(self.ttl.is_some()), all(self.dscp.is_some()) & DSCP, piece_mask],
                vlan_mask,
                mac_mask,
            ),
        )
    }
}

impl MoreFields {
    /// The cells of a packet.
    pub(crate) fn cells(&self) -> [u32; MORE_CELLS] {
        let piece = match self.piece {
            Piece::Whole => 0,
            Piece::First => PIECE,
            Piece::Later => PIECE | LATER,
        };
        laid_out([self.ttl, self.tos, piece], self.inner_vlan, self.destination_mac)
    }
}

fn laid_out([ttl, tos, piece]: [u8; 3], vlan: u16, mac: [u8; 6]) -> [u32; MORE_CELLS] {
    let (high, low) = halves(mac);
    [u32::from_be_bytes([ttl, tos, piece, 0]), pair(vlan, high), low]
}
