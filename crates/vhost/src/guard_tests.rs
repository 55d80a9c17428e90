//! A guard between a front end and a library, both played by the test.

use super::*;
use crate::message::HEADER_BYTES;
use crate::rules::GUEST_TSO4;
use memif::bell::eventfd;
use std::fs::File;
use std::os::fd::FromRawFd;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

#[path = "guard_calls_tests.rs"]
mod calls;

const FRONT: u64 = 0x7000_0000;
const BYTES: u64 = 0x10000;

struct Played {
    guard: Guard,
    path: PathBuf,
    library: UnixListener,
    inside: PathBuf,
}

impl Drop for Played {
    fn drop(&mut self) {
        std::fs::remove_file(&self.inside).unwrap();
    }
}

impl Played {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("vhost-guard-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let inside = path.with_extension("inside");
        let library = UnixListener::bind(&inside).unwrap();
        let guard = Guard::listen(&path, Inside::at(&inside), 2).unwrap();
        Self { guard, path, library, inside }
    }

    /// A front end, and what the library has of it.
    fn comes(&self) -> (Side, Side) {
        let front = Side::of(UnixStream::connect(&self.path).unwrap());
        (front, Side::of(self.library.accept().unwrap().0))
    }
}

/// One side of a conversation.
struct Side {
    stream: UnixStream,
    hearing: Hearing,
}

impl Side {
    fn of(stream: UnixStream) -> Self {
        Self { stream, hearing: Hearing::default() }
    }

    fn say(&self, request: u32, flags: u32, words: &[u64], descriptors: Vec<OwnedFd>) {
        let bytes = message(request, flags, words);
        assert!(say(&self.stream, &bytes, &descriptors).unwrap());
    }

