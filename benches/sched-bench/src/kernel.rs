//! The kernel's schedulers on a pair of virtual devices: what a packet that is sent costs the
//! sending thread.
//!
//! ```text
//!   sched-bench --send near … ─▶ packet socket ─▶ scheduler ─▶ near ═ far ─▶ nobody takes it        (own namespace)
//! ```
//!
//! Counted is the thread's processor time, system call and far end included, so the row without a
//! scheduler is to be taken off. Nothing waits: this is what enqueue and dequeue cost while the
//! link is free.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::cases::{LINK, Qdisc};

/// The sending end.
const DEVICE: &str = "near";
const PACKETS: u32 = 64_000;

/// A namespace with two devices and a scheduler between, while it is needed.
pub(crate) struct Kernel {
    namespace: String,
    classes: u32,
}

impl Kernel {
    pub(crate) fn new(scheduler: &str, qdisc: Qdisc, classes: u32) -> Result<Self, String> {
        let namespace = format!("sched-bench-{scheduler}-{classes}");
        // One that an interrupted run left behind is in the way, and usually there is none.
        let _gone = run("ip", &["netns", "del", &namespace], "");
        run("ip", &["netns", "add", &namespace], "")?;
        let kernel = Self { namespace, classes };
        let add = format!("link add {DEVICE} type veth peer name far\n");
        let pair = add + &format!("link set {DEVICE} up\nlink set far up\n");
        run("ip", &["-n", &kernel.namespace, "-batch", "-"], &pair)?;
        run("tc", &["-n", &kernel.namespace, "-batch", "-"], &lines(qdisc, classes))?;
        Ok(kernel)
    }

    /// Nanoseconds a packet.
    pub(crate) fn run(&self) -> Result<f64, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let own = own.to_string_lossy();
        let (classes, packets) = (self.classes.to_string(), PACKETS.to_string());
        let send = ["netns", "exec", &self.namespace, &own, "--send", DEVICE, &classes, &packets];
        let ns = run("ip", &send, "")?;
        let ns: f64 = ns.trim().parse().map_err(|_| format!("`{ns}` is no time"))?;
        Ok(ns / f64::from(PACKETS))
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // Nothing can be done about one that stays.
        let _gone = run("ip", &["netns", "del", &self.namespace], "");
    }
}

/// What `tc` is told: a tree as the one that ours is measured with.
fn lines(qdisc: Qdisc, classes: u32) -> String {
    let root = format!("qdisc replace dev {DEVICE} root handle 1:");
    let link = LINK.0;
    match qdisc {
        Qdisc::None => format!("qdisc replace dev {DEVICE} root noqueue\n"),
        Qdisc::Pfifo => format!("{root} pfifo limit 1000\n"),
        Qdisc::Tbf => format!("{root} tbf rate {link}bit burst 100000 limit 10000000\n"),
        Qdisc::Htb => {
            let share = link / u64::from(classes) / 2;
            let mut text = format!("{root} htb\n");
            let top = format!("class add dev {DEVICE} parent 1: classid 1:ffff htb");
            text += &format!("{top} rate {link}bit quantum 1514\n");
            for minor in 1..=classes {
                let class = format!("class add dev {DEVICE} parent 1:ffff classid 1:{minor:x} htb");
                text += &format!("{class} rate {share}bit ceil {link}bit quantum 1514\n");
            }
            text
        }
    }
}

/// Runs a program; what it prints, or why it failed.
fn run(program: &str, arguments: &[&str], input: &str) -> Result<String, String> {
    let told = |reason: String| format!("{program} {}: {reason}", arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| told(error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).map_err(|error| told(error.to_string()))?;
    }
    let output = child.wait_with_output().map_err(|error| told(error.to_string()))?;
    if !output.status.success() {
        return Err(told(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
