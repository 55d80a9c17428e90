//! VPP: a start file, a file of commands, counters by `vppctl`.
//!
//! ```text
//! vpp -c startup.conf ── reads ── setup.vpp (the job as commands)         vppctl -s cli.sock show interface
//! ```
//! Debian has no package of it. What is written here follows its public documentation, and is
//! tested against a program that speaks as VPP does; it was not run with VPP itself.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use lab_record::Counters;

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::bridge::{self, AGEING_S};
use crate::dut::device::{Device, Job};
use crate::link::{DEVICE_MACS, DeviceEnd, LAB_MACS, LinkKind};
use crate::load::frames::{self, Route};
use crate::place::{Place, has_program, output};
use crate::scenario::{AGEING, FLOOD, FunctionKind, LEARNING, UNKNOWN_UNICAST_FLOOD};

/// As the list has it.
pub(super) const ADAPTER: Adapter =
    Adapter { read: Some(|text| Some(counters(text))), ..Adapter::new("vpp", || Box::new(Vpp)) };

/// See the module.
pub(super) struct Vpp;

const PATIENCE: Duration = Duration::from_secs(30);

impl Device for Vpp {
    fn name(&self) -> &'static str {
        "vpp"
    }

    fn version(&self) -> Result<String, Error> {
        if let Some(program) = ["vpp", "vppctl"].into_iter().find(|program| !has_program(program)) {
            let (device, job) = (self.name().into(), "any job".into());
            let reason = format!("{program} is not installed (packages of the FD.io project)");
            return Err(Error::Refused { device, job, reason });
        }
        output(&["vpp", "--version"])
            .map_err(|reason| Error::Command { line: "vpp --version".into(), reason })
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        match job.link {
            LinkKind::VethXdp => {
                return Err(self.refuse(job, "its adapter knows no XDP sockets"));
            }
            LinkKind::Pcap => {
                return Err(self.refuse(job, "its adapter knows no capture files"));
            }
            _ => {}
        }
        let setup =
            setup(job).ok_or_else(|| self.refuse(job, "its adapter cannot say this yet"))?;
        let setup = place.write("setup.vpp", &setup)?;
        let startup = startup(place.folder(), &setup, place.cores(), &cards(job));
        let file = place.write("startup.conf", &startup)?;
        place.spawn("vpp", &format!("vpp -c {}", file.display()))?;
        let ready = ask(place.folder(), "show version");
        place.wait_until("vpp answers", PATIENCE, |place| place.quietly(&ready).is_ok())?;
        if job.function.switches().next().is_none() {
            return Ok(());
        }
        let line = ask(place.folder(), "show bridge-domain");
        // It answers before it has read its start file.
        let mut says = None;
        place.wait_until("vpp has its bridge", PATIENCE, |place| {
            says = place.quietly(&line).ok().and_then(|told| switches(&told));
            says.is_some()
        })?;
        bridge::confirm(self, job, place, &says.unwrap_or_default())
    }

    fn settable(&self) -> &'static [&'static str] {
        &[LEARNING, AGEING, UNKNOWN_UNICAST_FLOOD, FLOOD]
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        Ok(counters(&place.quietly(&ask(place.folder(), "show interface"))?))
    }
}

/// The switches of the one bridge domain, by the heads of the columns; heads of two words are of
/// one here.
fn switches(told: &str) -> Option<Vec<(&'static str, bool)>> {
    let mut lines = told.lines().skip_while(|line| !line.contains("BD-ID"));
    let (heads, values) = (lines.next()?, lines.next()?);
    let column = |name: &str| {
        let at = heads.split_whitespace().position(|head| head == name)?;
        values.split_whitespace().nth(at)
    };
    let on = |name: &str| column(name).map(|value| value != "off");
    let ageing = on("Age(min)")?;
    Some(vec![
        (LEARNING, on("Learning")?),
        (AGEING, ageing),
        (UNKNOWN_UNICAST_FLOOD, column("UU-Flood").map(|it| it != "drop" && it != "off")?),
        (FLOOD, on("Flooding")?),
    ])
}

fn ask(folder: &Path, command: &str) -> String {
    format!("vppctl -s {}/cli.sock {command}", folder.display())
}

/// The first core is the main thread's, the others are workers'; of a single core the main thread
/// does it all.
fn startup(folder: &Path, setup: &Path, cores: &str, cards: &str) -> String {
    let folder = folder.display();
    let (main, workers) = cores.split_once(',').unwrap_or((cores, ""));
    let workers = match workers {
        "" => String::new(),
        cores => format!("\n  corelist-workers {cores}"),
    };
    format!(
        "unix {{\n  nodaemon\n  cli-listen {folder}/cli.sock\n  log {folder}/vpp.told\n  exec {}\n}}\n\
         cpu {{\n  main-core {main}{workers}\n}}\n\
         api-segment {{\n  prefix volley-lab\n}}\n\
         socksvr {{\n  socket-name {folder}/api.sock\n}}\n\
         statseg {{\n  socket-name {folder}/stats.sock\n  page-size 4k\n}}\n\
         memory {{\n  main-heap-size 1G\n  main-heap-page-size 4k\n}}\n\
         {cards}",
        setup.display()
    )
}

