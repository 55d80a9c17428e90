//! Answers an echo request in its own buffer (RFC 1122 section 3.2.2.6): addresses swapped, type
//! changed, data as it came, record route and timestamp options kept and filled in.

use crate::ip4_options::since_midnight_ms;
use crate::plumbing::{OWN_TTL, Setup, Stamp, blank, stamp, sum};
use graph::{Context, Exits, Node};
use packet::{Frame, PacketView};
use wire::ipv4::{self, option};
use wire::icmp4;

/// See the module.
pub struct Icmp4Echo {
    identification: u16,
}

graph::exits! {
    /// All answers go the same way.
    pub enum Exit {
        /// To whoever asked.
        Reply => node "ip4-lookup",
    }
}

impl Node for Icmp4Echo {
    const NAME: &'static str = "icmp4-echo";
    const ABOUT: &'static str = "answers echo requests";
    type Exit = Exit;
    type Setup = Setup;

    fn new(_: &Setup) -> Self {
        Self { identification: 0 }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        frame.each(|mut packet| self.answer(&mut packet));
        exits.all(Exit::Reply);
    }
}

impl Icmp4Echo {
    fn answer(&mut self, packet: &mut PacketView<'_>) {
        let Some(mut header) = ipv4::HeaderMut::new(packet.header_mut()) else { return };
        let (source, destination) = (header.view().source(), header.view().destination());
        header.set_source(destination);
        header.set_destination(source);
        header.set_ttl(OWN_TTL);
        // The reply may be fragmented, so its identification must be our own.
        self.identification = self.identification.wrapping_add(1);
        header.set_identification(self.identification);
        header.set_fragment_bits(0);
        let header_len = header.view().header_len().min(packet.length());
        let (header, message) = packet.header_mut().split_at_mut(header_len);
        if header_len > ipv4::Header::LEN {
            answer_options(header, destination);
        }
        sum(header);
        if let Some(mut message) = icmp4::HeaderMut::new(message) {
            message.make_echo_reply();
        }
    }
}

/// The reply records our address once more, as it leaves. An option that is full by now stays as
/// it is: the request's was checked when it came in.
#[cold]
fn answer_options(header: &mut [u8], own: u32) {
    blank(header, |kind| matches!(kind, option::RECORD_ROUTE | option::TIMESTAMP));
    let is_own = |address| address == own;
    let _full = stamp(header, &Stamp { address: Some(own), time_ms: since_midnight_ms(), is_own });
}
