//! Volley: the daemon as a process, its configuration written, its counters by its API.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::Error;
use crate::scenario::FunctionKind;
use crate::trial::device::{Counters, Device, Job};
use crate::trial::frames;
use crate::trial::link::{DeviceEnd, LAB_MACS, LinkKind};
use crate::trial::place::{Place, has_program, output};
use crate::trial::telemetry::NodeCost;

/// The daemon of one folder.
pub(super) struct Volley {
    program: String,
}

const PATIENCE: Duration = Duration::from_secs(20);
/// Longest wait for an answer of the API.
const ANSWER: Duration = Duration::from_secs(10);

/// A port as the API shows it, but for what is not needed here.
#[derive(Deserialize)]
struct Port {
    name: String,
    rx: Counted,
    tx: Counted,
}

/// What its graph drops is told by reason elsewhere.
#[derive(Deserialize)]
struct Counted {
    packets: u64,
    errors: u64,
}

/// A node of its graph.
#[derive(Deserialize)]
struct Node {
    name: String,
    calls: u64,
    packets: u64,
    cycles_per_packet: f64,
}

/// Packets dropped for a reason.
#[derive(Deserialize)]
struct Dropped {
    node: String,
    reason: String,
    packets: u64,
}

impl Volley {
    /// The one in the folder of the lab's own program, or on the path.
    pub(super) fn beside_us() -> Self {
        let beside =
            std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("volleyd")));
        let program = beside.filter(|path| path.exists()).map(|path| path.display().to_string());
        Self { program: program.unwrap_or_else(|| "volleyd".into()) }
    }

    /// The one in that folder: to compare two builds.
    pub(super) fn in_folder(folder: &str) -> Self {
        Self { program: Path::new(folder).join("volleyd").display().to_string() }
    }
}

impl Device for Volley {
    fn name(&self) -> &'static str {
        "volley"
    }

    fn version(&self) -> Result<String, Error> {
        if !has_program(&self.program) {
            let (device, job) = (self.name().into(), "any job".into());
            let reason = format!("there is no {}: build it first", self.program);
            return Err(Error::Refused { device, job, reason });
        }
        output(&[&self.program, "--version"])
            .map_err(|reason| Error::Command { line: self.program.clone(), reason })
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        let text = configuration(job, place.cores())
            .ok_or_else(|| self.refuse(job, "its adapter cannot say this yet"))?;
        let file = place.write("volley.toml", &text)?;
        let socket = socket(place);
        let line =
            format!("{} --config {} --socket {}", self.program, file.display(), socket.display());
        place.spawn("volleyd", &line)?;
        place.wait_until("volleyd answers", PATIENCE, |_| get(&socket, "/v1/version").is_ok())
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        let socket = socket(place);
        let ports: Vec<Port> = ask(&socket, "/v1/ports")?;
        let dropped: Vec<Dropped> = ask(&socket, "/v1/errors")?;
        let mut counters = Counters::default();
        for Port { name, rx, tx } in ports {
            counters.received += rx.packets;
            counters.sent += tx.packets;
            counters.drop(format!("{name} rx"), rx.errors);
            counters.drop(format!("{name} tx"), tx.errors);
        }
        for Dropped { node, reason, packets } in dropped {
            counters.drop(format!("{node} {reason}"), packets);
        }
        Ok(counters)
    }

    fn nodes(&mut self, place: &mut Place) -> Result<Vec<NodeCost>, Error> {
        let nodes: Vec<Node> = ask(&socket(place), "/v1/nodes")?;
        let cost = |Node { name, calls, packets, cycles_per_packet }| NodeCost {
            node: name,
            calls,
            packets,
            cycles: cycles_per_packet * packets as f64,
        };
        Ok(nodes.into_iter().map(cost).collect())
    }
}

fn socket(place: &Place) -> PathBuf {
    place.folder().join("volley.sock")
}

