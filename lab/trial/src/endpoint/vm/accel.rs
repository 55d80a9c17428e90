//! How guests are run: by KVM where a guest really runs by it, else emulated.
//!
//! That a `/dev/kvm` is there says little: one that makes machines and then runs no ordinary kernel
//! is what some clouds have. So a kernel is booted, once, until it speaks.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::kernel::Kernel;

/// Says how, whatever the host has: kvm or tcg.
const CHOSEN: &str = "VOLLEY_GUEST_ACCEL";
const DEVICE: &str = "/dev/kvm";
/// Processor time in which a kernel speaks that runs at all.
const SPEAKS: Duration = Duration::from_secs(3);
/// The same of time, on a host that is busy elsewhere.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);
/// Of a clock tick in which the kernel tells processor time.
const TICKS_PER_S: u64 = 100;

/// How guests are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accel {
    /// By the processor itself.
    Kvm,
    /// By software, for this reason.
    Emulated(&'static str),
}

impl Accel {
    /// What this host has; looked at once.
    pub(super) fn here(kernel: &Kernel) -> Self {
        static FOUND: OnceLock<Accel> = OnceLock::new();
        *FOUND.get_or_init(|| match std::env::var(CHOSEN).as_deref() {
            Ok("kvm") => Self::Kvm,
            Ok("tcg") => Self::Emulated("asked for"),
            _ if !Path::new(DEVICE).exists() => Self::Emulated("there is no KVM here"),
            _ if speaks_by_kvm(kernel) => Self::Kvm,
            _ => Self::Emulated("KVM is here, and no guest runs by it"),
        })
    }

    /// As QEMU takes it.
    pub(super) fn words(self) -> [&'static str; 4] {
        match self {
            Self::Kvm => ["-accel", "kvm", "-cpu", "host"],
            Self::Emulated(_) => ["-accel", "tcg,thread=multi", "-cpu", "max"],
        }
    }

    /// For a reader.
    pub(super) fn told(self) -> String {
        match self {
            Self::Kvm => "KVM".into(),
            Self::Emulated(why) => format!("emulated by software (TCG: {why})"),
        }
    }

    /// Whether its processors are software.
    pub(crate) fn is_emulated(self) -> bool {
        matches!(self, Self::Emulated(_))
    }
}

/// Whether a kernel says a word when it is booted by KVM.
fn speaks_by_kvm(kernel: &Kernel) -> bool {
    let console = std::env::temp_dir().join(format!("volley-kvm-{}", std::process::id()));
    let machine = Command::new("setpriv")
        .args(["--pdeathsig", "KILL", super::machine::QEMU, "-machine", "q35"])
        .args(Accel::Kvm.words())
        .args(["-m", "128", "-nodefaults", "-no-reboot", "-display", "none", "-kernel"])
        .arg(&kernel.image)
        .args(["-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1", "-serial"])
        .arg(format!("file:{}", console.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut machine) = machine else { return false };
    let speaks = until_it_speaks(&mut machine, &console);
    let _ = machine.kill();
    let _ = machine.wait();
    let _ = std::fs::remove_file(&console);
    speaks
}

fn until_it_speaks(machine: &mut Child, console: &Path) -> bool {
    let began = Instant::now();
    loop {
        let said = std::fs::read(console).unwrap_or_default();
        if String::from_utf8_lossy(&said).contains("Linux version") {
            return true;
        }
        let spent = spent(machine.id());
        let gone = !matches!(machine.try_wait(), Ok(None));
        if gone || spent >= SPEAKS || began.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}

/// What a process had of a processor; more than anybody asks for of one that is gone.
pub(super) fn spent(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.ok().and_then(|stat| processor_time(&stat)).unwrap_or(Duration::MAX)
}

/// What a process had of a processor, as `/proc/N/stat` tells it.
fn processor_time(stat: &str) -> Option<Duration> {
    // Its name may have blanks, and parentheses, in it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let ticks = ticks()?.saturating_add(ticks()?);
    Some(Duration::from_millis(ticks.saturating_mul(1_000 / TICKS_PER_S)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_behind_a_name_with_blanks() {
        let stat = "812 (qemu (a) b) S 1 812 812 0 -1 4194304 900 0 0 0 150 25 0 0 20 0 3 0 9 8 7";
        assert_eq!(processor_time(stat), Some(Duration::from_millis(1_750)));
        assert_eq!([processor_time("812 (x) S 1"), processor_time("")], [None, None]);
    }

    #[test]
    fn what_is_emulated_says_so() {
        let told = Accel::Emulated("there is no KVM here").told();
        assert_eq!(told, "emulated by software (TCG: there is no KVM here)");
        assert!(Accel::Emulated("").is_emulated() && !Accel::Kvm.is_emulated());
    }
}
