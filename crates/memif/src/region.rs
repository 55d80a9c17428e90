//! Memory that both sides have mapped.
//!
//! Who maps a file that another can shorten gets SIGBUS for what is gone. So the size must be
//! sealed (`F_SEAL_SHRINK`) before it is looked at: our own memory is, another's is sealed by us if
//! it did not do so itself, and what cannot be sealed is refused. Only memfds on tmpfs are taken:
//! of huge pages there may be none left when a hole that the other side punched is touched again.

use core::ptr::NonNull;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes in a row, mapped as long as this lives.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: memory without a tie to a thread. Others write it at any time, so that all access is
// through raw pointers and atomics.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// Why a peer's memory is not taken.
#[derive(Debug, thiserror::Error)]
pub enum RegionError {
    /// A pipe, a socket, a file on disk.
    #[error("no memfd of ordinary pages")]
    NotMemory,
    /// It could be shortened under us.
    #[error("its size cannot be sealed (MFD_ALLOW_SEALING, F_SEAL_SHRINK)")]
    Unsealed,
    /// Shorter than it was said.
    #[error("{there} bytes in place of {told}")]
    Short {
        /// What it has.
        there: u64,
        /// What was told.
        told: u64,
    },
    /// It cannot be mapped.
    #[error("it cannot be mapped: {0}")]
    Map(io::Error),
}

impl Region {
    /// New memory, and the descriptor to hand out.
    pub fn create(bytes: u64) -> io::Result<(Self, OwnedFd)> {
        // SAFETY: a text that ends; a fresh descriptor, or an error.
        let fd = unsafe {
            let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
            owned(libc::memfd_create(c"memif region 0".as_ptr(), flags))?
        };
        let length = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
        // SAFETY: our own descriptor.
        check(unsafe { libc::ftruncate(fd.as_raw_fd(), length) })?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: as above.
        check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
        Ok((Self::map(&fd, bytes)?, fd))
    }

    /// A peer's memory, of which it says that it has so many bytes.
    pub fn adopt(fd: &OwnedFd, told: u64) -> Result<Self, RegionError> {
        let raw = fd.as_raw_fd();
        // First: it asks no file system that might be the peer's.
        // SAFETY: asks of a descriptor of ours.
        let seals = unsafe { libc::fcntl(raw, libc::F_GET_SEALS) };
        if seals < 0 || !is_on_tmpfs(fd) {
            return Err(RegionError::NotMemory);
        }
        if seals & libc::F_SEAL_SHRINK == 0 {
            // SAFETY: as above.
            check(unsafe { libc::fcntl(raw, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) })
                .map_err(|_| RegionError::Unsealed)?;
        }
        // From here on it does not get shorter.
        let there = size_of(fd).map_err(RegionError::Map)?;
        if there < told || told == 0 {
            return Err(RegionError::Short { there, told });
        }
        Self::map(fd, told).map_err(RegionError::Map)
    }

    fn map(fd: &OwnedFd, bytes: u64) -> io::Result<Self> {
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, where the kernel likes it.
        let start = unsafe {
            let nowhere = core::ptr::null_mut();
            libc::mmap(nowhere, bytes, protection, libc::MAP_SHARED, fd.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("at zero"))?;
        Ok(Self { start, bytes })
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Where these bytes are, if they are all inside.
    #[inline]
    pub fn part(&self, offset: u32, length: u32) -> Option<*mut u8> {
        let end = u64::from(offset) + u64::from(length);
        // SAFETY: the offset is inside, or just behind.
        (end <= self.bytes as u64).then(|| unsafe { self.start.as_ptr().add(offset as usize) })
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: mapped by us; nobody has a pointer any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

fn is_on_tmpfs(fd: &OwnedFd) -> bool {
    // SAFETY: zeroes are a valid result, which is ours.
    unsafe {
        let mut facts: libc::statfs = core::mem::zeroed();
        libc::fstatfs(fd.as_raw_fd(), &mut facts) == 0 && facts.f_type == libc::TMPFS_MAGIC
    }
}

fn size_of(fd: &OwnedFd) -> io::Result<u64> {
    // SAFETY: zeroes are a valid result, which is ours.
    unsafe {
        let mut facts: libc::stat = core::mem::zeroed();
        check(libc::fstat(fd.as_raw_fd(), &mut facts))?;
        Ok(facts.st_size as u64)
    }
}

/// The outcome of a system call.
pub(crate) fn check(code: i32) -> io::Result<()> {
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A descriptor that a system call made.
///
/// # Safety
/// It is nobody else's.
pub(crate) unsafe fn owned(fd: i32) -> io::Result<OwnedFd> {
    check(fd)?;
    // SAFETY: the caller's word.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn memfd(flags: u32, bytes: i64) -> OwnedFd {
        // SAFETY: a fresh descriptor.
        unsafe {
            let fd = owned(libc::memfd_create(c"test".as_ptr(), flags)).unwrap();
            check(libc::ftruncate(fd.as_raw_fd(), bytes)).unwrap();
            fd
        }
    }

    fn shortened(fd: &OwnedFd) -> bool {
        // SAFETY: a descriptor of ours.
        unsafe { libc::ftruncate(fd.as_raw_fd(), 0) == 0 }
    }

    #[test]
    fn neither_side_can_shorten_what_is_shared() {
        let (_region, fd) = Region::create(8192).unwrap();
        assert!(!shortened(&fd));
        // A peer that did not seal it.
        let fd = memfd(libc::MFD_ALLOW_SEALING, 8192);
        let region = Region::adopt(&fd, 8192).unwrap();
        assert!(!shortened(&fd));
        // SAFETY: inside, and still there.
        unsafe { region.part(8191, 1).unwrap().write(1) };
    }

    #[test]
    fn what_cannot_be_sealed_or_is_no_memory_is_refused() {
        let told = |fd: &OwnedFd, bytes| Region::adopt(fd, bytes).unwrap_err().to_string();
        assert!(told(&memfd(0, 8192), 8192).contains("sealed"));
        let file = OwnedFd::from(File::open("/proc/self/exe").unwrap());
        assert_eq!(told(&file, 1), RegionError::NotMemory.to_string());
        let fd = memfd(libc::MFD_ALLOW_SEALING, 4096);
        assert_eq!(told(&fd, 4097), "4096 bytes in place of 4097");
        assert_eq!(told(&fd, 0), "4096 bytes in place of 0");
        // Read only: nothing could be sent.
        // SAFETY: a descriptor of ours.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_WRITE) };
        assert!(told(&fd, 4096).contains("mapped"));
    }

    #[test]
    fn parts_are_inside() {
        let (region, _fd) = Region::create(4096).unwrap();
        assert!(region.part(0, 4096).is_some() && region.part(4096, 0).is_some());
        assert!(region.part(1, 4096).is_none() && region.part(u32::MAX, u32::MAX).is_none());
    }
}
