//! A reader of stderr that has stopped holds up neither start, nor API, nor end.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is test; clippy only knows of #[test] functions"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Time for things that take a moment, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Refusals, of which each is an event.
const REQUESTS: usize = 3_000;

/// A router in a folder of its own; both gone in the end.
struct Router(Child, PathBuf);

impl Drop for Router {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
        drop(fs::remove_dir_all(&self.1));
    }
}

/// A pipe that is full and that nobody reads.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    // Ends with the test, when there is no reader any more.
    std::thread::spawn(move || while filler.write_all(b"full ").is_ok() {});
    (reader, writer)
}

fn connect(socket: &Path) -> UnixStream {
    let begin = Instant::now();
    loop {
        if let Ok(stream) = UnixStream::connect(socket) {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            return stream;
        }
        assert!(begin.elapsed() < PATIENCE, "it does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Status and body of an answer.
fn get(stream: &mut BufReader<UnixStream>, path: &str) -> (u16, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: volley\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes()).unwrap();
    let mut line = || {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        line.trim_end().to_ascii_lowercase()
    };
    let status = line().split(' ').nth(1).unwrap().parse().unwrap();
    let mut length = 0;
    loop {
        let header = line();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (status, String::from_utf8(body).unwrap())
}

#[test]
fn a_router_whose_log_nobody_reads_starts_answers_and_ends() {
    let folder = std::env::temp_dir().join(format!("volleyd-stalled-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (file, socket) = (folder.join("router.toml"), folder.join("api.sock"));
    let config = format!(
        "[api]\nsocket = {socket:?}\n[memory]\nhugepages = \"never\"\nbuffers = 4096\nroutes = 1000\n\
         [workers]\nmode = \"single-thread\"\n[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n"
    );
    fs::write(&file, config).unwrap();
    let (_reader, stderr) = full_pipe();
    let mut command = Command::new(env!("CARGO_BIN_EXE_volleyd"));
    let started = command.arg("--config").arg(&file).stderr(stderr).spawn().unwrap();
    let mut router = Router(started, folder);

    let mut stream = BufReader::new(connect(&socket));
    let begin = Instant::now();
    for _ in 0..REQUESTS {
        assert_eq!(get(&mut stream, "/v1/nothing").0, 404);
    }
    let each = begin.elapsed() / REQUESTS as u32;
    assert!(each < Duration::from_secs(1), "{each:?}");
    let (status, metrics) = get(&mut stream, "/metrics");
    let events =
        metrics.lines().find_map(|it| it.strip_prefix("volley_events_total{level=\"info\"} "));
    assert!(status == 200 && events.unwrap().parse::<usize>().unwrap() >= REQUESTS, "{metrics}");
    let (status, list) = get(&mut stream, "/v1/events");
    assert!(status == 200 && list.contains("there is nothing at /v1/nothing"), "{list}");

    let id = router.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let begin = Instant::now();
    while router.0.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}
