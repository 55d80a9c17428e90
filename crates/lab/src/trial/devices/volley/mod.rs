//! Volley: the daemon as a process, its configuration written, its counters by its API.

mod api;
mod configuration;
mod settings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use api::{ask, get};
use configuration::{PORTS, configuration};
use serde::Deserialize;
use settings::{MOST_PACKETS, SETTABLE};

use super::dhcrelay;
use crate::Error;
use crate::scenario::FunctionKind;
use crate::trial::device::{AwayAt, Change, Counters, Device, Job};
use crate::trial::frames::{self, Route};
use crate::trial::leases;
use crate::trial::link::{LAB_MACS, LinkKind};
use crate::trial::place::{Place, has_program, output};
use crate::trial::settings::Setting;
use crate::trial::telemetry::NodeCost;

/// The daemon of one folder.
pub(super) struct Volley {
    program: String,
}

/// Whose routes those are that are added while it runs.
const SOURCE: &str = "ebgp";
/// Nodes that are called in every pass, with packets or without.
const POLLED: [&str; 4] = ["port-rx", "port-tx", "inject", "shape"];
const PATIENCE: Duration = Duration::from_secs(20);

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

/// A worker.
#[derive(Deserialize)]
struct Worker {
    /// Builds of before there was such a thing do not tell.
    stalls: Option<WorkerStalls>,
}

#[derive(Deserialize)]
struct WorkerStalls {
    count: u64,
    total_us: f64,
    longest_us: f64,
    #[serde(default)]
    latest: Vec<WorkerStall>,
}

#[derive(Deserialize)]
struct WorkerStall {
    ended_unix_s: f64,
    length_us: f64,
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

    /// Starts a DHCP relay on the ports' twins in the kernel, once they have their addresses.
    fn relay(&self, job: &Job, place: &mut Place) -> Result<(), Error> {
        for (side, twin) in PORTS.into_iter().enumerate() {
            let address = frames::device_address(false, side).to_string();
            let look = format!("ip -4 -br addr show dev {twin} up");
            place.wait_until("its twins have addresses", PATIENCE, |place| {
                place.quietly(&look).is_ok_and(|told| told.contains(&address))
            })?;
        }
        let (server, mac, twin) = (leases::server(), LAB_MACS[1], PORTS[1]);
        place.run(&format!("ip neigh replace {server} lladdr {mac} dev {twin} nud permanent"))?;
        dhcrelay::start(self, job, place, PORTS)
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

    fn settable(&self) -> &'static [Setting] {
        &SETTABLE
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        if job.settings.vector_packets.is_some_and(|packets| !(1..=MOST_PACKETS).contains(&packets))
        {
            return Err(self.refuse(job, &format!("its vectors hold 1 to {MOST_PACKETS} packets")));
        }
        if job.link == LinkKind::Pcap {
            let late = match job.function.kind {
                FunctionKind::Ip6 => "it tries its IPv6 addresses for a second before it uses them",
                FunctionKind::Dhcp4 => "the relay beside it starts when it runs",
                _ => "",
            };
            if !late.is_empty() {
                return Err(self.refuse(job, &format!("{late}; the file is read by then")));
            }
        }
        let text = configuration(job, place.cores())
            .ok_or_else(|| self.refuse(job, "its adapter cannot say this yet"))?;
        let file = place.write("volley.toml", &(text + &settings::bottleneck(job)))?;
        let socket = socket(place);
        let line =
            format!("{} --config {} --socket {}", self.program, file.display(), socket.display());
        place.spawn("volleyd", &line)?;
        place.wait_until("volleyd answers", PATIENCE, |_| get(&socket, "/v1/version").is_ok())?;
        if job.function.kind == FunctionKind::Dhcp4 {
            return self.relay(job, place);
        }
        Ok(())
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        let socket = socket(place);
        let ports: Vec<Port> = ask(&socket, "/v1/ports")?;
        let dropped: Vec<Dropped> = ask(&socket, "/v1/errors")?;
        let workers: Vec<Worker> = ask(&socket, "/v1/workers")?;
        let mut counters = Counters::default();
        for Port { name, rx, tx } in ports {
            counters.receive(rx.packets);
            counters.send(tx.packets);
            counters.drop(format!("{name} rx"), rx.errors);
            counters.drop(format!("{name} tx"), tx.errors);
        }
        for Dropped { node, reason, packets } in dropped {
            counters.drop(format!("{node} {reason}"), packets);
        }
        for WorkerStalls { count, total_us, longest_us, latest } in
            workers.into_iter().filter_map(|worker| worker.stalls)
        {
            counters.away.extend(latest.into_iter().map(|stall| AwayAt {
                until_unix_ns: (stall.ended_unix_s * 1e9) as u64,
                length_ns: (stall.length_us * 1e3) as u64,
            }));
            let stalls = counters.stalls.get_or_insert_default();
            stalls.workers += 1;
            stalls.count += count;
            stalls.total_us += total_us as u64;
            stalls.longest_us = stalls.longest_us.max(longest_us as u64);
        }
        Ok(counters)
    }

    fn change(&mut self, _: &Job, change: &Change, place: &mut Place) -> Result<String, Error> {
        let Change { added, entries, remove } = change;
        let program = Path::new(&self.program).with_file_name("volley");
        let line = format!("{} --socket {} route", program.display(), socket(place).display());
        if *remove {
            return Ok(format!("{line} flush --source {SOURCE}"));
        }
        let route = |Route { prefix, via }| format!("{prefix} {via}\n");
        let table: String = added.routes(entries.clone()).map(route).collect();
        let path = place.write("change.routes", &table)?;
        Ok(format!("{line} load {} --source {SOURCE}", path.display()))
    }

    fn function_of(&self, node: &str) -> Option<[String; 2]> {
        let name = [format!("<nodes::{}::", node.replace('-', "_")), "Node>::process".into()];
        (!POLLED.contains(&node)).then_some(name)
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
