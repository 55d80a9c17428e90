//! What of a packet, and of what is known beside it, flows can match and actions can set. One line
//! a field.
//!
//! ```text
//!  Name "name" bits needs, [NXM headers of 1.0] [OXM headers of later versions]
//!  a header: class, number, bytes of the value « bits that it is shifted by
//! ```
//! Where a field has no header of one kind, that of the other stands for it; Open vSwitch does the
//! same. Later lines may need what earlier ones say, so a match that is written in this order has
//! every field behind those that it stands on.

use Needs::{
    Arp, Icmp4, Icmp6, Ip, Ip4, Ip6, Mpls, Nd, NdAdvert, NdSolicit, Nothing, Sctp, Tag, Tcp,
    Tracked, Udp,
};
use std::sync::LazyLock;

/// What must be matched, for a field to mean something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// A VLAN tag.
    Tag,
    /// An MPLS label.
    Mpls,
    /// ARP, or RARP.
    Arp,
    /// IPv4 or IPv6.
    Ip,
    /// IPv4.
    Ip4,
    /// IPv6.
    Ip6,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
    /// ICMP of IPv4.
    Icmp4,
    /// ICMP of IPv6.
    Icmp6,
    /// A neighbour solicitation or advertisement.
    Nd,
    /// A neighbour solicitation.
    NdSolicit,
    /// A neighbour advertisement.
    NdAdvert,
    /// A connection that tracking found or begins.
    Tracked,
}

/// How a field is named on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Who numbers it.
    pub class: u16,
    /// Its number.
    pub number: u8,
    /// Bytes of its value.
    pub bytes: u8,
    /// Bits that the value is shifted by.
    pub shift: u8,
}

impl Header {
    /// The 32 bits, of a value alone or with a mask.
    pub(crate) fn word(self, has_mask: bool) -> u32 {
        let length = if has_mask { self.bytes * 2 } else { self.bytes };
        u32::from(self.class) << 16
            | u32::from(self.number) << 9
            | u32::from(has_mask) << 8
            | u32::from(length)
    }
}

/// NXM's classes.
const N0: u16 = 0;
const N1: u16 = 1;
/// OXM's, and that of its registers.
const X: u16 = 0x8000;
const XR: u16 = 0x8001;

macro_rules! headers {
    ($class:ident $number:literal $bytes:literal) => { headers!($class $number $bytes << 0) };
    ($class:ident $number:literal $bytes:literal << $shift:literal) => {
        Header { class: $class, number: $number, bytes: $bytes, shift: $shift }
    };
}

macro_rules! fields {
    ($( $name:ident $text:literal $bits:literal $needs:ident $($fixed:ident)?,
        [$($nc:ident $nn:literal $nb:literal $(<< $ns:literal)?)?]
        [$($xc:ident $xn:literal $xb:literal $(<< $xs:literal)?)?]; )+) => {
        /// A field.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Field { $( #[doc = $text] $name, )+ }

        impl Field {
            /// Every field.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            const SPECS: &'static [Spec] = &[$( Spec {
                name: $text,
                bits: $bits,
                needs: $needs,
                is_fixed: fields!(@fixed $($fixed)?),
                nxm: &[$(headers!($nc $nn $nb $(<< $ns)?))?],
                oxm: &[$(headers!($xc $xn $xb $(<< $xs)?))?],
            }, )+];
        }
    };
    (@fixed) => { false };
    (@fixed fixed) => { true };
}

struct Spec {
    name: &'static str,
    bits: u8,
    needs: Needs,
    is_fixed: bool,
    nxm: &'static [Header],
    oxm: &'static [Header],
}

