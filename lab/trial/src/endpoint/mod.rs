//! TCP streams and round trips through a device, between the kernel's own ends.
//!
//! ```text
//!  end 0 (lab's core)                    device (its cores)                    end 1 (lab's core)
//!  iperf3 -c ────────── g0 ═ d0 ─────────────────────────── d1 ═ g1 ────────── iperf3 -s
//!  volley-lab ask ──────┘                                            └──────── volley-lab respond
//!
//!  first answer ▶ round trips with nothing else ▶ streams, with round trips at a steady pace beside them, again …
//! ```
//! Containers of a device with a plugin for Docker are on networks of that, and have all from it.
//! The ports of the lab have no part in this. What the ends can do with nothing in between is
//! measured first.

mod container;
pub mod ends;
mod engine;
pub mod iperf;
pub mod methods;
mod namespace;
mod network;
pub mod round_trip;
mod site;
pub mod transaction;
pub mod vm;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use ends::Addressing;
use iperf::Run;
use lab_record::axes::Endpoint;
use lab_record::{DeviceFacts, RoundTrips, Verdict};
use site::{Plan, Site, Wire};

use crate::dut::device::{Device, Job};
use crate::host::clock::{self, HostClock};
use crate::link::{DEVICE_DEVICES, DeviceEnd, LAB_DEVICES, LinkKind};
use crate::place::{Place, has_program};
use crate::trial::rig::{Bench, Wish};
use crate::watch::probe::allowed_cores;
use crate::{Error, dut};

/// What ends can be, in the order of scenarios' words.
static SITES: &[&dyn Site] = &[&namespace::Namespace, &container::Container, &vm::Vm];

/// What ends of a kind are.
pub(crate) fn site(endpoint: Endpoint) -> &'static dyn Site {
    let found = SITES.iter().find(|site| site.endpoint() == endpoint);
    found.copied().unwrap_or(&namespace::Namespace)
}

/// Longest wait for the first answer through a device.
const FIRST_ANSWER: Duration = Duration::from_secs(20);
/// How much longer than asked for a run may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest wait for a process to listen.
const LISTENS: Duration = Duration::from_secs(10);
/// Longest wait of iperf3 for a connection, in milliseconds: somebody on the way may be emulated.
const CONNECTS_MS: u32 = 20_000;
/// Time between two requests beside streams: they are to see the queue, not to be it.
const PACE: Duration = Duration::from_millis(5);
/// How long the end of a process takes to be seen.
const DEATHS: Duration = Duration::from_millis(100);
const IPERF_PORT: u16 = 5_201;
const RESPONDER_PORT: u16 = 5_202;
/// Congestion control of the streams, where the kernel has it: it fills queues, as most of the
/// world does.
const CONGESTION: &str = "cubic";
/// Names of the ends' processes.
const SERVER: &str = "iperf3-server";
const CLIENT: &str = "iperf3-client";
const RESPONDER: &str = "responder";
const ASKER: &str = "asker";

/// What is sent in a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Streams {
    /// Streams at once, each way.
    pub flows: u64,
    /// Whether both directions have them.
    pub both: bool,
    /// For how long, in whole seconds.
    pub seconds: u64,
}

/// The two ends, with who listens there.
struct Ends {
    places: [Place; 2],
    addressing: Addressing,
}

/// A device between two ends.
pub struct StreamRig<'a> {
    bench: &'a Bench<'a>,
    ends: Ends,
    device: Box<dyn Device>,
    place: Place,
    job: Job,
    version: String,
    /// The host's clock is this slow for as long.
    _slowed: Option<HostClock>,
}

