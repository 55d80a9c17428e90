//! Leases by DHCP (RFC 2131) through a device that relays them: the lab plays the clients at the
//! first link and their server behind the second, and sees to it that each message arrives as a
//! relay has to hand it on (RFC 1542, section 4.1).
//!
//! ```text
//!        client 0.0.0.0:68               relay                  server 198.18.1.2:67
//!  there   DISCOVER ──▶ 255.255.255.255:67 │ ── DISCOVER, a hop more, ──▶        from the relay's address there
//!                                          │    giaddr 198.18.0.1
//!  back                   OFFER to ◀────── │ ◀── OFFER to 198.18.0.1:67
//!           yiaddr 198.18.0.100:68
//! ```
//! A relay keeps nothing of a message, so either way is checked by itself. Behind the end of its
//! options a message is filled up; there stand number and time, as in every test frame.

use std::net::{IpAddr, Ipv4Addr};

use lab_traffic::Rate;
use lab_traffic::arrivals::Imix;
use lab_traffic::{Header, Stream};
use wire::MacAddr;

use super::entries;
use crate::link::{DEVICE_MACS, LAB_MACS};

const CLIENT_PORT: u16 = 68;
const SERVER_PORT: u16 = 67;
/// The address that the server offers.
const OFFERED: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 100);
/// The address of a relay that is none of the device's.
const OTHER_RELAY: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 99);
/// A message that made so many hops is dropped by every relay (RFC 1542, section 4.1.1).
const TOO_MANY_HOPS: u8 = 17;
/// Room for the headers and a message of 300 octets, the least that every relay takes (RFC 1542,
/// section 2.1), with checksum.
const SMALLEST_FRAME_BYTES: u16 = 14 + 20 + 8 + 300 + 4;

/// What a message does, by its `op`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A DISCOVER.
    Request = 1,
    /// An OFFER.
    Reply = 2,
}

/// A message, as far as they differ.
#[derive(Clone, Copy)]
struct Message {
    kind: Kind,
    hops: u8,
    /// `giaddr`: the relay.
    relay: Ipv4Addr,
}

impl Message {
    /// RFC 2131, section 2, and the options by RFC 2132.
    fn header(self) -> Header {
        let mut octets = vec![0; 236];
        // By Ethernet, addresses of 6 octets.
        octets[..4].copy_from_slice(&[self.kind as u8, 1, 6, self.hops]);
        octets[4..8].copy_from_slice(b"lab!");
        if self.kind == Kind::Reply {
            octets[16..20].copy_from_slice(&OFFERED.octets());
        }
        octets[24..28].copy_from_slice(&self.relay.octets());
        octets[28..34].copy_from_slice(&LAB_MACS[0].0);
        octets.extend([99, 130, 83, 99]);
        match self.kind {
            Kind::Request => octets.extend([53, 1, 1]),
            Kind::Reply => {
                octets.extend([53, 1, 2, 54, 4]);
                octets.extend(server().octets());
                octets.extend([51, 4, 0, 0, 14, 16]);
            }
        }
        octets.push(255);
        Header::Message { octets }
    }
}

/// The DHCP server's address, the lab's behind the second link.
pub fn server() -> Ipv4Addr {
    ip4(entries::lab_address(false, 1))
}

fn relay() -> Ipv4Addr {
    ip4(entries::device_address(false, 0))
}

fn ip4(address: IpAddr) -> Ipv4Addr {
    match address {
        IpAddr::V4(address) => address,
        IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
    }
}

fn stream(
    name: &str,
    [source, destination]: [MacAddr; 2],
    [from, to]: [(Ipv4Addr, u16); 2],
    message: Message,
    sizes: &Imix,
    rate: Rate,
) -> Stream {
    let headers = vec![
        Header::Ethernet { source, destination, ethertype: None },
        Header::Ipv4 { source: from.0, destination: to.0, ttl: 64, dscp: 0 },
        Header::Udp { source_port: from.1, destination_port: to.1 },
        message.header(),
    ];
    Stream::new(name, headers, sizes.at_least(SMALLEST_FRAME_BYTES), rate)
}

fn asking(name: &str, message: Message, sizes: &Imix, rate: Rate) -> Stream {
    let client = (Ipv4Addr::UNSPECIFIED, CLIENT_PORT);
    let all = (Ipv4Addr::BROADCAST, SERVER_PORT);
    stream(name, [LAB_MACS[0], MacAddr([0xff; 6])], [client, all], message, sizes, rate)
}

