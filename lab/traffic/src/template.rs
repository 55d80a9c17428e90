//! Frames as they are sent: made once for each size, patched for each packet.
//!
//! ```text
//!  made once    │ headers, base values ············│ filler ·············│ 18 octets │
//!  each packet      ▲ patch  ▲ patch   ▲ checksums                        ▲ signature
//! ```
//! A checksum is the sum of what never changes, kept, plus what a packet writes: a few words,
//! however long the frame.

use wire::checksum::Sum;
use wire::craft::{self, Craft, Ethernet, Gre, Ipv4, Ipv6, Lisp, Tcp, Udp, Vlan, Vxlan};

use super::stream::{FCS_BYTES, Stream};
use crate::Error;
use crate::arrivals::Field;
use crate::header::Header;
use crate::test_frame::{SIGNATURE_BYTES, Signature};
use crate::vary::{Place, Vary, place};

/// A field that each packet writes.
#[derive(Debug, Clone, Copy)]
struct Patch {
    place: Place,
    base: u64,
    step: u64,
    order: Field,
}

impl Patch {
    fn new(stream: &Stream, vary: &Vary, frame: &[u8]) -> Option<Self> {
        let place = place(&stream.headers, vary.field)?;
        let base = read(&frame[place.at..place.at + place.width]);
        Some(Self { place, base, step: vary.step, order: vary.order })
    }

    #[inline]
    fn write(&self, frame: &mut [u8], sequence: u64) {
        let Place { at, width, mask } = self.place;
        let moved = self.base.wrapping_add(self.step.wrapping_mul(self.order.value(sequence)));
        let value = (moved & mask) | (self.base & !mask);
        frame[at..at + width].copy_from_slice(&value.to_be_bytes()[8 - width..]);
    }

    fn octets<'f>(&self, frame: &'f [u8]) -> &'f [u8] {
        &frame[self.place.at..self.place.at + self.place.width]
    }
}

fn read(octets: &[u8]) -> u64 {
    octets.iter().fold(0, |value, &octet| value << 8 | u64::from(octet))
}

/// A checksum that each packet writes.
#[derive(Debug, Clone)]
struct Site {
    at: usize,
    /// Of UDP, where 0 would mean none.
    udp: bool,
    /// Over all that never changes.
    kept: Sum,
    /// The patches that it covers, by index.
    patches: Vec<usize>,
    /// Whether the signature is covered.
    signature: bool,
}

/// The frame of one size.
#[derive(Debug, Clone)]
pub struct Template {
    bytes: Vec<u8>,
    /// Octets that are written anew for each packet.
    header_bytes: usize,
    patches: Vec<Patch>,
    sites: Vec<Site>,
}

impl Template {
    /// The frame of `stream` at this size, with checksum.
    pub fn new(stream: &Stream, frame_bytes: u16) -> Result<Self, Error> {
        stream.check()?;
        let length = usize::from(frame_bytes) - FCS_BYTES;
        let mut bytes = build(&stream.headers, length);
        let tail = bytes.len() - SIGNATURE_BYTES;
        bytes[tail..].fill(0);
        let made = stream.vary.iter().filter_map(|vary| Patch::new(stream, vary, &bytes));
        let patches: Vec<Patch> = made.collect();
        let sites = sites(stream, &bytes, &patches);
        Ok(Self { header_bytes: stream.header_bytes(), bytes, patches, sites })
    }

    /// The frame without what packets write.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Octets at the front that are restored for each packet.
    pub fn header_bytes(&self) -> usize {
        self.header_bytes
    }

