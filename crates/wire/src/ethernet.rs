//! Ethernet II (IEEE 802.3, 3.1.1).
//!
//! ```text
//!  0                   6                   12      14
//! ┌───────────────────┬───────────────────┬───────┬───────────
//! │    destination    │      source       │ type  │ payload …
//! └───────────────────┴───────────────────┴───────┴───────────
//! ```

use crate::MacAddr;

view! {
    /// An Ethernet header.
    Header, HeaderMut: 14 octets {
        /// Whom it is for.
        destination, set_destination: MacAddr = 0;
        /// Who sent it.
        source, set_source: MacAddr = 6;
        /// What follows, one of [`ethertype`]; below 0x0600 it is an IEEE 802.3 length.
        ethertype, set_ethertype: u16 = 12;
    }
}

impl Header<'_> {
    /// Whether the type field is a length, hence an LLC header follows (IEEE 802.3, 3.2.6).
    #[inline]
    pub fn is_802_3_length(self) -> bool {
        self.ethertype() < ethertype::FIRST
    }
}

/// Octets of the shortest frame without its check sequence.
pub const MIN_FRAME_LEN: usize = 60;
/// Octets of the frame check sequence, which drivers strip.
pub const FCS_LEN: usize = 4;
/// Octets of time a frame takes on the line beside itself and its check sequence: preamble,
/// delimiter, gap.
pub const LINE_OVERHEAD_LEN: usize = 20;

/// EtherType numbers (IANA registry "IEEE 802 Numbers").
pub mod ethertype {
    /// The smallest value that is a type and not a length.
    pub const FIRST: u16 = 0x0600;
    /// IPv4 (RFC 894).
    pub const IPV4: u16 = 0x0800;
    /// Address resolution.
    pub const ARP: u16 = 0x0806;
    /// Transparent Ethernet bridging: a frame inside GRE.
    pub const TEB: u16 = 0x6558;
    /// Reverse address resolution (RFC 903).
    pub const RARP: u16 = 0x8035;
    /// A customer VLAN tag (802.1Q).
    pub const VLAN: u16 = 0x8100;
    /// IPv6 (RFC 2464).
    pub const IPV6: u16 = 0x86dd;
    /// MAC control: pause frames.
    pub const MAC_CONTROL: u16 = 0x8808;
    /// Slow protocols: LACP.
    pub const SLOW: u16 = 0x8809;
    /// MPLS unicast.
    pub const MPLS: u16 = 0x8847;
    /// A service VLAN tag (802.1ad, QinQ).
    pub const QINQ: u16 = 0x88a8;
    /// For local experiments (IEEE 802, 9.2.4).
    pub const EXPERIMENT: u16 = 0x88b5;
    /// Link layer discovery.
    pub const LLDP: u16 = 0x88cc;
    /// Service tag as sent before 802.1ad was final.
    pub const QINQ_OLD: u16 = 0x9100;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_standard_puts_them() {
        let mut bytes = [0; 15];
        let mut header = HeaderMut::new(&mut bytes).unwrap();
        header.set_destination(MacAddr([1, 2, 3, 4, 5, 6]));
        header.set_source(MacAddr([7, 8, 9, 10, 11, 12]));
        header.set_ethertype(ethertype::IPV6);
        assert_eq!(header.view().source(), MacAddr([7, 8, 9, 10, 11, 12]));
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x86, 0xdd, 0]);
    }

    #[test]
    fn thirteen_octets_are_no_header() {
        assert!(Header::new(&[0; 13]).is_none());
    }

    #[test]
    fn a_type_below_0x600_is_a_length() {
        let mut bytes = [0; 14];
        HeaderMut::of(&mut bytes).set_ethertype(0x05ff);
        assert!(Header::of(&bytes).is_802_3_length());
        HeaderMut::of(&mut bytes).set_ethertype(0x0600);
        assert!(!Header::of(&bytes).is_802_3_length());
    }
}
