//! Tells hosts of better ways than by us: redirects of ICMP (RFC 792, RFC 1812 section 5.2.7.2) and
//! of neighbour discovery (RFC 4861 section 8).

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::{Hears, Part};
use control::config::objects::port::PortName;
use fib::neighbor::NeighborKey;
use nodes::ip::OWN_TTL;
use nodes::ip::redirect_input::{RedirectInput, Redirects};
use nodes::tables::{BetterWay, BetterWay6, Injected, Interface};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::icmp4::{message, redirect};
use wire::{craft, icmp6, ipv4, ipv6, nd};

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

/// The same of IPv6: a whole frame, as its hop limit tells that it is from the link.
impl Hears<BetterWay6> for Redirecting {
    fn hear(&mut self, core: &mut Core, way: BetterWay6) {
        let row = core.dataplane.interfaces().get(way.interface);
        let own = row.and_then(|row| {
            let near = row.ip6.iter().find(|(own, _)| ipv6::is_link_local(*own));
            near.map(|&(own, _)| (row.mac, own))
        });
        let address = Ipv6Addr::from(way.gateway).into();
        let key = NeighborKey { interface: way.interface, address };
        let gateway_mac = core.neighborhood.machine.get(key).and_then(|neighbor| neighbor.mac);
        let frame = own.and_then(|own| redirect6_of(own, &way, gateway_mac));
        if let Some(frame) = frame {
            core.neighborhood.send(way.interface, &frame);
        }
        core.neighborhood.release_buffer(way.packet);
    }
}

/// ```text
///  Ethernet │ IPv6, link-local to the host │ redirect: gateway, destination │ gateway's MAC │ the packet
/// ```
fn redirect6_of(
    (mac, own): ([u8; 6], u128),
    way: &BetterWay6,
    gateway_mac: Option<[u8; 6]>,
) -> Option<Vec<u8>> {
    let quoted = ipv6::Header::new(way.packet.bytes())?;
    let packet = craft::ethernet(mac, way.mac).ipv6(own, quoted.source_addr());
    let message = packet.hop_limit(nd::HOP_LIMIT).icmp6(icmp6::message::REDIRECT, 0, [0; 4]);
    let mut bytes = way.gateway.to_be_bytes().to_vec();
    bytes.extend(quoted.destination().to_be_bytes());
    if let Some(known) = gateway_mac {
        bytes.extend([nd::option::TARGET_LINK_ADDRESS, 1]);
        bytes.extend(known);
    }
    let eights = (8 + way.packet.bytes().len()) / 8;
    bytes.extend([nd::option::REDIRECTED_HEADER, eights as u8, 0, 0, 0, 0, 0, 0]);
    bytes.extend(way.packet.bytes());
    Some(message.payload(&bytes).build())
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

    #[test]
    fn a_redirect_of_ip6_is_from_the_link_and_bears_gateway_destination_and_packet() {
        let [host, far, own] = ["2001:db8::77", "2001:db8:f::9", "fe80::1"]
            .map(|text| text.parse::<Ipv6Addr>().unwrap());
        let gateway = "fe80::5".parse::<Ipv6Addr>().unwrap();
        let sent = craft::ipv6(host, far).udp(7, 9).payload(&[3; 16]).build();
        let pool = packet::HeapPool::new(4, 2048).unwrap();
        let packet = packet::Pool::cache(&pool).copy_of(&sent).unwrap();
        let (mac, theirs) = ([2, 0, 0, 0, 0, 1], [6, 0, 0, 0, 0, 7]);
        let way = BetterWay6 { interface: 3, gateway: gateway.into(), mac: theirs, packet };
        let frame = redirect6_of((mac, own.into()), &way, Some([6, 0, 0, 0, 0, 5])).unwrap();
        assert_eq!(
            (&frame[..6], &frame[6..12], &frame[12..14]),
            (&theirs[..], &mac[..], &[0x86, 0xdd][..])
        );
        let header = ipv6::Header::new(&frame[14..]).unwrap();
        assert_eq!(
            (header.source_addr(), header.destination_addr(), header.hop_limit()),
            (own, host, 255)
        );
        let bytes = &frame[54..];
        assert!(icmp6::Header::parse(bytes, own.into(), host.into()).is_ok());
        let message = nd::Redirect::new(bytes).unwrap();
        assert_eq!((message.message_type(), message.code()), (137, 0));
        assert_eq!((message.target(), message.destination()), (gateway.into(), far.into()));
        let options: Vec<_> = nd::Options::new(&bytes[40..]).map(Result::unwrap).collect();
        assert_eq!(options[0].bytes, [2, 1, 6, 0, 0, 0, 0, 5]);
        assert_eq!((options[1].kind, &options[1].bytes[8..], options.len()), (4, &sent[..], 2));
        let frame = redirect6_of((mac, own.into()), &way, None).unwrap();
        assert_eq!(frame[54 + 40], 4, "nobody knows the gateway's MAC");
    }
}
