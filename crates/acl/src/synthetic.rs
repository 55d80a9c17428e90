//! Lists like those of real routers and firewalls, for tests and measurements, after the seeds of
//! ClassBench.
//!
//! ```text
//!  flavour    addresses                               ports                        protocols
//!  Acl        both long, some one open                mostly one destination port  TCP, UDP, some any
//!  Firewall   often one of the two open, many hosts   ranges, high ports           TCP, UDP, ICMP, any
//!  Chain      a mixture of the two, more nets         mostly none                  many
//! ```

use crate::{Action, Fields, Icmp, Ports, Rule, TcpFlags, Transport};
use fib::{Address, Prefix};

/// What a list is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// A router's access list.
    Acl,
    /// A firewall's rules.
    Firewall,
    /// A host's chain.
    Chain,
}

/// Numbers that look random and are always the same (SplitMix64).
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// Those that this seed begins.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next one.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// One below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    /// True so many times of a hundred.
    pub fn percent(&mut self, of: u64) -> bool {
        self.below(100) < of
    }

    /// One of these.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// An address of the synthetic world, drawn from a few thousand nets, some of which have most
/// hosts.
pub trait Made: Address {
    /// An address; the lower `popularity` is, the more often it is the same.
    fn made(numbers: &mut Numbers) -> Self;
    /// Any address at all.
    fn any(numbers: &mut Numbers) -> Self;
    /// A prefix length, from an IPv4 one.
    fn length(of_ip4: u8) -> u8;
    /// The protocol number of its ICMP.
    const ICMP: u8;
}

/// A number of which the low ones come more often.
fn skewed(numbers: &mut Numbers, end: u64) -> u64 {
    let end = numbers.below(end) + 1;
    numbers.below(end)
}

impl Made for u32 {
    const ICMP: u8 = 1;

    fn made(numbers: &mut Numbers) -> u32 {
        let net = skewed(numbers, 4000).wrapping_mul(0x9e37_79b1) as u32;
        (net & 0x7fff_ff00 | 0x0100_0000) ^ skewed(numbers, 256) as u32
    }

    fn any(numbers: &mut Numbers) -> u32 {
        numbers.word() as u32
    }

    fn length(of_ip4: u8) -> u8 {
        of_ip4
    }
}

impl Made for u128 {
    const ICMP: u8 = 58;

    fn made(numbers: &mut Numbers) -> u128 {
        let address = u32::made(numbers);
        0x2001_0db8 << 96 | u128::from(address >> 8) << 64 | u128::from(address & 0xff)
    }

    fn any(numbers: &mut Numbers) -> u128 {
        u128::from(numbers.word()) << 64 | u128::from(numbers.word())
    }

    fn length(of_ip4: u8) -> u8 {
        // The nets of `made` begin behind 40 bits that they share, and their hosts behind 64.
        match of_ip4 {
            0 => 0,
            1..=24 => 40 + of_ip4,
            25..=32 => 96 + of_ip4,
            _ => 128,
        }
    }
}

const SERVICES: [u16; 14] = [20, 21, 22, 23, 25, 53, 80, 110, 123, 161, 443, 1433, 1521, 8080];

/// `count` rules, then one that denies the rest.
pub fn rules<A: Made>(flavour: Flavour, count: usize, seed: u64) -> Vec<(u32, Rule<A>)> {
    let mut numbers = Numbers::new(seed);
    let mut rules: Vec<Rule<A>> = (1..count).map(|_| rule(flavour, &mut numbers)).collect();
    // As administrators do: what says most comes first.
    rules.sort_by_key(|rule| {
        std::cmp::Reverse(rule.source.length() / 12 + rule.destination.length() / 12)
    });
    rules.push(Rule::any(Action::Deny));
    (0..).zip(rules).collect()
}

