//! What a stream is made of: headers, sizes, fields that vary, rate, gaps. Data only.
//!
//! ```text
//! headers   ethernet · vlan · ipv4 · udp · vxlan · ethernet · ipv4 · udp     outermost first
//! fields    destination_ip: permutation of 1,000,000                         on the innermost header
//! sizes     whole frames with checksum: 64 … 9,018                           or an IMIX genome
//! ```

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wire::MacAddr;

use super::Rate;
use super::recording::Recording;
use crate::Error;
use crate::arrivals::{Field, Imix, Process};
use crate::test_frame::SIGNATURE_BYTES;
pub use crate::test_frame::{FCS_BYTES, FRAME_BYTES};

/// One stream of test frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Name in results.
    #[serde(default = "unnamed")]
    pub name: String,
    /// The headers, outermost first.
    pub headers: Vec<Header>,
    /// Frame sizes with checksum, in the order sent, over and over.
    #[serde(default = "smallest")]
    pub frame_bytes: Imix,
    /// What varies from packet to packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vary: Vec<Vary>,
    /// How much.
    pub rate: Rate,
    /// How packets follow each other.
    #[serde(default = "constant")]
    pub arrivals: Process,
    /// Packets after which the stream ends, however long the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// When it begins, in seconds since the trial did.
    #[serde(default, skip_serializing_if = "at_once")]
    pub after_s: f64,
    /// Frames to be sent as they were captured, over and over, instead of any made here.
    #[serde(skip)]
    pub recording: Option<Arc<Recording>>,
}

fn at_once(after_s: &f64) -> bool {
    *after_s == 0.0
}

fn unnamed() -> String {
    "stream".into()
}

fn smallest() -> Imix {
    Imix::single(*FRAME_BYTES.start())
}

fn constant() -> Process {
    Process::Constant
}

/// A header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Header {
    /// Ethernet. The type is that of the next header, 0x88b5 (for experiments) without one.
    Ethernet {
        /// Who sends.
        #[serde(with = "mac_text")]
        source: MacAddr,
        /// Who is meant.
        #[serde(with = "mac_text")]
        destination: MacAddr,
        /// Another type than the next header's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ethertype: Option<u16>,
    },
    /// An 802.1Q tag.
    Vlan {
        /// VLAN, below 4096.
        id: u16,
        /// Priority, below 8.
        #[serde(default)]
        priority: u8,
    },
    /// IPv4.
    Ipv4 {
        /// Who sends.
        source: Ipv4Addr,
        /// Who is meant.
        destination: Ipv4Addr,
        /// Hops left.
        #[serde(default = "hops")]
        ttl: u8,
        /// Class.
        #[serde(default)]
        dscp: u8,
    },
    /// IPv6.
    Ipv6 {
        /// Who sends.
        source: Ipv6Addr,
        /// Who is meant.
        destination: Ipv6Addr,
        /// Hops left.
        #[serde(default = "hops")]
        hop_limit: u8,
    },
    /// UDP. In front of VXLAN without a checksum (RFC 7348 section 5).
    Udp {
        /// From.
        source_port: u16,
        /// To.
        destination_port: u16,
    },
    /// TCP, an acknowledgement with data.
    Tcp {
        /// From.
        source_port: u16,
        /// To.
        destination_port: u16,
    },
    /// VXLAN; an Ethernet header follows.
    Vxlan {
        /// Network, below 2^24.
        vni: u32,
    },
    /// GRE without options (RFC 2784); IPv4 or IPv6 follows.
    Gre,
    /// What an application says, in front of the filler; nothing follows.
    Message {
        /// Its octets.
        #[serde(with = "hexadecimal")]
        octets: Vec<u8>,
    },
}

/// Octets as hexadecimal digits.
mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(octets: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digits = [char::from(*high), char::from(*low)];
                u8::from_str_radix(&String::from_iter(digits), 16).ok()
            }
            _ => None,
        });
        let octets: Option<Vec<u8>> = pairs.collect();
        octets
            .ok_or_else(|| D::Error::custom(format!("{text:?} are no pairs of hexadecimal digits")))
    }
}

fn hops() -> u8 {
    64
}

