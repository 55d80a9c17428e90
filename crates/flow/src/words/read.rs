//! Flows that people type, and what is wrong with them, in Open vSwitch's words.

use super::{Names, flags};
use crate::key::Key;
use crate::place::has_field;
use openflow::{Field, PortNumber, port};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Words for an Ethernet type, and for what is in it.
const PROTOCOLS: [(&str, u16, u8); 15] = [
    ("ip", 0x0800, 0),
    ("ipv4", 0x0800, 0),
    ("ip4", 0x0800, 0),
    ("arp", 0x0806, 0),
    ("icmp", 0x0800, 1),
    ("tcp", 0x0800, 6),
    ("udp", 0x0800, 17),
    ("sctp", 0x0800, 132),
    ("ipv6", 0x86dd, 0),
    ("ip6", 0x86dd, 0),
    ("icmp6", 0x86dd, 58),
    ("tcp6", 0x86dd, 6),
    ("udp6", 0x86dd, 17),
    ("sctp6", 0x86dd, 132),
    ("rarp", 0x8035, 0),
];
/// The same of MPLS, whose packets carry nothing that is looked at.
const LABELS: [(&str, u16); 2] = [("mpls", 0x8847), ("mplsm", 0x8848)];
/// Other names of fields.
const ALIASES: [(&str, Field); 21] = [
    ("dl_src", Field::EthSrc),
    ("dl_dst", Field::EthDst),
    ("dl_type", Field::EthType),
    ("dl_vlan_pcp", Field::VlanPcp),
    ("nw_src", Field::IpSrc),
    ("nw_dst", Field::IpDst),
    ("ip_proto", Field::IpProto),
    ("ip_ecn", Field::IpEcn),
    ("ip_ttl", Field::IpTtl),
    ("nw_frag", Field::IpFrag),
    ("nw_proto", Field::IpProto),
    ("tun_ipv4_src", Field::TunSrc),
    ("tun_ipv4_dst", Field::TunDst),
    ("tunnel_id", Field::TunId),
    ("icmpv4_type", Field::Icmp4Type),
    ("icmpv4_code", Field::Icmp4Code),
    ("arp_op", Field::ArpOp),
    ("ct_label", Field::CtLabel),
    ("ipv4_src", Field::IpSrc),
    ("ipv4_dst", Field::IpDst),
    ("skb_mark", Field::PktMark),
];

/// The flow that a text names, by fields and words with commas or blanks between them. A port that
/// is not said is none.
pub fn read_flow(text: &str, names: &Names) -> Result<Key, String> {
    let mut it = Reading { key: Key::default(), set: Vec::new(), names };
    let words = text.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
    for word in words {
        it.word(word).map_err(|why| format!("{text}: {why}"))?;
    }
    if it.key.get(Field::InPort) == 0 {
        it.key.set(Field::InPort, port::NONE.into(), 0xffff);
    }
    Ok(it.key)
}

/// Sets a field by the number that was said.
type Put = fn(&mut Key, Field, u128);

struct Reading<'a> {
    key: Key,
    /// Fields that were said.
    set: Vec<Field>,
    names: &'a Names,
}

impl Reading<'_> {
    fn word(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = word.split_once(['=', ':']).unwrap_or((word, ""));
        if let Some((_, kind, inside)) = PROTOCOLS.iter().find(|it| it.0 == name) {
            return self.protocol(*kind, *inside);
        }
        if let Some((_, kind)) = LABELS.iter().find(|it| it.0 == name) {
            return self.protocol(*kind, 0);
        }
        let (field, put) = self.field(name).ok_or_else(|| format!("unknown field {name}"))?;
        if !(has_field(&self.key, field) || matches!(field, Field::VlanVid | Field::VlanPcp)) {
            return Err(format!("prerequisites not met for setting {name}"));
        }
        if self.set.contains(&field) {
            return Err(format!("field {name} set multiple times"));
        }
        let number = value_of(field, value, self.names);
        let number = number.map_err(|why| format!("bad value for {name} ({value}: {why})"))?;
        self.set.push(field);
        put(&mut self.key, field, number);
        Ok(())
    }

    fn protocol(&mut self, kind: u16, inside: u8) -> Result<(), String> {
        if self.key.get(Field::EthType) != 0 {
            return Err("Ethernet type set multiple times".to_owned());
        }
        self.key.set(Field::EthType, kind.into(), 0xffff);
        if inside != 0 {
            self.key.set(Field::IpProto, inside.into(), 0xff);
        }
        Ok(())
    }

    /// The field of a name, of those that packets like this one have if several are called so, and
    /// how it is set.
    fn field(&self, name: &str) -> Option<(Field, Put)> {
        let whole = |key: &mut Key, field: Field, value: u128| key.set(field, value, field.ones());
        let tag = |key: &mut Key, _: Field, value: u128| {
            key.set(Field::VlanTci, value & 0xfff | 0x1000, 0x1fff);
        };
        let priority = |key: &mut Key, _: Field, value: u128| {
            key.set(Field::VlanTci, value << 13 & 0xe000 | 0x1000, 0xf000);
        };
        let tos = |key: &mut Key, _: Field, value: u128| key.set(Field::IpDscp, value >> 2, 0x3f);
        let proto = self.key.get(Field::IpProto);
        let is_ip6 = self.key.get(Field::EthType) == 0x86dd;
        let field = match name {
            "dl_vlan" => return Some((Field::VlanVid, tag)),
            "dl_vlan_pcp" | "vlan_pcp" => return Some((Field::VlanPcp, priority)),
            "nw_tos" => return Some((Field::IpDscp, tos)),
            "tp_src" if proto == 17 => Field::UdpSrc,
            "tp_dst" if proto == 17 => Field::UdpDst,
            "tp_src" if proto == 132 => Field::SctpSrc,
            "tp_dst" if proto == 132 => Field::SctpDst,
            "tp_src" => Field::TcpSrc,
            "tp_dst" => Field::TcpDst,
            "icmp_type" if is_ip6 => Field::Icmp6Type,
            "icmp_code" if is_ip6 => Field::Icmp6Code,
            _ => {
                let aliased = ALIASES.iter().find(|it| it.0 == name).map(|it| it.1);
                aliased.or_else(|| Field::ALL.iter().copied().find(|it| it.name() == name))?
            }
        };
        Some((field, whole))
    }
}

