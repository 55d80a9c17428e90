//! Finding and booting Linux as a program, on the host's own files, to play experiments.
//!
//! ```text
//!   work folder:  experiments.json, player.py, init.sh, modules ─▶ linux.uml ─▶ traces.json, log
//! ```

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A packet to play: when, how long, of which flow, and its class or priority.
pub(crate) type Played = (u64, u32, u32, u32);

/// A schedule through one traffic control.
#[derive(Serialize, Clone)]
pub(crate) struct Experiment {
    pub(crate) name: String,
    pub(crate) tc: Vec<String>,
    pub(crate) queue_length: u32,
    pub(crate) packets: Vec<Played>,
    /// Lines for the kernel alone, once all packets were offered.
    pub(crate) afterwards: Vec<String>,
    pub(crate) rest_ms: u64,
}

/// What the kernel did with it: times in ns and the packets' numbers.
#[derive(Deserialize)]
pub(crate) struct Trace {
    pub(crate) name: String,
    pub(crate) sent: Vec<(u64, usize)>,
    pub(crate) received: Vec<(u64, usize)>,
    pub(crate) statistics: String,
}

/// The kernel and its modules: of the package, or of a folder that it was unpacked into.
pub(crate) fn find() -> Option<(PathBuf, PathBuf)> {
    let root = std::env::var("SCHED_UML_ROOT").unwrap_or_default();
    let kernel = PathBuf::from(format!("{root}/usr/bin/linux.uml"));
    let modules = PathBuf::from(format!("{root}/usr/lib/uml/modules"));
    (kernel.exists() && modules.exists()).then_some((kernel, modules))
}

/// It sets its programs' registers by ptrace, and knows none of AMX: there the host's kernel
/// refuses that (EFAULT).
pub(crate) fn runs_here() -> bool {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    !processor.split_whitespace().any(|flag| flag == "amx_tile")
}

/// Boots, plays and reads the traces; the log goes into the failure's message.
pub(crate) fn play(kernel: &Path, modules: &Path, experiments: &[Experiment]) -> Vec<Trace> {
    let work = std::env::temp_dir().join(format!("sched-uml-{}", std::process::id()));
    std::fs::create_dir_all(&work).unwrap();
    let put = |name: &str, text: &str| std::fs::write(work.join(name), text).unwrap();
    put("experiments.json", &serde_json::to_string(experiments).unwrap());
    put("player.py", include_str!("player.py"));
    put("init.sh", include_str!("init.sh"));
    put("modules", modules.to_str().unwrap());
    Command::new("chmod").arg("755").arg(work.join("init.sh")).status().unwrap();
    let console = std::fs::File::create(work.join("console")).unwrap();
    // Before all else that runs here, where that is permitted: its windows of time are compared.
    let mut linux = Command::new("nice")
        .args(["-n", "-15"])
        .arg(kernel)
        .args(["rootfstype=hostfs", "rootflags=/", "rw", "mem=256M", "con=null", "con0=fd:0,fd:1"])
        .arg(format!("init={}", work.join("init.sh").display()))
        .arg(format!("sched_work={}", work.display()))
        .stdin(Stdio::null())
        .stderr(console.try_clone().unwrap())
        .stdout(console)
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(170);
    while linux.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            linux.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let read = |name: &str| {
        let bytes = std::fs::read(work.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let traces = serde_json::from_str(&read("traces.json")).unwrap_or_else(|error| {
        panic!("no traces: {error}\nlog:\n{}\nconsole:\n{}", read("log"), read("console"))
    });
    std::fs::remove_dir_all(&work).unwrap();
    traces
}
