//! Tells hosts of better ways than by us: ICMP redirects (RFC 792, RFC 1812 section 5.2.7.2).

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::{Hears, Part};
use control::config::objects::port::PortName;
use nodes::ip::OWN_TTL;
use nodes::ip::redirect_input::{RedirectInput, Redirects};
use nodes::tables::{BetterWay, Injected, Interface};
use std::net::Ipv4Addr;
use wire::icmp4::{message, redirect};
use wire::{craft, ipv4};

/// RFC 1812 section 4.3.2.5: errors have the precedence of internetwork control.
const TYPE_OF_SERVICE: u8 = 6 << 5;

/// See the module.
#[derive(Default)]
pub(crate) struct Redirecting;

impl Part for Redirecting {
    fn row(&self, _: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        row.set::<RedirectInput>(port.config.redirects.then_some(Redirects));
    }
}

/// A host of a link is told whom to send such packets to.
impl Hears<BetterWay> for Redirecting {
    fn hear(&mut self, core: &mut Core, way: BetterWay) {
        let Some(host) = ipv4::Header::new(&way.head).map(|header| header.source()) else { return };
        let row = core.dataplane.interfaces().get(way.interface);
        let Some(own) = row.and_then(|row| row.ip4_towards(host)) else { return };
        let packet = redirect_of(own.into(), host.into(), &way);
        let rx = way.interface;
        core.neighborhood.inject_copy(&packet, |packet| Injected::Own { rx, packet });
    }
}

fn redirect_of(own: Ipv4Addr, host: Ipv4Addr, way: &BetterWay) -> Vec<u8> {
    let gateway = Ipv4Addr::from(way.gateway).octets();
    let packet = craft::ipv4(own, host).ttl(OWN_TTL).tos(TYPE_OF_SERVICE);
    packet.icmp4(message::REDIRECT, redirect::HOST, gateway).payload(&way.head).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_quotes_the_packet_and_names_the_gateway() {
        let (us, host) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 77));
        let sent = craft::ipv4(host, Ipv4Addr::new(10, 0, 0, 9)).udp(7, 9).payload(b"abc").build();
        let head = *sent.first_chunk().unwrap();
        let packet = redirect_of(us, host, &BetterWay { interface: 3, gateway: 0xc000_0205, head });
        assert_eq!(packet[20..22], [5, 1]);
        assert_eq!(packet[24..28], [192, 0, 2, 5]);
        assert_eq!(packet[28..], sent[..28]);
        let message = wire::icmp4::Header::parse(&packet[20..]).unwrap();
        assert_eq!(message.message_type(), message::REDIRECT);
        let header = ipv4::Header::new(&packet).unwrap();
        assert_eq!((header.source_addr(), header.destination_addr()), (us, host));
        assert_eq!((header.ttl(), header.tos()), (OWN_TTL, 0xc0));
    }
}
