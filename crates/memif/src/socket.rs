//! The control channel's socket: whole messages, each with at most one descriptor.
//!
//! Nothing here waits: a peer that does not read what it is told, or says half, holds up nobody.

use crate::control::MESSAGE_BYTES;
use crate::region::{check, owned};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 16;

/// One end of a connection.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// A socket that waits for clients.
#[derive(Debug)]
pub struct Listener(OwnedFd);

/// What came.
#[derive(Debug)]
pub enum Heard {
    /// Nothing yet.
    Nothing,
    /// The other end is gone.
    Closed,
    /// A message.
    Message {
        /// Its bytes; one more than there should be where it was too long.
        bytes: Vec<u8>,
        /// The descriptor that came along.
        descriptor: Option<OwnedFd>,
        /// There were more than one, which are closed.
        extra: bool,
    },
}

fn socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: a fresh descriptor.
    unsafe { owned(libc::socket(libc::AF_UNIX, kind, 0)) }
}

fn address(path: &Path) -> io::Result<libc::sockaddr_un> {
    // SAFETY: zeroes are a valid address.
    let mut address: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() || bytes.len() >= address.sun_path.len() || bytes.contains(&0) {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    Ok(address)
}

const ADDRESS_BYTES: libc::socklen_t = size_of::<libc::sockaddr_un>() as libc::socklen_t;

impl Listener {
    /// Listens at a path that is free.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let (socket, address) = (socket()?, address(path)?);
        // SAFETY: the address is of the size given.
        check(unsafe {
            libc::bind(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS_BYTES)
        })?;
        // SAFETY: a socket of ours.
        check(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) })?;
        Ok(Self(socket))
    }

    /// The next client, if one waits.
    pub fn accept(&self) -> Option<Channel> {
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        let nobody = core::ptr::null_mut();
        // SAFETY: a fresh descriptor, or an error; the address is not asked for.
        unsafe {
            let fd = libc::accept4(self.0.as_raw_fd(), nobody, core::ptr::null_mut(), flags);
            owned(fd).ok().map(Channel)
        }
    }
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl AsRawFd for Channel {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Channel {
    /// Connects to a server.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let (socket, address) = (socket()?, address(path)?);
        // SAFETY: the address is of the size given.
        check(unsafe {
            libc::connect(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS_BYTES)
        })?;
        Ok(Self(socket))
    }

    /// Says something, all of it or nothing.
    pub fn say(&self, bytes: &[u8], descriptor: Option<RawFd>) -> io::Result<()> {
        let mut part =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control = Control::default();
        // SAFETY: zeroes are a valid header; all that it points to outlives the call, which only
        // reads it.
        let sent = unsafe {
            let mut header: libc::msghdr = core::mem::zeroed();
            (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
            if let Some(fd) = descriptor {
                control.header.cmsg_len = ONE_DESCRIPTOR;
                control.header.cmsg_level = libc::SOL_SOCKET;
                control.header.cmsg_type = libc::SCM_RIGHTS;
                control.descriptors[0] = fd;
                header.msg_control = (&raw mut control).cast();
                header.msg_controllen = size_of::<Control>();
            }
            libc::sendmsg(self.0.as_raw_fd(), &header, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// The next message, if one is there.
    pub fn hear(&self) -> io::Result<Heard> {
        let mut bytes = vec![0; MESSAGE_BYTES + 1];
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let mut control = Control::default();
        // SAFETY: zeroes are a valid header; what it points to is ours and of the sizes given.
        let (length, header) = unsafe {
            let mut header: libc::msghdr = core::mem::zeroed();
            (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
            header.msg_control = (&raw mut control).cast();
            // Room for one descriptor: the kernel closes what does not fit, and says so.
            header.msg_controllen = ONE_DESCRIPTOR;
            let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
            (libc::recvmsg(self.0.as_raw_fd(), &mut header, flags), header)
        };
        let Ok(length) = usize::try_from(length) else {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Heard::Nothing),
                _ => Err(error),
            };
        };
        let descriptor = control.descriptor(header.msg_controllen);
        if length == 0 && descriptor.is_none() {
            return Ok(Heard::Closed);
        }
        bytes.truncate(length);
        let extra = header.msg_flags & libc::MSG_CTRUNC != 0;
        Ok(Heard::Message { bytes, descriptor, extra })
    }
}

/// What travels beside a message: one descriptor.
#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    /// The second is room that the alignment of headers asks for.
    descriptors: [RawFd; 2],
}

/// What the kernel counts for one descriptor.
const ONE_DESCRIPTOR: usize = size_of::<libc::cmsghdr>() + size_of::<RawFd>();

impl Default for Control {
    fn default() -> Self {
        let header = libc::cmsghdr { cmsg_len: 0, cmsg_level: 0, cmsg_type: 0 };
        Self { header, descriptors: [-1; 2] }
    }
}

impl Control {
    /// The descriptor that the kernel put here.
    fn descriptor(&self, written: usize) -> Option<OwnedFd> {
        let header = &self.header;
        let is_one = written >= ONE_DESCRIPTOR
            && header.cmsg_level == libc::SOL_SOCKET
            && header.cmsg_type == libc::SCM_RIGHTS
            && header.cmsg_len >= ONE_DESCRIPTOR
            && self.descriptors[0] >= 0;
        // SAFETY: a descriptor that the kernel made for us just now.
        is_one.then(|| unsafe { OwnedFd::from_raw_fd(self.descriptors[0]) })
    }
}
