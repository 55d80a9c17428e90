//! Where a device runs: a network namespace of its own, processes that cannot outlive us, a
//! transcript.
//!
//! ```text
//! holder (cat, its stdin is our pipe) ── holds the namespace ── ends when we do
//! daemon: setpriv --pdeathsig KILL nsenter --net=… taskset -c CORES sh -c "exec …"
//! ```

mod process;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::Error;
pub(crate) use process::{Process, child};

/// How long a device may take to start. One that dies is told of at once: what needs it is a slow
/// machine, as a virtual one that is emulated beside others.
const STARTS: Duration = Duration::from_secs(60);
/// How long a process may take to end when it is asked to.
const END_PATIENCE: Duration = Duration::from_secs(3);
/// How many times longer things take on a processor that is software.
const EMULATED_SLOWER: u32 = 4;
/// Last octets of a log that are told when its process died.
const LOG_TAIL_BYTES: usize = 600;

/// A process that runs beside us.
struct Daemon {
    name: String,
    process: Box<dyn Process>,
    log: PathBuf,
}

/// Somewhere else that processes are started, with a network of its own; it goes with this.
pub(crate) trait Inside: Send {
    /// A process of this host that is in its network namespace, or is all of it.
    fn pid(&self) -> u32;
    /// Starts a shell's line there, on these cores if they are the host's; what it says goes to a
    /// file.
    fn start(&self, cores: &str, line: &str, out: File) -> Result<Box<dyn Process>, Error>;
    /// Runs a shell's line on its network. What it says, or why it failed.
    fn says(&self, line: &str) -> Result<String, String> {
        in_namespace(self.pid(), line)
    }
    /// Waits until it runs.
    fn until_it_runs(&self, _go_on: &dyn Fn() -> bool) -> Result<(), Error> {
        Ok(())
    }
    /// What it is, where that is more than a namespace.
    fn description(&self) -> Option<String> {
        None
    }
    /// Whether its kernel is another than the host's.
    fn has_own_kernel(&self) -> bool {
        false
    }
    /// Whether its processors are software.
    fn is_emulated(&self) -> bool {
        false
    }
}

/// Who holds the namespace.
enum Holder {
    /// A process of ours that does nothing else.
    Own(Child),
    /// Somebody else.
    Other(Box<dyn Inside>),
}

/// A device's namespace with all that is in it.
pub struct Place {
    folder: PathBuf,
    holder: Holder,
    cores: String,
    daemons: Vec<Daemon>,
    commands: Vec<String>,
    /// What is run in the namespace when its processes are over.
    at_end: Vec<String>,
    /// What processes are run by, ending in a blank, and how many times longer things take then.
    under: (String, u32),
}

