//! Crafting VXLAN, GRE and LISP.

use super::{Craft, Kind};
use crate::{gre, lisp, vxlan};

/// The layer named last is a VXLAN header.
#[derive(Clone, Debug)]
pub struct Vxlan;
/// The layer named last is a LISP header.
#[derive(Clone, Debug)]
pub struct Lisp;
/// The layer named last is a GRE header.
#[derive(Clone, Debug)]
pub struct Gre;

impl<L> Craft<L> {
    /// A VXLAN header with the I flag; the UDP header before it is the caller's.
    pub fn vxlan(self, vni: u32) -> Craft<Vxlan> {
        self.push(Kind::Vxlan, vxlan::header(vni).to_vec())
    }

    /// A LISP header without a nonce; the UDP header before it is the caller's.
    pub fn lisp(self, instance: u32) -> Craft<Lisp> {
        let [_, a, b, c] = instance.to_be_bytes();
        let flags = if instance == 0 { 0 } else { lisp::flag::INSTANCE };
        self.push(Kind::Lisp, vec![flags, 0, 0, 0, a, b, c, 0])
    }

    /// A GRE header without options.
    pub fn gre(self) -> Craft<Gre> {
        self.push(Kind::Gre, vec![0; gre::Header::LEN])
    }
}

impl Craft<Vxlan> {
    /// All flags.
    pub fn flags(self, flags: u8) -> Self {
        self.set(0, &[flags])
    }

    /// The reserved fields: 24 bits after the flags, 8 after the VNI.
    pub fn reserved(self, first: u32, last: u8) -> Self {
        let [_, a, b, c] = first.to_be_bytes();
        self.set(1, &[a, b, c]).set(7, &[last])
    }
}

impl Craft<Lisp> {
    /// All flags, and the 24 bits behind them.
    pub fn flags(self, flags: u8, rest: u32) -> Self {
        let [_, a, b, c] = rest.to_be_bytes();
        self.set(0, &[flags, a, b, c])
    }
}

impl Craft<Gre> {
    /// With a checksum, filled in. Call it before [`Craft::key`] and [`Craft::sequence`].
    pub fn with_checksum(self) -> Self {
        self.field(gre::CHECKSUM, 0)
    }

    /// With a checksum, right or wrong.
    pub fn checksum(self, checksum: u16) -> Self {
        let crafted = self.field(gre::CHECKSUM, u32::from(checksum) << 16);
        crafted.edit(|layer| layer.fill_checksum = false)
    }

    /// With a key. Call it before [`Craft::sequence`].
    pub fn key(self, key: u32) -> Self {
        self.field(gre::KEY, key)
    }

    /// With a sequence number.
    pub fn sequence(self, sequence: u32) -> Self {
        self.field(gre::SEQUENCE, sequence)
    }

    /// All flags and the version, whatever fields there are.
    pub fn flags(self, flags: u16) -> Self {
        self.set(0, &flags.to_be_bytes()).edit(|layer| layer.fill_checksum = false)
    }

    /// The type field, whatever follows.
    pub fn ethertype(self, ethertype: u16) -> Self {
        self.set_next(2, &ethertype.to_be_bytes())
    }

    fn field(self, flag: u16, word: u32) -> Self {
        self.edit(|layer| {
            layer.bytes[0] |= (flag >> 8) as u8;
            layer.bytes.extend(word.to_be_bytes());
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::craft;

    #[test]
    fn tunnel_headers_can_lie() {
        let packet = craft::ipv4(1, 2).udp(1, 4789).vxlan(5).flags(0).reserved(0x010203, 4).build();
        assert_eq!(packet[28..36], [0, 1, 2, 3, 0, 0, 5, 4]);
        let packet = craft::ipv4(1, 2).udp(1, 4341).lisp(5).flags(0x88, 0x0001_0203).build();
        assert_eq!(packet[28..36], [0x88, 1, 2, 3, 0, 0, 5, 0]);
        let packet = craft::ipv4(1, 2).gre().checksum(9).flags(0x8001).ethertype(7).build();
        assert_eq!(packet[20..28], [0x80, 1, 0, 7, 0, 9, 0, 0]);
    }
}