/// What its DPDK plugin is told: the cards, each with a name, which reach for buffers on huge
/// pages; without cards it is not loaded, and buffers are on usual pages.
fn cards(job: &Job) -> String {
    let card = |(side, end): (usize, &DeviceEnd)| match end {
        DeviceEnd::Pci(address) => Some(format!("  dev {address} {{\n    name card{side}\n  }}\n")),
        _ => None,
    };
    let cards: String = job.ends.iter().enumerate().filter_map(card).collect();
    match cards.is_empty() {
        true => "buffers {\n  buffers-per-numa 32768\n  page-size 4k\n}\n\
                 plugins {\n  plugin dpdk_plugin.so { disable }\n}\n"
            .into(),
        false => format!("buffers {{\n  buffers-per-numa 32768\n}}\ndpdk {{\n{cards}}}\n"),
    }
}

/// The commands of a job; none if it cannot be said.
fn setup(job: &Job) -> Option<String> {
    let mut text = String::new();
    let mut names = Vec::new();
    for (side, end) in job.ends.iter().enumerate() {
        let mac = DEVICE_MACS[side];
        let (create, name) = match end {
            DeviceEnd::Kernel(device) => (
                format!("create host-interface name {device} hw-addr {mac}"),
                format!("host-{device}"),
            ),
            DeviceEnd::Memif(socket) => (
                format!(
                    "create memif socket id {id} filename {}\n\
                     create interface memif id 0 socket-id {id} master hw-addr {mac}",
                    socket.display(),
                    id = side + 1
                ),
                format!("memif{}/0", side + 1),
            ),
            DeviceEnd::Vhost(socket) => (
                format!("create vhost-user socket {} server hwaddr {mac}", socket.display()),
                format!("VirtualEthernet0/0/{side}"),
            ),
            DeviceEnd::Pci(_) => {
                let name = format!("card{side}");
                (format!("set interface mac address {name} {mac}"), name)
            }
            DeviceEnd::Pcap { .. } => return None,
        };
        let _ = writeln!(text, "{create}\nset interface state {name} up");
        names.push(name);
    }
    let function = &job.function;
    match function.kind {
        FunctionKind::CrossConnect => {
            for side in 0..2 {
                let _ =
                    writeln!(text, "set interface l2 xconnect {} {}", names[side], names[1 - side]);
            }
        }
        FunctionKind::Bridge => {
            let switch = |on: Option<bool>| u8::from(on.unwrap_or(true));
            let _ = writeln!(
                text,
                "create bridge-domain 1 learn {} forward 1 uu-flood {} flood {} arp-term 0 mac-age {}",
                switch(function.learning),
                switch(function.unknown_unicast_flood),
                switch(function.flood),
                if function.ageing == Some(true) { AGEING_S / 60 } else { 0 }
            );
            for name in &names {
                let _ = writeln!(text, "set interface l2 bridge {name} 1");
            }
            for mac in frames::macs(if job.entries > 1 { job.entries } else { 0 }) {
                let _ = writeln!(text, "l2fib add {mac} 1 {} static", names[1]);
            }
        }
        FunctionKind::Ip4 | FunctionKind::Ip6 => {
            let six = function.kind == FunctionKind::Ip6;
            let length = if six { 64 } else { 24 };
            for (side, name) in names.iter().enumerate() {
                let (own, peer) =
                    (frames::device_address(six, side), frames::lab_address(six, side));
                let _ = writeln!(
                    text,
                    "set interface ip address {name} {own}/{length}\n\
                     set ip neighbor {name} {peer} {} static",
                    LAB_MACS[side]
                );
            }
            for Route { prefix, via } in frames::routes(six, job.entries) {
                let _ = writeln!(text, "ip route add {prefix} via {via} {}", names[1]);
            }
        }
        _ => return None,
    }
    Some(text)
}

