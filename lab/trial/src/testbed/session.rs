//! One agent, asked over a pipe: ssh's, or that of a process here.
//!
//! ```text
//! t0 ── ask ──▶ remote time ── told ──▶ t1      offset = remote - (t0 + t1)/2, wrong by (t1 - t0)/2 at most:
//!                                               of many exchanges the quickest counts
//! ```

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::protocol::{Ask, Told};
use super::{Host, Reach};
use crate::Error;

/// How long an answer may take: a device that loads a million routes included.
const PATIENCE: Duration = Duration::from_secs(180);
/// Exchanges by which clocks are compared.
const EXCHANGES: usize = 40;
/// Last octets of what ssh said.
const TAIL_BYTES: usize = 300;

/// An agent that can be asked.
#[derive(Debug)]
pub(crate) struct Session {
    host: String,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    words: Arc<Mutex<String>>,
}

/// How another host's clock stands to ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Offset {
    /// It is so much ahead.
    pub(crate) ahead_us: f64,
    /// Or more, or less, by so much at most.
    pub(crate) uncertainty_us: f64,
}

impl Session {
    /// Starts an agent there.
    pub(crate) fn start(host: &Host) -> Result<Self, Error> {
        let mut command = command(host)?;
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawned.spawn().map_err(Error::file(command.get_program()))?;
        let input = child.stdin.take();
        let (sender, lines) = channel();
        let words = Arc::new(Mutex::new(String::new()));
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                BufReader::new(output)
                    .lines()
                    .map_while(Result::ok)
                    .try_for_each(|line| sender.send(line))
            });
        }
        if let Some(mut told) = child.stderr.take() {
            let words = Arc::clone(&words);
            std::thread::spawn(move || {
                let mut octets = [0; 512];
                while let Ok(count @ 1..) = told.read(&mut octets) {
                    if let Ok(mut words) = words.lock() {
                        words.push_str(&String::from_utf8_lossy(&octets[..count]));
                    }
                }
            });
        }
        Ok(Self { host: host.name.clone(), child, input, lines, words })
    }

    /// Asks, and waits for the answer; an error where the host went away, named.
    pub(crate) fn ask(&mut self, ask: &Ask) -> Result<Told, Error> {
        let mut line = serde_json::to_string(ask).unwrap_or_default();
        line.push('\n');
        let written =
            self.input.as_mut().map(|input| input.write_all(line.as_bytes()).and(input.flush()));
        if !matches!(written, Some(Ok(()))) {
            return Err(self.gone("went away"));
        }
        let told = match self.lines.recv_timeout(PATIENCE) {
            Ok(told) => told,
            Err(RecvTimeoutError::Timeout) => return Err(self.gone("does not answer")),
            Err(RecvTimeoutError::Disconnected) => return Err(self.gone("went away")),
        };
        match serde_json::from_str(&told) {
            Ok(Told::Failed { refused: false, reason }) => Err(self.failed(reason)),
            Ok(told) => Ok(told),
            Err(error) => Err(self.failed(format!("{error} in {told:.200}"))),
        }
    }

    fn failed(&self, reason: String) -> Error {
        Error::Command { line: format!("host {}", self.host), reason }
    }

    /// From now on nobody is asked any more.
    fn gone(&mut self, how: &str) -> Error {
        self.input = None;
        // What ssh says of it comes a little later.
        let _ = self.lines.recv_timeout(Duration::from_millis(200));
        let words = self.words.lock().map(|words| words.clone()).unwrap_or_default();
        let tail: String = words.trim().chars().rev().take(TAIL_BYTES).collect();
        let tail: String = tail.chars().rev().collect();
        let why = if tail.is_empty() { String::new() } else { format!(": {tail}") };
        self.failed(format!("it {how}{why}"))
    }

    /// An answer of another kind than was asked for.
    pub(crate) fn amiss(&self, told: &Told) -> Error {
        self.failed(format!("it answers otherwise: {told:?}"))
    }

    /// How its clock stands to ours.
    pub(crate) fn compare_clocks(&mut self) -> Result<Offset, Error> {
        let now_ns = || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            now.as_nanos() as f64
        };
        let mut exchanges = Vec::new();
        for _ in 0..EXCHANGES {
            let asked_ns = now_ns();
            match self.ask(&Ask::Clock)? {
                Told::Clock { unix_ns } => exchanges.push((asked_ns, unix_ns as f64, now_ns())),
                other => return Err(self.amiss(&other)),
            }
        }
        Ok(offset(&exchanges))
    }
}

