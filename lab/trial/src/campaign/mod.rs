//! A scenario measured on several devices, written down as it goes.
//!
//! ```text
//! restart 1: function ─ device a: start ─ sizes: search, latency ─ stop │ device b … │ …
//! restart 2: the same, the devices in another order: what drifts on the host meets all of them
//! ```
//! When the time is up what was measured stands; so it does after Ctrl-C, a device that dies or a
//! disk that is full.

mod budget;
mod ceilings;
mod earlier;
mod files;
mod shares;
mod streams;
pub mod versus;

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use budget::Known;
pub(crate) use ceilings::Ceilings;
use ceilings::mean_bytes;
use earlier::Earlier;
use lab_record::axes::{Entries, Flows, FrameBytes, LoadPercent, Workers};
use lab_record::{
    AnswerRecord, CeilingRecord, DeviceFacts, Directions, DoneRecord, FailureRecord,
    QuantityRecord, Recorder, Results, Subject,
};
use lab_search::search::ref_ndr::Ends;
use lab_search::search::{Manner, Quantity, Resumed, Terms};
use lab_search::stats::verdict;
use lab_traffic::arrivals::Imix;
use shares::Of;

use crate::dut::settings::Settings;
use crate::link::LinkKind;
use crate::load::frames::Load;
use crate::scenario::{Case, Scenario};
use crate::trial::rig::{Bench, Measured, Rig, Wish};
use crate::trial::self_test;
use crate::trial::stand::RigStand;
use crate::watch::memory::MemoryWatch;
use crate::watch::{modelled, probe};
use crate::{Error, dut};

/// What is to be measured.
pub struct Campaign<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Names of the devices.
    pub devices: &'a [String],
    /// Where they run.
    pub bench: &'a Bench<'a>,
    /// Restarts of each device.
    pub restarts: u32,
    /// Time for all of it.
    pub limit: Option<Duration>,
    /// Time that is spent, after a first start of everything, where intervals are widest.
    pub budget: Option<Duration>,
    /// Stalls of the host in a second that searches should live with.
    pub stalls_per_s: f64,
    /// What the results folder has already.
    pub earlier: &'a Results,
    /// What the NDR of a case was, where it is verified.
    pub reference: &'a dyn Fn(&Subject) -> Option<Ends>,
    /// Told how far it is.
    pub progress: &'a dyn Fn(&Progress<'_>),
}

/// How far a campaign is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Searches that are over.
    pub done: usize,
    /// All of them.
    pub all: usize,
    /// What is being measured.
    pub what: &'a str,
    /// Time left, where it is limited.
    pub left: Option<Duration>,
}

/// Cases that one start of a device serves.
struct Group {
    wish: Wish,
    cases: Vec<Case>,
}

struct Running<'a> {
    campaign: &'a Campaign<'a>,
    recorder: &'a mut Recorder,
    began: Instant,
    ceilings: Ceilings,
    /// Searches that are over, and all.
    done: usize,
    all: usize,
    trials: u32,
    earlier: Earlier<'a>,
    known: Known,
    stream_ceilings: streams::Ceilings,
    /// Streams that a device has refused, each with the number of the first start.
    refused: Vec<Subject>,
}

