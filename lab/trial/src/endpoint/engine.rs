//! A Docker engine of the lab's own: nothing of the host's engine is touched, and nothing outlives
//! the lab.
//!
//! ```text
//! lab ── setpriv, unshare: a PID and a mount namespace ── dockerd ── containerd ── shims ── containers
//!    └─ dies, however ──▶ the first process of that namespace is killed ──▶ the kernel kills the rest
//! ```
//! Data, sockets, plugins and images are in a folder of its own. It makes no network by itself:
//! `--bridge=none`, `--iptables=false`. Either its containers have `--network none`, and the lab
//! lays wires into them as `ovs-docker` does; or it is in the network namespace of a device whose
//! plugin makes networks.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::Error;
use crate::place::{has_program, output};

/// How long an engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// What containers are made of.
const IMAGE: &str = "volley-end";
/// Folders of the host that containers see, where they are no links into another.
const SEEN: [&str; 5] = ["usr", "bin", "sbin", "lib", "lib64"];
/// Control groups of ours begin so; the lab's process follows, and which of its engines it is.
const GROUP: &str = "volley-lab-";

/// Its folder, among others' temporary files, begins so; likewise.
const FOLDER: &str = "volley-engine-";
/// Where in it sockets of plugins are.
const PLUGINS: &str = "plugins";

/// No two engines of a lab are called the same.
static NEXT: AtomicU32 = AtomicU32::new(0);
/// The one in the lab's own network namespace that runs, as long as somebody holds it.
static RUNNING: Mutex<Weak<Engine>> = Mutex::new(Weak::new());

/// See the module.
pub(super) struct Engine {
    folder: PathBuf,
    process: Child,
    group: String,
}