impl<'a> StreamRig<'a> {
    /// Starts the device of a name between two ends; it may not forward yet.
    pub fn start(
        bench: &'a Bench<'a>,
        name: &str,
        wish: &Wish,
        addressing: Addressing,
    ) -> Result<Self, Error> {
        let mut device = dut::named(name)?;
        let version = device.version()?;
        let cores = wish.cores(&*device, &bench.cores, bench.link)?;
        let link = link(&*device, wish, bench.link, addressing.endpoint)?;
        if device.in_guest() {
            return Self::start_in_guest(bench, (device, version), &cores, wish, addressing);
        }
        let mut place = Place::new(&bench.folder, &cores)?;
        let job = wish.job(link, device_ends(link, &place));
        let slowed = clock::for_job(&*device, &job, &cores)?;
        let plugged =
            addressing.endpoint == Endpoint::Container && device.network_driver(&job).is_some();
        let mut ends = if plugged {
            Ends::on_networks(bench, addressing, (&mut *device, &job), &mut place)?
        } else if matches!(link, LinkKind::Tap | LinkKind::Vhost) {
            // Virtual machines begin with their wires; those behind vhost-user boot when the device
            // runs.
            ends::hang(&mut place, &job.ends, job.mtu)?;
            let listens = device.needs(&job).listener;
            let mut ends = Ends::new(bench, addressing, &place, wires(&job, listens))?;
            device.start(&job, &mut place)?;
            ends.places.iter().try_for_each(|end| end.until_it_runs(bench.go_on))?;
            ends::name_cards(&mut ends.places, job.mtu)?;
            ends.address(job.function.wire_mbps)?;
            ends
        } else {
            let mut ends = Ends::new(bench, addressing, &place, wires(&job, false))?;
            ends::lay(&mut ends.places, &place, job.mtu)?;
            ends.address(job.function.wire_mbps)?;
            device.start(&job, &mut place)?;
            ends
        };
        ends.listen()?;
        Ok(Self { bench, ends, device, place, job, version, _slowed: slowed })
    }

    /// The same of a device that is a virtual machine.
    fn start_in_guest(
        bench: &'a Bench<'a>,
        (mut device, version): (Box<dyn Device>, String),
        cores: &str,
        wish: &Wish,
        addressing: Addressing,
    ) -> Result<Self, Error> {
        let job =
            wish.job(LinkKind::Tap, DEVICE_DEVICES.map(|it| DeviceEnd::Kernel(it.to_owned())));
        let wires = || wires(&job, false);
        // Its ends need nothing of where it will be.
        let yard = Place::new(&bench.folder, cores)?;
        let mut ends = Ends::new(bench, addressing, &yard, wires())?;
        drop(yard);
        let between = vm::between::start;
        let mut place = between(&bench.folder, cores, &mut ends.places, job.mtu, bench.go_on)?;
        ends.address(job.function.wire_mbps)?;
        device.start(&job, &mut place)?;
        ends.listen()?;
        Ok(Self { bench, ends, device, place, job, version, _slowed: None })
    }

    /// The device, its version and the commands that set it and the ends up.
    pub fn facts(&self) -> DeviceFacts {
        let device = self.place.description().map(|what| format!("# the device is in {what}"));
        let mut commands = Vec::from_iter(device);
        commands.extend_from_slice(self.place.commands());
        for (side, end) in self.ends.places.iter().enumerate() {
            let what = end.description().unwrap_or_else(|| "a namespace".into());
            commands.push(format!("# at end {side}, {what}"));
            commands.extend_from_slice(end.commands());
        }
        DeviceFacts { name: self.device.name().to_owned(), version: self.version.clone(), commands }
    }

    /// What of it ran on processors that are software.
    pub(crate) fn emulated(&self) -> Option<Verdict> {
        match self.place.is_emulated() {
            true => Some(Verdict::EmulatedDevice),
            false => {
                self.ends.places.iter().any(Place::is_emulated).then_some(Verdict::EmulatedEnds)
            }
        }
    }

    /// Waits until requests are answered both ways: bridges learn from it where the ends are.
    pub fn first_answer(&mut self) -> Result<(), Error> {
        let (began, patience) = (Instant::now(), self.patience(FIRST_ANSWER));
        let mut answered = [false; 2];
        while answered.contains(&false) {
            if began.elapsed() > patience {
                let drops = self.device.counters(&mut self.place)?.drops;
                let told = |side: usize| if answered[side] { "answered" } else { "not answered" };
                let hint = format!(
                    "requests of the first end are {}, of the second {}; dropped {drops:?}",
                    told(0),
                    told(1)
                );
                let device = self.device.name().to_owned();
                return Err(Error::Silent { device, seconds: patience.as_secs(), hint });
            }
            for side in 0..2 {
                self.ends.ask(side, 0.2, None, 1)?;
            }
            for (side, answered) in answered.iter_mut().enumerate() {
                let told = self.wait(side, ASKER, began + patience + self.patience(PATIENCE))?;
                *answered = round_trip::read(&told)?.answered > 0;
            }
        }
        Ok(())
    }

