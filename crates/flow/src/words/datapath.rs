//! What packets of a megaflow have in common, as Open vSwitch tells flows of its datapath.
//!
//! ```text
//!  recirc_id(0),in_port(1),packet_type(ns=0,id=0),eth(src=…),eth_type(0x0800),ipv4(dst=…/…,frag=no),tcp(dst=80)
//! ```

use super::actions::value;
use super::fields::{Net, is_discovery, net, piece, transport};
use super::{Names, flags, hex, mac};
use crate::key::Key;
use openflow::Field;

/// A header with those of its fields that are looked at, between brackets.
struct Header {
    words: Vec<String>,
}

impl Header {
    fn new() -> Self {
        Self { words: Vec::new() }
    }

    fn field(mut self, key: &Key, mask: &Key, field: Field, name: &str) -> Self {
        let bits = mask.get(field);
        if bits != 0 {
            self.words.push(format!("{name}={}", value(field, key.get(field) & bits, bits)));
        }
        self
    }

    /// Protocol and ports of who began a connection, if it is one of these addresses.
    fn ends_of(self, is_it: bool, key: &Key, mask: &Key, [from, to]: [&str; 2]) -> Self {
        if !is_it {
            return self;
        }
        self.field(key, mask, Field::CtProto, "proto").field(key, mask, Field::CtSrc, from).field(
            key,
            mask,
            Field::CtDst,
            to,
        )
    }

    fn end(self, name: &str, out: &mut Vec<String>) {
        if !self.words.is_empty() {
            out.push(format!("{name}({})", self.words.join(",")));
        }
    }
}

/// What a key has under a mask, in the words of a datapath.
pub fn datapath_key(key: &Key, mask: &Key, names: &Names) -> String {
    use Field as F;
    let mut out = Vec::new();
    let seen = |field: Field| Some(mask.get(field)).filter(|bits| *bits != 0);
    let masked = |field: Field, bits: u128| match bits == field.ones() {
        true => hex(key.get(field) & bits),
        false => format!("{}/{}", hex(key.get(field) & bits), hex(bits)),
    };
    if let Some(bits) = seen(F::PktMark) {
        out.push(format!("skb_mark({})", masked(F::PktMark, bits)));
    }
    if let Some(bits) = seen(F::CtState) {
        out.push(format!("ct_state({})", flags::signed_state(key.get(F::CtState), bits & 0xff)));
    }
    for (field, name) in [(F::CtZone, "ct_zone"), (F::CtMark, "ct_mark"), (F::CtLabel, "ct_label")]
    {
        if let Some(bits) = seen(field) {
            out.push(format!("{name}({})", masked(field, bits)));
        }
    }
    // Those of IPv6 have other names for ports.
    Header::new()
        .field(key, mask, F::CtIp4Src, "src")
        .field(key, mask, F::CtIp4Dst, "dst")
        .ends_of(net(key) != Net::Ip6, key, mask, ["tp_src", "tp_dst"])
        .end("ct_tuple4", &mut out);
    Header::new()
        .field(key, mask, F::CtIp6Src, "src")
        .field(key, mask, F::CtIp6Dst, "dst")
        .ends_of(net(key) == Net::Ip6, key, mask, ["src_port", "dst_port"])
        .end("ct_tuple6", &mut out);
    // Its number has a mask of digits where not all of it counts.
    let mut tunnel = Header::new();
    if let Some(bits) = seen(F::TunId) {
        tunnel.words.push(format!("tun_id={}", masked(F::TunId, bits)));
    }
    tunnel
        .field(key, mask, F::TunSrc, "src")
        .field(key, mask, F::TunDst, "dst")
        .field(key, mask, F::TunIp6Src, "ipv6_src")
        .field(key, mask, F::TunIp6Dst, "ipv6_dst")
        .end("tunnel", &mut out);
    out.push(format!("recirc_id({})", hex(key.get(F::RecircId))));
    let number = key.get(F::InPort) as u16;
    let port = names.get(&number).cloned().unwrap_or_else(|| number.to_string());
    out.push(format!("in_port({port})"));
    out.push("packet_type(ns=0,id=0)".to_owned());
    Header::new()
        .field(key, mask, F::EthSrc, "src")
        .field(key, mask, F::EthDst, "dst")
        .end("eth", &mut out);
    let tag = mask.get(F::VlanTci);
    let has_tag = tag & 0x1000 != 0 && key.get(F::VlanTci) & 0x1000 != 0;
    let mut inner = Vec::new();
    inside(key, mask, &mut inner);
    if !has_tag {
        out.extend(inner);
        return out.join(",");
    }
    let part = |bits: u128, shift: u32| {
        let (bits, tci) = (tag >> shift & bits, key.get(F::VlanTci) >> shift & bits);
        (tci & bits, bits)
    };
    let word = |(value, bits): (u128, u128), all: u128| match bits == all {
        true => value.to_string(),
        false => format!("{value}/0x{bits:x}"),
    };
    let (vid, pcp) = (word(part(0xfff, 0), 0xfff), word(part(7, 13), 7));
    out.push("eth_type(0x8100)".to_owned());
    out.push(format!("vlan(vid={vid},pcp={pcp})"));
    out.push(format!("encap({})", inner.join(",")));
    out.join(",")
}

