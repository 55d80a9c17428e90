//! Taps: links of the kernel's whose other end is a file.
//!
//! `unsafe`: one request to the kernel's driver, which no safe function makes.
#![allow(unsafe_code)]

use rustix::fs::{Mode, OFlags};
use rustix::ioctl::{Opcode, Setter, ioctl};
use std::io;
use std::os::fd::OwnedFd;

const TUN_SET_LINK: Opcode = 0x4004_54ca;
const TAP: u16 = 0x0002;
const NO_PACKET_INFORMATION: u16 = 0x1000;
/// A link that is there already is not taken over.
const EXCLUSIVE: u16 = 0x8000;

/// Longest name of a link, the zero behind it included.
const NAME: usize = 16;

/// The kernel's `ifreq`, as this request reads it.
#[repr(C)]
struct LinkRequest {
    name: [u8; NAME],
    flags: u16,
    rest: [u8; 22],
}

/// Makes a tap of this name, in the namespace of the calling thread. It is there for as long as the
/// file is open.
pub(crate) fn open(name: &str) -> io::Result<OwnedFd> {
    let mut request = LinkRequest {
        name: [0; NAME],
        flags: TAP | NO_PACKET_INFORMATION | EXCLUSIVE,
        rest: [0; 22],
    };
    let too_long = || io::Error::from(io::ErrorKind::InvalidFilename);
    let place = request.name[..NAME - 1].get_mut(..name.len()).ok_or_else(too_long)?;
    place.copy_from_slice(name.as_bytes());
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open("/dev/net/tun", flags, Mode::empty())?;
    // SAFETY: the opcode is TUNSETIFF's, and it reads an `ifreq`, as `LinkRequest` is laid out.
    unsafe { ioctl(&file, Setter::<TUN_SET_LINK, LinkRequest>::new(request)) }?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_has_the_size_that_the_kernel_reads() {
        assert_eq!(size_of::<LinkRequest>(), 40);
        assert!(open("a-name-of-too-many-letters").is_err());
    }
}
