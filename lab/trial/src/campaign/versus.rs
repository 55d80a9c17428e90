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
use crate::trial::cost;
use crate::trial::rig::{Rig, Wish};

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
    blocks: usize,
    trials: u32,
    /// Starts of each device in this case: those that did not bring it to its limit, and those that
    /// did.
    starts: BTreeMap<String, [usize; 2]>,
    /// What a packet cost each device in this case at least.
    least: BTreeMap<String, f64>,
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
            blocks,
            trials: 0,
            starts: BTreeMap::new(),
            least: BTreeMap::new(),
        };
        let mut found = Vec::new();
        for (wish, case) in &cases {
            versus.starts.clear();
            versus.least.clear();
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

/// What one start showed.
struct Start {
    /// The median rate of its trials.
    rate: f64,
    /// Cycles a packet, and packets of a vector, where the device tells.
    cost: Option<(f64, f64)>,
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
    fn add(&mut self, base: &[Start], other: &[Start]) {
        let both = |of: fn(&Start) -> f64, starts: &[Start]| [of(&starts[0]), of(&starts[1])];
        self.rates.push(Block::of(both(|it| it.rate, base), both(|it| it.rate, other)));
        let costs = |starts: &[Start]| starts.iter().map(|it| it.cost).collect::<Option<Vec<_>>>();
        if let (Some(base), Some(other)) = (costs(base), costs(other)) {
            // Other over base in cycles is base over other in packets a cycle.
            let cycles = |starts: &[(f64, f64)]| [starts[0].0, starts[1].0];
            self.costs.push(Block::of(cycles(&other), cycles(&base)));
            self.starts[0].extend(base);
            self.starts[1].extend(other);
        }
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
        for (block, sides) in order(blocks, self.campaign.scenario.campaign.seed).iter().enumerate()
        {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for side in sides {
                let (device, starts) = match side {
                    Side::A => (base, &mut a),
                    Side::B => (other, &mut b),
                };
                starts.push(self.start(device, (wish, case), &load, block as u32, ceiling_pps)?);
            }
            ratios.add(&a, &b);
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

    /// One start, and the median rate of its streams, in bits a second.
    fn bps(&mut self, device: &str, what: (&Wish, &Case), run: u32) -> Result<f64, Error> {
        let subject = self.subject(device, what.1, run);
        let at_s = self.began.elapsed().as_secs_f64();
        let mut rates = Vec::new();
        for record in self.campaign.stream_trials(&subject, what, TRIALS)? {
            rates.push(record.bps().max(1.0));
            self.recorder.write(StreamRecord { index: self.trials, at_s, ..record })?;
            self.trials += 1;
        }
        self.done += 1;
        Ok(median(&rates))
    }

    /// One start, by its trials.
    fn start(
        &mut self,
        device: &str,
        (wish, case): (&Wish, &Case),
        load: &Load,
        run: u32,
        ceiling_pps: f64,
    ) -> Result<Start, Error> {
        let campaign = self.campaign;
        let (done, all) = (self.done, self.all);
        (campaign.progress)(&Progress { done, all, what: device, left: None });
        if campaign.has_streams() {
            let rate = self.bps(device, (wish, case), run)?;
            return Ok(Start { rate, cost: None });
        }
        let mut rig = Rig::start(campaign.bench, device, wish)?;
        let both = campaign.scenario.traffic.both_directions;
        rig.first_packet(load)?;
        rig.settle(load, both)?;
        let (mut rates, mut saturated) = (Vec::new(), 0);
        for _ in 0..TRIALS {
            let trial = Trial::new(ceiling_pps, campaign.scenario.measure.trial_s);
            let at_s = self.began.elapsed().as_secs_f64();
            let measured = rig.measure(load, trial, both)?;
            saturated += usize::from(measured.outcome.device_loss_ratio() > SATURATED);
            // A trial that loses all would have no logarithm.
            rates.push(measured.traffic.received_pps().max(1.0));
            let subject = self.subject(device, case, run);
            let mut record =
                measured.record(subject, self.trials, "compare", at_s, Some(ceiling_pps));
            (record.latency, record.lateness) = (None, None);
            self.trials += 1;
            self.recorder.write(record)?;
        }
        let exhausted = usize::from(2 * saturated > TRIALS);
        self.starts.entry(device.to_owned()).or_default()[exhausted] += 1;
        self.done += 1;
        let least = self.least.get(device).copied();
        let found = cost::measure_compared(&mut rig, load, both, self.blocks, least)?;
        let cost = found.as_ref().map(|cost| (cost.least(), cost.vector_packets));
        if let Some((cycles, _)) = cost {
            let known = self.least.entry(device.to_owned()).or_insert(cycles);
            *known = known.min(cycles);
        }
        if let Some(found) = found {
            // Each start's own, so that what was compared can be looked at.
            self.recorder.write(found.record(self.subject(device, case, run)))?;
        }
        Ok(Start { rate: median(&rates), cost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_is_slower_and_costs_count_only_where_every_start_told() {
        let starts = |cycles: Option<f64>| {
            [1, 2].map(|_| Start { rate: 1e6, cost: cycles.map(|it| (it, 250.0)) })
        };
        let mut blocks = Blocks::default();
        blocks.add(&starts(Some(100.0)), &starts(Some(200.0)));
        assert!(blocks.tells_costs() && (blocks.costs[0].ratio - 0.5f64.ln()).abs() < 1e-12);
        assert_eq!(blocks.rates, [Block { ratio: 0.0, unrest: 0.0 }]);
        let told = ComparedCost { cycles: [100.0, 200.0], vector_packets: [250.0; 2] };
        assert_eq!(blocks.compared(), told);
        blocks.add(&starts(Some(100.0)), &starts(None));
        assert!(!blocks.tells_costs());
    }
}