fn rule<A: Made>(flavour: Flavour, numbers: &mut Numbers) -> Rule<A> {
    let (open_source, open_destination) = match flavour {
        Flavour::Acl => (4, 1),
        Flavour::Firewall => (35, 25),
        Flavour::Chain => (15, 12),
    };
    let source = prefix(numbers, open_source, flavour);
    let destination = prefix(numbers, open_destination, flavour);
    let mut rule = Rule { source, destination, ..Rule::any(Action::Permit) };
    if numbers.percent(30) {
        rule.action = Action::Deny;
    }
    let kind = numbers.below(100);
    match kind {
        0..65 => rule.protocol = Some(6),
        65..85 => rule.protocol = Some(17),
        85..90 => {
            rule.protocol = Some(A::ICMP);
            rule.icmp = Some(Icmp { kind: numbers.one_of(&[0, 3, 8, 11]), code: None });
        }
        90..93 => rule.protocol = Some(numbers.one_of(&[47, 50, 51, 89])),
        _ => {}
    }
    if kind < 85 {
        let with_ports = if flavour == Flavour::Chain { 50 } else { 85 };
        if numbers.percent(with_ports) {
            rule.destination_ports = Some(ports(numbers, flavour));
        }
        if flavour == Flavour::Firewall && numbers.percent(25) {
            rule.source_ports = Some(ports(numbers, flavour));
        }
    }
    if kind < 65 && numbers.percent(5) {
        rule.tcp_flags = Some(TcpFlags { value: 0x02, mask: 0x12 });
    }
    rule
}

fn prefix<A: Made>(numbers: &mut Numbers, open: u64, flavour: Flavour) -> Prefix<A> {
    if numbers.percent(open) {
        return Prefix::all();
    }
    let lengths: &[u8] = match flavour {
        Flavour::Acl => &[32, 32, 32, 32, 30, 28, 27, 26, 24, 24, 24, 23, 22, 20, 16],
        Flavour::Firewall => &[32, 32, 32, 32, 32, 32, 30, 28, 24, 24, 24, 16],
        Flavour::Chain => &[32, 32, 32, 32, 28, 26, 24, 24, 24, 22, 21, 20, 16, 14],
    };
    let length = A::length(numbers.one_of(lengths));
    Prefix::new(A::made(numbers), length).unwrap_or(Prefix::all())
}

fn ports(numbers: &mut Numbers, flavour: Flavour) -> Ports {
    let ranges = if flavour == Flavour::Firewall { 30 } else { 10 };
    let (first, last) = if numbers.percent(ranges) {
        let odd = 1024 + numbers.below(20_000) as u16;
        numbers.one_of(&[(1024, 65535), (0, 1023), (6000, 6063), (odd, odd + 99)])
    } else {
        let port = numbers.one_of(&SERVICES);
        let odd = numbers.below(30_000) as u16;
        numbers.one_of(&[(port, port), (port, port), (odd, odd)])
    };
    Ports::new(first, last).unwrap_or(Ports::ALL)
}

/// A packet that one of the rules fits, or nearly; sometimes any packet.
pub fn packet<A: Made>(rules: &[(u32, Rule<A>)], numbers: &mut Numbers) -> Fields<A> {
    let (_, rule) = &rules[numbers.below(rules.len() as u64) as usize];
    let within = |prefix: Prefix<A>, numbers: &mut Numbers| {
        let inside = if prefix.length() == 0 { A::made(numbers) } else { A::any(numbers) };
        prefix.address() | inside & !A::mask(prefix.length())
    };
    let (source, destination) = (within(rule.source, numbers), within(rule.destination, numbers));
    let protocol = rule.protocol.unwrap_or_else(|| numbers.one_of(&[6, 17, A::ICMP, 50]));
    let mut port = |ports: Option<Ports>| {
        let ports = ports.unwrap_or(Ports::ALL);
        let among = u64::from(ports.last() - ports.first()) + 1;
        ports.first() + numbers.below(among) as u16
    };
    let ports = (port(rule.source_ports), port(rule.destination_ports));
    let transport = match protocol {
        6 | 17 if !numbers.percent(1) => Transport::Ports(ports.0, ports.1),
        _ if protocol == A::ICMP => {
            let message = rule.icmp.unwrap_or(Icmp { kind: 8, code: Some(0) });
            Transport::Icmp(message.kind, message.code.unwrap_or(numbers.below(3) as u8))
        }
        _ => Transport::Unknown,
    };
    let has_flags = protocol == 6 && transport != Transport::Unknown;
    let flags = numbers.one_of(&[0x02, 0x10, 0x12, 0x18]);
    Fields {
        source,
        destination,
        protocol,
        transport,
        tcp_flags: has_flags.then_some(rule.tcp_flags.map_or(flags, |wanted| wanted.value)),
        vlan: rule.vlan.unwrap_or(0),
        source_mac: rule.source_mac.unwrap_or([2, 0, 0, 0, 0, numbers.below(9) as u8]),
    }
}
