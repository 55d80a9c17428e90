//! Each layer that can be said: its fields, what they are if they are not said, and how it is made.

use super::reader::{Reader, no_field};
use super::{Unsaid, WordsError};
use crate::craft::{Craft, Payload};
use crate::{MacAddr, tcp};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A layer as it was said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    Ether { source: Option<MacAddr>, destination: Option<MacAddr>, kind: Option<u16> },
    Vlan { id: u16, pcp: u8, dei: bool, is_service: bool, kind: Option<u16> },
    Arp { is_reply: bool, mac: Option<MacAddr>, sender: Option<Ipv4Addr>, target: Ipv4Addr },
    Ip4(Ip4),
    Ip6(Ip6),
    Udp { source: u16, destination: u16 },
    Tcp { source: u16, destination: u16, flags: u8 },
    Icmp { kind: u8, code: u8, id: u16, sequence: u16, is_six: bool },
    Vxlan { vni: u32 },
    Gre { key: Option<u32> },
    Data(usize),
    Hex(Vec<u8>),
}

/// IPv4.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Ip4 {
    source: Option<Ipv4Addr>,
    destination: Option<Ipv4Addr>,
    ttl: Option<u8>,
    tos: u8,
    id: u16,
    df: bool,
    more: bool,
    offset: u16,
    protocol: Option<u8>,
}

/// IPv6.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Ip6 {
    source: Option<Ipv6Addr>,
    destination: Option<Ipv6Addr>,
    hops: Option<u8>,
    class: u8,
    label: u32,
    next: Option<u8>,
}

/// What can be said, for who says something else.
const NAMES: &str =
    "ether, vlan, qinq, arp, ip, ip6, udp, tcp, icmp, icmp6, vxlan, gre, data or hex";
const MAC: &str = "a MAC address, as in 02:00:00:00:00:01";
const ADDRESS4: &str = "an IPv4 address, as in 10.0.2.9";
const ADDRESS6: &str = "an IPv6 address, as in 2001:db8::9";
/// Ports where none are said: those of examples.
const SOURCE_PORT: u16 = 49_152;
const DESTINATION_PORT: u16 = 9;
/// VXLAN's own.
const VXLAN_PORT: u16 = 4789;
const LETTERS: &str = "FSRPAUEC";