/// The type of a packet, and what it is about.
fn inside(key: &Key, mask: &Key, out: &mut Vec<String>) {
    use Field as F;
    let kind = key.get(F::EthType);
    // Frames with a length in place of a type.
    let kind = if kind == 0 { "0x05ff/0xfa00".to_owned() } else { format!("0x{kind:04x}") };
    if mask.get(F::EthType) != 0 {
        out.push(format!("eth_type({kind})"));
    }
    let header = Header::new;
    let network = net(key);
    match network {
        Net::Ip4 | Net::Ip6 => {
            let (name, src, dst) = match network {
                Net::Ip4 => ("ipv4", F::IpSrc, F::IpDst),
                _ => ("ipv6", F::Ip6Src, F::Ip6Dst),
            };
            let mut it = header().field(key, mask, src, "src").field(key, mask, dst, "dst");
            if network == Net::Ip6 {
                it = it.field(key, mask, F::Ip6Label, "label");
            }
            it = it.field(key, mask, F::IpProto, "proto");
            let (dscp, ecn) = (mask.get(F::IpDscp), mask.get(F::IpEcn));
            if dscp | ecn != 0 {
                let bits = dscp << 2 | ecn;
                let tos = (key.get(F::IpDscp) << 2 | key.get(F::IpEcn)) & bits;
                let bits = if bits == 0xff { String::new() } else { format!("/0x{bits:x}") };
                let name = if network == Net::Ip4 { "tos" } else { "tclass" };
                it.words.push(format!("{name}={}{bits}", hex(tos)));
            }
            it = it.field(key, mask, F::IpTtl, if network == Net::Ip4 { "ttl" } else { "hlimit" });
            if let Some(word) = piece(key.get(F::IpFrag), mask.get(F::IpFrag)) {
                it.words.push(format!("frag={word}"));
            }
            it.end(name, out);
        }
        Net::Arp => header()
            .field(key, mask, F::ArpSpa, "sip")
            .field(key, mask, F::ArpTpa, "tip")
            .field(key, mask, F::ArpOp, "op")
            .field(key, mask, F::ArpSha, "sha")
            .field(key, mask, F::ArpTha, "tha")
            .end("arp", out),
        Net::Mpls => header()
            .field(key, mask, F::MplsLabel, "label")
            .field(key, mask, F::MplsTc, "tc")
            .field(key, mask, F::MplsTtl, "ttl")
            .field(key, mask, F::MplsBos, "bos")
            .end("mpls", out),
        Net::Other => {}
    }
    if let [(first, _), (second, _)] = transport(key) {
        let (name, names) = match first {
            F::TcpSrc => ("tcp", ["src", "dst"]),
            F::UdpSrc => ("udp", ["src", "dst"]),
            F::SctpSrc => ("sctp", ["src", "dst"]),
            F::Icmp4Type => ("icmp", ["type", "code"]),
            _ => ("icmpv6", ["type", "code"]),
        };
        header()
            .field(key, mask, *first, names[0])
            .field(key, mask, *second, names[1])
            .end(name, out);
        if name == "tcp" && mask.get(F::TcpFlags) != 0 {
            let bits = mask.get(F::TcpFlags);
            out.push(format!("tcp_flags({})", flags::tcp(key.get(F::TcpFlags) & bits, bits)));
        }
    }
    if is_discovery(key) {
        let mut it = header().field(key, mask, F::NdTarget, "target");
        for (field, name) in [(F::NdSll, "sll"), (F::NdTll, "tll")] {
            if mask.get(field) != 0 {
                it.words.push(format!("{name}={}", mac(key.get(field))));
            }
        }
        it.end("nd", out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_flow;
    use super::*;

    #[test]
    fn what_decided_is_told_header_by_header() {
        let names = Names::new();
        let told = |text: &str, seen: &[(Field, u128)], names: &Names| {
            let key = read_flow(text, &Names::new()).unwrap();
            let mut mask = Key::default();
            for field in [Field::InPort, Field::RecircId, Field::EthType, Field::IpFrag] {
                mask.set(field, field.ones(), field.ones());
            }
            for (field, bits) in seen {
                mask.set(*field, *bits, *bits);
            }
            datapath_key(&key, &mask, names)
        };
        let web = "in_port=1,tcp,nw_dst=10.1.2.3,nw_ttl=64,tcp_dst=80,dl_dst=50:54:00:00:00:07";
        let seen = [
            (Field::EthDst, Field::EthDst.ones()),
            (Field::IpDst, 0xff00_0000),
            (Field::IpProto, 0xff),
            (Field::IpTtl, 0xff),
            (Field::TcpDst, 0xffff),
        ];
        // As Debian's ovs-vswitchd (3.1) has it, whose address is that of the first packet.
        assert_eq!(
            told(web, &seen, &names),
            "recirc_id(0),in_port(1),packet_type(ns=0,id=0),eth(dst=50:54:00:00:00:07),eth_type(0x0800),\
             ipv4(dst=10.0.0.0/255.0.0.0,proto=6,ttl=64,frag=no),tcp(dst=80)"
        );
        let tagged = "in_port=2,dl_vlan=3,dl_vlan_pcp=1,ipv6";
        assert_eq!(
            told(tagged, &[(Field::VlanTci, 0x1fff)], &Names::from([(2, "p2".to_owned())])),
            "recirc_id(0),in_port(p2),packet_type(ns=0,id=0),eth_type(0x8100),vlan(vid=3,pcp=0/0x0),\
             encap(eth_type(0x86dd),ipv6(frag=no))"
        );
        assert_eq!(
            told(
                "in_port=2,tun_id=0x64,tun_src=192.0.2.9,arp",
                &[(Field::TunId, u64::MAX.into()), (Field::TunSrc, 0xffff_ff00)],
                &names
            ),
            "tunnel(tun_id=0x64,src=192.0.2.0/255.255.255.0),recirc_id(0),in_port(2),\
             packet_type(ns=0,id=0),eth_type(0x0806)"
        );
        assert_eq!(
            told(
                "in_port=2,ct_state=trk|new,ct_zone=9,arp,arp_op=1",
                &[(Field::CtState, 0x22), (Field::CtZone, 0xffff), (Field::ArpOp, 0xffff)],
                &names
            ),
            "ct_state(-est+trk),ct_zone(0x9),recirc_id(0),in_port(2),packet_type(ns=0,id=0),eth_type(0x0806),arp(op=1)"
        );
    }
}
