//! What packets a flow is for: fields with masks, in one form, as NXM and OXM write them.
//!
//! ```text
//!  header │ value │ header with mask │ value │ mask │ …
//! ```
//! One match has one form: tags are one field, registers of 32 bits stand for the wider ones, and
//! no value has a bit that its mask does not have. So two matches are the same if they are equal.

use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::{Field, Needs, ones};
use crate::version::Version;

/// The header of a cookie in a match of NXM: 1, 30, eight bytes.
const COOKIE: u32 = 0x0001_3c08;
/// The bits of a tag that OXM calls a VLAN: 12 of its number, and that there is one.
const VID_BITS: u128 = 0x1fff;

/// Bits of `ct_state`: those of packets that are of a connection, or begin one; that it cannot be
/// of one; that it was looked at.
const KNOWN: u128 = 0xcf;
const INVALID: u128 = 0x10;
const TRACKED: u128 = 0x20;

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Match {
    /// By field; no mask is zero.
    fields: Vec<(Field, u128, u128)>,
}

/// A cookie, and the bits of it that matter.
pub(crate) type Cookie = Option<(u64, u64)>;

impl Match {
    /// All packets.
    pub fn any() -> Self {
        Self::default()
    }

    /// Wants these bits of a field as well.
    pub fn set(&mut self, field: Field, value: u128, mask: u128) {
        if let Some((field, padding)) = field.padded() {
            self.set(field, value >> padding, mask >> padding);
            return;
        }
        if let Some((field, shift)) = one_form(field) {
            self.set(field, value << shift, mask << shift);
            return;
        }
        if let Some((first, count)) = narrower(field) {
            for index in 0..count {
                let shift = (count - 1 - index) * 32;
                let Some(part) = Field::register((first + index) as u8) else { continue };
                self.set(part, value >> shift & ones(32), mask >> shift & ones(32));
            }
            return;
        }
        let mask = mask & field.ones();
        if mask == 0 {
            return;
        }
        match self.fields.binary_search_by_key(&field, |entry| entry.0) {
            Ok(at) => {
                let (_, had, had_mask) = &mut self.fields[at];
                *had = *had & !mask | value & mask;
                *had_mask |= mask;
            }
            Err(at) => self.fields.insert(at, (field, value & mask, mask)),
        }
    }

    /// The same with all bits.
    #[must_use]
    pub fn with(mut self, field: Field, value: u128) -> Self {
        self.set(field, value, field.ones());
        self
    }

    /// The fields with their values and masks, in the order of [`Field`].
    pub fn fields(&self) -> &[(Field, u128, u128)] {
        &self.fields
    }

    /// A field's value and mask.
    pub fn get(&self, field: Field) -> Option<(u128, u128)> {
        let at = self.fields.binary_search_by_key(&field, |entry| entry.0).ok()?;
        Some((self.fields[at].1, self.fields[at].2))
    }

    /// A field's value, if all bits are wanted.
    pub fn exact(&self, field: Field) -> Option<u128> {
        self.get(field).filter(|(_, mask)| *mask == field.ones()).map(|(value, _)| value)
    }

    /// Whether every packet of this one is one of `wider`, too.
    pub fn is_within(&self, wider: &Self) -> bool {
        wider.fields.iter().all(|&(field, value, mask)| {
            self.get(field)
                .is_some_and(|(own, own_mask)| own_mask & mask == mask && own & mask == value)
        })
    }