/// A field of the innermost header that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldName {
    /// Source MAC.
    SourceMac,
    /// Destination MAC.
    DestinationMac,
    /// VLAN.
    VlanId,
    /// Source IP; of IPv6 its lower half.
    SourceIp,
    /// Destination IP; of IPv6 its lower half.
    DestinationIp,
    /// The upper half of an IPv6 destination.
    DestinationPrefix,
    /// Source port.
    SourcePort,
    /// Destination port.
    DestinationPort,
    /// VXLAN network.
    Vni,
}

/// A field that varies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Vary {
    /// Which.
    pub field: FieldName,
    /// What one more means: with 256, the next /24.
    #[serde(default = "one")]
    pub step: u64,
    /// In which order.
    #[serde(flatten)]
    pub order: Field,
}

fn one() -> u64 {
    1
}

impl Header {
    /// Octets.
    pub fn len(&self) -> usize {
        match self {
            Self::Ethernet { .. } => 14,
            Self::Vlan { .. } | Self::Gre => 4,
            Self::Ipv4 { .. } | Self::Tcp { .. } => 20,
            Self::Ipv6 { .. } => 40,
            Self::Udp { .. } | Self::Vxlan { .. } => 8,
            Self::Message { octets } => octets.len(),
        }
    }

    /// A message may be.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is wrong with this header behind that one, if anything.
    fn fault(&self, before: Option<&Self>) -> Option<String> {
        use Header::*;
        match self {
            Vlan { id, .. } if *id > 4_095 => return Some(format!("VLAN {id} is above 4095")),
            Vlan { priority, .. } if *priority > 7 => {
                return Some(format!("priority {priority} is above 7"));
            }
            Ipv4 { dscp, .. } if *dscp > 63 => return Some(format!("DSCP {dscp} is above 63")),
            Vxlan { vni } if *vni >> 24 != 0 => {
                return Some(format!("VNI {vni} is above 2^24 - 1"));
            }
            _ => {}
        }
        let follows = match self {
            Ethernet { .. } => matches!(before, None | Some(Vxlan { .. })),
            Vlan { .. } | Ipv4 { .. } | Ipv6 { .. } => {
                let link = matches!(before, Some(Ethernet { .. } | Vlan { .. }));
                link || !matches!(self, Vlan { .. }) && before == Some(&Gre)
            }
            Udp { .. } | Tcp { .. } | Gre => matches!(before, Some(Ipv4 { .. } | Ipv6 { .. })),
            Vxlan { .. } => matches!(before, Some(Udp { .. })),
            Message { .. } => matches!(before, Some(Udp { .. } | Tcp { .. })),
        };
        (!follows).then(|| match before {
            None => format!("a frame begins with ethernet, not with {}", self.name()),
            Some(before) => format!("{} cannot follow {}", self.name(), before.name()),
        })
    }

    /// Its name, as in stream files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ethernet { .. } => "ethernet",
            Self::Vlan { .. } => "vlan",
            Self::Ipv4 { .. } => "ipv4",
            Self::Ipv6 { .. } => "ipv6",
            Self::Udp { .. } => "udp",
            Self::Tcp { .. } => "tcp",
            Self::Vxlan { .. } => "vxlan",
            Self::Gre => "gre",
            Self::Message { .. } => "message",
        }
    }
}

impl Stream {
    /// A plain stream of these headers.
    pub fn new(name: &str, headers: Vec<Header>, frame_bytes: Imix, rate: Rate) -> Self {
        Self {
            name: name.to_owned(),
            headers,
            frame_bytes,
            vary: Vec::new(),
            rate,
            arrivals: Process::Constant,
            packets: None,
            after_s: 0.0,
            recording: None,
        }
    }

    /// A stream of recorded frames, `times` over, with the gaps between them.
    pub fn replay(recording: Arc<Recording>, times: u64) -> Option<Self> {
        let gaps_ns = recording.gaps_ns()?;
        let pps = gaps_ns.len() as f64 * 1e9 / gaps_ns.iter().sum::<u64>() as f64;
        let stream = Self::replay_at(recording, times, Rate::Pps(pps));
        Some(Self { arrivals: Process::Trace { gaps_ns }, ..stream })
    }

    /// A stream of recorded frames, `times` over, at this rate.
    pub fn replay_at(recording: Arc<Recording>, times: u64, rate: Rate) -> Self {
        let packets = Some(recording.frames().saturating_mul(times));
        let stream = Self::new("replay", Vec::new(), smallest(), rate);
        Self { packets, recording: Some(recording), ..stream }
    }