impl Place {
    /// An empty place; the device gets these cores (as `taskset` writes them).
    pub fn new(folder: &Path, cores: &str) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let mut holder = Command::new("unshare")
            .args(["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::file("unshare"))?;
        // What comes back says that the namespace is there.
        let mut echo = [0];
        let written = holder.stdin.as_mut().map(|stdin| stdin.write_all(b".").and(stdin.flush()));
        let read = holder.stdout.as_mut().map(|stdout| stdout.read_exact(&mut echo));
        let place = Self::of(folder, cores, Holder::Own(holder));
        if !matches!((written, read), (Some(Ok(())), Some(Ok(())))) {
            let reason = "no network namespace: are we root?".to_owned();
            return Err(Error::Command { line: "unshare --net".into(), reason });
        }
        place.quiet()
    }

    /// The same of somewhere that is there, with processes started elsewhere.
    pub(crate) fn within(
        folder: &Path,
        cores: &str,
        inside: Box<dyn Inside>,
    ) -> Result<Self, Error> {
        let slower = if inside.is_emulated() { EMULATED_SLOWER } else { 1 };
        let mut place = Self::of(folder, cores, Holder::Other(inside));
        place.under.1 = slower;
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        Ok(place)
    }

    fn of(folder: &Path, cores: &str, holder: Holder) -> Self {
        Self {
            folder: folder.to_owned(),
            holder,
            cores: cores.to_owned(),
            daemons: Vec::new(),
            commands: Vec::new(),
            at_end: Vec::new(),
            under: (String::new(), 1),
        }
    }

    /// Its network with a loopback, and otherwise silent.
    pub(crate) fn quiet(self) -> Result<Self, Error> {
        self.quietly("ip link set lo up")?;
        // Devices made here (bridges, tunnels) would speak of themselves: that is no packet of a
        // trial, but it is counted.
        self.quietly("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")?;
        Ok(self)
    }

    /// Processes started from now on are run by this command, which ends in a blank and makes them
    /// so much slower.
    pub fn run_under(&mut self, prefix: &str, slower: u32) {
        self.under = (prefix.to_owned(), slower);
    }

    /// How long to wait for what takes so long when nothing slows it.
    pub fn patience(&self, usual: Duration) -> Duration {
        usual * self.under.1
    }

    /// A folder of its own.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The cores that the device may use.
    pub fn cores(&self) -> &str {
        &self.cores
    }

    /// The namespace, as `ip` and `nsenter` take it.
    pub fn namespace(&self) -> String {
        format!("/proc/{}/ns/net", self.holder_pid())
    }

    /// The process that holds the namespace.
    pub(crate) fn holder_pid(&self) -> u32 {
        match &self.holder {
            Holder::Own(process) => process.id(),
            Holder::Other(inside) => inside.pid(),
        }
    }

    /// Waits until commands can be run there.
    pub(crate) fn until_it_runs(&self, go_on: &dyn Fn() -> bool) -> Result<(), Error> {
        match &self.holder {
            Holder::Own(_) => Ok(()),
            Holder::Other(inside) => inside.until_it_runs(go_on),
        }
    }

    /// What it is, where that is more than a namespace.
    pub(crate) fn description(&self) -> Option<String> {
        match &self.holder {
            Holder::Own(_) => None,
            Holder::Other(inside) => inside.description(),
        }
    }

    /// Whether its kernel is another than the host's.
    pub(crate) fn has_own_kernel(&self) -> bool {
        matches!(&self.holder, Holder::Other(inside) if inside.has_own_kernel())
    }

    /// Whether its processors are software.
    pub(crate) fn is_emulated(&self) -> bool {
        matches!(&self.holder, Holder::Other(inside) if inside.is_emulated())
    }

    /// Commands so far, as a person would type them in the device's namespace.
    pub fn commands(&self) -> &[String] {
        &self.commands
    }

    /// What the kernel says of the devices in the namespace.
    pub fn network_devices(&self) -> Result<String, Error> {
        if self.has_own_kernel() {
            return self.quietly("cat /proc/net/dev");
        }
        let path = PathBuf::from(format!("/proc/{}/net/dev", self.holder_pid()));
        std::fs::read_to_string(&path).map_err(Error::file(path))
    }

    /// Writes something down beside the commands.
    pub fn note(&mut self, what: &str) {
        self.commands.push(format!("# {what}"));
    }

    /// Writes a command down that was run elsewhere.
    pub(crate) fn note_command(&mut self, line: &str) {
        self.commands.push(line.to_owned());
    }

    /// Has a command run when the processes are over; written down then.
    pub(crate) fn at_end(&mut self, line: String) {
        self.at_end.push(line);
    }

    /// Runs a command in the namespace and writes it down. What it says.
    pub fn run(&mut self, line: &str) -> Result<String, Error> {
        self.commands.push(line.to_owned());
        self.quietly(line)
    }

    /// The same, without writing it down: looks change nothing.
    pub fn quietly(&self, line: &str) -> Result<String, Error> {
        let said = match &self.holder {
            Holder::Own(holder) => in_namespace(holder.id(), line),
            Holder::Other(inside) => inside.says(line),
        };
        said.map_err(|reason| Error::Command { line: line.to_owned(), reason })
    }

    /// Writes a file into the folder, and down.
    pub fn write(&mut self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(Error::file(&path))?;
        let shown: Vec<&str> = text.lines().take(60).collect();
        self.commands.push(format!("cat > {} <<END\n{}\nEND", path.display(), shown.join("\n")));
        Ok(path)
    }

    /// Starts a process in the namespace, on the device's cores. What it says goes to a log.
    pub fn spawn(&mut self, name: &str, line: &str) -> Result<(), Error> {
        let line = format!("{}{line}", self.under.0);
        self.commands.push(format!("{line} &"));
        let log = self.folder.join(format!("{name}.log"));
        let out = File::create(&log).map_err(Error::file(&log))?;
        let process = match &self.holder {
            Holder::Own(_) => {
                let enter = format!("--net={}", self.namespace());
                let by = ["nsenter", &enter, "--"].map(str::to_owned);
                child(&by, &self.cores, &line, out)?
            }
            Holder::Other(inside) => inside.start(&self.cores, &line, out)?,
        };
        self.daemons.push(Daemon { name: name.to_owned(), process, log });
        Ok(())
    }

    /// Says something to a process' standard input.
    pub fn tell(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let daemon = self.daemons.iter_mut().find(|daemon| daemon.name == name);
        match daemon.map(|daemon| daemon.process.tell(text)) {
            Some(Ok(())) => Ok(()),
            _ => self.alive(),
        }
    }

    /// Its processes, by number.
    pub fn processes(&self) -> Vec<u32> {
        self.daemons.iter().filter_map(|daemon| daemon.process.id()).collect()
    }

    /// What a process said so far.
    pub fn log(&self, name: &str) -> String {
        let path = self.folder.join(format!("{name}.log"));
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    }

    /// An error if one of the processes has ended, with its last words.
    pub fn alive(&mut self) -> Result<(), Error> {
        self.check(|_| true)
    }

    /// The same of those of these names.
    pub fn lives(&mut self, names: &[&str]) -> Result<(), Error> {
        self.check(|name| names.contains(&name))
    }

    fn check(&mut self, of: impl Fn(&str) -> bool) -> Result<(), Error> {
        for daemon in self.daemons.iter_mut().filter(|daemon| of(&daemon.name)) {
            if let Some(status) = daemon.process.ended() {
                return Err(died(daemon, status));
            }
        }
        Ok(())
    }

    /// How a process ended, if it has; from then on nobody misses it.
    pub fn ended(&mut self, name: &str) -> Option<ExitStatus> {
        let at = self.daemons.iter().position(|daemon| daemon.name == name)?;
        let status = self.daemons[at].process.ended()?;
        self.daemons.remove(at);
        Some(status)
    }

    /// Waits until something holds; an error when a process dies meanwhile or it takes too long.
    pub fn wait_until(
        &mut self,
        what: &str,
        patience: Duration,
        mut holds: impl FnMut(&mut Self) -> bool,
    ) -> Result<(), Error> {
        let (began, patience) = (Instant::now(), self.patience(patience));
        while !holds(self) {
            self.alive()?;
            if began.elapsed() > patience {
                let reason = format!("not within {} s", patience.as_secs());
                return Err(Error::Command { line: what.to_owned(), reason });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// The same for a device to be ready.
    pub fn wait_for_start(
        &mut self,
        what: &str,
        holds: impl FnMut(&mut Self) -> bool,
    ) -> Result<(), Error> {
        self.wait_until(what, STARTS, holds)
    }

    /// Takes away what its processes left in the folder: whoever starts there finds nothing.
    pub fn clear(&self) -> Result<(), Error> {
        std::fs::remove_dir_all(&self.folder)
            .and_then(|()| std::fs::create_dir_all(&self.folder))
            .map_err(Error::file(&self.folder))
    }

    /// Ends all processes, the last started first.
    pub fn stop(&mut self) {
        let patience = self.patience(END_PATIENCE);
        for Daemon { mut process, .. } in self.daemons.drain(..).rev() {
            process.ask_to_end();
            let began = Instant::now();
            while process.ended().is_none() {
                if began.elapsed() > patience {
                    process.kill();
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        for line in std::mem::take(&mut self.at_end) {
            let _ = self.run(&line);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.stop();
        if let Holder::Own(process) = &mut self.holder {
            let _ = process.kill();
            let _ = process.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn died(daemon: &Daemon, status: ExitStatus) -> Error {
    let log = std::fs::read(&daemon.log).unwrap_or_default();
    let tail = &log[log.len().saturating_sub(LOG_TAIL_BYTES)..];
    let words = String::from_utf8_lossy(tail).trim().to_owned();
    Error::Died { name: daemon.name.clone(), status: status.to_string(), words }
}

/// Runs a shell's line in the network namespace of a process.
fn in_namespace(pid: u32, line: &str) -> Result<String, String> {
    output(&["nsenter", &format!("--net=/proc/{pid}/ns/net"), "--", "sh", "-c", line])
}

/// Runs a command here. What it says, or why it failed.
pub fn output(words: &[&str]) -> Result<String, String> {
    let [program, arguments @ ..] = words else { return Ok(String::new()) };
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).trim_end().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{} ({})", text(&output.stderr), output.status)),
    }
}

/// A program of a folder that was built, in it or in its `bin`, or in those of the one folder below
/// that has it, as archives are unpacked; without a folder that of the search path.
pub fn program_of(folder: Option<&Path>, name: &str) -> PathBuf {
    let Some(folder) = folder else { return PathBuf::from(name) };
    let inside = |folder: &Path| {
        [folder.join("bin").join(name), folder.join(name)].into_iter().find(|it| it.is_file())
    };
    let below = || {
        let mut found = folder.read_dir().ok()?.flatten().filter_map(|it| inside(&it.path()));
        found.next().filter(|_| found.next().is_none())
    };
    inside(folder).or_else(below).unwrap_or_else(|| folder.join(name))
}

/// Whether a program is there to be run.
pub fn has_program(name: &str) -> bool {
    find_program(name).is_some()
}

/// Where a program is.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Path::new(name).exists().then(|| name.into());
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let mut all = std::env::split_paths(&paths).chain(sbin).map(|folder| folder.join(name));
    all.find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_program_is_found_in_a_folder_as_it_was_built_or_unpacked() {
        let folder = std::env::temp_dir().join(format!("volley-programs-{}", std::process::id()));
        let of = |name| program_of(Some(&folder), name);
        fs::create_dir_all(folder.join("vpp-26.06/bin")).unwrap();
        fs::create_dir_all(folder.join("other/bin")).unwrap();
        assert_eq!(of("vpp"), folder.join("vpp"), "it is nowhere");
        fs::write(folder.join("vpp-26.06/bin/vpp"), "").unwrap();
        assert_eq!(of("vpp"), folder.join("vpp-26.06/bin/vpp"));
        fs::write(folder.join("other/bin/vpp"), "").unwrap();
        assert_eq!(of("vpp"), folder.join("vpp"), "which one is meant nobody says");
        fs::write(folder.join("vpp"), "").unwrap();
        assert_eq!(of("vpp"), folder.join("vpp"));
        assert_eq!(program_of(None, "vpp"), PathBuf::from("vpp"));
        fs::remove_dir_all(folder).unwrap();
    }
}
