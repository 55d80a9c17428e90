//! One device, started and wired to the lab: trial after trial until it is stopped.
//!
//! ```text
//! lay links ▶ start ▶ open ports ▶ first packet back ▶ settle ▶ measure … measure ▶ stop
//!                                                                 └ sent = received + every drop
//! ```

use std::time::{Duration, Instant};

use lab_record::{
    Accounts, Back, Counters, DeviceFacts, Histogram, Latency, NodeCost, Outcome, Stalled, Subject,
    Trial, TrialRecord,
};
use lab_search::stats::verdict::{device_stalled, of_trial, order_unknown};
use lab_traffic::ports;
use lab_traffic::result::Gone;
use lab_traffic::{End, Plan, Rate, Side, Stream, StreamResult, TrafficResult, drive};

use crate::Error;
use crate::dut::device::{Device, Job, kernel_counters};
use crate::host::clock::{self, HostClock};
use crate::link::{self, DEVICE_DEVICES, LAB_DEVICES, LinkKind, Needs};
use crate::load::added::LiveChange;
use crate::load::frames::Load;
use crate::place::{Place, output};
use crate::trial::wish::refuse_what_it_does_not_speak;
use crate::trial::{away, spikes};
use crate::watch::device_time::DeviceTime;

pub use crate::trial::bench::Bench;
pub use crate::trial::wish::Wish;

/// Longest wait for the first packet.
const FIRST_PACKET: Duration = Duration::from_secs(20);
/// Longest wait for a link, and how often a device is started for one.
const LINK_PATIENCE: Duration = Duration::from_secs(6);
const STARTS: u32 = 4;
/// How long a process that answers no more may take to be gone: the kernel takes its memory first.
const DYING: Duration = Duration::from_millis(300);
/// Patience with a device that runs under another program, in multiples of the usual.
const SLOWER: u32 = 8;
/// Rate at which the first packet is looked for: anything carries it.
const PROBE_PPS: f64 = 500.0;
/// Rate at which a device settles.
const SETTLE_PPS: f64 = 5_000.0;
/// Longest wait until the next packet that nobody has accounted for comes or is dropped: a device's
/// core may be away.
const LATE_NS: u64 = 1_000_000_000;
/// Longest wait for all of them: a full queue of a slow port takes its time to run empty.
const LATEST_NS: u64 = 5_000_000_000;
/// How long packets are waited for until the device is asked again.
const LATE_LOOK_NS: u64 = 50_000_000;
/// Trials without loss, one after the other, after which a device counts as settled.
const SETTLED_AFTER: u32 = 2;

/// A running device.
pub struct Rig<'a> {
    pub(crate) bench: &'a Bench<'a>,
    // Closed before the device stops.
    pub(crate) ends: Vec<End>,
    pub(crate) device: Box<dyn Device>,
    pub(crate) place: Place,
    pub(crate) job: Job,
    /// What a trial with a change adds; else it starts the device anew.
    pub(crate) live_change: Option<LiveChange>,
    /// The host's clock is this slow for as long.
    _slowed: Option<HostClock>,
    version: String,
    counted: Counters,
    /// Processor time of the device's processes.
    times: DeviceTime,
    /// When they had no core in the last trial, by the lab's clock.
    gone: Vec<Gone>,
}

/// What a trial counted.
pub struct Measured {
    /// The outcome.
    pub outcome: Outcome,
    /// All of it.
    pub traffic: TrafficResult,
    /// The device's own counters, and drops at the lab's ends; none where it was started anew
    /// meanwhile.
    pub device: Option<Counters>,
    /// Packets that came when the trial was over.
    pub late: u64,
    /// When the traffic began, in nanoseconds since 1970.
    pub began_unix_ns: u64,
    /// When the device's processes had no core, since the traffic began.
    pub gone: Vec<Gone>,
}

impl<'a> Rig<'a> {
    /// Starts the device of a name; it may not forward yet. A link that does not come up is worth
    /// another try; the device is started anew for it.
    pub fn start(bench: &'a Bench<'a>, name: &str, wish: &Wish) -> Result<Self, Error> {
        for _ in 1..STARTS {
            match Self::try_start(bench, bench.device(name)?, wish, None) {
                Err(Error::Port { .. }) => {}
                outcome => return outcome,
            }
        }
        Self::try_start(bench, bench.device(name)?, wish, None)
    }

