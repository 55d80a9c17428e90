//! Labels of MPLS on a packet's way, and packets that are read anew when theirs are gone.
//!
//! ```text
//!  push_mpls ─▶ Step::PushMpls        what is behind the label can be told no more
//!  pop_mpls ─▶ Step::PopMpls … ─▶ an action that must know what is there now ─▶ Recirculate
//! ```
//! What a packet is behind its labels nobody knows before they are gone. It begins again then with
//! what was left to do; where it only leaves it does not.

use super::Translation;
use crate::labels::{self, LAST, MOST};
use crate::steps::Step;
use crate::track::Rest;
use crate::trail::What;
use openflow::message::reason;
use openflow::{Action, Field, Machine, Needs, Sub};

/// The time to live of a label on what has none, or none left.
const TTL: u32 = 64;
/// The label of IPv6 behind the last one (RFC 3032 section 2.1).
const NULL_OF_IP6: u32 = 2;
/// Fields of a label that are set, and their lowest bits.
const FIELDS: [(Field, u32); 3] = [(Field::MplsLabel, 12), (Field::MplsTc, 9), (Field::MplsTtl, 0)];
/// Words of what is behind labels.
const BEHIND: std::ops::Range<usize> = 25..36;

impl Translation<'_> {
    fn see_label(&mut self, number: usize, bits: u32) {
        let mut seen = crate::Key::default();
        labels::set(&mut seen, number, bits);
        self.see_all(&seen);
    }

    fn set_label(&mut self, number: usize, label: u32) {
        labels::set(&mut self.key, number, label);
        labels::set(&mut self.written, number, u32::MAX);
    }

    fn set_kind(&mut self, kind: u16) {
        self.set_silently(Field::EthType, kind.into(), 0xffff);
    }

    fn is_labelled(&self) -> bool {
        labels::is_labelled(self.key.get(Field::EthType))
    }

    /// How many labels a packet has, three at most. One of zeros is none: as in Open vSwitch.
    pub(super) fn count_labels(&mut self) -> usize {
        let mut count = 0;
        if !self.is_labelled() {
            return count;
        }
        for number in 0..MOST {
            self.see_label(number, LAST);
            let label = labels::get(&self.key, number);
            if label & LAST != 0 {
                return number + 1;
            }
            // That there is one a single bit of it tells.
            self.see_label(
                number,
                if label == 0 { u32::MAX } else { label & label.wrapping_neg() },
            );
            count += usize::from(label != 0);
        }
        count
    }

    /// Tags in front of labels.
    fn tags_in_front(&mut self) -> u8 {
        self.see(Field::VlanTci, 0x1000);
        self.tags.len() as u8 + u8::from(self.key.get(Field::VlanTci) & 0x1000 != 0)
    }

    fn has_too_many(&mut self, why: &str) {
        self.note(|| {
            What::Fault(format!(
                "dropping packet on which an MPLS {why} more MPLS LSEs than the {MOST} supported."
            ))
        });
        match self.is_bucket {
            // A bucket ends by itself.
            true => self.exit(),
            false => self.cut(),
        }
    }

    /// Where steps that move labels are, if nothing has left since, and nothing was done to labels.
    fn last_of_labels(&self) -> Option<usize> {
        let is_beside = |step: &Step| match step {
            Step::Set(field, ..) => field.needs() != Needs::Mpls,
            Step::PushVlan(..) | Step::PopVlan => true,
            _ => false,
        };
        let own = self.steps.get(self.aside_from..).unwrap_or_default();
        Some(self.aside_from + own.iter().rposition(|step| !is_beside(step))?)
    }

    /// What was done to labels before ends with this type then.
    fn last_is_of(&mut self, kind: u16) {
        let last = self.last_of_labels().map(|at| &mut self.steps[at]);
        if let Some(Step::PushMpls { kind: had, .. } | Step::PopMpls { kind: had, .. }) = last {
            *had = kind;
        }
    }

    /// Pushes one; in place of one that was popped just before the other is written over.
    fn put_push(&mut self, kind: u16, label: u32, is_first: bool) {
        let tags = self.tags_in_front();
        let last = self.last_of_labels().filter(|_| !is_first);
        match last.map(|at| (at, &self.steps[at])) {
            Some((at, Step::PopMpls { .. })) => {
                self.steps.remove(at);
                self.last_is_of(kind);
                for (field, shift) in FIELDS {
                    let value = u128::from(label >> shift) & field.ones();
                    self.put(Step::Set(field, value, field.ones()));
                }
            }
            _ => self.put(Step::PushMpls { kind, label, tags }),
        }
    }

    /// Pops one; one that was pushed just before is not pushed at all.
    fn put_pop(&mut self, kind: u16) {
        let tags = self.tags_in_front();
        match self.last_of_labels().map(|at| (at, &self.steps[at])) {
            Some((at, Step::PushMpls { .. })) => {
                self.steps.remove(at);
                self.last_is_of(kind);
            }
            _ => self.put(Step::PopMpls { kind, tags }),
        }
    }

    pub(super) fn push_label(&mut self, kind: u16) {
        let count = self.count_labels();
        if count >= MOST {
            return self.has_too_many("push action can't be performed as it would have");
        }
        let label = match count {
            0 => self.first_label(),
            _ => {
                for number in (0..count).rev() {
                    self.see_label(number, u32::MAX);
                    let label = labels::get(&self.key, number);
                    self.set_label(number + 1, label);
                }
                labels::get(&self.key, 0) & !LAST
            }
        };
        self.set_label(0, label);
        self.set_kind(kind);
        self.put_push(kind, label, count == 0);
    }

    /// The label of a packet that has none: it takes over what IP says. Nothing of that can be
    /// told behind it.
    fn first_label(&mut self) -> u32 {
        let (mut label, mut class, mut ttl) = (0, 0, 0);
        let kind = self.key.get(Field::EthType);
        if matches!(kind, 0x0800 | 0x86dd) {
            class = self.read(Sub::whole(Field::IpDscp)) as u32 & 7;
            ttl = self.read(Sub::whole(Field::IpTtl)) as u32;
            label = if kind == 0x86dd { NULL_OF_IP6 } else { 0 };
        }
        self.key.words[BEHIND].fill(0);
        self.written.words[BEHIND].fill(u64::MAX);
        label << 12 | class << 9 | LAST | if ttl == 0 { TTL } else { ttl }
    }

    pub(super) fn pop_label(&mut self, kind: u16) {
        let count = self.count_labels();
        if count == 0 {
            return;
        }
        // What would come into the last one's place nobody knows.
        if count == MOST && labels::get(&self.key, MOST - 1) & LAST == 0 {
            return self.has_too_many("pop action can't be performed as it has");
        }
        if !labels::is_labelled(kind.into()) {
            // What has no labels has none behind the first either: as in Open vSwitch.
            for number in (0..count).rev() {
                self.set_label(number, 0);
                let kind = if number == 0 { kind } else { 0x8847 };
                self.put_pop(kind);
            }
            self.set_kind(kind);
            self.is_unread = true;
            return;
        }
        for number in 1..count {
            self.see_label(number, u32::MAX);
            let label = labels::get(&self.key, number);
            self.set_label(number - 1, label);
        }
        self.set_label(count - 1, 0);
        self.set_kind(kind);
        self.put_pop(kind);
    }

    /// One to live less: false where it has none left.
    pub(super) fn dec_label_ttl(&mut self) -> bool {
        if self.is_labelled() {
            let ttl = self.read(Sub::whole(Field::MplsTtl));
            if ttl > 1 {
                self.write(Field::MplsTtl, ttl - 1, 0xff);
                return true;
            }
            self.controller(u16::MAX, 0, reason::INVALID_TTL);
        }
        self.note(|| What::Warning("MPLS decrement TTL exception".to_owned()));
        false
    }

    /// Writes bits of a label of a packet that has none: as in Open vSwitch, that is one then.
    pub(super) fn make_label(&mut self, field: Field, value: u128, mask: u128) {
        self.set_silently(field, value, mask);
        let label = labels::get(&self.key, 0);
        if label != 0 {
            let kind = self.key.get(Field::EthType) as u16;
            self.put_push(kind, label, true);
        }
    }

    /// Writes bits of the label that was pushed last, where nothing has left with it since: it is
    /// pushed with them. False where there is none.
    pub(super) fn write_pushed_label(&mut self, field: Field, value: u128, mask: u128) -> bool {
        let Some((_, shift)) = FIELDS.into_iter().find(|it| it.0 == field) else { return false };
        let Some(last) = self.last_of_labels() else { return false };
        let Step::PushMpls { label, .. } = &mut self.steps[last] else { return false };
        *label = *label & !((mask << shift) as u32) | ((value & mask) << shift) as u32;
        true
    }

    /// Whether an action can be done only when the packet has been read anew.
    pub(super) fn must_read_for(&self, action: &Action) -> bool {
        use Action as A;
        if !self.is_unread {
            return false;
        }
        match action {
            A::Output(_) | A::OutputReg(_) | A::Enqueue(_) | A::SetQueue(_) | A::Group(_) => false,
            A::SetVlan(_) | A::SetTunnel(_) => false,
            A::SetField(it) => {
                !matches!(it.field.needs(), Needs::Nothing | Needs::Tag | Needs::Mpls)
            }
            _ => true,
        }
    }

    /// Stops, to go on with these when the packet has been read anew.
    pub(super) fn stop_before(&mut self, actions: &[Action]) {
        let rest = Rest { table: self.table, cookie: self.cookie, actions: actions.to_vec() };
        self.stopped.get_or_insert_default().push(rest);
    }

    /// Has a packet that has stopped begin again, as a copy.
    pub(super) fn end_stopped(&mut self) {
        if let Some(rests) = self.stopped.take() {
            let tracked = Some(self.tracked());
            self.freeze(self.table, tracked, rests);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{extract, tests::udp};
    use crate::flow::Flow;
    use crate::snapshot::{PortEntry, Snapshot};
    use crate::translate::{translate, translate_again};
    use crate::{Key, Verdict};
    use openflow::Match;
    use openflow::action::{CloneActions, GotoTable, Mpls, Output, Program, SetField};
    use std::sync::Arc;

    fn world(flows: Vec<(u8, Match, Program)>) -> Snapshot {
        let mut it = Snapshot::default();
        let port = PortEntry::all();
        it.ports = Arc::new((1..5).map(|number| (number, port)).collect());
        for (priority, (table, matching, program)) in (1..).zip(flows) {
            let flow = Flow::new(table, priority, matching, program);
            it.table_mut(table).flows.insert(flow);
        }
        it
    }

    /// A datagram behind these labels.
    fn labelled(labels: &[u32]) -> Key {
        let mut frame = udp(7, 53);
        if !labels.is_empty() {
            frame.splice(12..14, [0x88, 0x47]);
        }
        let bytes: Vec<u8> = labels.iter().flat_map(|label| label.to_be_bytes()).collect();
        frame.splice(14..14, bytes);
        let mut key = Key::default();
        extract(&frame, 1, &mut key);
        key
    }

    fn of(actions: Vec<Action>, labels: &[u32]) -> Verdict {
        translate(&world(vec![(0, Match::any(), actions)]), &labelled(labels))
    }

    fn steps(actions: Vec<Action>, labels: &[u32]) -> Vec<Step> {
        of(actions, labels).steps.to_vec()
    }

    fn to(port: u16) -> Action {
        Output::to(port).into()
    }

    fn push(kind: u16, label: u32, tags: u8) -> Step {
        Step::PushMpls { kind, label, tags }
    }

    const A: u32 = 17 << 12 | 3 << 9 | 64;
    const B: u32 = 18 << 12 | LAST | 9;

    #[test]
    fn the_first_label_has_what_ip_says_and_others_what_the_one_before_them_does() {
        let actions = || vec![Mpls::Push(0x8847).into(), to(2)];
        // The datagram lives for 64 hops, and is of the class 46, of which three bits remain.
        let verdict = of(actions(), &[]);
        assert_eq!(*verdict.steps, [push(0x8847, 6 << 9 | LAST | 64, 0), Step::Output(2)]);
        assert_eq!((verdict.mask.get(Field::IpTtl), verdict.mask.get(Field::IpDscp)), (0xff, 0x3f));
        let verdict = of(actions(), &[A, B]);
        assert_eq!(*verdict.steps, [push(0x8847, A, 0), Step::Output(2)]);
        assert_eq!(verdict.mask.get(Field::MplsLabel), 0xf_ffff);
        // What is set of a label that is pushed is pushed with it.
        let set = [Mpls::SetLabel(5), Mpls::SetTc(1), Mpls::SetTtl(2)].map(Action::from);
        let actions = [vec![Mpls::Push(0x8848).into()], set.to_vec(), vec![to(2)]].concat();
        assert_eq!(steps(actions, &[B]), [push(0x8848, 5 << 12 | 1 << 9 | 2, 0), Step::Output(2)]);
        // A fourth would be one that nobody can tell.
        let verdict = of(vec![to(3), Mpls::Push(0x8847).into(), to(2)], &[A, A, B]);
        assert!(verdict.is_cut && verdict.steps.is_empty());
    }

    #[test]
    fn labels_come_behind_tags() {
        let tagged = |actions: Vec<Action>| {
            let mut key = labelled(&[A, B]);
            key.set(Field::VlanTci, 0x1005, 0xffff);
            translate(&world(vec![(0, Match::any(), actions)]), &key).steps.to_vec()
        };
        let one = tagged(vec![Mpls::Push(0x8847).into(), to(2)]);
        assert_eq!(one, [push(0x8847, A, 1), Step::Output(2)]);
        let tag = openflow::action::PushVlan { tpid: 0x8100 };
        let two = tagged(vec![tag.into(), Mpls::Pop(0x8848).into(), to(2)]);
        let pop = Step::PopMpls { kind: 0x8848, tags: 2 };
        assert_eq!(two, [Step::PushVlan(0x8100, 0x1000), pop, Step::Output(2)]);
    }

    #[test]
    fn fields_of_the_outermost_label_are_set_and_its_time_to_live_ends() {
        let dec = || vec![Mpls::DecTtl.into(), to(2)];
        let ttl = Step::Set(Field::MplsTtl, 63, 0xff);
        assert_eq!(steps(dec(), &[A, B]), [ttl, Step::Output(2)]);
        let told = steps(dec(), &[A - 63, B]);
        assert!(matches!(&*told, [Step::Tell(_)]), "{told:?}");
        // A packet without labels has none to live with: the list ends, and no controller hears.
        assert_eq!(steps(dec(), &[]), []);
        let set = SetField::whole(Field::MplsLabel, 9);
        let found = steps(vec![set.into(), to(2)], &[A, B]);
        assert_eq!(found, [Step::Set(Field::MplsLabel, 9, 0xf_ffff), Step::Output(2)]);
    }

    #[test]
    fn behind_its_last_label_a_packet_is_read_anew_where_that_matters() {
        let pop = |tags: u8| Step::PopMpls { kind: 0x0800, tags };
        let only = vec![Mpls::Pop(0x0800).into(), to(2)];
        assert_eq!(steps(only.clone(), &[B]), [pop(0), Step::Output(2)]);
        // No label is left where another type is said.
        let first = Step::PopMpls { kind: 0x8847, tags: 0 };
        assert_eq!(steps(only, &[A, B]), [first, pop(0), Step::Output(2)]);
        let later = Match::any().with(Field::EthType, 0x0800).with(Field::IpProto, 17);
        let ttl = SetField::whole(Field::IpTtl, 7);
        let world = world(vec![
            (0, Match::any(), vec![Mpls::Pop(0x0800).into(), to(2), GotoTable { table: 3 }.into()]),
            (3, later, vec![ttl.into(), to(3)]),
        ]);
        let verdict = translate(&world, &labelled(&[B]));
        let [before, Step::Output(2), Step::Recirculate(_, frozen)] = &*verdict.steps else {
            panic!("{:?}", verdict.steps)
        };
        assert_eq!((before, frozen.table()), (&pop(0), None));
        let mut key = Key::default();
        key.begin_again(frozen, 1, &crate::Tracked { state: 0x21, ..Default::default() });
        // It was not tracked, whatever the packet before it was.
        assert_eq!(key.get(Field::CtState), 0);
        extract(&udp(7, 53), 1, &mut key);
        let again = translate_again(&world, &key, frozen);
        assert_eq!(*again.steps, [Step::Set(Field::IpTtl, 7, 0xff), Step::Output(3)]);
        // Only where it begins again does its protocol decide.
        assert_eq!((verdict.mask.get(Field::IpProto), again.mask.get(Field::IpProto)), (0, 0xff));
    }

    #[test]
    fn what_is_done_to_labels_of_a_copy_is_done_to_it_alone() {
        let inside = vec![Mpls::Pop(0x0800).into(), to(2)];
        let found = steps(vec![CloneActions { actions: inside }.into(), to(3)], &[B]);
        let pop = Step::PopMpls { kind: 0x0800, tags: 0 };
        let wanted = [Step::Fork(4), pop, Step::Output(2), Step::End, Step::Output(3)];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_label_that_goes_before_anything_left_is_not_pushed() {
        let both = vec![Mpls::Push(0x8847).into(), Mpls::Pop(0x0800).into(), to(2)];
        assert_eq!(steps(both, &[]), [Step::Output(2)]);
        // In place of one that was popped the other is written over: a swap.
        let swap = vec![
            Mpls::Pop(0x8847).into(),
            Mpls::Push(0x8847).into(),
            Mpls::SetLabel(5).into(),
            to(2),
        ];
        let sets = [
            Step::Set(Field::MplsLabel, 18, 0xf_ffff),
            Step::Set(Field::MplsTc, 0, 7),
            Step::Set(Field::MplsTtl, 9, 0xff),
            Step::Set(Field::MplsLabel, 5, 0xf_ffff),
            Step::Output(2),
        ];
        assert_eq!(steps(swap, &[A, B]), sets);
    }
}
