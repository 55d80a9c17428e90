//! The fields of a key, as Open vSwitch writes matches and flows.

use super::{Names, flags, hex, mac, port_word};
use crate::key::Key;
use openflow::Field;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What Ethernet types, and protocols in them, are called.
const PROTOCOLS: [(u128, u128, &str); 8] = [
    (0x0800, 1, "icmp"),
    (0x0800, 6, "tcp"),
    (0x0800, 17, "udp"),
    (0x0800, 132, "sctp"),
    (0x86dd, 58, "icmp6"),
    (0x86dd, 6, "tcp6"),
    (0x86dd, 17, "udp6"),
    (0x86dd, 132, "sctp6"),
];
const TYPES: [(u128, &str); 6] = [
    (0x0800, "ip"),
    (0x86dd, "ipv6"),
    (0x0806, "arp"),
    (0x8035, "rarp"),
    (0x8847, "mpls"),
    (0x8848, "mplsm"),
];

/// The kinds of packets whose fields stand in the same places.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Net {
    Ip4,
    Ip6,
    Arp,
    Mpls,
    Other,
}

pub(super) fn net(key: &Key) -> Net {
    match key.get(Field::EthType) {
        0x0800 => Net::Ip4,
        0x86dd => Net::Ip6,
        0x0806 | 0x8035 => Net::Arp,
        0x8847 | 0x8848 => Net::Mpls,
        _ => Net::Other,
    }
}

/// Fields of what is carried, with the names that matches have for them.
pub(super) fn transport(key: &Key) -> &'static [(Field, &'static str)] {
    use Field as F;
    match (net(key), key.get(F::IpProto)) {
        (Net::Ip4, 1) => &[(F::Icmp4Type, "icmp_type"), (F::Icmp4Code, "icmp_code")],
        (Net::Ip6, 58) => &[(F::Icmp6Type, "icmp_type"), (F::Icmp6Code, "icmp_code")],
        (Net::Ip4 | Net::Ip6, 6) => &[(F::TcpSrc, "tp_src"), (F::TcpDst, "tp_dst")],
        (Net::Ip4 | Net::Ip6, 17) => &[(F::UdpSrc, "tp_src"), (F::UdpDst, "tp_dst")],
        (Net::Ip4 | Net::Ip6, 132) => &[(F::SctpSrc, "tp_src"), (F::SctpDst, "tp_dst")],
        _ => &[],
    }
}

/// Whether a packet is a neighbour solicitation or advertisement.
pub(super) fn is_discovery(key: &Key) -> bool {
    net(key) == Net::Ip6
        && key.get(Field::IpProto) == 58
        && matches!(key.get(Field::Icmp6Type), 135 | 136)
}

struct Writing<'a> {
    key: &'a Key,
    mask: &'a Key,
    words: Vec<String>,
    /// All that a packet has is told: that there is no second tag, too.
    is_whole: bool,
}

impl Writing<'_> {
    /// A field's value and mask, if it is looked at.
    fn seen(&self, field: Field) -> Option<(u128, u128)> {
        let mask = self.mask.get(field);
        (mask != 0).then(|| (self.key.get(field) & mask, mask))
    }

    fn say(&mut self, name: &str, value: impl std::fmt::Display) {
        self.words.push(format!("{name}={value}"));
    }

    fn hex(&mut self, field: Field, name: &str) {
        if let Some((value, mask)) = self.seen(field) {
            let mask = if mask == field.ones() { String::new() } else { format!("/{}", hex(mask)) };
            self.say(name, hex(value) + &mask);
        }
    }

    fn number(&mut self, field: Field, name: &str) {
        if let Some((value, mask)) = self.seen(field) {
            let text = match mask == field.ones() {
                true => value.to_string(),
                false => format!("0x{value:x}/0x{mask:x}"),
            };
            self.say(name, text);
        }
    }

    fn mac(&mut self, field: Field, name: &str) {
        if let Some((value, bits)) = self.seen(field) {
            let mask = if bits == field.ones() { String::new() } else { format!("/{}", mac(bits)) };
            self.say(name, mac(value) + &mask);
        }
    }

    fn address(&mut self, field: Field, name: &str) {
        if let Some((value, mask)) = self.seen(field) {
            self.say(name, network(field, value, mask));
        }
    }

    fn tag(&mut self) {
        let Some((tci, mask)) = self.seen(Field::VlanTci) else { return };
        let (vid, pcp) = (mask & 0xfff, mask & 0xe000);
        let is_named = mask & tci & 0x1000 != 0
            && matches!(vid, 0 | 0xfff)
            && matches!(pcp, 0 | 0xe000)
            && vid | pcp != 0;
        if is_named {
            if vid != 0 {
                self.say("dl_vlan", tci & 0xfff);
            }
            if pcp != 0 {
                self.say("dl_vlan_pcp", tci >> 13);
            }
        } else if mask == 0xffff {
            self.say("vlan_tci", format!("0x{tci:04x}"));
        } else {
            self.say("vlan_tci", format!("0x{tci:04x}/0x{mask:04x}"));
        }
        if self.is_whole && tci != 0 && !matches!(self.key.get(Field::EthType), 0x8100 | 0x88a8) {
            self.say("vlan_tci1", "0x0000");
        }
    }

    /// The word for what a packet is: whether its type, and its protocol, are told by it.
    fn protocol(&mut self) -> (bool, bool) {
        let Some((kind, _)) = self.seen(Field::EthType) else { return (false, false) };
        let inside = self.seen(Field::IpProto).map(|(proto, _)| proto);
        let named = PROTOCOLS.iter().find(|it| it.0 == kind && Some(it.1) == inside);
        if let Some((.., word)) = named {
            self.words.push((*word).to_owned());
            return (true, true);
        }
        let named = TYPES.iter().find(|it| it.0 == kind);
        self.words.extend(named.map(|(_, word)| (*word).to_owned()));
        (named.is_some(), false)
    }
}

