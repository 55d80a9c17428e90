//! Two devices, or two builds of one, held against each other in interleaved blocks.
//!
//! ```text
//! null    A A' A' A │ A' A A A' │ …   the same twice: what this host makes of no difference
//! real    A B  B  A │ B  A A B  │ …   what is believed must be larger than that
//! ```
//! The device is started anew for each letter: a restart lands on other memory, and what differs
//! only by that is no difference. A letter's value is the median rate received at the largest load,
//! or by TCP where the scenario has streams. A device that lost next to nothing of that load may do
//! more: then what a packet costs is compared, where both tell; else a ratio is a bound, and
//! between two such devices it says nothing.
//!
//! Two letters that follow each other are a pair. Where both devices rest while they have nothing
//! to do, and their links have no names in the kernel, a pair runs side by side, and what a packet
//! costs is measured in turn, some milliseconds each: the host's pace is no part of their ratio.

use std::collections::BTreeMap;
use std::time::Instant;

use lab_record::{ComparedCost, ComparisonRecord, Recorder, StreamRecord, Subject, Trial};
use lab_search::search::max_rate::SATURATED;
use lab_search::stats::blocks::{Block, Side, order, steady};
use lab_search::stats::paired::{Null, compare};
use lab_search::stats::summary::median;

use crate::Error;
use crate::campaign::{Campaign, Ceilings, Progress};
use crate::load::frames::Load;
use crate::scenario::Case;
use crate::trial::cost::{self, Cost};
use crate::trial::in_turn;
use crate::trial::rig::{Bench, Rig, Wish};

/// Trials of one start.
const TRIALS: usize = 3;

/// Where a comparison is.
struct Versus<'a> {
    campaign: &'a Campaign<'a>,
    ceilings: Ceilings,
    recorder: &'a mut Recorder,
    began: Instant,
    done: usize,
    all: usize,
    trials: u32,
    /// Starts of each device in this case: those that did not bring it to its limit, and those that
    /// did.
    starts: BTreeMap<String, [usize; 2]>,
}

impl Campaign<'_> {
    /// Compares `other` with `base`, case by case, in that many blocks after as many of the null.
    pub fn compare(
        &self,
        recorder: &mut Recorder,
        base: &str,
        other: &str,
        blocks: usize,
    ) -> Result<Vec<ComparisonRecord>, Error> {
        let cases = self.cases();
        let all = cases.len() * 2 * blocks * 4;
        let mut versus = Versus {
            campaign: self,
            ceilings: Ceilings::default(),
            recorder,
            began: Instant::now(),
            done: 0,
            all,
            trials: 0,
            starts: BTreeMap::new(),
        };
        let mut found = Vec::new();
        for (wish, case) in &cases {
            versus.starts.clear();
            let null = versus.blocks(base, base, wish, case, blocks)?;
            let real = versus.blocks(base, other, wish, case, blocks)?;
            let unexhausted = versus.unexhausted();
            let by_cost = !unexhausted.is_empty() && null.tells_costs() && real.tells_costs();
            let (null, ratios) = match by_cost {
                true => (Null::of(&steady(&null.costs))?, steady(&real.costs)),
                false => (Null::of(&steady(&null.rates))?, steady(&real.rates)),
            };
            let subject = Subject {
                function: case.function.name().to_owned(),
                axes: case.axes.clone(),
                ..Subject::default()
            };
            let record = ComparisonRecord {
                base: base.to_owned(),
                other: other.to_owned(),
                case: subject.case(),
                comparison: compare(&ratios, Some(&null))?,
                unexhausted,
                cost: by_cost.then(|| real.compared()),
            };
            versus.recorder.write(record.clone())?;
            found.push(record);
        }
        Ok(found)
    }
}

/// What is measured in a block.
struct What<'w> {
    wish: &'w Wish,
    case: &'w Case,
    load: &'w Load,
    run: u32,
    blocks: usize,
    ceiling_pps: f64,
}

/// What one start showed.
#[derive(Debug, Clone, Copy)]
struct Start {
    /// The median rate of its trials.
    rate: f64,
    /// Cycles a packet, and packets of a vector, where the device tells.
    cost: Option<(f64, f64)>,
}

/// A start of the base and one of the other.
#[derive(Debug, Clone, Copy)]
struct Pair {
    base: Start,
    other: Start,
    /// Logarithm of the other's cycles a packet over the base's, where they were measured in turn.
    in_turn: Option<f64>,
}

/// Log-ratios of blocks, the other over the base.
#[derive(Default)]
struct Blocks {
    rates: Vec<Block>,
    /// Of packets a cycle, of the blocks whose starts all told; more is faster, as with rates.
    costs: Vec<Block>,
    /// Costs of all starts, of the base and of the other.
    starts: [Vec<(f64, f64)>; 2],
}

