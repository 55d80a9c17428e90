//! Pipelines by a seed.

use super::case::{Case, PORTS};
use super::chance::Chance;
use super::packets::{self, ADDRESSES, ADDRESSES6, MACS, VLANS};
use openflow::action::{
    ClearActions, CloneActions, Conjunction, Controller, DecTtl, Exit, GotoTable, Group, MoveField,
    Mpls, Note, Output, OutputReg, PopVlan, Program, PushVlan, Resubmit, Sample, SetField,
    SetTransport, SetVlan, Stack, WriteActions, WriteMetadata,
};
use openflow::message::{Bucket, FlowMod, GroupKind};
use openflow::{Action, Field, Match, Needs, Sub, Version, port};

/// Tables that flows are in.
const TABLES: u8 = 4;
/// Conjunctions that there may be.
const CONJUNCTIONS: u32 = 2;
const GROUPS: u32 = 3;

/// Fields that flows match.
const MATCHED: &[Field] = &[
    Field::InPort,
    Field::Metadata,
    Field::TunId,
    Field::TunSrc,
    Field::PktMark,
    Field::Reg0,
    Field::Reg1,
    Field::Reg5,
    Field::Xxreg1,
    Field::EthSrc,
    Field::EthDst,
    Field::VlanTci,
    Field::VlanTci,
    Field::MplsLabel,
    Field::MplsTc,
    Field::MplsBos,
    Field::MplsTtl,
    Field::IpSrc,
    Field::IpDst,
    Field::Ip6Src,
    Field::Ip6Dst,
    Field::Ip6Label,
    Field::IpDscp,
    Field::IpEcn,
    Field::IpTtl,
    Field::IpFrag,
    Field::ArpOp,
    Field::ArpSpa,
    Field::ArpTpa,
    Field::ArpSha,
    Field::ArpTha,
    Field::TcpSrc,
    Field::TcpDst,
    Field::TcpFlags,
    Field::UdpSrc,
    Field::UdpDst,
    Field::SctpSrc,
    Field::SctpDst,
    Field::Icmp4Type,
    Field::Icmp4Code,
    Field::Icmp6Type,
    Field::Icmp6Code,
    Field::NdTarget,
    Field::NdSll,
    Field::NdTll,
];

/// Fields that actions set.
const SET: &[Field] = &[
    Field::Metadata,
    Field::TunId,
    Field::TunSrc,
    Field::PktMark,
    Field::Reg0,
    Field::Reg1,
    Field::Reg5,
    Field::Xreg2,
    Field::Xxreg1,
    Field::EthSrc,
    Field::EthDst,
    Field::VlanTci,
    Field::VlanVid,
    Field::VlanPcp,
    Field::MplsLabel,
    Field::MplsTc,
    Field::MplsTtl,
    Field::IpSrc,
    Field::IpDst,
    Field::Ip6Src,
    Field::Ip6Dst,
    Field::Ip6Label,
    Field::IpDscp,
    Field::IpTos,
    Field::IpEcn,
    Field::IpTtl,
    Field::ArpOp,
    Field::ArpSpa,
    Field::ArpTpa,
    Field::ArpSha,
    Field::ArpTha,
    Field::TcpSrc,
    Field::TcpDst,
    Field::UdpSrc,
    Field::UdpDst,
    Field::SctpSrc,
    Field::SctpDst,
    Field::Icmp4Type,
    Field::Icmp4Code,
    Field::Icmp6Type,
    Field::Icmp6Code,
    Field::NdTarget,
    Field::NdSll,
    Field::NdTll,
];

/// The case of a seed.
pub(crate) fn case(seed: u64) -> Case {
    let mut it = Generator { chance: Chance(seed), version: Version::V10, groups: 0, priority: 0 };
    it.version = it.chance.of(&Version::ALL);
    it.case(seed)
}

struct Generator {
    chance: Chance,
    version: Version,
    groups: u32,
    /// The last that a flow got: of two of the same that match, either may be meant.
    priority: u16,
}

