//! Every parser of `wire`, the pcap reader and the describer, on any bytes: none may panic or leave
//! them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{
    MacAddr, arp, checksum,
    choice::{Choice, Net},
    craft, describe, geneve, gre, gtp_u, icmp4, icmp6,
    ip::protocol,
    ipv4,
    ipv6::{self, extension},
    lacp, lisp, nd, options, pcap, tcp, udp, vlan, vxlan,
};

fuzz_target!(|bytes: &[u8]| {
    link(bytes);
    network(bytes);
    network(&with_checksum(bytes));
    transport(bytes);
    locators(bytes);
    icmp(bytes);
    writing(&with_checksum(bytes));
    capture(bytes);
    packet_words(bytes);
    chosen(bytes);
    let _ = describe::frame(bytes).to_string();
    let _ = describe::packet(bytes).to_string();
    let _ = str::from_utf8(bytes).map(str::parse::<MacAddr>);
});

fn link(bytes: &[u8]) {
    if let Some(walk) = vlan::walk(bytes) {
        assert!(walk.offset <= bytes.len());
    }
    if let Ok(packet) = arp::Packet::parse(bytes) {
        assert!(packet.is_ip4_over_ethernet() && packet.sender_mac().is_unicast());
    }
}

/// All that is read of a frame is asked for.
fn chosen(bytes: &[u8]) {
    let host = [[0; 4].into(), [0; 16].into()].map(|address| Net { address, length: 0 });
    let taken = host.map(|host| {
        let ports = (Some(80), Some(53));
        let all = Choice { host: Some(host), ..Choice::default() };
        let narrow = Choice { source_port: ports.0, destination_port: ports.1, ..all };
        assert!(all.takes(bytes) || !narrow.takes(bytes));
        all.takes(bytes)
    });
    assert!(Choice::default().takes(bytes) || !taken.contains(&true));
}

fn network(bytes: &[u8]) {
    if let Ok(packet) = ipv4::Packet::parse(bytes) {
        let parts = ipv4::Header::LEN + packet.options.len() + packet.payload.len();
        assert_eq!(parts, usize::from(packet.header.total_len()));
        assert!(packet.options().count() <= packet.options.len());
    }
    if let Ok(packet) = ipv6::Packet::parse(bytes) {
        walk(packet.header.next_header(), packet.payload);
    }
    if let [next_header, payload @ ..] = bytes {
        walk(*next_header, payload);
    }
}

