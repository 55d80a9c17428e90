//! Takes echo requests to all stations of a link for ones to us, where they are to be answered
//! (RFC 1122 section 3.2.2.6): each gets our address in place of the broadcast's, so that what
//! comes behind sees nothing unusual, and the answer is from a host.
//!
//! ```text
//!  ethernet_input ─▶ icmp4_broadcast ─▶ ip4_input ─▶ … ─▶ icmp4_echo
//! ```

use crate::ip::sum_ip4_header;
use crate::tables::{Interface, Interfaces, Setup};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use wire::ip::protocol;
use wire::{checksum, icmp4, ipv4};

/// See the module.
pub struct Icmp4Broadcast {
    interfaces: Published<Interfaces>,
}

graph::exits! {
    /// Whether it is one.
    pub enum Exit {
        /// To us now.
        Input => node "ip4-input",
        /// To all, and no echo request that we answer.
        NotForUs => drop "Nothing: hosts of the link speak to each other, DHCP for one.",
    }
}

impl Node for Icmp4Broadcast {
    const NAME: &'static str = "icmp4-broadcast";
    const ABOUT: &'static str = "takes echo requests to all stations for ones to us";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone() }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        exits.each(frame, |packet| {
            let row = interfaces.get(packet.rx()).filter(|row| row.routes);
            match row.and_then(|row| take(packet, row)) {
                Some(()) => Exit::Input,
                None => Exit::NotForUs,
            }
        });
    }
}

/// Makes an echo request to all one to us.
fn take(packet: &mut PacketView<'_>, row: &Interface) -> Option<()> {
    let bytes = packet.header();
    let header = ipv4::Header::new(bytes).filter(|header| header.version() == 4)?;
    let length = header.header_len();
    // What is wrong stays wrong: a checksum made anew would hide it.
    let is_good = bytes.get(..length).is_some_and(checksum::is_valid);
    let message = bytes.get(length..).and_then(icmp4::Header::new)?;
    let is_echo = header.protocol() == protocol::ICMP4
        && !header.is_fragment()
        && message.message_type() == icmp4::message::ECHO_REQUEST;
    if !is_good || !is_echo || !is_to_all(row, header.destination()) {
        return None;
    }
    let own = row.ip4_towards(header.source())?;
    ipv4::HeaderMut::new(packet.header_mut())?.set_destination(own);
    sum_ip4_header(&mut packet.header_mut()[..length]);
    Some(())
}

/// RFC 919: the broadcast address of the link, or of a network that is on it.
fn is_to_all(row: &Interface, destination: u32) -> bool {
    let is_last = |&(own, length): &(u32, u8)| {
        let hosts = u32::MAX.checked_shr(length.into()).unwrap_or(0);
        hosts > 1 && length > 0 && destination == own | hosts
    };
    destination == u32::MAX || row.ip4.iter().any(is_last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR, HOST, US, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn run(packet: Vec<u8>) -> (String, Vec<u8>) {
        let mut node = NodeHarness::<Icmp4Broadcast>::new(&World::new().setup).unwrap();
        let out = node.run(&[packet], 0, 0).remove(0);
        (out.exit, out.header)
    }

    #[test]
    fn an_echo_request_to_all_is_one_to_us() {
        let to = |all| craft::ipv4(HOST, all).icmp_echo(7, 3).payload(b"who is there").build();
        for all in [[255; 4], [192, 0, 2, 255]] {
            assert_eq!(run(to(all)), ("input".to_owned(), to(US)));
        }
        let with_options =
            |all| craft::ipv4(HOST, all).option(148, &[0, 0]).icmp_echo(7, 3).build();
        assert_eq!(run(with_options([255; 4])), ("input".to_owned(), with_options(US)));
    }

    #[test]
    fn nothing_else_to_all_is_changed() {
        let wrong_sum = craft::ipv4(HOST, [255; 4]).checksum(9).icmp_echo(1, 1).build();
        for packet in [
            craft::ipv4(HOST, [255; 4]).udp(68, 67).build(),
            craft::ipv4(HOST, [255; 4]).icmp_echo_reply(1, 1).build(),
            craft::ipv4(HOST, [255; 4]).fragment(0, true).icmp_echo(1, 1).build(),
            craft::ipv4(HOST, [198, 51, 100, 255]).icmp_echo(1, 1).build(),
            craft::ipv4(HOST, FAR).icmp_echo(1, 1).build(),
            craft::ipv4(HOST, [255; 4]).build(),
            wrong_sum,
            vec![0x45; 12],
            Vec::new(),
        ] {
            assert_eq!(run(packet.clone()), ("not-for-us".to_owned(), packet));
        }
    }
}
