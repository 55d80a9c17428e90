//! Asks access lists about frames, those of one interface that follow each other at once.

mod plain;
mod tracked;

use crate::filter::{Access, AccessList, Question, more};
use crate::tables::{Run, Setup, Work};
use acl::{Action, CELLS4, CELLS6, Fields, Key, Verdict, WIDE4, WIDE6};
use graph::{Context, Exits};
use packet::{Frame, VECTOR};

graph::exits! {
    /// Why a frame goes no further.
    pub enum Refusal {
        /// The access list of the interface denies it.
        Denied => drop "`volley show acl` counts what each rule met; put a rule that permits it in \
            front of the one that denies it.",
        /// It says that it is IP, and its headers are cut short or wrong: no list can judge it.
        Unreadable => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// A rule with `reflect` fits, and there is room for no more connections, and none that
        /// could make room.
        NoConnection => drop "Raise `max` of `[connections]`, or look with `volley show \
            connections` who has so many.",
        /// A rule with `reflect` fits, and another worker was making a connection at that moment.
        Busy => drop "Nothing: whoever sent it will send it again.",
        /// A rule with `reflect` fits a frame with a VLAN's tag, of which no connection is kept.
        Tagged => drop "Give the list to the VLAN's own port, and have rules with `reflect` of \
            this one ask for `vlan = 0`.",
    }
}

/// What a worker asks lists with.
pub struct Judge {
    ip4: Asked<CELLS4>,
    ip6: Asked<CELLS6>,
    /// Of lists that ask for all that is known.
    wide: Box<(Asked<WIDE4>, Asked<WIDE6>)>,
}

/// Packets of one family that a list is asked about together.
struct Asked<const N: usize> {
    keys: [Key<N>; VECTOR],
    slots: [u8; VECTOR],
    count: usize,
    verdicts: [Verdict; VECTOR],
}

impl Work for Judge {
    type Setting = Access;
    type Exit = Refusal;

    fn new(_: &Setup) -> Self {
        let wide = Box::new((Asked::new(), Asked::new()));
        Self { ip4: Asked::new(), ip6: Asked::new(), wide }
    }

    /// Holds the frames to their interface's list, and counts what that decides.
    fn hold(
        &mut self,
        run: Run<'_, Access>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Refusal>,
        context: &mut Context<'_>,
    ) {
        if !run.setting.is_plain() {
            self.hold_more(&run, frame, exits, context);
            return;
        }
        let list = run.setting.list();
        (self.ip4.count, self.ip6.count) = (0, 0);
        let (has_packets, vlan) = (run.row.carries_packets(), run.row.outer_vlan());
        if !has_packets {
            let station = list.ip4.asks_stations().then_some(vlan.unwrap_or(0));
            plain::ask(&mut self.ip4, frame, run.slots.clone(), station);
        }
        if self.ip4.count < run.slots.len() {
            self.ask_others(&run, frame, exits);
        }
        self.ip4.answer(|keys, verdicts| list.ip4.classify(keys, verdicts));
        self.ip6.answer(|keys, verdicts| list.ip6.classify(keys, verdicts));
        let mut each = decided(list, frame, exits, context);
        self.ip4.answers().for_each(&mut each);
        self.ip6.answers().for_each(&mut each);
    }
}

/// Counts what a list decided of a frame, and drops what it denies.
fn decided(
    list: &AccessList,
    frame: &Frame,
    exits: &mut Exits<'_, Refusal>,
    context: &Context<'_>,
) -> impl FnMut((usize, Verdict)) {
    let (counters, lengths) = (list.counters.get(usize::from(context.worker)), frame.lengths());
    move |(slot, verdict): (usize, Verdict)| {
        if let Some(counters) = counters {
            counters.add(verdict, lengths[slot]);
        }
        if !verdict.is_permitted() {
            exits.set(slot, Refusal::Denied);
        }
    }
}

impl Judge {
    /// Asks about those frames that have not been asked about as plain ones.
    #[inline(never)]
    fn ask_others(
        &mut self,
        run: &Run<'_, Access>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Refusal>,
    ) {
        let (has_packets, vlan) = (run.row.carries_packets(), run.row.outer_vlan());
        let (plain, mut passed) = (self.ip4.count, 0);
        for slot in run.slots.clone() {
            if passed < plain && usize::from(self.ip4.slots[passed]) == slot {
                passed += 1;
                continue;
            }
            let packet = frame.view(slot);
            let question = match has_packets {
                true => Question::about_packet(packet.header()),
                false => Question::about_any(packet.header(), vlan),
            };
            match question {
                Question::Ip4(fields) => self.ip4.ask(slot, Key::new(&fields)),
                Question::Ip6(fields) => self.ip6.ask(slot, Key::new(&fields)),
                Question::NotIp => {}
                Question::Unreadable => exits.set(slot, Refusal::Unreadable),
            }
        }
    }

    /// Holds frames to a list that asks for more than nearly all do.
    #[cold]
    fn hold_more(
        &mut self,
        run: &Run<'_, Access>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Refusal>,
        context: &Context<'_>,
    ) {
        let list = run.setting.list();
        match run.setting.reflecting() {
            None if !list.reflects() => self.hold_wide(run, list, frame, exits, context),
            reflecting => {
                self.hold_tracked(run, reflecting.map(|it| &**it), frame, exits, context);
            }
        }
    }