    /// Starts it under another program, which makes it slower.
    pub(crate) fn start_under(
        bench: &'a Bench<'a>,
        name: &str,
        wish: &Wish,
        prefix: &str,
    ) -> Result<Self, Error> {
        Self::try_start(bench, bench.device(name)?, wish, Some(prefix))
    }

    fn try_start(
        bench: &'a Bench<'a>,
        mut device: Box<dyn Device>,
        wish: &Wish,
        under: Option<&str>,
    ) -> Result<Self, Error> {
        let version = device.version()?;
        refuse_what_it_does_not_speak(&*device, wish, bench.link)?;
        let cores = match bench.bed {
            Some(_) => bench.cores.clone(),
            None => wish.cores(&*device, &bench.cores, bench.link)?,
        };
        let mut place = Place::new(&bench.folder, &cores)?;
        if let Some(prefix) = under {
            place.run_under(prefix, SLOWER);
        }
        let mtu = wish.mtu();
        let ends = match bench.bed {
            Some(_) => link::lent(mtu)?,
            None => link::lay(bench.link, &mut place, mtu, bench.cards.as_ref())?,
        };
        let job = wish.job(bench.link, ends);
        let slowed = clock::for_job(&*device, &job, &cores)?;
        let mut ends = Vec::new();
        if bench.link == LinkKind::Tap {
            // The device's ends come with the lab's.
            ends = Self::open(bench, &place, Needs::default())?;
            link::hand_over(&mut place, mtu)?;
        }
        let started = device.start(&job, &mut place);
        let counted = Counters::default();
        let mut rig = Self {
            bench,
            ends,
            device,
            place,
            job,
            live_change: None,
            _slowed: slowed,
            version,
            counted,
            times: DeviceTime::default(),
            gone: Vec::new(),
        };
        started?;
        if rig.ends.is_empty() {
            // Who listens would wait for a device that is gone without end.
            rig.place.alive()?;
            let needs = rig.device.needs(&rig.job);
            rig.ends = Self::open(bench, &rig.place, needs)?;
        }
        Ok(rig)
    }

    /// The lab's ends, once their links are up.
    fn open(bench: &Bench<'_>, place: &Place, needs: Needs) -> Result<Vec<End>, Error> {
        let specs = link::lab_ports(bench.link, place, needs, bench.cards.as_ref())?;
        let open = |spec| bench.ports.open_wide(spec, needs.rx_queues);
        let mut ends = specs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let cards = bench.link == LinkKind::Pci;
        let patience = if cards { ports::LINK_PATIENCE } else { LINK_PATIENCE };
        ports::wait_for_links(&mut ends, patience)?;
        Ok(ends)
    }

    /// The device, its version and the commands that set it up.
    pub fn facts(&self) -> DeviceFacts {
        DeviceFacts {
            name: self.device.name().to_owned(),
            version: self.version.clone(),
            commands: self.place.commands().to_vec(),
        }
    }

    /// Waits until packets come through, both ways: bridges learn from it where the lab is.
    pub fn first_packet(&mut self, load: &Load) -> Result<(), Error> {
        let began = Instant::now();
        loop {
            let result = self.send(load, PROBE_PPS, 0.04, true)?;
            if result.streams.iter().all(|stream| stream.sequence.unique > 0) {
                break;
            }
            if began.elapsed() > self.place.patience(FIRST_PACKET) {
                let came: Vec<String> = result
                    .ends
                    .iter()
                    .map(|end| {
                        format!(
                            "{}: {} foreign, {} misdirected",
                            end.name, end.foreign, end.misdirected
                        )
                    })
                    .collect();
                return Err(Error::Silent {
                    device: self.device.name().to_owned(),
                    seconds: FIRST_PACKET.as_secs(),
                    hint: format!("{}; dropped {:?}", came.join(", "), self.count()?.drops),
                });
            }
        }
        self.counted = self.count()?;
        // By now all of its threads are there.
        self.times = DeviceTime::of(&self.place.processes());
        Ok(())
    }

    /// Sends a little until nothing is lost any more. Whether it came to that.
    pub fn settle(&mut self, load: &Load, both: bool) -> Result<bool, Error> {
        let mut good = 0;
        for _ in 0..10 {
            let result = self.send(load, SETTLE_PPS, 0.02, both)?;
            good = if result.received() == result.offered() { good + 1 } else { 0 };
            if good == SETTLED_AFTER {
                break;
            }
        }
        self.counted = self.count()?;
        Ok(good == SETTLED_AFTER)
    }