fields! {
    RecircId "recirc_id" 32 Nothing fixed, [N1 36 4] [];
    ConjId "conj_id" 32 Nothing fixed, [N1 37 4] [];
    TunId "tun_id" 64 Nothing, [N1 16 8] [X 38 8];
    TunSrc "tun_src" 32 Nothing, [N1 31 4] [];
    TunDst "tun_dst" 32 Nothing, [N1 32 4] [];
    TunIp6Src "tun_ipv6_src" 128 Nothing, [N1 109 16] [];
    TunIp6Dst "tun_ipv6_dst" 128 Nothing, [N1 110 16] [];
    TunFlags "tun_flags" 16 Nothing, [N1 104 2] [];
    TunGbpId "tun_gbp_id" 16 Nothing, [N1 38 2] [];
    TunGbpFlags "tun_gbp_flags" 8 Nothing, [N1 39 1] [];
    Metadata "metadata" 64 Nothing, [] [X 2 8];
    InPort "in_port" 16 Nothing, [N0 0 2] [X 0 4];
    ActsetOutput "actset_output" 32 Nothing fixed, [] [X 43 4];
    PktMark "pkt_mark" 32 Nothing, [N1 33 4] [];
    CtState "ct_state" 32 Nothing fixed, [N1 105 4] [];
    CtZone "ct_zone" 16 Nothing fixed, [N1 106 2] [];
    CtMark "ct_mark" 32 Nothing, [N1 107 4] [];
    CtLabel "ct_label" 128 Nothing, [N1 108 16] [];
    CtIp4Src "ct_nw_src" 32 Tracked fixed, [N1 120 4] [];
    CtIp6Src "ct_ipv6_src" 128 Tracked fixed, [N1 122 16] [];
    CtIp4Dst "ct_nw_dst" 32 Tracked fixed, [N1 121 4] [];
    CtIp6Dst "ct_ipv6_dst" 128 Tracked fixed, [N1 123 16] [];
    CtProto "ct_nw_proto" 8 Tracked fixed, [N1 119 1] [];
    CtSrc "ct_tp_src" 16 Tracked fixed, [N1 124 2] [];
    CtDst "ct_tp_dst" 16 Tracked fixed, [N1 125 2] [];
    Reg0 "reg0" 32 Nothing, [N1 0 4] [];
    Reg1 "reg1" 32 Nothing, [N1 1 4] [];
    Reg2 "reg2" 32 Nothing, [N1 2 4] [];
    Reg3 "reg3" 32 Nothing, [N1 3 4] [];
    Reg4 "reg4" 32 Nothing, [N1 4 4] [];
    Reg5 "reg5" 32 Nothing, [N1 5 4] [];
    Reg6 "reg6" 32 Nothing, [N1 6 4] [];
    Reg7 "reg7" 32 Nothing, [N1 7 4] [];
    Reg8 "reg8" 32 Nothing, [N1 8 4] [];
    Reg9 "reg9" 32 Nothing, [N1 9 4] [];
    Reg10 "reg10" 32 Nothing, [N1 10 4] [];
    Reg11 "reg11" 32 Nothing, [N1 11 4] [];
    Reg12 "reg12" 32 Nothing, [N1 12 4] [];
    Reg13 "reg13" 32 Nothing, [N1 13 4] [];
    Reg14 "reg14" 32 Nothing, [N1 14 4] [];
    Reg15 "reg15" 32 Nothing, [N1 15 4] [];
    Xreg0 "xreg0" 64 Nothing, [] [XR 0 8];
    Xreg1 "xreg1" 64 Nothing, [] [XR 1 8];
    Xreg2 "xreg2" 64 Nothing, [] [XR 2 8];
    Xreg3 "xreg3" 64 Nothing, [] [XR 3 8];
    Xreg4 "xreg4" 64 Nothing, [] [XR 4 8];
    Xreg5 "xreg5" 64 Nothing, [] [XR 5 8];
    Xreg6 "xreg6" 64 Nothing, [] [XR 6 8];
    Xreg7 "xreg7" 64 Nothing, [] [XR 7 8];
    Xxreg0 "xxreg0" 128 Nothing, [N1 111 16] [];
    Xxreg1 "xxreg1" 128 Nothing, [N1 112 16] [];
    Xxreg2 "xxreg2" 128 Nothing, [N1 113 16] [];
    Xxreg3 "xxreg3" 128 Nothing, [N1 114 16] [];
    EthSrc "eth_src" 48 Nothing, [N0 2 6] [X 4 6];
    EthDst "eth_dst" 48 Nothing, [N0 1 6] [X 3 6];
    EthType "eth_type" 16 Nothing fixed, [N0 3 2] [X 5 2];
    VlanTci "vlan_tci" 16 Nothing, [N0 4 2] [];
    VlanVid "vlan_vid" 13 Nothing, [] [X 6 2];
    VlanPcp "vlan_pcp" 3 Tag, [] [X 7 1];
    MplsLabel "mpls_label" 20 Mpls, [] [X 34 4];
    MplsTc "mpls_tc" 3 Mpls, [] [X 35 1];
    MplsBos "mpls_bos" 1 Mpls fixed, [] [X 36 1];
    MplsTtl "mpls_ttl" 8 Mpls, [N1 30 1] [];
    IpSrc "ip_src" 32 Ip4, [N0 7 4] [X 11 4];
    IpDst "ip_dst" 32 Ip4, [N0 8 4] [X 12 4];
    Ip6Src "ipv6_src" 128 Ip6, [N1 19 16] [X 26 16];
    Ip6Dst "ipv6_dst" 128 Ip6, [N1 20 16] [X 27 16];
    Ip6Label "ipv6_label" 20 Ip6, [N1 27 4] [X 28 4];
    IpProto "nw_proto" 8 Ip fixed, [N0 6 1] [X 10 1];
    IpDscp "ip_dscp" 6 Ip, [N0 5 1 << 2] [X 8 1];
    IpTos "nw_tos" 8 Ip, [N0 5 1] [];
    IpEcn "nw_ecn" 2 Ip, [N1 28 1] [X 9 1];
    IpTtl "nw_ttl" 8 Ip, [N1 29 1] [];
    IpFrag "ip_frag" 2 Ip fixed, [N1 26 1] [];
    ArpOp "arp_op" 16 Arp, [N0 15 2] [X 21 2];
    ArpSpa "arp_spa" 32 Arp, [N0 16 4] [X 22 4];
    ArpTpa "arp_tpa" 32 Arp, [N0 17 4] [X 23 4];
    ArpSha "arp_sha" 48 Arp, [N1 17 6] [X 24 6];
    ArpTha "arp_tha" 48 Arp, [N1 18 6] [X 25 6];
    TcpSrc "tcp_src" 16 Tcp, [N0 9 2] [X 13 2];
    TcpDst "tcp_dst" 16 Tcp, [N0 10 2] [X 14 2];
    TcpFlags "tcp_flags" 12 Tcp fixed, [N1 34 2] [X 42 2];
    UdpSrc "udp_src" 16 Udp, [N0 11 2] [X 15 2];
    UdpDst "udp_dst" 16 Udp, [N0 12 2] [X 16 2];
    SctpSrc "sctp_src" 16 Sctp, [] [X 17 2];
    SctpDst "sctp_dst" 16 Sctp, [] [X 18 2];
    Icmp4Type "icmp_type" 8 Icmp4, [N0 13 1] [X 19 1];
    Icmp4Code "icmp_code" 8 Icmp4, [N0 14 1] [X 20 1];
    Icmp6Type "icmpv6_type" 8 Icmp6, [N1 21 1] [X 29 1];
    Icmp6Code "icmpv6_code" 8 Icmp6, [N1 22 1] [X 30 1];
    NdTarget "nd_target" 128 Nd, [N1 23 16] [X 31 16];
    NdSll "nd_sll" 48 NdSolicit, [N1 24 6] [X 32 6];
    NdTll "nd_tll" 48 NdAdvert, [N1 25 6] [X 33 6];
}

