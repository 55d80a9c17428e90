//! A bridge of the kernel's through which a routing daemon and we tell each other who is where. No
//! packet passes it.
//!
//! ```text
//!  ours: stations ── netlink ──▶ tap ┐
//!                                    ├ bridge ── zebra ── bgpd ── EVPN
//!  ours ◀── watch ── netlink ── vxlan┘
//! ```
//! The VXLAN link stands on the tap, and that is there for as long as its file: if we end, however,
//! the daemon sees it go and takes back what it said of our stations.

mod watch;

pub use watch::{Watch, Watched};

use crate::rtnetlink::Conversation;
use crate::{KernelError, Namespace, tap};
use netlink::bridge::{self, Vxlan};
use netlink::{Kind, Messages, Request, link, neighbor, vrf};
use rustix::io::Errno;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// What is noted about a bridge of ours: one that we left behind is made anew.
const OURS: &str = "a mailbox of volley's";
/// VXLAN's own port is left to who sends packets.
const UDP_PORT: u16 = 14_789;

/// What a mailbox is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailboxOptions {
    /// Where it is.
    pub namespace: Namespace,
    /// The bridge's name.
    pub bridge: String,
    /// The network identifier.
    pub vni: u32,
    /// Our end of the tunnel.
    pub local: IpAddr,
    /// The kernel's number of the VRF that the bridge is in, if that is not the default one.
    pub vrf: Option<u32>,
    /// The bridge's MAC address, which is the router's where routes are told; else any.
    pub mac: Option<[u8; 6]>,
}

/// See the module. Dropped, it goes.
pub struct Mailbox {
    conversation: Conversation,
    /// The links go with it: it is closed before the bridge is removed.
    tap: Option<OwnedFd>,
    bridge: u32,
    stations: u32,
    remotes: u32,
}

impl Mailbox {
    /// Makes one.
    pub fn make(options: &MailboxOptions) -> Result<Self, KernelError> {
        options.namespace.run(|| Self::make_here(options))?
    }

    fn make_here(options: &MailboxOptions) -> Result<Self, KernelError> {
        let MailboxOptions { bridge: name, vni, local, vrf: into, mac, .. } = options;
        let (below, remotes) = (format!("sta{vni}"), format!("vni{vni}"));
        let mut conversation = Conversation::open().map_err(KernelError::Thread)?;
        remove_left_behind(&mut conversation, name)?;
        ask(&mut conversation, name, "make a bridge", bridge::add(name, *mac))?;
        let index = index_of(&mut conversation, name)?;
        // Whatever fails from here on, dropping it removes what was made.
        let mut made = Self { conversation, tap: None, bridge: index, stations: 0, remotes: 0 };
        if into.is_some() {
            made.ask(name, "set the VRF", vrf::put(index, *into))?;
        }
        made.ask(name, "note whose it is", bridge::note(index, OURS))?;
        let file = tap::open(&below).map_err(|why| match Errno::from_io_error(&why) {
            Some(Errno::BUSY | Errno::EXIST | Errno::INVAL) => KernelError::Taken(below.clone()),
            _ => KernelError::Tap { name: below.clone(), why },
        })?;
        made.tap = Some(file);
        made.stations = index_of(&mut made.conversation, &below)?;
        let vxlan = Vxlan {
            name: &remotes,
            vni: *vni,
            local: *local,
            over: made.stations,
            udp_port: UDP_PORT,
        };
        made.ask(&remotes, "make a VXLAN link", bridge::add_vxlan(&vxlan))?;
        made.remotes = index_of(&mut made.conversation, &remotes)?;
        for (port, name) in [(made.stations, &below), (made.remotes, &remotes)] {
            // A kernel without IPv6 has no such setting, and makes no address either.
            let _no_ip6 = made.conversation.ask(link::no_own_ip6(port));
            made.ask(name, "take it into the bridge", bridge::join(port, index))?;
            made.ask(name, "keep it still", bridge::keep_still(port))?;
            made.ask(name, "set it up", bridge::set_up(port))?;
        }
        let _no_ip6 = made.conversation.ask(link::no_own_ip6(index));
        made.ask(name, "set it up", bridge::set_up(index))?;
        Ok(made)
    }

    /// Whether it is there still: nobody removed a link of it.
    pub fn is_there(&mut self) -> bool {
        let links = [self.bridge, self.stations, self.remotes];
        links.into_iter().all(|index| self.conversation.ask(bridge::get(index)).is_ok())
    }

    /// The kernel's number of the bridge, which is the link that its neighbours are on.
    pub fn bridge(&self) -> u32 {
        self.bridge
    }

    /// The kernel's number of the port that our stations are behind.
    pub fn stations(&self) -> u32 {
        self.stations
    }

    /// The kernel's number of the port that others' stations are behind.
    pub fn remotes(&self) -> u32 {
        self.remotes
    }

    /// A station of ours is there.
    pub fn add_station(&mut self, mac: [u8; 6], is_sticky: bool) -> io::Result<()> {
        self.tell(neighbor::add_station(self.stations, mac, is_sticky))
    }

    /// It is not any more.
    pub fn remove_station(&mut self, mac: [u8; 6]) -> io::Result<()> {
        self.tell(neighbor::remove_station(self.stations, mac))
    }

