//! What becomes of memory that a peer takes away while it is used: zeroes.
//!
//! ```text
//!  a worker reads a descriptor ─▶ its page is gone: SIGBUS ─▶ /proc/self/maps: whose mapping is it?
//!       ▲                                                        │ a peer's: zeroes in its place
//!       └────────────────────────────────────────────────────────┘ anything else: as without us
//! ```
//! Files of huge pages cannot be sealed, nor can memfds that were made without, and both are what
//! machines come with. Who shortens one, or punches a hole when no huge page is left, gets a ring
//! of zeroes, and its connection ends. All of a mapping is replaced at once, so that a peer has
//! each of its regions cost one signal.
//!
//! The handler calls what a handler may (signal-safety(7)): it opens, reads, maps; the list of
//! peers' memory is atomics, and nothing here allocates or takes a lock but `watch`.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Files that are remembered. Those of connections that ended are until others take their places:
/// the library unmaps a little after.
const PLACES: usize = 2048;

struct Place {
    device: AtomicU64,
    inode: AtomicU64,
    /// As long as its connection is there.
    taken: AtomicBool,
    gone: AtomicBool,
}

static WATCHED: [Place; PLACES] = [const {
    Place {
        device: AtomicU64::new(0),
        inode: AtomicU64::new(0),
        taken: AtomicBool::new(false),
        gone: AtomicBool::new(false),
    }
}; PLACES];

/// Held by who takes a place, with the one to look at next.
static NEXT: Mutex<usize> = Mutex::new(0);
/// What was to be done with the signal before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// A file of a connection, watched as long as this is there, and a little after.
#[derive(Debug)]
pub(crate) struct Watched(usize);

impl Watched {
    /// Whether it is that file.
    pub(crate) fn is(&self, data: &Metadata) -> bool {
        let place = &WATCHED[self.0];
        place.inode.load(Ordering::Acquire) == data.ino()
            && place.device.load(Ordering::Acquire) == data.dev()
    }

    /// Whether some of it was gone when it was touched.
    pub(crate) fn is_gone(&self) -> bool {
        WATCHED[self.0].gone.load(Ordering::Acquire)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        WATCHED[self.0].taken.store(false, Ordering::Release);
    }
}

/// Sees to it that zeroes are read where this file's memory is gone.
pub(crate) fn watch(data: &Metadata) -> io::Result<Watched> {
    install()?;
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut candidates = (0..PLACES).map(|step| (*next + step) % PLACES);
    let free = candidates.find(|at| !WATCHED[*at].taken.load(Ordering::Acquire));
    let at = free.ok_or_else(|| io::Error::other("too much memory of peers"))?;
    *next = (at + 1) % PLACES;
    let place = &WATCHED[at];
    place.taken.store(true, Ordering::Release);
    // Nobody's for as long as it is half of another.
    place.inode.store(0, Ordering::Release);
    place.gone.store(false, Ordering::Release);
    place.device.store(data.dev(), Ordering::Release);
    place.inode.store(data.ino(), Ordering::Release);
    Ok(Watched(at))
}

/// What there is to know of the file behind a descriptor.
pub(crate) fn data(fd: &OwnedFd) -> io::Result<Metadata> {
    File::from(fd.try_clone()?).metadata()
}

fn install() -> io::Result<()> {
    static DONE: OnceLock<i32> = OnceLock::new();
    let code = *DONE.get_or_init(|| {
        // SAFETY: zeroes are a valid action; the handler keeps to what handlers may do; the one
        // before is kept before ours can be called.
        unsafe {
            let mut before: libc::sigaction = core::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, core::ptr::null(), &mut before) != 0 {
                return -1;
            }
            let _ = BEFORE.set(before);
            let mut ours: libc::sigaction = core::mem::zeroed();
            ours.sa_sigaction = handle as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &ours, core::ptr::null_mut())
        }
    });
    if code == 0 { Ok(()) } else { Err(io::Error::other("no handler for SIGBUS")) }
}

