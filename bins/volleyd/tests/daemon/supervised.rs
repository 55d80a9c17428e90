//! What whoever supervises the router hears of it, and says to it.

use crate::router::{PATIENCE, Router, get, write};
use std::os::unix::net::UnixDatagram;

/// A supervisor's end, and a router that it started.
struct Supervised {
    socket: UnixDatagram,
    router: Router,
}

impl Supervised {
    fn start(name: &str) -> Self {
        let mut socket = None;
        let router = Router::start(name, |folder, command| {
            let path = folder.join("notify");
            let bound = UnixDatagram::bind(&path).unwrap();
            bound.set_read_timeout(Some(PATIENCE)).unwrap();
            socket = Some(bound);
            command
                .env("NOTIFY_SOCKET", path)
                .env("WATCHDOG_USEC", "100000")
                .env_remove("WATCHDOG_PID");
        });
        Self { socket: socket.unwrap(), router }
    }

    /// The next thing it says of this kind.
    fn hears(&self, kind: &str) -> String {
        let mut said = [0; 256];
        loop {
            let length = match self.socket.recv(&mut said) {
                // Who was stopped waits anew.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                length => length.unwrap(),
            };
            let said = String::from_utf8_lossy(&said[..length]);
            if said.starts_with(kind) {
                return said.into_owned();
            }
        }
    }
}

#[test]
fn a_supervisor_hears_of_start_life_reload_and_end() {
    let mut supervised = Supervised::start("supervised");
    supervised.hears("READY=1");
    supervised.hears("WATCHDOG=1");
    supervised.hears("WATCHDOG=1");
    supervised.router.signal("-HUP");
    assert!(supervised.hears("RELOADING=1").contains("MONOTONIC_USEC="));
    supervised.hears("READY=1");
    supervised.router.signal("-TERM");
    supervised.hears("STOPPING=1");
    supervised.router.ends();
}

#[test]
fn a_hangup_applies_the_file_or_leaves_what_runs() {
    let supervised = Supervised::start("hangup");
    supervised.hears("READY=1");
    let mut stream = supervised.router.connect();
    let mut reloaded = |text: &str| {
        write(supervised.router.folder(), text);
        supervised.router.signal("-HUP");
        supervised.hears("RELOADING=1");
        supervised.hears("READY=1");
        let (_, events) = get(&mut stream, "/v1/events");
        let (_, config) = get(&mut stream, "/v1/config");
        (events, config)
    };
    let (events, config) = reloaded("[port.p1]\nkind = \"memory\"\n");
    assert!(events.contains("reloaded the configuration"), "{events}");
    assert!(config.contains("[port.p1]") && config.contains("\"unsaved\":false"), "{config}");
    let (events, config) = reloaded("[port.p2]\nkind = \"nonsense\"\n");
    assert!(
        events.contains("not reloaded, what ran runs on") && events.contains("nonsense"),
        "{events}"
    );
    assert!(config.contains("[port.p1]") && !config.contains("[port.p2]"), "{config}");
}