    fn hears(&mut self) -> Said {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(said) = self.hearing.hear(&self.stream).unwrap() {
                return said;
            }
            assert!(Instant::now() < end, "nothing is heard");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn hears_nothing(&mut self) -> bool {
        std::thread::sleep(Duration::from_millis(30));
        self.hearing.hear(&self.stream).unwrap().is_none()
    }

    fn is_left(&mut self) -> bool {
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end {
            match self.hearing.hear(&self.stream) {
                Err(End::Left) => return true,
                Err(other) => panic!("{other:?}"),
                Ok(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        false
    }
}

fn message(request: u32, flags: u32, words: &[u64]) -> Vec<u8> {
    let header = [request, flags, 8 * words.len() as u32];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    bytes
}

fn memory() -> File {
    // SAFETY: a fresh descriptor, of ours alone.
    let file = unsafe { File::from_raw_fd(libc::memfd_create(c"guarded".as_ptr(), 0)) };
    file.set_len(BYTES).unwrap();
    file
}

/// A table of one region, as words.
const TABLE: [u64; 5] = [1, 0, BYTES, FRONT, 0];

#[test]
fn what_is_said_goes_over_with_its_descriptors_and_answers_come_back() {
    let played = Played::new();
    let (mut front, mut library) = played.comes();
    front.say(1, 1, &[], vec![]);
    let said = library.hears();
    assert_eq!((said.bytes, said.descriptors.len()), (message(1, 1, &[]), 0));
    // What is not offered is not told of.
    library.say(1, 5, &[u64::MAX], vec![]);
    assert_eq!(front.hears().bytes, message(1, 5, &[!NOT_OFFERED]));
    front.say(15, 1, &[], vec![]);
    library.hears();
    library.say(15, 5, &[u64::MAX], vec![]);
    assert_eq!(front.hears().bytes, message(15, 5, &[PROTOCOL_FEATURES]));
    let file = memory();
    front.say(5, 9, &TABLE, vec![file.try_clone().unwrap().into()]);
    let said = library.hears();
    assert_eq!(said.bytes, message(5, 9, &TABLE));
    let data = File::from(said.descriptors.into_iter().next().unwrap()).metadata().unwrap();
    assert_eq!(data.ino(), file.metadata().unwrap().ino());
    // Nobody has a use for RESET_OWNER, and it is answered where an answer is asked for.
    front.say(4, 9, &[], vec![]);
    assert_eq!(front.hears().bytes, message(4, 5, &[0]));
    assert!(library.hears_nothing());
    drop(front);
    assert!(library.is_left());
}

#[test]
fn what_features_a_peer_chose_is_known_as_long_as_it_is_there() {
    let played = Played::new();
    let chosen = played.guard.features();
    let (front, mut library) = played.comes();
    front.say(2, 1, &[GUEST_TSO4 | 1], vec![]);
    assert_eq!(library.hears().bytes, message(2, 1, &[GUEST_TSO4 | 1]));
    assert_eq!(chosen.load(Ordering::Relaxed), GUEST_TSO4 | 1);
    drop(front);
    assert!(library.is_left());
    assert_eq!(chosen.load(Ordering::Relaxed), 0);
}

#[test]
fn who_does_not_keep_to_the_rules_is_left_and_the_next_is_let_in() {
    let played = Played::new();
    for (request, words, descriptors) in [
        (32, vec![0, 0, 0], 1),
        (1, vec![], 1),
        (8, vec![255], 0),
        (12, vec![0], 1),
        (99, vec![], 0),
        (5, TABLE.to_vec(), 0),
    ] {
        let before = played.guard.refused();
        let (mut front, mut library) = played.comes();
        let descriptors = (0..descriptors).map(|_| eventfd().unwrap()).collect();
        front.say(request, 1, &words, descriptors);
        assert!(front.is_left() && library.is_left(), "{request}");
        assert_eq!(played.guard.refused(), before + 1);
    }
}

#[test]
fn half_of_a_message_is_kept_until_the_rest_comes() {
    let played = Played::new();
    let (front, mut library) = played.comes();
    let bytes = message(2, 1, &[7]);
    for end in 1..bytes.len() {
        assert!(say(&front.stream, &bytes[end - 1..end], &[]).unwrap());
        if end % 9 == 0 {
            assert!(library.hears_nothing());
        }
    }
    assert!(say(&front.stream, &bytes[bytes.len() - 1..], &[]).unwrap());
    assert_eq!(library.hears().bytes, bytes);
    // Who leaves in the midst of one leaves nothing.
    assert!(say(&front.stream, &bytes[..HEADER_BYTES + 3], &[]).unwrap());
    drop(front);
    assert!(library.is_left());
}

#[test]
fn there_is_one_peer_at_a_time() {
    let played = Played::new();
    let (front, mut library) = played.comes();
    let mut second = Side::of(UnixStream::connect(&played.path).unwrap());
    assert!(second.is_left());
    drop(front);
    assert!(library.is_left());
    // The library has not closed it yet: who comes waits.
    let third = Side::of(UnixStream::connect(&played.path).unwrap());
    third.say(1, 1, &[], vec![]);
    played.library.set_nonblocking(true).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    assert!(played.library.accept().is_err());
    played.library.set_nonblocking(false).unwrap();
    drop(library);
    let mut library = Side::of(played.library.accept().unwrap().0);
    assert_eq!(library.hears().bytes, message(1, 1, &[]));
}

#[test]
fn the_library_calls_by_an_eventfd_of_ours() {
    let played = Played::new();
    let (front, mut library) = played.comes();
    let theirs = eventfd().unwrap();
    let full = (u64::MAX - 1).to_ne_bytes();
    // SAFETY: eight octets of ours; a descriptor of ours, made to wait as a peer can make it.
    unsafe {
        libc::write(theirs.as_raw_fd(), full.as_ptr().cast(), 8);
        libc::fcntl(theirs.as_raw_fd(), libc::F_SETFL, 0);
    }
    front.say(13, 1, &[1], vec![theirs.try_clone().unwrap()]);
    let said = library.hears();
    let ours = said.descriptors.into_iter().next().unwrap();
    let call = || {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight octets of ours.
        assert_eq!(unsafe { libc::write(ours.as_raw_fd(), one.as_ptr().cast(), 8) }, 8);
    };
    // It never waits, however full the peer's is.
    (0..1000).for_each(|_| call());
    let mut count = [0u8; 8];
    // SAFETY: eight octets of ours.
    unsafe { libc::read(theirs.as_raw_fd(), count.as_mut_ptr().cast(), 8) };
    call();
    // SAFETY: as above; it waits until the guard signals.
    let read = unsafe { libc::read(theirs.as_raw_fd(), count.as_mut_ptr().cast(), 8) };
    assert_eq!(read, 8);
    // Without one: the library is told so.
    front.say(13, 1, &[0x101], vec![]);
    assert!(library.hears().descriptors.is_empty());
}

#[test]
fn who_takes_memory_away_is_left() {
    let played = Played::new();
    let (mut front, mut library) = played.comes();
    let file = memory();
    front.say(5, 1, &TABLE, vec![file.try_clone().unwrap().into()]);
    let theirs = library.hears().descriptors.into_iter().next().unwrap();
    let (access, nowhere) = (libc::PROT_READ | libc::PROT_WRITE, core::ptr::null_mut());
    // SAFETY: a new mapping, of memory of which the guard sees to what is gone.
    unsafe {
        let raw = theirs.as_raw_fd();
        let start = libc::mmap(nowhere, BYTES as usize, access, libc::MAP_SHARED, raw, 0);
        assert_ne!(start, libc::MAP_FAILED);
        file.set_len(4096).unwrap();
        let start = start.cast::<u8>();
        start.write_volatile(1);
        assert_eq!(start.add(8192).read_volatile(), 0);
    }
    assert!(front.is_left() && library.is_left());
    assert_eq!(played.guard.refused(), 1);
}

#[test]
fn a_guard_that_goes_takes_its_socket_along_and_no_others() {
    let played = Played::new();
    let (mut front, mut library) = played.comes();
    let Played { guard, path, .. } = &played;
    assert!(path.exists() && guard.refused() == 0);
    let path = path.clone();
    std::fs::remove_file(&path).unwrap();
    let another = UnixListener::bind(&path).unwrap();
    drop(played);
    assert!(front.is_left() && library.is_left());
    assert!(path.exists());
    drop(another);
    std::fs::remove_file(&path).unwrap();
    let played = Played::new();
    let path = played.path.clone();
    drop(played);
    assert!(!path.exists());
}

#[test]
fn who_asks_and_does_not_read_is_left() {
    let played = Played::new();
    let (front, mut library) = played.comes();
    let answers = std::thread::spawn(move || {
        let mut answered = 0u64;
        while let Ok(said) = library.hearing.hear(&library.stream) {
            if said.is_some() {
                answered += 1;
                let _ = say(&library.stream, &message(1, 5, &[0]), &[]);
            }
        }
        answered
    });
    front.stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let ask = message(1, 1, &[]);
    while std::io::Write::write_all(&mut &front.stream, &ask).is_ok() {}
    assert!(answers.join().unwrap() > 100);
    assert_eq!(played.guard.refused(), 1);
}
