//! What a stream is made of: headers, sizes, fields that vary, rate, gaps. Data only.
//!
//! ```text
//! headers   ethernet · vlan · ipv4 · udp · vxlan · ethernet · ipv4 · udp     outermost first
//! fields    destination_ip: permutation of 1,000,000                         on the innermost header
//! sizes     whole frames with checksum: 64 … 9,018                           or an IMIX genome
//! ```

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Rate;
use super::recording::Recording;
use crate::Error;
use crate::arrivals::{Imix, Process};
use crate::header::Header;
use crate::test_frame::SIGNATURE_BYTES;
pub use crate::test_frame::{FCS_BYTES, FRAME_BYTES};
use crate::vary::{FieldName, Vary, place};

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
                | Header::Lisp { .. }
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
            Some(last @ (Header::Vxlan { .. } | Header::Gre | Header::Lisp { .. })) => {
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
        match self.vary.iter().find(|vary| place(&self.headers, vary.field).is_none()) {
            Some(vary) => Err(refuse(format!("no header has a {:?}", vary.field))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::arrivals::Field;
    use wire::MacAddr;

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
    fn a_message_ends_the_headers() {
        let message = Header::Message { octets: vec![0x0a, 0xff] };
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
