//! A network namespace of the test's own: it ends with the test's thread and leaves nothing.

use super::{is_ours, wait_until};
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::mpsc;

/// Moves this thread into a new network namespace. False, said loudly, without the right to; but
/// never where CI asks for everything.
pub(crate) fn own_namespace() -> bool {
    // SAFETY: affects this thread's view of the network only.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0 {
        run("ip link set lo up");
        return true;
    }
    let error = std::io::Error::last_os_error();
    assert!(std::env::var_os("CI").is_none(), "no network namespace: {error}");
    eprintln!("SKIPPED: needs a network namespace of its own: {error}");
    false
}

/// Runs a command here, in this thread's namespace.
pub(crate) fn run(command: &str) {
    shown(command);
}

/// The same, and what it writes.
pub(crate) fn shown(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A pair of devices that are up and on which Linux itself says nothing.
pub(crate) fn veth(one: &str, other: &str) {
    run(&format!("ip link add {one} type veth peer name {other}"));
    for name in [one, other] {
        run(&format!("sysctl -q net.ipv6.conf.{name}.disable_ipv6=1"));
        run(&format!("ip link set {name} up"));
    }
    // Linux drops what is sent before it has noticed that both are, which it does a moment later.
    for name in [one, other] {
        wait_until("the link is up", || {
            shown(&format!("ip link show {name}")).contains("state UP")
        });
    }
}

/// The far end of a device: sends and receives whole frames through the kernel.
pub(crate) struct PacketSocket(OwnedFd);

impl PacketSocket {
    pub(crate) fn bound_to(device: &str) -> Self {
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        let name = CString::new(device).unwrap();
        // SAFETY: a fresh descriptor; the address is a local of the right size.
        unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
            let socket = libc::socket(libc::AF_PACKET, kind, i32::from(protocol));
            assert!(socket >= 0, "{}", std::io::Error::last_os_error());
            let socket = OwnedFd::from_raw_fd(socket);
            let mut address: libc::sockaddr_ll = std::mem::zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_protocol = protocol;
            address.sll_ifindex = libc::if_nametoindex(name.as_ptr()) as i32;
            let size = size_of::<libc::sockaddr_ll>() as u32;
            let code = libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size);
            assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
            Self(socket)
        }
    }

    /// Where the far end is behind, on a machine with too much to do, Linux has no room for one:
    /// then it goes later.
    pub(crate) fn send(&self, frame: &[u8]) {
        wait_until("Linux has room for a frame", || {
            // SAFETY: the frame is read only.
            let sent =
                unsafe { libc::send(self.0.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
            let error = std::io::Error::last_os_error();
            let is_full = sent < 0 && error.raw_os_error() == Some(libc::ENOBUFS);
            assert!(is_full || sent == frame.len() as isize, "{sent} octets sent: {error}");
            !is_full
        });
    }

    /// Frames of ours that came in, until there are `count`.
    pub(crate) fn expect(&self, count: usize) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        wait_until("frames arrive at the kernel", || {
            frames.extend(self.receive().into_iter().filter(|frame| is_ours(frame)));
            frames.len() >= count
        });
        frames
    }

    /// One incoming frame, if there is one; not those that were sent.
    pub(crate) fn receive(&self) -> Option<Vec<u8>> {
        let mut frame = vec![0; 65_536];
        // SAFETY: buffer and address are ours and of the sizes given.
        let (length, address) = unsafe {
            let mut address: libc::sockaddr_ll = std::mem::zeroed();
            let mut size = size_of::<libc::sockaddr_ll>() as u32;
            let length = libc::recvfrom(
                self.0.as_raw_fd(),
                frame.as_mut_ptr().cast(),
                frame.len(),
                0,
                (&raw mut address).cast(),
                &mut size,
            );
            (length, address)
        };
        frame.truncate(usize::try_from(length).ok()?);
        Some(if address.sll_pkttype == libc::PACKET_OUTGOING { Vec::new() } else { frame })
    }
}

/// A host of its own namespace: a thread that does what it is told there.
pub(crate) struct Host {
    pub(crate) namespace: String,
    _stay: mpsc::Sender<()>,
    enter: OwnedFd,
}

impl Host {
    pub(crate) fn new() -> Self {
        let (stay, end) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            assert!(own_namespace());
            // SAFETY: a look at this thread's number.
            let thread = unsafe { libc::gettid() };
            let namespace = format!("/proc/{}/task/{thread}/ns/net", std::process::id());
            let enter = OwnedFd::from(std::fs::File::open(&namespace).unwrap());
            tell.send((namespace, enter)).unwrap();
            let _ = end.recv();
        });
        let (namespace, enter) = told.recv().unwrap();
        Self { namespace, _stay: stay, enter }
    }

    /// A veth from here, `near`, to a device `far` of the host that has `address`.
    pub(crate) fn connect(&self, near: &str, far: &str, address: &str) {
        veth(near, far);
        self.adopt(far, address);
    }

    /// A device from here goes there, has `address` and is switched on.
    pub(crate) fn adopt(&self, device: &str, address: &str) {
        run(&format!("ip link set {device} netns {}", self.namespace));
        self.run(&format!("ip addr add {address} dev {device}"));
        self.run(&format!("ip link set {device} up"));
    }

    /// Runs a command there.
    pub(crate) fn run(&self, command: &str) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                self.enter();
                run(command);
            });
        });
    }

    /// Moves this thread to the host.
    pub(crate) fn enter(&self) {
        // SAFETY: affects this thread's view of the network only.
        let code = unsafe { libc::setns(self.enter.as_raw_fd(), libc::CLONE_NEWNET) };
        assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
    }
}
