//! Replays the transcripts beside this file against a router without workers, over a real socket.
//!
//! A transcript is what a person would see: `$ volley …`, both output streams (standard output
//! first), and the exit code when it is not 0. `VOLLEY_BLESS=1 cargo test` writes what comes now.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is test; clippy only knows of #[test] functions"
)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use control::api::{UnixSocket, router};
use control::config::{Host, Source, parse};
use control::control_loop::{Control, channel};
use control::fake::FakeRouter;

/// A folder of its own, gone in the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Starts a router in a fresh folder, with copies of the configurations in `tests/files`.
fn start(name: &str) -> Folder {
    let folder = std::env::temp_dir().join(format!("volley-cli-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for file in fs::read_dir(files).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let file = folder.join("router.toml");
    let socket = folder.join("api.sock");
    let (ready, listening) = mpsc::channel();
    // The thread ends with the process: a router has no end of its own.
    thread::spawn(move || {
        let text = fs::read_to_string(&file).unwrap();
        let config = parse(&Source::new("router.toml", text), &Host::any()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (handle, jobs) = channel();
            let listener = UnixSocket::bind(&socket, &config.api).unwrap();
            tokio::spawn(listener.serve(router(handle)));
            ready.send(()).unwrap();
            let engine = Box::new(FakeRouter::new(&config));
            Control::new(engine, config, Host::any(), Some(file)).run(jobs).await;
        });
    });
    listening.recv().unwrap();
    Folder(folder)
}

/// Runs one line of a transcript; returns all that is seen.
fn run(folder: &Path, line: &str) -> String {
    let (command, input) = match line.split_once(" < ") {
        Some((command, file)) => (command, Stdio::from(fs::File::open(folder.join(file)).unwrap())),
        None => (line, Stdio::null()),
    };
    let output = Command::new(env!("CARGO_BIN_EXE_volley"))
        .args(command.split(' ').skip(1).map(|word| word.trim_matches('\'')))
        .current_dir(folder)
        .env("VOLLEY_SOCKET", folder.join("api.sock"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .env_remove("NO_COLOR")
        .stdin(input)
        .output()
        .unwrap();
    let mut seen = String::from_utf8(output.stdout).unwrap();
    seen.push_str(&String::from_utf8(output.stderr).unwrap());
    let code = output.status.code().unwrap();
    if code != 0 {
        writeln!(seen, "[exit code {code}]").unwrap();
    }
    untimed(&seen.replace(&format!("{}/", folder.display()), ""))
}

/// Seconds left and seconds spent depend on how fast the machine is.
fn untimed(seen: &str) -> String {
    let mut text = seen.to_owned();
    for unit in [" s left", " s; "] {
        let mut parts = text.split(unit);
        let mut without = parts.next().unwrap().to_owned();
        for part in parts {
            let number = |c: char| c.is_ascii_digit() || c == '.';
            without.truncate(without.trim_end_matches(number).len());
            write!(without, "N{unit}{part}").unwrap();
        }
        text = without;
    }
    text
}

fn replay(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/transcripts/{name}.txt"));
    let wanted = fs::read_to_string(&path).unwrap();
    let folder = start(name);
    let mut seen = String::new();
    for line in wanted.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            writeln!(seen, "{line}").unwrap();
            seen.push_str(&run(&folder.0, command));
        } else if line.starts_with("## ") {
            writeln!(seen, "{line}").unwrap();
        }
    }
    if std::env::var_os("VOLLEY_BLESS").is_some() {
        fs::write(&path, &seen).unwrap();
    }
    assert_eq!(seen, fs::read_to_string(&path).unwrap());
}

#[test]
fn what_is_shown() {
    replay("show");
}

#[test]
fn how_the_running_configuration_is_edited() {
    replay("edit");
}

#[test]
fn how_configurations_are_checked_applied_undone_and_saved() {
    replay("config");
}

#[test]
fn how_many_routes_come_and_go() {
    replay("bulk");
}

#[test]
fn how_packets_are_traced_and_captured() {
    replay("observe");
}

#[test]
fn how_files_of_commands_and_the_shell_run() {
    replay("exec");
}

#[test]
fn output_that_nobody_reads_is_no_failure() {
    let folder = start("pipe");
    let mut child = Command::new(env!("CARGO_BIN_EXE_volley"))
        .args(["completion", "bash"])
        .env("VOLLEY_SOCKET", folder.0.join("api.sock"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn ten_thousand_routes_are_one_change() {
    let folder = start("many");
    let mut commands = String::new();
    for route in 0..10_000 {
        writeln!(commands, "route add 10.{}.{}.0/24 via 192.0.2.9", route / 256, route % 256)
            .unwrap();
    }
    fs::write(folder.0.join("many"), commands).unwrap();
    let seen = run(&folder.0, "volley exec many");
    assert_eq!(seen.lines().count(), 10_000);
    let history = run(&folder.0, "volley config history");
    assert!(history.contains("many (10000 lines)"), "{history}");
}