    /// Whether a packet may be of both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.fields.iter().all(|&(field, value, mask)| {
            other.get(field).is_none_or(|(its, its_mask)| (its ^ value) & mask & its_mask == 0)
        })
    }

    /// Whether what a field stands on is matched.
    pub fn meets(&self, needs: Needs) -> bool {
        let is_type =
            |types: &[u128]| self.exact(Field::EthType).is_some_and(|found| types.contains(&found));
        // A later piece of a packet has no ports.
        let is_later = self.get(Field::IpFrag).is_some_and(|(value, _)| value & 2 != 0);
        let is_proto = |proto: u128| self.exact(Field::IpProto) == Some(proto);
        let is_icmp6 = || is_type(&[0x86dd]) && is_proto(58);
        let is_nd = |kinds: &[u128]| {
            let code = self.exact(Field::Icmp6Code).is_none_or(|code| code == 0);
            is_icmp6() && code && self.exact(Field::Icmp6Type).is_some_and(|it| kinds.contains(&it))
        };
        match needs {
            Needs::Nothing => true,
            Needs::Tag => {
                self.get(Field::VlanTci).is_some_and(|(tci, mask)| tci & mask & 0x1000 != 0)
            }
            Needs::Mpls => is_type(&[0x8847, 0x8848]),
            Needs::Arp => is_type(&[0x0806, 0x8035]),
            Needs::Ip => is_type(&[0x0800, 0x86dd]),
            Needs::Ip4 => is_type(&[0x0800]),
            Needs::Ip6 => is_type(&[0x86dd]),
            Needs::Tcp => is_type(&[0x0800, 0x86dd]) && is_proto(6) && !is_later,
            Needs::Udp => is_type(&[0x0800, 0x86dd]) && is_proto(17) && !is_later,
            Needs::Sctp => is_type(&[0x0800, 0x86dd]) && is_proto(132) && !is_later,
            Needs::Icmp4 => is_type(&[0x0800]) && is_proto(1),
            Needs::Icmp6 => is_icmp6(),
            Needs::Nd => is_nd(&[135, 136]),
            Needs::NdSolicit => is_nd(&[135]),
            Needs::NdAdvert => is_nd(&[136]),
            // Of what cannot be of a connection nobody knows who began it.
            Needs::Tracked => self.get(Field::CtState).is_some_and(|(state, mask)| {
                state & KNOWN != 0
                    || state & TRACKED != 0 && mask & INVALID != 0 && state & INVALID == 0
            }),
        }
    }

    /// Reads headers and values to the end.
    pub fn decode_fields(reader: &mut Reader<'_>) -> Result<(Self, Cookie), Fault> {
        let (mut it, mut cookie) = (Self::default(), None);
        while !reader.is_empty() {
            let word = reader.u32()?;
            if word & !0x1ff == COOKIE & !0x1ff && matches!(word & 0x1ff, 0x008 | 0x110) {
                let value = reader.u64()?;
                let mask = if word & 0x100 != 0 { reader.u64()? } else { u64::MAX };
                cookie = Some((value, mask));
                continue;
            }
            let (field, value, mask) = decode_field(word, reader)?;
            if !it.meets(field.needs()) {
                return Err(Fault::BadPrerequisite);
            }
            it.take_in(field, value, mask)?;
        }
        Ok((it, cookie))
    }

    /// A field that was read.
    fn take_in(&mut self, field: Field, value: u128, mask: u128) -> Result<(), Fault> {
        let (stored, shift) = one_form(field).unwrap_or((field, 0));
        // The number of a VLAN and its priority share the bit that says that there is a tag.
        let shared = if stored == field { u128::MAX } else { !(0x1000u128) };
        if self.get(stored).is_some_and(|(_, had)| had & shared & mask << shift != 0) {
            return Err(Fault::DuplicateField);
        }
        self.set(field, value, mask);
        Ok(())
    }

    /// Writes headers and values; `is_old` as NXM.
    pub fn encode_fields(&self, is_old: bool, cookie: Cookie, out: &mut Writer) {
        for &(field, value, mask) in &self.fields {
            match field {
                Field::VlanTci if !is_old => {
                    if mask & VID_BITS != 0 {
                        encode_field(Field::VlanVid, value & VID_BITS, mask & VID_BITS, false, out);
                    }
                    if mask >> 13 != 0 && value & 0x1000 != 0 {
                        encode_field(Field::VlanPcp, value >> 13, mask >> 13, false, out);
                    }
                }
                _ => encode_field(field, value, mask, is_old, out),
            }
        }
        if let Some((value, mask)) = cookie.filter(|(_, mask)| *mask != 0) {
            out.u32(if mask == u64::MAX { COOKIE } else { COOKIE & !0x1ff | 0x110 });
            out.u64(value);
            if mask != u64::MAX {
                out.u64(mask);
            }
        }
    }

    /// Reads an `ofp_match` of OXM, with what it is padded with.
    pub fn decode_oxm(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let mut head = *reader;
        let (kind, length) = (head.u16()?, usize::from(head.u16()?));
        if kind != 1 {
            return Err(Fault::BadMatchType);
        }
        if length < 4 {
            return Err(Fault::BadMatchLength);
        }
        let mut whole = reader.or(Fault::BadMatchLength).part(length.next_multiple_of(8))?;
        reader.skip(length.next_multiple_of(8))?;
        whole.skip(4)?;
        let mut fields = whole.part(length - 4)?;
        // A cookie is no field of OXM.
        match Self::decode_fields(&mut fields)? {
            (it, None) => Ok(it),
            (_, Some(_)) => Err(Fault::BadField),
        }
    }

    /// Writes an `ofp_match` of OXM.
    pub fn encode_oxm(&self, out: &mut Writer) {
        let start = out.len();
        out.u16(1);
        out.u16(0);
        self.encode_fields(false, None, out);
        out.set_length(start, 2);
        out.pad8(start);
    }

    /// Writes it as the version has matches in messages of the standard.
    pub fn encode(&self, version: Version, out: &mut Writer) {
        match version {
            Version::V10 => self.encode10(out),
            _ => self.encode_oxm(out),
        }
    }
}