/// What a value's text says.
fn value_of(field: Field, text: &str, names: &Names) -> Result<u128, String> {
    use Field as F;
    if text == "*" || text.contains('/') {
        return Err("wildcards not allowed here".to_owned());
    }
    match field {
        F::InPort | F::ActsetOutput => {
            let bad = || format!("invalid or unknown port for {}", field.name());
            port_of(text, names).map(u128::from).ok_or_else(bad)
        }
        F::IpSrc
        | F::IpDst
        | F::ArpSpa
        | F::ArpTpa
        | F::TunSrc
        | F::TunDst
        | F::CtIp4Src
        | F::CtIp4Dst => {
            let read = text.parse::<Ipv4Addr>().map(|it| u32::from(it).into());
            read.map_err(|_| "invalid IP address".to_owned())
        }
        F::Ip6Src
        | F::Ip6Dst
        | F::NdTarget
        | F::TunIp6Src
        | F::TunIp6Dst
        | F::CtIp6Src
        | F::CtIp6Dst => {
            let read = text.parse::<Ipv6Addr>().map(u128::from);
            read.map_err(|_| "invalid IPv6 address".to_owned())
        }
        F::IpFrag => match text.to_ascii_lowercase().as_str() {
            "no" | "not_later" => Ok(0),
            "first" | "yes" => Ok(1),
            "later" => Ok(3),
            _ => Err("unknown fragment type (valid types are \"no\", \"yes\", \"first\", \
                      \"later\", \"not_later\""
                .to_owned()),
        },
        F::CtState | F::TcpFlags if text.starts_with(|it: char| it.is_ascii_alphabetic()) => {
            match field {
                F::CtState => flags::read_state(text),
                _ => flags::read_tcp(text),
            }
            .map_err(|why| why.split_once(": ").map(|(_, why)| why.to_owned()).unwrap_or(why))
        }
        F::CtState | F::TcpFlags if text.starts_with(['+', '-']) => {
            Err("wildcards not allowed here".to_owned())
        }
        field if field.bits() == 48 => {
            mac_of(text).ok_or_else(|| "invalid Ethernet address".to_owned())
        }
        field => {
            let bytes = field.bits().div_ceil(8);
            let name = field.name();
            let read = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
                Some(digits) => u128::from_str_radix(digits, 16),
                None => text.parse(),
            };
            let value = read.map_err(|_| format!("bad syntax for {name} value"))?;
            match value.checked_shr(bytes * 8).unwrap_or(0) {
                0 => Ok(value),
                _ => Err(format!("value too large for {bytes}-byte field {name}")),
            }
        }
    }
}

/// A port by its number, its name, or the word for one with a meaning of its own.
fn port_of(text: &str, names: &Names) -> Option<PortNumber> {
    if let Ok(number) = text.parse::<u32>() {
        return match number {
            0..=0xffff => Some(number as u16),
            0xffff_ff00.. => Some(number as u16),
            _ => None,
        };
    }
    let word = match text.to_ascii_uppercase().as_str() {
        "IN_PORT" => port::IN_PORT,
        "TABLE" => port::TABLE,
        "NORMAL" => port::NORMAL,
        "FLOOD" => port::FLOOD,
        "ALL" => port::ALL,
        "CONTROLLER" => port::CONTROLLER,
        "LOCAL" => port::LOCAL,
        "ANY" | "NONE" => port::NONE,
        _ => return names.iter().find(|(_, name)| *name == text).map(|(number, _)| *number),
    };
    Some(word)
}