/// The same bytes, the IPv4 header checksum set right: chance alone seldom finds it.
fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(mut header) = ipv4::HeaderMut::new(&mut bytes) {
        header.set_checksum(0);
        let len = header.view().header_len();
        let sum = checksum::of(&bytes[..len.min(bytes.len())]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

fn walk(next_header: u8, payload: &[u8]) {
    if let Some(header) = extension::header(next_header, payload) {
        assert!(header.len() >= 8 && header.len() <= payload.len());
    }
    if let Ok(upper) = extension::walk(next_header, payload) {
        assert!(upper.offset <= payload.len() && upper.named_at >= 6);
        let options = extension::Options::new(upper.hop_by_hop.unwrap_or_default());
        assert!(options.count() <= payload.len());
    }
}

fn transport(bytes: &[u8]) {
    if let Ok(datagram) = udp::Datagram::parse(bytes) {
        assert!(datagram.payload.len() + udp::Header::LEN <= bytes.len());
    }
    if let Ok(segment) = tcp::Segment::parse(bytes) {
        assert!(segment.options().count() <= segment.options.len());
    }
    if let Ok(lacp::Message::Control(pdu)) = lacp::Message::parse(bytes) {
        let frame = pdu.frame([2; 6]);
        let again = lacp::Message::parse(&frame[14..]);
        assert!(matches!(again, Ok(lacp::Message::Control(it)) if it == pdu));
    }
    if let Ok(packet) = gre::Packet::parse(bytes) {
        assert!(packet.payload.len() + gre::Header::LEN <= bytes.len());
    }
    if let Some(packet) = gtp_u::packet(bytes) {
        assert!(packet.len() + gtp_u::Header::LEN <= bytes.len());
    }
    if let Some(header) = vxlan::Header::new(bytes) {
        assert!(header.vni() <= vxlan::MAX_VNI);
    }
    if let Some(header) = geneve::Header::new(bytes) {
        assert!(header.vni() <= vxlan::MAX_VNI && (8..=260).contains(&header.header_len()));
    }
    assert!(options::Options::new(bytes).count() <= bytes.len());
    assert!(extension::Options::new(bytes).count() <= bytes.len());
}

/// A message that was read once is read again to its end, and what is written of it is read as the
/// same.
fn locators(bytes: &[u8]) {
    if let Some(header) = lisp::Header::new(bytes) {
        assert!(header.instance() <= lisp::MAX_INSTANCE);
    }
    match lisp::Message::parse(bytes) {
        Ok(lisp::Message::Request(request)) => {
            let askers: Vec<_> = request.askers().collect();
            assert!(askers.len() <= 32);
            for network in request.networks() {
                let written = request.head.write(request.source, &askers, network);
                assert!(askers.is_empty() || lisp::Message::parse(&written).is_ok());
            }
        }
        Ok(lisp::Message::Reply(reply)) => {
            let records: Vec<_> = reply.records.filter_map(|it| it.to_owned()).collect();
            let written = lisp::reply(reply.nonce, reply.is_probe, &records);
            let Ok(lisp::Message::Reply(again)) = lisp::Message::parse(&written) else { panic!() };
            assert!(again.records.filter_map(|it| it.to_owned()).eq(records));
        }
        Ok(lisp::Message::Registration(message)) => {
            let (before, proof, behind) = message.proved();
            assert!(before.len() + proof + behind.len() <= bytes.len());
            assert!(message.records.count() <= 255);
        }
        Ok(lisp::Message::Encapsulated(message)) => {
            let _ = lisp::Message::parse(message.message);
        }
        Err(_) => {}
    }
}

fn icmp(bytes: &[u8]) {
    if let Ok(header) = icmp4::Header::parse(bytes) {
        assert!(checksum::is_valid(bytes));
        let _ = header.is_error();
    }
    let _ = icmp6::Header::parse(bytes, 1, 2);
    for entry in nd::Options::new(bytes).flatten() {
        let _ = (entry.mac(), entry.mtu(), entry.prefix());
    }
    let _ = nd::link_address(bytes, nd::option::SOURCE_LINK_ADDRESS);
}

/// What is changed in place, or crafted around any bytes, is still valid.
fn writing(bytes: &[u8]) {
    if let Ok(packet) = ipv4::Packet::parse(bytes) {
        let (ttl, mut changed) = (packet.header.ttl(), bytes.to_vec());
        if let (1.., Some(mut header)) = (ttl, ipv4::HeaderMut::new(&mut changed)) {
            header.decrement_ttl();
            assert!(ipv4::Packet::parse(&changed).is_ok_and(|it| it.header.ttl() == ttl - 1));
        }
    }
    let payload = &bytes[..bytes.len().min(1000)];
    let crafted = craft::ipv6(1, 2).udp(3, 4).payload(payload).build();
    let upper = &crafted[ipv6::Header::LEN..];
    let sum = checksum::pseudo6(1, 2, protocol::UDP, upper.len() as u32).bytes(upper);
    assert!(sum.is_valid());
    assert!(udp::Datagram::parse(upper).is_ok_and(|it| it.payload == payload));
}

fn capture(bytes: &[u8]) {
    let Ok(mut reader) = pcap::Reader::new(bytes) else { return };
    let mut record = pcap::Record::default();
    while let Ok(true) = reader.read(&mut record) {
        assert!(record.bytes.len() <= bytes.len());
    }
}

/// Words of a packet: refused with a reason, or a frame that says the same in hexadecimal.
fn packet_words(bytes: &[u8]) {
    let unsaid = craft::Unsaid {
        destination_mac: MacAddr([2, 0, 0, 0, 0, 1]),
        source_mac: MacAddr([2, 0, 0, 0, 0, 2]),
        source4: [192, 0, 2, 2].into(),
        source6: 0xfe.into(),
    };
    let Ok(text) = str::from_utf8(bytes) else { return };
    match craft::Words::read(text).and_then(|words| words.frame(&unsaid)) {
        Ok(frame) => {
            let hex: String = frame.iter().map(|octet| format!("{octet:02x}")).collect();
            let again = craft::Words::read(&format!("in p1 hex {hex}")).expect("octets are words");
            assert_eq!(again.frame(&unsaid), Ok(frame));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
