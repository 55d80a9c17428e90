//! `[workers]`: the threads that forward, and the cores they run on.

use super::{Config, Object};
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::info::Info;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;
use crate::config::value::Value;
use crate::config::write::Fields;

/// Most workers there can be.
pub const MAX_WORKERS: u16 = 256;

/// Most packets that the engine's frames hold.
pub const MAX_VECTOR: u16 = 256;
/// Most cycles that a packet can be made to cost: at a few GHz, some 3000 packets a second are
/// left.
const MAX_BURN: u32 = 1_000_000;

/// Where the workers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// One worker pinned to each of these cores; the main thread stays off them.
    Cores(Vec<u16>),
    /// So many workers, placed by the router.
    Count(u16),
    /// The main thread forwards too.
    SingleThread,
}

/// Packet buffers that each worker takes for packets on their way.
const BUFFERS_ON_THE_WAY: u32 = 512;

impl Placement {
    /// How many there are.
    pub fn count(&self) -> u16 {
        match self {
            Self::Cores(cores) => cores.len() as u16,
            Self::Count(count) => *count,
            Self::SingleThread => 1,
        }
        .max(1)
    }

    /// Packet buffers that must be left for packets on their way.
    pub fn buffers(&self) -> u32 {
        u32::from(self.count()) * BUFFERS_ON_THE_WAY
    }
}

word_field! {
    /// Whether workers are threads of their own.
    Mode {
        /// Workers apart from the main thread.
        Threads = "threads",
        /// One thread for all.
        SingleThread = "single-thread",
    }
}

word_field! {
    /// What a worker does when there is nothing to do.
    Idle {
        /// Sleeps until something comes.
        Adaptive = "adaptive",
        /// Polls at full speed.
        Poll = "poll",
    }
}

object! {
    /// The threads that forward
    pub struct Workers {
        /// Where they run
        pub placement: Placement = Placement::Count(1),
        /// What a worker does when there is nothing to do: sleep, or poll at full speed
        pub idle: Idle = Idle::Adaptive,
        /// Packets that one takes from ports at once, at most: fewer wait for less, and cost more
        /// each
        pub vector_packets: u16 [1..=MAX_VECTOR] = MAX_VECTOR,
        /// For measurements: what each packet received costs on top
        pub burn_cycles: u32 [0..=MAX_BURN] = 0,
    }
}

/// `cores`, `count` or `mode`.
impl Value for Placement {
    fn read(table: &mut TableReader<'_>, _: &'static str, _: bool) -> Option<Self> {
        let placements = ["cores", "count", "mode"];
        let given: Vec<&str> = placements.into_iter().filter(|key| table.has(key)).collect();
        let threads = table.optional::<Mode>("mode") != Some(Mode::SingleThread);
        let exclusive = given.len() > 1 && !(threads && given.len() == 2 && given[1] == "mode");
        if exclusive {
            let field = table.field(given[1]);
            let message = format!("`{}` and `{}` exclude each other", given[0], given[1]);
            table.report().push(Problem::new(field, message).expected("one of the two"));
        }
        let cores_given = table.has("cores");
        let cores = table.list::<u16>("cores");
        let count = table.number("count", 1, 1..=MAX_WORKERS);
        Some(match (threads, cores_given) {
            (false, _) => Self::SingleThread,
            (true, true) => Self::Cores(cores),
            (true, false) => Self::Count(count),
        })
    }

    fn write(&self, _: &'static str, fields: Fields, _: Option<Self>) -> Fields {
        match self {
            Self::Cores(cores) => fields.list("cores", cores, &[]),
            Self::Count(count) => fields.unless("count", count, &1),
            Self::SingleThread => fields.with("mode", &Mode::SingleThread),
        }
    }

    fn paths(&self, _: &mut Vec<std::path::PathBuf>) {}

    fn describe(_: Info, out: &mut Vec<Info>) {
        let count = Info::new("count", &["So many threads, placed by the router; or:"], "1");
        u16::describe(count.within(&(1..=MAX_WORKERS)), out);
        Vec::<u16>::describe(
            Info::new("cores", &["One thread pinned to each of these cores"], "1,2"),
            out,
        );
        let help = "Whether the main thread forwards too, and no other";
        Mode::describe(Info::new("mode", &[help], "single-thread"), out);
    }
}

impl Workers {
    /// How many workers that makes.
    pub fn count(&self) -> usize {
        match &self.placement {
            Placement::Cores(cores) => cores.len(),
            Placement::Count(count) => usize::from(*count),
            Placement::SingleThread => 1,
        }
    }
}

impl Row for Workers {
    const KIND: &'static str = "workers";
}

impl Section for Workers {}

impl Object for Workers {
    const NEEDS_RESTART: bool = true;

    fn check(&self, _: &Config, host: &Host, report: &mut Report) {
        match &self.placement {
            Placement::Cores(cores) => check_cores(cores, host, report),
            Placement::Count(count) => {
                let available = host.cores.as_ref().map_or(usize::MAX, Vec::len);
                if usize::from(*count) > available {
                    let message = format!("{count} workers on {available} cores");
                    report.push(
                        Problem::new("workers.count", message)
                            .expected(format!("at most {available} on this machine")),
                    );
                }
            }
            Placement::SingleThread => {}
        }
    }
}

fn check_cores(cores: &[u16], host: &Host, report: &mut Report) {
    if cores.is_empty() {
        report.push(
            Problem::new("workers.cores", "no core for any worker")
                .expected("at least one core")
                .help("for a router on one thread write mode = \"single-thread\""),
        );
    }
    for (index, core) in cores.iter().enumerate() {
        let field = format!("workers.cores[{index}]");
        if cores[..index].contains(core) {
            let message = format!("core {core} is named twice");
            report.push(Problem::new(&field, message).expected("each core once"));
        }
        if let Some(available) = host.cores.as_ref().filter(|cores| !cores.contains(core)) {
            let list: Vec<String> = available.iter().map(u16::to_string).collect();
            report.push(
                Problem::new(field, format!("core {core} is not available"))
                    .expected(format!("cores of {}", list.join(", "))),
            );
        }
    }
}
