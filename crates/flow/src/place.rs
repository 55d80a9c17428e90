//! Where in a key each field is. A new field is one line here.

use crate::key::Key;
use crate::track::ct_state;
use openflow::{Field, Match, Needs};

/// The lowest bit in a word; fields of 128 bits take the next word, too, which has their lower
/// half.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) word: u8,
    pub(crate) shift: u8,
}

const fn at(word: u8, shift: u8) -> Place {
    Place { word, shift }
}

/// The place of a field; none of one that other fields stand for.
pub(crate) fn place(field: Field) -> Option<Place> {
    use Field as F;
    Some(match field {
        F::Metadata => at(0, 0),
        F::TunId => at(1, 0),
        F::TunSrc => at(2, 32),
        F::TunDst => at(2, 0),
        F::TunIp6Src => at(3, 0),
        F::TunIp6Dst => at(5, 0),
        F::TunFlags => at(7, 0),
        F::TunGbpId => at(7, 16),
        F::TunGbpFlags => at(7, 32),
        F::Reg0 => at(8, 32),
        F::Reg1 => at(8, 0),
        F::Reg2 => at(9, 32),
        F::Reg3 => at(9, 0),
        F::Reg4 => at(10, 32),
        F::Reg5 => at(10, 0),
        F::Reg6 => at(11, 32),
        F::Reg7 => at(11, 0),
        F::Reg8 => at(12, 32),
        F::Reg9 => at(12, 0),
        F::Reg10 => at(13, 32),
        F::Reg11 => at(13, 0),
        F::Reg12 => at(14, 32),
        F::Reg13 => at(14, 0),
        F::Reg14 => at(15, 32),
        F::Reg15 => at(15, 0),
        F::Xreg0 => at(8, 0),
        F::Xreg1 => at(9, 0),
        F::Xreg2 => at(10, 0),
        F::Xreg3 => at(11, 0),
        F::Xreg4 => at(12, 0),
        F::Xreg5 => at(13, 0),
        F::Xreg6 => at(14, 0),
        F::Xreg7 => at(15, 0),
        F::Xxreg0 => at(8, 0),
        F::Xxreg1 => at(10, 0),
        F::Xxreg2 => at(12, 0),
        F::Xxreg3 => at(14, 0),
        F::RecircId => at(16, 0),
        F::ConjId => at(16, 32),
        F::PktMark => at(17, 0),
        F::CtMark => at(17, 32),
        F::CtState => at(18, 0),
        F::CtZone => at(18, 32),
        F::CtLabel => at(19, 0),
        F::InPort => at(21, 0),
        F::ActsetOutput => at(21, 32),
        F::EthDst => at(22, 16),
        F::EthType => at(22, 0),
        F::EthSrc => at(23, 16),
        F::VlanTci | F::VlanVid => at(23, 0),
        F::VlanPcp => at(23, 13),
        F::MplsLabel => at(24, 12),
        F::MplsTc => at(24, 9),
        F::MplsBos => at(24, 8),
        F::MplsTtl => at(24, 0),
        F::IpSrc | F::ArpSpa => at(25, 32),
        F::IpDst | F::ArpTpa => at(25, 0),
        F::Ip6Src => at(26, 0),
        F::Ip6Dst => at(28, 0),
        F::Ip6Label => at(30, 32),
        F::IpProto => at(30, 0),
        F::IpDscp => at(30, 10),
        F::IpTos => return None,
        F::IpEcn => at(30, 8),
        F::IpTtl => at(30, 16),
        F::IpFrag => at(30, 24),
        F::NdTarget => at(31, 0),
        F::ArpSha | F::NdSll => at(33, 0),
        F::ArpTha | F::NdTll => at(34, 0),
        F::TcpSrc | F::UdpSrc | F::SctpSrc | F::Icmp4Type | F::Icmp6Type | F::ArpOp => at(35, 0),
        F::TcpDst | F::UdpDst | F::SctpDst | F::Icmp4Code | F::Icmp6Code => at(35, 16),
        F::TcpFlags => at(35, 32),
        F::CtIp4Src => at(36, 32),
        F::CtIp4Dst => at(36, 0),
        F::CtIp6Src => at(37, 0),
        F::CtIp6Dst => at(39, 0),
        F::CtProto => at(41, 0),
        F::CtSrc => at(41, 16),
        F::CtDst => at(41, 32),
    })
}

impl Key {
    /// A field's value.
    pub fn get(&self, field: Field) -> u128 {
        if let Some((field, padding)) = field.padded() {
            return self.get(field) << padding;
        }
        let Some(Place { word, shift }) = place(field) else { return 0 };
        let first = self.words[usize::from(word)];
        if field.bits() > 64 {
            return u128::from(first) << 64 | u128::from(self.words[usize::from(word) + 1]);
        }
        u128::from(first >> shift) & field.ones()
    }

    /// Sets bits of a field.
    pub fn set(&mut self, field: Field, value: u128, mask: u128) {
        if let Some((field, padding)) = field.padded() {
            return self.set(field, value >> padding, mask >> padding);
        }
        let Some(Place { word, shift }) = place(field) else { return };
        let (word, mask) = (usize::from(word), mask & field.ones());
        let mut put = |word: usize, value: u64, mask: u64| {
            self.words[word] = self.words[word] & !mask | value & mask;
        };
        if field.bits() > 64 {
            put(word, (value >> 64) as u64, (mask >> 64) as u64);
            put(word + 1, value as u64, mask as u64);
        } else {
            put(word, (value as u64) << shift, (mask as u64) << shift);
        }
    }

    /// The values and the masks of a match.
    pub(crate) fn of_match(matching: &Match) -> (Self, Self) {
        let (mut key, mut mask) = (Self::default(), Self::default());
        for &(field, value, bits) in matching.fields() {
            key.set(field, value, bits);
            mask.set(field, bits, bits);
        }
        (key, mask)
    }
}

/// Whether a packet has a field: one that others have in its place is not it.
pub fn has_field(key: &Key, field: Field) -> bool {
    if field.needs() == Needs::Tracked {
        return key.get(Field::CtState) & u128::from(ct_state::OF_ONE) != 0;
    }
    let mut kind = Match::any();
    for said in [Field::EthType, Field::VlanTci, Field::IpProto, Field::Icmp6Type] {
        let is_there = match said {
            Field::IpProto => matches!(key.get(Field::EthType), 0x0800 | 0x86dd),
            Field::Icmp6Type => key.get(Field::EthType) == 0x86dd && key.get(Field::IpProto) == 58,
            _ => true,
        };
        if is_there {
            kind.set(said, key.get(said), said.ones());
        }
    }
    let is_transport = matches!(
        field,
        Field::TcpSrc
            | Field::TcpDst
            | Field::UdpSrc
            | Field::UdpDst
            | Field::SctpSrc
            | Field::SctpDst
            | Field::Icmp4Type
            | Field::Icmp4Code
            | Field::Icmp6Type
            | Field::Icmp6Code
            | Field::NdTarget
            | Field::NdSll
            | Field::NdTll
    );
    let is_later_fragment = key.get(Field::IpFrag) & 2 != 0;
    kind.meets(field.needs())
        && !(is_transport && is_later_fragment)
        && !(field == Field::VlanVid && key.get(Field::VlanTci) & 0x1000 == 0)
}