impl Generator {
    fn case(mut self, seed: u64) -> Case {
        let count = if self.version == Version::V10 { 0 } else { self.chance.below(4) };
        let mut groups = Vec::new();
        for _ in 0..count {
            groups.push(self.group());
        }
        let count = 1 + self.chance.below(12);
        let mut flows = Vec::new();
        for _ in 0..count {
            flows.push(self.flow());
        }
        // What nothing else takes goes on, mostly, so that packets come far.
        for table in 0..TABLES {
            if self.chance.of_hundred(70) {
                let program = self.program(table, &Match::any());
                flows.push(FlowMod::add(table, 0, Match::any(), program));
            }
        }
        if self.chance.of_hundred(15) {
            flows.extend(self.conjunction());
        }
        let count = 1 + self.chance.below(8);
        let chance = &mut self.chance;
        let mut incoming = || (1 + chance.below(PORTS.into()) as u16, packets::packet(chance, 0));
        let mut packets: Vec<_> = (0..count).map(|_| incoming()).collect();
        // Where labels are written, or changes taken back, the daemon ends by an assertion of its
        // own now and then, if none of the first three is the last.
        let text = format!("{flows:?}{groups:?}");
        // So it does where a packet with an action set is to be read anew.
        let is_set = |action: &Action| matches!(action, Action::WriteActions(_));
        let own = flows.iter().flat_map(|flow| flow.program.iter().filter(|it| !is_set(it)));
        let own = format!("{:?}{groups:?}", own.collect::<Vec<_>>());
        if own.contains("Mpls(Pop") {
            // Of notes it forgets that they were left to do, and begins in the first table.
            if text.contains("Note(") {
                return self.case(seed);
            }
            flows.iter_mut().for_each(|flow| flow.program.retain(|action| !is_set(action)));
        }
        if ["Mpls(Set", "Mpls(Dec", ": Mpls", "Clone", "Group("]
            .iter()
            .any(|word| text.contains(word))
        {
            packets.retain(|(_, packet)| !packets::is_deep(packet));
        }
        for (number, (_, packet)) in (0u16..).zip(&mut packets) {
            let end = packet.len() - 2;
            packet[end..].copy_from_slice(&number.to_be_bytes());
        }
        Case { seed, version: self.version, groups, flows, packets, is_tracked: false }
    }

    fn group(&mut self) -> (u32, GroupKind, Vec<Bucket>) {
        self.groups += 1;
        // Which bucket is selected is each switch's own: `select` is not among them.
        let kind = self.chance.of(&[GroupKind::All, GroupKind::Indirect, GroupKind::FastFailover]);
        let count = match kind {
            GroupKind::All | GroupKind::FastFailover => self.chance.below(4),
            _ => 1,
        };
        let mut buckets = Vec::new();
        for id in 0..count as u32 {
            let watch_port = match kind {
                // The last port is not there: its bucket is dead.
                GroupKind::FastFailover => 1 + self.chance.below(usize::from(PORTS) + 1) as u16,
                _ => port::NONE,
            };
            let count = self.chance.below(4);
            let kind = kind_of(&mut self.chance);
            let actions = self.actions(count, &kind, true);
            buckets.push(Bucket { id, weight: 1, watch_port, watch_group: None, actions });
        }
        (self.groups, kind, buckets)
    }

    fn flow(&mut self) -> FlowMod {
        let table = self.chance.below(TABLES.into()) as u8;
        // Half are where packets come first.
        let table = if self.chance.of_hundred(40) { 0 } else { table };
        let matching = self.matching();
        let program = self.program(table, &matching);
        FlowMod::add(table, self.priority(), matching, program)
    }

    /// One that no other flow has: as likely above the others as below.
    fn priority(&mut self) -> u16 {
        self.priority += 1;
        self.priority * 97 % 101
    }

    /// Flows of a conjunction, and what is done where it holds.
    fn conjunction(&mut self) -> Vec<FlowMod> {
        let (id, clauses) =
            (self.chance.below(CONJUNCTIONS as usize) as u32, 2 + self.chance.below(2) as u8);
        let table = self.chance.of(&[0, 0, 1]);
        let priority = self.priority();
        let mut flows = Vec::new();
        for clause in 0..clauses {
            for _ in 0..1 + self.chance.below(2) {
                let it = Conjunction { id, clause, clauses };
                let matching = self.matching();
                flows.push(FlowMod::add(table, priority, matching, vec![it.into()]));
            }
        }
        let meant = Match::any().with(Field::ConjId, id.into());
        let program = self.program(table, &meant);
        flows.push(FlowMod::add(table, self.priority(), meant, program));
        flows
    }

