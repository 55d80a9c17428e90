//! DPDK's environment: started once, for as long as the process lives.
//!
//! ```text
//!  EalOptions ─▶ memory plan ─▶ rte_eal_init ─▶ Eal ──┬─▶ DpdkPool
//!               (hugepages?)                          └─▶ Port
//! ```
//! The calling thread becomes DPDK's main thread but keeps its CPU affinity; DPDK makes no threads
//! for cores, workers are ordinary threads (see `thread`). Nothing is shared with other processes:
//! no files are left behind, not even by a kill, and a restart finds nothing in its way.
//!
//! It is not ended by `rte_eal_cleanup`, which unmaps the memory that the interrupt thread still
//! works with (22.11): ports are closed one by one, and the rest is memory without a name, which
//! goes with the process.

use crate::memory::{self, MemoryChoice, MemoryPlan};
use crate::{Error, LogLevel, LogRoute, error, ffi, log, privilege};
use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How to start.
pub struct EalOptions {
    /// Memory for pools, rings and drivers.
    pub memory_mib: usize,
    /// Hugepages or not.
    pub memory: MemoryChoice,
    /// Look for PCI devices; only those opened as ports are touched.
    pub pci: bool,
    /// Tells this process's run-time folder from others'.
    pub file_prefix: String,
    /// What the log route is told at least; `None`: silent.
    pub log: Option<(LogLevel, LogRoute)>,
}

impl Default for EalOptions {
    fn default() -> Self {
        Self {
            memory_mib: 256,
            memory: MemoryChoice::Auto,
            pci: false,
            file_prefix: "volley".to_owned(),
            log: None,
        }
    }
}

/// What DPDK found and uses.
#[derive(Clone, Debug)]
pub struct EalFacts {
    /// DPDK's version.
    pub version: String,
    /// True if packets live on hugepages.
    pub hugepages: bool,
    /// Why the memory is what it is.
    pub memory: MemoryPlan,
    /// How drivers name memory to devices.
    pub iova_mode: IovaMode,
    /// PCI devices were looked for.
    pub pci: bool,
    /// What this process may do.
    pub privilege: privilege::Privilege,
}

impl fmt::Display for EalFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}, {}", self.version, self.memory, self.iova_mode, self.privilege)
    }
}

/// How drivers name memory to devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IovaMode {
    /// By virtual address: no rights needed, works with an IOMMU.
    Virtual,
    /// By physical address: needs root.
    Physical,
}

impl fmt::Display for IovaMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Virtual => "addresses virtual",
            Self::Physical => "addresses physical",
        })
    }
}

/// The running environment. Cheap to clone.
#[derive(Clone)]
pub struct Eal(Arc<EalFacts>);

static STARTED: AtomicBool = AtomicBool::new(false);

impl Eal {
    /// Starts DPDK. Once a process.
    pub fn start(options: EalOptions) -> Result<Self, Error> {
        check_prefix(&options.file_prefix)?;
        let plan = memory::plan(options.memory, options.memory_mib)?;
        let level = options.log.as_ref().map_or(LogLevel::Warning, |(level, _)| *level);
        let arguments = arguments(&options, &plan, level);
        if STARTED.swap(true, Ordering::AcqRel) {
            return Err(Error::AlreadyStarted);
        }
        let since = log::mark();
        log::set_route(options.log.map(|(_, route)| route));
        if ffi::volley_log_route(log::receive) != 0 {
            let reason = "no memory for its log".to_owned();
            return Err(Error::Start { options: arguments.join(" "), reason });
        }
        init(&arguments, since)?;
        // SAFETY: so much memory, which nobody else looks into; DPDK runs, and is started once.
        let code = unsafe {
            ffi::volley_adopt_foreign_pool(packet::foreign_pool(), packet::FOREIGN_POOL_BYTES)
        };
        if code != 0 {
            let reason = error::reason(-code, since);
            return Err(Error::Start { options: arguments.join(" "), reason });
        }
        ffi::volley_hush_libraries();
        memory::remove_runtime_folder(&options.file_prefix);
        let facts = EalFacts {
            version: version(),
            hugepages: plan.hugepages,
            memory: plan,
            iova_mode: iova_mode(),
            pci: options.pci,
            privilege: privilege::Privilege::of_this_process(),
        };
        Ok(Self(Arc::new(facts)))
    }

    /// What DPDK found and uses.
    pub fn facts(&self) -> &EalFacts {
        &self.0
    }
}

/// DPDK makes a folder of that name.
fn check_prefix(prefix: &str) -> Result<(), Error> {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !prefix.is_empty() && prefix.len() <= 32 && prefix.chars().all(fine) {
        return Ok(());
    }
    Err(Error::Argument {
        what: "file prefix",
        value: prefix.to_owned(),
        reason: "1 to 32 letters, digits, `-` and `_` are allowed".to_owned(),
    })
}

fn arguments(options: &EalOptions, plan: &MemoryPlan, level: LogLevel) -> Vec<String> {
    let mut list = vec!["volley".to_owned(), format!("--lcores=0@({})", allowed_cpus())];
    list.push(format!("--file-prefix={}", options.file_prefix));
    list.push(format!("--log-level=*:{level}"));
    list.push("--no-telemetry".to_owned());
    list.extend(plan.arguments());
    if options.pci {
        // An allow list that names no device we could have: found ones are not opened by
        // themselves.
        list.push("--allow=0000:00:00.0".to_owned());
    } else {
        list.push("--no-pci".to_owned());
    }
    // Cards may want physical addresses; without them nobody does, and pools are packed closer.
    if !options.pci || !plan.hugepages {
        list.push("--iova-mode=va".to_owned());
    }
    list
}

/// The CPUs this thread may run on, as DPDK writes sets. It would otherwise pin us to one.
fn allowed_cpus() -> String {
    // SAFETY: an all-zero set is an empty one, and the call fills it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        set
    };
    let limit = libc::CPU_SETSIZE as usize;
    // SAFETY: `cpu` is below the set's size.
    let cpus = (0..limit).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) });
    cpus.map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(",")
}

fn init(arguments: &[String], since: log::Mark) -> Result<(), Error> {
    let refuse = |reason: String| Error::Start { options: arguments[1..].join(" "), reason };
    let mut texts = Vec::new();
    for argument in arguments {
        texts.push(CString::new(argument.as_str()).map_err(|error| refuse(error.to_string()))?);
    }
    let mut pointers: Vec<_> = texts.iter().map(|text| text.as_ptr().cast_mut()).collect();
    let count = pointers.len() as i32;
    pointers.push(core::ptr::null_mut());
    // SAFETY: an argument list as main() gets it; DPDK permutes the pointers and copies the texts.
    if unsafe { ffi::rte_eal_init(count, pointers.as_mut_ptr()) } < 0 {
        return Err(refuse(error::reason(ffi::volley_errno(), since)));
    }
    Ok(())
}

fn version() -> String {
    // SAFETY: a static text.
    unsafe { CStr::from_ptr(ffi::rte_version()) }.to_string_lossy().into_owned()
}

fn iova_mode() -> IovaMode {
    const RTE_IOVA_PA: u32 = 1;
    // SAFETY: DPDK runs.
    match unsafe { ffi::rte_eal_iova_mode() } {
        RTE_IOVA_PA => IovaMode::Physical,
        _ => IovaMode::Virtual,
    }
}