impl Field {
    fn spec(self) -> &'static Spec {
        &Self::SPECS[self as usize]
    }

    /// Its name in Open vSwitch's tools.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Its name on the wire, as Open vSwitch's tools write it in what actions move.
    pub fn wire_name(self) -> String {
        let class = match self.header(true).map(|header| header.class) {
            Some(N0) => "NXM_OF",
            Some(N1) => "NXM_NX",
            _ => "OXM_OF",
        };
        let name = match self {
            Self::IpTos => "IP_TOS".to_owned(),
            Self::IpDscp => return "OXM_OF_IP_DSCP".to_owned(),
            Self::TunSrc | Self::TunDst => self.name().replace("tun_", "tun_ipv4_"),
            _ => match self.name() {
                name if name.starts_with("xreg") => name.replace("xreg", "pkt_reg"),
                name if name.starts_with("ct_") => name.to_owned(),
                name => name.replace("nw_", "ip_"),
            },
        };
        format!("{class}_{}", name.to_ascii_uppercase())
    }

    /// The field of a name, of either kind, whatever class that says.
    pub fn of_name(name: &str) -> Option<Self> {
        let bare = |name: &str| {
            let classes = ["NXM_OF_", "NXM_NX_", "OXM_OF_"];
            classes.iter().find_map(|class| name.strip_prefix(class)).map(str::to_owned)
        };
        let wanted = bare(name);
        Self::ALL.iter().copied().find(|field| match &wanted {
            Some(wanted) => bare(&field.wire_name()).is_some_and(|it| it == *wanted),
            None => field.name() == name,
        })
    }

    /// How long its values are.
    pub fn bits(self) -> u32 {
        self.spec().bits.into()
    }

    /// What it stands on.
    pub fn needs(self) -> Needs {
        self.spec().needs
    }

    /// Whether no action can set it.
    pub fn is_fixed(self) -> bool {
        self.spec().is_fixed
    }

    /// All bits of its values.
    pub fn ones(self) -> u128 {
        ones(self.bits())
    }

    /// How it is written: as NXM where `is_old`, else as OXM.
    pub fn header(self, is_old: bool) -> Option<Header> {
        let Spec { nxm, oxm, .. } = self.spec();
        let (first, second) = if is_old { (nxm, oxm) } else { (oxm, nxm) };
        first.first().or(second.first()).copied()
    }

    /// The field, and the header, of a word on the wire, and whether a mask comes with the value.
    pub fn of_word(word: u32) -> Option<(Self, Header, bool)> {
        let has_mask = word >> 8 & 1 != 0;
        let bytes = (word as u8) >> u8::from(has_mask);
        let wanted = (word & !0x1ff) | u32::from(bytes);
        let at = HEADERS.binary_search_by_key(&wanted, |it| it.0).ok()?;
        let (_, field, header) = HEADERS[at];
        (!has_mask || word as u8 & 1 == 0).then_some((field, header, has_mask))
    }

    /// Of a field that is another with bits below it, which are zero and stay so: the other, and
    /// how many. Actions alone can mean it.
    pub fn padded(self) -> Option<(Self, u32)> {
        (self == Self::IpTos).then_some((Self::IpDscp, 2))
    }

    /// The register `number`.
    pub fn register(number: u8) -> Option<Self> {
        let first = Self::Reg0 as usize;
        (number < 16).then(|| Self::ALL[first + usize::from(number)])
    }
}