    /// Round trips with nothing else on the way, one after the other.
    pub fn round_trips(&mut self, seconds: f64) -> Result<RoundTrips, Error> {
        self.ends.ask(0, seconds, None, u64::MAX)?;
        let asked = Duration::from_secs_f64(seconds) + self.patience(PATIENCE);
        let told = self.wait(0, ASKER, Instant::now() + asked)?;
        round_trip::read(&told)
    }

    /// Streams, and round trips beside them.
    pub fn streams(&mut self, streams: &Streams) -> Result<(Run, RoundTrips), Error> {
        self.check(streams)?;
        let patience = self.patience(PATIENCE);
        let until = Instant::now() + Duration::from_secs(streams.seconds) + patience;
        self.ends.stream(streams)?;
        self.ends.ask(0, streams.seconds as f64, Some(PACE), u64::MAX)?;
        let told = self.wait(0, CLIENT, until)?;
        let run = run(&told, streams).map_err(|error| self.cause().unwrap_or(error))?;
        let asked = self.wait(0, ASKER, until)?;
        Ok((run, round_trip::read(&asked)?))
    }

    /// How long to wait for what takes so long where nothing on the way is slow.
    fn patience(&self, usual: Duration) -> Duration {
        self.ends.patience(usual).max(self.place.patience(usual))
    }

    fn check(&self, streams: &Streams) -> Result<(), Error> {
        let (most, flows) = (iperf::MOST_STREAMS, streams.flows);
        match flows <= most {
            true => Ok(()),
            false => Err(self
                .device
                .refuse(&self.job, &format!("iperf3 has {most} streams at once, not {flows}"))),
        }
    }

    /// Who ended, where a run failed for that: its end may be seen a little later than what it did
    /// to the run.
    fn cause(&mut self) -> Option<Error> {
        std::thread::sleep(DEATHS);
        self.place.alive().and_then(|()| self.ends.listeners_live()).err()
    }

    fn wait(&mut self, side: usize, name: &str, until: Instant) -> Result<String, Error> {
        let Self { bench, ends, place, .. } = self;
        ends.wait(side, name, until, bench.go_on, &mut || place.alive())
    }
}

/// Of which kind the links of such ends to a device are; a refusal where the lab cannot put them
/// there.
pub(crate) fn check(
    bench: &Bench<'_>,
    name: &str,
    wish: &Wish,
    endpoint: Endpoint,
) -> Result<LinkKind, Error> {
    link(&*dut::named(name)?, wish, bench.link, endpoint)
}

/// Of which kind the links between a device and such ends are; likewise.
fn link(
    device: &dyn Device,
    wish: &Wish,
    of_scenario: LinkKind,
    endpoint: Endpoint,
) -> Result<LinkKind, Error> {
    let kernel = DEVICE_DEVICES.map(|name| DeviceEnd::Kernel(name.to_owned()));
    let refuse = |what: &str| device.refuse(&wish.job(of_scenario, kernel.clone()), what);
    if !has_program("iperf3") {
        return Err(refuse("iperf3 is not installed (package iperf3)"));
    }
    let site = site(endpoint);
    if let Some(reason) = site.refusal() {
        return Err(refuse(&reason));
    }
    if device.in_guest() {
        if let Some(reason) = vm::refusal() {
            return Err(refuse(&reason));
        }
        return match (endpoint, of_scenario) {
            (Endpoint::Vm, _) => {
                Err(refuse("it is a virtual machine, whose cards are joined to no other's"))
            }
            (_, LinkKind::Veth | LinkKind::Tap) => Ok(LinkKind::Tap),
            _ => Err(refuse("a virtual machine is behind taps: veth (they stand for it) or tap")),
        };
    }
    site.link(device, of_scenario).map_err(refuse)
}