impl Layer {
    /// Reads one.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, WordsError> {
        match reader.field() {
            Some("ether" | "ethernet" | "eth") => ether(reader),
            Some("vlan" | "dot1q") => vlan(reader, false),
            Some("qinq" | "dot1ad") => vlan(reader, true),
            Some("arp") => arp(reader),
            Some("ip" | "ip4" | "ipv4") => ip4(reader),
            Some("ip6" | "ipv6") => ip6(reader),
            Some("udp") => udp(reader),
            Some("tcp") => tcp(reader),
            Some("icmp") => icmp(reader, false),
            Some("icmp6") => icmp(reader, true),
            Some("vxlan") => vxlan(reader),
            Some("gre") => gre(reader),
            Some("data") => Ok(Self::Data(reader.number("data", 9_000)?)),
            Some("hex") => Ok(Self::Hex(reader.octets()?)),
            Some(word) => Err(WordsError(format!("`{word}` is no layer: expected {NAMES}"))),
            None => Err(WordsError(format!("a layer is missing: expected {NAMES}"))),
        }
    }

    /// Whether it says who on the link a frame is from, or what the link carries it in.
    pub(super) fn is_link(&self) -> bool {
        matches!(self, Self::Ether { .. })
    }

    /// Adds it to those around it; `next` is what comes inside.
    pub(super) fn add_to(
        &self,
        outer: Craft<Payload>,
        next: Option<&Self>,
        unsaid: &Unsaid,
    ) -> Craft<Payload> {
        match self {
            Self::Ether { source, destination, kind } => {
                let source = source.unwrap_or(unsaid.source_mac);
                let to = destination.unwrap_or_else(|| destination_of(next, unsaid));
                let made = outer.ethernet(source, to);
                kind.map_or(made.clone(), |kind| made.ethertype(kind)).any()
            }
            Self::Vlan { id, pcp, dei, is_service, kind } => {
                let made = if *is_service { outer.service_vlan(*id) } else { outer.vlan(*id) };
                let made = made.pcp(*pcp);
                let made = if *dei { made.drop_eligible() } else { made };
                kind.map_or(made.clone(), |kind| made.ethertype(kind)).any()
            }
            Self::Arp { is_reply, mac, sender, target } => {
                let (mac, sender) =
                    (mac.unwrap_or(unsaid.source_mac), sender.unwrap_or(unsaid.source4));
                match is_reply {
                    false => outer.arp_request(mac, sender, *target).any(),
                    true => outer.arp_reply(mac, sender, unsaid.destination_mac, *target).any(),
                }
            }
            Self::Ip4(said) => said.add_to(outer, unsaid),
            Self::Ip6(said) => said.add_to(outer, unsaid),
            Self::Udp { source, destination } => outer.udp(*source, *destination).any(),
            Self::Tcp { source, destination, flags } => {
                outer.tcp(*source, *destination).flags(*flags).any()
            }
            Self::Icmp { kind, code, id, sequence, is_six } => {
                let ([a, b], [c, d]) = (id.to_be_bytes(), sequence.to_be_bytes());
                match is_six {
                    false => outer.icmp4(*kind, *code, [a, b, c, d]).any(),
                    true => outer.icmp6(*kind, *code, [a, b, c, d]).any(),
                }
            }
            Self::Vxlan { vni } => outer.vxlan(*vni).any(),
            Self::Gre { key } => {
                let made = outer.gre();
                key.map_or(made.clone(), |key| made.key(key)).any()
            }
            Self::Data(octets) => outer.payload_len(*octets),
            Self::Hex(octets) => outer.payload(octets),
        }
    }
}

/// Where a frame goes whose destination nobody said, by what is in it: to all for ARP and for
/// IPv4's broadcasts, to the group for groups, else to the port.
pub(super) fn destination_of(inside: Option<&Layer>, unsaid: &Unsaid) -> MacAddr {
    match inside {
        Some(Layer::Arp { is_reply: false, .. }) => MacAddr([0xff; 6]),
        Some(Layer::Ip4(Ip4 { destination: Some(to), .. })) if to.is_broadcast() => {
            MacAddr([0xff; 6])
        }
        Some(Layer::Ip4(Ip4 { destination: Some(to), .. })) if to.is_multicast() => {
            let [_, b, c, d] = to.octets();
            MacAddr([1, 0, 0x5e, b & 0x7f, c, d])
        }
        Some(Layer::Ip6(Ip6 { destination: Some(to), .. })) if to.is_multicast() => {
            let [.., a, b, c, d] = to.octets();
            MacAddr([0x33, 0x33, a, b, c, d])
        }
        _ => unsaid.destination_mac,
    }
}

impl Ip4 {
    fn add_to(&self, outer: Craft<Payload>, unsaid: &Unsaid) -> Craft<Payload> {
        let source = self.source.unwrap_or(unsaid.source4);
        let to = self.destination.unwrap_or(Ipv4Addr::UNSPECIFIED);
        let made = outer.ipv4(source, to).tos(self.tos).identification(self.id);
        let bits = u16::from(self.df) << 14 | u16::from(self.more) << 13 | (self.offset / 8);
        let made = made.ttl(self.ttl.unwrap_or(64)).fragment_bits(bits);
        self.protocol.map_or(made.clone(), |number| made.protocol(number)).any()
    }
}

impl Ip6 {
    fn add_to(&self, outer: Craft<Payload>, unsaid: &Unsaid) -> Craft<Payload> {
        let source = self.source.unwrap_or(unsaid.source6);
        let to = self.destination.unwrap_or(Ipv6Addr::UNSPECIFIED);
        let made = outer.ipv6(source, to).hop_limit(self.hops.unwrap_or(64));
        let made = made.traffic_class(self.class).flow_label(self.label);
        self.next.map_or(made.clone(), |number| made.next_header(number)).any()
    }
}