impl Engine {
    /// Why there can be none, where that shows beforehand.
    pub(super) fn refusal() -> Option<&'static str> {
        let missing = ["dockerd", "docker", "tar"].into_iter().any(|name| !has_program(name));
        missing
            .then_some("there is no Docker engine to start: dockerd and docker (package docker.io)")
    }

    /// The engine that runs, or a new one.
    pub(super) fn shared() -> Result<Arc<Self>, Error> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = running.upgrade() {
            return Ok(engine);
        }
        let engine = Arc::new(Self::start(None)?);
        *running = Arc::downgrade(&engine);
        Ok(engine)
    }

    /// One in a network namespace, whose devices it gives to containers.
    pub(super) fn within(namespace: &str) -> Result<Arc<Self>, Error> {
        Self::start(Some(namespace)).map(Arc::new)
    }

    /// Where it looks for the plugin of a driver.
    pub(super) fn plugin(&self, driver: &str) -> PathBuf {
        self.folder.join(PLUGINS).join(format!("{driver}.sock"))
    }

    fn start(namespace: Option<&str>) -> Result<Self, Error> {
        let own = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("{FOLDER}{own}"));
        // Of labs that were killed: their processes are gone, their files are not.
        forget_folders();
        forget_groups(is_gone);
        let plugins = folder.join(PLUGINS);
        std::fs::create_dir_all(&plugins).map_err(Error::file(&plugins))?;
        let group = format!("{GROUP}{own}");
        let process = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .args(words(namespace, &folder, &group))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::file("setpriv"))?;
        let mut engine = Self { folder, process, group };
        engine.answers()?;
        engine.image()?;
        Ok(engine)
    }

    fn answers(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        loop {
            let Err(reason) = self.says(&["version"]) else { return Ok(()) };
            let ended = matches!(self.process.try_wait(), Ok(Some(_)));
            if ended || began.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                let last = log.lines().last().unwrap_or_default().to_owned();
                let reason = if last.is_empty() { reason.to_string() } else { last };
                return Err(Error::Command { line: "dockerd".into(), reason });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// An image that is but the places where the host's programs are seen.
    fn image(&self) -> Result<(), Error> {
        let root = self.folder.join("image");
        let make = || {
            for name in ["proc", "sys", "dev", "etc", "tmp", "run"] {
                std::fs::create_dir_all(root.join(name))?;
            }
            for name in SEEN {
                match std::fs::read_link(Path::new("/").join(name)) {
                    Ok(to) => std::os::unix::fs::symlink(to, root.join(name))?,
                    Err(_) => std::fs::create_dir_all(root.join(name))?,
                }
            }
            Ok(())
        };
        make().map_err(Error::file(&root))?;
        let file = self.folder.join("image.tar").display().to_string();
        let words = ["tar", "-C", &root.display().to_string(), "-cf", &file, "."];
        output(&words).map_err(|reason| Error::Command { line: words.join(" "), reason })?;
        self.says(&["import", &file, IMAGE]).map(drop)
    }

    /// What its client is called by, the client that came with it before others.
    pub(super) fn client(&self) -> Vec<String> {
        let usual = "/usr/bin/docker";
        let client = if Path::new(usual).exists() { usual } else { "docker" };
        vec![client.into(), "-H".into(), format!("unix://{}/docker.sock", self.folder.display())]
    }

    /// Has it do something. What it says.
    pub(super) fn says(&self, words: &[&str]) -> Result<String, Error> {
        let client = self.client();
        let all: Vec<&str> =
            client.iter().map(String::as_str).chain(words.iter().copied()).collect();
        output(&all).map_err(|reason| Error::Command {
            line: format!("docker {}", words.join(" ")),
            reason,
        })
    }

    /// Runs a container that does nothing, on a network as these words have it. The process that it
    /// is, as the lab sees it.
    pub(super) fn run(&self, name: &str, network: &[String]) -> Result<u32, Error> {
        let mark = format!("VOLLEY_END={name}-{}", std::process::id());
        let own = super::own_folder();
        // Who may not administer the network may not choose a congestion control that the kernel
        // keeps for those who may.
        let words = ["run", "-d", "--cap-add", "NET_ADMIN", "--name", name, "-e", &mark];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        words.extend_from_slice(network);
        let folders = SEEN.iter().map(|name| format!("/{name}"));
        let folders = folders.filter(|it| Path::new(it).is_dir() && !Path::new(it).is_symlink());
        for folder in folders.chain([own]) {
            words.extend(["-v".to_owned(), format!("{folder}:{folder}:ro")]);
        }
        words.extend([IMAGE, "sleep", "1000000"].map(str::to_owned));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.says(&words)?;
        first_process(&mark).ok_or_else(|| Error::Command {
            line: "docker run".into(),
            reason: format!("no process has {mark}"),
        })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Its processes go with their namespace.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let own = self.group.trim_start_matches(GROUP).to_owned();
        forget_groups(|pid| pid == own);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The engine's command: in a network namespace, if any, and in namespaces of its own, where it
/// finds plugins in its folder.
fn words(namespace: Option<&str>, folder: &Path, group: &str) -> Vec<String> {
    let at = folder.display();
    let line = format!(
        "mkdir -p /run/docker && mount -t tmpfs tmpfs /run/docker && \
         mkdir /run/docker/plugins && mount --bind {at}/{PLUGINS} /run/docker/plugins && \
         exec dockerd --data-root {at}/data --exec-root {at}/exec --pidfile {at}/pid \
         -H unix://{at}/docker.sock --iptables=false --ip6tables=false --bridge=none \
         --ip-forward=false --userland-proxy=false --cgroup-parent {group} >{at}/log 2>&1"
    );
    // Not by `ip netns exec`, which mounts a /sys without control groups.
    let enter = namespace.map(|it| ["nsenter".to_owned(), format!("--net={it}"), "--".to_owned()]);
    let apart = "unshare --mount --pid --fork --kill-child --mount-proc sh -c";
    let apart = apart.split(' ').map(str::to_owned);
    enter.into_iter().flatten().chain(apart).chain([line]).collect()
}

/// The process of a container that is the first in it, by what its environment has.
fn first_process(mark: &str) -> Option<u32> {
    let has = |pid: &u32| {
        let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let environment = read("environ");
        let mine = environment.split(|octet| *octet == 0).any(|it| it == mark.as_bytes());
        mine && is_first(&String::from_utf8_lossy(&read("status")))
    };
    let all = std::fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(has)
}

/// Whether a process is the first of a PID namespace below that of the engine, as `/proc` has it.
fn is_first(status: &str) -> bool {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.is_some_and(|all| {
        let all: Vec<&str> = all.split_whitespace().collect();
        all.len() > 1 && all.last() == Some(&"1")
    })
}

/// Whether the lab is gone that called one of its engines so.
fn is_gone(engine: &str) -> bool {
    let pid = engine.split('-').next().unwrap_or_default();
    !Path::new("/proc").join(pid).exists()
}

/// Takes folders away of labs that are gone.
fn forget_folders() {
    let all = std::fs::read_dir(std::env::temp_dir());
    for entry in all.into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.strip_prefix(FOLDER).is_some_and(is_gone) {
            // What cannot go now goes another time.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Takes empty control groups away, of labs of which `gone` says so. The kernel does not.
fn forget_groups(gone: impl Fn(&str) -> bool) {
    let Ok(hierarchies) = std::fs::read_dir("/sys/fs/cgroup") else { return };
    let roots = hierarchies.filter_map(Result::ok).map(|it| it.path());
    for root in roots.chain([PathBuf::from("/sys/fs/cgroup")]) {
        let Ok(groups) = std::fs::read_dir(&root) else { continue };
        for group in groups.filter_map(Result::ok) {
            let name = group.file_name().to_string_lossy().into_owned();
            if name.strip_prefix(GROUP).is_some_and(&gone) {
                remove_empty(&group.path());
            }
        }
    }
}

fn remove_empty(folder: &Path) {
    for below in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if below.path().is_dir() {
            remove_empty(&below.path());
        }
    }
    // One that still has a process stays.
    let _ = std::fs::remove_dir(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_of_a_container_is_told_from_others() {
        let status = |numbers: &str| format!("Name:\tsleep\nNSpid:\t{numbers}\nThreads:\t1\n");
        assert!(is_first(&status("812\t97\t1")));
        assert!(!is_first(&status("1")) && !is_first(&status("812\t97\t12")) && !is_first(""));
    }

    #[test]
    fn an_engine_is_where_it_is_wanted_and_finds_plugins_in_its_folder() {
        let of = |namespace| words(namespace, Path::new("/tmp/e"), "volley-lab-7-0");
        let alone = of(None);
        assert_eq!(alone[..2], ["unshare", "--mount"]);
        assert!(alone.last().unwrap().contains("mount --bind /tmp/e/plugins /run/docker/plugins"));
        let inside = of(Some("/proc/9/ns/net"));
        assert_eq!(inside[..3], ["nsenter", "--net=/proc/9/ns/net", "--"]);
        assert_eq!(inside[3..], alone);
    }

    #[test]
    fn engines_of_labs_that_run_are_theirs() {
        assert!(!is_gone(&format!("{}-3", std::process::id())));
        assert!(is_gone("4194305-0"));
    }

    #[test]
    fn empty_groups_go_with_what_is_below_them() {
        let root = std::env::temp_dir().join(format!("lab-groups-{}", std::process::id()));
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::create_dir_all(root.join("a/c")).unwrap();
        remove_empty(&root);
        assert!(!root.exists());
    }
}
