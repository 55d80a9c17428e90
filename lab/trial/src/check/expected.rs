//! The frame that must come out, octet for octet, and where the one that did differs from it.
//!
//! ```text
//!  sent      │ headers ·························│ filler │ number, time │
//!  expected  │ headers, as the function has them │ filler │ number, time │    made from the number and time received
//!                    └ of headers that a device makes, a tunnel's or a relay's, it chooses: class, identification, DF, TTL,
//!                      whether there is a UDP checksum, VXLAN's and LISP's source port (RFC 7348 section 5, RFC 2003 section 3.1),
//!                      whether there is a nonce of LISP's, and which (RFC 9300 section 5.3)
//! ```

use lab_record::Difference;
use lab_traffic::sender::STREAM_SHIFT;
use lab_traffic::stream::FCS_BYTES;
use lab_traffic::template::Template;
use lab_traffic::test_frame::Signature;
use lab_traffic::{Header, Stream};
use wire::checksum::Sum;
use wire::ip::protocol;

use crate::Error;

/// Octets that are shown of each frame, from the first that differs.
const SHOWN: usize = 16;

/// What must come out for a stream.
pub(super) struct Expected {
    headers: Vec<Header>,
    /// In the order of sizes.
    templates: Vec<Template>,
}

impl Expected {
    pub(super) fn new(emerging: &Stream) -> Result<Self, Error> {
        let sizes = emerging.frame_bytes.sequence();
        let templates = sizes.iter().map(|&size| Template::new(emerging, size));
        Ok(Self {
            headers: emerging.headers.clone(),
            templates: templates.collect::<Result<_, _>>()?,
        })
    }

    /// Where `got` is not the frame that must come out; none where it is.
    pub(super) fn difference(
        &self,
        signature: &Signature,
        got: &[u8],
    ) -> Result<Option<Difference>, Error> {
        let number = signature.sequence & ((1 << STREAM_SHIFT) - 1);
        let template = &self.templates[(number % self.templates.len() as u64) as usize];
        let mut expected = template.bytes().to_vec();
        template.write(&mut expected, number, signature)?;
        self.take_over_choices(&mut expected, got);
        let differs = expected.iter().zip(got).position(|(expected, got)| expected != got);
        let ends = (expected.len() != got.len()).then(|| expected.len().min(got.len()));
        Ok(differs.or(ends).map(|at| Difference {
            at,
            field: match differs {
                Some(at) => self.field(at),
                None => format!("length: {} octets, not {}", with_fcs(got), with_fcs(&expected)),
            },
            expected: hexadecimal(&expected[at..]),
            got: hexadecimal(&got[at..]),
        }))
    }

    /// Where headers that the device makes may differ, what came is what is expected; checksums
    /// follow from it.
    fn take_over_choices(&self, expected: &mut [u8], got: &[u8]) {
        let makes = |header: &Header| {
            matches!(
                header,
                Header::Vxlan { .. } | Header::Gre | Header::Lisp { .. } | Header::Message { .. }
            )
        };
        let ip = ETHERNET;
        let udp = ip + IPV4;
        if !self.headers.iter().any(makes) || got.len() < udp + UDP {
            return;
        }
        expected[ip + TOS] = got[ip + TOS];
        expected[ip + IDENTIFICATION..ip + FLAGS]
            .copy_from_slice(&got[ip + IDENTIFICATION..ip + FLAGS]);
        expected[ip + FLAGS] = got[ip + FLAGS] & DONT_FRAGMENT;
        expected[ip + TTL] = got[ip + TTL].max(1);
        expected[ip + CHECKSUM..ip + SOURCE].fill(0);
        let checksum = Sum::ZERO.bytes(&expected[ip..udp]).checksum();
        expected[ip + CHECKSUM..ip + SOURCE].copy_from_slice(&checksum.to_be_bytes());
        if !matches!(self.headers.get(2), Some(Header::Udp { .. })) {
            return;
        }
        let tunnel = self.headers.get(3);
        if matches!(tunnel, Some(Header::Vxlan { .. } | Header::Lisp { .. })) {
            expected[udp..udp + 2].copy_from_slice(&got[udp..udp + 2]);
        }
        let lisp = udp + UDP;
        if matches!(tunnel, Some(Header::Lisp { .. })) && got.len() >= lisp + NONCE.end {
            expected[lisp] |= got[lisp] & HAS_NONCE;
            if got[lisp] & HAS_NONCE != 0 {
                expected[lisp + NONCE.start..lisp + NONCE.end]
                    .copy_from_slice(&got[lisp + NONCE.start..lisp + NONCE.end]);
            }
        }
        expected[udp + UDP_CHECKSUM..udp + UDP].fill(0);
        if got[udp + UDP_CHECKSUM..udp + UDP] != [0, 0] {
            let length = (expected.len() - udp) as u32;
            let pseudo = Sum::ZERO.bytes(&expected[ip + SOURCE..udp]);
            let pseudo = pseudo.u16(u16::from(protocol::UDP)).u32(length);
            let checksum = pseudo.bytes(&expected[udp..]).udp_checksum();
            expected[udp + UDP_CHECKSUM..udp + UDP].copy_from_slice(&checksum.to_be_bytes());
        }
    }