fn ether(reader: &mut Reader<'_>) -> Result<Layer, WordsError> {
    let (mut source, mut destination, mut kind) = (None, None, None);
    while let Some(word) = reader.field() {
        match word {
            "src" => source = Some(reader.value("src", MAC)?),
            "dst" => destination = Some(reader.value("dst", MAC)?),
            "type" => kind = Some(reader.number("type", 0xffff)?),
            _ => return Err(no_field("ether", word, "src, dst, type")),
        }
    }
    Ok(Layer::Ether { source, destination, kind })
}

fn vlan(reader: &mut Reader<'_>, is_service: bool) -> Result<Layer, WordsError> {
    let (mut id, mut pcp, mut dei, mut kind) = (None, 0, false, None);
    while let Some(word) = reader.field() {
        match word {
            "id" | "vid" => id = Some(reader.number(word, 4095)?),
            "pcp" => pcp = reader.number("pcp", 7)?,
            "dei" => dei = true,
            "type" => kind = Some(reader.number("type", 0xffff)?),
            _ => return Err(no_field("vlan", word, "id, pcp, dei, type")),
        }
    }
    let id = id.ok_or_else(|| WordsError("vlan: its `id` is missing".into()))?;
    Ok(Layer::Vlan { id, pcp, dei, is_service, kind })
}

fn arp(reader: &mut Reader<'_>) -> Result<Layer, WordsError> {
    let (mut is_reply, mut mac, mut sender, mut target) = (false, None, None, None);
    while let Some(word) = reader.field() {
        match word {
            "request" => is_reply = false,
            "reply" => is_reply = true,
            "mac" => mac = Some(reader.value("mac", MAC)?),
            "src" => sender = Some(reader.value("src", ADDRESS4)?),
            "dst" => target = Some(reader.value("dst", ADDRESS4)?),
            _ => return Err(no_field("arp", word, "request, reply, mac, src, dst")),
        }
    }
    let target = target.ok_or_else(|| WordsError("arp: its `dst` is missing".into()))?;
    Ok(Layer::Arp { is_reply, mac, sender, target })
}

fn ip4(reader: &mut Reader<'_>) -> Result<Layer, WordsError> {
    let mut said = Ip4::default();
    while let Some(word) = reader.field() {
        match word {
            "src" => said.source = Some(reader.value("src", ADDRESS4)?),
            "dst" => said.destination = Some(reader.value("dst", ADDRESS4)?),
            "ttl" => said.ttl = Some(reader.number("ttl", 255)?),
            "tos" => said.tos = reader.number("tos", 255)?,
            "dscp" => said.tos = said.tos & 3 | reader.number::<u8>("dscp", 63)? << 2,
            "ecn" => said.tos = said.tos & !3 | reader.number::<u8>("ecn", 3)?,
            "id" => said.id = reader.number("id", 0xffff)?,
            "df" => said.df = true,
            "mf" => said.more = true,
            "frag" => said.offset = reader.number("frag", 65_528)?,
            "proto" => said.protocol = Some(reader.number("proto", 255)?),
            _ => {
                let fields = "src, dst, ttl, tos, dscp, ecn, id, df, mf, frag, proto";
                return Err(no_field("ip", word, fields));
            }
        }
    }
    if said.destination.is_none() {
        return Err(WordsError("ip: its `dst` is missing".into()));
    }
    Ok(Layer::Ip4(said))
}

