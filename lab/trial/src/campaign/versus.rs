//! Two devices, or two builds of one, held against each other in interleaved blocks.
//!
//! ```text
//! null    A A' A' A │ A' A A A' │ …   the same twice: what this host makes of no difference
//! real    A B  B  A │ B  A A B  │ …   what is believed must be larger than that
//! ```
//! The device is started anew for each letter: a restart lands on other memory, and what differs
//! only by that is no difference. A letter's value is the median rate received at the largest load,
//! or by TCP where the scenario has streams. A device that lost next to nothing of that load may do
//! more: a ratio is then a bound, and between two such devices it says nothing.

use std::collections::BTreeMap;
use std::time::Instant;

use lab_record::{ComparisonRecord, Recorder, StreamRecord, Subject, Trial};
use lab_search::search::max_rate::SATURATED;
use lab_search::stats::blocks::{Side, log_ratio, order};
use lab_search::stats::paired::{Null, compare};
use lab_search::stats::summary::median;

use crate::Error;
use crate::campaign::{Campaign, Ceilings, Progress};
use crate::load::frames::Load;
use crate::scenario::Case;
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
            let null = Null::of(&versus.blocks(base, base, wish, case, blocks)?)?;
            let ratios = versus.blocks(base, other, wish, case, blocks)?;
            let seed = self.scenario.campaign.seed;
            let subject = Subject {
                function: case.function.name().to_owned(),
                axes: case.axes.clone(),
                ..Subject::default()
            };
            let record = ComparisonRecord {
                base: base.to_owned(),
                other: other.to_owned(),
                case: subject.case(),
                comparison: compare(&ratios, Some(&null), seed)?,
                unexhausted: versus.unexhausted(),
            };
            versus.recorder.write(record.clone())?;
            found.push(record);
        }
        Ok(found)
    }
}

impl Versus<'_> {
    /// The log-ratio of each block.
    fn blocks(
        &mut self,
        base: &str,
        other: &str,
        wish: &Wish,
        case: &Case,
        blocks: usize,
    ) -> Result<Vec<f64>, Error> {
        let load = self.campaign.load(case, wish)?;
        let ceiling_pps = match self.campaign.has_streams() {
            true => 0.0,
            false => self.ceilings.of(self.campaign, &load.sizes)?,
        };
        let mut ratios = Vec::new();
        for (block, sides) in order(blocks, self.campaign.scenario.campaign.seed).iter().enumerate()
        {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for side in sides {
                let (device, rates) = match side {
                    Side::A => (base, &mut a),
                    Side::B => (other, &mut b),
                };
                rates.push(self.rate(device, (wish, case), &load, block as u32, ceiling_pps)?);
            }
            ratios.push(log_ratio([a[0], a[1]], [b[0], b[1]]));
        }
        Ok(ratios)
    }

    /// Devices that most starts did not bring to their limit.
    fn unexhausted(&self) -> Vec<String> {
        let most = self.starts.iter().filter(|(_, [below, at_limit])| below > at_limit);
        most.map(|(device, _)| device.clone()).collect()
    }

    /// One start, and the median rate of its streams, in bits a second.
    fn bps(&mut self, device: &str, what: (&Wish, &Case), run: u32) -> Result<f64, Error> {
        let subject = Subject {
            device: device.to_owned(),
            function: what.1.function.name().to_owned(),
            axes: what.1.axes.clone(),
            run,
        };
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

    /// One start, and the median rate of its trials.
    fn rate(
        &mut self,
        device: &str,
        (wish, case): (&Wish, &Case),
        load: &Load,
        run: u32,
        ceiling_pps: f64,
    ) -> Result<f64, Error> {
        let campaign = self.campaign;
        let (done, all) = (self.done, self.all);
        (campaign.progress)(&Progress { done, all, what: device, left: None });
        if campaign.has_streams() {
            return self.bps(device, (wish, case), run);
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
            let subject = Subject {
                device: device.to_owned(),
                function: case.function.name().to_owned(),
                axes: case.axes.clone(),
                run,
            };
            let mut record =
                measured.record(subject, self.trials, "compare", at_s, Some(ceiling_pps));
            (record.latency, record.lateness) = (None, None);
            self.trials += 1;
            self.recorder.write(record)?;
        }
        let exhausted = usize::from(2 * saturated > TRIALS);
        self.starts.entry(device.to_owned()).or_default()[exhausted] += 1;
        self.done += 1;
        Ok(median(&rates))
    }
}
