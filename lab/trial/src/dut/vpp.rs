//! VPP: a start file, a file of commands, counters by `vppctl`.
//!
//! ```text
//! vpp -c startup.conf      vppctl exec setup.vpp (the job as commands)      vppctl show interface, show runtime
//! ```
//! Debian has no package of it; `vpp=FOLDER` is one that was built, its programs in `FOLDER/bin` or
//! in the folder itself. The commands are not its start file's, which it reads seconds after it
//! answers, and of which nobody hears what failed.

mod bridge_domain;
mod runtime;
mod setup;

use self::runtime::Nodes;

use std::path::{Path, PathBuf};

use lab_record::axes::{Axis, Workers};
use lab_record::{Counters, NodeCost};

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::bridge;
use crate::dut::device::{Change, Device, Job};
use crate::dut::settings::core_numbers;
use crate::link::{DeviceEnd, LinkKind};
use crate::load::frames::Route;
use crate::place::{Place, has_program, output, program_of};
use crate::scenario::{AGEING, FLOOD, LEARNING, UNKNOWN_UNICAST_FLOOD};

/// As the list has it.
pub(super) const ADAPTER: Adapter = Adapter {
    of_folder: Some(|folder| Box::new(Vpp::of(Some(Path::new(folder))))),
    read: Some(|text| Some(counters(text))),
    ..Adapter::new(
        "vpp",
        || Box::new(Vpp::of(None)),
        "build it from source, docs/peers.md says how (vpp=FOLDER)",
    )
};

/// See the module.
pub(super) struct Vpp {
    vpp: PathBuf,
    vppctl: PathBuf,
    nodes: Nodes,
}

impl Vpp {
    /// That of the search path, or of a folder.
    fn of(folder: Option<&Path>) -> Self {
        let program = |name| program_of(folder, name);
        Self { vpp: program("vpp"), vppctl: program("vppctl"), nodes: Nodes::default() }
    }

    /// A line of the shell that gives VPP a command.
    fn ask(&self, place: &Place, command: &str) -> String {
        format!("{} -s {}/cli.sock {command}", self.vppctl.display(), place.folder().display())
    }

    /// Has it run a file of commands; the first that fails ends that, and is told.
    fn execute(&self, place: &mut Place, name: &str, commands: &str) -> Result<(), Error> {
        let file = place.write(name, commands)?;
        let line = self.ask(place, &format!("exec {}", file.display()));
        let told = place.run(&line)?;
        match told.contains(REFUSED) {
            true => Err(Error::Command {
                line,
                reason: format!("{} {}", told.trim(), place.log("vpp")),
            }),
            false => Ok(()),
        }
    }
}

/// Head of the table of `show errors`.
const ERRORS: &str = "\n   Count ";
/// What `exec` says of a command that failed.
const REFUSED: &str = "CLI line error";

impl Device for Vpp {
    fn name(&self) -> &'static str {
        "vpp"
    }

    fn version(&self) -> Result<String, Error> {
        let programs = [&self.vpp, &self.vppctl].map(|program| program.display().to_string());
        if let Some(program) = programs.iter().find(|program| !has_program(program)) {
            let (device, job) = (self.name().into(), "any job".into());
            let reason = format!("{program} is not installed (packages of the FD.io project)");
            return Err(Error::Refused { device, job, reason });
        }
        output(&[&programs[0], "--version"])
            .map_err(|reason| Error::Command { line: "vpp --version".into(), reason })
    }

    fn settable(&self) -> &'static [&'static str] {
        &[Workers::NAME, LEARNING, AGEING, UNKNOWN_UNICAST_FLOOD, FLOOD]
    }

    fn cores_beside_workers(&self) -> u64 {
        1
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
        let commands = setup::commands(job)
            .ok_or_else(|| self.refuse(job, "its adapter cannot say this yet"))?;
        let startup = startup(job, place.folder(), place.cores());
        let file = place.write("startup.conf", &startup)?;
        place.spawn("vpp", &format!("{} -c {}", self.vpp.display(), file.display()))?;
        let ready = self.ask(place, "show version");
        place.wait_for_start("vpp answers", |place| place.quietly(&ready).is_ok())?;
        self.execute(place, "setup.vpp", &commands)?;
        if job.function.switches().next().is_none() {
            return Ok(());
        }
        let told = place.quietly(&self.ask(place, "show bridge-domain"))?;
        bridge::confirm(self, job, place, &bridge_domain::shown(&told).unwrap_or_default())
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        let both =
            format!("{} && {}", self.ask(place, "show interface"), self.ask(place, "show errors"));
        Ok(counters(&place.quietly(&both)?))
    }

    fn nodes(&mut self, place: &mut Place) -> Result<Vec<NodeCost>, Error> {
        self.nodes.add(&place.quietly(&self.ask(place, "show runtime"))?);
        place.quietly(&self.ask(place, "clear runtime"))?;
        Ok(self.nodes.all())
    }

    fn change(&mut self, job: &Job, change: &Change, place: &mut Place) -> Result<String, Error> {
        let Change { added, entries, remove } = change;
        let word = if *remove { "del" } else { "add" };
        let name = setup::port(1, &job.ends[1]);
        let line = |Route { prefix, via }| format!("ip route {word} {prefix} via {via} {name}\n");
        let file = place
            .write("change.vpp", &added.routes(entries.clone()).map(line).collect::<String>())?;
        let line = self.ask(place, &format!("exec {}", file.display()));
        // It says nothing of what it took, and ends with 0 whatever it says.
        Ok(format!(
            "told=$({line}) && case \"$told\" in *'{REFUSED}'*) echo \"$told\"; exit 1;; esac"
        ))
    }
}

