//! What the kernel lets this process do beyond what its user may: capabilities(7).
//!
//! They belong to threads, and a thread has those that the one had that made it. So they are given
//! up while there is one thread alone.

use rustix::thread::{self, CapabilitySet, CapabilitySets};
use std::fmt;
use std::io;
use std::sync::OnceLock;

/// What this process gave up.
static GIVEN_UP: OnceLock<Vec<Capability>> = OnceLock::new();

/// By number.
const NAMES: [&str; 41] = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability(u8);

impl Capability {
    /// Give files to other users.
    pub const CHOWN: Self = Self(0);
    /// Open any file.
    pub const DAC_OVERRIDE: Self = Self(1);
    /// Change the modes of others' files.
    pub const FOWNER: Self = Self(3);
    /// Change devices, addresses, routes.
    pub const NET_ADMIN: Self = Self(12);
    /// Packet sockets.
    pub const NET_RAW: Self = Self(13);
    /// Lock memory.
    pub const IPC_LOCK: Self = Self(14);
    /// Listen at the ports below 1024.
    pub const NET_BIND_SERVICE: Self = Self(10);
    /// Speak to cards.
    pub const SYS_RAWIO: Self = Self(17);
    /// Enter namespaces, and much else.
    pub const SYS_ADMIN: Self = Self(21);
    /// Load programs into the kernel.
    pub const BPF: Self = Self(39);

    /// The one of this name, as in `net_raw` or `CAP_NET_RAW`.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("cap_").unwrap_or(&name);
        NAMES.iter().position(|known| *known == name).map(|number| Self(number as u8))
    }

    /// As in `net_raw`.
    pub fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or("?")
    }

    fn set(self) -> CapabilitySet {
        CapabilitySet::from_bits_retain(1 << self.0)
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..NAMES.len() as u8).map(Self)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Those that this thread has.
pub fn held() -> io::Result<Vec<Capability>> {
    let sets = thread::capabilities(None)?;
    Ok(Capability::all().filter(|it| sets.effective.contains(it.set())).collect())
}

/// Gives up all but these, for ever; says which.
pub fn give_up_all_but(kept: &[Capability]) -> io::Result<&'static [Capability]> {
    let before = thread::capabilities(None)?;
    let kept = kept.iter().fold(CapabilitySet::empty(), |all, it| all | it.set());
    let given_up =
        |it: &Capability| before.permitted.contains(it.set()) && !kept.contains(it.set());
    let given_up: Vec<_> = Capability::all().filter(given_up).collect();
    for capability in &given_up {
        match thread::remove_capability_from_bounding_set(capability.set()) {
            // Who may not do this cannot come to them anyway: see `no_new_privs`.
            Ok(()) | Err(rustix::io::Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    thread::clear_ambient_capability_set()?;
    let left = before.permitted & kept;
    thread::set_capabilities(
        None,
        CapabilitySets {
            effective: before.effective & left,
            permitted: left,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    thread::set_no_new_privs(true)?;
    Ok(GIVEN_UP.get_or_init(|| given_up))
}

/// Those that this process gave up, if it did.
pub fn given_up() -> &'static [Capability] {
    GIVEN_UP.get().map_or(&[], Vec::as_slice)
}

/// Whether this thread can come to no more rights than it has, whatever it executes.
pub fn no_new_privileges() -> bool {
    thread::no_new_privs().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_kernel() {
        let of = |name| Capability::named(name);
        assert_eq!(of("net_raw"), Some(Capability::NET_RAW));
        assert_eq!(of("CAP_SYS_ADMIN"), Some(Capability::SYS_ADMIN));
        assert_eq!(of("sys_rawio"), Some(Capability::SYS_RAWIO));
        assert_eq!(of("net_admin"), Some(Capability::NET_ADMIN));
        assert_eq!(of("ipc_lock"), Some(Capability::IPC_LOCK));
        assert_eq!((of("bpf"), of("everything")), (Some(Capability::BPF), None));
        assert!(Capability::all().all(|it| of(it.name()) == Some(it)));
    }

    #[test]
    fn what_is_given_up_is_gone_from_the_thread() {
        // Threads have their own.
        let thread = std::thread::spawn(|| {
            let before = held().unwrap();
            let given_up = give_up_all_but(&[Capability::NET_RAW]).unwrap();
            (before, given_up, held().unwrap(), no_new_privileges())
        });
        let (before, given_up, after, closed) = thread.join().unwrap();
        assert!(after.iter().all(|it| *it == Capability::NET_RAW));
        assert_eq!(given_up.len() + after.len(), before.len());
        assert!(closed);
        assert_eq!(held().unwrap(), before);
    }
}