impl Blocks {
    fn add(&mut self, pairs: [Pair; 2]) {
        let (base, other) = (pairs.map(|it| it.base), pairs.map(|it| it.other));
        self.rates.push(Block::of(base.map(|it| it.rate), other.map(|it| it.rate)));
        let costs = |starts: [Start; 2]| Some([starts[0].cost?, starts[1].cost?]);
        let (Some(base), Some(other)) = (costs(base), costs(other)) else { return };
        self.costs.push(match pairs.map(|it| it.in_turn) {
            // Other over base in cycles is base over other in packets a cycle.
            [Some(one), Some(next)] => Block::of_ratios([-one, -next]),
            _ => Block::of(other.map(|it| it.0), base.map(|it| it.0)),
        });
        self.starts[0].extend(base);
        self.starts[1].extend(other);
    }

    /// Whether every start told what a packet costs it.
    fn tells_costs(&self) -> bool {
        self.costs.len() == self.rates.len()
    }

    fn compared(&self) -> ComparedCost {
        let of = |part: fn(&(f64, f64)) -> f64| {
            self.starts.each_ref().map(|it| median(&it.iter().map(part).collect::<Vec<_>>()))
        };
        ComparedCost { cycles: of(|it| it.0), vector_packets: of(|it| it.1) }
    }
}