    /// Holds frames to a list that asks for all that is known of them.
    fn hold_wide(
        &mut self,
        run: &Run<'_, Access>,
        list: &AccessList,
        frame: &mut Frame,
        exits: &mut Exits<'_, Refusal>,
        context: &Context<'_>,
    ) {
        let Some(wide) = &list.wide else { return };
        let (ip4, ip6) = &mut *self.wide;
        (ip4.count, ip6.count) = (0, 0);
        let (has_packets, vlan) = (run.row.carries_packets(), run.row.outer_vlan());
        let inner = run.row.inner_vlan();
        for slot in run.slots.clone() {
            let packet = frame.view(slot);
            let (question, more) = match has_packets {
                true => (Question::about_packet(packet.header()), more::of_packet(packet.header())),
                false => (
                    Question::about_any(packet.header(), vlan),
                    more::of_frame(packet.header(), vlan, inner),
                ),
            };
            match question {
                Question::Ip4(fields) => ip4.ask(slot, Key::wide(&fields, &more)),
                Question::Ip6(fields) => ip6.ask(slot, Key::wide(&fields, &more)),
                Question::NotIp => {}
                Question::Unreadable => exits.set(slot, Refusal::Unreadable),
            }
        }
        ip4.answer(|keys, verdicts| wide.ip4.classify(keys, verdicts));
        ip6.answer(|keys, verdicts| wide.ip6.classify(keys, verdicts));
        let mut each = decided(list, frame, exits, context);
        ip4.answers().for_each(&mut each);
        ip6.answers().for_each(&mut each);
    }
}

/// Asks lists about packets, from their IP headers on.
pub struct PacketJudge {
    wide: Box<(Asked<WIDE4>, Asked<WIDE6>)>,
    narrow: Box<(Asked<CELLS4>, Asked<CELLS6>)>,
    /// Packets that cannot be judged.
    unreadable: [u8; VECTOR],
    unread: usize,
}

impl PacketJudge {
    /// One for a worker.
    pub fn new() -> Self {
        let narrow = Box::new((Asked::new(), Asked::new()));
        let wide = Box::new((Asked::new(), Asked::new()));
        Self { wide, narrow, unreadable: [0; VECTOR], unread: 0 }
    }

    /// Asks a list about the packets in these slots, which came in by a VLAN or by none (0).
    pub fn ask(
        &mut self,
        list: &AccessList,
        frame: &mut Frame,
        slots: std::ops::Range<usize>,
        vlan: u16,
    ) {
        let (ip4, ip6) = &mut *self.narrow;
        let (wide4, wide6) = &mut *self.wide;
        (ip4.count, ip6.count, wide4.count, wide6.count) = (0, 0, 0, 0);
        self.unread = 0;
        for slot in slots {
            let packet = frame.view(slot);
            let question = Question::about_packet(packet.header());
            match (question, &list.wide) {
                (Question::Ip4(fields), None) => {
                    ip4.ask(slot, Key::new(&Fields { vlan, ..fields }));
                }
                (Question::Ip6(fields), None) => {
                    ip6.ask(slot, Key::new(&Fields { vlan, ..fields }));
                }
                (Question::Ip4(fields), Some(_)) => {
                    let more = more::of_packet(packet.header());
                    wide4.ask(slot, Key::wide(&Fields { vlan, ..fields }, &more));
                }
                (Question::Ip6(fields), Some(_)) => {
                    let more = more::of_packet(packet.header());
                    wide6.ask(slot, Key::wide(&Fields { vlan, ..fields }, &more));
                }
                (Question::NotIp | Question::Unreadable, _) => {
                    self.unreadable[self.unread % VECTOR] = slot as u8;
                    self.unread += 1;
                }
            }
        }
        ip4.answer(|keys, verdicts| list.ip4.classify(keys, verdicts));
        ip6.answer(|keys, verdicts| list.ip6.classify(keys, verdicts));
        if let Some(list) = &list.wide {
            wide4.answer(|keys, verdicts| list.ip4.classify(keys, verdicts));
            wide6.answer(|keys, verdicts| list.ip6.classify(keys, verdicts));
        }
    }

    /// Each packet's slot, and what the list says; nothing of what it cannot judge.
    pub fn answers(&self) -> impl Iterator<Item = (usize, Option<Verdict>)> {
        let unreadable = self.unreadable[..self.unread].iter();
        let judged = self.narrow.0.answers().chain(self.narrow.1.answers());
        let judged = judged.chain(self.wide.0.answers()).chain(self.wide.1.answers());
        judged
            .map(|(slot, verdict)| (slot, Some(verdict)))
            .chain(unreadable.map(|slot| (usize::from(*slot), None)))
    }
}

impl Default for PacketJudge {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Asked<N> {
    fn new() -> Self {
        Self {
            keys: [Key::default(); VECTOR],
            slots: [0; VECTOR],
            count: 0,
            verdicts: [Verdict::none(Action::Permit); VECTOR],
        }
    }

    fn ask(&mut self, slot: usize, key: Key<N>) {
        self.put(slot, key, true);
    }

    /// Asks about a packet, or not, without a branch.
    #[inline(always)]
    fn put(&mut self, slot: usize, key: Key<N>, is_asked: bool) {
        self.keys[self.count % VECTOR] = key;
        self.slots[self.count % VECTOR] = slot as u8;
        self.count += usize::from(is_asked);
    }

    fn answer(&mut self, classify: impl FnOnce(&[Key<N>], &mut [Verdict])) {
        classify(&self.keys[..self.count], &mut self.verdicts[..self.count]);
    }

    /// Each packet's slot, and what becomes of it.
    fn answers(&self) -> impl Iterator<Item = (usize, Verdict)> {
        let verdicts = self.verdicts[..self.count].iter().copied();
        self.slots.iter().map(|slot| usize::from(*slot)).zip(verdicts)
    }
}
