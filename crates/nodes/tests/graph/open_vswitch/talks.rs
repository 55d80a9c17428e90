//! Packets of connections in their order: who asks, who answers, who tells of an error; some are
//! left out, some come twice, some are what no host sends.

use super::chance::Chance;
use openflow::PortNumber;
use wire::craft::{self, Craft};
use wire::tcp::flag;

const CLIENTS: [u8; 2] = [1, 2];
const ROUTER: u8 = 77;

/// Ports that flows give, of a source and of a destination.
pub(crate) const SAID_PORTS: [u16; 2] = [2000, 8080];

/// What all connections of a case have in common.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) is_ip6: bool,
    /// What stands for clients, and for servers, where a flow says so.
    pub(crate) source: Option<(u128, Option<u16>)>,
    pub(crate) destination: Option<(u128, Option<u16>)>,
    /// How many there are.
    talks: usize,
}

impl Way {
    pub(crate) fn of(chance: &mut Chance) -> Self {
        let is_ip6 = chance.of_hundred(30);
        let talks = 1 + chance.below(3);
        // A port that is said is one's alone.
        let mut port = |port| (talks == 1 && chance.of_hundred(40)).then_some(port);
        let (source, destination) = (port(SAID_PORTS[0]), port(SAID_PORTS[1]));
        let mut end = |host, port| chance.of_hundred(60).then_some((address(is_ip6, host), port));
        Self { is_ip6, source: end(101, source), destination: end(102, destination), talks }
    }
}

pub(crate) fn address(is_ip6: bool, host: u8) -> u128 {
    match is_ip6 {
        true => 0x2001_0db8 << 96 | u128::from(host),
        false => 0x0a00_0000 | u128::from(host),
    }
}

type End = (u128, u16);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Tcp,
    Udp,
    Echo,
    Other,
}

struct Talk {
    kind: Kind,
    /// As it speaks itself, and as the other side knows it.
    client: [End; 2],
    server: [End; 2],
    in_ports: [PortNumber; 2],
    /// What each side of TCP has said.
    said: [u32; 2],
    step: usize,
}

pub(crate) struct Talks<'a> {
    chance: &'a mut Chance,
    way: Way,
    all: Vec<Talk>,
}

/// Who sends which flags, from the first to the last packet.
const TCP: &[(bool, u8)] = &[
    (true, flag::SYN),
    (false, flag::SYN | flag::ACK),
    (true, flag::ACK),
    (true, flag::ACK | flag::PSH),
    (false, flag::ACK),
    (false, flag::ACK | flag::PSH),
    (true, flag::ACK | flag::FIN),
    (false, flag::ACK),
    (false, flag::ACK | flag::FIN),
    (true, flag::ACK),
    (true, flag::SYN),
];

impl<'a> Talks<'a> {
    pub(crate) fn new(chance: &'a mut Chance, way: Way) -> Self {
        let mut it = Self { chance, way, all: Vec::new() };
        for number in 0..way.talks {
            let talk = it.talk(number as u16);
            it.all.push(talk);
        }
        it
    }

    fn talk(&mut self, number: u16) -> Talk {
        let (chance, way) = (&mut *self.chance, self.way);
        let kind = chance.of(&[Kind::Tcp, Kind::Tcp, Kind::Udp, Kind::Echo, Kind::Other]);
        let has_ports = matches!(kind, Kind::Tcp | Kind::Udp);
        let port = |port: u16| if has_ports { port } else { 0 };
        let client = (address(way.is_ip6, chance.of(&CLIENTS)), port(1000 + number));
        let server = (address(way.is_ip6, 9), port(chance.of(&[80, 53])));
        let mut seen = |own: End, to: Option<(u128, Option<u16>)>| match to {
            Some((address, to)) if chance.of_hundred(75) => (address, port(to.unwrap_or(own.1))),
            _ => own,
        };
        let client = [client, seen(client, way.source)];
        let server = [seen(server, way.destination), server];
        let in_ports = [1 + chance.below(2) as PortNumber, 3 + chance.below(2) as PortNumber];
        Talk { kind, client, server, in_ports, said: [1000, 5000], step: 0 }
    }

    /// Packets with the ports that they come in by, each with its number at its end.
    pub(crate) fn packets(&mut self, _: PortNumber) -> Vec<(PortNumber, Vec<u8>)> {
        let count = 2 + self.chance.below(12);
        (0..count as u16)
            .map(|number| {
                let at = self.chance.below(self.all.len());
                let (is_client, mut frame) = self.next(at);
                frame.resize(frame.len().max(58), 0);
                frame.extend(number.to_be_bytes());
                let in_ports = self.all[at].in_ports;
                (in_ports[usize::from(!is_client)], frame)
            })
            .collect()
    }

