//! What this process may do: the rights that kinds of ports need.

use std::{fmt, fs};

const CAP_NET_ADMIN: u32 = 12;
const CAP_NET_RAW: u32 = 13;
const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_BPF: u32 = 39;

/// Rights that matter here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privilege {
    /// User 0.
    pub root: bool,
    /// Change devices: tap, promiscuous mode, offloads.
    pub net_admin: bool,
    /// Packet sockets: af_packet, af_xdp.
    pub net_raw: bool,
    /// Lock more memory than `ulimit -l`: the rings of packet sockets.
    pub ipc_lock: bool,
    /// Load programs: af_xdp.
    pub bpf: bool,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// To change devices.
    NetAdmin,
    /// To have packet sockets.
    NetRaw,
    /// To lock memory.
    IpcLock,
    /// To load programs.
    Bpf,
}

impl Privilege {
    /// Of this process, now.
    pub fn of_this_process() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let bits = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
        // SAFETY: no preconditions.
        Self::from_bits(unsafe { libc::geteuid() } == 0, bits)
    }

    fn from_bits(root: bool, bits: u64) -> Self {
        let has = |capability: u32| bits & (1 << capability) != 0;
        Self {
            root,
            net_admin: has(CAP_NET_ADMIN),
            net_raw: has(CAP_NET_RAW),
            ipc_lock: has(CAP_IPC_LOCK),
            bpf: has(CAP_BPF) || has(CAP_SYS_ADMIN),
        }
    }

    /// What a port may be refused for: those of the rights that its kind uses and we have not.
    pub(crate) fn lacks(self, uses: &[Right]) -> Option<String> {
        let lacking: Vec<_> =
            uses.iter().filter(|right| !self.has(**right)).map(|right| right.words()).collect();
        (!lacking.is_empty()).then(|| format!("{self} lacks {}", lacking.join(", ")))
    }

    fn has(self, right: Right) -> bool {
        match right {
            Right::NetAdmin => self.net_admin,
            Right::NetRaw => self.net_raw,
            Right::IpcLock => self.ipc_lock,
            Right::Bpf => self.bpf,
        }
    }
}

impl Right {
    /// As in `net_raw`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NetAdmin => "net_admin",
            Self::NetRaw => "net_raw",
            Self::IpcLock => "ipc_lock",
            Self::Bpf => "bpf",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::NetAdmin => "CAP_NET_ADMIN",
            Self::NetRaw => "CAP_NET_RAW",
            Self::IpcLock => "CAP_IPC_LOCK or a larger `ulimit -l`",
            Self::Bpf => "CAP_BPF",
        }
    }
}

impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.root { "root" } else { "not root" })?;
        let named = [
            (self.net_admin, "net_admin"),
            (self.net_raw, "net_raw"),
            (self.ipc_lock, "ipc_lock"),
            (self.bpf, "bpf"),
        ];
        let have: Vec<_> = named.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
        match have.is_empty() {
            true => f.write_str(" without capabilities"),
            false => write!(f, " with {}", have.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_from_their_bits() {
        let some = Privilege::from_bits(false, 1 << 13);
        assert_eq!(some, Privilege { net_raw: true, ..Privilege::default() });
        assert_eq!(some.to_string(), "not root with net_raw");
        assert!(Privilege::from_bits(true, 1 << 21).bpf);
    }
}