fn ip6(reader: &mut Reader<'_>) -> Result<Layer, WordsError> {
    let mut said = Ip6::default();
    while let Some(word) = reader.field() {
        match word {
            "src" => said.source = Some(reader.value("src", ADDRESS6)?),
            "dst" => said.destination = Some(reader.value("dst", ADDRESS6)?),
            "hlim" | "ttl" => said.hops = Some(reader.number(word, 255)?),
            "tc" => said.class = reader.number("tc", 255)?,
            "dscp" => said.class = said.class & 3 | reader.number::<u8>("dscp", 63)? << 2,
            "ecn" => said.class = said.class & !3 | reader.number::<u8>("ecn", 3)?,
            "label" => said.label = reader.number("label", 0xf_ffff)?,
            "next" => said.next = Some(reader.number("next", 255)?),
            _ => {
                return Err(no_field("ip6", word, "src, dst, hlim, tc, dscp, ecn, label, next"));
            }
        }
    }
    if said.destination.is_none() {
        return Err(WordsError("ip6: its `dst` is missing".into()));
    }
    Ok(Layer::Ip6(said))
}

fn udp(reader: &mut Reader<'_>) -> Result<Layer, WordsError> {
    let (mut source, mut destination) = (SOURCE_PORT, None);
    while let Some(word) = reader.field() {
        match word {
            "sport" => source = reader.number("sport", 0xffff)?,
            "dport" => destination = Some(reader.number("dport", 0xffff)?),
            _ => return Err(no_field("udp", word, "sport, dport")),
        }
    }
    let usual = if reader.is_next("/") && reader.is_behind("vxlan") {
        VXLAN_PORT
    } else {
        DESTINATION_PORT
    };
    Ok(Layer::Udp { source, destination: destination.unwrap_or(usual) })
}

fn tcp(reader: &mut Reader<'_>) -> Result<Layer, WordsError> {
    let (mut source, mut destination, mut flags) = (SOURCE_PORT, DESTINATION_PORT, tcp::flag::SYN);
    while let Some(word) = reader.field() {
        match word {
            "sport" => source = reader.number("sport", 0xffff)?,
            "dport" => destination = reader.number("dport", 0xffff)?,
            "flags" => {
                let letters: String = reader.value("flags", "letters of FSRPAUEC, as in SA")?;
                flags = 0;
                for letter in letters.chars() {
                    let Some(bit) = LETTERS.find(letter) else {
                        let what =
                            format!("flags `{letters}`: expected letters of FSRPAUEC, as in SA");
                        return Err(WordsError(what));
                    };
                    flags |= 1 << bit;
                }
            }
            _ => return Err(no_field("tcp", word, "sport, dport, flags")),
        }
    }
    Ok(Layer::Tcp { source, destination, flags })
}

fn icmp(reader: &mut Reader<'_>, is_six: bool) -> Result<Layer, WordsError> {
    let (mut kind, mut code, mut id, mut sequence) = (if is_six { 128 } else { 8 }, 0, 1, 1);
    while let Some(word) = reader.field() {
        match word {
            "type" => kind = reader.number("type", 255)?,
            "code" => code = reader.number("code", 255)?,
            "id" => id = reader.number("id", 0xffff)?,
            "seq" => sequence = reader.number("seq", 0xffff)?,
            _ => return Err(no_field("icmp", word, "type, code, id, seq")),
        }
    }
    Ok(Layer::Icmp { kind, code, id, sequence, is_six })
}

fn vxlan(reader: &mut Reader<'_>) -> Result<Layer, WordsError> {
    let mut vni = None;
    while let Some(word) = reader.field() {
        match word {
            "vni" => vni = Some(reader.number("vni", 0xff_ffff)?),
            _ => return Err(no_field("vxlan", word, "vni")),
        }
    }
    let vni = vni.ok_or_else(|| WordsError("vxlan: its `vni` is missing".into()))?;
    Ok(Layer::Vxlan { vni })
}

fn gre(reader: &mut Reader<'_>) -> Result<Layer, WordsError> {
    let mut key = None;
    while let Some(word) = reader.field() {
        match word {
            "key" => key = Some(reader.number("key", u64::from(u32::MAX))?),
            _ => return Err(no_field("gre", word, "key")),
        }
    }
    Ok(Layer::Gre { key })
}
