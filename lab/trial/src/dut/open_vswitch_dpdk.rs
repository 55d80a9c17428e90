//! Open vSwitch on DPDK: the same daemons and flows as without, ports polled by a thread of its
//! own.
//!
//! ```text
//! veth, tap     net_af_packet          a DPDK device of its own, one a port
//! memif         net_memif              the same, as server; sends by one queue for each of its threads
//! vhost         dpdkvhostuserclient    connects to the lab; a port of the kind that listens counts no packets
//! pci           the card's own         by its address; packets are on huge pages then
//! ```
//! Of a memif each thread has a transmit queue, the main thread the first, and what has no receive
//! queue at the other end is dropped there: so the lab opens as many. Packets come by the polling
//! thread's alone. Each port has buffers of its own (`per-port-memory`): the usual 262 144 of all
//! ports are there twice when a vhost's other end comes, do not fit, and Open vSwitch gives the
//! port up. Otherwise no huge pages (which without `--legacy-mem` it would have "in memory"), no
//! cards: what `dpdk-extra` says of them holds for every machine.

use lab_record::axes::{Axis, Workers};
use lab_record::{Counters, NodeCost};

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::device::{Change, Device, Job};
use crate::dut::open_vswitch::{self, counters};
use crate::dut::open_vswitch_bridge;
use crate::dut::settings::core_numbers;
use crate::link::{DeviceEnd, LinkKind, Needs};
use crate::place::{Place, has_program, output};
use crate::watch::probe::first;

/// As the list has it.
pub(super) const ADAPTER: Adapter = Adapter::new(
    "ovs-dpdk",
    || Box::new(OpenVswitchDpdk::default()),
    "apt install openvswitch-switch-dpdk",
);

/// See the module.
#[derive(Default)]
pub(super) struct OpenVswitchDpdk {
    bridge: String,
}

const PROGRAM: &str = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk";
const MEMORY_MIB: u32 = 1_024;
/// Most threads that poll: each has whole receive queues, of which a port has one.
const MOST_WORKERS: u64 = 2;
/// What its adapter sets.
const SETTABLE: [&str; 5] = [
    Workers::NAME,
    open_vswitch_bridge::SETTABLE[0],
    open_vswitch_bridge::SETTABLE[1],
    open_vswitch_bridge::SETTABLE[2],
    open_vswitch_bridge::SETTABLE[3],
];

impl Device for OpenVswitchDpdk {
    fn name(&self) -> &'static str {
        "ovs-dpdk"
    }

    fn version(&self) -> Result<String, Error> {
        let missing = [PROGRAM, "ovsdb-server", "ovs-vsctl", "ovs-ofctl"];
        if let Some(program) = missing.into_iter().find(|program| !has_program(program)) {
            let (device, job) = (self.name().into(), "any job".into());
            let reason = format!("{program} is not installed (package openvswitch-switch-dpdk)");
            return Err(Error::Refused { device, job, reason });
        }
        let told = output(&[PROGRAM, "--version"]).unwrap_or_default();
        let lines: Vec<&str> = told.lines().take(2).collect();
        Ok(lines.join(", "))
    }

    fn needs(&self, job: &Job) -> Needs {
        Needs {
            rx_queues: if job.link == LinkKind::Memif { threads(job.workers) } else { 1 },
            listener: job.link == LinkKind::Vhost,
        }
    }

    fn guests_link(&self) -> LinkKind {
        LinkKind::Vhost
    }

    fn settable(&self) -> &'static [&'static str] {
        &SETTABLE
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        match job.link {
            LinkKind::VethXdp => {
                return Err(self.refuse(job, "its adapter knows no XDP sockets"));
            }
            LinkKind::Pcap => {
                let reason = "it reads the file of its first port before the second port is there";
                return Err(self.refuse(job, reason));
            }
            _ => {}
        }
        if job.function.kind.is_tunnel() {
            return Err(
                self.refuse(job, "its adapter lays no second bridge for a tunnel to end in")
            );
        }
        if let Some(reason) = open_vswitch_bridge::refusal(job) {
            return Err(self.refuse(job, reason));
        }
        let flows = open_vswitch::flows(job)
            .ok_or_else(|| self.refuse(job, "no flows are known for it"))?;
        let vsctl = open_vswitch::database(place)?;
        if job.workers > MOST_WORKERS {
            let reason = "its threads poll whole receive queues, and each of two ports has one: no more than 2 workers have work";
            return Err(self.refuse(job, reason));
        }
        let mask = mask(place.cores(), job.workers);
        let main = mask_of(first(place.cores()).parse().unwrap_or(0));
        place.run(&format!(
            "{vsctl} --no-wait set open_vswitch . other_config:dpdk-init=true \
             other_config:per-port-memory=true \
             other_config:pmd-cpu-mask={mask:#x} other_config:dpdk-lcore-mask={main:#x} \
             other_config:dpdk-extra=\"{} --no-telemetry -m {MEMORY_MIB} \
             --file-prefix=volley-lab-ovs\"",
            memory(job)
        ))?;
        let folder = place.folder().display().to_string();
        place.spawn(
            "ovs-vswitchd",
            &format!(
                "env OVS_RUNDIR={folder} {PROGRAM} unix:{folder}/db.sock \
                 --unixctl={folder}/vswitchd.ctl --disable-system"
            ),
        )?;
        let ports: Vec<String> =
            job.ends.iter().enumerate().map(|(side, end)| port(side, end)).collect();
        place.run(&format!(
            "{vsctl} --no-wait add-br br0 -- set bridge br0 datapath_type=netdev {}",
            ports.join(" ")
        ))?;
        self.bridge = format!("unix:{folder}/br0.mgmt");
        let bridge = self.bridge.clone();
        place.wait_for_start("Open vSwitch has both ports", |place| {
            let told = place.quietly(&format!("ovs-ofctl dump-ports {bridge}"));
            told.is_ok_and(|told| told.matches("port ").count() == 3)
        })?;
        open_vswitch::load(place, &self.bridge, flows)?;
        open_vswitch_bridge::set(self, job, (&vsctl, &self.bridge), place)
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        Ok(counters(&place.quietly(&format!("ovs-ofctl dump-ports {}", self.bridge))?))
    }

    fn nodes(&mut self, place: &mut Place) -> Result<Vec<NodeCost>, Error> {
        let control = place.folder().join("vswitchd.ctl");
        let ask = |what| format!("ovs-appctl -t {} dpif-netdev/{what}", control.display());
        let told = [ask("pmd-stats-show"), ask("pmd-perf-show")];
        Ok(vec![polling(&place.quietly(&told.join(" && "))?)])
    }

    fn change(&mut self, _: &Job, change: &Change, place: &mut Place) -> Result<String, Error> {
        open_vswitch::change(place, &self.bridge, change)
    }
}

