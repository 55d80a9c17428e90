//! VPP beside us: the same frames by its packet generator, in turn with ours, on the same core.
//!
//! ```text
//!  this thread, core N:  ours 3 ms ×10 ─ sleeps ────────────────── ours 3 ms ×10 ─ sleeps …
//!  VPP, core N:          stopped ─────── on, 30 ms, off, runtime ─ stopped ───────────────
//! ```
//! Turns beside which somebody else had the processor are made again, up to four times as many as
//! were asked for.
//! Its tables are as large as they are by default, its counters on. What its source costs is not
//! counted, as ours is not; output and freeing are.

mod runtime;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use serde::Serialize;

use crate::pace::Pace;
use crate::report::round;
use crate::rig::{Rig, RigError};
use crate::sample::{Middle, Sample};
use crate::scenario::Scenario;

/// How long it may take to answer, and to take a table.
const PATIENCE: Duration = Duration::from_secs(120);
/// A sample of VPP's: `show runtime` has three digits, of some hundred thousand packets here.
const SAMPLE_MS: u64 = 30;
/// Samples of ours for one of VPP's, which is as many times as long.
const OURS_A_TURN: u64 = 10;
/// As many times as many turns are made at most.
const MOST_TIMES: usize = 4;
/// Quiet turns, below which those count that were not.
const LEAST_TURNS: usize = 3;
/// Packets that may be between two nodes while counters are read.
const MOST_UNDER_WAY: u64 = 1024;
/// What `exec` says of a command that failed.
const REFUSED: &str = "CLI line error";
/// What every scenario begins with: two interfaces, as ours are.
const PORTS: &str = "create packet-generator interface pg0\n\
    create packet-generator interface pg1\n\
    set interface mac address pg0 02:00:00:00:00:01\n\
    set interface mac address pg1 02:00:00:00:00:01\n\
    set interface state pg0 up\n\
    set interface state pg1 up\n";

/// What was measured of both, in turn: medians over the turns, with their quartiles.
#[derive(Serialize)]
pub(crate) struct InTurn {
    pub(crate) vpp_cycles_per_packet: f64,
    vpp_quartiles: [f64; 2],
    /// Ours meanwhile, which the ratio is of.
    pub(crate) cycles_per_packet_in_turn: f64,
    quartiles_in_turn: [f64; 2],
    /// VPP's of ours.
    pub(crate) ratio: f64,
    /// What VPP's packet generator costs, which no other number counts.
    pub(crate) vpp_receiving_cycles_per_packet: f64,
    turns: usize,
}

impl InTurn {
    fn of(all: &[Turn]) -> Self {
        let turns = all.len();
        let ours = Middle::of(all.iter().map(|turn| turn.ours));
        let vpp = Middle::of(all.iter().map(|turn| turn.vpp));
        let receiving = Middle::of(all.iter().map(|turn| turn.vpp_receiving));
        let quartiles = |it: Middle| [round(it.q1), round(it.q3)];
        Self {
            vpp_cycles_per_packet: round(vpp.median),
            vpp_quartiles: quartiles(vpp),
            cycles_per_packet_in_turn: round(ours.median),
            quartiles_in_turn: quartiles(ours),
            ratio: round(vpp.median / ours.median),
            vpp_receiving_cycles_per_packet: round(receiving.median),
            turns,
        }
    }
}

/// What a packet cost each, and how much of the processor they had.
struct Turn {
    ours: f64,
    vpp: f64,
    vpp_receiving: f64,
    pace: Pace,
}

