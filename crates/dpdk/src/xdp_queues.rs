//! Waits until the kernel has let go of a queue whose XDP socket was closed.
//!
//! It does so in a thread of its own, which waits for its turn among those who change devices.
//! Until then nobody else gets the queue, and DPDK tells who tries of an invalid argument.

use core::ptr;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest wait: whoever has it still has it for another reason.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);
/// Entries of the rings of a socket that only asks.
const ENTRIES: u32 = 64;

/// Memory that a socket would receive into.
#[repr(align(4096))]
struct Page([u8; 4096]);

/// Waits until nobody has the queue of a device, for a second at most.
pub(crate) fn until_free(device: &str, queue: u16) {
    let Ok(name) = CString::new(device) else { return };
    // SAFETY: a string that ends in a zero.
    let number = unsafe { libc::if_nametoindex(name.as_ptr()) };
    let began = Instant::now();
    while number != 0 && is_taken(number, queue) && began.elapsed() < PATIENCE {
        sleep(PAUSE);
    }
}

/// Whether somebody has it. Asked for is what most devices cannot do, zero copy: the kernel looks
/// whose the queue is before it looks for that, and gives nothing.
fn is_taken(number: u32, queue: u16) -> bool {
    let mut page = Box::new(Page([0; 4096]));
    match ask(number, queue, &mut page) {
        Err(error) => error.raw_os_error() == Some(libc::EBUSY),
        Ok(()) => false,
    }
}

fn ask(number: u32, queue: u16, page: &mut Page) -> io::Result<()> {
    // SAFETY: no pointers.
    let socket = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor of ours alone.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: zeroes are one.
    let mut memory: libc::xdp_umem_reg = unsafe { core::mem::zeroed() };
    memory.addr = ptr::from_mut(&mut page.0) as u64;
    memory.len = size_of::<Page>() as u64;
    memory.chunk_size = size_of::<Page>() as u32;
    set(&socket, libc::XDP_UMEM_REG, &memory)?;
    for ring in [libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_COMPLETION_RING, libc::XDP_RX_RING] {
        set(&socket, ring, &ENTRIES)?;
    }
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: libc::XDP_ZEROCOPY,
        sxdp_ifindex: number,
        sxdp_queue_id: queue.into(),
        sxdp_shared_umem_fd: 0,
    };
    let length = size_of_val(&address) as u32;
    // SAFETY: an address of its length, read during the call.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
}

fn set<T>(socket: &OwnedFd, option: i32, value: &T) -> io::Result<()> {
    let (value, length) = (ptr::from_ref(value).cast(), size_of::<T>() as u32);
    // SAFETY: a value of its length, read during the call.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, value, length) })
}

fn checked(code: i32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