    fn next(&mut self, at: usize) -> (bool, Vec<u8>) {
        if self.all[at].step > 0 && self.chance.of_hundred(8) {
            return self.error(at);
        }
        let talk = &mut self.all[at];
        let step = talk.step;
        talk.step = match self.chance.below(14) {
            0 => step,
            1 => step + 2,
            _ => step + 1,
        };
        if talk.kind == Kind::Tcp {
            let (is_client, mut flags) = TCP[step % TCP.len()];
            if self.chance.of_hundred(4) {
                flags = self.chance.of(&[flag::RST, flag::RST | flag::ACK, flag::SYN, flag::ACK]);
            }
            return (is_client, self.tcp(at, is_client, flags));
        }
        // The first is the client's; the others are either's.
        let is_client = step == 0 || self.chance.of_hundred(50);
        (is_client, self.datagram(at, is_client))
    }

    /// Who sends to whom.
    fn ends(&self, at: usize, is_client: bool) -> (End, End) {
        let talk = &self.all[at];
        match is_client {
            true => (talk.client[0], talk.server[1]),
            false => (talk.server[0], talk.client[1]),
        }
    }

    fn tcp(&mut self, at: usize, is_client: bool, flags: u8) -> Vec<u8> {
        let (from, to) = self.ends(at, is_client);
        let said = &mut self.all[at].said;
        let (own, other) = (usize::from(!is_client), usize::from(is_client));
        let data = if flags & flag::PSH != 0 { &b"hello"[..] } else { b"" };
        let acknowledged = if flags & flag::ACK != 0 { said[other] } else { 0 };
        let (sequence, many) = (said[own], data.len() as u32);
        said[own] += many + u32::from(flags & (flag::SYN | flag::FIN) != 0);
        let link = self.link();
        macro_rules! tcp {
            ($ip:expr) => {
                $ip.tcp(from.1, to.1)
                    .flags(flags)
                    .sequence(sequence)
                    .acknowledgement(acknowledged)
                    .window(8000)
                    .payload(data)
                    .build()
            };
        }
        match self.way.is_ip6 {
            true => tcp!(link.ipv6(from.0.to_be_bytes(), to.0.to_be_bytes())),
            false => tcp!(link.ipv4((from.0 as u32).to_be_bytes(), (to.0 as u32).to_be_bytes())),
        }
    }

    fn link(&self) -> Craft<craft::Ethernet> {
        craft::ethernet([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
    }

    fn datagram(&mut self, at: usize, is_client: bool) -> Vec<u8> {
        let ends = self.ends(at, is_client);
        let has_sum = self.chance.of_hundred(85);
        self.of_kind(at, is_client, ends, has_sum)
    }

    fn of_kind(&self, at: usize, asks: bool, (from, to): (End, End), has_sum: bool) -> Vec<u8> {
        let (link, id) = (self.link(), at as u16 + 1);
        macro_rules! packet {
            ($ip:expr) => {{
                let ip = $ip;
                match self.all[at].kind {
                    Kind::Udp | Kind::Tcp => {
                        let udp = ip.udp(from.1, to.1);
                        let udp = if has_sum || self.way.is_ip6 { udp } else { udp.checksum(0) };
                        udp.payload(b"data").build()
                    }
                    Kind::Echo if asks => ip.icmp_echo(id, 1).payload(b"ping").build(),
                    Kind::Echo => ip.icmp_echo_reply(id, 1).payload(b"ping").build(),
                    Kind::Other if self.way.is_ip6 => ip.extension(59, &[0; 6]).build(),
                    Kind::Other => ip.extension(47, &[0; 6]).build(),
                }
            }};
        }
        match self.way.is_ip6 {
            true => packet!(link.ipv6(from.0.to_be_bytes(), to.0.to_be_bytes())),
            false => packet!(link.ipv4((from.0 as u32).to_be_bytes(), (to.0 as u32).to_be_bytes())),
        }
    }

    /// An error about a packet of the other side, as it was seen on this one, by its end or by a
    /// router on the way.
    fn error(&mut self, at: usize) -> (bool, Vec<u8>) {
        let is_client = self.chance.of_hundred(30);
        let (own, other) = self.ends(at, is_client);
        let about = self.of_kind(at, !is_client, (other, own), true)[14..].to_vec();
        let by = match self.chance.of_hundred(50) {
            true => own.0,
            false => address(self.way.is_ip6, ROUTER),
        };
        let link = self.link();
        let frame = match self.way.is_ip6 {
            true => link
                .ipv6(by.to_be_bytes(), other.0.to_be_bytes())
                .icmp6(1, 4, [0; 4])
                .payload(&about)
                .build(),
            false => link
                .ipv4((by as u32).to_be_bytes(), (other.0 as u32).to_be_bytes())
                .icmp4(self.chance.of(&[3, 11]), 1, [0; 4])
                .payload(&about)
                .build(),
        };
        (is_client, frame)
    }
}