/// The configuration of a job; none if it cannot be said.
fn configuration(job: &Job, cores: &str) -> Option<String> {
    let mut text = format!("[workers]\ncores = [{cores}]\nidle = \"poll\"\n");
    if job.workers > 1 {
        text = format!("[workers]\ncount = {}\nidle = \"poll\"\n", job.workers);
    }
    if job.entries > 1_000_000 {
        let _ = writeln!(text, "[memory]\nroutes = {}", job.entries * 2);
    }
    let six = job.function.kind == FunctionKind::Ip6;
    let routed = six || job.function.kind == FunctionKind::Ip4;
    for (side, (name, end)) in ["left", "right"].into_iter().zip(&job.ends).enumerate() {
        let _ = writeln!(text, "[port.{name}]");
        let _ = match end {
            DeviceEnd::Kernel(device) => {
                let kind = if job.link == LinkKind::VethXdp { "af_xdp" } else { "af_packet" };
                writeln!(text, "kind = \"{kind}\"\ndevice = \"{device}\"")
            }
            DeviceEnd::Memif(socket) => {
                writeln!(
                    text,
                    "kind = \"memif\"\nrole = \"server\"\nsocket = \"{}\"",
                    socket.display()
                )
            }
            DeviceEnd::Vhost(socket) => {
                writeln!(text, "kind = \"vhost\"\nsocket = \"{}\"", socket.display())
            }
        };
        if !matches!(end, DeviceEnd::Kernel(_)) && routed {
            let _ = writeln!(text, "mac = \"{}\"", crate::trial::link::DEVICE_MACS[side]);
        }
        if routed {
            let length = if six { 64 } else { 24 };
            let _ =
                writeln!(text, "addresses = [\"{}/{length}\"]", frames::device_address(six, side));
        }
    }
    match job.function.kind {
        FunctionKind::CrossConnect => text += "[[xconnect]]\nports = [\"left\", \"right\"]\n",
        FunctionKind::Ip4 | FunctionKind::Ip6 => {
            for (side, name) in ["left", "right"].into_iter().enumerate() {
                let (address, mac) = (frames::lab_address(six, side), LAB_MACS[side]);
                let _ = writeln!(
                    text,
                    "[[neighbor]]\naddress = \"{address}\"\nport = \"{name}\"\nmac = \"{mac}\""
                );
            }
            for route in frames::routes(six, job.entries) {
                let frames::Route { prefix, via } = route;
                let _ = writeln!(text, "[[route]]\nprefix = \"{prefix}\"\nvia = \"{via}\"");
            }
        }
        FunctionKind::Bridge => {
            text += "[bridge.lan]\nports = [\"left\", \"right\"]\n";
            let switches = [
                ("learn", job.function.learning),
                ("flood_unknown", job.function.unknown_unicast_flood),
                ("flood_groups", job.function.flood),
            ];
            for (name, on) in switches.into_iter().filter_map(|(name, on)| Some((name, on?))) {
                let _ = writeln!(text, "{name} = {on}");
            }
            if job.entries > 1 {
                for mac in frames::macs(job.entries) {
                    let _ = writeln!(
                        text,
                        "[[mac]]\nbridge = \"lan\"\naddress = \"{mac}\"\nport = \"right\""
                    );
                }
            }
        }
        _ => return None,
    }
    Some(text)
}

/// The body of an answer of the API.
fn get(socket: &Path, path: &str) -> Result<String, Error> {
    let line = format!("GET {path}");
    let refuse = |reason: String| Error::Command { line: line.clone(), reason };
    let exchange = || {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(
            format!("GET {path} HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    let answer = exchange().map_err(|error| refuse(error.to_string()))?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| refuse("no answer".into()))?;
    match head.starts_with("HTTP/1.1 200") {
        true => Ok(body.to_owned()),
        false => Err(refuse(head.lines().next().unwrap_or_default().to_owned())),
    }
}

fn ask<T: for<'de> Deserialize<'de>>(socket: &Path, path: &str) -> Result<T, Error> {
    let body = get(socket, path)?;
    serde_json::from_str(&body).map_err(|error| Error::Command {
        line: format!("GET {path}"),
        reason: format!("{error} in {:.200}", body),
    })
}
