//! A device whose packets the kernel's own protocols do not get: only packet sockets do.
//!
//! ```text
//!  device ─▶ packet sockets ─▶ here: dropped ─ ✕ ─▶ VLANs, bridges, IP of the kernel's
//! ```
//!
//! It is a BPF program of two instructions where the device's packets come in (`tcx`, since Linux
//! 6.6). The kernel takes it away with its descriptor, and so with this process, however that ends.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Loads a program, and puts one in its place (`linux/bpf.h`).
const PROG_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
/// What a program is for, and where it stands.
const SCHED_CLS: u32 = 3;
const TCX_INGRESS: u32 = 46;

/// `r0 = TCX_DROP; return r0`.
const DROP: [Instruction; 2] =
    [Instruction { code: 0xb7, value: 2, ..NOTHING }, Instruction { code: 0x95, ..NOTHING }];
const NOTHING: Instruction = Instruction { code: 0, registers: 0, offset: 0, value: 0 };

#[repr(C)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    value: i32,
}

/// The beginning of what `BPF_PROG_LOAD` is told; what is not said is 0.
#[repr(C)]
struct Load {
    program_type: u32,
    count: u32,
    instructions: u64,
    license: u64,
}

/// The beginning of what `BPF_LINK_CREATE` is told.
#[repr(C)]
struct Link {
    program: u32,
    device: u32,
    place: u32,
    flags: u32,
    relative: u32,
    relative_pad: u32,
    revision: u64,
}

/// Until it is dropped, the kernel's protocols get nothing that a device receives.
#[derive(Debug)]
pub struct Alone {
    _link: OwnedFd,
}

impl Alone {
    /// On the device of that number in this thread's network namespace.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` and `CAP_NET_ADMIN`, `EINVAL` before Linux 6.6, `ENODEV` of no
    /// device.
    pub fn on(device: u32) -> io::Result<Self> {
        let load = Load {
            program_type: SCHED_CLS,
            count: DROP.len() as u32,
            instructions: DROP.as_ptr() as u64,
            license: c"Apache-2.0".as_ptr() as u64,
        };
        let program = bpf(PROG_LOAD, &load)?;
        let link = Link {
            program: program.as_raw_fd() as u32,
            device,
            place: TCX_INGRESS,
            flags: 0,
            relative: 0,
            relative_pad: 0,
            revision: 0,
        };
        // The link holds the program.
        Ok(Self { _link: bpf(LINK_CREATE, &link)? })
    }
}

/// A call that makes a descriptor.
fn bpf<T>(command: libc::c_long, told: &T) -> io::Result<OwnedFd> {
    let size = size_of::<T>();
    // SAFETY: what is told is of that size, is read only, and points to constants.
    let made = unsafe { libc::syscall(libc::SYS_bpf, command, core::ptr::from_ref(told), size) };
    match i32::try_from(made) {
        // SAFETY: a fresh descriptor, owned at once.
        Ok(fd @ 0..) => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}
