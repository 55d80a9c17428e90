//! What is done to a packet, as Open vSwitch tells actions of its datapath.
//!
//! ```text
//!  Set, Set, PushVlan, Set of the tag, Output ─▶ set(eth(src=…,dst=…)),push_vlan(vid=7,pcp=0),2
//! ```
//! Changes before the packet leaves are told together, header by header.

use super::fields::{Net, net};
use super::{Names, hex, mac};
use crate::key::Key;
use crate::steps::{Step, Told};
use crate::track::Track;
use crate::tunnel::InTunnel;
use openflow::action::sample::Direction;
use openflow::action::{Sample, Translate};
use openflow::{Action, Field, PortNumber, port};
use std::collections::VecDeque;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The ports by which an ordinary bridge would send, each time that one is to.
pub type Normals = VecDeque<Vec<PortNumber>>;

/// Steps in words, of packets like a key; `normal` if somebody knows.
pub fn actions(steps: &[Step], key: &Key, names: &Names, normal: Option<Normals>) -> String {
    let is_ip6 = net(key) == Net::Ip6;
    let mut it =
        Telling { words: Vec::new(), changes: Vec::new(), tag: None, is_ip6, names, normal };
    it.all(steps)
}

struct Telling<'a> {
    words: Vec<String>,
    /// Fields that were changed since the packet left last.
    changes: Vec<(Field, u128, u128)>,
    /// A tag that was pushed since then: its kind and content.
    tag: Option<(u16, u16)>,
    /// What is IP is of version 6.
    is_ip6: bool,
    names: &'a Names,
    normal: Option<Normals>,
}

/// The header that a field is of, and what it is called there.
fn place(field: Field, is_ip6: bool) -> Option<(&'static str, &'static str)> {
    use Field as F;
    let ip = |old, new| if is_ip6 { ("ipv6", new) } else { ("ipv4", old) };
    Some(match field {
        F::EthSrc => ("eth", "src"),
        F::EthDst => ("eth", "dst"),
        F::VlanTci => ("vlan", "tci"),
        F::VlanVid => ("vlan", "vid"),
        F::VlanPcp => ("vlan", "pcp"),
        F::IpSrc => ("ipv4", "src"),
        F::IpDst => ("ipv4", "dst"),
        F::IpDscp | F::IpEcn => ip("tos", "tclass"),
        F::IpTtl => ip("ttl", "hlimit"),
        F::Ip6Src => ("ipv6", "src"),
        F::Ip6Dst => ("ipv6", "dst"),
        F::Ip6Label => ("ipv6", "label"),
        F::ArpSpa => ("arp", "sip"),
        F::ArpTpa => ("arp", "tip"),
        F::ArpOp => ("arp", "op"),
        F::ArpSha => ("arp", "sha"),
        F::ArpTha => ("arp", "tha"),
        F::TcpSrc => ("tcp", "src"),
        F::TcpDst => ("tcp", "dst"),
        F::UdpSrc => ("udp", "src"),
        F::UdpDst => ("udp", "dst"),
        F::SctpSrc => ("sctp", "src"),
        F::SctpDst => ("sctp", "dst"),
        F::Icmp4Type => ("icmp", "type"),
        F::Icmp4Code => ("icmp", "code"),
        F::Icmp6Type => ("icmpv6", "type"),
        F::Icmp6Code => ("icmpv6", "code"),
        F::NdTarget => ("nd", "target"),
        F::NdSll => ("nd", "sll"),
        F::NdTll => ("nd", "tll"),
        F::MplsLabel => ("mpls", "label"),
        F::MplsTc => ("mpls", "tc"),
        F::MplsTtl => ("mpls", "ttl"),
        _ => return None,
    })
}

/// Headers in the order in which changes are told.
const HEADERS: [&str; 12] =
    ["eth", "vlan", "ipv4", "ipv6", "arp", "tcp", "udp", "sctp", "icmp", "icmpv6", "nd", "mpls"];

