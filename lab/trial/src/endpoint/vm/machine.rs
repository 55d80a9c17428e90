//! A guest: a process of QEMU's, with the end of a wire for a card and a line to the agent in it.
//!
//! ```text
//!  lab ── agent.sock ── virtio-serial ── volley-lab guest: the first process of the guest
//!  device ══ tap in its namespace, or a socket of vhost-user ══ virtio-net, one queue, no offloads
//! ```
//! The end of a socket that listens waits for the other: a guest behind one begins to boot when the
//! device runs.

use std::fs::File;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wire::MacAddr;

use super::accel::{self, Accel};
use super::image::Image;
use super::kernel::Kernel;
use super::session::Session;
use crate::Error;
use crate::endpoint::site::Wire;
use crate::place::{Inside, Process};

pub(super) const QEMU: &str = "qemu-system-x86_64";
/// Changes how long a guest may take to boot, in seconds.
const LIMIT: &str = "VOLLEY_GUEST_BOOT_S";
const USUAL_LIMIT: Duration = Duration::from_secs(180);
/// How long QEMU may take to begin.
const BEGINS: Duration = Duration::from_secs(30);
/// Times the limit that one may take on a host that gives it no processor.
const PATIENCE_OF_A_BUSY_HOST: u32 = 4;
const LOOK: Duration = Duration::from_millis(10);
/// What a card could do for its guest: as at every other end, nothing.
const WITHOUT: &str = "csum=off,gso=off,guest_csum=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,\
                       guest_ufo=off,host_tso4=off,host_tso6=off,host_ecn=off,host_ufo=off";

/// Where one runs.
pub(super) struct Seat<'a> {
    /// What it is called where it fails.
    pub(super) name: String,
    pub(super) folder: &'a Path,
    pub(super) cores: &'a str,
    pub(super) namespace: String,
}

/// A card of one: the device's end of its wire, and its own MAC address.
pub(super) struct Card {
    pub(super) wire: Wire,
    pub(super) mac: MacAddr,
}

/// See the module.
pub(super) struct Machine {
    name: String,
    process: Child,
    session: Arc<Session>,
    console: PathBuf,
    words: PathBuf,
    accel: Accel,
    wire: &'static str,
    limit: Duration,
    // What it boots from is there as long as it may boot.
    _image: Arc<Image>,
}

impl Machine {
    /// Starts one with these cards, eth0 first; it boots meanwhile.
    pub(super) fn start(seat: &Seat<'_>, cards: &[Card]) -> Result<Self, Error> {
        let kernel = Kernel::find()
            .map_err(|reason| Error::Command { line: "the guest's kernel".into(), reason })?;
        let accel = Accel::here(&kernel);
        let image = Image::shared(&kernel)?;
        std::fs::create_dir_all(seat.folder).map_err(Error::file(seat.folder))?;
        let at = |name: &str| seat.folder.join(name);
        let (console, words, socket) = (at("console.log"), at("qemu.log"), at("agent.sock"));
        let listener = UnixListener::bind(&socket).map_err(Error::file(&socket))?;
        listener.set_nonblocking(true).map_err(Error::file(&socket))?;
        let memory = image.memory_mib();
        let wire = cards.first().map_or("nothing", |card| card.wire.told());
        let cards = cards.iter().enumerate().flat_map(|(index, card)| words_of(index, card, accel));
        let told = File::create(&words).map_err(Error::file(&words))?;
        // The file of its memory: the other end of a vhost-user wire has it as well.
        let mut process = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "nsenter"])
            .arg(format!("--net={}", seat.namespace))
            .args(["--", "taskset", "-c", seat.cores, QEMU])
            .args(["-machine", "q35,memory-backend=mem", "-smp", "1", "-m", &memory.to_string()])
            .args(["-object", &format!("memory-backend-memfd,id=mem,size={memory}M,share=on")])
            .args(accel.words())
            .args(["-nodefaults", "-no-reboot", "-display", "none", "-kernel"])
            .arg(&kernel.image)
            .arg("-initrd")
            .arg(image.path())
            .args(["-append", "console=ttyS0 panic=-1 mitigations=off nokaslr no_timer_check"])
            .args(["-serial", &format!("file:{}", console.display())])
            .args(["-chardev", &format!("socket,id=agent,path={}", socket.display())])
            .args(["-device", &format!("virtio-serial-pci{}", vectors(accel))])
            .args(["-device", "virtserialport,chardev=agent,nr=1"])
            .args(cards)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(told)
            .spawn()
            .map_err(Error::file("setpriv"))?;
        let name = seat.name.clone();
        let met = meet(&listener, &mut process).and_then(Session::with);
        let session = match met {
            Ok(session) => session,
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                let said = std::fs::read_to_string(&words).unwrap_or_default();
                let reason = format!("QEMU does not begin ({error})");
                return Err(Error::Boot { guest: name, reason, console: said });
            }
        };
        let limit = std::env::var(LIMIT).ok().and_then(|text| text.parse().ok());
        let limit = limit.map_or(USUAL_LIMIT, Duration::from_secs);
        let _image = image;
        Ok(Self { name, process, session, console, words, accel, wire, limit, _image })
    }

    /// Why it does not run, with all that it said.
    fn failed(&self, reason: String) -> Error {
        let read = |path: &Path| {
            String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
        };
        let console = read(&self.console) + &read(&self.words);
        Error::Boot { guest: self.name.clone(), reason, console }
    }

    /// Whether its process is there.
    fn lives(&self) -> bool {
        // One that has ended and was not waited for is there still, and a zombie.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()));
        let state = stat.ok().and_then(|it| it.rsplit_once(") ").map(|(_, rest)| rest.to_owned()));
        state.is_some_and(|it| !it.starts_with(['Z', 'X']))
    }
}