    /// Writes packet number `index` of the stream into a copy of the template.
    #[inline]
    pub fn write(&self, frame: &mut [u8], index: u64, signature: &Signature) -> Result<(), Error> {
        for patch in &self.patches {
            patch.write(frame, index);
        }
        signature.write(frame)?;
        for site in &self.sites {
            let mut sum = site.kept;
            for &patch in &site.patches {
                sum = sum.bytes(self.patches[patch].octets(frame));
            }
            if site.signature {
                sum = add_tail(sum, frame);
            }
            let checksum = if site.udp { sum.udp_checksum() } else { sum.checksum() };
            frame[site.at..site.at + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        Ok(())
    }
}

/// Adds the signature, which begins at an odd offset in a frame of odd length.
#[inline]
fn add_tail(sum: Sum, frame: &[u8]) -> Sum {
    let start = frame.len() - SIGNATURE_BYTES;
    if start.is_multiple_of(2) {
        return sum.bytes(&frame[start..]);
    }
    let mut moved = [0; SIGNATURE_BYTES + 1];
    moved[1..].copy_from_slice(&frame[start..]);
    sum.bytes(&moved)
}

/// The checksums that some patch or the signature changes.
fn sites(stream: &Stream, frame: &[u8], patches: &[Patch]) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut start = 0;
    // First octet of the IP header before, and its addresses in it.
    let mut addresses = 0..0;
    for (number, header) in stream.headers.iter().enumerate() {
        let next = stream.headers.get(number + 1);
        let own = start..start + header.len();
        match header {
            Header::Ipv4 { .. } => {
                addresses = start + 12..start + 20;
                sites.push(site(frame, patches, own, 10, None));
            }
            Header::Ipv6 { .. } => addresses = start + 8..start + 40,
            // VXLAN's UDP has none.
            Header::Udp { .. }
                if matches!(next, Some(Header::Vxlan { .. } | Header::Lisp { .. })) => {}
            Header::Udp { .. } => {
                sites.push(site(frame, patches, start..frame.len(), 6, Some(addresses.clone())));
            }
            Header::Tcp { .. } => {
                sites.push(site(frame, patches, start..frame.len(), 16, Some(addresses.clone())));
            }
            _ => {}
        }
        start += header.len();
    }
    sites.retain(|site| site.signature || !site.patches.is_empty());
    sites
}

/// The checksum at `offset` of `covered`, and over a pseudo header if there are `addresses`.
fn site(
    frame: &[u8],
    patches: &[Patch],
    covered: std::ops::Range<usize>,
    offset: usize,
    addresses: Option<std::ops::Range<usize>>,
) -> Site {
    let at = covered.start + offset;
    let mut still = frame.to_vec();
    still[at..at + 2].fill(0);
    let mut touched = Vec::new();
    for (index, patch) in patches.iter().enumerate() {
        let Place { at, width, .. } = patch.place;
        let inside = |range: &std::ops::Range<usize>| range.contains(&at);
        if inside(&covered) || addresses.as_ref().is_some_and(inside) {
            touched.push(index);
            still[at..at + width].fill(0);
        }
    }
    let mut kept = Sum::ZERO.bytes(&still[covered.clone()]);
    let transport = addresses.is_some();
    if let Some(addresses) = addresses {
        let protocol = if offset == 6 { wire::ip::protocol::UDP } else { wire::ip::protocol::TCP };
        kept = kept.bytes(&still[addresses]).u16(u16::from(protocol)).u32(covered.len() as u32);
    }
    Site { at, udp: transport && offset == 6, kept, patches: touched, signature: transport }
}

/// The frame with base values everywhere, `length` octets.
fn build(headers: &[Header], length: usize) -> Vec<u8> {
    let Some((Header::Ethernet { source, destination, ethertype }, rest)) = headers.split_first()
    else {
        return vec![0; length];
    };
    let start = craft::ethernet(*source, *destination);
    match ethertype {
        Some(ethertype) => grow(start.ethertype(*ethertype), rest, length),
        None => grow(start, rest, length),
    }
}

/// Adds the headers left, whatever the last one was.
fn grow<L>(frame: Craft<L>, headers: &[Header], length: usize) -> Vec<u8> {
    let Some((header, rest)) = headers.split_first() else {
        return frame.total_len(length).build();
    };
    match *header {
        Header::Message { ref octets } => frame.payload(octets).total_len(length).build(),
        Header::Ethernet { source, destination, ethertype } => {
            let next: Craft<Ethernet> = frame.ethernet(source, destination);
            match ethertype {
                Some(ethertype) => grow(next.ethertype(ethertype), rest, length),
                None => grow(next, rest, length),
            }
        }
        Header::Vlan { id, priority } => {
            let next: Craft<Vlan> = frame.vlan(id).pcp(priority);
            grow(next, rest, length)
        }
        Header::Ipv4 { source, destination, ttl, dscp } => {
            let next: Craft<Ipv4> = frame.ipv4(source, destination).ttl(ttl).dscp(dscp);
            grow(next, rest, length)
        }
        Header::Ipv6 { source, destination, hop_limit } => {
            let next: Craft<Ipv6> = frame.ipv6(source, destination).hop_limit(hop_limit);
            grow(next, rest, length)
        }
        Header::Udp { source_port, destination_port } => {
            let next: Craft<Udp> = frame.udp(source_port, destination_port);
            match rest.first() {
                Some(Header::Vxlan { .. } | Header::Lisp { .. }) => {
                    grow(next.checksum(0), rest, length)
                }
                _ => grow(next, rest, length),
            }
        }
        Header::Tcp { source_port, destination_port } => {
            let next: Craft<Tcp> = frame.tcp(source_port, destination_port);
            grow(next, rest, length)
        }
        Header::Vxlan { vni } => {
            let next: Craft<Vxlan> = frame.vxlan(vni);
            grow(next, rest, length)
        }
        Header::Gre => {
            let next: Craft<Gre> = frame.gre();
            grow(next, rest, length)
        }
        Header::Lisp { instance } => {
            let next: Craft<Lisp> = frame.lisp(instance);
            grow(next, rest, length)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::stream::tests::{A, B, ethernet, ipv4, stream, udp};
    use super::*;
    use crate::vary::FieldName;

    const SIGNATURE: Signature =
        Signature { sequence: 0x0102_0304_0506_0708, intended_ns: 1_234_567_890_123, flow: None };

    /// A packet of a stream.
    fn packet(stream: &Stream, frame_bytes: u16, index: u64) -> Vec<u8> {
        let template = Template::new(stream, frame_bytes).unwrap();
        let mut frame = template.bytes().to_vec();
        template.write(&mut frame, index, &SIGNATURE).unwrap();
        frame
    }

    fn vary(field: FieldName, step: u64) -> Vary {
        Vary { field, step, order: Field::Increment { count: 1 << 40 } }
    }

    /// What `describe` says of it: checksums that are wrong are told in brackets.
    fn described(frame: &[u8]) -> String {
        wire::describe::frame(frame).to_string()
    }

    #[test]
    fn a_patched_frame_is_the_one_that_would_have_been_crafted() {
        let mut stream = stream(vec![ethernet(), ipv4(), udp()], 64);
        stream.vary = vec![
            vary(FieldName::DestinationIp, 256),
            vary(FieldName::SourcePort, 1),
            vary(FieldName::SourceMac, 1),
        ];
        let got = packet(&stream, 100, 5);
        let mut source = A;
        source.0[5] += 5;
        let whole =
            craft::ethernet(source, B).ipv4([198, 18, 0, 1], [198, 19, 5, 1]).udp(1_029, 5_001);
        let mut payload = got[42..].to_vec();
        assert_eq!(Signature::read(&payload, false), Some(SIGNATURE));
        SIGNATURE.write(&mut payload).unwrap();
        assert_eq!(got, whole.payload(&payload).build());
    }

    #[test]
    fn every_kind_of_frame_is_in_order_after_patching() {
        let tcp = || Header::Tcp { source_port: 1, destination_port: 2 };
        let ipv6 = || Header::Ipv6 {
            source: "2001:2::1".parse().unwrap(),
            destination: "2001:2:0:1::1".parse().unwrap(),
            hop_limit: 9,
        };
        let vlan = || Header::Vlan { id: 4_000, priority: 5 };
        let vxlan = || Header::Vxlan { vni: 7 };
        let tunnel = Header::Udp { source_port: 1, destination_port: 4_789 };
        let fields = [
            FieldName::SourceMac,
            FieldName::DestinationMac,
            FieldName::SourceIp,
            FieldName::DestinationIp,
            FieldName::DestinationPrefix,
            FieldName::SourcePort,
            FieldName::DestinationPort,
            FieldName::VlanId,
            FieldName::Vni,
        ];
        for headers in [
            vec![ethernet(), ipv4(), udp()],
            vec![ethernet(), vlan(), ipv4(), tcp()],
            vec![ethernet(), ipv6(), udp()],
            vec![ethernet(), vlan(), vlan(), ipv6(), tcp()],
            vec![ethernet(), ipv4(), tunnel.clone(), vxlan(), ethernet(), ipv4(), udp()],
            vec![ethernet(), ipv4(), Header::Gre, ipv4(), udp()],
            vec![ethernet(), ipv4(), udp(), Header::Lisp { instance: 7 }, ipv4(), udp()],
            vec![ethernet(), ipv4(), udp(), Header::Message { octets: (0..99).collect() }],
            vec![ethernet(), vlan(), ipv6(), Header::Gre, ipv6(), tcp()],
            vec![ethernet(), vlan(), ipv4(), tunnel, vxlan(), ethernet(), vlan(), ipv6(), tcp()],
        ] {
            let mut stream = stream(headers, 200);
            let there = fields.into_iter().filter(|&field| place(&stream.headers, field).is_some());
            stream.vary = there.map(|field| vary(field, 3)).collect();
            for index in [0, 1, 77, 65_535, 1 << 33] {
                for bytes in [200, 201] {
                    let line = described(&packet(&stream, bytes, index));
                    // Brackets are for faults and for TCP's flags.
                    assert!(!line.replace("[.]", "").contains('['), "{line}");
                }
            }
        }
    }

    #[test]
    fn a_vlan_wraps_within_its_twelve_bits_and_keeps_its_priority() {
        let mut stream = stream(vec![ethernet(), Header::Vlan { id: 4_095, priority: 6 }], 64);
        stream.vary = vec![vary(FieldName::VlanId, 2)];
        let frame = packet(&stream, 64, 1);
        assert_eq!(u16::from_be_bytes([frame[14], frame[15]]), 6 << 13 | 1);
    }

    #[test]
    fn an_unknown_ethertype_is_sent_as_asked() {
        let named = Header::Ethernet { source: A, destination: B, ethertype: Some(0x1234) };
        assert_eq!(packet(&stream(vec![named], 64), 64, 0)[12..14], [0x12, 0x34]);
        assert_eq!(packet(&stream(vec![ethernet()], 64), 64, 0)[12..14], [0x88, 0xb5]);
    }

    proptest! {
        #[test]
        fn checksums_hold_for_every_packet(index: u64, sequence: u64, bytes in 64u16..300) {
            let mut stream = stream(vec![ethernet(), ipv4(), udp()], 64);
            let order = Field::Random { count: 1 << 32, seed: 1 };
            stream.vary = vec![
                Vary { field: FieldName::SourceIp, step: 1, order },
                Vary { field: FieldName::DestinationPort, step: 1, order },
            ];
            let template = Template::new(&stream, bytes).unwrap();
            let mut frame = template.bytes().to_vec();
            let signature = Signature { sequence, intended_ns: index >> 1, flow: None };
            template.write(&mut frame, index, &signature).unwrap();
            let line = described(&frame);
            prop_assert!(!line.contains('['), "{}", line);
        }
    }
}