/// A value of a field with its mask, where that leaves something out.
pub(super) fn value(field: Field, value: u128, mask: u128) -> String {
    use Field as F;
    let one = |it: u128| match field {
        F::IpSrc
        | F::IpDst
        | F::ArpSpa
        | F::ArpTpa
        | F::CtIp4Src
        | F::CtIp4Dst
        | F::TunSrc
        | F::TunDst => Ipv4Addr::from(it as u32).to_string(),
        F::Ip6Src
        | F::Ip6Dst
        | F::NdTarget
        | F::CtIp6Src
        | F::CtIp6Dst
        | F::TunIp6Src
        | F::TunIp6Dst => Ipv6Addr::from(it).to_string(),
        F::IpDscp => hex(it << 2),
        F::IpEcn | F::Ip6Label => hex(it),
        field if field.bits() == 48 => mac(it),
        _ => it.to_string(),
    };
    match mask == field.ones() {
        // Two fields share an octet.
        true if field == F::IpDscp => format!("{}/0xfc", one(value)),
        true if field == F::IpEcn => format!("{}/0x3", one(value)),
        true => one(value),
        false if matches!(field.bits(), 32 | 48 | 128) => format!("{}/{}", one(value), one(mask)),
        false => format!("{}/0x{mask:x}", one(value)),
    }
}

impl Telling<'_> {
    fn all(&mut self, steps: &[Step]) -> String {
        self.tell(steps);
        self.flush();
        let words = std::mem::take(&mut self.words);
        if words.is_empty() { "drop".to_owned() } else { words.join(",") }
    }

    fn say(&mut self, word: impl Display) {
        self.flush();
        self.words.push(word.to_string());
    }

    fn port(&self, number: PortNumber) -> String {
        self.names.get(&number).cloned().unwrap_or_else(|| number.to_string())
    }

    fn change(&mut self, field: Field, bits: u128, mask: u128) {
        if let Some((_, tci)) = &mut self.tag {
            let shift = match field {
                Field::VlanTci | Field::VlanVid => Some(0),
                Field::VlanPcp => Some(13),
                _ => None,
            };
            if let Some(shift) = shift {
                *tci = *tci & !((mask << shift) as u16) | (bits << shift) as u16;
                return;
            }
        }
        match self.changes.iter_mut().find(|it| it.0 == field) {
            Some((_, had, had_mask)) => {
                (*had, *had_mask) = (*had & !mask | bits, *had_mask | mask);
            }
            None => self.changes.push((field, bits, mask)),
        }
    }

    /// Tells of changes.
    fn flush(&mut self) {
        let changes = std::mem::take(&mut self.changes);
        for header in HEADERS {
            let of =
                changes.iter().filter_map(|change| Some((change, place(change.0, self.is_ip6)?)));
            let of = of.filter(|(_, (own, _))| *own == header);
            let words: Vec<String> = of
                .map(|((field, bits, mask), (_, name))| {
                    format!("{name}={}", value(*field, *bits, *mask))
                })
                .collect();
            if !words.is_empty() {
                self.words.push(format!("set({header}({}))", words.join(",")));
            }
        }
        if let Some((_, mark, mask)) = changes.iter().find(|it| it.0 == Field::PktMark) {
            let mask = if *mask == u128::from(u32::MAX) {
                String::new()
            } else {
                format!("/{}", hex(*mask))
            };
            self.words.push(format!("set(skb_mark({}{mask}))", hex(*mark)));
        }
        if let Some((kind, tci)) = self.tag.take() {
            let kind = if kind == 0x8100 { String::new() } else { format!("tpid=0x{kind:04x},") };
            self.words.push(format!("push_vlan({kind}vid={},pcp={})", tci & 0xfff, tci >> 13));
        }
    }

    fn tell(&mut self, steps: &[Step]) {
        let mut next = 0;
        while let Some(step) = steps.get(next) {
            next += 1;
            match step {
                Step::Output(number) => self.say(self.port(*number)),
                Step::Normal => {
                    match self.normal.as_mut().map(|it| it.pop_front().unwrap_or_default()) {
                        Some(ports) => {
                            let ports: Vec<String> =
                                ports.iter().map(|it| self.port(*it)).collect();
                            if !ports.is_empty() {
                                self.say(ports.join(","));
                            }
                        }
                        None => self.say("NORMAL"),
                    }
                }
                Step::Set(field, bits, mask) => self.change(*field, *bits, *mask),
                Step::PushVlan(kind, tci) => {
                    self.flush();
                    self.tag = Some((*kind, *tci));
                }
                Step::PopVlan => self.say("pop_vlan"),
                Step::Tunnel(InTunnel { number, remote, local }) => {
                    let id = hex(u128::from(*number));
                    let end = |end: &Option<IpAddr>, old: &str, new: &str| match end {
                        Some(end) if end.is_unspecified() => String::new(),
                        Some(IpAddr::V4(end)) => format!(",{old}={end}"),
                        Some(IpAddr::V6(end)) => format!(",{new}={end}"),
                        None => String::new(),
                    };
                    let (from, to) =
                        (end(local, "src", "ipv6_src"), end(remote, "dst", "ipv6_dst"));
                    self.say(format!("set(tunnel(tun_id={id}{from}{to}))"));
                }
                Step::PushMpls { kind, label, .. } => self.say(format!(
                    "push_mpls(label={},tc={},ttl={},bos={},eth_type=0x{kind:x})",
                    label >> 12,
                    label >> 9 & 7,
                    label & 0xff,
                    label >> 8 & 1
                )),
                Step::PopMpls { kind, .. } => self.say(format!("pop_mpls(eth_type=0x{kind:x})")),
                Step::Queue(queue) => {
                    self.say(format!("set(skb_priority({}))", hex(queue.unwrap_or(0).into())));
                }
                Step::Meter(meter) => self.say(format!("meter({meter})")),
                Step::Sample(it) => self.say(samples(it)),
                Step::Tell(told) => {
                    if let Told::Packet { max_len, controller, reason, cookie, .. } = &**told {
                        self.say(format!(
                            "userspace(pid=0,controller(reason={reason},dont_send=0,continuation=0,\
                             recirc_id=0,rule_cookie={},controller_id={controller},max_len={max_len}))",
                            hex(u128::from(*cookie)),
                        ));
                    }
                }
                Step::Track(track) => self.say(tracks(track)),
                Step::Recirculate(number, _) => {
                    self.say(format!("recirc({})", hex(u128::from(*number))))
                }
                Step::Fork(many) => {
                    let copy = steps.get(next..next + many - 1).unwrap_or_default();
                    self.flush();
                    let outside = std::mem::take(&mut self.words);
                    let inside = self.all(copy);
                    self.words = outside;
                    self.say(format!("clone({inside})"));
                    next += many - 1;
                }
                Step::End => {}
            }
        }
    }
}

