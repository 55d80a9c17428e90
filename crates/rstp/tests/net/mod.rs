//! A network of bridges under virtual time: messages take a while, links fail.

use rstp::{Action, Bpdu, Bridge, BridgeId, Kind, PortSettings, Role, Settings, State};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1000 * MS;
/// What a message takes over a link.
const FLIGHT: u64 = MS / 2;

/// An end of a link: a bridge, and one of its ports.
pub(crate) type End = (usize, u16);

#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) ends: [End; 2],
    pub(crate) up: bool,
}

pub(crate) struct Net {
    pub(crate) bridges: Vec<Bridge>,
    pub(crate) links: Vec<Link>,
    /// Bridges that say nothing any more, their links up.
    pub(crate) silent: BTreeSet<usize>,
    pub(crate) now: u64,
    flying: BTreeMap<(u64, u64), (End, Bpdu)>,
    sequence: u64,
    /// Since when no port's state was another.
    pub(crate) still_since: u64,
    states: BTreeMap<End, State>,
    /// Whether a loop at any moment fails the test.
    pub(crate) no_loops_ever: bool,
    pub(crate) flushed: Vec<End>,
}

pub(crate) fn address(bridge: usize) -> [u8; 6] {
    [2, 0, 0, 0, 0, bridge as u8 + 1]
}

impl Net {
    /// Bridges with ascending addresses, joined by links; port numbers are given out in order.
    pub(crate) fn new(count: usize, links: &[(usize, usize)]) -> Self {
        // No two bridges count their seconds from the same moment.
        let bridge = |at: usize| Bridge::new(Settings::new(address(at)), at as u64 * 137 * MS);
        let mut net = Self {
            bridges: (0..count).map(bridge).collect(),
            links: Vec::new(),
            silent: BTreeSet::new(),
            now: 0,
            flying: BTreeMap::new(),
            sequence: 0,
            still_since: 0,
            states: BTreeMap::new(),
            no_loops_ever: true,
            flushed: Vec::new(),
        };
        let mut next = vec![1; count];
        for &(a, b) in links {
            let mut end = |at: usize| {
                next[at] += 1;
                (at, next[at] - 1)
            };
            let ends = [end(a), end(b)];
            net.links.push(Link { ends, up: true });
            for (at, port) in ends {
                net.bridges[at].set_port(port, PortSettings::new(port, 20_000), true);
            }
        }
        (0..count).for_each(|at| net.act(at));
        net
    }

    /// Takes a link away, or puts it back.
    pub(crate) fn set_link(&mut self, link: usize, up: bool) {
        self.links[link].up = up;
        for (at, port) in self.links[link].ends {
            let settings = PortSettings::new(port, 20_000);
            self.bridges[at].set_port(port, settings, up);
            self.act(at);
        }
        self.look();
    }

    /// Does what a bridge says.
    pub(crate) fn act(&mut self, at: usize) {
        for action in self.bridges[at].take_actions() {
            match action {
                Action::Flush(port) => self.flushed.push((at, port)),
                Action::Send(port, bpdu) => {
                    let link = self.links.iter().find(|it| it.ends.contains(&(at, port)));
                    let Some(link) = link.filter(|it| it.up && !self.silent.contains(&at)) else {
                        continue;
                    };
                    let [one, other] = link.ends;
                    let to = if one == (at, port) { other } else { one };
                    // As octets, as they are on the wire.
                    let read = Bpdu::read_frame(&bpdu.frame(address(at))).unwrap();
                    let is_old = matches!(bpdu, Bpdu::Configuration(it) if it.kind == Kind::Old);
                    assert!(is_old || read == bpdu, "{bpdu:?}");
                    self.sequence += 1;
                    self.flying.insert((self.now + FLIGHT, self.sequence), (to, read));
                }
            }
        }
    }