impl Campaign<'_> {
    /// Measures; an error only where nothing more can be written down or somebody stopped it.
    pub fn run(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let groups = self.groups();
        let cases: usize = groups.iter().map(|group| group.cases.len()).sum();
        let earlier = Earlier(self.earlier);
        let now = Instant::now();
        let elapsed = Duration::try_from_secs_f64(self.earlier.elapsed_s()).unwrap_or_default();
        let mut running = Running {
            campaign: self,
            recorder,
            // It began when its first part did.
            began: now.checked_sub(elapsed).unwrap_or(now),
            ceilings: Ceilings::of_earlier(self.earlier),
            done: 0,
            all: cases * self.devices.len() * self.first_restarts() as usize,
            trials: earlier.next_trial(),
            earlier,
            known: Known::of(self.earlier),
            stream_ceilings: streams::Ceilings::default(),
            refused: Vec::new(),
        };
        if !self.has_streams() {
            running.test_ourselves(&groups)?;
        }
        if let Some(budget) = self.budget {
            return running.spend(&groups, budget);
        }
        for run in 0..self.restarts {
            for group in &groups {
                for turn in 0..self.devices.len() {
                    let at = (turn + run as usize) % self.devices.len();
                    if running.is_over(run) {
                        return Ok(());
                    }
                    running.device(&self.devices[at], group, run)?;
                }
            }
        }
        // The last one is over, too.
        running.tell("the report");
        Ok(())
    }

    /// Starts of everything that are made in any case.
    fn first_restarts(&self) -> u32 {
        if self.budget.is_some() { 1 } else { self.restarts }
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for case in self.scenario.cases() {
            let wish = Wish {
                function: case.function.clone(),
                entries: case.get::<Entries>().or(case.function.entries).unwrap_or(1),
                workers: case.get::<Workers>().unwrap_or(1),
                settings: Settings::of(&case),
                max_frame_bytes: self
                    .sizes(&case)
                    .map_or(1_518, |sizes| sizes.sequence().iter().copied().max().unwrap_or(1_518))
                    + case.function.kind.overhead_bytes(),
            };
            let same = |group: &&mut Group| {
                let wide = Wish { max_frame_bytes: group.wish.max_frame_bytes, ..wish.clone() };
                group.wish == wide
            };
            match groups.iter_mut().rev().find(same) {
                Some(group) => {
                    let max = group.wish.max_frame_bytes.max(wish.max_frame_bytes);
                    group.wish.max_frame_bytes = max;
                    group.cases.push(case);
                }
                None => groups.push(Group { wish, cases: vec![case] }),
            }
        }
        groups
    }

    fn sizes(&self, case: &Case) -> Result<Imix, Error> {
        let traffic = &self.scenario.traffic;
        match (&traffic.imix, case.get::<FrameBytes>()) {
            (_, Some(bytes)) => Ok(Imix::single(bytes as u16)),
            (Some(genome), None) => Imix::parse(genome.get_ref(), 1_518),
            (None, None) => Ok(Imix::single(*traffic.frame_bytes.get_ref())),
        }
    }

    /// Each case, with what its device is started with.
    pub(crate) fn cases(&self) -> Vec<(Wish, Case)> {
        let groups = self.groups().into_iter();
        let of = |group: Group| {
            group.cases.into_iter().map(move |case| (group.wish.clone(), case)).collect::<Vec<_>>()
        };
        groups.flat_map(of).collect()
    }

    /// The most that the lab itself can do with frames of these sizes on this link. To be asked
    /// while no device runs.
    fn ceiling_pps(&self, sizes: &Imix) -> Result<f64, Error> {
        let Bench { clock, ports, link, .. } = *self.bench;
        if let Some(cards) = &self.bench.cards {
            return Ok(cards.line_rate_pps(mean_bytes(sizes)));
        }
        if let Some(bed) = self.bench.bed {
            return Ok(bed.line_rate_pps(mean_bytes(sizes)));
        }
        let folder = self.bench.folder.with_extension("self-test");
        // Of short trials nobody waits for long ones of the lab.
        let round_s = self.scenario.measure.trial_s.min(self_test::ROUND_S);
        let of = (link, mean_bytes(sizes));
        let test = self_test::best_known(clock, ports, of, round_s, &folder);
        let _ = std::fs::remove_dir_all(&folder);
        Ok(test?.ceiling_pps)
    }

    pub(crate) fn load(&self, case: &Case, wish: &Wish) -> Result<Load, Error> {
        let traffic = &self.scenario.traffic;
        let load = Load::new(case.function.kind, case.ethertype, traffic, self.sizes(case)?);
        let flows = case.get::<Flows>().unwrap_or(*traffic.flows.get_ref());
        let seed = self.scenario.campaign.seed;
        Ok(Load { entries: wish.entries, flows, seed, ..load })
    }
}

