//! Pipelines that track connections, by a seed, and packets of such connections in their order.
//!
//! ```text
//!  table 0: ct(…, table=1) ─▶ 1: by ct_state, marks ─▶ ct(…, table=2) or out ─▶ 2: out
//! ```
//! What tracking said is moved into the source address of what leaves, so that it is seen.

use super::case::{Case, PORTS};
use super::chance::Chance;
use super::talks::{self, Talks, Way};
use openflow::action::ct::Zone;
use openflow::action::{Ct, CtClear, MoveField, Output, Program, Resubmit, SetField, Translate};
use openflow::message::FlowMod;
use openflow::{Action, Field, Match, Nat, Needs, Sub, Version};

/// Zones of a case.
pub(crate) const ZONES: u16 = 2;
/// Bits of `ct_state`.
const NEW: u128 = 1;
const EST: u128 = 2;
const REL: u128 = 4;
const RPL: u128 = 8;
const INV: u128 = 0x10;
const TRK: u128 = 0x20;
const SNAT: u128 = 0x40;
const DNAT: u128 = 0x80;
/// Of `ct` and of `nat`.
const COMMIT: u16 = 1;
const FORCE: u16 = 2;
const SOURCE: u16 = 1;
const DESTINATION: u16 = 2;

/// The case of a seed.
pub(crate) fn case(seed: u64) -> Case {
    case_of(seed, None)
}

/// The same, whose flows ask who began a connection, too.
pub(crate) fn case_of_origins(seed: u64) -> Case {
    case_of(seed, Some(Chance(seed ^ 0x0419_1411)))
}

fn case_of(seed: u64, origins: Option<Chance>) -> Case {
    let mut chance = Chance(seed ^ 0xc7_c7c7);
    let version = chance.of(&Version::ALL);
    let way = Way::of(&mut chance);
    let mut it = Generator { chance, way, priority: 0, origins };
    let flows = it.flows();
    let packets = Talks::new(&mut it.chance, it.way).packets(PORTS);
    Case { seed, version, groups: Vec::new(), flows, packets, is_tracked: true }
}

struct Generator {
    chance: Chance,
    way: Way,
    priority: u16,
    /// By what flows ask who began a connection; none: none does. Of its own, so that all else is
    /// the same.
    origins: Option<Chance>,
}

impl Generator {
    fn flows(&mut self) -> Vec<FlowMod> {
        let mut flows = Vec::new();
        for _ in 0..1 + self.chance.below(2) {
            let mut matching = self.family();
            if self.chance.of_hundred(50) {
                matching.set(Field::InPort, self.port().into(), 0xffff);
            }
            let mut program = Program::new();
            if self.chance.of_hundred(10) {
                program.push(self.output());
            }
            let table = self.chance.of_hundred(85).then_some(1);
            program.push(self.ct(table));
            if table.is_none() || self.chance.of_hundred(10) {
                program.push(self.output());
            }
            flows.push(self.flow(0, matching, program));
        }
        // What nothing else takes: back, mostly.
        let looks = Ct {
            flags: 0,
            zone: Zone::Number(self.zone()),
            table: Some(1),
            helper: 0,
            actions: self.nat(false).into_iter().collect(),
        };
        flows.push(FlowMod::add(0, 0, self.family(), vec![looks.into()]));
        for table in 1..=2 {
            for _ in 0..1 + self.chance.below(4) {
                let mut matching = self.tracked();
                let mut program = self.behind(table);
                self.ask_origin(&mut matching, &mut program);
                flows.push(self.flow(table, matching, program));
            }
            let mut program = observed();
            program.push(self.output());
            flows.push(FlowMod::add(table, 0, self.family(), program));
        }
        flows
    }

    fn flow(&mut self, table: u8, matching: Match, program: Program) -> FlowMod {
        self.priority += 1;
        FlowMod::add(table, self.priority * 97 % 101, matching, program)
    }

