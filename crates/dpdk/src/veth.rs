//! Makes a veth's other end send no frame larger than the link.
//!
//! Frames over a veth are never cut: a host with segmentation offload sends up to 64 KiB at once. A
//! veth end that has an XDP program cannot take these, so Linux turns segmentation off at the other
//! end. The program here passes every packet; all that counts is that it is there. The kernel takes
//! it away when its descriptor is closed, by us or by our death.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const BPF_PROG_LOAD: i32 = 5;
const BPF_LINK_CREATE: i32 = 28;
const BPF_PROG_TYPE_XDP: u32 = 6;
const BPF_XDP: u32 = 37;
const XDP_FLAGS_DRIVER: u32 = 4;
/// The program can do with frames in several pieces, so Linux allows a veth an MTU above 3.4 KiB.
const BPF_F_XDP_HAS_FRAGS: u32 = 1 << 5;

/// `r0 = XDP_PASS; exit`
const PASS_ALL: [u64; 2] = [0x0000_0002_0000_00b7, 0x95];

/// The head of `union bpf_attr` for loading a program; the kernel takes the rest as zero.
#[repr(C)]
#[derive(Default)]
struct LoadProgram {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log: [u64; 2],
    kernel_version: u32,
    flags: u32,
}

/// The same for attaching it.
#[repr(C)]
struct CreateLink {
    program: u32,
    device: u32,
    kind: u32,
    flags: u32,
}

/// Holds the other end to frames of the link's size for as long as it lives.
pub(crate) struct WholeFrames {
    _link: OwnedFd,
}

impl WholeFrames {
    /// For the veth end of that index in this thread's network namespace.
    pub(crate) fn demand(index: u32) -> io::Result<Self> {
        // Linux before 5.18 does not know the flag.
        let program = load_program(BPF_F_XDP_HAS_FRAGS).or_else(|_| load_program(0))?;
        let create = CreateLink {
            program: program.as_raw_fd() as u32,
            device: index,
            kind: BPF_XDP,
            flags: XDP_FLAGS_DRIVER,
        };
        // SAFETY: numbers only.
        let link = unsafe { bpf(BPF_LINK_CREATE, &create)? };
        Ok(Self { _link: link })
    }
}

fn load_program(flags: u32) -> io::Result<OwnedFd> {
    let license = c"Apache-2.0";
    let load = LoadProgram {
        kind: BPF_PROG_TYPE_XDP,
        instruction_count: PASS_ALL.len() as u32,
        instructions: PASS_ALL.as_ptr() as u64,
        license: license.as_ptr() as u64,
        flags,
        ..LoadProgram::default()
    };
    // SAFETY: program and license live until the call is over.
    unsafe { bpf(BPF_PROG_LOAD, &load) }
}

/// # Safety
/// `attributes` are those of `command`, and what they point to is there.
unsafe fn bpf<T>(command: i32, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the caller's word; the kernel reads the attributes only. These commands give a new
    // descriptor.
    unsafe {
        match libc::syscall(libc::SYS_bpf, command, attributes as *const T, size_of::<T>()) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd as i32)),
        }
    }
}
