//! The lab's side of what it says to a guest: a thread hears what comes, and everybody else asks
//! it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::protocol::{Ask, Told, line};
use crate::Error;
use crate::place::Process;

/// Longest that a command on a guest's network may take: those of ours are done at once.
const PATIENCE: Duration = Duration::from_secs(60);
/// How one ended whose guest did.
const KILLED: i32 = 9;

/// See the module.
#[derive(Default)]
pub(super) struct Session {
    input: Mutex<Option<UnixStream>>,
    next: AtomicU64,
    heard: Mutex<Heard>,
    changed: Condvar,
}

#[derive(Default)]
struct Heard {
    /// The version of its kernel, once it runs.
    linux: Option<String>,
    /// Whether nothing more will come.
    over: bool,
    runs: BTreeMap<u64, Run>,
}

/// One that runs there.
#[derive(Default)]
struct Run {
    /// Where what it says goes; kept here where there is none.
    log: Option<File>,
    said: String,
    status: Option<ExitStatus>,
}

impl Session {
    /// With the agent at the other end.
    pub(super) fn with(stream: UnixStream) -> Result<Arc<Self>, Error> {
        let input = stream.try_clone().map_err(Error::file("a guest's port"))?;
        let session = Arc::new(Self { input: Mutex::new(Some(input)), ..Self::default() });
        let ours = Arc::clone(&session);
        // It ends with the guest.
        std::thread::spawn(move || ours.hear(BufReader::new(stream)));
        Ok(session)
    }

    fn hear(&self, output: impl BufRead) {
        for text in output.lines().map_while(Result::ok) {
            let Ok(told) = serde_json::from_str::<Told>(&text) else { break };
            let mut heard = self.heard();
            match told {
                Told::Ready { linux } => heard.linux = Some(linux),
                Told::Said { id, text } => {
                    if let Some(run) = heard.runs.get_mut(&id) {
                        match &mut run.log {
                            // A full disk is told by what is missing at the end.
                            Some(log) => drop(log.write_all(text.as_bytes())),
                            None => run.said += &text,
                        }
                    }
                }
                Told::Ended { id, status } => {
                    if let Some(run) = heard.runs.get_mut(&id) {
                        run.status = Some(ExitStatus::from_raw(status));
                    }
                }
            }
            drop(heard);
            self.changed.notify_all();
        }
        self.heard().over = true;
        self.changed.notify_all();
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of its kernel, once it runs.
    pub(super) fn linux(&self) -> Option<String> {
        self.heard().linux.clone()
    }

    fn ask(&self, ask: &Ask) -> std::io::Result<()> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let input = input.as_mut().ok_or(std::io::ErrorKind::NotConnected)?;
        input.write_all(line(ask).as_bytes())
    }

    /// Starts a line of a shell; what it says goes there, or is kept.
    fn run(&self, line: &str, log: Option<File>) -> std::io::Result<u64> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.heard().runs.insert(id, Run { log, ..Run::default() });
        self.ask(&Ask::Run { id, line: line.to_owned() })?;
        Ok(id)
    }

    /// The same, as a process.
    pub(super) fn start(
        self: &Arc<Self>,
        line: &str,
        log: File,
    ) -> Result<Box<dyn Process>, Error> {
        // That a guest is gone is no fault of a file: what else is measured goes on.
        let gone = |error: std::io::Error| Error::Command {
            line: line.to_owned(),
            reason: format!("the guest is gone ({error})"),
        };
        let id = self.run(&format!("exec {line}"), Some(log)).map_err(gone)?;
        Ok(Box::new(Inner { session: Arc::clone(self), id }))
    }

    /// Runs a line to its end. What it says, or why it failed.
    pub(super) fn says(&self, line: &str) -> Result<String, String> {
        let id = self.run(line, None).map_err(|error| error.to_string())?;
        let running =
            |heard: &mut Heard| heard.runs.get(&id).is_some_and(|run| run.status.is_none());
        let waits = |heard: &mut Heard| !heard.over && running(heard);
        let heard = self.changed.wait_timeout_while(self.heard(), PATIENCE, waits);
        let (mut heard, _) = heard.unwrap_or_else(PoisonError::into_inner);
        let over = heard.over;
        let run = heard.runs.remove(&id).unwrap_or_default();
        let said = run.said.trim_end().to_owned();
        match run.status {
            Some(status) if status.success() => Ok(said),
            Some(status) => Err(format!("{said} ({status})")),
            None if over => Err(format!("{said} (the guest is gone)")),
            None => Err(format!("{said} (not within {} s)", PATIENCE.as_secs())),
        }
    }
}

/// A process of a guest.
struct Inner {
    session: Arc<Session>,
    id: u64,
}

impl Process for Inner {
    fn id(&self) -> Option<u32> {
        None
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        let heard = self.session.heard();
        let status = heard.runs.get(&self.id).and_then(|run| run.status);
        status.or(heard.over.then(|| ExitStatus::from_raw(KILLED)))
    }

    fn ask_to_end(&mut self) {
        // Of a guest that is gone, so is everything.
        let _ = self.session.ask(&Ask::End { id: self.id });
    }

    fn kill(&mut self) {
        self.ask_to_end();
    }

    fn tell(&mut self, _: &str) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.session.heard().runs.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A guest that answers every line with the same.
    fn guest(answers: impl Fn(u64) -> String + Send + 'static) -> Arc<Session> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            let mut out = theirs.try_clone().unwrap();
            out.write_all(line(&Told::Ready { linux: "6.1".into() }).as_bytes()).unwrap();
            for text in BufReader::new(theirs).lines().map_while(Result::ok) {
                let Ok(Ask::Run { id, .. }) = serde_json::from_str(&text) else { continue };
                out.write_all(answers(id).as_bytes()).unwrap();
            }
        });
        Session::with(ours).unwrap()
    }

    #[test]
    fn a_command_says_what_it_says_or_why_it_failed() {
        let status = |id, status| line(&Told::Ended { id, status });
        let said = |id| line(&Told::Said { id, text: "no such device\n".into() });
        let session = guest(move |id| said(id + 7) + &said(id) + &status(id, id as i32 * 256));
        assert_eq!(session.says("x"), Ok("no such device".into()));
        assert_eq!(session.says("x"), Err("no such device (exit status: 1)".into()));
        assert_eq!(session.linux().as_deref(), Some("6.1"));
    }

    #[test]
    fn what_runs_in_a_guest_that_is_gone_or_speaks_nonsense_has_ended() {
        let session = guest(|_| "{\"said\":{\"id\":0}}\n".into());
        let path = std::env::temp_dir().join(format!("lab-session-{}", std::process::id()));
        let mut process = session.start("sleep 9", File::create(&path).unwrap()).unwrap();
        assert_eq!(session.says("x"), Err(" (the guest is gone)".into()));
        assert_eq!(process.ended().unwrap().to_string(), "signal: 9 (SIGKILL)");
        std::fs::remove_file(path).unwrap();
    }
}