    fn family(&self) -> Match {
        let kind = if self.way.is_ip6 { 0x86dd } else { 0x0800 };
        Match::any().with(Field::EthType, kind)
    }

    fn zone(&mut self) -> u16 {
        if self.chance.of_hundred(75) { 0 } else { 1 }
    }

    fn port(&mut self) -> u16 {
        1 + self.chance.below(PORTS.into()) as u16
    }

    fn output(&mut self) -> Action {
        Output::to(self.port()).into()
    }

    /// What packets are that tracking has seen.
    fn tracked(&mut self) -> Match {
        let mut it = self.family();
        let known = [
            (NEW, NEW),
            (EST, EST),
            (REL, REL),
            (INV, INV),
            (0, INV),
            (EST, EST | RPL),
            (EST | RPL, EST | RPL),
            (NEW, NEW | REL),
            (SNAT, SNAT),
            (DNAT, DNAT),
            (EST | SNAT, EST | SNAT),
        ];
        let (value, mask) = match self.chance.of_hundred(85) {
            true => self.chance.of(&known),
            false => (self.chance.wide() & 0xdf, self.chance.wide() & 0xdf),
        };
        it.set(Field::CtState, value & mask | TRK, mask | TRK);
        if self.chance.of_hundred(25) {
            let mask = self.chance.of(&[0xffff_ffff, 1, 6]);
            it.set(Field::CtMark, self.chance.below(4) as u128 & mask, mask);
        }
        if self.chance.of_hundred(10) {
            let mask = self.chance.of(&[u128::MAX, 1, 1 << 100]);
            it.set(Field::CtLabel, self.chance.of(&[0, 1, 1 << 100]) & mask, mask);
        }
        if self.chance.of_hundred(15) {
            it.set(Field::CtZone, self.zone().into(), 0xffff);
        }
        if self.chance.of_hundred(15) {
            it.set(Field::InPort, self.port().into(), 0xffff);
        }
        it
    }

    /// Asks who began a connection, and shows it in what leaves.
    fn ask_origin(&mut self, matching: &mut Match, program: &mut Program) {
        let Some(chance) = &mut self.origins else { return };
        let (from, to) = match self.way.is_ip6 {
            true => (Field::CtIp6Src, Field::CtIp6Dst),
            false => (Field::CtIp4Src, Field::CtIp4Dst),
        };
        for _ in 0..chance.below(3) {
            let field = chance.of(&[from, to, Field::CtProto, Field::CtSrc, Field::CtDst]);
            // Nobody may ask it of packets that can be of none; now and then somebody does.
            if !matching.meets(Needs::Tracked) && !chance.of_hundred(3) {
                continue;
            }
            let value = match field {
                Field::CtProto => chance.of(&[6, 6, 17, 1, 58, 47]),
                Field::CtSrc => chance.of(&[1000, 1001, 1002, 8, 128, 80]),
                Field::CtDst => chance.of(&[80, 80, 53, 0, 8080, 1000]),
                _ => talks::address(self.way.is_ip6, chance.of(&[1, 2, 9, 9, 101, 102])),
            };
            let all = field.ones();
            let some = chance.of(&[all, all & !3, 1, 8]);
            let mask = if field.is_maskable() { chance.of(&[all, some]) } else { all };
            matching.set(field, value & mask, mask);
        }
        if matching.meets(Needs::Tracked) && chance.of_hundred(60) {
            let shown = [(from, 8, 24), (Field::CtSrc, 8, 32), (Field::CtProto, 8, 40)];
            let moves = shown.map(|(field, bits, offset)| {
                let (from, to) =
                    (Sub { field, offset: 0, bits }, Sub { field: Field::EthSrc, offset, bits });
                MoveField { from, to }.into()
            });
            program.splice(0..0, moves);
        }
    }