    /// Has time pass.
    pub(crate) fn run(&mut self, duration: u64) {
        let end = self.now + duration;
        loop {
            let tick = self.bridges.iter().map(Bridge::next_due_ns).min().unwrap_or(u64::MAX);
            let arrives = self.flying.first_key_value().map_or(u64::MAX, |((at, _), _)| *at);
            let next = tick.min(arrives);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if arrives <= tick {
                let (_, ((at, port), bpdu)) = self.flying.pop_first().unwrap();
                let is_up = self.links.iter().any(|it| it.up && it.ends.contains(&(at, port)));
                if is_up && !self.silent.contains(&at) {
                    self.bridges[at].receive(port, &bpdu);
                    self.act(at);
                }
            } else {
                for at in 0..self.bridges.len() {
                    self.bridges[at].turn(next);
                    self.act(at);
                }
            }
            self.look();
        }
    }

    /// Notes whether anything changed, and that nothing goes round.
    fn look(&mut self) {
        let mut states = BTreeMap::new();
        for (at, bridge) in self.bridges.iter().enumerate() {
            states.extend(bridge.ports().map(|(port, it)| ((at, port), it.state())));
        }
        if states != self.states {
            (self.states, self.still_since) = (states, self.now);
        }
        if self.no_loops_ever {
            assert!(self.loop_through().is_none(), "a loop at {} ms", self.now / MS);
        }
    }

    pub(crate) fn state(&self, (at, port): End) -> State {
        self.bridges[at].port(port).unwrap().state()
    }

    pub(crate) fn role(&self, (at, port): End) -> Role {
        self.bridges[at].port(port).unwrap().role()
    }

    /// Links that frames pass.
    fn active(&self) -> Vec<&Link> {
        let forwards = |end: &End| self.state(*end) == State::Forwarding;
        self.links.iter().filter(|it| it.up && it.ends.iter().all(forwards)).collect()
    }

    /// The link that closes a loop of those that frames pass.
    fn loop_through(&self) -> Option<Link> {
        let mut groups: Vec<usize> = (0..self.bridges.len()).collect();
        for link in self.active() {
            let [(a, _), (b, _)] = link.ends;
            if groups[a] == groups[b] {
                return Some(link.clone());
            }
            join(&mut groups, a, b);
        }
        None
    }

    /// What is joined by links that are up, and by those that frames pass.
    fn groups(&self) -> [Vec<usize>; 2] {
        let all: Vec<&Link> = self.links.iter().filter(|it| it.up).collect();
        [all, self.active()].map(|links| {
            let mut groups: Vec<usize> = (0..self.bridges.len()).collect();
            links.iter().for_each(|it| join(&mut groups, it.ends[0].0, it.ends[1].0));
            groups
        })
    }

    /// There is one way between any two bridges that are joined, and all of those know one root.
    pub(crate) fn assert_tree(&self) {
        assert!(self.loop_through().is_none(), "a loop");
        let [joined, reached] = self.groups();
        assert_eq!(joined, reached, "not all is reached: {:?}", self.describe());
        let roots = |group: usize| {
            let of = joined.iter().zip(&self.bridges).filter(move |(it, _)| **it == group);
            of.map(|(_, bridge)| bridge).collect::<Vec<_>>()
        };
        for group in joined.iter().copied().collect::<BTreeSet<_>>() {
            let best = roots(group).iter().map(|it| it.id()).min().unwrap();
            let known: BTreeSet<BridgeId> = roots(group).iter().map(|it| it.root().root).collect();
            assert_eq!(known, [best].into());
        }
    }

    pub(crate) fn describe(&self) -> Vec<String> {
        let ports = |at: usize| {
            let each = self.bridges[at].ports().map(|(_, it)| (it.role(), it.state()));
            format!("{:?}", each.collect::<Vec<_>>())
        };
        (0..self.bridges.len()).map(ports).collect()
    }

    /// Has time pass until it is a tree and stays so; how long that took, in milliseconds.
    pub(crate) fn converge(&mut self, within: u64) -> u64 {
        let start = self.now;
        self.run(within + 40 * SECOND);
        self.assert_tree();
        let took = self.still_since.saturating_sub(start);
        assert!(took <= within, "took {} ms", took / MS);
        took / MS
    }
}

fn join(groups: &mut [usize], a: usize, b: usize) {
    let (low, high) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
    groups.iter_mut().filter(|it| **it == high).for_each(|it| *it = low);
}
