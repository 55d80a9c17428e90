//! The agent: on the device's host it sets up, starts, asks, stops and collects what it is told to,
//! by standard input and output. When whoever asked is gone, so is everything that it started.
//!
//! ```text
//! allocate ─▶ (start ─▶ counters … ─▶ stop) … ─▶ end of input: reset
//! ```

use std::fs::File;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lab_record::Counters;

use super::protocol::{Ask, Told};
use super::wires::DeviceEnds;
use crate::dut::device::Device;
use crate::host::clock::{self, HostClock};
use crate::link::{DEVICE_DEVICES, DeviceEnd, LinkKind};
use crate::place::Place;
use crate::trial::wish::refuse_what_it_does_not_speak;
use crate::{Error, dut, host};

/// So long without a word means that whoever asked is gone without having said so.
const PATIENCE: Duration = Duration::from_secs(900);
/// What an agent says that cannot be.
const NOT_ALLOCATED: &str = "the host was not allocated";

/// What an agent holds.
#[derive(Default)]
struct Agent {
    allocated: Option<Allocated>,
    running: Option<Running>,
}

struct Allocated {
    ports: [String; 2],
    cores: String,
    // As long as it is open nobody else has the host.
    _lock: File,
}

/// A device that was set up.
struct Running {
    device: Box<dyn Device>,
    ends: Option<DeviceEnds>,
    place: Place,
    _slowed: Option<HostClock>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.place.stop();
        if let Some(ends) = self.ends.take() {
            ends.take_back(&self.place);
        }
    }
}

/// Answers until there is nothing more to read, or nobody asks any more.
pub fn serve(input: impl BufRead + Send + 'static, mut output: impl Write) -> Result<(), Error> {
    let (lines, asked) = channel();
    // The thread ends with the input, or with us.
    std::thread::spawn(move || {
        input.lines().map_while(Result::ok).try_for_each(|line| lines.send(line))
    });
    let mut agent = Agent::default();
    loop {
        let line = match asked.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
        };
        let told = match serde_json::from_str(&line) {
            Ok(ask) => agent.answer(ask).unwrap_or_else(Told::from),
            Err(error) => {
                Told::Failed { refused: false, reason: format!("{error} in {line:.200}") }
            }
        };
        let mut text = serde_json::to_string(&told).unwrap_or_default();
        text.push('\n');
        if output.write_all(text.as_bytes()).and_then(|()| output.flush()).is_err() {
            return Ok(());
        }
    }
}

impl Agent {
    fn answer(&mut self, ask: Ask) -> Result<Told, Error> {
        Ok(match ask {
            Ask::Hello => {
                Told::Hello { version: env!("CARGO_PKG_VERSION").into(), facts: host::facts() }
            }
            Ask::Clock => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Told::Clock { unix_ns: now.as_nanos() as u64 }
            }
            Ask::Allocate { ports, cores } => {
                self.running = None;
                self.allocated = None;
                self.allocated = Some(Allocated { ports, cores, _lock: lock()? });
                Told::Done { commands: Vec::new() }
            }
            Ask::Version { kind } => Told::Version { version: dut::named(&kind)?.version()? },
            Ask::Start { kind, wish } => {
                self.running = None;
                let wish = wish.wish();
                let held = self.allocated.as_ref().ok_or_else(|| nothing(NOT_ALLOCATED))?;
                let device = dut::named(&kind)?;
                refuse_what_it_does_not_speak(&*device, &wish, LinkKind::Veth)?;
                let ends = DEVICE_DEVICES.map(|name| DeviceEnd::Kernel(name.to_owned()));
                let job = wish.job(LinkKind::Veth, ends);
                let cores = wish.cores(&*device, &held.cores, LinkKind::Veth)?;
                device.check_settings(&job, &cores)?;
                let slowed = clock::for_job(&*device, &job, &cores)?;
                let place = Place::new(&folder(), &cores)?;
                let ends = DeviceEnds::lend(&held.ports, &place, wish.mtu())?;
                // From here on whatever fails takes everything back.
                let mut running = Running { device, ends: Some(ends), place, _slowed: slowed };
                let Running { device, place, .. } = &mut running;
                device.start(&job, place)?;
                place.alive()?;
                let commands = place.commands().to_vec();
                self.running = Some(running);
                Told::Done { commands }
            }
            Ask::Counters => {
                let Running { device, place, .. } = self.running()?;
                place.alive()?;
                let counters: Counters = device.counters(place)?;
                Told::Counters { counters }
            }
            Ask::Nodes => {
                let Running { device, place, .. } = self.running()?;
                Told::Nodes { nodes: device.nodes(place)? }
            }
            Ask::Stop => {
                self.running = None;
                Told::Done { commands: Vec::new() }
            }
        })
    }

    fn running(&mut self) -> Result<&mut Running, Error> {
        self.running.as_mut().ok_or_else(|| nothing("no device was started"))
    }
}

fn nothing(reason: &str) -> Error {
    Error::Command { line: "agent".into(), reason: reason.to_owned() }
}

/// Where devices keep their files.
fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("volley-lab-agent-{}", std::process::id()))
}

/// Nobody else's, as long as it is held: a host is a network namespace.
fn lock() -> Result<File, Error> {
    use std::os::unix::fs::MetadataExt;
    let space = std::fs::metadata("/proc/self/ns/net").map_or(0, |it| it.ino());
    let path = std::env::temp_dir().join(format!("volley-lab-host-{space}.lock"));
    let file = File::create(&path).map_err(Error::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(nothing("another session has this host")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn told(lines: &str) -> Vec<Told> {
        let mut output = Vec::new();
        serve(Cursor::new(lines.to_owned()), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn an_agent_answers_in_turn_and_says_what_it_does_not_understand() {
        let told = told("\"hello\"\n\"clock\"\n{\"fly\":1}\n\"counters\"\n\"stop\"\n");
        assert!(matches!(&told[0], Told::Hello { facts, .. } if facts.contains_key("kernel")));
        assert!(matches!(told[1], Told::Clock { unix_ns } if unix_ns > 1 << 60));
        let failed = |at: usize, why: &str| {
            assert!(
                matches!(&told[at], Told::Failed { reason, refused: false } if reason.contains(why)),
                "{:?}",
                told[at]
            );
        };
        failed(2, "unknown variant `fly`");
        failed(3, "no device was started");
        assert_eq!(told[4], Told::Done { commands: Vec::new() });
        assert_eq!(told.len(), 5);
    }

    #[test]
    fn a_device_that_is_not_there_is_refused_by_its_host() {
        let told = told("{\"version\":{\"kind\":\"volley=/nowhere\"}}\n");
        assert!(matches!(&told[0], Told::Failed { refused: true, .. }), "{told:?}");
    }
}