/// Of exchanges: asked, remote time, told, in nanoseconds.
fn offset(exchanges: &[(f64, f64, f64)]) -> Offset {
    let of = |&(asked, remote, told): &(f64, f64, f64)| Offset {
        ahead_us: (remote - asked.midpoint(told)) / 1e3,
        uncertainty_us: (told - asked).abs() / 2e3,
    };
    let all = exchanges.iter().map(of);
    let quickest = all.min_by(|a, b| a.uncertainty_us.total_cmp(&b.uncertainty_us));
    quickest.unwrap_or(Offset { ahead_us: 0.0, uncertainty_us: f64::INFINITY })
}

impl Drop for Session {
    fn drop(&mut self) {
        // The end of its input is its sign to take everything back.
        drop(self.input.take());
        for _ in 0..400 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(host: &Host) -> Result<Command, Error> {
    if host.reach == Reach::Local {
        let own = std::env::current_exe().map_err(Error::file("volley-lab"))?;
        let mut command = Command::new(own);
        command.arg("agent");
        return Ok(command);
    }
    let mut command = Command::new("ssh");
    command.arg("-T");
    // A host that vanishes without a word is missed after seconds.
    for option in
        ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=2", "ServerAliveCountMax=3"]
    {
        command.args(["-o", option]);
    }
    if let Some(port) = host.port {
        command.args(["-p", &port.to_string()]);
    }
    if let Some(key) = &host.key {
        command.arg("-i").arg(key).args(["-o", "IdentitiesOnly=yes"]);
    }
    if let Some(known) = &host.known_hosts {
        command.args(["-o", &format!("UserKnownHostsFile={}", known.display())]);
    }
    if let Some(user) = &host.user {
        command.args(["-l", user]);
    }
    command.args(["--", &host.address, &host.agent, "agent"]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(reach: Reach) -> Host {
        Host {
            name: "dut".into(),
            reach,
            address: "192.0.2.1".into(),
            user: Some("lab".into()),
            port: Some(2_222),
            key: Some("/k".into()),
            known_hosts: None,
            agent: "/opt/volley-lab".into(),
            cores: "0".into(),
        }
    }

    #[test]
    fn the_quickest_exchange_says_how_clocks_stand() {
        let found = offset(&[
            (0.0, 5_600.0, 1_000.0),
            (2_000.0, 7_150.0, 2_200.0),
            (3_000.0, 9_000.0, 9_000.0),
        ]);
        assert_eq!(found, Offset { ahead_us: 5.05, uncertainty_us: 0.1 });
        assert_eq!(offset(&[]).uncertainty_us, f64::INFINITY);
    }

    #[test]
    fn ssh_is_told_what_the_file_says() {
        let command = command(&host(Reach::Ssh)).unwrap();
        let words: Vec<_> = command.get_args().map(|it| it.to_string_lossy()).collect();
        let line = words.join(" ");
        assert!(
            line.ends_with(
                "-p 2222 -i /k -o IdentitiesOnly=yes -l lab -- 192.0.2.1 /opt/volley-lab agent"
            ),
            "{line}"
        );
    }

    #[test]
    fn a_host_that_does_not_answer_is_named() {
        // The test's own program is no agent: it ends at once.
        let mut session = Session::start(&host(Reach::Local)).unwrap();
        let error =
            std::iter::repeat_with(|| session.ask(&Ask::Hello)).take(3).find_map(Result::err);
        assert!(error.unwrap().to_string().starts_with("host dut: "));
    }
}
