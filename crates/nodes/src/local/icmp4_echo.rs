//! Answers an echo request in its own buffer (RFC 1122 section 3.2.2.6): addresses swapped, type
//! changed, data as it came, record route and timestamp options kept and filled in.
//!
//! ```text
//!  icmp4_input ─▶ icmp4_echo ─▶ ip4_lookup
//! ```

use crate::ip::{
    OWN_TTL, Stamp, blank_options, ip4_options::since_midnight_ms, stamp_options, sum_ip4_header,
};
use crate::tables::{IcmpLimits, RateLimit, Setup};
use graph::{Context, Exits, Node};
use packet::{Frame, PacketView};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::icmp4;
use wire::ipv4::{self, option};

/// See the module.
pub struct Icmp4Echo {
    allowed: Arc<IcmpLimits>,
    limit: RateLimit,
    identification: u16,
}

graph::exits! {
    /// Whether there is an answer.
    pub enum Exit {
        /// To whoever asked.
        Reply => node "ip4-lookup",
        /// Enough answers for this second, or none are wanted.
        RateLimited => drop "Nothing, or raise `echo_pps` in [icmp] if you measure by it; `echo = \
            false` there means no answers at all.",
    }
}

impl Node for Icmp4Echo {
    const NAME: &'static str = "icmp4-echo";
    const ABOUT: &'static str = "answers echo requests";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let allowed = Arc::clone(&setup.shared.icmp);
        Self { allowed, limit: RateLimit::new(0), identification: 0 }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        self.limit.follow(self.allowed.echoes_per_second.load(Ordering::Relaxed));
        exits.each(frame, |packet| {
            if !self.limit.take(context.now_tsc) {
                return Exit::RateLimited;
            }
            self.answer(packet);
            Exit::Reply
        });
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
        sum_ip4_header(header);
        if let Some(mut message) = icmp4::HeaderMut::new(message) {
            message.make_echo_reply();
        }
    }
}

/// The reply records our address once more, as it leaves. An option that is full by now stays as
/// it is: the request's was checked when it came in.
#[cold]
fn answer_options(header: &mut [u8], own: u32) {
    blank_options(header, |kind| matches!(kind, option::RECORD_ROUTE | option::TIMESTAMP));
    let is_own = |address| address == own;
    let (address, time_ms) = (Some(own), since_midnight_ms());
    let _full = stamp_options(header, &Stamp { address, time_ms, is_own, counts_overflow: false });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{HOST, US, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn answer(packet: Vec<u8>) -> Vec<u8> {
        let mut node = NodeHarness::<Icmp4Echo>::new(&World::new().setup).unwrap();
        let out = node.run(&[packet], 0, 0).remove(0);
        assert_eq!(out.exit, "reply");
        out.header
    }

    #[test]
    fn the_reply_is_the_request_turned_round() {
        let request = craft::ipv4(HOST, US).ttl(9).tos(0x28).dont_fragment().identification(999);
        let reply = craft::ipv4(US, HOST).ttl(OWN_TTL).tos(0x28).identification(1);
        let request = request.icmp_echo(7, 3).payload(b"as it came").build();
        assert_eq!(answer(request), reply.icmp_echo_reply(7, 3).payload(b"as it came").build());
    }

    #[test]
    fn a_recorded_route_goes_back_with_our_address_and_other_options_do_not() {
        let recorded = [7, 11, 8, 192, 0, 2, 1, 0, 0, 0, 0];
        let request = craft::ipv4(HOST, US).raw_options(&[&recorded[..], &[148, 4, 0, 0]].concat());
        let replied = [7, 11, 12, 192, 0, 2, 1, 192, 0, 2, 1, 1, 1, 1, 1];
        let reply = craft::ipv4(US, HOST).ttl(OWN_TTL).identification(1).raw_options(&replied);
        assert_eq!(answer(request.icmp_echo(1, 1).build()), reply.icmp_echo_reply(1, 1).build());
    }

    #[test]
    fn a_full_timestamp_counted_us_when_the_request_came() {
        let full = [68, 8, 9, 0x20, 1, 2, 3, 4];
        let with = |packet: craft::Craft<craft::Ipv4>| packet.raw_options(&full);
        let reply = with(craft::ipv4(US, HOST).ttl(OWN_TTL).identification(1));
        let request = with(craft::ipv4(HOST, US)).icmp_echo(1, 1).build();
        assert_eq!(answer(request), reply.icmp_echo_reply(1, 1).build());
    }

    #[test]
    fn no_more_answers_than_are_allowed_are_given() {
        let world = World::new();
        world.setup.shared.icmp.echoes_per_second.store(2, Ordering::Relaxed);
        let mut node = NodeHarness::<Icmp4Echo>::new(&world.setup).unwrap();
        let request = craft::ipv4(HOST, US).icmp_echo(1, 1).build();
        let out = node.run(&[request.clone(), request.clone(), request], 0, 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["reply", "reply", "rate-limited"]);
    }

    #[test]
    fn every_reply_has_an_identification_of_its_own() {
        let mut node = NodeHarness::<Icmp4Echo>::new(&World::new().setup).unwrap();
        let request = craft::ipv4(HOST, US).icmp_echo(1, 1).build();
        let replies = node.run(&[request.clone(), request], 0, 0);
        let numbers = replies.iter().map(|out| ipv4::Header::new(&out.header).unwrap());
        assert_eq!(numbers.map(|h| h.identification()).collect::<Vec<_>>(), [1, 2]);
    }
}