/// A header's field with its value and mask: what the action `set_field` has, too.
pub(crate) fn decode_field(
    word: u32,
    reader: &mut Reader<'_>,
) -> Result<(Field, u128, u128), Fault> {
    let (field, header, has_mask) = Field::of_word(word).ok_or(Fault::BadField)?;
    let bytes = usize::from(header.bytes);
    let value = decode_value(field, header.shift, reader.number(bytes)?, header.bytes)?;
    if !has_mask {
        return Ok((field, value, field.ones()));
    }
    if !field.is_maskable() {
        return Err(Fault::BadMask);
    }
    let mask = reader.number(bytes)? >> header.shift & field.ones();
    if value & !mask != 0 {
        return Err(Fault::BadWildcards);
    }
    Ok((field, value, mask))
}

/// The value of a number on the wire.
fn decode_value(field: Field, shift: u8, number: u128, bytes: u8) -> Result<u128, Fault> {
    if field == Field::InPort && bytes == 4 {
        let port = crate::port::from_32(number as u32).ok_or(Fault::BadValue)?;
        return Ok(port.into());
    }
    let value = number >> shift;
    // As in Open vSwitch, which keeps eight bits of the one, and knows as many of the other.
    if matches!(field, Field::ArpOp | Field::CtState) && value > 0xff {
        return Err(Fault::BadValue);
    }
    if value & !field.ones() != 0 || number & ones(shift.into()) != 0 {
        return Err(Fault::BadValue);
    }
    Ok(value)
}

/// Writes one field.
pub(crate) fn encode_field(field: Field, value: u128, mask: u128, is_old: bool, out: &mut Writer) {
    let Some(header) = field.header(is_old) else { return };
    let bytes = usize::from(header.bytes);
    let has_mask = mask != field.ones();
    out.u32(header.word(has_mask));
    let value = match (field, header.bytes) {
        (Field::InPort, 4) => crate::port::to_32(value as u16).into(),
        _ => value << header.shift,
    };
    out.number(value, bytes);
    if has_mask {
        out.number(mask << header.shift, bytes);
    }
}

/// The field that stands for another in matches, and where in it.
fn one_form(field: Field) -> Option<(Field, u32)> {
    match field {
        Field::VlanVid => Some((Field::VlanTci, 0)),
        Field::VlanPcp => Some((Field::VlanTci, 13)),
        _ => None,
    }
}

/// The first of the registers that make up a wider one, and how many.
pub(crate) fn narrower(field: Field) -> Option<(u32, u32)> {
    let number = field as u32;
    let (xreg, xxreg) = (Field::Xreg0 as u32, Field::Xxreg0 as u32);
    if (xreg..xreg + 8).contains(&number) {
        return Some(((number - xreg) * 2, 2));
    }
    (xxreg..xxreg + 4).contains(&number).then(|| ((number - xxreg) * 4, 4))
}

