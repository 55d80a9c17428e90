//! How the environment starts and ends: each test in processes of its own.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]
#![allow(unsafe_code, reason = "giving up rights")]

use dpdk::kinds::Ring;
use dpdk::{DpdkPool, Eal, EalOptions, Error, MemoryChoice, Port, PortOptions, PortSpec};
use packet::{Burst, Pool, RxQueue, TxQueue};
use std::env;
use std::io::{BufRead, BufReader};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Set in child processes: what they do.
const TASK: &str = "VOLLEY_TEST_TASK";
const NOBODY: u32 = 65_534;

fn options(prefix: &str) -> EalOptions {
    let memory = MemoryChoice::Ordinary;
    EalOptions { memory_mib: 64, memory, file_prefix: prefix.to_owned(), ..EalOptions::default() }
}

/// Not a test by itself: what child processes run.
#[test]
fn child_process() {
    let Ok(task) = env::var(TASK) else { return };
    let parent = parent_id();
    if task == "without-root" {
        become_nobody();
    }
    let eal = Eal::start(options(&prefix(parent, &task))).unwrap();
    println!("facts: {}", eal.facts());
    pass_a_packet(&eal);
    match task.as_str() {
        "twice" => {
            assert!(matches!(Eal::start(options("other")), Err(Error::AlreadyStarted)));
            drop(eal);
            assert!(matches!(Eal::start(options("other")), Err(Error::AlreadyStarted)));
        }
        // Until the test kills it, or is gone.
        "wait" => {
            while parent_id() == parent {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        _ => drop(eal),
    }
    println!("done");
}

fn pass_a_packet(eal: &Eal) {
    let pool = DpdkPool::new(eal, 1024, 2048).unwrap();
    let mut cache = pool.cache();
    let mut port = Port::open(eal, &PortSpec::Ring(Ring), PortOptions::new(pool.clone())).unwrap();
    port.start().unwrap();
    let (mut rx, mut tx) = (port.rx(0).unwrap(), port.tx(0).unwrap());
    let mut packets = vec![cache.copy_of(&[5; 64]).unwrap()];
    assert_eq!(tx.send(&mut *cache, &mut packets), 1);
    rx.receive(&mut *cache, 1, &mut packets);
    assert_eq!(packets[0].bytes(), [5; 64]);
    cache.release(Burst::of(&mut packets));
}

/// Of the run-time folder, one for each task, whoever runs beside it.
fn prefix(parent: u32, task: &str) -> String {
    format!("test-{parent}-{task}")
}

/// This program once more, doing `task`.
fn child(task: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "child_process", "--nocapture"]);
    command.env(TASK, task);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Root no more, and without its rights.
fn become_nobody() {
    // SAFETY: this process has one thread that matters and nothing open yet.
    unsafe {
        if libc::geteuid() == 0 {
            assert_eq!((libc::setgid(NOBODY), libc::setuid(NOBODY)), (0, 0));
        }
        env::remove_var("XDG_RUNTIME_DIR");
    }
}

fn finish(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr));
    assert!(output.status.success() && out.contains("done"), "{out}{err:?}");
    assert_eq!(err.unwrap(), "", "DPDK writes to the terminal");
    out
}

fn leftovers(task: &str) -> Vec<PathBuf> {
    let folders = ["/var/run/dpdk", "/tmp/dpdk"].map(PathBuf::from);
    let session = env::var_os("XDG_RUNTIME_DIR").map(|path| PathBuf::from(path).join("dpdk"));
    let all = folders
        .into_iter()
        .chain(session)
        .map(|folder| folder.join(prefix(std::process::id(), task)));
    all.filter(|folder| folder.exists()).collect()
}

#[test]
fn it_starts_quietly_passes_packets_and_leaves_nothing() {
    let out = finish(&mut child("once"));
    assert!(out.contains("DPDK 2") && out.contains("64 MiB without hugepages"), "{out}");
    assert_eq!(leftovers("once"), Vec::<PathBuf>::new());
}

#[test]
fn it_starts_without_root() {
    let out = finish(&mut child("without-root"));
    assert!(out.contains("not root without capabilities"), "{out}");
    assert_eq!(leftovers("without-root"), Vec::<PathBuf>::new());
}

#[test]
fn it_starts_once_in_a_process() {
    finish(&mut child("twice"));
}

#[test]
fn it_starts_again_after_a_kill_that_left_nothing() {
    let mut command = child("wait");
    let mut killed: Child = command.spawn().unwrap();
    let mut lines = BufReader::new(killed.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("facts:")));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(leftovers("wait"), Vec::<PathBuf>::new());
    finish(&mut child("again"));
}

#[test]
fn a_prefix_that_is_no_folder_name_is_refused() {
    for prefix in ["", "a/b", "..", "a b", "a,b"] {
        let error = Eal::start(options(prefix)).err().unwrap();
        assert!(matches!(error, Error::Argument { .. }), "{error}");
    }
}