    /// What is done behind tracking.
    fn behind(&mut self, table: u8) -> Program {
        let mut program = if self.chance.of_hundred(60) { observed() } else { Program::new() };
        match self.chance.below(10) {
            0..=3 => {
                let on = self.chance.of_hundred(60).then_some(2).filter(|_| table == 1);
                program.push(self.ct(on));
                if on.is_none() || self.chance.of_hundred(10) {
                    program.push(self.output());
                }
            }
            4 if self.chance.of_hundred(50) => {
                program.push(CtClear.into());
                program.extend(observed());
                program.push(self.output());
            }
            5 if table == 1 => program.push(Resubmit { port: None, table: Some(2) }.into()),
            6 if self.chance.of_hundred(40) => {}
            7 => {
                program.push(self.output());
                program.push(self.output());
            }
            _ => program.push(self.output()),
        }
        program
    }

    fn ct(&mut self, table: Option<u8>) -> Action {
        let commits = self.chance.of_hundred(50);
        let forces = commits && self.chance.of_hundred(8);
        let bit = |is_set: bool, bit: u16| if is_set { bit } else { 0 };
        let flags = bit(commits, COMMIT) | bit(forces, FORCE);
        let mut actions: Vec<Action> = self.nat(commits).into_iter().collect();
        if commits && self.chance.of_hundred(40) {
            actions.push(self.set(Field::CtMark));
        }
        if commits && self.chance.of_hundred(20) {
            actions.push(self.set(Field::CtLabel));
        }
        Ct { flags, zone: Zone::Number(self.zone()), table, helper: 0, actions }.into()
    }

    fn set(&mut self, field: Field) -> Action {
        let mask = self.chance.of(&[field.ones(), field.ones(), 3, 6]);
        let value = self.chance.below(8) as u128 & mask;
        SetField { field, value, mask, is_load: false }.into()
    }

    /// `nat` as it may stand there.
    fn nat(&mut self, commits: bool) -> Option<Action> {
        let plain = Some(Nat::default());
        let (source, destination) = (self.way.source, self.way.destination);
        let nat = match self.chance.below(10) {
            0..=3 if commits && source.is_some() => source.map(|it| self.to(it, SOURCE)),
            0..=5 if commits && destination.is_some() => {
                destination.map(|it| self.to(it, DESTINATION))
            }
            // With `commit` the daemon forgets who answers.
            0..=7 if !commits => plain,
            _ => None,
        };
        nat.map(|nat| Translate { nat }.into())
    }

    fn to(&self, (address, port): (u128, Option<u16>), flags: u16) -> Nat {
        let mut nat = Nat { flags, ..Nat::default() };
        match self.way.is_ip6 {
            true => nat.ip6 = Some((address, None)),
            false => nat.ip4 = Some((address as u32, None)),
        }
        nat.ports = port.map(|port| (port, None));
        nat
    }
}

/// State, mark and label moved to where they are seen.
fn observed() -> Program {
    let moved = |field, bits, offset| {
        let (from, to) =
            (Sub { field, offset: 0, bits }, Sub { field: Field::EthSrc, offset, bits });
        MoveField { from, to }.into()
    };
    vec![moved(Field::CtState, 8, 0), moved(Field::CtMark, 8, 8), moved(Field::CtLabel, 8, 16)]
}

impl Case {
    /// The same in zones from a number on: those of all bridges of the daemon are one's.
    pub(crate) fn in_zones(&self, first: u16) -> Self {
        let mut case = self.clone();
        for flow in &mut case.flows {
            let zone = flow.matching.fields().iter().find(|it| it.0 == Field::CtZone).copied();
            if let Some((field, value, mask)) = zone {
                flow.matching.set(field, value + u128::from(first), mask);
            }
            for action in &mut flow.program {
                if let Action::Ct(it) = action
                    && let Zone::Number(zone) = &mut it.zone
                {
                    *zone += first;
                }
            }
        }
        case
    }
}
