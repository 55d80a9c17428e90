//! Sessions over TCP, of whoever runs the tests.

use super::*;
use netlink::{Kind, Request};
use std::io::Write;
use std::net::IpAddr;

/// What a test waits for at most.
const PATIENCE: Duration = Duration::from_secs(20);

struct Listening {
    fpm: Fpm,
    now: Vec<u8>,
}

/// Listens to processes of ours, or of this user instead.
fn listen(hold: Duration, user: Option<u32>) -> Listening {
    let user = user.unwrap_or_else(|| rustix::process::geteuid().as_raw());
    let options = FpmOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        namespace: Namespace::default(),
        hold,
        users: vec![user.to_string()],
        from: Vec::new(),
    };
    Listening {
        fpm: Fpm::start(&options, Recalled::default(), Arc::new(|| ())).unwrap(),
        now: Vec::new(),
    }
}

impl Listening {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.fpm.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Waits until these networks, 10.0.N.0/24, and no others have routes.
    fn until(&mut self, routes: &[u8]) {
        let end = Instant::now() + PATIENCE;
        while self.now != routes {
            for update in self.fpm.next_slice().into_iter().flatten() {
                let Update::Route(key, leads) = update else { panic!("{update:?}") };
                let IpAddr::V4(network) = key.address else { panic!("{key:?}") };
                let third = network.octets()[2];
                self.now.retain(|it| *it != third);
                self.now.extend(leads.map(|_| third));
                self.now.sort_unstable();
            }
            assert!(Instant::now() < end, "{:?} instead of {routes:?}", self.now);
            std::thread::sleep(PAUSE);
        }
    }

    fn until_sessions(&self, sessions: u64) {
        let end = Instant::now() + PATIENCE;
        while self.fpm.state().sessions != sessions {
            assert!(Instant::now() < end, "{:?}", self.fpm.state());
            std::thread::sleep(PAUSE);
        }
    }
}

fn tell(stream: &mut TcpStream, third: u8) {
    let blackhole = [2, 24, 0, 0, 254, 186, 0, 6, 0, 0, 0, 0];
    let route = Request::new(Kind::NEW_ROUTE, 0, &blackhole).with(1, &[10, 0, third, 0]).finish(0);
    let length = (fpm::HEADER + route.len()) as u16;
    stream.write_all(&[&[1, 1], &length.to_be_bytes()[..], &route].concat()).unwrap();
}

/// Whether the other end is closed without a word.
fn is_turned_away(mut stream: TcpStream) -> bool {
    matches!(stream.read(&mut [0]), Ok(0) | Err(_))
}

#[test]
fn a_newcomer_does_not_take_the_place_of_a_session() {
    let mut listening = listen(Duration::from_secs(3600), None);
    let mut zebra = listening.connect();
    tell(&mut zebra, 1);
    listening.until(&[1]);
    assert!(is_turned_away(listening.connect()));
    tell(&mut zebra, 2);
    listening.until(&[1, 2]);
    assert_eq!(listening.fpm.state().sessions, 1);
}

#[test]
fn processes_of_other_users_are_turned_away() {
    let listening = listen(Duration::ZERO, Some(rustix::process::geteuid().as_raw() + 1));
    assert!(is_turned_away(listening.connect()));
    assert_eq!(listening.fpm.state(), FpmState::default());
}

#[test]
fn routes_stay_until_the_next_session_has_spoken() {
    let hold = Duration::from_secs(1);
    let mut listening = listen(hold, None);
    let mut zebra = listening.connect();
    tell(&mut zebra, 1);
    listening.until(&[1]);
    drop(zebra);
    let mut silent = listening.connect();
    listening.until_sessions(2);
    std::thread::sleep(hold);
    // The thread turns with each that it turns away: it would have swept.
    assert!(is_turned_away(listening.connect()));
    assert_eq!(listening.fpm.state().routes, 1);
    tell(&mut silent, 2);
    listening.until(&[2]);
}

#[test]
fn what_the_next_session_does_not_tell_again_goes() {
    let mut listening = listen(Duration::from_millis(500), None);
    let mut zebra = listening.connect();
    for third in [1, 2] {
        tell(&mut zebra, third);
    }
    listening.until(&[1, 2]);
    drop(zebra);
    let mut zebra = listening.connect();
    tell(&mut zebra, 2);
    tell(&mut zebra, 3);
    listening.until(&[2, 3]);
    drop(zebra);
    listening.until(&[]);
}
