//! The match of OpenFlow 1.0: 40 bytes, twelve fields, a bit for each that is not wanted.
//!
//! ```text
//!  wildcards 4 │ in_port 2 │ dl_src 6 │ dl_dst 6 │ dl_vlan 2 │ pcp 1 │ pad 1 │ dl_type 2 │ tos 1 │
//!  proto 1 │ pad 2 │ nw_src 4 │ nw_dst 4 │ tp_src 2 │ tp_dst 2
//! ```

use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::{Field, Needs, ones};
use crate::matching::Match;

mod wild {
    pub(super) const IN_PORT: u32 = 1;
    pub(super) const VLAN: u32 = 1 << 1;
    pub(super) const DL_SRC: u32 = 1 << 2;
    pub(super) const DL_DST: u32 = 1 << 3;
    pub(super) const DL_TYPE: u32 = 1 << 4;
    pub(super) const PROTO: u32 = 1 << 5;
    pub(super) const TP_SRC: u32 = 1 << 6;
    pub(super) const TP_DST: u32 = 1 << 7;
    pub(super) const SRC_SHIFT: u32 = 8;
    pub(super) const DST_SHIFT: u32 = 14;
    pub(super) const PCP: u32 = 1 << 20;
    pub(super) const TOS: u32 = 1 << 21;
    pub(super) const ALL: u32 = (1 << 22) - 1;
}

/// No VLAN tag.
const NO_VLAN: u16 = 0xffff;
/// Lengths of the standard's Ethernet: what is no type.
const NOT_A_TYPE: u16 = 0x05ff;

impl Match {
    /// Reads the 40 bytes.
    pub fn decode10(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let wildcards = reader.u32()?;
        let in_port = reader.u16()?;
        let (src, dst) = (reader.number(6)?, reader.number(6)?);
        let (vlan, pcp) = (reader.u16()?, reader.u8()?);
        reader.skip(1)?;
        let ethertype = reader.u16()?;
        let (tos, proto) = (reader.u8()?, reader.u8()?);
        reader.skip(2)?;
        let (nw_src, nw_dst) = (reader.u32()?, reader.u32()?);
        let (tp_src, tp_dst) = (reader.u16()?, reader.u16()?);
        let wants = |bit: u32| wildcards & bit == 0;
        let mut it = Self::any();
        if wants(wild::IN_PORT) {
            it.set(Field::InPort, in_port.into(), 0xffff);
        }
        if wants(wild::DL_SRC) {
            it.set(Field::EthSrc, src, ones(48));
        }
        if wants(wild::DL_DST) {
            it.set(Field::EthDst, dst, ones(48));
        }
        match (wants(wild::VLAN), wants(wild::PCP)) {
            (true, _) if vlan == NO_VLAN => it.set(Field::VlanTci, 0, 0xffff),
            (true, false) => it.set(Field::VlanVid, 0x1000 | u128::from(vlan & 0xfff), 0x1fff),
            (false, true) => it.set(Field::VlanTci, 0x1000 | u128::from(pcp & 7) << 13, 0xf000),
            (true, true) => {
                let tci = 0x1000 | vlan & 0xfff | u16::from(pcp & 7) << 13;
                it.set(Field::VlanTci, tci.into(), 0xffff);
            }
            (false, false) => {}
        }
        if wants(wild::DL_TYPE) {
            // What has a length in place of a type.
            let ethertype = if ethertype == NOT_A_TYPE { 0 } else { ethertype };
            it.set(Field::EthType, ethertype.into(), 0xffff);
        }
        let (is_ip, is_arp) = (it.meets(Needs::Ip4), it.meets(Needs::Arp));
        if is_ip && wants(wild::TOS) {
            it.set(Field::IpDscp, (tos >> 2).into(), 0x3f);
        }
        if wants(wild::PROTO) && is_ip {
            it.set(Field::IpProto, proto.into(), 0xff);
        } else if wants(wild::PROTO) && is_arp {
            it.set(Field::ArpOp, proto.into(), 0xffff);
        }
        let mask = |shift: u32| {
            let ignored = (wildcards >> shift & 0x3f).min(32);
            (ones(32) << ignored) & ones(32)
        };
        let addresses = if is_ip {
            Some((Field::IpSrc, Field::IpDst))
        } else if is_arp {
            Some((Field::ArpSpa, Field::ArpTpa))
        } else {
            None
        };
        if let Some((source, destination)) = addresses {
            it.set(source, nw_src.into(), mask(wild::SRC_SHIFT));
            it.set(destination, nw_dst.into(), mask(wild::DST_SHIFT));
        }
        if let Some((source, destination, ones)) = it.port_fields() {
            if wants(wild::TP_SRC) {
                it.set(source, tp_src.into(), ones);
            }
            if wants(wild::TP_DST) {
                it.set(destination, tp_dst.into(), ones);
            }
        }
        Ok(it)
    }

