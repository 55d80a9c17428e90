//! The agent in a guest, its first process: runs what it is told to, side by side, and tells what
//! comes of it. It ends, and the guest with it, when nobody is there to tell it anything.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::protocol::{Ask, Told, line};
use crate::Error;

/// How long the driver of the port may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most octets of one message.
const MOST: usize = 4_096;
/// How often one that says nothing more is looked at.
const LOOK: Duration = Duration::from_millis(2);
/// What `wait` has of a shell that is not there.
const NOT_FOUND: i32 = 127 << 8;

/// What runs, by number.
type Running = Arc<Mutex<BTreeMap<u64, Child>>>;

/// Serves at a port of the guest, once it is there.
pub fn serve_at(port: &Path) -> Result<(), Error> {
    let began = Instant::now();
    let file = loop {
        match OpenOptions::new().read(true).write(true).open(port) {
            Err(_) if began.elapsed() < PATIENCE => std::thread::sleep(LOOK),
            other => break other.map_err(Error::file(port))?,
        }
    };
    let input = file.try_clone().map_err(Error::file(port))?;
    serve(BufReader::new(input), file).map_err(Error::file(port))
}

/// Until the input ends.
fn serve(input: impl BufRead, output: impl Write + Send + 'static) -> io::Result<()> {
    let output = Arc::new(Mutex::new(output));
    let linux = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    say(&output, &Told::Ready { linux: linux.trim().to_owned() })?;
    let running = Running::default();
    for text in input.lines() {
        match serde_json::from_str(&text?) {
            Ok(Ask::Run { id, line }) => match start(&line) {
                Ok((child, pipe)) => {
                    held(&running).insert(id, child);
                    let (running, output) = (Arc::clone(&running), Arc::clone(&output));
                    std::thread::spawn(move || follow(id, pipe, &running, &output));
                }
                Err(error) => {
                    say(&output, &Told::Said { id, text: format!("sh: {error}\n") })?;
                    say(&output, &Told::Ended { id, status: NOT_FOUND })?;
                }
            },
            Ok(Ask::End { id }) => {
                held(&running).get_mut(&id).map_or(Ok(()), Child::kill)?;
            }
            // Nobody says such a thing; whoever did waits for nothing.
            Err(error) => eprintln!("volley-lab guest: {error}"),
        }
    }
    Ok(())
}

/// Starts a line, all of whose output is one.
fn start(line: &str) -> io::Result<(Child, PipeReader)> {
    let (reader, writer) = io::pipe()?;
    let child = Command::new("sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    Ok((child, reader))
}

/// Tells what it says, and then how it ended.
fn follow(
    id: u64,
    mut pipe: PipeReader,
    running: &Running,
    output: &Mutex<impl Write>,
) -> io::Result<()> {
    let mut octets = [0; MOST];
    loop {
        match pipe.read(&mut octets)? {
            0 => break,
            length => {
                let text = String::from_utf8_lossy(&octets[..length]).into_owned();
                say(output, &Told::Said { id, text })?;
            }
        }
    }
    let status = loop {
        // Not waited for with the lock held: it may be told to end.
        if let Some(status) = held(running).get_mut(&id).map_or(Ok(None), Child::try_wait)? {
            break status.into_raw();
        }
        std::thread::sleep(LOOK);
    };
    held(running).remove(&id);
    say(output, &Told::Ended { id, status })
}

fn held(running: &Running) -> MutexGuard<'_, BTreeMap<u64, Child>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn say(output: &Mutex<impl Write>, told: &Told) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(line(told).as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    struct Lab(BufReader<UnixStream>);

    impl Lab {
        fn new() -> Self {
            let (ours, theirs) = UnixStream::pair().unwrap();
            std::thread::spawn(move || {
                serve(BufReader::new(theirs.try_clone().unwrap()), theirs).unwrap();
            });
            Self(BufReader::new(ours))
        }

        fn ask(&mut self, ask: &Ask) {
            self.0.get_mut().write_all(line(ask).as_bytes()).unwrap();
        }

        fn told(&mut self) -> Told {
            let mut text = String::new();
            self.0.read_line(&mut text).unwrap();
            serde_json::from_str(&text).unwrap()
        }

        /// All that one said until it ended.
        fn ended(&mut self, id: u64) -> (String, i32) {
            let mut said = String::new();
            loop {
                match self.told() {
                    Told::Said { id: of, text } if of == id => said += &text,
                    Told::Ended { id: of, status } if of == id => return (said, status),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn what_is_run_is_told_whole_with_how_it_ended() {
        let mut lab = Lab::new();
        assert!(matches!(lab.told(), Told::Ready { linux } if !linux.is_empty()));
        lab.ask(&Ask::Run { id: 1, line: "echo one; echo two >&2; exit 3".into() });
        assert_eq!(lab.ended(1), ("one\ntwo\n".into(), 3 << 8));
        lab.ask(&Ask::Run { id: 2, line: "head -c 100000 /dev/zero | tr '\\0' x".into() });
        let (said, status) = lab.ended(2);
        assert_eq!((said.len(), status), (100_000, 0));
        lab.ask(&Ask::Run { id: 3, line: "no-such-program-here".into() });
        assert_eq!(lab.ended(3).1, 127 << 8);
    }

    #[test]
    fn several_run_at_once_and_one_is_ended_alone() {
        let mut lab = Lab::new();
        lab.ask(&Ask::Run { id: 1, line: "exec sleep 1000".into() });
        lab.ask(&Ask::Run { id: 2, line: "echo beside".into() });
        assert_eq!(lab.ended(2), ("beside\n".into(), 0));
        lab.0.get_mut().write_all(b"\"fly\"\n{\"end\":{\"id\":77}}\n").unwrap();
        lab.ask(&Ask::End { id: 1 });
        assert_eq!(lab.ended(1), (String::new(), 9));
    }
}