    /// Mean frame size, with checksum.
    pub fn mean_bytes(&self) -> f64 {
        self.recording.as_ref().map_or(self.frame_bytes.mean_bytes(), |it| it.mean_bytes())
    }

    /// The largest frame, with checksum.
    pub fn largest_bytes(&self) -> u16 {
        let made = self.frame_bytes.sequence().iter().copied().max();
        self.recording.as_ref().map_or(made.unwrap_or(0), |it| it.largest_bytes())
    }

    /// The same the other way: sources and destinations of all headers change places.
    pub fn reversed(&self) -> Self {
        let mut back = Self { name: format!("{} back", self.name), ..self.clone() };
        for header in &mut back.headers {
            match header {
                Header::Ethernet { source, destination, .. } => std::mem::swap(source, destination),
                Header::Ipv4 { source, destination, .. } => std::mem::swap(source, destination),
                Header::Ipv6 { source, destination, .. } => std::mem::swap(source, destination),
                Header::Udp { source_port, destination_port }
                | Header::Tcp { source_port, destination_port } => {
                    std::mem::swap(source_port, destination_port);
                }
                Header::Vlan { .. }
                | Header::Vxlan { .. }
                | Header::Gre
                | Header::Message { .. } => {}
            }
        }
        for vary in &mut back.vary {
            vary.field = match vary.field {
                FieldName::SourceMac => FieldName::DestinationMac,
                FieldName::DestinationMac => FieldName::SourceMac,
                FieldName::SourceIp => FieldName::DestinationIp,
                FieldName::DestinationIp => FieldName::SourceIp,
                FieldName::SourcePort => FieldName::DestinationPort,
                FieldName::DestinationPort => FieldName::SourcePort,
                other => other,
            };
        }
        back
    }

    /// Octets of all headers.
    pub fn header_bytes(&self) -> usize {
        self.headers.iter().map(Header::len).sum()
    }

    /// The smallest frame, with checksum, in which the headers and the signature have room.
    pub fn smallest_frame_bytes(&self) -> u16 {
        let needed = (self.header_bytes() + SIGNATURE_BYTES + FCS_BYTES) as u16;
        needed.max(*FRAME_BYTES.start())
    }

    /// Refuses a stream that cannot be sent.
    pub fn check(&self) -> Result<(), Error> {
        if self.recording.is_some() {
            return Ok(());
        }
        let refuse = |reason: String| Error::Stream { name: self.name.clone(), reason };
        let mut before = None;
        for header in &self.headers {
            if let Some(reason) = header.fault(before) {
                return Err(refuse(reason));
            }
            before = Some(header);
        }
        match before {
            None => return Err(refuse("it has no headers".into())),
            Some(last @ (Header::Vxlan { .. } | Header::Gre)) => {
                return Err(refuse(format!("nothing follows {}", last.name())));
            }
            Some(_) => {}
        }
        let smallest = self.smallest_frame_bytes();
        let largest = *FRAME_BYTES.end();
        let misfit = self.frame_bytes.sequence().iter().find(|&&it| it < smallest || it > largest);
        if let Some(size) = misfit {
            return Err(refuse(format!(
                "frames of {size} octets: {smallest} to {largest} are possible"
            )));
        }
        match self.vary.iter().find(|vary| super::template::place(self, vary.field).is_none()) {
            Some(vary) => Err(refuse(format!("no header has a {:?}", vary.field))),
            None => Ok(()),
        }
    }
}

/// MAC addresses as people write them.
mod mac_text {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use wire::MacAddr;

