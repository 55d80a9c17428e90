//! DPDK's testpmd: moves packets between two ports and does nothing else, the floor of all others.

use lab_record::Counters;
use lab_record::axes::{Axis, VectorPackets};

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::device::{Device, Job};
use crate::link::{LAB_MACS, LinkKind};
use crate::place::{Place, has_program, output};
use crate::scenario::FunctionKind;

const GET: &str = "apt install dpdk-dev";

/// It changes nothing in a packet; as the list has it.
pub(super) const ADAPTER: Adapter = Adapter {
    usual: true,
    read: Some(|text| Some(counters(text))),
    ..Adapter::new("testpmd", || Box::new(Testpmd { name: "testpmd", mode: "io" }), GET)
};

/// It writes the addresses of the next link; as the list has it.
pub(super) const MAC: Adapter =
    Adapter::new("testpmd-mac", || Box::new(Testpmd { name: "testpmd-mac", mode: "mac" }), GET);

/// With one of its forwarding modes.
pub(super) struct Testpmd {
    name: &'static str,
    mode: &'static str,
}

/// Most packets of a burst.
const MOST_PACKETS: u64 = 512;
/// What it says when both ports' counters, and what it dropped between them, are told.
const SUM: &str = "Accumulated forward statistics";

impl Device for Testpmd {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> Result<String, Error> {
        if !has_program("dpdk-testpmd") {
            let (device, job) = (self.name.into(), "any job".into());
            let reason = "dpdk-testpmd is not installed (package dpdk-dev)".into();
            return Err(Error::Refused { device, job, reason });
        }
        let version = output(&["pkg-config", "--modversion", "libdpdk"]).unwrap_or_default();
        Ok(format!("dpdk-testpmd {version}, {} mode", self.mode))
    }

    fn settable(&self) -> &'static [&'static str] {
        &[VectorPackets::NAME]
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        if job.function.kind != FunctionKind::CrossConnect {
            return Err(self.refuse(job, "testpmd joins two ports, no more"));
        }
        let burst = match job.settings.get::<VectorPackets>() {
            None => String::new(),
            Some(packets @ 1..=MOST_PACKETS) => format!(" --burst={packets}"),
            Some(_) => {
                return Err(
                    self.refuse(job, &format!("its bursts are 1 to {MOST_PACKETS} packets"))
                );
            }
        };
        let core = place.cores().split(',').next().unwrap_or("0").to_owned();
        let devices = super::eal::devices(job);
        // Before it forwards it throws away what waits, which may be a whole file.
        let flush = if job.link == LinkKind::Pcap { " --no-flush-rx" } else { "" };
        let peers: String =
            (0..2).map(|side| format!(" --eth-peer={side},{}", LAB_MACS[side])).collect();
        place.spawn(
            self.name,
            &format!(
                "stdbuf -oL dpdk-testpmd --lcores 0@{core},1@{core} -m 256 {devices} \
                 --no-telemetry --file-prefix volley-lab-testpmd -- \
                 --interactive --auto-start --nb-cores=1 --forward-mode={}{peers} \
                 --total-num-mbufs=32768 --rxd=1024 --txd=1024{burst}{flush}",
                self.mode
            ),
        )?;
        let (name, forwards) = (self.name, "Start automatic packet forwarding");
        place.wait_for_start("testpmd forwards", |place| place.log(name).contains(forwards))
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        let before = place.log(self.name).len();
        place.tell(self.name, "show port stats all\nshow fwd stats all\n")?;
        let name = self.name;
        let complete = |log: &str| {
            let told = log.get(before..).unwrap_or_default();
            told.split_once(SUM).is_some_and(|(_, rest)| rest.contains("TX-total"))
        };
        place.wait_for_start("testpmd tells its counters", |place| complete(&place.log(name)))?;
        Ok(counters(place.log(name).get(before..).unwrap_or_default()))
    }
}

/// `RX-packets: 7` and the like, after the line that names the port: first of the ports, then of
/// what it did with the packets, of which only what it could not send is news (`RX-dropped` is
/// `RX-missed` again).
pub(super) fn counters(text: &str) -> Counters {
    let mut counters = Counters::default();
    let mut port = "";
    let mut forwarding = false;
    let text = text.split_once(SUM).map_or(text, |(ports, _)| ports);
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let next = words.peek().copied().unwrap_or_default();
        let number = || next.parse::<u64>().unwrap_or(0);
        match word {
            "port" => port = next,
            "Forward" => forwarding = true,
            "RX-packets:" if !forwarding => counters.receive(number()),
            "TX-packets:" if !forwarding => counters.send(number()),
            "RX-missed:" | "RX-errors:" | "RX-nombuf:" | "TX-errors:" | "TX-dropped:" => {
                counters.drop(format!("port {port} {}", word.trim_end_matches(':')), number());
            }
            _ => {}
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "testpmd> show port stats all\n\
        ######## NIC statistics for port 0  ########\n\
        RX-packets: 40000      RX-missed: 12         RX-bytes:  2400000\n\
        RX-errors: 0\nRX-nombuf:  0\nTX-packets: 0          TX-errors: 3          TX-bytes:  0\n\
        Throughput (since last show)\n\
        ######## NIC statistics for port 1  ########\n\
        RX-packets: 0      RX-missed: 0         RX-bytes:  0\n\
        RX-errors: 0\nRX-nombuf:  0\nTX-packets: 39956          TX-errors: 0          TX-bytes:  0\n\
        Throughput (since last show)\n\
        ------- Forward statistics for port 0  -------\n\
        RX-packets: 40000      RX-dropped: 12            RX-total: 40012\n\
        TX-packets: 0          TX-dropped: 0             TX-total: 0\n\
        ------- Forward statistics for port 1  -------\n\
        RX-packets: 0          RX-dropped: 0             RX-total: 0\n\
        TX-packets: 39956      TX-dropped: 32            TX-total: 39988\n\
        +++++++ Accumulated forward statistics for all ports +++++++\n\
        RX-packets: 40000      RX-dropped: 0             RX-total: 40000\n\
        TX-packets: 39956      TX-dropped: 32            TX-total: 39988\n";

    #[test]
    fn its_counters_are_read_by_port() {
        let expected = [("0 RX-missed", 12), ("0 TX-errors", 3), ("1 TX-dropped", 32)];
        let expected = expected.map(|(what, count)| (format!("port {what}"), count));
        let told = counters(TOLD);
        assert_eq!(told.drops, expected.into());
        assert_eq!((told.received, told.sent), (40_000, 39_956));
    }
}