/// Measures a scenario that VPP can do too, in as many turns; `best` is the best moment so far.
pub(crate) fn in_turn(
    folder: &Path,
    scenario: &Scenario,
    turns: usize,
    mut best: Pace,
) -> Result<Option<InTurn>, RigError> {
    let Some(commands) = &scenario.vpp else { return Ok(None) };
    let mut rig = (scenario.make)()?;
    let setup = setup(&commands(), scenario.vpp_vector);
    let vpp = Vpp::start(folder, stay_on_this_core()?, &setup, &rig)?;
    let mut all: Vec<Turn> = Vec::with_capacity(turns);
    let quiet = |all: &[Turn], best| all.iter().filter(|turn| turn.pace.is_quiet(best)).count();
    for turn in 0..=MOST_TIMES * turns {
        if quiet(&all, best) >= turns {
            break;
        }
        vpp.signal(Signal::STOP)?;
        rig.warm_up();
        let samples: Vec<_> =
            (0..OURS_A_TURN).map(|_| rig.sample(SAMPLE_MS / OURS_A_TURN)).collect();
        vpp.signal(Signal::CONT)?;
        let (theirs, pace) = Pace::beside(|| vpp.sample());
        let paces = samples.iter().map(|it| it.pace).filter(|it| *it != Pace::Interrupted);
        let ours = Middle::of(samples.iter().map(Sample::cycles_per_packet)).median;
        // The first turn warms both.
        if turn > 0 {
            let pace = paces.fold(pace, Pace::max);
            best = best.min(pace);
            let (vpp, vpp_receiving) = theirs?;
            all.push(Turn { ours, vpp, vpp_receiving, pace });
        }
    }
    vpp.has_forwarded()?;
    if quiet(&all, best) >= LEAST_TURNS {
        all.retain(|turn| turn.pace.is_quiet(best));
    }
    Ok(Some(InTurn::of(&all)))
}

/// `vpp` and `vppctl` of a folder.
pub(crate) fn programs(folder: &Path) -> Result<[PathBuf; 2], RigError> {
    let program = |name: &str| {
        let there = [folder.join("bin").join(name), folder.join(name)];
        let found = there.into_iter().find(|path| path.exists());
        found.ok_or_else(|| format!("{} has no {name}, nor bin/{name}", folder.display()))
    };
    Ok([program("vpp")?, program("vppctl")?])
}

/// A VPP that has its job and its packets; it ends with this.
struct Vpp {
    process: Child,
    vppctl: PathBuf,
    work: PathBuf,
}

