//! What stands behind a descriptor that a peer sent.

use memif::bell::is_eventfd;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

/// As far as it counts here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// Memory with a descriptor: a memfd, a file of `/dev/shm` or of huge pages.
    Memory {
        /// What it has.
        bytes: u64,
    },
    /// An eventfd.
    Eventfd,
    /// Anything else.
    Something,
}

/// Looks behind one. Memory that can be kept from getting shorter is, before its size is looked at;
/// of other memory see `zeroes`.
pub fn of(fd: &OwnedFd) -> Behind {
    let raw = fd.as_raw_fd();
    // First: memory has seals, and this asks no file system, which might be the peer's and wait.
    // SAFETY: asks of a descriptor of ours.
    let seals = unsafe { libc::fcntl(raw, libc::F_GET_SEALS) };
    if seals < 0 {
        return if is_eventfd(fd) { Behind::Eventfd } else { Behind::Something };
    }
    if seals & libc::F_SEAL_SHRINK == 0 {
        // Files of huge pages, and memfds made without, cannot be sealed.
        // SAFETY: as above.
        unsafe { libc::fcntl(raw, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) };
    }
    let size = fd.try_clone().and_then(|fd| File::from(fd).metadata());
    size.map_or(Behind::Something, |data| Behind::Memory { bytes: data.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::FromRawFd;

    fn memfd(flags: u32) -> OwnedFd {
        // SAFETY: a fresh descriptor, of ours alone.
        let file = unsafe { File::from_raw_fd(libc::memfd_create(c"test".as_ptr(), flags)) };
        file.set_len(8192).unwrap();
        file.into()
    }

    #[test]
    fn memory_has_its_size_and_keeps_it_where_it_can_be_sealed() {
        for (flags, shrinks) in [(libc::MFD_ALLOW_SEALING, false), (0, true)] {
            let fd = memfd(flags);
            assert_eq!(of(&fd), Behind::Memory { bytes: 8192 });
            assert_eq!(File::from(fd).set_len(0).is_ok(), shrinks);
        }
    }

    #[test]
    fn what_is_neither_memory_nor_an_eventfd_is_told_apart() {
        assert_eq!(of(&memif::bell::eventfd().unwrap()), Behind::Eventfd);
        for path in ["/proc/self/exe", "/dev/null", "/"] {
            assert_eq!(of(&File::open(path).unwrap().into()), Behind::Something, "{path}");
        }
        let (reader, _writer) = std::io::pipe().unwrap();
        assert_eq!(of(&reader.into()), Behind::Something);
    }
}