    pub(super) fn serialize<S: Serializer>(mac: &MacAddr, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(mac)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<MacAddr, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    pub(crate) const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

    pub(crate) fn ethernet() -> Header {
        Header::Ethernet { source: A, destination: B, ethertype: None }
    }

    pub(crate) fn ipv4() -> Header {
        let (source, destination) = ([198, 18, 0, 1].into(), [198, 19, 0, 1].into());
        Header::Ipv4 { source, destination, ttl: 64, dscp: 0 }
    }

    pub(crate) fn udp() -> Header {
        Header::Udp { source_port: 1_024, destination_port: 5_001 }
    }

    pub(crate) fn stream(headers: Vec<Header>, frame_bytes: u16) -> Stream {
        Stream::new("s", headers, Imix::single(frame_bytes), Rate::Pps(1e6))
    }

    fn fault(headers: Vec<Header>, frame_bytes: u16) -> String {
        stream(headers, frame_bytes).check().unwrap_err().to_string()
    }

    #[test]
    fn udp_over_ipv4_fits_the_smallest_frame_exactly() {
        let stream = stream(vec![ethernet(), ipv4(), udp()], 64);
        assert_eq!(stream.smallest_frame_bytes(), 64);
        stream.check().unwrap();
    }

    #[test]
    fn a_message_is_written_in_hexadecimal_and_ends_the_headers() {
        let message = Header::Message { octets: vec![0x0a, 0xff] };
        let written = r#"{"kind":"message","octets":"0aff"}"#;
        assert_eq!(serde_json::to_string(&message).unwrap(), written);
        let read = |octets: &str| {
            let text = written.replace("0aff", octets);
            serde_json::from_str::<Header>(&text).map_err(|error| error.to_string())
        };
        assert_eq!(read("0aFF"), Ok(message.clone()));
        for wrong in ["0af", "0g", "+1", "é"] {
            assert!(read(wrong).unwrap_err().contains("no pairs of hexadecimal digits"), "{wrong}");
        }
        stream(vec![ethernet(), ipv4(), udp(), message.clone()], 66).check().unwrap();
        let behind = fault(vec![ethernet(), ipv4(), message.clone()], 90);
        assert!(behind.ends_with("message cannot follow ipv4"), "{behind}");
        let before = fault(vec![ethernet(), ipv4(), udp(), message, udp()], 90);
        assert!(before.ends_with("udp cannot follow message"), "{before}");
    }

    #[test]
    fn streams_that_cannot_be_sent_say_why() {
        let vlan = Header::Vlan { id: 7, priority: 0 };
        assert_eq!(
            fault(vec![ethernet(), vlan.clone(), ipv4(), udp()], 64),
            "stream s: frames of 64 octets: 68 to 9022 are possible"
        );
        assert!(fault(vec![ipv4()], 64).ends_with("a frame begins with ethernet, not with ipv4"));
        assert!(fault(vec![ethernet(), udp()], 64).ends_with("udp cannot follow ethernet"));
        assert!(fault(vec![], 64).ends_with("it has no headers"));
        let high = Header::Vlan { id: 4_096, priority: 0 };
        assert!(fault(vec![ethernet(), high], 64).contains("VLAN 4096"));
        let mut odd = stream(vec![ethernet()], 64);
        let order = Field::Increment { count: 2 };
        odd.vary = vec![Vary { field: FieldName::VlanId, step: 1, order }];
        assert!(odd.check().unwrap_err().to_string().ends_with("no header has a VlanId"));
    }

    #[test]
    fn a_stream_turned_twice_is_itself() {
        let mut stream = stream(vec![ethernet(), ipv4(), udp()], 64);
        let order = Field::Increment { count: 9 };
        stream.vary = vec![Vary { field: FieldName::DestinationIp, step: 1, order }];
        let back = stream.reversed();
        assert_eq!(back.vary[0].field, FieldName::SourceIp);
        assert_eq!(Stream { name: "s".into(), ..back.reversed() }, stream);
    }

    #[test]
    fn a_stream_is_read_from_toml_and_written_back() {
        let text = "rate = '10%'\nframe_bytes = [64, 1518]\n\
                    [[headers]]\nkind = 'ethernet'\nsource = '02:00:00:00:00:01'\n\
                    destination = '02:00:00:00:00:02'\n\
                    [[headers]]\nkind = 'ipv4'\nsource = '198.18.0.1'\ndestination = '198.19.0.1'\n\
                    [[vary]]\nfield = 'destination_ip'\norder = 'permutation'\ncount = 1000000\nseed = 1\n";
        let stream: Stream = toml::from_str(text).unwrap();
        stream.check().unwrap();
        assert_eq!(stream.vary[0].order, Field::Permutation { count: 1_000_000, seed: 1 });
        let again: Stream = toml::from_str(&toml::to_string(&stream).unwrap()).unwrap();
        assert_eq!(again, stream);
    }
}