impl Field {
    /// Whether some of its bits alone can be matched.
    pub fn is_maskable(self) -> bool {
        !matches!(
            self,
            Self::RecircId
                | Self::ConjId
                | Self::InPort
                | Self::ActsetOutput
                | Self::CtZone
                | Self::CtProto
                | Self::EthType
                | Self::VlanPcp
                | Self::MplsLabel
                | Self::MplsTc
                | Self::MplsBos
                | Self::MplsTtl
                | Self::IpProto
                | Self::IpDscp
                | Self::IpTos
                | Self::IpEcn
                | Self::IpTtl
                | Self::ArpOp
                | Self::Icmp4Type
                | Self::Icmp4Code
                | Self::Icmp6Type
                | Self::Icmp6Code
        )
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any match that has what its fields stand on.
    pub(crate) fn any_match() -> impl Strategy<Value = Match> {
        let field = (0..Field::ALL.len()).prop_map(|index| Field::ALL[index]);
        let field = field.prop_filter("can be matched", |it| it.padded().is_none());
        let kinds = prop_oneof![
            Just(None),
            Just(Some((0x0800, 6))),
            Just(Some((0x0800, 17))),
            Just(Some((0x0800, 1))),
            Just(Some((0x86dd, 6))),
            Just(Some((0x86dd, 58))),
            Just(Some((0x86dd, 132))),
            Just(Some((0x0806, 0))),
            Just(Some((0x8847, 0))),
        ];
        let wanted = proptest::collection::vec((field, any::<u128>(), any::<u128>()), 0..8);
        (kinds, wanted).prop_map(|(kind, wanted)| {
            let mut it = Match::any();
            if let Some((ethertype, proto)) = kind {
                it.set(Field::EthType, ethertype, 0xffff);
                if proto != 0 {
                    it.set(Field::IpProto, proto, 0xff);
                }
            }
            for (field, value, mask) in wanted {
                let (field, _) = one_form(field).unwrap_or((field, 0));
                let is_said = field == Field::CtState && it.get(field).is_some();
                let is_kind = is_said || matches!(field, Field::EthType | Field::IpProto);
                if is_kind || !it.meets(field.needs()) {
                    continue;
                }
                let mask = if field.is_maskable() { mask & field.ones() } else { field.ones() };
                // The priority of a tag is matched whole, and with the bit that says there is one.
                let mask = match field {
                    Field::VlanTci if mask & 0xe000 != 0 => mask | 0xf000,
                    _ => mask,
                };
                let value = match field {
                    Field::VlanTci => value | 0x1000,
                    Field::ArpOp | Field::CtState => value & 0xff,
                    // A later piece has no ports.
                    Field::IpFrag => value & 1,
                    _ => value,
                };
                it.set(field, value, mask);
            }
            it
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(it in any_match(), cookie in any::<Option<(u64, u64)>>()) {
            let cookie = cookie.map(|(value, mask)| (value & mask, mask)).filter(|it| it.1 != 0);
            let mut bytes = Vec::new();
            it.encode_fields(true, cookie, &mut bytes);
            let read = Match::decode_fields(&mut Reader::new(&bytes, Fault::BadMatchLength));
            prop_assert_eq!(read, Ok((it.clone(), cookie)));
            let mut bytes = Vec::new();
            it.encode_oxm(&mut bytes);
            let mut reader = Reader::new(&bytes, Fault::BadMatchLength);
            prop_assert_eq!(Match::decode_oxm(&mut reader), Ok(it.clone()));
            prop_assert!(reader.is_empty());
            prop_assert!(it.is_within(&Match::any()) && it.is_within(&it) && it.overlaps(&it));
        }
    }

    fn read(bytes: &[u8]) -> Result<Match, Fault> {
        Match::decode_fields(&mut Reader::new(bytes, Fault::BadMatchLength)).map(|it| it.0)
    }

    #[test]
    fn what_is_wrong_is_told_as_open_vswitch_tells_it() {
        let tcp_alone = [0x80, 0, 13 << 1, 2, 0, 80];
        assert_eq!(read(&tcp_alone), Err(Fault::BadPrerequisite));
        let twice = [0x80, 0, 5 << 1, 2, 8, 0, 0x80, 0, 5 << 1, 2, 8, 0];
        assert_eq!(read(&twice), Err(Fault::DuplicateField));
        assert_eq!(read(&[0x80, 0, 0x7e << 1, 2, 8, 0]), Err(Fault::BadField));
        assert_eq!(read(&[0x80, 0, 5 << 1 | 1, 4, 8, 0, 0xff, 0]), Err(Fault::BadMask));
        assert_eq!(read(&[0x80, 0, 6 << 1, 2, 0x20, 0]), Err(Fault::BadValue));
        let beyond = [0x80, 0, 6 << 1 | 1, 4, 0x10, 1, 0x10, 0];
        assert_eq!(read(&beyond), Err(Fault::BadWildcards));
        assert_eq!(read(&[0x80, 0, 5 << 1, 2, 8]), Err(Fault::BadMatchLength));
        assert_eq!(read(&[0x80, 0, 5 << 1]), Err(Fault::BadMatchLength));
    }

    #[test]
    fn who_began_a_connection_is_asked_of_packets_that_are_of_one_alone() {
        let first_port = |state: [u8; 4], mask: [u8; 4]| {
            let state = [&[0, 1, 105 << 1 | 1, 8][..], &state, &mask].concat();
            read(&[&state[..], &[0, 1, 124 << 1, 2, 0, 80]].concat())
        };
        let new = first_port([0, 0, 0, 0x21], [0, 0, 0, 0x21]).unwrap();
        assert_eq!(new.exact(Field::CtSrc), Some(80));
        assert!(first_port([0, 0, 0, 0x20], [0, 0, 0, 0x30]).is_ok());
        for (state, mask) in [(0x20, 0x20), (0x30, 0x30), (0x20, 0x21)] {
            let read = first_port([0, 0, 0, state], [0, 0, 0, mask]);
            assert_eq!(read, Err(Fault::BadPrerequisite), "{state:#x}/{mask:#x}");
        }
    }

    #[test]
    fn a_tag_is_one_field_whichever_way_it_is_said() {
        let mut said = Match::any();
        said.set(Field::VlanVid, 0x1005, 0x1fff);
        said.set(Field::VlanPcp, 3, 7);
        let mut tci = Match::any();
        tci.set(Field::VlanTci, 0x7005, 0xffff);
        assert_eq!(said, tci);
        let wide = Match::any().with(Field::Xxreg1, 1 << 96 | 7);
        assert_eq!(
            wide,
            Match::any()
                .with(Field::Reg4, 1)
                .with(Field::Reg5, 0)
                .with(Field::Reg6, 0)
                .with(Field::Reg7, 7)
        );
    }
}
