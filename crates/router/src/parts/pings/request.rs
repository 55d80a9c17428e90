//! The requests of one course, as they go out.

use super::way::Begins;
use nodes::tables::{EchoHeard, EchoSaid, VrfId};
use std::net::IpAddr;
use wire::craft;

/// Who asks whom, and how.
pub(super) struct Asking {
    pub(super) identifier: u16,
    pub(super) source: IpAddr,
    pub(super) target: IpAddr,
    pub(super) vrf: VrfId,
    /// The interface whose neighbour a link-local address is.
    pub(super) port: Option<u16>,
    /// The interface that requests are sent as of.
    pub(super) rx: u16,
    pub(super) df: bool,
    data: Vec<u8>,
    identification: u32,
}

impl Asking {
    /// Requests with so many octets of data, which count up.
    pub(super) fn new(
        begins: Begins,
        target: IpAddr,
        size: u16,
        df: bool,
        identification: u32,
    ) -> Self {
        let Begins { source, vrf, port, rx } = begins;
        let data = (0..size).map(|at| at as u8).collect();
        Self { identifier: 0, source, target, vrf, port, rx, df, data, identification }
    }

    /// Of what is sent next, as each packet's differs (RFC 6864 section 4).
    pub(super) fn next_identification(&mut self) -> u32 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }

    /// A request, from its IP header on, as it enters the lookup: a hop is counted as it leaves.
    pub(super) fn packet(&mut self, sequence: u16, ttl: u8) -> Vec<u8> {
        let (identification, ttl) = (self.next_identification() as u16, ttl.saturating_add(1));
        match (self.source, self.target) {
            (IpAddr::V4(source), IpAddr::V4(target)) => {
                let packet = craft::ipv4(source, target).ttl(ttl).identification(identification);
                let packet = if self.df { packet.dont_fragment() } else { packet };
                packet.icmp_echo(self.identifier, sequence).payload(&self.data).build()
            }
            (IpAddr::V6(source), IpAddr::V6(target)) => {
                let packet = craft::ipv6(source, target).hop_limit(ttl);
                packet.icmp_echo(self.identifier, sequence).payload(&self.data).build()
            }
            // Both are of one family: that is looked at when it begins.
            _ => Vec::new(),
        }
    }

    /// Whether something is said of one of these.
    pub(super) fn is_about(&self, heard: &EchoHeard) -> bool {
        let answers = matches!(heard.said, EchoSaid::Error { .. }) || heard.from == self.target;
        answers && (heard.source, heard.target) == (self.source, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{ipv4, ipv6};

    fn asking(source: &str, target: &str, size: u16, df: bool) -> Asking {
        let begins =
            Begins { source: source.parse().unwrap(), vrf: VrfId::DEFAULT, port: None, rx: 3 };
        let asking = Asking::new(begins, target.parse().unwrap(), size, df, 6);
        Asking { identifier: 7, ..asking }
    }

    #[test]
    fn a_request_is_the_crafted_one() {
        let mut asking4 = asking("192.0.2.1", "10.0.0.9", 3, true);
        let expected = craft::ipv4([192, 0, 2, 1], [10, 0, 0, 9]).ttl(10).identification(7);
        let expected = expected.dont_fragment().icmp_echo(7, 5).payload(&[0, 1, 2]).build();
        assert_eq!(asking4.packet(5, 9), expected);
        let mut asking6 = asking("2001:db8::1", "2001:db8::9", 300, false);
        let packet = asking6.packet(5, 9);
        let header = ipv6::Header::new(&packet).unwrap();
        assert_eq!((header.hop_limit(), packet.len()), (10, 40 + 8 + 300));
        assert_eq!((packet[48], packet[48 + 255], packet[48 + 256]), (0, 255, 0));
        assert_eq!(asking("::1", "10.0.0.9", 3, false).packet(1, 1), [0; 0]);
    }

    #[test]
    fn each_packet_has_an_identification_of_its_own_and_may_be_cut_unless_that_is_forbidden() {
        let mut asking = asking("192.0.2.1", "10.0.0.9", 3, false);
        let numbers = [1, 2].map(|sequence| {
            let packet = asking.packet(sequence, 64);
            let header = ipv4::Header::new(&packet).unwrap();
            (header.identification(), header.dont_fragment())
        });
        assert_eq!(numbers, [(7, false), (8, false)]);
    }

    #[test]
    fn an_answer_comes_from_whom_was_asked_and_an_error_from_anybody() {
        let asking = asking("192.0.2.1", "10.0.0.9", 3, false);
        let heard = |source: &str, target: &str, from: &str, said| EchoHeard {
            interface: 0,
            source: source.parse().unwrap(),
            target: target.parse().unwrap(),
            identifier: 7,
            sequence: 1,
            from: from.parse().unwrap(),
            ttl: 64,
            said,
            heard_tsc: 0,
        };
        let (reply, error) =
            (EchoSaid::Reply { bytes: 8 }, EchoSaid::Error { cause: 0x0b00, rest: 0 });
        assert!(asking.is_about(&heard("192.0.2.1", "10.0.0.9", "10.0.0.9", reply)));
        assert!(asking.is_about(&heard("192.0.2.1", "10.0.0.9", "10.0.0.8", error)));
        assert!(!asking.is_about(&heard("192.0.2.1", "10.0.0.9", "10.0.0.8", reply)));
        assert!(!asking.is_about(&heard("192.0.2.2", "10.0.0.9", "10.0.0.9", reply)));
        assert!(!asking.is_about(&heard("192.0.2.1", "10.0.0.8", "10.0.0.8", error)));
    }
}
