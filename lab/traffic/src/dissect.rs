//! The headers of a frame, out of its octets: what a stream is told by where somebody wrote down a
//! frame.
//!
//! ```text
//! ethernet · vlan* · ipv4 | ipv6 · udp | tcp · (vxlan · ethernet …)
//! ```
//! Lengths and checksums follow from the frame that is made; everything else must be what such
//! headers say here.

use std::net::{Ipv4Addr, Ipv6Addr};

use wire::MacAddr;

use super::header::Header;

/// UDP port of VXLAN (RFC 7348).
const VXLAN_PORT: u16 = 4_789;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: u16 = 0x8100;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Octets, front to back.
struct Front<'f> {
    octets: &'f [u8],
}

impl Front<'_> {
    /// The next ones; an error names the header that they should have been.
    fn take<const N: usize>(&mut self, of: &str) -> Result<[u8; N], String> {
        let cut = || format!("{of} is cut off after {} octets", self.octets.len());
        let (taken, rest) = self.octets.split_first_chunk::<N>().ok_or_else(cut)?;
        self.octets = rest;
        Ok(*taken)
    }
}

/// The headers in front of a frame. What follows them may be left out, or must be zeros.
pub fn headers(octets: &[u8]) -> Result<Vec<Header>, String> {
    let mut front = Front { octets };
    let mut headers = Vec::new();
    loop {
        let inner = ethernet(&mut front, &mut headers)?;
        if !inner {
            break;
        }
    }
    match front.octets.iter().any(|&octet| octet != 0) {
        true => Err(format!("{} octets behind the headers are not zeros", front.octets.len())),
        false => Ok(headers),
    }
}

/// One frame's headers. Whether another frame is in it.
fn ethernet(front: &mut Front<'_>, headers: &mut Vec<Header>) -> Result<bool, String> {
    let destination = MacAddr(front.take("ethernet")?);
    let source = MacAddr(front.take("ethernet")?);
    let mut kind = u16::from_be_bytes(front.take("ethernet")?);
    let at = headers.len();
    headers.push(Header::Ethernet { source, destination, ethertype: None });
    while kind == VLAN {
        let tag = u16::from_be_bytes(front.take("a VLAN tag")?);
        if tag & 0x1000 != 0 {
            return Err("a VLAN tag may be dropped first (DEI): that is not sent here".into());
        }
        headers.push(Header::Vlan { id: tag & 0xfff, priority: (tag >> 13) as u8 });
        kind = u16::from_be_bytes(front.take("a VLAN tag")?);
    }
    let protocol = match kind {
        IPV4 => ipv4(front, headers)?,
        IPV6 => ipv6(front, headers)?,
        // Behind a tag the type of the whole is not for us to choose.
        other if headers.len() > at + 1 => {
            return Err(format!("ethertype {other:#06x} behind a VLAN tag is not sent here"));
        }
        other => {
            headers[at] = Header::Ethernet { source, destination, ethertype: Some(other) };
            return Ok(false);
        }
    };
    transport(protocol, front, headers)
}

fn ipv4(front: &mut Front<'_>, headers: &mut Vec<Header>) -> Result<u8, String> {
    let [version, class, _, _, id, id_low, fragment, fragment_low] = front.take("IPv4")?;
    let [ttl, protocol, _, _] = front.take("IPv4")?;
    let (source, destination): ([u8; 4], [u8; 4]) = (front.take("IPv4")?, front.take("IPv4")?);
    if version != 0x45 {
        return Err(format!(
            "IPv4 begins with 45, not with {version:02X}: options are not sent here"
        ));
    }
    if class & 3 != 0 || (id, id_low) != (0, 0) || (fragment & 0xbf, fragment_low) != (0, 0) {
        return Err("IPv4 with ECN, an identification or a fragment is not sent here".into());
    }
    let (source, destination) = (Ipv4Addr::from(source), Ipv4Addr::from(destination));
    headers.push(Header::Ipv4 { source, destination, ttl, dscp: class >> 2 });
    Ok(protocol)
}

fn ipv6(front: &mut Front<'_>, headers: &mut Vec<Header>) -> Result<u8, String> {
    let first: [u8; 4] = front.take("IPv6")?;
    let [_, _, protocol, hop_limit] = front.take("IPv6")?;
    let (source, destination): ([u8; 16], [u8; 16]) = (front.take("IPv6")?, front.take("IPv6")?);
    if first != [0x60, 0, 0, 0] {
        return Err("IPv6 with a traffic class or a flow label is not sent here".into());
    }
    let (source, destination) = (Ipv6Addr::from(source), Ipv6Addr::from(destination));
    headers.push(Header::Ipv6 { source, destination, hop_limit });
    Ok(protocol)
}