/// Whether a guest is not to be waited for any longer. One that had no processor is: a host that is
/// busy elsewhere is slow, not broken.
fn is_late(elapsed: Duration, spent: Duration, limit: Duration) -> bool {
    elapsed > limit && (spent > limit / 3 || elapsed > limit * PATIENCE_OF_A_BUSY_HOST)
}

/// A card as QEMU takes it.
fn words_of(index: usize, card: &Card, accel: Accel) -> [String; 6] {
    let (back, front) = match &card.wire {
        Wire::Socket { path, listens } => {
            let how = if *listens { "server=on,wait=off" } else { "reconnect=1" };
            let socket = format!("socket,id=wire{index},path={},{how}", path.display());
            (socket, format!("vhost-user,id=net{index},chardev=wire{index}"))
        }
        Wire::Device(name) => {
            let how = "script=no,downscript=no,vhost=off";
            (format!("null,id=wire{index}"), format!("tap,id=net{index},ifname={name},{how}"))
        }
    };
    let (mac, vectors) = (card.mac, vectors(accel));
    let device = format!("virtio-net-pci,netdev=net{index},mac={mac},romfile={vectors},{WITHOUT}");
    let words = ["-chardev", &back, "-netdev", &front, "-device", &device];
    words.map(str::to_owned)
}

/// QEMU 7.2 ends by a segmentation fault when an emulated guest has MSI-X and a control queue
/// behind vhost-user.
fn vectors(accel: Accel) -> &'static str {
    if accel.is_emulated() { ",vectors=0" } else { "" }
}

/// Waits until QEMU has connected.
fn meet(
    listener: &UnixListener,
    process: &mut Child,
) -> Result<std::os::unix::net::UnixStream, Error> {
    let began = Instant::now();
    let failed = |reason: String| Error::Command { line: QEMU.into(), reason };
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).map_err(Error::file("a guest's port"))?;
                return Ok(stream);
            }
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => {
                return Err(failed(error.to_string()));
            }
            Err(_) => {}
        }
        if let Ok(Some(status)) = process.try_wait() {
            return Err(failed(status.to_string()));
        }
        if began.elapsed() > BEGINS {
            return Err(failed(format!("not within {} s", BEGINS.as_secs())));
        }
        std::thread::sleep(LOOK);
    }
}

impl Inside for Machine {
    fn pid(&self) -> u32 {
        self.process.id()
    }

    fn start(&self, _: &str, line: &str, out: File) -> Result<Box<dyn Process>, Error> {
        self.session.start(line, out)
    }

    fn says(&self, line: &str) -> Result<String, String> {
        self.session.says(line)
    }

    fn until_it_runs(&self, go_on: &dyn Fn() -> bool) -> Result<(), Error> {
        let began = Instant::now();
        while self.session.linux().is_none() {
            if !go_on() {
                return Err(Error::Stopped);
            }
            if !self.lives() {
                return Err(self.failed("ended while it booted".into()));
            }
            if is_late(began.elapsed(), accel::spent(self.process.id()), self.limit) {
                let limit = self.limit.as_secs();
                return Err(
                    self.failed(format!("did not boot within {limit} s ({})", self.accel.told()))
                );
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn description(&self) -> Option<String> {
        let linux = self.session.linux().unwrap_or_default();
        Some(format!(
            "a virtual machine: Linux {linux}, {}, virtio-net over {}",
            self.accel.told(),
            self.wire
        ))
    }

    fn has_own_kernel(&self) -> bool {
        true
    }

    fn is_emulated(&self) -> bool {
        self.accel.is_emulated()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Nothing of it is to be kept, so that it need not be shut down.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_without_a_processor_is_waited_for_longer() {
        let late = |elapsed, spent| {
            let seconds = Duration::from_secs;
            is_late(seconds(elapsed), seconds(spent), seconds(90))
        };
        assert!(!late(89, 80) && late(91, 31) && !late(91, 29) && !late(359, 1) && late(361, 1));
    }

    #[test]
    fn a_card_is_behind_a_socket_or_a_tap_and_has_no_offloads() {
        let mac = MacAddr([2, 0, 0, 0, 0, 1]);
        let words = |wire, accel| words_of(1, &Card { wire, mac }, accel);
        let socket = |listens| Wire::Socket { path: "/tmp/x/v.sock".into(), listens };
        let of = words(socket(false), Accel::Kvm);
        assert_eq!(&*of[1], "socket,id=wire1,path=/tmp/x/v.sock,reconnect=1");
        assert_eq!(&*of[3], "vhost-user,id=net1,chardev=wire1");
        assert!(
            of[5].contains("netdev=net1,mac=02:00") && of[5].contains("guest_tso4=off"),
            "{of:?}"
        );
        assert!(!of[5].contains("vectors"));
        let of = words(socket(true), Accel::Emulated("x"));
        assert!(of[1].ends_with("server=on,wait=off") && of[5].contains("vectors=0"));
        let tap = || Wire::Device("d1".into());
        let of = words(tap(), Accel::Kvm);
        assert!(of[3].starts_with("tap,id=net1,ifname=d1,script=no"));
        assert_eq!([tap().told(), socket(true).told()], ["a tap", "vhost-user"]);
    }
}