/// As its datapath does it: what the userspace program is told, of all or of some.
fn samples(it: &Sample) -> String {
    let Sample { probability, set, domain, point, .. } = it;
    // The number of no port there.
    let port = if it.port == port::NONE { u32::MAX } else { it.port.into() };
    let way = match it.direction {
        Direction::Unsaid => "",
        Direction::Ingress => ",ingress",
        Direction::Egress => ",egress",
    };
    let told = format!(
        "userspace(pid=0,flow_sample(probability={probability},collector_set_id={set},\
         obs_domain_id={domain},obs_point_id={point},output_port={port}{way}))"
    );
    match *probability {
        u16::MAX => told,
        some => format!("sample(sample={:.1}%,actions({told}))", f64::from(some) / 655.35),
    }
}

fn tracks(track: &Track) -> String {
    let mut words = Vec::new();
    if track.commits {
        words.push(if track.forces { "force_commit" } else { "commit" }.to_owned());
    }
    if track.zone != 0 {
        words.push(format!("zone={}", track.zone));
    }
    if track.mark.1 != 0 {
        words.push(format!("mark={}/{}", hex(track.mark.0.into()), hex(track.mark.1.into())));
    }
    if track.label.1 != 0 {
        words.push(format!("label={}/{}", hex(track.label.0), hex(track.label.1)));
    }
    words.extend(track.nat.map(|nat| Action::from(Translate { nat }).to_string()));
    if words.is_empty() { "ct".to_owned() } else { format!("ct({})", words.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use openflow::Nat;
    use std::sync::Arc;

    #[test]
    fn steps_are_told_as_open_vswitch_tells_them() {
        let set = |field: Field, value: u128| Step::Set(field, value, field.ones());
        let steps = [
            set(Field::EthDst, 0x0200_0000_0009),
            set(Field::IpSrc, 0x0101_0101),
            set(Field::IpDscp, 46),
            set(Field::IpTtl, 63),
            set(Field::UdpDst, 9),
            Step::Queue(Some(3)),
            Step::Output(2),
            Step::PushVlan(0x88a8, 0x1000),
            Step::Set(Field::VlanVid, 9, 0xfff),
            Step::Output(1),
            Step::PopVlan,
            Step::Queue(None),
            Step::Fork(3),
            Step::Set(Field::IpDst, 0x0a00_0000, 0xff00_0000),
            Step::Normal,
            Step::End,
            Step::Meter(4),
            Step::Tunnel(InTunnel::numbered(0x64)),
            Step::Normal,
            Step::Tunnel(InTunnel {
                remote: Some([192, 0, 2, 9].into()),
                ..InTunnel::numbered(0x64)
            }),
            Step::Output(1),
            Step::Tunnel(InTunnel {
                number: 0,
                remote: Some("2001:db8::9".parse().unwrap()),
                local: Some("2001:db8::1".parse().unwrap()),
            }),
            Step::Output(1),
            Step::PopMpls { kind: 0x800, tags: 0 },
            Step::PushMpls { kind: 0x8848, label: 16 << 12 | 5 << 9 | 0x140, tags: 1 },
            Step::Output(1),
        ];
        let names = Names::from([(2, "p2".to_owned())]);
        assert_eq!(
            actions(&steps, &Key::default(), &names, Some([vec![3], vec![0xfffe, 4]].into())),
            "set(eth(dst=02:00:00:00:00:09)),set(ipv4(src=1.1.1.1,tos=0xb8/0xfc,ttl=63)),set(udp(dst=9)),set(skb_priority(0x3)),p2,\
             push_vlan(tpid=0x88a8,vid=9,pcp=0),1,pop_vlan,set(skb_priority(0)),\
             clone(set(ipv4(dst=10.0.0.0/255.0.0.0)),3),meter(4),set(tunnel(tun_id=0x64)),65534,4,\
             set(tunnel(tun_id=0x64,dst=192.0.2.9)),1,\
             set(tunnel(tun_id=0,ipv6_src=2001:db8::1,ipv6_dst=2001:db8::9)),1,\
             pop_mpls(eth_type=0x800),push_mpls(label=16,tc=5,ttl=64,bos=1,eth_type=0x8848),1"
        );
        assert_eq!(actions(&[], &Key::default(), &names, None), "drop");
        assert_eq!(actions(&[Step::Normal], &Key::default(), &names, None), "NORMAL");
    }

    #[test]
    fn samples_are_told_as_open_vswitch_tells_them() {
        use openflow::action::sample::Form;
        let sample = |probability, port, direction| {
            let (set, domain, point, form) = (1, 2, 3, Form::Third);
            let sample = Sample { probability, set, domain, point, port, direction, form };
            actions(&[Step::Sample(sample)], &Key::default(), &Names::new(), None)
        };
        assert_eq!(
            sample(u16::MAX, 2, Direction::Egress),
            "userspace(pid=0,flow_sample(probability=65535,collector_set_id=1,obs_domain_id=2,\
             obs_point_id=3,output_port=2,egress))"
        );
        assert_eq!(
            sample(6554, port::NONE, Direction::Unsaid),
            "sample(sample=10.0%,actions(userspace(pid=0,flow_sample(probability=6554,\
             collector_set_id=1,obs_domain_id=2,obs_point_id=3,output_port=4294967295))))"
        );
    }

    #[test]
    fn tracking_tells_what_is_done_with_the_connection() {
        let nat = Nat {
            flags: 1,
            ip4: Some((0x0a00_0001, Some(0x0a00_0009))),
            ports: Some((5000, Some(6000))),
            ..Nat::default()
        };
        let track = Track {
            zone: 3,
            commits: true,
            mark: (5, u32::MAX),
            nat: Some(nat),
            ..Track::default()
        };
        let told = |track: Track| {
            actions(&[Step::Track(Arc::new(track))], &Key::default(), &Names::new(), None)
        };
        assert_eq!(
            told(track),
            "ct(commit,zone=3,mark=0x5/0xffffffff,nat(src=10.0.0.1-10.0.0.9:5000-6000))"
        );
        assert_eq!(told(Track::default()), "ct");
        let back = Track { nat: Some(Nat::default()), ..Track::default() };
        assert_eq!(told(back), "ct(nat)");
    }
}