impl Versus<'_> {
    /// The log-ratios of each block.
    fn blocks(
        &mut self,
        base: &str,
        other: &str,
        wish: &Wish,
        case: &Case,
        blocks: usize,
    ) -> Result<Blocks, Error> {
        let load = self.campaign.load(case, wish)?;
        let ceiling_pps = match self.campaign.has_streams() {
            true => 0.0,
            false => self.ceilings.of(self.campaign, &load.sizes)?,
        };
        let mut ratios = Blocks::default();
        let order = order(blocks, self.campaign.scenario.campaign.seed);
        for (block, [one, _, next, _]) in order.into_iter().enumerate() {
            let what = What { wish, case, load: &load, run: block as u32, blocks, ceiling_pps };
            let mut pair = |first| self.pair([base, other], first, &what);
            ratios.add([pair(one)?, pair(next)?]);
        }
        Ok(ratios)
    }

    fn subject(&self, device: &str, case: &Case, run: u32) -> Subject {
        Subject {
            device: device.to_owned(),
            function: case.function.name().to_owned(),
            axes: case.axes.clone(),
            run,
        }
    }

    /// Devices that most starts did not bring to their limit.
    fn unexhausted(&self) -> Vec<String> {
        let most = self.starts.iter().filter(|(_, [below, at_limit])| below > at_limit);
        most.map(|(device, _)| device.clone()).collect()
    }

    /// A start of each, the one that is `first` before the other.
    fn pair(
        &mut self,
        [base, other]: [&str; 2],
        first: Side,
        what: &What<'_>,
    ) -> Result<Pair, Error> {
        let devices = if first == Side::A { [base, other] } else { [other, base] };
        let (starts, in_turn) =
            match self.campaign.bench.bears_both(devices)? && !self.campaign.has_streams() {
                true => self.side_by_side(devices, what)?,
                false => ([self.start(devices[0], what)?, self.start(devices[1], what)?], None),
            };
        let [one, next] = starts;
        Ok(match first {
            Side::A => Pair { base: one, other: next, in_turn },
            Side::B => Pair { base: next, other: one, in_turn: in_turn.map(|ratio| -ratio) },
        })
    }

    /// One start, by its trials.
    fn start(&mut self, device: &str, what: &What<'_>) -> Result<Start, Error> {
        self.began(device);
        if self.campaign.has_streams() {
            return Ok(Start { rate: self.bps(device, what)?, cost: None });
        }
        let mut rig = self.ready(self.campaign.bench, device, what)?;
        let rate = self.rate(&mut rig, device, what)?;
        let scenario = self.campaign.scenario;
        let both = scenario.traffic.both_directions;
        let cost = cost::measure(&mut rig, what.load, both, scenario.measure.trial_s)?;
        Ok(Start { rate, cost: cost.map(|cost| self.told(cost, device, what)).transpose()? })
    }

    /// Two starts at a time, and how much more a packet costs the second, as a logarithm.
    fn side_by_side(
        &mut self,
        devices: [&str; 2],
        what: &What<'_>,
    ) -> Result<([Start; 2], Option<f64>), Error> {
        let bench = self.campaign.bench;
        let beside = bench.beside();
        self.began(devices[0]);
        let one = self.ready(bench, devices[0], what)?;
        self.began(devices[1]);
        let mut rigs = [one, self.ready(&beside, devices[1], what)?];
        let mut starts = [Start { rate: 0.0, cost: None }; 2];
        for side in 0..2 {
            starts[side].rate = self.rate(&mut rigs[side], devices[side], what)?;
        }
        let both = self.campaign.scenario.traffic.both_directions;
        let Some(found) = in_turn::measure(&mut rigs, what.load, both, what.blocks)? else {
            return Ok((starts, None));
        };
        for ((start, cost), device) in starts.iter_mut().zip(found.costs).zip(devices) {
            start.cost = Some(self.told(cost, device, what)?);
        }
        Ok((starts, Some(found.ratio)))
    }

    /// Tells whoever watches that a device is started.
    fn began(&mut self, device: &str) {
        let (done, all) = (self.done, self.all);
        (self.campaign.progress)(&Progress { done, all, what: device, left: None });
        self.done += 1;
    }

    /// A device that forwards.
    fn ready<'b>(
        &self,
        bench: &'b Bench<'b>,
        device: &str,
        what: &What<'_>,
    ) -> Result<Rig<'b>, Error> {
        let mut rig = Rig::start(bench, device, what.wish)?;
        rig.first_packet(what.load)?;
        rig.settle(what.load, self.campaign.scenario.traffic.both_directions)?;
        Ok(rig)
    }

    /// The median rate of a start's streams, in bits a second.
    fn bps(&mut self, device: &str, what: &What<'_>) -> Result<f64, Error> {
        let subject = self.subject(device, what.case, what.run);
        let at_s = self.began.elapsed().as_secs_f64();
        let mut rates = Vec::new();
        for record in self.campaign.stream_trials(&subject, (what.wish, what.case), TRIALS)? {
            rates.push(record.bps().max(1.0));
            self.recorder.write(StreamRecord { index: self.trials, at_s, ..record })?;
            self.trials += 1;
        }
        Ok(median(&rates))
    }

    /// The median rate of a start's trials, in packets a second.
    fn rate(&mut self, rig: &mut Rig<'_>, device: &str, what: &What<'_>) -> Result<f64, Error> {
        let scenario = self.campaign.scenario;
        let (mut rates, mut saturated) = (Vec::new(), 0);
        for _ in 0..TRIALS {
            let trial = Trial::new(what.ceiling_pps, scenario.measure.trial_s);
            let at_s = self.began.elapsed().as_secs_f64();
            let measured = rig.measure(what.load, trial, scenario.traffic.both_directions)?;
            saturated += usize::from(measured.outcome.device_loss_ratio() > SATURATED);
            // A trial that loses all would have no logarithm.
            rates.push(measured.traffic.received_pps().max(1.0));
            let subject = self.subject(device, what.case, what.run);
            let ceiling_pps = Some(what.ceiling_pps);
            let mut record = measured.record(subject, self.trials, "compare", at_s, ceiling_pps);
            (record.latency, record.lateness) = (None, None);
            self.trials += 1;
            self.recorder.write(record)?;
        }
        let exhausted = usize::from(2 * saturated > TRIALS);
        self.starts.entry(device.to_owned()).or_default()[exhausted] += 1;
        Ok(median(&rates))
    }

    /// Writes down what a packet cost a start, so that what was compared can be looked at.
    fn told(&mut self, cost: Cost, device: &str, what: &What<'_>) -> Result<(f64, f64), Error> {
        let told = (cost.least(), cost.vector_packets);
        self.recorder.write(cost.record(self.subject(device, what.case, what.run)))?;
        Ok(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_is_slower_and_costs_count_only_where_every_start_told() {
        let start = |cycles: Option<f64>| Start { rate: 1e6, cost: cycles.map(|it| (it, 250.0)) };
        let pair = |base, other| Pair { base: start(base), other: start(other), in_turn: None };
        let mut blocks = Blocks::default();
        blocks.add([pair(Some(100.0), Some(200.0)); 2]);
        assert!(blocks.tells_costs() && (blocks.costs[0].ratio - 0.5f64.ln()).abs() < 1e-12);
        assert_eq!(blocks.rates, [Block { ratio: 0.0, unrest: 0.0 }]);
        let told = ComparedCost { cycles: [100.0, 200.0], vector_packets: [250.0; 2] };
        assert_eq!(blocks.compared(), told);
        blocks.add([pair(Some(100.0), Some(200.0)), pair(Some(100.0), None)]);
        assert!(!blocks.tells_costs());
    }

    #[test]
    fn what_was_measured_in_turn_tells_the_ratio() {
        // The host went half as fast again from one start to the other.
        let start = |cycles| Start { rate: 1e6, cost: Some((cycles, 250.0)) };
        let pair =
            |more: f64| Pair { base: start(100.0), other: start(150.0), in_turn: Some(more.ln()) };
        let mut blocks = Blocks::default();
        blocks.add([pair(1.01), pair(1.03)]);
        let Block { ratio, unrest } = blocks.costs[0];
        assert!((ratio + (1.01f64 * 1.03).ln() / 2.0).abs() < 1e-12, "{ratio}");
        assert!((unrest - (1.03f64 / 1.01).ln()).abs() < 1e-12, "{unrest}");
    }
}