    fn matching(&mut self) -> Match {
        let mut it = kind_of(&mut self.chance);
        for _ in 0..self.chance.of(&[0, 0, 1, 1, 2, 3]) {
            let field = self.chance.of(MATCHED);
            if !it.meets(field.needs()) {
                continue;
            }
            if field == Field::VlanTci {
                let (vid, pcp) =
                    (u128::from(self.chance.of(&VLANS)), self.chance.of(&[0, 3, 7]) << 13);
                let (value, mask) = self.chance.of(&[
                    (0, 0xffff),
                    (0x1000, 0x1000),
                    (0x1000 | vid, 0x1fff),
                    (0x1000 | pcp, 0xf000),
                    (0x1000 | pcp | vid, 0xffff),
                ]);
                it.set(field, value, mask);
                continue;
            }
            let value = self.value(field);
            let mask = self.mask(field);
            it.set(field, value & mask, mask);
        }
        it
    }

    fn mask(&mut self, field: Field) -> u128 {
        if !field.is_maskable() || self.chance.of_hundred(60) {
            return field.ones();
        }
        let bits = field.bits() as usize;
        let mask = match self.chance.below(3) {
            0 => self.chance.wide(),
            _ => !0 << self.chance.below(bits),
        };
        mask & field.ones()
    }

    /// A value that packets have, mostly.
    fn value(&mut self, field: Field) -> u128 {
        let chance = &mut self.chance;
        let value = match field {
            Field::InPort => 1 + chance.below(PORTS.into()) as u128,
            Field::EthSrc
            | Field::EthDst
            | Field::ArpSha
            | Field::ArpTha
            | Field::NdSll
            | Field::NdTll => {
                chance.of(&MACS).iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
            }
            Field::IpSrc | Field::IpDst | Field::ArpSpa | Field::ArpTpa => {
                u32::from_be_bytes(chance.of(&ADDRESSES)).into()
            }
            Field::Ip6Src | Field::Ip6Dst | Field::NdTarget => chance.of(&ADDRESSES6),
            Field::VlanTci => chance.of(&[0, 0x1005, 0x7006, 0x1000, 5]),
            Field::VlanVid => 0x1000 | u128::from(chance.of(&VLANS)),
            Field::IpTtl => chance.of(&[0, 1, 2, 64]),
            Field::IpDscp => chance.of(&[0, 0x2e, 0x3f]),
            Field::IpTos => chance.of(&[0, 0xb8, 0xfc]),
            Field::IpFrag | Field::IpEcn => chance.below(4) as u128,
            Field::Ip6Label => chance.of(&[0, 0x12345, 0xfffff]),
            Field::TcpSrc
            | Field::TcpDst
            | Field::UdpSrc
            | Field::UdpDst
            | Field::SctpSrc
            | Field::SctpDst => chance.of(&packets::PORTS).into(),
            Field::Icmp4Type | Field::Icmp4Code | Field::Icmp6Code => chance.of(&[0, 1, 3, 8]),
            Field::Icmp6Type => chance.of(&[128, 133, 135, 136]),
            Field::MplsLabel => chance.of(&[0, 1, 0x1001]),
            Field::MplsTtl => chance.of(&[0, 1, 2, 63, 64]),
            Field::TcpFlags => chance.below(32) as u128,
            Field::ArpOp => chance.of(&[1, 2, 3, 0x101]),
            _ if chance.of_hundred(20) => chance.wide(),
            // Registers and what is beside packets: few values, so that flows hear of each other.
            _ => chance.below(6) as u128,
        };
        value & field.ones()
    }

    /// Actions, then what comes after them, in the order of the standard.
    fn program(&mut self, table: u8, kind: &Match) -> Program {
        let count = self.chance.below(5);
        let mut program = self.actions(count, kind, false);
        if self.chance.of_hundred(40) {
            program.push(self.output());
        }
        if self.version == Version::V10 {
            return program;
        }
        if self.chance.of_hundred(5) {
            program.push(ClearActions.into());
        }
        if self.chance.of_hundred(20) {
            let count = self.chance.below(4);
            program.push(WriteActions { actions: self.actions(count, kind, true) }.into());
        }
        if self.chance.of_hundred(10) {
            let (value, mask) = (self.chance.below(6) as u64, self.chance.of(&[u64::MAX, 3, 0xf0]));
            program.push(WriteMetadata { value: value & mask, mask }.into());
        }
        if self.chance.of_hundred(35) && table + 1 < TABLES {
            let on = 1 + self.chance.below((TABLES - table - 1).into()) as u8;
            program.push(GotoTable { table: table + on }.into());
        }
        program
    }

