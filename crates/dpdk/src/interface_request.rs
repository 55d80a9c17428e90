//! Questions about a Linux device as the kernel takes them: a socket, a request, a call.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A fresh socket.
pub(crate) fn socket(family: i32, kind: i32) -> io::Result<OwnedFd> {
    // SAFETY: a fresh descriptor, owned at once; protocol 0 of a packet socket receives nothing.
    unsafe {
        match libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// An interface request for the device of that name, otherwise zero.
pub(crate) fn request(name: &str) -> libc::ifreq {
    // SAFETY: zeroes are a valid request.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
    request
}

/// The hardware address that an answered request holds.
///
/// # Safety
/// The request's union holds an address.
pub(crate) unsafe fn address_in(request: &libc::ifreq) -> [u8; 6] {
    // SAFETY: the caller says so.
    let data = unsafe { request.ifr_ifru.ifru_hwaddr.sa_data };
    core::array::from_fn(|n| data[n] as u8)
}

/// Has a request say a hardware address.
pub(crate) fn put_address(request: &mut libc::ifreq, address: [u8; 6]) {
    let mut place = libc::sockaddr { sa_family: libc::ARPHRD_ETHER, sa_data: [0; 14] };
    for (to, from) in place.sa_data.iter_mut().zip(address) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_hwaddr = place;
}

/// Asks the kernel something about a device.
///
/// # Safety
/// The request's union holds what `number` reads.
pub(crate) unsafe fn ioctl(
    socket: &OwnedFd,
    number: libc::Ioctl,
    request: &mut libc::ifreq,
) -> io::Result<()> {
    // SAFETY: the request is ours to be written to; the caller filled it.
    match unsafe { libc::ioctl(socket.as_raw_fd(), number, request as *mut libc::ifreq) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