/// What its threads did that poll, from receiving to sending: cycles of rounds without packets
/// aside.
fn polling(told: &str) -> NodeCost {
    let sum = |label| -> u64 {
        let rest = told.lines().filter_map(|line| line.trim_start().strip_prefix(label));
        rest.filter_map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).sum()
    };
    NodeCost {
        node: "pmd".into(),
        calls: sum("- busy iterations:"),
        packets: sum("packets received:"),
        cycles: sum("processing cycles:") as f64,
    }
}

/// Threads that send: the main thread, and those that poll.
fn threads(workers: u64) -> u16 {
    1 + workers.clamp(1, MOST_WORKERS) as u16
}

/// A bit of the mask of processors.
fn mask_of(core: u64) -> u64 {
    1 << core.min(63)
}

/// The first of the processors, a bit for each thread that polls.
fn mask(cores: &str, workers: u64) -> u64 {
    let cores = core_numbers(cores).into_iter().take(workers.max(1) as usize);
    cores.map(mask_of).reduce(|all, bit| all | bit).unwrap_or(1)
}

/// Where packets live, and which cards there are.
fn memory(job: &Job) -> String {
    let cards = job.ends.iter().filter_map(|end| match end {
        DeviceEnd::Pci(address) => Some(format!(" -a {address}")),
        _ => None,
    });
    match job.link {
        LinkKind::Pci => format!("--in-memory{}", cards.collect::<String>()),
        _ => "--no-huge --legacy-mem --no-pci --no-shconf --iova-mode=va".to_owned(),
    }
}

/// How a port is added.
fn port(side: usize, end: &DeviceEnd) -> String {
    let kind = match end {
        DeviceEnd::Vhost(socket) => {
            format!("type=dpdkvhostuserclient options:vhost-server-path={}", socket.display())
        }
        _ => {
            let device = super::eal::vdev(side, end, LinkKind::Veth);
            format!("type=dpdk options:dpdk-devargs='\"{device}\"'")
        }
    };
    format!("-- add-port br0 p{side} -- set interface p{side} {kind} ofport_request={}", side + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::{job, over_cards};
    use crate::scenario::FunctionKind;

    #[test]
    fn a_thread_that_polls_has_a_processor_of_the_mask() {
        assert_eq!([mask("2-3,8", 1), mask("2-3,8", 2), mask("", 1)], [0b100, 0b1100, 1]);
        assert_eq!([threads(1), threads(2)], [2, 3]);
    }

    #[test]
    fn an_end_is_a_device_of_dpdks_own() {
        assert_eq!(
            port(0, &DeviceEnd::Kernel("d0".into())),
            "-- add-port br0 p0 -- set interface p0 type=dpdk options:dpdk-devargs=\
             '\"net_af_packet0,iface=d0,blocksz=8192,framesz=2048,framecnt=4096\"' ofport_request=1"
        );
    }

    #[test]
    fn what_polling_costs_is_that_of_rounds_with_packets() {
        let told = "pmd thread numa_id 0 core_id 0:\n  packets received: 2217968\n  \
            avg. packets per output batch: 31.89\n  idle cycles: 1205678447 (42.51%)\n  \
            processing cycles: 1630464853 (57.49%)\n  avg cycles per packet: 1278.71 (28361433/2217968)\n\
            main thread:\n  packets received: 0\n\n  - idle iterations:  2200243  ( 42.3 % of used cycles)\n  \
            - busy iterations:         69966  ( 57.7 % of used cycles)\n";
        let NodeCost { calls, packets, cycles, .. } = polling(told);
        assert_eq!((calls, packets, cycles), (69_966, 2_217_968, 1_630_464_853.0));
    }

    #[test]
    fn cards_are_allowed_and_are_ports() {
        let job = over_cards(job(FunctionKind::CrossConnect, 1));
        assert_eq!(memory(&job), "--in-memory -a 0000:02:00.0 -a 0000:02:00.1");
        assert_eq!(
            port(1, &job.ends[1]),
            "-- add-port br0 p1 -- set interface p1 type=dpdk \
             options:dpdk-devargs='\"0000:02:00.1\"' ofport_request=2"
        );
    }

    #[test]
    fn a_vhost_is_a_port_that_connects() {
        assert_eq!(
            port(1, &DeviceEnd::Vhost("/tmp/lab/vhost1.sock".into())),
            "-- add-port br0 p1 -- set interface p1 type=dpdkvhostuserclient \
             options:vhost-server-path=/tmp/lab/vhost1.sock ofport_request=2"
        );
    }
}