/// An address with its mask, where that leaves something out.
pub(super) fn network(field: Field, value: u128, mask: u128) -> String {
    let (ones, length) = (field.ones(), mask.count_ones());
    let address = |value: u128| match field.bits() {
        32 => Ipv4Addr::from(value as u32).to_string(),
        _ => Ipv6Addr::from(value).to_string(),
    };
    let is_prefix = mask == ones & !ones.checked_shr(length).unwrap_or(0);
    match mask == ones {
        true => address(value),
        false if is_prefix => format!("{}/{length}", address(value)),
        false => format!("{}/{}", address(value), address(mask)),
    }
}

/// What a key has under a mask; the queue of what leaves, where one was chosen.
pub fn fields(key: &Key, mask: &Key, queue: Option<u32>, names: &Names) -> String {
    write(Writing { key, mask, words: Vec::new(), is_whole: false }, queue, names)
}

fn write(mut it: Writing<'_>, queue: Option<u32>, names: &Names) -> String {
    use Field as F;
    let (key, mask) = (it.key, it.mask);
    it.hex(F::PktMark, "pkt_mark");
    it.hex(F::RecircId, "recirc_id");
    it.number(F::ConjId, "conj_id");
    if let Some(queue) = queue {
        it.say("skb_priority", hex(queue.into()));
    }
    if let Some((state, mask)) = it.seen(F::CtState) {
        it.say("ct_state", flags::state(state, mask));
    }
    it.number(F::CtZone, "ct_zone");
    it.hex(F::CtMark, "ct_mark");
    it.hex(F::CtLabel, "ct_label");
    it.address(F::CtIp4Src, "ct_nw_src");
    it.address(F::CtIp6Src, "ct_ipv6_src");
    it.address(F::CtIp4Dst, "ct_nw_dst");
    it.address(F::CtIp6Dst, "ct_ipv6_dst");
    if it.seen(F::CtProto).is_some() {
        it.number(F::CtProto, "ct_nw_proto");
        it.number(F::CtSrc, "ct_tp_src");
        it.number(F::CtDst, "ct_tp_dst");
    }
    if mask.get(F::RecircId) != 0 {
        it.words.push("eth".to_owned());
    }
    let (has_type, has_proto) = it.protocol();
    for number in 0..16 {
        if let Some(register) = Field::register(number) {
            it.hex(register, register.name());
        }
    }
    it.hex(F::TunId, "tun_id");
    it.address(F::TunSrc, "tun_src");
    it.address(F::TunDst, "tun_dst");
    it.address(F::TunIp6Src, "tun_ipv6_src");
    it.address(F::TunIp6Dst, "tun_ipv6_dst");
    it.hex(F::Metadata, "metadata");
    if let Some((number, _)) = it.seen(F::InPort) {
        it.say("in_port", port_word(number as u16, names));
    }
    it.tag();
    it.mac(F::EthSrc, "dl_src");
    it.mac(F::EthDst, "dl_dst");
    if let Some((kind, _)) = it.seen(F::EthType).filter(|_| !has_type) {
        it.say("dl_type", format!("0x{kind:04x}"));
    }
    match net(key) {
        Net::Ip4 => {
            it.address(F::IpSrc, "nw_src");
            it.address(F::IpDst, "nw_dst");
        }
        Net::Ip6 => {
            it.address(F::Ip6Src, "ipv6_src");
            it.address(F::Ip6Dst, "ipv6_dst");
            if let Some((label, bits)) = it.seen(F::Ip6Label) {
                let all = bits == F::Ip6Label.ones();
                let bits = if all { String::new() } else { format!("/0x{bits:05x}") };
                it.say("ipv6_label", format!("0x{label:05x}{bits}"));
            }
        }
        Net::Arp => {
            it.address(F::ArpSpa, "arp_spa");
            it.address(F::ArpTpa, "arp_tpa");
            it.number(F::ArpOp, "arp_op");
            it.mac(F::ArpSha, "arp_sha");
            it.mac(F::ArpTha, "arp_tha");
        }
        Net::Mpls => {
            it.number(F::MplsLabel, "mpls_label");
            it.number(F::MplsTc, "mpls_tc");
            it.number(F::MplsTtl, "mpls_ttl");
            it.number(F::MplsBos, "mpls_bos");
        }
        Net::Other => {}
    }
    if matches!(net(key), Net::Ip4 | Net::Ip6) {
        if !has_proto {
            it.number(F::IpProto, "nw_proto");
        }
        if let Some((dscp, _)) = it.seen(F::IpDscp) {
            it.say("nw_tos", dscp << 2);
        }
        it.number(F::IpEcn, "nw_ecn");
        it.number(F::IpTtl, "nw_ttl");
        if let Some(word) = it.seen(F::IpFrag).and_then(|(value, mask)| piece(value, mask)) {
            it.say("nw_frag", word);
        }
    }
    for (field, name) in transport(key) {
        it.number(*field, name);
    }
    if is_discovery(key) {
        it.address(F::NdTarget, "nd_target");
        it.mac(F::NdSll, "nd_sll");
        it.mac(F::NdTll, "nd_tll");
    }
    if matches!(transport(key), [(F::TcpSrc, _), ..])
        && let Some((value, mask)) = it.seen(F::TcpFlags)
    {
        it.say("tcp_flags", flags::tcp(value, mask));
    }
    it.words.join(",")
}

