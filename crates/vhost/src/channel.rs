//! How messages go over: a stream of bytes, with descriptors beside the first of a message.
//!
//! Nothing here waits: who says half of a message is heard when it says the rest.

use crate::Refusal;
use crate::message::{HEADER_BYTES, Header, MOST_REGIONS};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// A message as it goes over.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) header: Header,
    /// Header and payload.
    pub(crate) bytes: Vec<u8>,
    pub(crate) descriptors: Vec<OwnedFd>,
}

/// Why there is no more to hear.
#[derive(Debug)]
pub(crate) enum End {
    /// The other end closed it, or is gone.
    Left,
    /// It said what cannot be.
    Refused(Refusal),
    /// What was not the peer's fault.
    Failed(io::Error),
}

impl From<Refusal> for End {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What of a message is there already.
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    header: Option<Header>,
    bytes: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Hearing {
    /// The next whole message, if it is there.
    pub(crate) fn hear(&mut self, from: &UnixStream) -> Result<Option<Said>, End> {
        loop {
            let length = self.header.map_or(0, |header| header.bytes as usize);
            let missing = HEADER_BYTES + length - self.bytes.len();
            if missing == 0 {
                if let Some(header) = self.header {
                    let Self { bytes, descriptors, .. } = core::mem::take(self);
                    return Ok(Some(Said { header, bytes, descriptors }));
                }
                let mut header = [0; HEADER_BYTES];
                header.copy_from_slice(&self.bytes);
                self.header = Some(Header::read(&header)?);
                continue;
            }
            if !self.read(from, missing)? {
                return Ok(None);
            }
        }
    }

    /// Reads some of what is missing; false if nothing is there.
    fn read(&mut self, from: &UnixStream, missing: usize) -> Result<bool, End> {
        let mut bytes = [0u8; 512];
        let room = missing.min(bytes.len());
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: room };
        let mut control = Control::default();
        // SAFETY: zeroes are a valid header; what it points to is ours and of the sizes given.
        let (read, header) = unsafe {
            let mut header: libc::msghdr = core::mem::zeroed();
            (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
            header.msg_control = (&raw mut control).cast();
            // The kernel closes what does not fit, and says so.
            header.msg_controllen = size_of::<Control>();
            let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
            (libc::recvmsg(from.as_raw_fd(), &mut header, flags), header)
        };
        let Ok(read) = usize::try_from(read) else {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(false),
                _ => Err(End::Left),
            };
        };
        self.descriptors.extend(control.descriptors(header.msg_controllen));
        let there = self.descriptors.len();
        if there > MOST_REGIONS || header.msg_flags & libc::MSG_CTRUNC != 0 {
            let request = self.header.map_or(0, |header| header.request);
            return Err(Refusal::Descriptors { request, there }.into());
        }
        self.bytes.extend_from_slice(&bytes[..read]);
        if read == 0 { Err(End::Left) } else { Ok(true) }
    }
}

/// Says a message, all of it or nothing; false if there is no room for it now.
pub(crate) fn say(to: &UnixStream, bytes: &[u8], descriptors: &[OwnedFd]) -> Result<bool, End> {
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut control = Control::default();
    // SAFETY: zeroes are a valid header; all that it points to outlives the call, which only reads
    // it.
    let sent = unsafe {
        let mut header: libc::msghdr = core::mem::zeroed();
        (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
        if !descriptors.is_empty() {
            header.msg_controllen = control.put(descriptors);
            header.msg_control = (&raw mut control).cast();
        }
        libc::sendmsg(to.as_raw_fd(), &header, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    match usize::try_from(sent) {
        Ok(sent) if sent == bytes.len() => Ok(true),
        // The kernel takes messages as short as ours whole.
        Ok(_) => Err(End::Failed(io::Error::other("a part of a message went over"))),
        Err(_) => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            _ => Err(End::Left),
        },
    }
}

/// What travels beside a message.
#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    descriptors: [RawFd; MOST_REGIONS],
}

impl Default for Control {
    fn default() -> Self {
        let header = libc::cmsghdr { cmsg_len: 0, cmsg_level: 0, cmsg_type: 0 };
        Self { header, descriptors: [-1; MOST_REGIONS] }
    }
}

impl Control {
    /// Puts some in; the bytes that it has then.
    fn put(&mut self, descriptors: &[OwnedFd]) -> usize {
        let count = descriptors.len().min(MOST_REGIONS);
        for (to, from) in self.descriptors.iter_mut().zip(descriptors) {
            *to = from.as_raw_fd();
        }
        let length = size_of::<libc::cmsghdr>() + count * size_of::<RawFd>();
        self.header = libc::cmsghdr {
            cmsg_len: length,
            cmsg_level: libc::SOL_SOCKET,
            cmsg_type: libc::SCM_RIGHTS,
        };
        // As far as the next header would be.
        length.next_multiple_of(align_of::<libc::cmsghdr>())
    }

    /// Those that the kernel put here.
    fn descriptors(&self, written: usize) -> Vec<OwnedFd> {
        let header = size_of::<libc::cmsghdr>();
        let are_some = written >= header
            && self.header.cmsg_level == libc::SOL_SOCKET
            && self.header.cmsg_type == libc::SCM_RIGHTS;
        let bytes = if are_some { self.header.cmsg_len.saturating_sub(header) } else { 0 };
        let count = (bytes / size_of::<RawFd>()).min(MOST_REGIONS);
        let fresh = self.descriptors[..count].iter().filter(|fd| **fd >= 0);
        // SAFETY: descriptors that the kernel made for us just now.
        fresh.map(|fd| unsafe { OwnedFd::from_raw_fd(*fd) }).collect()
    }
}
