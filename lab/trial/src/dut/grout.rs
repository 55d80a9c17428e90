//! grout: the daemon, and a file of commands for `grcli`.
//!
//! ```text
//! grout -t -s sock           without huge pages           grcli -s sock < setup      grcli -s sock stats show hardware
//! ```
//! Debian has no package of it. What is written here follows its public tests and manuals, and is
//! tested against a program that speaks as grout does; it was not run with grout itself.

use std::fmt::Write as _;
use std::path::Path;

use lab_record::Counters;

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::device::{Device, Job};
use crate::link::{DEVICE_MACS, LAB_MACS, LinkKind};
use crate::load::frames::{self, Route};
use crate::place::{Place, has_program, output};
use crate::scenario::FunctionKind;

/// As the list has it.
pub(super) const ADAPTER: Adapter = Adapter {
    read: Some(|text| Some(counters(text, text))),
    ..Adapter::new("grout", || Box::new(Grout), "build it from source, docs/peers.md says how")
};

/// See the module.
pub(super) struct Grout;

impl Device for Grout {
    fn name(&self) -> &'static str {
        "grout"
    }

    fn version(&self) -> Result<String, Error> {
        if let Some(program) = ["grout", "grcli"].into_iter().find(|program| !has_program(program))
        {
            let (device, job) = (self.name().into(), "any job".into());
            let reason = format!("{program} is not installed (packages of the grout project)");
            return Err(Error::Refused { device, job, reason });
        }
        output(&["grout", "-V"])
            .map_err(|reason| Error::Command { line: "grout -V".into(), reason })
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        if job.link == LinkKind::Pcap {
            return Err(self.refuse(job, "its adapter knows no capture files"));
        }
        let setup =
            setup(job).ok_or_else(|| self.refuse(job, "its adapter cannot say this yet"))?;
        let file = place.write("setup.grcli", &setup)?;
        let socket = place.folder().join("grout.sock");
        // In its test mode it does without huge pages, and without cards.
        let mode = if job.link == LinkKind::Pci { "" } else { "-t " };
        place.spawn("grout", &format!("grout {mode}-s {}", socket.display()))?;
        place.wait_for_start("grout listens", |_| socket.exists())?;
        place.run(&format!("grcli -s {} -xe < {}", socket.display(), file.display())).map(drop)
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        let told = place.quietly(&ask(place.folder(), "stats show hardware"))?;
        let nodes = place.quietly(&ask(place.folder(), "stats show software brief"))?;
        Ok(counters(&told, &nodes))
    }
}

fn ask(folder: &Path, command: &str) -> String {
    format!("grcli -s {}/grout.sock {command}", folder.display())
}

/// The commands of a job; none if it cannot be said.
fn setup(job: &Job) -> Option<String> {
    let mut text = String::new();
    for (side, end) in job.ends.iter().enumerate() {
        let devargs = super::eal::vdev(side, end, job.link);
        let mac = DEVICE_MACS[side];
        let _ = writeln!(text, "interface add port p{side} devargs {devargs} mac {mac}");
    }
    let function = &job.function;
    match function.kind {
        FunctionKind::CrossConnect => {
            text +=
                "interface set port p0 mode xconnect p1\ninterface set port p1 mode xconnect p0\n";
        }
        FunctionKind::Bridge => {
            text += "bridge add br0\ninterface set port p0 mode bridge br0\n\
                     interface set port p1 mode bridge br0\n";
            for mac in frames::macs(if job.entries > 1 { job.entries } else { 0 }) {
                let _ = writeln!(text, "bridge mac add br br0 mac {mac} iface p1 static");
            }
        }
        FunctionKind::Ip4 | FunctionKind::Ip6 => {
            let six = function.kind == FunctionKind::Ip6;
            let (length, size) = if six { (64, "rib6-routes") } else { (24, "rib4-routes") };
            let _ = writeln!(text, "route config set default {size} {}", job.entries + 1_024);
            for (side, mac) in LAB_MACS.into_iter().enumerate() {
                let (own, peer) =
                    (frames::device_address(six, side), frames::lab_address(six, side));
                let _ = writeln!(
                    text,
                    "address add {own}/{length} iface p{side}\n\
                     nexthop add l3 iface p{side} address {peer} mac {mac}"
                );
            }
            for Route { prefix, via } in frames::routes(six, job.entries) {
                let _ = writeln!(text, "route add {prefix} via {via}");
            }
        }
        _ => return None,
    }
    Some(text)
}

/// `p0.rx_good_packets 7` of the ports; of the nodes those whose name says that they drop.
pub(super) fn counters(ports: &str, nodes: &str) -> Counters {
    let mut counters = Counters::default();
    let read = |line: &str| {
        let (name, count) = line.trim().rsplit_once(' ')?;
        Some((name.trim().to_owned(), count.parse::<u64>().ok()?))
    };
    for (name, count) in ports.lines().filter_map(read) {
        let field = name.rsplit_once(['.', ' ']).map_or(name.as_str(), |(_, field)| field);
        match field {
            "rx_good_packets" => counters.receive(count),
            "tx_good_packets" => counters.send(count),
            "rx_missed_errors" | "rx_errors" | "rx_mbuf_allocation_errors" | "tx_errors" => {
                counters.drop(name, count);
            }
            _ => {}
        }
    }
    let drops = |name: &str| ["drop", "error", "invalid"].iter().any(|word| name.contains(word));
    for (name, count) in nodes.lines().filter_map(read).filter(|(name, _)| drops(name)) {
        counters.drop(name, count);
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::job;

    #[test]
    fn a_job_is_commands() {
        let text = setup(&job(FunctionKind::Ip4, 1)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("interface add port p0 devargs net_af_packet0,iface=d0,"));
        assert!(lines[0].ends_with(" mac 02:44:00:00:00:01"), "{}", lines[0]);
        assert_eq!(
            lines[2..],
            [
                "route config set default rib4-routes 1025",
                "address add 198.18.0.1/24 iface p0",
                "nexthop add l3 iface p0 address 198.18.0.2 mac 02:4c:00:00:00:01",
                "address add 198.18.1.1/24 iface p1",
                "nexthop add l3 iface p1 address 198.18.1.2 mac 02:4c:00:00:00:02",
                "route add 16.0.0.0/24 via 198.18.1.2",
            ]
        );
        assert!(setup(&job(FunctionKind::Bridge, 2)).unwrap().ends_with(
            "bridge mac add br br0 mac 06:00:00:00:00:00 iface p1 static\n\
             bridge mac add br br0 mac 06:00:00:00:00:01 iface p1 static\n"
        ));
        assert!(setup(&job(FunctionKind::Gre, 1)).is_none());
    }

    #[test]
    fn counters_are_those_of_the_ports_and_of_nodes_that_drop() {
        let ports = "p0.rx_good_packets 40000\np0.rx_missed_errors 12\np0.rx_good_bytes 2400000\n\
                     p1.tx_good_packets 39985\n";
        let nodes = "ip_input 40000\nport_tx_drop 3\neth_input 40000\n";
        let counters = counters(ports, nodes);
        assert_eq!((counters.received, counters.sent), (40_000, 39_985));
        let drops = [("p0.rx_missed_errors".to_owned(), 12), ("port_tx_drop".to_owned(), 3)];
        assert_eq!(counters.drops, drops.into());
    }
}