/// The device's ends of such links.
fn device_ends(link: LinkKind, place: &Place) -> [DeviceEnd; 2] {
    match link {
        LinkKind::Vhost => [0, 1].map(|side| {
            DeviceEnd::Vhost(place.folder().join(format!("{}{side}.sock", link.name())))
        }),
        _ => DEVICE_DEVICES.map(|name| DeviceEnd::Kernel(name.to_owned())),
    }
}

/// What the far ends are joined to.
fn wires(job: &Job, listens: bool) -> [Wire; 2] {
    job.ends.clone().map(|end| match end {
        DeviceEnd::Vhost(path) => Wire::Socket { path, listens },
        DeviceEnd::Kernel(name) | DeviceEnd::Pci(name) => Wire::Device(name),
        DeviceEnd::Memif(path) | DeviceEnd::Pcap { rx: path, .. } => {
            Wire::Device(path.display().to_string())
        }
    })
}

/// What the ends do with nothing in between, all streams of both ways together, in bits a second.
pub(crate) fn ceiling_bps(bench: &Bench<'_>, streams: &Streams, six: bool) -> Result<f64, Error> {
    let addressing = Addressing { six, routed: false, endpoint: Endpoint::Namespace };
    let end = |side: usize| Place::new(&end_folder(bench, side), &allowed_cores());
    let mut ends = Ends { places: [end(0)?, end(1)?], addressing };
    ends::join(&mut ends.places, six)?;
    ends.listen()?;
    let streams = Streams { seconds: 1, ..*streams };
    ends.stream(&streams)?;
    let until = Instant::now() + Duration::from_secs(streams.seconds) + PATIENCE;
    let told = ends.wait(0, CLIENT, until, bench.go_on, &mut || Ok(()))?;
    Ok(run(&told, &streams)?.ways.iter().map(|way| way.bps).sum())
}

impl Ends {
    fn new(
        bench: &Bench<'_>,
        addressing: Addressing,
        device: &Place,
        wires: [Wire; 2],
    ) -> Result<Self, Error> {
        let (own, site) = (allowed_cores(), site(addressing.endpoint));
        let end = |side: usize, wire: Wire| {
            let folder = &end_folder(bench, side);
            site.place(&Plan { folder, cores: &own, side, namespace: device.namespace(), wire })
        };
        let [first, second] = wires;
        Ok(Self { places: [end(0, first)?, end(1, second)?], addressing })
    }

    /// Containers on networks of a device that has a plugin for their engine, and that device.
    fn on_networks(
        bench: &Bench<'_>,
        addressing: Addressing,
        (device, job): (&mut dyn Device, &Job),
        place: &mut Place,
    ) -> Result<Self, Error> {
        let Some(driver) = device.network_driver(job) else {
            return Err(device.refuse(job, "it has no plugin for Docker"));
        };
        let (folders, own) = ([0, 1].map(|side| end_folder(bench, side)), allowed_cores());
        let mut places = network::start((driver, job), place, (folders, &own), addressing)?;
        if let Some(mbps) = job.function.wire_mbps {
            ends::slow(&mut places, [network::DEVICE; 2], mbps)?;
        }
        Ok(Self { places, addressing })
    }

    /// How long to wait for what takes so long between ends that nothing slows.
    fn patience(&self, usual: Duration) -> Duration {
        self.places.iter().map(|place| place.patience(usual)).max().unwrap_or(usual)
    }

    /// Gives them their addresses, and wires as slow as is asked for.
    fn address(&mut self, wire_mbps: Option<u64>) -> Result<(), Error> {
        ends::address_all(&mut self.places, self.addressing)?;
        wire_mbps.map_or(Ok(()), |mbps| ends::slow(&mut self.places, LAB_DEVICES, mbps))
    }

