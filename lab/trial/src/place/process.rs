//! A process that runs beside us: a child of ours, or one somewhere that has no children of ours.

use std::fs::File;
use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::output;
use crate::Error;

/// What a place asks of its processes.
pub(crate) trait Process: Send {
    /// Its number here; none where it has none.
    fn id(&self) -> Option<u32>;
    /// How it ended, if it has.
    fn ended(&mut self) -> Option<ExitStatus>;
    /// Has nothing more said to it, and asks it to end.
    fn ask_to_end(&mut self);
    /// Ends it.
    fn kill(&mut self);
    /// Says something to its standard input.
    fn tell(&mut self, text: &str) -> std::io::Result<()>;
}

/// Starts a shell's line on these cores, by these words; all that it says goes to a file. It cannot
/// outlive us.
pub(crate) fn child(
    by: &[String],
    cores: &str,
    line: &str,
    out: File,
) -> Result<Box<dyn Process>, Error> {
    let both = out.try_clone().map_err(Error::file("a log"))?;
    let child = Command::new("setpriv")
        .args(["--pdeathsig", "KILL"])
        .args(by)
        .args(["taskset", "-c", cores])
        .args(["sh", "-c", &format!("exec {line}")])
        .stdin(Stdio::piped())
        .stdout(out)
        .stderr(both)
        .spawn()
        .map_err(Error::file("setpriv"))?;
    Ok(Box::new(child))
}

impl Process for Child {
    fn id(&self) -> Option<u32> {
        Some(Child::id(self))
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.try_wait().ok().flatten()
    }

    fn ask_to_end(&mut self) {
        drop(self.stdin.take());
        // One that has ended cannot be asked.
        let _ = output(&["kill", "-TERM", &Child::id(self).to_string()]);
    }

    fn kill(&mut self) {
        let _ = Child::kill(self);
        let _ = self.wait();
    }

    fn tell(&mut self, text: &str) -> std::io::Result<()> {
        let input = self.stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        input.write_all(text.as_bytes())?;
        input.flush()
    }
}
