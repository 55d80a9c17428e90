//! Volley: the daemon as a process, its configuration written, its counters by its API.

mod api;
mod configuration;
mod flow_bridge;
mod networks;
mod settings;
pub(super) mod table;
mod told;

use std::path::{Path, PathBuf};

use api::get;
use configuration::{PORTS, WHOLE_PEERS, configuration};
use lab_record::axes::VectorPackets;
use lab_record::{Counters, NodeCost};
use settings::{MOST_PACKETS, SETTABLE};

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::device::{Change, Device, Job, NetworkDriver};
use crate::dut::{bridge, dhcrelay};
use crate::link::{LAB_MACS, LinkKind};
use crate::load::frames::{self, Route};
use crate::load::leases;
use crate::place::{Place, has_program, output};
use crate::scenario::FunctionKind;

pub(super) use flow_bridge::ADAPTER as FLOW_BRIDGE;

/// As the list has it.
pub(super) const ADAPTER: Adapter = Adapter {
    of_folder: Some(|folder| Box::new(Volley::in_folder(folder))),
    usual: true,
    read: Some(told::of_text),
    ..Adapter::new("volley", || Box::new(Volley::beside_us()), "make build (or volley=FOLDER)")
};

/// The daemon of one folder.
pub(super) struct Volley {
    program: String,
}

/// Whose routes those are that are added while it runs.
const SOURCE: &str = "ebgp";
/// Nodes that are called in every pass, with packets or without.
const POLLED: [&str; 4] = ["port-rx", "port-tx", "inject", "shape"];

impl Volley {
    /// The one in the folder of the lab's own program, or on the path.
    pub(super) fn beside_us() -> Self {
        let beside =
            std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("volleyd")));
        let program = beside.filter(|path| path.exists()).map(|path| path.display().to_string());
        Self { program: program.unwrap_or_else(|| "volleyd".into()) }
    }

    /// Starts the daemon with a configuration. Where it answers.
    fn run(&self, text: &str, place: &mut Place) -> Result<PathBuf, Error> {
        let file = place.write("volley.toml", text)?;
        let socket = socket(place);
        let line =
            format!("{} --config {} --socket {}", self.program, file.display(), socket.display());
        place.spawn("volleyd", &line)?;
        place.wait_for_start("volleyd answers", |_| get(&socket, "/v1/version").is_ok())?;
        Ok(socket)
    }

    /// Holds its bridge to the switches that the job gives.
    fn confirm_switches(&self, job: &Job, place: &mut Place) -> Result<(), Error> {
        if job.function.switches().next().is_none() {
            return Ok(());
        }
        let says = told::switches(&get(&socket(place), "/v1/bridges")?)?;
        bridge::confirm(self, job, place, &says)
    }

    /// Starts a DHCP relay on the ports' twins in the kernel, once they have their addresses.
    fn relay(&self, job: &Job, place: &mut Place) -> Result<(), Error> {
        for (side, twin) in PORTS.into_iter().enumerate() {
            let address = frames::device_address(false, side).to_string();
            let look = format!("ip -4 -br addr show dev {twin} up");
            place.wait_for_start("its twins have addresses", |place| {
                place.quietly(&look).is_ok_and(|told| told.contains(&address))
            })?;
        }
        let (server, mac, twin) = (leases::server(), LAB_MACS[1], PORTS[1]);
        place.run(&format!("ip neigh replace {server} lladdr {mac} dev {twin} nud permanent"))?;
        dhcrelay::start(self, job, place, PORTS)
    }

    /// Whether this build knows a key of a kernel device: not all that are compared are of today.
    fn knows(&self, key: &str, place: &Place) -> bool {
        let program = self.command_line();
        let port = format!("[port.p]\nkind = \"af_packet\"\ndevice = \"d0\"\n{key}");
        let check = format!("{} config check /dev/stdin <<'END'\n{port}END\n", program.display());
        !has_program(&program.display().to_string()) || place.quietly(&check).is_ok()
    }

    /// The program beside the daemon that asks it.
    fn command_line(&self) -> PathBuf {
        Path::new(&self.program).with_file_name("volley")
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

    fn speaks_lisp(&self) -> bool {
        true
    }

    fn guests_link(&self) -> LinkKind {
        LinkKind::Vhost
    }

    fn network_driver(&mut self, job: &Job) -> Option<&mut dyn NetworkDriver> {
        networks::does(job).then_some(self as _)
    }

    fn rests(&self) -> bool {
        true
    }

    fn settable(&self) -> &'static [&'static str] {
        &SETTABLE
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        refuse_what_cannot_be(self, job)?;
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
        let mut text = configuration(job, place.cores())
            .ok_or_else(|| self.refuse(job, "its adapter cannot say this yet"))?;
        if text.contains(WHOLE_PEERS) && !self.knows(WHOLE_PEERS, place) {
            text = text.replace(WHOLE_PEERS, "");
        }
        let socket = self.run(&(text + &settings::bottleneck(job)), place)?;
        if let Some(command) = table::fill(job) {
            let socket = socket.display();
            place.run(&format!("{} --socket {socket} {command}", self.command_line().display()))?;
        }
        table::counted(job, &get(&socket, "/v1/memory")?)?;
        self.confirm_switches(job, place)?;
        if job.function.kind == FunctionKind::Dhcp4 {
            return self.relay(job, place);
        }
        Ok(())
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        let socket = socket(place);
        let ask = |path| get(&socket, path);
        let told = [ask("/v1/ports")?, ask("/v1/errors")?, ask("/v1/workers")?];
        told::counters(told.each_ref().map(String::as_str))
    }

    fn change(&mut self, _: &Job, change: &Change, place: &mut Place) -> Result<String, Error> {
        let Change { added, entries, remove } = change;
        let line =
            format!("{} --socket {} route", self.command_line().display(), socket(place).display());
        if *remove {
            return Ok(format!("{line} flush --source {SOURCE}"));
        }
        let route = |Route { prefix, via }| format!("{prefix} {via}\n");
        let table: String = added.routes(entries.clone()).map(route).collect();
        let path = place.write("change.routes", &table)?;
        Ok(format!("{line} load {} --source {SOURCE}", path.display()))
    }

    fn function_of(&self, node: &str) -> Option<[String; 2]> {
        let name = [format!("::{}::", node.replace('-', "_")), "Node>::process".into()];
        (!POLLED.contains(&node)).then_some(name)
    }

    fn nodes(&mut self, place: &mut Place) -> Result<Vec<NodeCost>, Error> {
        told::nodes(&get(&socket(place), "/v1/nodes")?)
    }
}

/// Refuses for a device what a daemon of ours can by no means do.
fn refuse_what_cannot_be(device: &dyn Device, job: &Job) -> Result<(), Error> {
    let packets = job.settings.get::<VectorPackets>();
    if packets.is_some_and(|packets| !(1..=MOST_PACKETS).contains(&packets)) {
        return Err(device.refuse(job, &format!("its vectors hold 1 to {MOST_PACKETS} packets")));
    }
    if job.function.ageing == Some(false) && job.function.learning != Some(false) {
        let reason = "it forgets what it learned after two hours at the latest";
        return Err(device.refuse(job, reason));
    }
    Ok(())
}

fn socket(place: &Place) -> PathBuf {
    place.folder().join("volley.sock")
}
