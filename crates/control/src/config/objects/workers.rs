//! `[workers]`: the threads that forward, and the cores they run on.

use super::{Config, Object};
use crate::config::change::Replaced;
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::Row;
use crate::config::write::{Fields, Writer};

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
        /// Sleeps a little, then longer; wakes within a few milliseconds.
        Adaptive = "adaptive",
        /// Polls at full speed.
        Poll = "poll",
    }
}

/// The threads that forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workers {
    /// Where they run.
    pub placement: Placement,
    /// What they do when idle.
    pub idle: Idle,
    /// Packets that one takes from ports at once, at most.
    pub vector_packets: u16,
    /// Cycles of the time-stamp counter that each packet received costs on top, for measurements.
    pub burn_cycles: u32,
}

impl Default for Workers {
    fn default() -> Self {
        Self {
            placement: Placement::Count(1),
            idle: Idle::Adaptive,
            vector_packets: MAX_VECTOR,
            burn_cycles: 0,
        }
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

    fn fields(&self) -> Fields {
        let fields = match &self.placement {
            Placement::Cores(cores) => Fields::new().list("cores", cores),
            Placement::Count(count) => Fields::new().unless("count", count, &1),
            Placement::SingleThread => Fields::new().with("mode", &Mode::SingleThread),
        };
        fields
            .unless("idle", &self.idle, &Idle::Adaptive)
            .unless("vector_packets", &self.vector_packets, &MAX_VECTOR)
            .unless("burn_cycles", &self.burn_cycles, &0)
    }
}

impl Object for Workers {
    type Change = Replaced<Self>;

    const NEEDS_RESTART: bool = true;

    fn read(root: &mut TableReader<'_>) -> Self {
        root.table("workers", |table| {
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
            let placement = match (threads, cores_given) {
                (false, _) => Placement::SingleThread,
                (true, true) => Placement::Cores(cores),
                (true, false) => Placement::Count(count),
            };
            Self {
                placement,
                idle: table.or("idle", Idle::Adaptive),
                vector_packets: table.number("vector_packets", MAX_VECTOR, 1..=MAX_VECTOR),
                burn_cycles: table.number("burn_cycles", 0, 0..=MAX_BURN),
            }
        })
        .unwrap_or_default()
    }

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

    fn write(&self, writer: &mut Writer) {
        writer.section_unless_default("[workers]", &self.fields());
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Replaced::between(old, new)
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
                Problem::new(field, format!("core {core} is not there for us"))
                    .expected(format!("cores of {}", list.join(", "))),
            );
        }
    }
}