    /// What 1.0 calls ports of the packets that are matched.
    fn port_fields(&self) -> Option<(Field, Field, u128)> {
        if !self.meets(Needs::Ip4) {
            return None;
        }
        match self.exact(Field::IpProto)? {
            6 => Some((Field::TcpSrc, Field::TcpDst, 0xffff)),
            17 => Some((Field::UdpSrc, Field::UdpDst, 0xffff)),
            132 => Some((Field::SctpSrc, Field::SctpDst, 0xffff)),
            1 => Some((Field::Icmp4Type, Field::Icmp4Code, 0xff)),
            _ => None,
        }
    }

    /// Whether 1.0 can say it.
    pub fn fits10(&self) -> bool {
        let mut bytes = Vec::new();
        self.encode10(&mut bytes);
        let read = Self::decode10(&mut Reader::new(&bytes, Fault::BadMatchLength));
        read.as_ref() == Ok(self)
    }

    /// Writes the 40 bytes: as much of it as they can say.
    pub(crate) fn encode10(&self, out: &mut Writer) {
        let mut wildcards = wild::ALL;
        let mut want = |bit: u32, field: Field| {
            let value = self.exact(field)?;
            wildcards &= !bit;
            Some(value)
        };
        let in_port = want(wild::IN_PORT, Field::InPort).unwrap_or(0);
        let src = want(wild::DL_SRC, Field::EthSrc).unwrap_or(0);
        let dst = want(wild::DL_DST, Field::EthDst).unwrap_or(0);
        let ethertype = want(wild::DL_TYPE, Field::EthType);
        let tos = want(wild::TOS, Field::IpDscp).unwrap_or(0) << 2;
        // Operations beyond a byte cannot be said.
        let is_short = self.exact(Field::ArpOp).is_some_and(|op| op <= 0xff);
        let arp_op = if is_short { want(wild::PROTO, Field::ArpOp) } else { None };
        let proto = arp_op.or_else(|| want(wild::PROTO, Field::IpProto)).unwrap_or(0);
        let (mut tp_src, mut tp_dst) = (0, 0);
        if let Some((source, destination, _)) = self.port_fields() {
            tp_src = want(wild::TP_SRC, source).unwrap_or(0);
            tp_dst = want(wild::TP_DST, destination).unwrap_or(0);
        }
        let (mut vlan, mut pcp) = (0, 0);
        if let Some((tci, mask)) = self.get(Field::VlanTci) {
            if mask & 0x1fff == 0x1fff {
                wildcards &= !wild::VLAN;
                vlan = if tci & 0x1000 == 0 { NO_VLAN } else { tci as u16 & 0xfff };
            }
            if mask & 0xf000 == 0xf000 && tci & 0x1000 != 0 {
                wildcards &= !wild::PCP;
                pcp = (tci >> 13) as u8;
            }
        }
        let mut address = |fields: [Field; 2], shift: u32| {
            let (value, mask) = fields.iter().find_map(|field| self.get(*field)).unwrap_or((0, 0));
            wildcards &= !(0x3f << shift);
            // A mask with holes cannot be said: left open whole.
            let mask = mask as u32;
            let is_prefix = mask.leading_ones() == mask.count_ones();
            let ignored = if is_prefix { mask.trailing_zeros() } else { 32 };
            let value = if is_prefix { value } else { 0 };
            wildcards |= ignored << shift;
            (value as u32, ignored)
        };
        let (nw_src, _) = address([Field::IpSrc, Field::ArpSpa], wild::SRC_SHIFT);
        let (nw_dst, _) = address([Field::IpDst, Field::ArpTpa], wild::DST_SHIFT);
        let ethertype = match ethertype {
            Some(0) => NOT_A_TYPE,
            other => other.unwrap_or(0) as u16,
        };
        out.u32(wildcards);
        out.u16(in_port as u16);
        out.number(src, 6);
        out.number(dst, 6);
        out.u16(vlan);
        out.u8(pcp);
        out.u8(0);
        out.u16(ethertype);
        out.u8(tos as u8);
        out.u8(proto as u8);
        out.u16(0);
        out.u32(nw_src);
        out.u32(nw_dst);
        out.u16(tp_src as u16);
        out.u16(tp_dst as u16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::tests::any_match;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_forty_bytes_say_what_they_can_and_no_more(it in any_match()) {
            let mut bytes = Vec::new();
            it.encode10(&mut bytes);
            prop_assert_eq!(bytes.len(), 40);
            let read = Match::decode10(&mut Reader::new(&bytes, Fault::BadMatchLength)).unwrap();
            // What was left out makes it wider, never narrower.
            prop_assert!(it.is_within(&read), "{it:?} {read:?}");
            if it.fits10() {
                prop_assert_eq!(it, read);
            }
        }

        #[test]
        fn any_forty_bytes_are_read_and_what_they_say_fits(bytes in proptest::collection::vec(any::<u8>(), 40)) {
            let it = Match::decode10(&mut Reader::new(&bytes, Fault::BadMatchLength)).unwrap();
            prop_assert!(it.fits10(), "{it:?}");
        }
    }
}