/// A line for each counter that is not 0; the first of an interface begins with its name.
pub(super) fn counters(text: &str) -> Counters {
    let mut counters = Counters::default();
    let mut name = "";
    for line in text.lines().skip(1) {
        let begins = !line.starts_with(' ');
        let words: Vec<&str> = line.split_whitespace().collect();
        if begins {
            name = words.first().copied().unwrap_or_default();
        }
        let (Some((count, rest)), true) = (words.split_last(), name != "local0") else { continue };
        let Ok(count) = count.trim_end_matches('\r').parse::<u64>() else { continue };
        match rest {
            [.., "rx", "packets"] => counters.receive(count),
            [.., "tx", "packets"] => counters.send(count),
            [.., "drops"] => counters.drop(format!("{name} drops"), count),
            [.., error @ ("tx-error" | "rx-miss" | "rx-error" | "rx-no-buf")] => {
                counters.drop(format!("{name} {error}"), count);
            }
            _ => {}
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::{job, over_cards, over_files};

    #[test]
    fn a_job_is_commands_and_a_start_file() {
        assert_eq!(
            setup(&job(FunctionKind::CrossConnect, 1)).unwrap(),
            "create host-interface name d0 hw-addr 02:44:00:00:00:01\nset interface state host-d0 up\n\
             create host-interface name d1 hw-addr 02:44:00:00:00:02\nset interface state host-d1 up\n\
             set interface l2 xconnect host-d0 host-d1\nset interface l2 xconnect host-d1 host-d0\n"
        );
        let text = setup(&job(FunctionKind::Ip4, 2)).unwrap();
        let last: Vec<&str> = text.lines().rev().take(4).collect();
        assert_eq!(
            last,
            [
                "ip route add 16.0.1.0/24 via 198.18.1.2 host-d1",
                "ip route add 16.0.0.0/24 via 198.18.1.2 host-d1",
                "set ip neighbor host-d1 198.18.1.2 02:4c:00:00:00:02 static",
                "set interface ip address host-d1 198.18.1.1/24",
            ]
        );
        assert!(setup(&job(FunctionKind::Gre, 1)).is_none());
        let text = startup(Path::new("/f"), Path::new("/f/setup.vpp"), "2,4,5", "");
        assert!(text.contains("  main-core 2\n  corelist-workers 4,5\n"), "{text}");
        assert!(
            text.contains("  cli-listen /f/cli.sock\n") && text.contains("  exec /f/setup.vpp\n")
        );
    }

    #[test]
    fn the_switches_are_what_it_shows_of_its_bridge() {
        let text = setup(&job(FunctionKind::Bridge, 1)).unwrap();
        let line =
            "create bridge-domain 1 learn 1 forward 1 uu-flood 1 flood 1 arp-term 0 mac-age 0\n";
        assert!(text.contains(line), "{text}");
        // As VPP 26.06 shows them.
        let heads = "  BD-ID   Index   BSN  Age(min)  Learning  U-Forwrd   UU-Flood   Flooding  ARP-Term  arp-ufwd Learn-co Learn-li   BVI-Intf \n";
        let on = |line: &str| {
            let told = switches(&format!("{heads}{line}\n")).unwrap();
            told.iter().map(|it| it.1).collect::<Vec<_>>()
        };
        let line = "    1       1      0      5        off        on        drop        on       off       off        0    16777216     N/A    ";
        assert_eq!(on(line), [false, true, false, true]);
        let line = "    2       2      0     off        on        on       flood        off       off       off        0    16777216     N/A    ";
        assert_eq!(on(line), [true, false, true, false]);
    }

    #[test]
    fn cards_are_the_dpdk_plugins_and_have_names() {
        let job = over_cards(job(FunctionKind::CrossConnect, 1));
        assert_eq!(
            cards(&job),
            "buffers {\n  buffers-per-numa 32768\n}\n\
             dpdk {\n  dev 0000:02:00.0 {\n    name card0\n  }\n  dev 0000:02:00.1 {\n    name card1\n  }\n}\n"
        );
        let text = setup(&job).unwrap();
        assert!(text.starts_with("set interface mac address card0 02:44:00:00:00:01\n"), "{text}");
        assert!(text.ends_with("set interface l2 xconnect card1 card0\n"), "{text}");
        assert!(setup(&over_files(job)).is_none());
    }

    #[test]
    fn counters_are_read_by_interface() {
        let text = "              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     \n\
            host-d0                           1      up          9000/0/0/0     rx packets                 40000\n\
            \x20                                                                   rx bytes                 2400000\n\
            \x20                                                                   drops                          12\n\
            \x20                                                                   ip4                        40000\n\
            host-d1                           2      up          9000/0/0/0     tx packets                 39985\n\
            \x20                                                                   tx-error                       3\n\
            local0                            0     down          0/0/0/0       drops                          7\n";
        let counters = counters(text);
        assert_eq!((counters.received, counters.sent), (40_000, 39_985));
        let drops = [("host-d0 drops".to_owned(), 12), ("host-d1 tx-error".to_owned(), 3)];
        assert_eq!(counters.drops, drops.into());
    }
}