    /// Some actions for packets of a kind; in a set only those of the standard.
    fn actions(&mut self, count: usize, kind: &Match, is_set: bool) -> Program {
        let mut kind = kind.clone();
        let mut actions = Program::new();
        for _ in 0..count {
            let action = self.action(&kind, is_set);
            match action {
                Action::PushVlan(_) | Action::SetVlan(_) => {
                    kind.set(Field::VlanTci, 0x1000, 0x1000)
                }
                Action::PopVlan(_) => kind.set(Field::VlanTci, 0, 0x1000),
                Action::Mpls(Mpls::Push(to) | Mpls::Pop(to)) => {
                    kind.set(Field::EthType, to.into(), 0xffff);
                    kind.set(Field::IpProto, 0, 0xff);
                }
                _ => {}
            }
            actions.push(action);
        }
        actions
    }

    fn action(&mut self, kind: &Match, is_set: bool) -> Action {
        // Labels are changed where there are some, mostly.
        let is_labelled = kind.meets(Needs::Mpls);
        if self.chance.of_hundred(if is_labelled { 40 } else { 8 }) {
            return self.label(is_labelled);
        }
        match self.chance.below(if is_set { 12 } else { 22 }) {
            0..=3 => self.output(),
            4..=6 => {
                let field = self.field(SET, kind);
                let value = self.value(field);
                let is_whole = matches!(field, Field::VlanVid | Field::VlanTci)
                    || is_set
                    || !field.is_maskable();
                let mask = if is_whole { field.ones() } else { self.mask(field) };
                let mask = if mask == 0 { field.ones() } else { mask };
                SetField { field, value: value & mask, mask, is_load: false }.into()
            }
            7 => PushVlan { tpid: self.chance.of(&[0x8100, 0x8100, 0x88a8]) }.into(),
            8 => PopVlan.into(),
            9 => DecTtl { controllers: vec![] }.into(),
            10 if self.groups > 0 => {
                // One more than there are.
                Group { group: 1 + self.chance.below(self.groups.min(GROUPS) as usize + 1) as u32 }
                    .into()
            }
            10 | 11 => self.output(),
            12 => {
                let port =
                    self.chance.of_hundred(25).then(|| 1 + self.chance.below(PORTS.into()) as u16);
                let table =
                    self.chance.of_hundred(85).then(|| self.chance.below(TABLES.into()) as u8);
                Resubmit { port, table }.into()
            }
            13 => {
                let table = 1 + self.chance.below(usize::from(TABLES) - 1) as u8;
                Resubmit { port: None, table: Some(table) }.into()
            }
            14 | 15 => self.copy_of_bits(kind),
            16 => {
                let sub = self.bits_of(kind);
                if self.chance.of_hundred(50) {
                    Stack::Push(sub).into()
                } else {
                    Stack::Pop(sub).into()
                }
            }
            17 => {
                let count = 1 + self.chance.below(3);
                CloneActions { actions: self.actions(count, kind, false) }.into()
            }
            18 => match self.chance.below(3) {
                0 => SetVlan::Vid(self.chance.of(&VLANS)).into(),
                1 => SetVlan::Pcp(self.chance.of(&[0, 3, 7])).into(),
                _ => SetTransport {
                    is_source: self.chance.of_hundred(50),
                    port: self.chance.of(&packets::PORTS),
                }
                .into(),
            },
            19 => {
                let from =
                    Sub { field: Field::Reg0, offset: 0, bits: self.chance.of(&[16, 32, 3]) };
                OutputReg { from, max_len: 64 }.into()
            }
            20 => match self.chance.below(4) {
                0 => Controller { max_len: 64, controller: 0, reason: 1 }.into(),
                1 => Note { bytes: vec![1, 2, 3, 4, 5, 6] }.into(),
                2 => self.sample(),
                _ => Exit.into(),
            },
            _ => {
                let field = self.field(SET, kind);
                let value = self.value(field);
                let mut sub = Sub::whole(field);
                if field.is_maskable() && field.bits() > 4 {
                    sub.offset = self.chance.below(sub.bits.into()) as u16;
                    sub.bits = 1 + self.chance.below((sub.bits - sub.offset).min(64).into()) as u16;
                }
                SetField { field, value: value & sub.mask(), mask: sub.mask(), is_load: true }
                    .into()
            }
        }
    }