fn transport(
    protocol: u8,
    front: &mut Front<'_>,
    headers: &mut Vec<Header>,
) -> Result<bool, String> {
    let port = |front: &mut Front<'_>, of| Ok::<_, String>(u16::from_be_bytes(front.take(of)?));
    match protocol {
        UDP => {
            let (source_port, destination_port) = (port(front, "UDP")?, port(front, "UDP")?);
            let _: [u8; 4] = front.take("UDP")?;
            headers.push(Header::Udp { source_port, destination_port });
            if destination_port != VXLAN_PORT || front.octets.is_empty() {
                return Ok(false);
            }
            let [flags, _, _, _, high, middle, low, _] = front.take("VXLAN")?;
            if flags != 0x08 {
                return Err(format!("VXLAN begins with 08, not with {flags:02X}"));
            }
            headers.push(Header::Vxlan { vni: u32::from_be_bytes([0, high, middle, low]) });
            Ok(true)
        }
        TCP => {
            let (source_port, destination_port) = (port(front, "TCP")?, port(front, "TCP")?);
            let _: [u8; 16] = front.take("TCP")?;
            headers.push(Header::Tcp { source_port, destination_port });
            Ok(false)
        }
        other => Err(format!("IP protocol {other} is not sent here: 6 and 17 are")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;
    use crate::arrivals::Imix;
    use crate::stream::Stream;
    use crate::template::Template;
    use proptest::prelude::*;

    fn header_kinds() -> Vec<Vec<Header>> {
        let ethernet = Header::Ethernet {
            source: MacAddr([2, 0, 0, 0, 0, 1]),
            destination: MacAddr([2, 0, 0, 0, 0, 2]),
            ethertype: None,
        };
        let experimental = Header::Ethernet {
            source: MacAddr([2, 0, 0, 0, 0, 1]),
            destination: MacAddr([2, 0, 0, 0, 0, 2]),
            ethertype: Some(0x88b5),
        };
        let ipv4 = Header::Ipv4 {
            source: [198, 18, 0, 1].into(),
            destination: [198, 19, 0, 1].into(),
            ttl: 7,
            dscp: 46,
        };
        let ipv6 = Header::Ipv6 {
            source: [0x2001, 2, 0, 0, 0, 0, 0, 2].into(),
            destination: [0x2001, 2, 0, 1, 0, 0, 0, 2].into(),
            hop_limit: 9,
        };
        let udp = |destination_port| Header::Udp { source_port: 1_024, destination_port };
        let tcp = Header::Tcp { source_port: 1_024, destination_port: 80 };
        let vlan = Header::Vlan { id: 7, priority: 5 };
        vec![
            vec![experimental],
            vec![ethernet.clone(), vlan.clone(), ipv4.clone(), udp(5_001)],
            vec![ethernet.clone(), vlan.clone(), vlan, ipv6.clone(), tcp.clone()],
            vec![
                ethernet.clone(),
                ipv4,
                udp(VXLAN_PORT),
                Header::Vxlan { vni: 0x01_02_03 },
                ethernet,
                ipv6,
                tcp,
            ],
        ]
    }

    /// The front of a frame with these headers, as it is sent.
    fn front(headers: Vec<Header>) -> Vec<u8> {
        let stream = Stream::new("s", headers, Imix::single(300), Rate::Max);
        let template = Template::new(&stream, 300).unwrap();
        template.bytes()[..stream.header_bytes()].to_vec()
    }

    #[test]
    fn headers_are_read_back_from_the_frames_made_of_them() {
        for kinds in header_kinds() {
            let octets = front(kinds.clone());
            assert_eq!(headers(&octets), Ok(kinds.clone()));
            assert_eq!(headers(&[&octets[..], &[0; 30]].concat()), Ok(kinds));
            assert!(headers(&[&octets[..], &[0, 1]].concat()).is_err());
            // Cut off in the middle of a header.
            assert!(
                headers(&octets[..octets.len() - 1]).unwrap_err().contains("cut off")
                    || octets.len() == 14
            );
        }
    }

    #[test]
    fn what_is_not_sent_here_is_refused_by_name() {
        let octets = front(header_kinds().remove(1));
        let told = |at: usize, octet: u8| {
            let mut octets = octets.clone();
            octets[at] = octet;
            headers(&octets).unwrap_err()
        };
        assert!(told(18, 0x46).contains("options"));
        assert!(told(14, 0x10).contains("DEI"));
        assert!(told(16, 0x12).contains("0x1200 behind a VLAN tag"));
        assert!(told(27, 47).contains("IP protocol 47"));
        assert!(told(23, 1).contains("identification"));
    }

    proptest! {
        #[test]
        fn any_octets_are_headers_or_a_reason(octets in proptest::collection::vec(any::<u8>(), 0..90)) {
            if let Err(reason) = headers(&octets) {
                prop_assert!(!reason.is_empty());
            }
        }

        #[test]
        fn frames_with_some_octets_changed_are_headers_or_a_reason(
            kind in 0..4usize, at in 0..80usize, octet in any::<u8>(),
        ) {
            let mut octets = front(header_kinds().remove(kind));
            let length = octets.len();
            octets[at % length] = octet;
            let _ = headers(&octets);
        }
    }
}