/// Whether a packet is a piece of one.
pub(super) fn piece(value: u128, mask: u128) -> Option<&'static str> {
    Some(match (mask, value) {
        (3, 0) => "no",
        (3, 1) => "first",
        (3, _) => "later",
        (1, 0) => "no",
        (1, _) => "yes",
        (2, 0) => "not_later",
        (2, _) => "later",
        _ => return None,
    })
}

/// What a packet is, with all that such a packet has.
pub fn flow(key: &Key, queue: Option<u32>, names: &Names) -> String {
    let queue = queue.filter(|queue| *queue != 0);
    let (mask, words) = (whole(key), Vec::new());
    write(Writing { key, mask: &mask, words, is_whole: true }, queue, names)
}

/// The fields that a packet like this has, and what is known beside it.
pub(super) fn whole(key: &Key) -> Key {
    use Field as F;
    let mut mask = Key::default();
    let mut see = |field: Field| mask.set(field, field.ones(), field.ones());
    let beside = [
        F::InPort,
        F::PktMark,
        F::RecircId,
        F::CtState,
        F::CtZone,
        F::CtMark,
        F::CtLabel,
        F::CtIp4Src,
        F::CtIp6Src,
        F::CtIp4Dst,
        F::CtIp6Dst,
        F::CtProto,
        F::CtSrc,
        F::CtDst,
        F::TunId,
        F::TunSrc,
        F::TunDst,
        F::TunIp6Src,
        F::TunIp6Dst,
        F::Metadata,
    ];
    let registers = (0..16).filter_map(Field::register);
    beside.into_iter().chain(registers).filter(|field| key.get(*field) != 0).for_each(&mut see);
    [F::EthSrc, F::EthDst, F::EthType, F::VlanTci].into_iter().for_each(&mut see);
    let net_fields: &[Field] = match net(key) {
        Net::Ip4 => &[F::IpSrc, F::IpDst],
        Net::Ip6 => &[F::Ip6Src, F::Ip6Dst, F::Ip6Label],
        Net::Arp => &[F::ArpSpa, F::ArpTpa, F::ArpOp, F::ArpSha, F::ArpTha],
        Net::Mpls => &[F::MplsLabel, F::MplsTc, F::MplsTtl, F::MplsBos],
        Net::Other => &[],
    };
    net_fields.iter().copied().for_each(&mut see);
    if matches!(net(key), Net::Ip4 | Net::Ip6) {
        [F::IpProto, F::IpDscp, F::IpEcn, F::IpTtl, F::IpFrag].into_iter().for_each(&mut see);
        if key.get(F::IpFrag) & 2 == 0 {
            transport(key).iter().map(|(field, _)| *field).for_each(&mut see);
            if key.get(F::IpProto) == 6 {
                see(F::TcpFlags);
            }
            if is_discovery(key) {
                [F::NdTarget, F::NdSll, F::NdTll].into_iter().for_each(&mut see);
            }
        }
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::super::read_flow;
    use super::*;
    use openflow::Match;

    /// What Debian's ovs-vswitchd (3.1) prints behind `Flow:` for what is asked.
    #[test]
    fn flows_are_told_as_open_vswitch_tells_them() {
        let names = Names::from([(1, "p1".to_owned())]);
        let none = Names::new();
        let zero = "vlan_tci=0x0000,dl_src=00:00:00:00:00:00,dl_dst=00:00:00:00:00:00";
        let cases = [
            (
                "in_port=1,tcp,nw_src=1.1.1.1,nw_dst=10.1.2.3,tcp_dst=80,nw_ttl=64",
                format!("tcp,in_port=1,{zero},nw_src=1.1.1.1,nw_dst=10.1.2.3,nw_tos=0,nw_ecn=0,nw_ttl=64,\
                    nw_frag=no,tp_src=0,tp_dst=80,tcp_flags=0"),
            ),
            (
                "in_port=1,arp",
                format!("arp,in_port=1,{zero},arp_spa=0.0.0.0,arp_tpa=0.0.0.0,arp_op=0,\
                    arp_sha=00:00:00:00:00:00,arp_tha=00:00:00:00:00:00"),
            ),
            ("in_port=p1,dl_type=0x88cc", format!("in_port=1,{zero},dl_type=0x88cc")),
            (
                "in_port=1,icmp6,icmpv6_type=135,nd_target=::1",
                format!("icmp6,in_port=1,{zero},ipv6_src=::,ipv6_dst=::,ipv6_label=0x00000,nw_tos=0,\
                    nw_ecn=0,nw_ttl=0,nw_frag=no,icmp_type=135,icmp_code=0,nd_target=::1,\
                    nd_sll=00:00:00:00:00:00,nd_tll=00:00:00:00:00:00"),
            ),
            (
                "in_port=LOCAL,ip,ip_frag=first",
                format!("ip,in_port=LOCAL,{zero},nw_src=0.0.0.0,nw_dst=0.0.0.0,nw_proto=0,nw_tos=0,nw_ecn=0,\
                    nw_ttl=0,nw_frag=first"),
            ),
            (
                "in_port=1,tun_id=100,tun_src=192.0.2.9,tun_dst=192.0.2.1,dl_type=0x88cc",
                format!("tun_id=0x64,tun_src=192.0.2.9,tun_dst=192.0.2.1,in_port=1,{zero},dl_type=0x88cc"),
            ),
            (
                "in_port=1,dl_vlan=3,dl_vlan_pcp=1,reg1=7",
                "reg1=0x7,in_port=1,dl_vlan=3,dl_vlan_pcp=1,vlan_tci1=0x0000,dl_src=00:00:00:00:00:00,\
                    dl_dst=00:00:00:00:00:00,dl_type=0x0000".to_owned(),
            ),
        ];
        for (asked, wanted) in cases {
            let key = read_flow(asked, &names).unwrap();
            assert_eq!(flow(&key, None, &none), wanted, "{asked}");
        }
        let key = read_flow("tcp", &names).unwrap();
        assert!(flow(&key, Some(3), &names).starts_with("skb_priority=0x3,tcp,in_port=ANY,"));
    }

    #[test]
    fn matches_have_masks_where_not_all_counts() {
        let mut asked = Match::any().with(Field::InPort, 1).with(Field::EthType, 0x0800);
        asked.set(Field::IpDst, 0x0a00_0000, 0xff00_0000);
        asked.set(Field::IpSrc, 1, 1);
        asked.set(Field::EthDst, 0x0100_0000_0000, 0x0100_0000_0000);
        asked.set(Field::VlanTci, 0x1005, 0x1fff);
        asked.set(Field::CtState, 0x20, 0x21);
        let (key, mask) = Key::of_match(&asked);
        let names = Names::from([(1, "p1".to_owned())]);
        let wanted = "ct_state=-new+trk,ip,in_port=p1,dl_vlan=5,dl_dst=01:00:00:00:00:00/01:00:00:00:00:00,\
            nw_src=0.0.0.1/0.0.0.1,nw_dst=10.0.0.0/8";
        assert_eq!(fields(&key, &mask, None, &names), wanted);
    }
}
