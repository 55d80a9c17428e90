//! What DPDK's af_packet driver (22.11 to 24.11) asks of its packet sockets, as a router wants it.
//!
//! - It joins them into a group by PACKET_FANOUT and asks for DEFRAG, which suits a firewall: the
//!   reassembled packet is longer than the frame it claims to be, and what was to be forwarded is
//!   lost.
//! - It leaves PACKET_IGNORE_OUTGOING off: what the kernel itself sends by the device would be
//!   received as if it had come from the wire, and a bridge would look for the device's own address
//!   there.
//! - It makes a group of a single socket, too: then Linux hashes each packet to choose between one,
//!   looks whether that one has room and which other had it otherwise: 0.32 (0.27 to 0.37) million
//!   frames of 64 octets a second in place of 0.37 (0.35 to 0.41) over a veth with both ends on one
//!   core (`volley-lab self-test veth`, median and range of six runs each in turn, a virtual EPYC
//!   with two shared cores). And a group's number has 16 bits: by chance, the group is another
//!   program's.
//!
//! The program's own `setsockopt` comes before the C library's for drivers, too, where the program
//! exports it (see volleyd's build.rs).

use core::cell::Cell;
use core::ffi::{c_int, c_void};

/// Flags in the upper half of the option's value (`linux/if_packet.h`).
const DEFRAG: u32 = libc::PACKET_FANOUT_FLAG_DEFRAG << 16;
/// What a group ignores is not what its sockets ignore. Since Linux 5.1.
const IGNORE_OUTGOING: u32 = libc::PACKET_FANOUT_FLAG_IGNORE_OUTGOING << 16;

thread_local! {
    /// The sockets that this thread's driver opens join no group.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Opens a port whose only packet socket need not share with others.
pub(crate) fn alone<R>(open: impl FnOnce() -> R) -> R {
    ALONE.set(true);
    let opened = open();
    ALONE.set(false);
    opened
}

/// The C library's call, for all of the program; the driver's packet sockets are what a router
/// wants.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn setsockopt(
    socket: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: libc::socklen_t,
) -> c_int {
    let is_word =
        level == libc::SOL_PACKET && length as usize >= size_of::<u32>() && !value.is_null();
    if is_word && name == libc::PACKET_FANOUT {
        if ALONE.get() {
            return 0;
        }
        // SAFETY: the caller vouches for `length` bytes at `value`, at any alignment.
        let asked = unsafe { value.cast::<u32>().read_unaligned() };
        let plain = asked & !DEFRAG;
        return match set_word(socket, name, plain | IGNORE_OUTGOING) {
            0 => 0,
            _ => set_word(socket, name, plain),
        };
    }
    if is_word && name == libc::PACKET_VERSION {
        // The driver's first word to each of its sockets. Kernels before 4.20 do not know the
        // other.
        let _unknown = set_word(socket, libc::PACKET_IGNORE_OUTGOING, 1);
    }
    // SAFETY: the caller's word. The system call sets errno as the C library's function does.
    unsafe { libc::syscall(libc::SYS_setsockopt, socket, level, name, value, length) as c_int }
}

fn set_word(socket: c_int, name: c_int, word: u32) -> c_int {
    let (value, length) = (&raw const word, size_of::<u32>());
    // SAFETY: the value is ours and four bytes long.
    unsafe {
        libc::syscall(libc::SYS_setsockopt, socket, libc::SOL_PACKET, name, value, length) as c_int
    }
}
