//! Keeps the kernel from putting IPv4 fragments together before a packet socket sees them.
//!
//! DPDK's af_packet driver (22.11 to 24.11) joins its sockets into a group by PACKET_FANOUT and asks
//! for DEFRAG, which suits a firewall and not a router: the reassembled packet is longer than the
//! frame it claims to be, and what was to be forwarded is lost. The program's own `setsockopt` comes
//! before the C library's for drivers, too, where the program exports it (see volleyd's build.rs).

use core::ffi::{c_int, c_void};

/// The flag in the upper half of the option's value (`linux/if_packet.h`).
const DEFRAG: u32 = libc::PACKET_FANOUT_FLAG_DEFRAG << 16;

/// The C library's call, for all of the program; packet sockets do not reassemble.
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
    let is_fanout = level == libc::SOL_PACKET && name == libc::PACKET_FANOUT;
    if is_fanout && length as usize >= size_of::<u32>() && !value.is_null() {
        // SAFETY: the caller vouches for `length` bytes at `value`, at any alignment.
        let plain = unsafe { value.cast::<u32>().read_unaligned() } & !DEFRAG;
        let (plain, length) = (&raw const plain, size_of::<u32>());
        // SAFETY: the value is ours and four bytes long.
        return unsafe {
            libc::syscall(libc::SYS_setsockopt, socket, level, name, plain, length) as c_int
        };
    }
    // SAFETY: the caller's word. The system call sets errno as the C library's function does.
    unsafe { libc::syscall(libc::SYS_setsockopt, socket, level, name, value, length) as c_int }
}