    /// Starts who listens: a responder at each end, the server of the streams at the second.
    fn listen(&mut self) -> Result<(), Error> {
        for side in 0..2 {
            let at = self.at(side, RESPONDER_PORT);
            self.places[side].spawn(RESPONDER, &format!("{} respond {at}", own_program()))?;
        }
        let address = self.addressing.address(1);
        self.places[1]
            .spawn(SERVER, &format!("iperf3 -s -B {address} -p {IPERF_PORT} --forceflush"))?;
        let listens = |place: &mut Place, name: &'static str| {
            let what = format!("{name} listens");
            place.wait_until(&what, LISTENS, |place| place.log(name).contains("listening"))
        };
        listens(&mut self.places[0], RESPONDER)?;
        listens(&mut self.places[1], RESPONDER)?;
        listens(&mut self.places[1], SERVER)
    }

    fn at(&self, side: usize, port: u16) -> SocketAddr {
        (self.addressing.address(side), port).into()
    }

    /// Starts to ask the other end.
    fn ask(
        &mut self,
        side: usize,
        seconds: f64,
        every: Option<Duration>,
        requests: u64,
    ) -> Result<(), Error> {
        let to = self.at(1 - side, RESPONDER_PORT);
        let every = every.map(|every| format!(" --every-ms {}", every.as_secs_f64() * 1e3));
        let requests = (requests < u64::MAX).then(|| format!(" --requests {requests}"));
        let (every, requests) = (every.unwrap_or_default(), requests.unwrap_or_default());
        let line =
            format!("{} ask {to} --seconds {seconds}{every}{requests} --out -", own_program());
        self.places[side].spawn(ASKER, &line)
    }

    /// Starts the streams.
    fn stream(&mut self, streams: &Streams) -> Result<(), Error> {
        let (address, Streams { flows, both, seconds }) = (self.addressing.address(1), *streams);
        let available = "cat /proc/sys/net/ipv4/tcp_available_congestion_control";
        let available = self.places[0].quietly(available).unwrap_or_default();
        let known = available.split_whitespace().any(|name| name == CONGESTION);
        let congestion = if known { format!(" -C {CONGESTION}") } else { String::new() };
        let bidir = if both { " --bidir" } else { "" };
        self.places[0].spawn(
            CLIENT,
            &format!(
                "iperf3 -c {address} -p {IPERF_PORT} -J -t {seconds} -P {flows}{bidir}{congestion} \
                 --connect-timeout {CONNECTS_MS} 2>/dev/null"
            ),
        )
    }

    /// Waits until a process of an end has ended. What it said.
    fn wait(
        &mut self,
        side: usize,
        name: &str,
        until: Instant,
        go_on: &dyn Fn() -> bool,
        device_lives: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<String, Error> {
        loop {
            device_lives()?;
            // Whoever is waited for is not missed; what else ends now should not.
            let place = &mut self.places[side];
            if let Some(status) = place.ended(name) {
                let words = place.log(name);
                self.listeners_live()?;
                // iperf3 tells in its text what went wrong.
                return match status.success() || words.contains('{') {
                    true => Ok(words),
                    false => {
                        Err(Error::Died { name: name.into(), status: status.to_string(), words })
                    }
                };
            }
            self.listeners_live()?;
            if !go_on() {
                return Err(Error::Stopped);
            }
            if Instant::now() > until {
                let reason = "it took much longer than it was asked to".to_owned();
                return Err(Error::Command { line: name.to_owned(), reason });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// An error if one who listens has ended.
    fn listeners_live(&mut self) -> Result<(), Error> {
        self.places.iter_mut().try_for_each(|place| place.lives(&[RESPONDER, SERVER]))
    }
}

/// Where the files of an end are.
fn end_folder(bench: &Bench<'_>, side: usize) -> PathBuf {
    bench.folder.with_extension(format!("end{side}"))
}

/// The folder of the lab's program.
fn own_folder() -> String {
    let own = std::env::current_exe().unwrap_or_default();
    own.parent().map_or_else(|| "/".to_owned(), |folder| folder.display().to_string())
}

/// The lab's program, as a shell takes it.
fn own_program() -> String {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("volley-lab"));
    format!("'{}'", own.display().to_string().replace('\'', r"'\''"))
}

fn run(told: &str, streams: &Streams) -> Result<Run, Error> {
    iperf::read(told, streams.both)
        .map_err(|reason| Error::Command { line: "iperf3".to_owned(), reason })
}