extern "C" fn handle(number: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: what the kernel calls a handler with; `errno` is put back as it was.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        let replaced = (*info).si_code == libc::BUS_ADRERR && replace((*info).si_addr() as usize);
        *errno = saved;
        if !replaced {
            as_before(number, info, context);
        }
    }
}

/// Does what would be done without us.
///
/// # Safety
/// As a handler.
unsafe fn as_before(number: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: as the kernel would call it; without one the fault comes again, and ends the process.
    unsafe {
        match BEFORE.get() {
            Some(before)
                if before.sa_flags & libc::SA_SIGINFO != 0
                    && before.sa_sigaction != libc::SIG_DFL =>
            {
                type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
                let handler: Handler = core::mem::transmute(before.sa_sigaction as *const ());
                handler(number, info, context);
            }
            _ => {
                libc::signal(number, libc::SIG_DFL);
            }
        }
    }
}

/// Puts zeroes in the place of the mapping around an address, if it is a peer's.
fn replace(address: usize) -> bool {
    let Some(mapping) = find(address) else { return false };
    let is_it = |place: &&Place| {
        place.inode.load(Ordering::Acquire) == mapping.inode
            && place.device.load(Ordering::Acquire) == mapping.device
    };
    let mut places = WATCHED.iter().filter(is_it);
    let Some(first) = places.next().filter(|_| mapping.inode != 0) else { return false };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let bytes = mapping.end - mapping.start;
    let start = mapping.start as *mut libc::c_void;
    // SAFETY: all of a mapping of memory that others write at any time, and whose library unmaps it
    // by its place.
    let mapped = unsafe { libc::mmap(start, bytes, access, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return false;
    }
    for place in core::iter::once(first).chain(places) {
        place.gone.store(true, Ordering::Release);
    }
    true
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mapping {
    start: usize,
    end: usize,
    device: u64,
    inode: u64,
}

/// The mapping of a file, shared with others, at an address.
fn find(address: usize) -> Option<Mapping> {
    // SAFETY: a text that ends; a descriptor of ours, closed below.
    let fd = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    let (mut buffer, mut lines) = ([0u8; 512], Lines::default());
    let mut found = None;
    while found.is_none() {
        // SAFETY: so many octets of ours.
        let read = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
        let Some(bytes) = usize::try_from(read).ok().and_then(|read| buffer.get(..read)) else {
            break;
        };
        if bytes.is_empty() {
            break;
        }
        found = bytes.iter().find_map(|byte| lines.take(*byte).filter(|it| it.has(address)));
    }
    // SAFETY: opened above.
    unsafe { libc::close(fd) };
    found
}

impl Mapping {
    fn has(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// Reads `7f00-7f01 rw-s 00000000 00:01 1234   /memfd:x (deleted)`, a byte after the other.
#[derive(Default)]
struct Lines {
    /// Which word of the line, and which byte of that.
    word: usize,
    at: usize,
    number: u64,
    shared: bool,
    major: u64,
    mapping: Mapping,
}

impl Lines {
    /// The next byte; the mapping of a line that ends with it, if it is shared.
    fn take(&mut self, byte: u8) -> Option<Mapping> {
        match (self.word, byte) {
            (_, b'\n') => {
                self.end_word();
                let whole = core::mem::take(self);
                return (whole.shared && whole.word > 4).then_some(whole.mapping);
            }
            // What comes behind the inode is the file's name.
            (5.., _) => {}
            (0, b'-') => self.mapping.start = core::mem::take(&mut self.number) as usize,
            (3, b':') => self.major = core::mem::take(&mut self.number),
            (_, b' ') => self.end_word(),
            (1, _) => {
                self.shared |= self.at == 3 && byte == b's';
                self.at += 1;
            }
            (4, _) => self.number = 10 * self.number + u64::from(byte.wrapping_sub(b'0')),
            _ => {
                let digit = if byte > b'9' { byte.wrapping_sub(b'a' - 10) } else { byte & 15 };
                self.number = 16 * self.number + u64::from(digit);
            }
        }
        None
    }

    fn end_word(&mut self) {
        let number = core::mem::take(&mut self.number);
        match self.word {
            0 => self.mapping.end = number as usize,
            3 => self.mapping.device = libc::makedev(self.major as u32, number as u32),
            4 => self.mapping.inode = number,
            _ => {}
        }
        self.at = 0;
        self.word += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::os::unix::process::ExitStatusExt;

    const BYTES: usize = 16_384;

    fn memory() -> File {
        // SAFETY: a fresh descriptor, of ours alone.
        let file = unsafe { File::from_raw_fd(libc::memfd_create(c"taken away".as_ptr(), 0)) };
        file.set_len(BYTES as u64).unwrap();
        file
    }

    fn mapped(file: &File) -> *mut u8 {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping.
        let start = unsafe {
            let nowhere = core::ptr::null_mut();
            libc::mmap(nowhere, BYTES, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        assert_ne!(start, libc::MAP_FAILED);
        start.cast()
    }

    #[test]
    fn memory_that_was_taken_away_is_zeroes_and_known_to_be() {
        let (file, other) = (memory(), memory());
        let (start, untouched) = (mapped(&file), mapped(&other));
        let watched = watch(&file.metadata().unwrap()).unwrap();
        let besides = watch(&other.metadata().unwrap()).unwrap();
        assert!(watched.is(&file.metadata().unwrap()) && !watched.is(&other.metadata().unwrap()));
        // SAFETY: mapped above, and what is not there any more is seen to.
        unsafe {
            start.write_volatile(7);
            untouched.write_volatile(8);
            file.set_len(0).unwrap();
            assert!(!watched.is_gone());
            assert_eq!(start.add(BYTES - 1).read_volatile(), 0);
            start.add(4096).write_volatile(9);
            assert_eq!(start.add(4096).read_volatile(), 9);
            assert_eq!((start.read_volatile(), untouched.read_volatile()), (0, 8));
        }
        assert!(watched.is_gone() && !besides.is_gone());
    }

    #[test]
    fn what_is_no_peers_ends_the_process_as_it_did() {
        const CHILD: &str = "VHOST_TEST_TAKES_ITS_OWN_MEMORY_AWAY";
        if std::env::var_os(CHILD).is_some() {
            let (file, peers) = (memory(), memory());
            let _watched = watch(&peers.metadata().unwrap()).unwrap();
            let start = mapped(&file);
            file.set_len(0).unwrap();
            // SAFETY: there is nothing there, and this ends here.
            unsafe { start.read_volatile() };
            std::process::exit(0);
        }
        let name = "zeroes::tests::what_is_no_peers_ends_the_process_as_it_did";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", name]).env(CHILD, "1").output().unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
    }

    #[test]
    fn lines_of_mappings_are_read() {
        let read = |text: &str| {
            let mut lines = Lines::default();
            text.bytes().filter_map(|byte| lines.take(byte)).collect::<Vec<_>>()
        };
        let text = "55c0-55d0 r-xp 00001000 fe:02 999   /usr/bin/x\n\
                    7f0a00000000-7f0a00010000 rw-s 00000000 00:01 1234    /memfd:a b (deleted)\n\
                    7f0b0000-7f0b1000 rw-s 00000000 0a:1c 56 \n\
                    7ffc0000-7ffd0000 rw-p 00000000 00:00 0    [stack]\n";
        let first = Mapping {
            start: 0x7f0a_0000_0000,
            end: 0x7f0a_0001_0000,
            device: libc::makedev(0, 1),
            inode: 1234,
        };
        let second = Mapping {
            start: 0x7f0b_0000,
            end: 0x7f0b_1000,
            device: libc::makedev(10, 28),
            inode: 56,
        };
        assert_eq!(read(text), [first, second]);
        let here = &raw const text as usize;
        assert_eq!(find(here), None, "the stack is not shared");
    }
}