    /// What is at an offset.
    fn field(&self, at: usize) -> String {
        let mut start = 0;
        for (number, header) in self.headers.iter().enumerate() {
            let within = at - start;
            if within < header.len() {
                let inner = self.headers[..number].iter().any(|it| it.name() == header.name());
                let outer = self.headers[number + 1..].iter().any(|it| it.name() == header.name());
                let which = match (inner, outer) {
                    (true, _) => "inner ",
                    (_, true) => "outer ",
                    _ => "",
                };
                return format!("{which}{} {}", header.name(), part(header, within));
            }
            start += header.len();
        }
        "payload".into()
    }
}

const ETHERNET: usize = 14;
const IPV4: usize = 20;
const UDP: usize = 8;
/// Offsets in an IPv4 header.
const TOS: usize = 1;
const IDENTIFICATION: usize = 4;
const FLAGS: usize = 6;
const TTL: usize = 8;
const CHECKSUM: usize = 10;
const SOURCE: usize = 12;
const DONT_FRAGMENT: u8 = 0x40;
/// In a LISP header: the flag that says so, and a nonce.
const HAS_NONCE: u8 = 0x80;
const NONCE: std::ops::Range<usize> = 1..4;
/// Offset in a UDP header.
const UDP_CHECKSUM: usize = 6;

/// The field of a header at an offset in it.
fn part(header: &Header, at: usize) -> &'static str {
    let parts: &[(usize, &str)] = match header {
        Header::Ethernet { .. } => &[(0, "destination"), (6, "source"), (12, "type")],
        Header::Vlan { .. } => &[(0, "tag"), (2, "type")],
        Header::Ipv4 { .. } => &[
            (0, "version"),
            (1, "class"),
            (2, "length"),
            (4, "identification"),
            (6, "fragment"),
            (8, "TTL"),
            (9, "protocol"),
            (10, "checksum"),
            (12, "source"),
            (16, "destination"),
        ],
        Header::Ipv6 { .. } => &[
            (0, "version"),
            (4, "length"),
            (6, "next header"),
            (7, "hop limit"),
            (8, "source"),
            (24, "destination"),
        ],
        Header::Udp { .. } => {
            &[(0, "source port"), (2, "destination port"), (4, "length"), (6, "checksum")]
        }
        Header::Tcp { .. } => &[(0, "source port"), (2, "destination port"), (4, "rest")],
        Header::Vxlan { .. } => &[(0, "flags"), (4, "network"), (7, "reserved")],
        Header::Gre => &[(0, "flags"), (2, "type")],
        Header::Lisp { .. } => &[(0, "flags"), (1, "nonce"), (4, "instance"), (7, "status")],
        Header::Message { .. } => &[],
    };
    parts.iter().rev().find(|&&(from, _)| from <= at).map_or("", |&(_, name)| name)
}

fn with_fcs(frame: &[u8]) -> usize {
    frame.len() + FCS_BYTES
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().take(SHOWN).map(|octet| format!("{octet:02x}")).collect()
}