impl Vpp {
    fn start(folder: &Path, core: usize, setup: &str, rig: &Rig) -> Result<Self, RigError> {
        let [program, vppctl] = programs(folder)?;
        let work = std::env::temp_dir().join(format!("volley-bench-vpp-{}", std::process::id()));
        std::fs::create_dir_all(&work)?;
        write_pcap(&work.join("frames.pcap"), rig.frames())?;
        std::fs::write(work.join("startup.conf"), startup(&work, core))?;
        let stream = format!("pcap {} }}\n", work.join("frames.pcap").display());
        std::fs::write(work.join("setup.vpp"), format!("{setup}{stream}"))?;
        let process = Command::new(program)
            .arg("-c")
            .arg(work.join("startup.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(work.join("vpp.log"))?)
            .spawn()?;
        let mut vpp = Self { process, vppctl, work };
        let until = Instant::now() + PATIENCE;
        while vpp.ask("show version").is_err() {
            if vpp.process.try_wait()?.is_some() || Instant::now() > until {
                let log = std::fs::read_to_string(vpp.work.join("vpp.log")).unwrap_or_default();
                return Err(format!("VPP does not answer: {log}").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let told = vpp.ask(&format!("exec {}", vpp.work.join("setup.vpp").display()))?;
        match told.contains(REFUSED) {
            true => Err(format!("VPP refuses: {}", told.trim()).into()),
            false => Ok(vpp),
        }
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.process), signal)?)
    }

    /// Cycles of a packet, of some milliseconds.
    fn sample(&self) -> Result<(f64, f64), RigError> {
        self.ask("clear runtime")?;
        self.ask("packet-generator enable-stream s")?;
        std::thread::sleep(Duration::from_millis(SAMPLE_MS));
        self.ask("packet-generator disable-stream s")?;
        let told = self.ask("show runtime")?;
        runtime::cycles_per_packet(&told).ok_or_else(|| format!("no packets: {told}").into())
    }

    /// Checks that what came in went out, so that no dropped packet counts as a cheap one.
    fn has_forwarded(&self) -> Result<(), RigError> {
        let told = self.ask("show interface")?;
        let [rx, tx] = came_and_left(&told);
        match rx > 0 && tx + MOST_UNDER_WAY >= rx {
            true => Ok(()),
            false => Err(format!("VPP forwarded {tx} of {rx} packets: {told}").into()),
        }
    }

    fn ask(&self, command: &str) -> Result<String, RigError> {
        let socket = self.work.join("cli.sock");
        let mut words = Command::new(&self.vppctl);
        words.arg("-s").arg(socket).args(command.split_whitespace());
        let told = words.stdin(Stdio::null()).output()?;
        match told.status.success() {
            true => Ok(String::from_utf8_lossy(&told.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&told.stderr).into_owned().into()),
        }
    }
}

impl Drop for Vpp {
    fn drop(&mut self) {
        let _ended = self.process.kill().and_then(|()| self.process.wait());
        let _gone = std::fs::remove_dir_all(&self.work);
    }
}

/// What VPP does and brings, up to the file of the packets.
fn setup(commands: &str, vector: usize) -> String {
    format!(
        "{PORTS}{commands}packet-generator new {{ name s source pg0 node ethernet-input \
         limit 1000000000000 maxframe {vector} "
    )
}

/// How many packets came in, and went out, by what `show interface` tells of the ports themselves:
/// what their VLANs did is counted there as well.
fn came_and_left(told: &str) -> [u64; 2] {
    let (mut is_port, mut counts) = (false, [0; 2]);
    for line in told.lines() {
        if !line.starts_with(char::is_whitespace) {
            let name = line.split_whitespace().next().unwrap_or_default();
            is_port = name.starts_with("pg") && !name.contains('.');
        }
        let Some((before, count)) = line.trim().rsplit_once(char::is_whitespace) else { continue };
        for (direction, counted) in ["rx packets", "tx packets"].iter().zip(&mut counts) {
            if is_port && before.trim_end().ends_with(direction) {
                *counted += count.parse().unwrap_or(0);
            }
        }
    }
    counts
}

/// Keeps this thread where it is, for VPP to be put there as well.
fn stay_on_this_core() -> io::Result<usize> {
    let core = sched_getcpu();
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only)?;
    Ok(core)
}

/// One thread, on the core of this one; buffers on usual pages; room for large tables.
fn startup(work: &Path, core: usize) -> String {
    let work = work.display();
    format!(
        "unix {{ nodaemon cli-listen {work}/cli.sock }}\n\
         cpu {{ main-core {core} }}\n\
         api-segment {{ prefix volley-bench }}\n\
         socksvr {{ socket-name {work}/api.sock }}\n\
         statseg {{ socket-name {work}/stats.sock page-size 4k size 4G }}\n\
         memory {{ main-heap-size 4G main-heap-page-size 4k }}\n\
         buffers {{ buffers-per-numa 32768 page-size 4k }}\n\
         plugins {{ plugin dpdk_plugin.so {{ disable }} }}\n"
    )
}

/// Frames as a capture file of the classic form (libpcap's savefile(5)).
fn write_pcap(path: &Path, frames: &[Vec<u8>]) -> io::Result<()> {
    const ETHERNET: u32 = 1;
    let mut out = BufWriter::new(File::create(path)?);
    for word in [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, ETHERNET] {
        out.write_all(&u32::to_ne_bytes(word))?;
    }
    for frame in frames {
        let length = frame.len() as u32;
        for word in [0, 0, length, length] {
            out.write_all(&u32::to_ne_bytes(word))?;
        }
        out.write_all(frame)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_counted_by_ports_and_not_by_their_vlans() {
        let told = [
            "              Name               Idx    State  MTU     Counter          Count     ",
            "local0                            0     down  0/0/0/0       ",
            "pg0                               1      up   9000/0/0/0     rx packets         1000\r",
            "                                                             rx bytes          60000\r",
            "                                                             tx packets            1\r",
            "pg0.100                           3      up   0/0/0/0        rx packets          500\r",
            "pg1                               2      up   9000/0/0/0     tx packets          600\r",
            "                                                             tx bytes          36000\r",
            "pg2                               4      up   9000/0/0/0     tx packets          400\r",
        ];
        assert_eq!(came_and_left(&told.join("\n")), [1000, 1001]);
        assert_eq!(came_and_left("no such command"), [0, 0]);
    }
}
