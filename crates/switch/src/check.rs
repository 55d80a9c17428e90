//! Whether a flow can be what it says.

use crate::bridge::Bridge;
use flow::helper;
use openflow::action::ct::Zone;
use openflow::action::{Ct, Mpls, Stack};
use openflow::{Action, Fault, Field, Match, Nat, Needs, Version};

impl Bridge {
    /// Looks at what a flow does: whether its packets have what is changed, and whether all that it
    /// leads to is there.
    pub(crate) fn check(
        &self,
        table: u8,
        matching: &Match,
        actions: &[Action],
        version: Version,
    ) -> Result<(), Fault> {
        let is_conjunction = |action: &&Action| matches!(action, Action::Conjunction(_));
        let conjunctions = actions.iter().filter(is_conjunction).count();
        let notes = actions.iter().filter(|it| matches!(it, Action::Note(_))).count();
        if conjunctions > 0 && conjunctions + notes != actions.len() {
            return Err(Fault::BadConjunction);
        }
        let mut kind = Kind::new(Some(matching.clone()), version);
        actions.iter().try_for_each(|action| self.check_one(table, &mut kind, action))?;
        if kind.is_inconsistent && version != Version::V10 {
            return Err(Fault::MatchInconsistent);
        }
        self.check_ends(actions)
    }

    /// The same of actions for packets of which nobody says what they are: what they have not is
    /// not changed.
    pub(crate) fn check_of_any(&self, actions: &[Action]) -> Result<(), Fault> {
        self.check_bucket(actions)?;
        self.check_ends(actions)
    }

    /// The same of a bucket's, which may lead to groups that come later.
    pub(crate) fn check_bucket(&self, actions: &[Action]) -> Result<(), Fault> {
        let mut kind = Kind::new(None, Version::V10);
        actions.iter().try_for_each(|action| self.check_one(0, &mut kind, action))
    }

    /// Whether the groups and meters that it leads to are there: looked at when all else is right.
    fn check_ends(&self, actions: &[Action]) -> Result<(), Fault> {
        actions.iter().try_for_each(|action| match action {
            Action::Group(it) if !self.snapshot.groups.contains_key(&it.group) => {
                Err(Fault::BadOutGroup)
            }
            Action::Meter(it) if !self.snapshot.meters.contains_key(&it.meter) => {
                Err(Fault::InvalidMeter)
            }
            Action::CloneActions(it) => self.check_ends(&it.actions),
            Action::WriteActions(it) => self.check_ends(&it.actions),
            _ => Ok(()),
        })
    }

