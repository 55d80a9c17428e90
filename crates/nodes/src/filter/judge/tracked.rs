//! Holds frames to a list of an interface that keeps connections: answers pass before rules are
//! asked, and rules with `reflect` have connections begin.

use super::{Judge, Refusal};
use crate::filter::reflecting::outside_of;
use crate::filter::{Access, Moment, Question, Reflecting, Sight, more};
use crate::tables::Run;
use acl::Key;
use graph::{Context, Exits};
use packet::Frame;

impl Judge {
    pub(super) fn hold_tracked(
        &mut self,
        run: &Run<'_, Access>,
        reflecting: Option<&Reflecting>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Refusal>,
        context: &Context<'_>,
    ) {
        let (list, now, nat) = (run.setting.list(), Moment::of(context), outside_of(run.row));
        let counters = list.counters.get(usize::from(context.worker));
        let has_packets = run.row.carries_packets();
        self.ask_none();
        for slot in run.slots.clone() {
            let packet = frame.view(slot);
            let sight = Sight::of(packet.header(), has_packets);
            if reflecting.is_some_and(|it| it.belongs(nat, sight, now).is_some()) {
                if let Some(counters) = counters {
                    counters.add_unasked(packet.length() as u32);
                }
                continue;
            }
            if self.ask(run, slot, packet.header()) == Asking::Unreadable {
                exits.set(slot, Refusal::Unreadable);
            }
        }
        self.ip4.answer(|keys, verdicts| list.ip4.classify(keys, verdicts));
        self.ip6.answer(|keys, verdicts| list.ip6.classify(keys, verdicts));
        let (wide4, wide6) = &mut *self.wide;
        if let Some(wide) = &list.wide {
            wide4.answer(|keys, verdicts| wide.ip4.classify(keys, verdicts));
            wide6.answer(|keys, verdicts| wide.ip6.classify(keys, verdicts));
        }
        let narrow = self.ip4.answers().chain(self.ip6.answers());
        for (slot, verdict) in narrow.chain(wide4.answers()).chain(wide6.answers()) {
            if let Some(counters) = counters {
                counters.add(verdict, frame.lengths()[slot]);
            }
            if !verdict.is_permitted() {
                exits.set(slot, Refusal::Denied);
            } else if verdict.is_reflected() {
                let packet = frame.view(slot);
                let sight = Sight::of(packet.header(), has_packets);
                let begun = match reflecting {
                    Some(reflecting) => reflecting.begin(sight, now),
                    None => Err(Refusal::NoConnection),
                };
                if let Err(why) = begun {
                    exits.set(slot, why);
                }
            }
        }
    }

    fn ask_none(&mut self) {
        let (wide4, wide6) = &mut *self.wide;
        (self.ip4.count, self.ip6.count, wide4.count, wide6.count) = (0, 0, 0, 0);
    }

    /// Has the list asked about a frame.
    fn ask(&mut self, run: &Run<'_, Access>, slot: usize, header: &[u8]) -> Asking {
        let (has_packets, vlan) = (run.row.carries_packets(), run.row.outer_vlan());
        let question = match has_packets {
            true => Question::about_packet(header),
            false => Question::about_any(header, vlan),
        };
        let more = || match has_packets {
            true => more::of_packet(header),
            false => more::of_frame(header, vlan, run.row.inner_vlan()),
        };
        let is_wide = run.setting.list().wide.is_some();
        match question {
            Question::Ip4(fields) if is_wide => self.wide.0.ask(slot, Key::wide(&fields, &more())),
            Question::Ip6(fields) if is_wide => self.wide.1.ask(slot, Key::wide(&fields, &more())),
            Question::Ip4(fields) => self.ip4.ask(slot, Key::new(&fields)),
            Question::Ip6(fields) => self.ip6.ask(slot, Key::new(&fields)),
            Question::NotIp => {}
            Question::Unreadable => return Asking::Unreadable,
        }
        Asking::Done
    }
}

/// Whether a list could be asked about a frame.
#[derive(PartialEq, Eq)]
enum Asking {
    Done,
    Unreadable,
}