    /// Carries out a trial. What a device does not answer that has died meanwhile is its death.
    pub fn measure(&mut self, load: &Load, trial: Trial, both: bool) -> Result<Measured, Error> {
        let measured = self.try_measure(load, trial, both);
        if let Err(Error::Command { .. }) = measured {
            let asked = Instant::now();
            while asked.elapsed() < DYING {
                self.place.alive()?;
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        measured
    }

    fn try_measure(
        &mut self,
        load: &Load,
        mut trial: Trial,
        both: bool,
    ) -> Result<Measured, Error> {
        let began = Instant::now();
        let live = self.live_change.filter(|_| trial.change);
        let restarts = trial.change && live.is_none();
        let mut changed = None;
        self.gone.clear();
        let traffic = match (trial.overload, live) {
            (Some(overload), _) => self.after_overload(load, trial, overload)?,
            (None, Some(change)) => {
                let (made, traffic, seen) = self.with_change(load, trial, both, change)?;
                (trial, changed) = (made, Some(seen));
                traffic
            }
            (None, None) if restarts => {
                let (made, traffic) = self.with_reset(load, trial)?;
                trial = made;
                traffic
            }
            (None, None) => self.send(load, trial.load_pps, trial.duration_s, both)?,
        };
        let began_unix_ns = away::unix_ns(self.bench.clock, traffic.start_ns);
        let gone = away::while_sending(&self.gone, &traffic);
        if restarts {
            self.times = DeviceTime::of(&self.place.processes());
        }
        let missed = traffic.ends.iter().map(|end| end.missed).sum::<u64>();
        // Some cards (an 82540 of QEMU's) count again, at each look, what they missed in a trial
        // before: of this one no more than what did not come.
        let missed = missed.min(traffic.offered().saturating_sub(traffic.received()));
        let count = |rig: &mut Self| {
            let total = rig.count()?;
            let mut device = total.since(&rig.counted);
            let one_host = rig.bench.bed.is_none();
            if one_host && rig.bench.link.is_kernel() && rig.bench.link != LinkKind::Tap {
                device.tell_once([0, 1].map(|side| (LAB_DEVICES[side], DEVICE_DEVICES[side])));
            }
            device.drop("the lab's own rings".into(), missed);
            Ok::<_, Error>((device, total))
        };
        let (mut device, mut total) = count(self)?;
        let unknown = |device: &Counters, late: u64| {
            let known = traffic.received() + device.drops.values().sum::<u64>() + late;
            traffic.offered().saturating_sub(known)
        };
        let mut late = 0;
        if unknown(&device, late) > 0 && !restarts {
            self.links_are_up()?;
            let clock = self.bench.clock;
            let (since_ns, mut news_ns) = (clock.now_ns(), clock.now_ns());
            loop {
                let (missing, now_ns) = (unknown(&device, late), clock.now_ns());
                if missing == 0 || now_ns - news_ns >= LATE_NS || now_ns - since_ns >= LATEST_NS {
                    break;
                }
                late += self.late(missing);
                // Others of them the device may just have dropped.
                (device, total) = count(self)?;
                if unknown(&device, late) < missing {
                    news_ns = clock.now_ns();
                }
            }
        }
        self.counted = total;
        if let Some(change) = live {
            self.undo(load, change)?;
        }
        let latency = traffic.latency();
        // What came before the trial's own load is no part of its outcome.
        let before = usize::from(trial.overload.is_some());
        let own = &traffic.streams[before.min(traffic.streams.len())..];
        let sum = |of: fn(&StreamResult) -> u64| own.iter().map(of).sum::<u64>();
        let sequence = own.first().map(|stream| &stream.sequence);
        let last_lost = sequence.map(|it| it.last_lost.map_or(0, |last| last + 1));
        let outage = sequence.map(|it| it.longest_loss_run);
        let seconds = |packets: u64| packets as f64 / trial.load_pps;
        let outcome = Outcome {
            trial,
            intended: sum(|stream| stream.intended),
            offered: sum(|stream| stream.offered),
            received: sum(|stream| stream.sequence.unique),
            missed,
            away_s: traffic.away.total_ns as f64 / 1e9,
            last_lost_s: last_lost.filter(|_| trial.overload.is_some()).map(seconds),
            outage_s: outage.filter(|_| trial.change).map(seconds),
            changed,
            elapsed_s: began.elapsed().as_secs_f64(),
            latency: (latency.count() > 0).then(|| Latency {
                mean_ns: latency.mean_ns(),
                p50_ns: latency.percentile_ns(50.0) as f64,
                p99_ns: latency.percentile_ns(99.0) as f64,
                max_ns: latency.max_ns() as f64,
            }),
        };
        let device = (!restarts).then_some(device);
        Ok(Measured { outcome, traffic, device, late, began_unix_ns, gone })
    }

    /// Notes what the device counted until now as no part of the next trial.
    pub(crate) fn forget_counts(&mut self) -> Result<(), Error> {
        self.counted = self.count()?;
        Ok(())
    }

    fn send(
        &mut self,
        load: &Load,
        pps: f64,
        duration_s: f64,
        both: bool,
    ) -> Result<TrafficResult, Error> {
        let rate = Rate::Pps(pps);
        let mut streams = [vec![load.stream(rate)], Vec::new()];
        if both {
            streams[1].push(load.stream_back(rate));
        }
        self.drive(streams, duration_s, load.seed)
    }

    pub(crate) fn drive(
        &mut self,
        streams: [Vec<Stream>; 2],
        duration_s: f64,
        seed: u64,
    ) -> Result<TrafficResult, Error> {
        self.carry(streams, Plan { seed, ..Plan::new(duration_s) })
    }

    /// Sends these streams, at the first end and at the second, as planned.
    pub(crate) fn carry(
        &mut self,
        streams: [Vec<Stream>; 2],
        plan: Plan,
    ) -> Result<TrafficResult, Error> {
        let sides = self.ends.iter_mut().zip(streams);
        let sides = sides.map(|(end, streams)| Side { end, streams }).collect();
        let plan = Plan { stall_ns: self.bench.link.stall_ns(), ..plan };
        let Bench { clock, go_on, .. } = *self.bench;
        let times = &mut self.times;
        times.begin(clock.now_ns());
        let mut watch = |_| {
            times.look(clock.now_ns());
            go_on()
        };
        let result = drive(clock, sides, &plan, &mut watch)?;
        self.gone = times.end(clock.now_ns());
        if result.stopped {
            return Err(Error::Stopped);
        }
        self.place.alive()?;
        Ok(result)
    }

    /// Refuses to go on where a link was lost: what a trial over it lost says nothing of the
    /// device.
    fn links_are_up(&mut self) -> Result<(), Error> {
        let lost = |port: &str, state: &str| Error::Port {
            port: port.to_owned(),
            reason: format!("its link was lost during a trial ({state})"),
        };
        // A tap's driver does not find its device any more where that is now.
        let moved = self.bench.link == LinkKind::Tap;
        for End { name, port, .. } in self.ends.iter().filter(|_| !moved) {
            if let Some(port) = port
                && !port.link().map_err(|error| lost(name, &error.to_string()))?.up
            {
                return Err(lost(name, "down"));
            }
        }
        // A packet socket takes its device to be up for ever.
        let devices = if moved { DEVICE_DEVICES } else { LAB_DEVICES };
        for device in devices.iter().filter(|_| self.bench.link.is_kernel()) {
            let told = if moved {
                self.place.quietly(&format!("ip -br link show dev {device}"))?
            } else {
                output(&["ip", "-br", "link", "show", "dev", device])
                    .map_err(|reason| lost(device, &reason))?
            };
            match told.split_whitespace().nth(1) {
                Some("UP" | "UNKNOWN") => {}
                state => return Err(lost(device, state.unwrap_or("gone"))),
            }
        }
        Ok(())
    }

    /// Packets that were still on their way: a device that was held up hands them over late.
    fn late(&mut self, missing: u64) -> u64 {
        let (clock, mut count) = (self.bench.clock, 0);
        let began_ns = clock.now_ns();
        while count < missing && clock.now_ns() - began_ns < LATE_LOOK_NS {
            for end in &mut self.ends {
                end.tx.push();
                end.receive(|_| count += 1);
            }
        }
        count.min(missing)
    }

    /// What each node of the device cost since the start, where it tells.
    pub(crate) fn nodes(&mut self) -> Result<Vec<NodeCost>, Error> {
        self.device.nodes(&mut self.place)
    }

    /// What the name of a node's function begins and ends with, where the device tells.
    pub(crate) fn function_of(&self, node: &str) -> Option<[String; 2]> {
        self.device.function_of(node)
    }

    /// Ends the device; its ports first.
    pub(crate) fn end(mut self) {
        self.ends.clear();
        self.place.stop();
    }

    /// The device's counters since the start, and drops at the lab's ends.
    fn count(&mut self) -> Result<Counters, Error> {
        let mut counters = self.device.counters(&mut self.place)?;
        if self.bench.link.is_kernel() {
            let text = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
            counters.drops.extend(kernel_counters(&text, &LAB_DEVICES).drops);
        }
        if self.bench.link == LinkKind::Tap {
            // The far side of a tap is the lab itself: what it was too slow for is counted there.
            let text = self.place.network_devices()?;
            counters.drops.extend(kernel_counters(&text, &DEVICE_DEVICES).drops);
        }
        Ok(counters)
    }
}

impl Drop for Rig<'_> {
    fn drop(&mut self) {
        // Devices survive that their peer goes; drivers of ours survive it less well.
        self.ends.clear();
        self.place.stop();
        if self.bench.bed.is_none() {
            link::take_up(self.bench.link);
        }
    }
}

impl Measured {
    /// As it is written down.
    pub fn record(
        self,
        subject: Subject,
        index: u32,
        purpose: &str,
        at_s: f64,
        ceiling_pps: Option<f64>,
    ) -> TrialRecord {
        let Self { outcome, traffic, device, late, began_unix_ns, gone } = self;
        let accounts = device.as_ref().map(|device| Accounts {
            sent: traffic.offered(),
            received: traffic.received(),
            dropped: device.drops.values().sum(),
            in_flight: late,
        });
        let away = &traffic.away;
        let stalled = Stalled {
            stalls: away.count,
            longest_us: away.longest_ns() as f64 / 1e3,
            total_us: away.total_ns as f64 / 1e3,
        };
        let mut record = TrialRecord::new(subject, index, purpose, at_s, outcome);
        record.verdicts = of_trial(&outcome, accounts.as_ref(), &stalled, ceiling_pps);
        let told = device.as_ref().and_then(|device| device.stalls);
        let verdict = told.and_then(|told| device_stalled(&told.into(), outcome.elapsed_s));
        record.verdicts.extend(verdict);
        let queues = traffic.ends.iter().map(|end| end.queues).max().unwrap_or(1);
        let reordered = traffic.streams.iter().map(|stream| stream.sequence.reordered).sum();
        record.verdicts.extend(order_unknown(queues, reordered));
        record.accounts = accounts;
        record.began_unix_s = Some(began_unix_ns as f64 / 1e9);
        record.stalls = away::generator(away);
        let end_ns = began_unix_ns + traffic.elapsed_ns;
        let told = device.as_ref().map_or(&[][..], |device| &device.away);
        record.stalls.extend(away::device(told, &gone, began_unix_ns..end_ns));
        record.device = device;
        record.latency = Some(traffic.latency());
        let mut lateness = Histogram::default();
        traffic.ends.iter().for_each(|end| lateness.merge(&end.lateness));
        record.lateness = Some(lateness);
        if let Some(stream) = traffic.streams.get(usize::from(outcome.trial.overload.is_some())) {
            record.sequence = Some(stream.sequence.clone());
            record.variation = Some(stream.variation);
            record.jitter_ns = Some(stream.jitter_ns);
        }
        record.back = self::back(&traffic.streams);
        if let Some(end) = traffic.ends.last() {
            record.rates = end.rates.clone();
            record.spikes = spikes::largest(&end.spikes);
        }
        record
    }
}

/// What came back: of the first stream that was sent at another end than the first.
fn back(streams: &[StreamResult]) -> Option<Back> {
    let there = streams.first()?;
    let stream = streams.iter().find(|stream| stream.from != there.from)?;
    let StreamResult { sequence, variation, jitter_ns, .. } = stream;
    let sequence = sequence.clone();
    Some(Back { sequence, variation: *variation, jitter_ns: *jitter_ns })
}