fn mac_of(text: &str) -> Option<u128> {
    let octets: Vec<&str> = text.split(':').collect();
    let is_octet = |it: &&str| matches!(it.len(), 1 | 2) && !it.starts_with('+');
    let parse = |value: u128, octet: &&str| {
        let octet = Some(octet).filter(|it| is_octet(it))?;
        Some(value << 8 | u128::from(u8::from_str_radix(octet, 16).ok()?))
    };
    if octets.len() != 6 {
        return None;
    }
    octets.iter().try_fold(0, parse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn why(text: &str) -> String {
        read_flow(text, &Names::from([(1, "p1".to_owned())])).unwrap_err()
    }

    /// What Debian's ovs-vswitchd (3.1) says of each.
    #[test]
    fn what_is_wrong_is_told_in_open_vswitchs_words() {
        let cases = [
            ("in_port=1,ip,ip", "Ethernet type set multiple times"),
            (
                "in_port=1,tcp,tcp_dst=99999",
                "bad value for tcp_dst (99999: value too large for 2-byte field tcp_dst)",
            ),
            ("in_port=1,tcp,tcp_dst", "bad value for tcp_dst (: bad syntax for tcp_dst value)"),
            ("in_port=1,ip,nw_dst=10.0.0", "bad value for nw_dst (10.0.0: invalid IP address)"),
            ("in_port=1,dl_dst=5", "bad value for dl_dst (5: invalid Ethernet address)"),
            ("ipv6,ipv6_src=x", "bad value for ipv6_src (x: invalid IPv6 address)"),
            ("in_port=1,in_port=2", "field in_port set multiple times"),
            ("in_port=x", "bad value for in_port (x: invalid or unknown port for in_port)"),
            (
                "ip,nw_dst=10.0.0.0/8",
                "bad value for nw_dst (10.0.0.0/8: wildcards not allowed here)",
            ),
            (
                "tcp,tcp_flags=+syn+ack",
                "bad value for tcp_flags (+syn+ack: wildcards not allowed here)",
            ),
            ("tcp,tcp_flags=z", "bad value for tcp_flags (z: unknown TCP flag(s))"),
            ("in_port=1,tcp_dst=80", "prerequisites not met for setting tcp_dst"),
            ("reg17=3", "unknown field reg17"),
        ];
        for (text, wanted) in cases {
            assert_eq!(why(text), format!("{text}: {wanted}"));
        }
    }

    #[test]
    fn fields_have_the_names_that_people_type() {
        let names = Names::from([(7, "eth0".to_owned())]);
        let read = |text: &str| read_flow(text, &names).unwrap();
        let key = read("in_port=eth0 dl_type=0x800,nw_proto=6,tp_dst=3,tcp_flags=syn,nw_tos=187");
        let found = [Field::InPort, Field::TcpDst, Field::TcpFlags, Field::IpDscp, Field::IpEcn];
        assert_eq!(found.map(|it| key.get(it)), [7, 3, 2, 46, 0]);
        assert_eq!(read("dl_vlan=9999").get(Field::VlanTci), 0x1000 | 1807);
        assert_eq!(read("dl_vlan=5,dl_vlan_pcp=2").get(Field::VlanTci), 0x5005);
        assert_eq!(read("vlan_tci=0x3004").get(Field::VlanTci), 0x3004);
        assert_eq!(read("udp6,tp_src=9").get(Field::UdpSrc), 9);
        assert_eq!(read("ct_state=trk|est").get(Field::CtState), 0x22);
        assert_eq!(read("dl_src=2:0:0:0:0:a").get(Field::EthSrc), 0x0200_0000_000a);
        assert_eq!(read("").get(Field::InPort), port::NONE.into());
    }

    proptest! {
        #[test]
        fn what_is_told_of_a_flow_is_read_as_that_flow(
            number in 1..100u32, kind in 0..6usize, address in any::<u32>(), port in any::<u16>(), tag in any::<u16>(),
        ) {
            let kind = ["tcp", "udp6", "sctp", "icmp", "arp", "dl_type=0x88cc"][kind];
            let mut text = format!("in_port={number},{kind},vlan_tci=0x{:x},reg3=0x{address:x}", tag | 0x1000);
            if kind == "tcp" {
                text += &format!(",nw_dst={},tp_dst={port}", Ipv4Addr::from(address));
            }
            let key = read_flow(&text, &Names::new()).unwrap();
            let told = super::super::flow(&key, None, &Names::new()).replace("vlan_tci1=0x0000,", "");
            // Of ICMP the two kinds are told by one name.
            if kind != "icmp" {
                prop_assert_eq!(read_flow(&told, &Names::new()), Ok(key));
            }
        }

        #[test]
        fn any_text_is_a_flow_or_an_error(text in "[a-z0-9=:,/. _x+|]{0,60}") {
            if let Ok(key) = read_flow(&text, &Names::new()) {
                super::super::flow(&key, None, &Names::new());
            }
        }
    }
}
