//! A router of a test's own, and its API.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Time for things that take a moment, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A router in a folder of its own; both gone in the end.
pub(crate) struct Router {
    process: Child,
    folder: PathBuf,
}

impl Drop for Router {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl Router {
    /// Starts one with a port in memory; `more` says what is special about its process.
    pub(crate) fn start(name: &str, more: impl FnOnce(&Path, &mut Command)) -> Self {
        let folder = std::env::temp_dir().join(format!("volleyd-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        write(&folder, "");
        let mut command = Command::new(env!("CARGO_BIN_EXE_volleyd"));
        command.arg("--config").arg(folder.join("router.toml"));
        more(&folder, &mut command);
        Self { process: command.spawn().unwrap(), folder }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits for its end.
    pub(crate) fn ends(&mut self) {
        let begin = Instant::now();
        while self.process.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A connection to its API, once it is there.
    pub(crate) fn connect(&self) -> BufReader<UnixStream> {
        let (begin, socket) = (Instant::now(), self.folder.join("api.sock"));
        loop {
            if let Ok(stream) = UnixStream::connect(&socket) {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                return BufReader::new(stream);
            }
            assert!(begin.elapsed() < PATIENCE, "it does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Writes the file of the router in a folder, with so much more in it.
pub(crate) fn write(folder: &Path, more: &str) {
    let socket = folder.join("api.sock");
    let config = format!(
        "[api]\nsocket = {socket:?}\n[memory]\nhugepages = \"never\"\nbuffers = 4096\nroutes = 1000\n\
         [workers]\nmode = \"single-thread\"\n\
         [port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n{more}"
    );
    fs::write(folder.join("router.toml"), config).unwrap();
}

/// Status and body of an answer.
pub(crate) fn get(stream: &mut BufReader<UnixStream>, path: &str) -> (u16, String) {
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