impl Running<'_> {
    /// Whether the time is up; the first restart is always carried out.
    fn is_over(&self, run: u32) -> bool {
        run > 0 && self.campaign.limit.is_some_and(|limit| self.began.elapsed() >= limit)
    }

    /// Everything once, then what is known least as long as there is time.
    fn spend(&mut self, groups: &[Group], budget: Duration) -> Result<(), Error> {
        let devices = self.campaign.devices;
        let pairs = || {
            groups
                .iter()
                .enumerate()
                .flat_map(|(at, group)| devices.iter().map(move |device| (at, group, device)))
        };
        // How long a start of each took, and which is next.
        let (mut took, mut next): (BTreeMap<_, Duration>, BTreeMap<_, u32>) = Default::default();
        for (at, group, device) in pairs() {
            let began = Instant::now();
            self.device(device, group, 0)?;
            took.insert((at, device), began.elapsed());
        }
        loop {
            let left = budget.saturating_sub(self.began.elapsed());
            let fits = pairs().filter(|&(at, _, device)| took[&(at, device)] <= left);
            let wanted = fits.filter_map(|(at, group, device)| {
                let cases = group.cases.iter().map(|case| self.subject(device, case, 0));
                Some((self.known.want(cases.collect::<Vec<_>>().iter())?, (at, group, device)))
            });
            let least = wanted.min_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
            let Some((_, (at, group, device))) = least else { return Ok(()) };
            let run = next.entry((at, device)).or_insert(0);
            *run += 1;
            let (run, began, before) = (*run, Instant::now(), self.done);
            self.all += group.cases.len();
            self.device(device, group, run)?;
            // What was in the folder already took no time, and tells nothing of the next one's.
            if self.done > before && !self.was_over(device, group, run) {
                took.insert((at, device), began.elapsed());
            }
        }
    }

    /// Whether a start was in the folder already.
    fn was_over(&self, name: &str, group: &Group, run: u32) -> bool {
        group.cases.iter().all(|case| self.earlier.is_over(&self.subject(name, case, run)))
    }

    /// Whether somebody wants it to end. Ctrl-C in a terminal reaches the devices, too: that they
    /// died is no news then.
    fn is_stopped(&self) -> bool {
        !(self.campaign.bench.go_on)()
    }

    /// Until when a search may take: its share of what is left.
    fn deadline(&self) -> Option<Instant> {
        let limit = self.campaign.limit?;
        let left = limit.saturating_sub(self.began.elapsed());
        let searches = (self.all - self.done).max(1) as u32;
        Some(Instant::now() + left / searches)
    }

    fn subject(&self, device: &str, case: &Case, run: u32) -> Subject {
        Subject {
            device: device.to_owned(),
            function: case.function.name().to_owned(),
            axes: case.axes.clone(),
            run,
        }
    }

    /// Everything of a group on one device. What goes wrong there is written down.
    fn device(&mut self, name: &str, group: &Group, run: u32) -> Result<(), Error> {
        // Where the time was up before anything was measured nobody has looked yet.
        if self.is_stopped() {
            return Err(Error::Stopped);
        }
        let subjects = group.cases.iter().map(|case| self.subject(name, case, run));
        if subjects.collect::<Vec<_>>().iter().all(|subject| self.earlier.is_over(subject)) {
            self.done += group.cases.len();
            return Ok(());
        }
        let before = self.done;
        let outcome = self.try_device(name, group, run);
        let missing = group.cases.len() - (self.done - before);
        self.done += missing;
        let Err(error) = outcome else { return Ok(()) };
        if matches!(error, Error::Stopped | Error::File { .. }) {
            return Err(error);
        }
        if self.is_stopped() {
            return Err(Error::Stopped);
        }
        let refused = matches!(error, Error::Refused { .. });
        // What a device cannot do it cannot do at the next restart either.
        if refused && run > 0 {
            return Ok(());
        }
        let reason = self.reason(name, &error)?;
        for case in &group.cases[group.cases.len() - missing..] {
            let subject = self.subject(name, case, run);
            if self.earlier.is_over(&subject) {
                continue;
            }
            let reason = reason.clone();
            self.recorder.write(FailureRecord { subject, refused, reason })?;
        }
        Ok(())
    }

    /// Why something went wrong on a device, for a record; a console is kept whole beside it.
    fn reason(&self, name: &str, error: &Error) -> Result<String, Error> {
        let Error::Boot { console, .. } = error else { return Ok(error.to_string()) };
        let file = self.recorder.keep(&format!("guest-{}", name.replace('/', "_")), console)?;
        Ok(format!("{error}, and is whole in {file}"))
    }

    /// Notes that a case is over.
    fn finished(&mut self, subject: Subject) -> Result<(), Error> {
        self.done += 1;
        self.known.finished(&subject);
        self.recorder.write(DoneRecord { subject })
    }

    /// Whether a device was told of already, with one of these cases.
    fn is_told(&self, name: &str, group: &Group, run: u32) -> bool {
        let begun = |case| self.earlier.has_begun(&self.subject(name, case, run));
        group.cases.iter().any(begun)
    }

    fn try_device(&mut self, name: &str, group: &Group, run: u32) -> Result<(), Error> {
        self.tell(&format!("{name}: starting"));
        self.probe()?;
        if self.campaign.has_streams() {
            return self.streams(name, group, run);
        }
        if self.campaign.bench.link == LinkKind::Pcap {
            return self.files(name, group, run);
        }
        let mut rig = Rig::start(self.campaign.bench, name, &group.wish)?;
        let mut told = self.is_told(name, group, run);
        for case in &group.cases {
            let subject = self.subject(name, case, run);
            if self.earlier.is_over(&subject) {
                self.done += 1;
                continue;
            }
            let load = self.campaign.load(case, &group.wish)?;
            rig.first_packet(&load)?;
            if !told {
                told = true;
                if run == 0 {
                    self.recorder.write(DeviceFacts { name: name.to_owned(), ..rig.facts() })?;
                }
            }
            self.tell(&format!("{name}: {}", subject.case()));
            match self.campaign.scenario.measure.manner() {
                Manner::Checks => self.check(&mut rig, &load, subject.clone())?,
                Manner::Loads | Manner::Streams => self.case(&mut rig, &load, subject.clone())?,
            }
            self.finished(subject)?;
        }
        drop(rig);
        match group.cases.first() {
            Some(case) if run == 0 => self.model(name, case, &group.wish),
            _ => Ok(()),
        }
    }

    /// Counts what a packet of a case costs under valgrind, where telemetry is wanted and the
    /// processor tells nothing. What goes wrong there is written down, and spoils nothing else.
    fn model(&mut self, name: &str, case: &Case, wish: &Wish) -> Result<(), Error> {
        let scenario = self.campaign.scenario;
        // Another host's valgrind is out of reach.
        if self.campaign.bench.bed.is_some() {
            return Ok(());
        }
        if !scenario.measure.telemetry || !modelled::is_wanted(&*dut::named(name)?) {
            return Ok(());
        }
        let subject = self.subject(name, case, 0);
        if self.earlier.has_model(&subject) {
            return Ok(());
        }
        if self.campaign.limit.is_some_and(|limit| self.began.elapsed() >= limit) {
            let error = Error::TimeUp { search: "what a packet costs under valgrind" };
            let (refused, reason) = (false, error.to_string());
            return self.recorder.write(FailureRecord { subject, refused, reason });
        }
        self.tell(&format!("{name}: under valgrind"));
        let load = self.campaign.load(case, wish)?;
        let both = scenario.traffic.both_directions;
        match modelled::run(self.campaign.bench, name, wish, &load, subject.clone(), both) {
            Ok(record) => self.recorder.write(record),
            Err(_) if self.is_stopped() => Err(Error::Stopped),
            Err(error) => {
                let refused = matches!(error, Error::Refused { .. });
                let reason = format!("under valgrind: {error}");
                self.recorder.write(FailureRecord { subject, refused, reason })
            }
        }
    }

    /// Looks what the devices' core loses while nobody has it.
    fn probe(&mut self) -> Result<(), Error> {
        let bench = self.campaign.bench;
        let core = probe::first(&bench.cores);
        let away = probe::watch_core(bench.clock, core, probe::AGAIN_NS);
        let at_s = Some(self.began.elapsed().as_secs_f64());
        self.recorder.write(probe::record("device", core, at_s, probe::AGAIN_NS, &away))
    }

    fn tell(&self, what: &str) {
        let left = self.campaign.limit.map(|limit| limit.saturating_sub(self.began.elapsed()));
        let (done, all) = (self.done, self.all);
        (self.campaign.progress)(&Progress { done, all, what, left });
    }

    /// Looks whether a running device does what its function says.
    fn check(&mut self, rig: &mut Rig<'_>, load: &Load, subject: Subject) -> Result<(), Error> {
        rig.settle(load, true)?;
        let at_s = self.began.elapsed().as_secs_f64();
        let trial_s = self.campaign.scenario.measure.trial_s;
        let check = rig.check(load, trial_s, subject, at_s)?;
        self.recorder.write(check)
    }

    /// One search on a running device, and latencies at shares of what it found.
    fn case(&mut self, rig: &mut Rig<'_>, load: &Load, subject: Subject) -> Result<(), Error> {
        let (scenario, deadline) = (self.campaign.scenario, self.deadline());
        let both = scenario.traffic.both_directions;
        let directions = if both { 2.0 } else { 1.0 };
        // The lab's core is shared by both directions; a wire carries each by itself.
        let wires = self.campaign.bench.cards.is_some() || self.campaign.bench.bed.is_some();
        let sharing = if wires { 1.0 } else { directions };
        let ceiling_pps = self.ceilings.of(self.campaign, &load.sizes)? / sharing;
        let whole_pps = ceiling_pps * directions;
        rig.settle(load, both)?;
        rig.live_change = None;
        let measure = &scenario.measure;
        let purpose = measure.search.purpose();
        let load_share = self.load_share(&subject);
        let most_pps = Cell::new(0.0_f64);
        let mut write = |measured: Measured, began: Instant| {
            let (at_s, outcome) = ((began - self.began).as_secs_f64(), measured.outcome);
            most_pps.set(most_pps.get().max(shares::came_through(&outcome)));
            let mut record =
                measured.record(subject.clone(), self.trials, &purpose, at_s, Some(whole_pps));
            // Latencies under a load that is searched for are of no load in particular.
            if !outcome.trial.timed {
                (record.latency, record.lateness) = (None, None);
            }
            self.trials += 1;
            self.recorder.write(record)?;
            Ok(outcome)
        };
        let write = &mut write;
        let mut memory = MemoryWatch::begin(&rig.place);
        let watch = &mut memory;
        let mut stand = RigStand { rig, load, both, deadline, write, memory: watch, added: None };
        let terms = measure.terms(ceiling_pps, self.campaign.stalls_per_s);
        let reference = (self.campaign.reference)(&subject);
        let terms = Terms { load_share, reference, ..terms };
        let earlier = self.earlier.trials(&subject, &purpose);
        let mut resumed = Resumed { stand: &mut stand, earlier };
        let found = match measure.search.carry_out(&terms, &mut resumed) {
            Err(error @ (Error::TimeUp { .. } | Error::NoLowerBound { .. })) => {
                let of = (most_pps.get(), ceiling_pps);
                self.without_bounds(rig, load, &subject, of)?;
                if measure.telemetry {
                    self.cost(rig, load, &subject)?;
                }
                return Err(error);
            }
            found => found?,
        };
        if let Some(record) = memory.end(&rig.place, subject.clone()) {
            self.recorder.write(record)?;
        }
        let counted = if measure.search.of_both_directions { directions } else { 1.0 };
        let finds_rates = !found.rates.is_empty();
        let carried_pps =
            found.rates.iter().map(|found| found.low_pps / counted).fold(f64::INFINITY, f64::min);
        for mut found in found.rates {
            if self.earlier.has_answer(&subject, &found.metric) {
                continue;
            }
            found.verdicts.extend(verdict::generator_bound(found.low_pps / counted, ceiling_pps));
            let directions = Some(Directions::of(both, measure.search.of_both_directions));
            let answer = found.answer(subject.clone());
            self.known.answer(&answer);
            self.recorder.write(AnswerRecord { directions, ..answer })?;
        }
        self.quantities(&subject, found.quantities)?;
        if finds_rates {
            self.cost(rig, load, &subject)?;
        }
        match finds_rates {
            true if carried_pps < 1.0 => {
                self.without_bounds(rig, load, &subject, (most_pps.get(), ceiling_pps))
            }
            true => self.at_shares(rig, load, &subject, Of::Carried(carried_pps), whole_pps),
            false => Ok(()),
        }
    }

    fn quantities(&mut self, subject: &Subject, found: Vec<Quantity>) -> Result<(), Error> {
        for Quantity { metric, unit, values, note } in found {
            if self.earlier.has_answer(subject, metric) {
                continue;
            }
            let (subject, metric) = (subject.clone(), metric.to_owned());
            let record = QuantityRecord { subject, metric, unit, values, note };
            self.known.quantity(&record);
            self.recorder.write(record)?;
        }
        Ok(())
    }

    /// Share of its throughput that a case of a load sweep is measured at.
    fn load_share(&self, subject: &Subject) -> f64 {
        subject.get::<LoadPercent>().map_or(1.0, |percent| percent as f64 / 100.0)
    }

    /// Finds out what the lab itself can do with frames of each size.
    fn test_ourselves(&mut self, groups: &[Group]) -> Result<(), Error> {
        // What is checked is not timed.
        if self.campaign.scenario.measure.manner() == Manner::Checks {
            return Ok(());
        }
        for case in groups.iter().flat_map(|group| &group.cases) {
            let sizes = self.campaign.sizes(case)?;
            if self.ceilings.find(&sizes).is_none() {
                let frame_bytes = mean_bytes(&sizes);
                self.tell(&format!("the lab itself with {frame_bytes} octets"));
                let pps = self.ceilings.of(self.campaign, &sizes)?;
                self.recorder.write(CeilingRecord { frame_bytes, pps })?;
            }
        }
        Ok(())
    }
}