    /// Looks at one.
    fn check_one(&self, table: u8, kind: &mut Kind, action: &Action) -> Result<(), Fault> {
        match action {
            Action::SetField(it) => {
                can_be_set(it.field)?;
                // An action of 1.0's own, which does nothing to packets that have no such field.
                let is_old = kind.version == Version::V10 && it.is_of_1_0();
                match it.field {
                    _ if is_old => Ok(()),
                    // It may put a tag in front, or take it away.
                    Field::VlanTci => {
                        kind.set_tag(it.value & 0x1000 != 0);
                        Ok(())
                    }
                    Field::VlanVid => kind.check_tag(),
                    // An action of its own from 1.1 on, as `dec_ttl` is.
                    Field::IpTtl if kind.version != Version::V10 && it.is_whole() => {
                        kind.is_inconsistent |= kind.check(Field::IpTtl).is_err();
                        Ok(())
                    }
                    field => kind.check(field),
                }
            }
            Action::MoveField(it) => can_be_set(it.to.field)
                .and_then(|()| kind.check(it.from.field))
                .and_then(|()| kind.check(it.to.field)),
            Action::Stack(Stack::Pop(it)) => {
                can_be_set(it.field).and_then(|()| kind.check(it.field))
            }
            Action::Stack(Stack::Push(it)) => kind.check(it.field),
            Action::OutputReg(it) => kind.check(it.from.field),
            Action::PushVlan(_) if kind.is_behind => Err(Fault::BadTag),
            Action::PushVlan(_) => {
                kind.is_behind = kind.has_tag();
                kind.set_tag(true);
                Ok(())
            }
            Action::SetVlan(_) => {
                kind.set_tag(true);
                Ok(())
            }
            Action::PopVlan(_) => {
                kind.is_inconsistent |= kind.check_tag().is_err();
                kind.set_tag(kind.is_behind);
                kind.is_behind = false;
                Ok(())
            }
            Action::DecTtl(_) => {
                kind.is_inconsistent |= kind.check(Field::IpTtl).is_err();
                Ok(())
            }
            Action::GotoTable(it) if it.table <= table || it.table > LAST_TABLE => {
                Err(Fault::BadInstructionTable)
            }
            Action::Resubmit(it) if it.table.is_some_and(|it| it > LAST_TABLE) => {
                Err(Fault::BadTableId)
            }
            Action::Learn(it) if it.table > LAST_TABLE => Err(Fault::BadArgument),
            Action::Learn(it) => it
                .result
                .map_or(Ok(()), |sub| can_be_set(sub.field).and_then(|()| kind.check(sub.field))),
            Action::CloneActions(it) => {
                let mut inner = kind.clone();
                let mut actions = it.actions.iter();
                actions.try_for_each(|action| self.check_one(table, &mut inner, action))?;
                kind.is_inconsistent = inner.is_inconsistent;
                Ok(())
            }
            // It is no action of a set.
            Action::WriteActions(it)
                if it.actions.iter().any(|inner| matches!(inner, Action::Sample(_))) =>
            {
                Err(Fault::BadActionType)
            }
            // They are done at the end of all tables, for packets of which nobody knows.
            Action::WriteActions(it) => {
                let mut inner = kind.clone();
                it.actions.iter().try_for_each(|action| self.check_one(table, &mut inner, action))
            }
            Action::Ct(it) => check_ct(kind, it),
            // It is done inside of `ct` alone.
            Action::Translate(_) => Err(Fault::BadSetArgument),
            Action::Mpls(it) => {
                kind.check_label(*it);
                Ok(())
            }
            Action::FinTimeout(_) => {
                kind.is_inconsistent |= kind.check(Field::TcpFlags).is_err();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Flags of `ct`: the connection is remembered, against its direction as well.
const COMMIT: u16 = 1;
const FORCE: u16 = 2;
/// The bit of `ct_state` of packets that cannot be of a connection.
const INVALID: u128 = 0x10;

/// Looks at connection tracking, and at what is done inside of it.
fn check_ct(kind: &Kind, ct: &Ct) -> Result<(), Fault> {
    // Of the protocols whose connections bring others, two are known.
    let is_known = matches!(ct.helper, 0 | helper::FTP | helper::TFTP);
    if ct.flags & FORCE != 0 && ct.flags & COMMIT == 0 || !is_known {
        return Err(Fault::BadArgument);
    }
    for action in &ct.actions {
        let is_of_connection = match action {
            // What was translated is translated, without one to begin.
            Action::Translate(it) if ct.flags & COMMIT == 0 && it.nat != Nat::default() => false,
            Action::Translate(_) => true,
            Action::SetField(it) => ct.flags & COMMIT != 0 && is_of_connection(it.field),
            Action::MoveField(it) => ct.flags & COMMIT != 0 && is_of_connection(it.to.field),
            _ => false,
        };
        if !is_of_connection {
            return Err(Fault::BadArgument);
        }
    }
    kind.check(Field::IpProto)?;
    match ct.helper {
        helper::FTP => kind.check(Field::TcpSrc)?,
        helper::TFTP => kind.check(Field::UdpSrc)?,
        _ => {}
    }
    // What cannot be of a connection begins none.
    let is_invalid = |of: &Match| {
        let said = of.fields().iter().find(|it| it.0 == Field::CtState);
        said.is_some_and(|(_, value, mask)| value & mask & INVALID != 0)
    };
    if ct.flags & COMMIT != 0 && kind.of.as_ref().is_some_and(is_invalid) {
        return Err(Fault::MatchInconsistent);
    }
    if let Zone::Field(sub) = ct.zone {
        kind.check(sub.field)?;
    }
    ct.actions.iter().try_for_each(|action| match action {
        Action::Translate(it) if it.nat.ip4.is_some() => kind.check(Field::IpSrc),
        Action::Translate(it) if it.nat.ip6.is_some() => kind.check(Field::Ip6Src),
        Action::MoveField(it) => kind.check(it.from.field),
        _ => Ok(()),
    })
}

/// What a connection has, not a packet.
fn is_of_connection(field: Field) -> bool {
    matches!(field, Field::CtMark | Field::CtLabel)
}

/// Whether packets pass connection tracking.
pub(crate) fn tracks(actions: &[Action]) -> bool {
    actions.iter().any(|action| match action {
        Action::Ct(_) => true,
        Action::WriteActions(it) => tracks(&it.actions),
        Action::CloneActions(it) => tracks(&it.actions),
        _ => false,
    })
}

/// What is known of packets that actions are for.
#[derive(Clone)]
struct Kind {
    /// What they match; none: nobody says, and what they have not is not changed.
    of: Option<Match>,
    /// There is a tag behind the first: more are not pushed.
    is_behind: bool,
    /// Something is done to what they may not have. 1.0 lets that be said; in others it is wrong
    /// when nothing else is.
    is_inconsistent: bool,
    version: Version,
}

impl Kind {
    fn new(of: Option<Match>, version: Version) -> Self {
        Self { of, is_behind: false, is_inconsistent: false, version }
    }

    fn check(&self, field: Field) -> Result<(), Fault> {
        let Some(kind) = &self.of else { return Ok(()) };
        if kind.meets(field.needs()) { Ok(()) } else { Err(Fault::MatchInconsistent) }
    }

    fn check_tag(&self) -> Result<(), Fault> {
        if self.of.is_none() || self.has_tag() { Ok(()) } else { Err(Fault::MatchInconsistent) }
    }

    /// Labels are for what has them; what is behind them is not known.
    fn check_label(&mut self, action: Mpls) {
        self.is_inconsistent |=
            !matches!(action, Mpls::Push(_)) && self.check(Field::MplsLabel).is_err();
        let (Some(of), Mpls::Push(kind) | Mpls::Pop(kind)) = (&mut self.of, action) else {
            return;
        };
        of.set(Field::EthType, kind.into(), 0xffff);
        if let Mpls::Push(_) = action {
            of.set(Field::IpProto, 0, 0xff);
        }
    }

    fn has_tag(&self) -> bool {
        self.of.as_ref().is_some_and(|kind| kind.meets(Needs::Tag))
    }

    fn set_tag(&mut self, is_there: bool) {
        if let Some(kind) = &mut self.of {
            kind.set(Field::VlanTci, if is_there { 0x1000 } else { 0 }, 0x1000);
        }
    }
}

/// What else tunnels have than a number and ends is nothing that packets here leave with;
/// connections are marked inside of `ct`.
fn can_be_set(field: Field) -> Result<(), Fault> {
    if is_of_connection(field) {
        return Err(Fault::BadSetArgument);
    }
    let is_beyond = matches!(field, Field::TunFlags | Field::TunGbpId | Field::TunGbpFlags);
    if is_beyond { Err(Fault::BadSetType) } else { Ok(()) }
}

/// Whether an action may set a field.
pub(crate) fn is_set(field: Field) -> bool {
    !field.is_fixed() && can_be_set(field).is_ok()
}

/// The last table there is.
pub(crate) const LAST_TABLE: u8 = 253;
