//! A guard that connects to a front end that listens.

use super::*;

/// A guard that calls a path, at which nothing is, and the library behind it.
struct Called {
    guard: Guard,
    path: PathBuf,
    library: UnixListener,
}

impl Called {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("vhost-called-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let inside = path.with_extension("inside");
        let library = UnixListener::bind(&inside).unwrap();
        let guard = Guard::connect(&path, Inside::hidden(&inside).unwrap(), 2).unwrap();
        assert!(!inside.exists());
        Self { guard, path, library }
    }

    fn tells(&self, what: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        while !self.guard.problem().unwrap_or_default().contains(what) {
            assert!(Instant::now() < end, "{:?}, not {what}", self.guard.problem());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Both ends of the next connection.
    fn meets(&self, listener: &UnixListener) -> (Side, Side) {
        let front = Side::of(listener.accept().unwrap().0);
        (front, Side::of(self.library.accept().unwrap().0))
    }
}

#[test]
fn it_comes_when_somebody_listens_and_again_when_that_was_gone() {
    let called = Called::new();
    called.tells("No such file");
    for _ in 0..2 {
        let listener = UnixListener::bind(&called.path).unwrap();
        // Who listens is left, or ends, and goes on listening.
        for _ in 0..2 {
            let (mut front, mut library) = called.meets(&listener);
            front.say(1, 1, &[], vec![]);
            assert_eq!(library.hears().bytes, message(1, 1, &[]));
            library.say(1, 5, &[u64::MAX], vec![]);
            assert_eq!(front.hears().bytes, message(1, 5, &[!NOT_OFFERED]));
            assert_eq!(called.guard.problem(), None);
            let file = memory();
            front.say(5, 9, &TABLE, vec![file.try_clone().unwrap().into()]);
            assert_eq!(library.hears().descriptors.len(), 1);
            drop(front);
            assert!(library.is_left());
        }
        drop(listener);
        // A socket that a killed machine left.
        called.tells("Connection refused");
        std::fs::remove_file(&called.path).unwrap();
        called.tells("No such file");
    }
    assert_eq!(called.guard.refused(), 0);
}

#[test]
fn what_is_no_socket_is_told_and_stays() {
    let called = Called::new();
    std::fs::write(&called.path, "a file").unwrap();
    called.tells("it is no socket");
    std::fs::remove_file(&called.path).unwrap();
    called.tells("No such file");
    std::fs::create_dir(&called.path).unwrap();
    called.tells("it is no socket");
    std::fs::remove_dir(&called.path).unwrap();
    let _other = std::os::unix::net::UnixDatagram::bind(&called.path).unwrap();
    called.tells("wrong type");
    let path = called.path.clone();
    drop(called);
    assert!(path.exists());
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn who_talks_nonsense_is_left_told_of_and_called_again() {
    let called = Called::new();
    let listener = UnixListener::bind(&called.path).unwrap();
    for round in 1..4 {
        let (mut front, mut library) = called.meets(&listener);
        front.say(99, 1, &[], vec![]);
        assert!(front.is_left() && library.is_left());
        called.tells("was turned away: message 99 is not taken");
        assert_eq!(called.guard.refused(), round);
    }
    // Half of a message, and no more: nobody waits for the rest, and the port can be closed.
    let (front, mut library) = called.meets(&listener);
    assert!(say(&front.stream, &message(2, 1, &[7])[..15], &[]).unwrap());
    assert!(library.hears_nothing());
    let path = called.path.clone();
    let begun = Instant::now();
    drop(called);
    assert!(begun.elapsed() < PATIENCE);
    assert!(library.is_left());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn who_takes_and_drops_connections_is_not_called_without_end() {
    let called = Called::new();
    let listener = UnixListener::bind(&called.path).unwrap();
    listener.set_nonblocking(true).unwrap();
    called.library.set_nonblocking(true).unwrap();
    let (begun, mut taken) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(1) {
        taken += usize::from(listener.accept().is_ok());
        drop(called.library.accept());
        std::thread::sleep(Duration::from_millis(1));
    }
    // 20, 40, 80, 160, 320 and 640 ms are more than that, and it waits for its own first try.
    assert!((1..=8).contains(&taken), "{taken}");
    std::fs::remove_file(&called.path).unwrap();
}
