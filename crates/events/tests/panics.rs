//! What becomes of a process of which a thread panics: this test starts itself anew and looks.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "all of it is test; clippy only knows of #[test] functions"
)]

use events::Format;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::thread;

const SIGABRT: i32 = 6;
/// Set in the process that panics: the name of the thread that does.
const THREAD: &str = "THREAD_THAT_PANICS";

/// Runs the test `name` of this file in a process of its own, where `thread` panics.
fn panicked(name: &str, thread: &str) -> Output {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(THREAD, thread);
    command.output().unwrap()
}

/// In that process: panics in the thread that was asked for, and then says that it goes on.
fn panic_if_asked() -> bool {
    let Ok(name) = std::env::var(THREAD) else { return false };
    events::install(Format::Text).unwrap();
    let thread = thread::Builder::new().name(name).spawn(|| panic!("as asked")).unwrap();
    assert!(thread.join().is_err());
    println!("the process goes on");
    true
}

#[test]
fn a_thread_that_panics_ends_the_process_with_a_report() {
    if panic_if_asked() {
        return;
    }
    let output = panicked("a_thread_that_panics_ends_the_process_with_a_report", "worker-1");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.signal(), Some(SIGABRT), "{told}");
    let report = told.lines().find(|line| line.contains("panicked: as asked")).unwrap();
    assert!(report.contains("thread=worker-1") && report.contains("tests/panics.rs:"), "{report}");
    assert!(told.contains("the process ends: it does not run without this thread"), "{told}");
}

#[test]
fn a_thread_of_one_request_may_end() {
    if panic_if_asked() {
        return;
    }
    let output = panicked("a_thread_of_one_request_may_end", events::REQUEST);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("the process goes on"), "{said}");
}