    /// A station of ours has an address.
    pub fn add_address(&mut self, address: IpAddr, mac: [u8; 6], router: bool) -> io::Result<()> {
        self.tell(neighbor::add(self.bridge, address, mac, router))
    }

    /// Nobody has it any more.
    pub fn remove_address(&mut self, address: IpAddr) -> io::Result<()> {
        self.tell(neighbor::remove(self.bridge, address))
    }

    /// Takes a station of another's out: the daemon puts it back if it still means it.
    pub fn ask_station(&mut self, mac: [u8; 6]) -> io::Result<()> {
        self.tell(neighbor::remove_station(self.remotes, mac))
    }

    /// The same with an end that is flooded to.
    pub fn ask_flood(&mut self, to: IpAddr) -> io::Result<()> {
        self.tell(neighbor::remove_remote(self.remotes, [0; 6], to))
    }

    /// Where a station was goes as well.
    pub fn remove_remote(&mut self, mac: [u8; 6], to: IpAddr) -> io::Result<()> {
        self.tell(neighbor::remove_remote(self.remotes, mac, to))
    }

    fn tell(&mut self, request: Request) -> io::Result<()> {
        self.conversation.ask(request).map(drop)
    }

    fn ask(&mut self, name: &str, what: &str, request: Request) -> Result<(), KernelError> {
        ask(&mut self.conversation, name, what, request)
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.tap = None;
        // One that is gone already is what was wanted.
        let _gone = self.conversation.ask(bridge::remove(self.bridge));
    }
}

fn ask(
    conversation: &mut Conversation,
    name: &str,
    what: &str,
    request: Request,
) -> Result<(), KernelError> {
    conversation.ask(request).map(drop).map_err(|why| match Errno::from_io_error(&why) {
        Some(Errno::EXIST) => KernelError::Taken(name.to_owned()),
        _ => KernelError::Refused { what: what.to_owned(), name: name.to_owned(), why },
    })
}

fn index_of(conversation: &mut Conversation, name: &str) -> Result<u32, KernelError> {
    let refused = |why| KernelError::Refused { what: "tell".into(), name: name.to_owned(), why };
    conversation.index_of(name).map_err(refused)
}

/// A bridge of ours that we could not remove, having been ended without a word.
fn remove_left_behind(conversation: &mut Conversation, name: &str) -> Result<(), KernelError> {
    let Ok(answers) = conversation.ask(link::get(name)) else { return Ok(()) };
    let told = Messages::new(&answers).filter_map(Result::ok);
    let left = told.filter(|message| message.kind == Kind::NEW_LINK).find_map(|message| {
        let is_ours = bridge::noted_of(&message).ok()? == Some(OURS);
        link::index_of(&message).ok().filter(|_| is_ours)
    });
    match left {
        Some(index) => ask(conversation, name, "remove what was left", bridge::remove(index)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink::neighbor::About;

    const STATION: [u8; 6] = [6, 0, 0, 0, 0, 1];

    /// A namespace of the test's own; none where it may make none.
    fn space() -> Option<String> {
        let name = format!("vly-{}-mail", std::process::id());
        let made = std::process::Command::new("ip").args(["netns", "add", &name]).status();
        made.is_ok_and(|status| status.success()).then_some(name)
    }

    #[test]
    fn what_is_put_into_a_mailbox_is_seen_in_it_and_one_left_behind_is_made_anew() {
        let Some(space) = space() else { return };
        let namespace = Namespace::new(Some(&space));
        let options = MailboxOptions {
            namespace: namespace.clone(),
            bridge: "lan".into(),
            vni: 7,
            local: "192.0.2.1".parse().unwrap(),
            vrf: None,
            mac: Some([2, 0, 0, 0, 0, 7]),
        };
        let outcome = std::panic::catch_unwind(|| {
            let mut watch = Watch::open(&namespace).unwrap();
            let mut mailbox = Mailbox::make(&options).unwrap();
            mailbox.add_station(STATION, false).unwrap();
            let address = "10.0.0.1".parse().unwrap();
            mailbox.add_address(address, STATION, false).unwrap();
            let seen = |watched: Watched| match watched {
                Watched::Changes(changes) => changes,
                Watched::All(_) => panic!("nothing is missed of so little"),
            };
            let changes = seen(watch.look().unwrap());
            let station = changes.iter().find(|it| it.about == About::Station(STATION)).unwrap();
            assert_eq!(station.link, mailbox.stations());
            let about = About::Neighbor(address, Some(STATION));
            let neighbor = changes.iter().find(|it| it.about == about).unwrap();
            assert_eq!((neighbor.link, neighbor.is_new), (mailbox.bridge(), true));
            let all = watch.all().unwrap();
            assert!(all.iter().any(|it| it.about == About::Station(STATION)));
            assert!(all.iter().any(|it| it.about == about));
            // Another of the name is refused while it is there, but for one that was left behind.
            mailbox.tap = None;
            let left = mailbox.bridge;
            std::mem::forget(mailbox);
            let again = Mailbox::make(&options).unwrap();
            assert_ne!(again.bridge(), left);
            drop(again);
            assert!(
                namespace.run(|| Conversation::open().unwrap().index_of("lan")).unwrap().is_err()
            );
        });
        let _removed = std::process::Command::new("ip").args(["netns", "del", &space]).status();
        outcome.unwrap();
    }
}