/// Fields by the words that say them, without the bit that there is a mask: of two with the same
/// word, the one that matches and `set_field` mean.
static HEADERS: LazyLock<Vec<(u32, Field, Header)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for &field in Field::ALL {
        let Spec { nxm, oxm, .. } = field.spec();
        let headers = nxm.iter().chain(oxm.iter());
        all.extend(headers.map(|header| (header.word(false), field, *header)));
    }
    all.sort_by_key(|it| it.0);
    all.dedup_by_key(|it| it.0);
    all
});

/// So many ones.
pub(crate) fn ones(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Some bits of a field: what actions read and write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sub {
    /// The field.
    pub field: Field,
    /// The lowest of the bits.
    pub offset: u16,
    /// How many.
    pub bits: u16,
}

impl Sub {
    /// All of a field.
    pub fn whole(field: Field) -> Self {
        Self { field, offset: 0, bits: field.bits() as u16 }
    }

    /// The bits that a text says, as they are written: `NXM_OF_VLAN_TCI[0..11]`, `in_port[]`.
    pub fn of_text(text: &str) -> Option<Self> {
        let (name, bits) = text.strip_suffix(']')?.split_once('[')?;
        let field = Field::of_name(name)?;
        if bits.is_empty() {
            return Some(Self::whole(field));
        }
        let (first, last) = bits.split_once("..").unwrap_or((bits, bits));
        let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
        let bits = last.checked_sub(first)?.checked_add(1)?;
        Some(Self { field, offset: first, bits }).filter(|it| it.is_there())
    }

    /// The bits, where they are in the field.
    pub fn mask(self) -> u128 {
        ones(self.bits.into()) << self.offset.min(127)
    }

    /// Whether the field has them.
    pub fn is_there(self) -> bool {
        let end = u32::from(self.offset) + u32::from(self.bits);
        // The bit that says that there is a tag is none that can be told apart.
        let bits = if self.field == Field::VlanVid { 12 } else { self.field.bits() };
        self.bits > 0 && end <= bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_leads_to_its_field_and_fits_its_bits() {
        for &field in Field::ALL {
            for is_old in [true, false] {
                let header = field.header(is_old).unwrap();
                let found = field.padded().map_or(field, |(it, _)| it);
                for has_mask in [false, true] {
                    let (it, its, mask) = Field::of_word(header.word(has_mask)).unwrap();
                    assert_eq!((it, mask), (found, has_mask));
                    assert_eq!(its.word(has_mask), header.word(has_mask));
                }
                let room = u32::from(header.bytes) * 8;
                assert!(field.bits() + u32::from(header.shift) <= room, "{field:?}");
            }
        }
    }

    #[test]
    fn names_are_told_apart() {
        let names: std::collections::BTreeSet<_> = Field::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), Field::ALL.len());
        assert_eq!(Field::register(15), Some(Field::Reg15));
        let wire = [
            (Field::Reg1, "NXM_NX_REG1"),
            (Field::EthSrc, "NXM_OF_ETH_SRC"),
            (Field::Metadata, "OXM_OF_METADATA"),
            (Field::Xreg0, "OXM_OF_PKT_REG0"),
            (Field::IpTtl, "NXM_NX_IP_TTL"),
            (Field::IpTos, "NXM_OF_IP_TOS"),
            (Field::IpDscp, "OXM_OF_IP_DSCP"),
            (Field::IpProto, "NXM_OF_IP_PROTO"),
            (Field::TunDst, "NXM_NX_TUN_IPV4_DST"),
            (Field::SctpDst, "OXM_OF_SCTP_DST"),
            (Field::Ip6Label, "NXM_NX_IPV6_LABEL"),
            (Field::CtIp4Src, "NXM_NX_CT_NW_SRC"),
        ];
        assert!(wire.iter().all(|(field, name)| field.wire_name() == *name));
        assert!(wire.iter().all(|(field, name)| Field::of_name(name) == Some(*field)));
        assert!(Field::ALL.iter().all(|it| Field::of_name(it.name()) == Some(*it)));
        assert!(Field::ALL.iter().all(|it| Field::of_name(&it.wire_name()) == Some(*it)));
        assert_eq!(Field::of_name("OXM_OF_ETH_SRC"), Some(Field::EthSrc));
        for wrong in ["", "NXM_OF_", "ETH_SRC", "NXM_OF_eth_src", "reg16"] {
            assert_eq!(Field::of_name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bits_of_fields_are_read_as_they_are_written() {
        for &field in Field::ALL {
            let whole = Sub::whole(field);
            assert_eq!(Sub::of_text(&whole.to_string()), Some(whole));
        }
        let sub = |offset, bits| Some(Sub { field: Field::VlanTci, offset, bits });
        assert_eq!(Sub::of_text("NXM_OF_VLAN_TCI[0..11]"), sub(0, 12));
        assert_eq!(Sub::of_text("vlan_tci[13..15]"), sub(13, 3));
        assert_eq!(Sub::of_text("NXM_OF_VLAN_TCI[12]"), sub(12, 1));
        for wrong in ["vlan_tci", "vlan_tci[", "[]", "vlan_tci[16]", "vlan_tci[3..2]", "x[]"] {
            assert_eq!(Sub::of_text(wrong), None, "{wrong}");
        }
        assert_eq!(Sub::of_text("vlan_tci[0..99999]"), None);
    }

    #[test]
    fn words_that_name_nothing_are_nothing() {
        // An unknown number, a wrong length, an odd length with a mask.
        for word in [0x8000_fe01, 0x8000_0003, 0x8000_0307, 0x0000_0802 | 0xffff_0000] {
            assert_eq!(Field::of_word(word), None, "{word:#x}");
        }
    }
}