fn answering(name: &str, message: Message, sizes: &Imix, rate: Rate) -> Stream {
    let ends = [(server(), SERVER_PORT), (relay(), SERVER_PORT)];
    stream(name, [LAB_MACS[1], DEVICE_MACS[1]], ends, message, sizes, rate)
}

const DISCOVER: Message = Message { kind: Kind::Request, hops: 0, relay: Ipv4Addr::UNSPECIFIED };

fn offer(relay: Ipv4Addr) -> Message {
    Message { kind: Kind::Reply, hops: 1, relay }
}

/// What a client asks, at the first link.
pub(crate) fn there(sizes: &Imix, rate: Rate) -> Stream {
    asking("there", DISCOVER, sizes, rate)
}

/// What the server answers, at the second.
pub(crate) fn back(sizes: &Imix, rate: Rate) -> Stream {
    answering("back", offer(relay()), sizes, rate)
}

/// What must come out at `side`.
pub(crate) fn emerging(sizes: &Imix, rate: Rate, side: usize) -> Stream {
    let macs = [DEVICE_MACS[side], LAB_MACS[side]];
    if side == 0 {
        let ends = [(relay(), SERVER_PORT), (OFFERED, CLIENT_PORT)];
        return stream("back", macs, ends, offer(relay()), sizes, rate);
    }
    let from = ip4(entries::device_address(false, 1));
    let ends = [(from, SERVER_PORT), (server(), SERVER_PORT)];
    let relayed = Message { hops: 1, relay: relay(), ..DISCOVER };
    stream("there", macs, ends, relayed, sizes, rate)
}

/// What no relay hands on, and at which link it is sent.
pub(crate) fn kept_out(sizes: &Imix, rate: Rate) -> [(Stream, usize); 3] {
    let wanderer = Message { hops: TOO_MANY_HOPS, ..DISCOVER };
    [
        (asking("of too many hops", wanderer, sizes, rate), 0),
        (asking("an answer from among the clients", offer(relay()), sizes, rate), 0),
        (answering("back to another relay", offer(OTHER_RELAY), sizes, rate), 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_traffic::template::Template;

    /// A message as `described`, which knows nothing of this file.
    fn described(stream: &Stream) -> String {
        let frame = Template::new(stream, stream.frame_bytes.sequence()[0]).unwrap();
        wire::describe::frame(frame.bytes()).to_string()
    }

    #[test]
    fn messages_are_as_long_as_every_relay_takes_them_and_say_who_speaks() {
        let sizes = Imix::single(84);
        let rate = Rate::Pps(1.0);
        let told = [
            there(&sizes, rate),
            emerging(&sizes, rate, 1),
            back(&sizes, rate),
            emerging(&sizes, rate, 0),
        ]
        .map(|stream| described(&stream));
        let ends = [
            "0.0.0.0 > 255.255.255.255 ttl 64 len 328 UDP 68 > 67",
            "198.18.1.1 > 198.18.1.2 ttl 64 len 328 UDP 67 > 67",
            "198.18.1.2 > 198.18.0.1 ttl 64 len 328 UDP 67 > 67",
            "198.18.0.1 > 198.18.0.100 ttl 64 len 328 UDP 67 > 68",
        ];
        for (told, ends) in told.iter().zip(ends) {
            assert!(told.contains(ends), "{told}");
        }
    }

    #[test]
    fn a_relay_adds_a_hop_and_its_address_and_changes_nothing_else() {
        let octets = |stream: &Stream| match &stream.headers[3] {
            Header::Message { octets } => octets.clone(),
            _ => panic!("no message"),
        };
        let (sizes, rate) = (Imix::single(400), Rate::Pps(1.0));
        let (asked, relayed) = (octets(&there(&sizes, rate)), octets(&emerging(&sizes, rate, 1)));
        let changed: Vec<usize> = (0..asked.len()).filter(|&at| asked[at] != relayed[at]).collect();
        assert_eq!(changed, [3, 24, 25, 27]);
        assert_eq!((relayed[3], &relayed[24..28]), (1, &[198, 18, 0, 1][..]));
        assert_eq!(octets(&back(&sizes, rate)), octets(&emerging(&sizes, rate, 0)));
    }
}