/// Of one worker the main thread does it all, on the first core; several have the cores behind it,
/// since VPP refuses a worker on the main thread's core.
fn startup(job: &Job, folder: &Path, cores: &str) -> String {
    let folder = folder.display();
    let cards = cards(job);
    let numbers = core_numbers(cores);
    let main = numbers.first().copied().unwrap_or(0);
    let workers = match job.workers {
        0 | 1 => String::new(),
        count => {
            let named: Vec<String> =
                numbers.iter().skip(1).take(count as usize).map(ToString::to_string).collect();
            format!("\n  corelist-workers {}", named.join(","))
        }
    };
    // Megabytes for tables of any size: only what is touched is taken.
    let table_mib = 1_024 + job.entries / 1_000;
    format!(
        "unix {{\n  nodaemon\n  cli-listen {folder}/cli.sock\n  log {folder}/vpp.told\n}}\n\
         cpu {{\n  main-core {main}{workers}\n}}\n\
         api-segment {{\n  prefix volley-lab\n}}\n\
         socksvr {{\n  socket-name {folder}/api.sock\n}}\n\
         statseg {{\n  socket-name {folder}/stats.sock\n  page-size 4k\n  size {table_mib}M\n}}\n\
         memory {{\n  main-heap-size {table_mib}M\n  main-heap-page-size 4k\n}}\n\
         {cards}"
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

/// A line for each counter of `show interface` that is not 0; the first of an interface begins with
/// its name. Then `show errors`: what found no room in a link is counted as sent, and here.
pub(super) fn counters(text: &str) -> Counters {
    let mut counters = Counters::default();
    let mut name = "";
    let (interfaces, errors) = text.split_at(text.find(ERRORS).unwrap_or(text.len()));
    for line in errors.lines().skip(2) {
        let mut words = line.split_whitespace();
        let (count, node) = (words.next().and_then(|it| it.parse().ok()), words.next());
        if let (Some(count), Some(node)) = (count, node.filter(|it| it.ends_with("-tx"))) {
            counters.drop(format!("{node} {}", words.collect::<Vec<_>>().join(" ")), count);
        }
    }
    for line in interfaces.lines().skip(1) {
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
    use crate::dut::testing::{job, over_cards};
    use crate::scenario::FunctionKind;

    #[test]
    fn one_worker_is_the_main_thread_and_several_have_cores() {
        let job = job(FunctionKind::CrossConnect, 1);
        let text = startup(&job, Path::new("/f"), "2,4-5");
        assert!(text.contains("  main-core 2\n}"), "{text}");
        assert!(text.contains("  cli-listen /f/cli.sock\n") && !text.contains("exec"), "{text}");
        let text = startup(&Job { workers: 2, ..job }, Path::new("/f"), "2,4-5");
        assert!(text.contains("  main-core 2\n  corelist-workers 4,5\n"), "{text}");
    }

    #[test]
    fn several_workers_take_a_core_more() {
        let vpp = Vpp::of(None);
        let job = Job { workers: 2, ..job(FunctionKind::CrossConnect, 1) };
        assert!(vpp.check_settings(&job, "2,4-5").is_ok());
        let refused = vpp.check_settings(&job, "2,4").unwrap_err().to_string();
        assert!(
            refused.contains("2 workers take 3 cores, and devices have 2 of the cores"),
            "{refused}"
        );
        assert!(vpp.check_settings(&Job { workers: 1, ..job }, "2").is_ok());
    }

    #[test]
    fn cards_are_the_dpdk_plugins_and_have_names() {
        let job = over_cards(job(FunctionKind::CrossConnect, 1));
        assert_eq!(
            cards(&job),
            "buffers {\n  buffers-per-numa 32768\n}\n\
             dpdk {\n  dev 0000:02:00.0 {\n    name card0\n  }\n  dev 0000:02:00.1 {\n    name card1\n  }\n}\n"
        );
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
            local0                            0     down          0/0/0/0       drops                          7\n\
            \x20  Count                  Node                              Reason               Severity \n\
            \x20       99             ip4-local                      valid packets              info   \n\
            \x20     2225            memif2/0-tx                      no free tx slots            error  \n";
        let counters = counters(text);
        assert_eq!((counters.received, counters.sent), (40_000, 39_985));
        let drops = [
            ("host-d0 drops".to_owned(), 12),
            ("host-d1 tx-error".to_owned(), 3),
            ("memif2/0-tx no free tx slots error".to_owned(), 2_225),
        ];
        assert_eq!(counters.drops, drops.into());
    }
}