    fn label(&mut self, is_labelled: bool) -> Action {
        // A few are told to what they are not for.
        let least = if is_labelled || self.chance.of_hundred(10) { 0 } else { 7 };
        let it = match least + self.chance.below(10 - least) {
            0..=2 => Mpls::Pop(self.chance.of(&[0x0800, 0x0800, 0x86dd, 0x8847, 0x8848, 0x88b5])),
            3 => Mpls::SetTtl(self.chance.of(&[0, 1, 2, 64])),
            4 => Mpls::SetLabel(self.chance.of(&[0, 1, 0xfffff])),
            5 => Mpls::SetTc(self.chance.of(&[0, 5])),
            6 => Mpls::DecTtl,
            _ => Mpls::Push(self.chance.of(&[0x8847, 0x8847, 0x8848])),
        };
        it.into()
    }

    /// One that nobody collects, and that may be wrong.
    fn sample(&mut self) -> Action {
        use openflow::action::sample::{Direction, Form};
        let (form, port, direction) = self.chance.of(&[
            (Form::First, port::NONE, Direction::Unsaid),
            (Form::Second, 2, Direction::Unsaid),
            (Form::Second, PORTS + 1, Direction::Unsaid),
            (Form::Third, port::LOCAL, Direction::Ingress),
            (Form::Third, port::NONE, Direction::Egress),
        ]);
        let probability = self.chance.of(&[0, 1, u16::MAX]);
        let (set, domain, point) = (self.chance.below(2) as u32, 7, 9);
        Sample { probability, set, domain, point, port, direction, form }.into()
    }

    fn output(&mut self) -> Action {
        let number = match self.chance.below(20) {
            0 => port::FLOOD,
            1 => port::ALL,
            2 | 3 => port::IN_PORT,
            4 => port::CONTROLLER,
            // One that is not there.
            5 => PORTS + 1,
            _ => 1 + self.chance.below(PORTS.into()) as u16,
        };
        Output::to(number).into()
    }

    /// A field that packets of this kind have, and now and then another.
    fn field(&mut self, of: &[Field], kind: &Match) -> Field {
        let any = self.chance.of_hundred(3);
        loop {
            let field = self.chance.of(of);
            let is_there = kind.meets(field.needs());
            let is_tag = matches!(field, Field::VlanTci | Field::VlanVid);
            if any
                || is_there && (!is_tag || kind.meets(Needs::Tag))
                || is_tag && self.chance.of_hundred(30)
            {
                return field;
            }
        }
    }

    fn bits_of(&mut self, kind: &Match) -> Sub {
        let mut sub = Sub::whole(self.field(SET, kind));
        if self.chance.of_hundred(40) {
            sub.offset = self.chance.below(sub.bits.into()) as u16;
            sub.bits = 1 + self.chance.below((sub.bits - sub.offset).into()) as u16;
        }
        sub
    }

    fn copy_of_bits(&mut self, kind: &Match) -> Action {
        let (mut from, mut to) = (self.bits_of(kind), self.bits_of(kind));
        let bits = from.bits.min(to.bits);
        (from.bits, to.bits) = (bits, bits);
        MoveField { from, to }.into()
    }
}

/// What packets a flow may be for, as far as fields stand on it.
fn kind_of(chance: &mut Chance) -> Match {
    let kinds: &[(u128, u128)] = &[
        (0, 0),
        (0, 0),
        (0x0800, 0),
        (0x0800, 6),
        (0x0800, 17),
        (0x0800, 1),
        (0x0800, 132),
        (0x0806, 0),
        (0x86dd, 0),
        (0x86dd, 6),
        (0x86dd, 17),
        (0x86dd, 58),
        (0x86dd, 58),
        (0x8847, 0),
        (0x8847, 0),
        (0x8847, 0),
        (0x8848, 0),
        (0x8035, 0),
    ];
    let (kind, proto) = chance.of(kinds);
    let mut it = Match::any();
    if kind != 0 {
        it.set(Field::EthType, kind, 0xffff);
    }
    if proto != 0 {
        it.set(Field::IpProto, proto, 0xff);
    }
    if proto == 58 && chance.of_hundred(40) {
        it.set(Field::Icmp6Type, chance.of(&[135, 136]), 0xff);
        if chance.of_hundred(50) {
            it.set(Field::Icmp6Code, 0, 0xff);
        }
    }
    it
}
