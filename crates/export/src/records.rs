//! Datagrams of flows: IPFIX (RFC 7011 section 3), NetFlow 9 (RFC 3954 section 5), and NetFlow 5.
//!
//! ```text
//!  IPFIX      │ 10 │ length │ time │ sequence: records before │ domain │ sets …
//!  NetFlow 9  │ 9 │ records │ uptime │ time │ sequence: datagrams before │ source │ sets …
//!  a set      │ 2, 0: templates; 3, 1: of options; 256 …: records │ length │ …
//! ```
//! By UDP templates are told again once in a while, as nobody says whether they came.

use crate::cache::Ended;
use crate::netflow5;
use crate::out::Out;
use crate::templates::{Shape, Style};
use crate::{MOST_BYTES, Now};

/// How a collector is told of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// RFC 7011.
    Ipfix,
    /// RFC 3954.
    NetFlow9,
    /// The one before: IPv4 alone.
    NetFlow5,
}

/// The template of what is told of sampling.
const OPTIONS: u16 = 300;
/// Packets are taken at random (samplingAlgorithm).
const RANDOM: u8 = 2;

/// What has been told to a collector, and how.
#[derive(Debug)]
pub struct Records {
    protocol: Protocol,
    style: Style,
    /// Which part of us tells (observation domain, source, engine).
    domain: u32,
    /// One of so many packets is counted.
    sample: u32,
    /// The observation point of all flows, where they have one.
    point: Option<u32>,
    /// Numbers of interfaces have the engine's in front.
    engine_in_interfaces: bool,
    /// Between two times that templates are told.
    refresh_ms: u64,
    sequence: u32,
    templates_ms: Option<u64>,
    /// Records told.
    pub told: u64,
    /// Flows that the protocol has no words for.
    pub left_out: u64,
}

impl Records {
    /// Nothing was told yet.
    pub fn new(protocol: Protocol, domain: u32, sample: u32, refresh_ms: u64) -> Self {
        let style = if protocol == Protocol::Ipfix { Style::Ipfix } else { Style::NetFlow };
        let (sequence, templates_ms) = (0, None);
        Self {
            protocol,
            style,
            domain,
            sample,
            point: None,
            engine_in_interfaces: false,
            refresh_ms,
            sequence,
            templates_ms,
            told: 0,
            left_out: 0,
        }
    }

    /// The same, told of one observation point: by IPFIX, which alone has such.
    #[must_use]
    pub fn at_point(self, point: u32) -> Self {
        match self.protocol {
            Protocol::Ipfix => Self { style: Style::Observed, point: Some(point), ..self },
            Protocol::NetFlow9 | Protocol::NetFlow5 => self,
        }
    }

    /// The same with the engine's number in front of those of interfaces: by NetFlow 5 alone.
    #[must_use]
    pub fn with_engine_in_interfaces(self) -> Self {
        Self { engine_in_interfaces: true, ..self }
    }

    /// The same by IPFIX of what flows of a switch have noted in an observation domain, with the
    /// points; packets stand for those that were not taken.
    pub fn observed(domain: u32, refresh_ms: u64) -> Self {
        let style = Style::Observed;
        Self { style, ..Self::new(Protocol::Ipfix, domain, 1, refresh_ms) }
    }

    /// The datagrams that tell of these flows, and of templates where it is time.
    pub fn write(&mut self, now: Now, flows: &[Ended]) -> Vec<Vec<u8>> {
        if self.protocol == Protocol::NetFlow5 {
            let who = netflow5::Who {
                engine: self.domain as u16,
                sample: self.sample,
                is_in_interfaces: self.engine_in_interfaces,
            };
            let (datagrams, count) = netflow5::write(now, flows, who, &mut self.sequence);
            self.told += count as u64;
            self.left_out += (flows.len() - count) as u64;
            return datagrams;
        }
        let style = self.style;
        let mut datagrams = Vec::new();
        let mut message = Message::new(style);
        let is_time = self.templates_ms.is_none_or(|last| now.uptime_ms >= last + self.refresh_ms);
        if is_time && (!flows.is_empty() || self.templates_ms.is_some()) {
            self.templates_ms = Some(now.uptime_ms);
            message.templates();
            message.options(self.domain, self.sample);
        }
        let mut flows: Vec<&Ended> = flows.iter().collect();
        flows.sort_by_key(|ended| Shape::of(ended));
        let began_ms = now.unix_ms.saturating_sub(now.uptime_ms);
        for ended in flows {
            let shape = Shape::of(ended);
            if message.out.len() + shape.octets(style) + 8 > MOST_BYTES {
                datagrams.push(self.finish(now, message));
                message = Message::new(style);
            }
            let mut told = *ended;
            if let Some(point) = self.point {
                told.key.observed.1 = point;
            }
            message.record(shape, &told, began_ms);
            self.told += 1;
        }
        if message.records > 0 {
            datagrams.push(self.finish(now, message));
        }
        datagrams
    }

    /// The header, once it is known what stands behind it.
    fn finish(&mut self, now: Now, mut message: Message) -> Vec<u8> {
        message.close();
        let Message { mut out, records, data, style, .. } = message;
        let seconds = (now.unix_ms / 1000) as u32;
        if style.is_ipfix() {
            out.put_u16(0, 10);
            let length = out.len() as u16;
            out.put_u16(2, length);
            out.put_u32(4, seconds);
            out.put_u32(8, self.sequence);
            out.put_u32(12, self.domain);
            self.sequence = self.sequence.wrapping_add(data);
        } else {
            out.put_u16(0, 9);
            out.put_u16(2, records);
            out.put_u32(4, now.uptime_ms as u32);
            out.put_u32(8, seconds);
            out.put_u32(12, self.sequence);
            out.put_u32(16, self.domain);
            self.sequence = self.sequence.wrapping_add(1);
        }
        out.0
    }
}

/// A datagram that is being written.
struct Message {
    out: Out,
    style: Style,
    /// Templates and records in it.
    records: u16,
    /// Records of data, of options too.
    data: u32,
    /// The set that is being written: its number, and where it begins.
    set: Option<(u16, usize)>,
}

impl Message {
    fn new(style: Style) -> Self {
        let header = if style.is_ipfix() { 16 } else { 20 };
        Self { out: Out(vec![0; header]), style, records: 0, data: 0, set: None }
    }

    /// Begins a set, unless it is the one that is being written.
    fn open(&mut self, number: u16) {
        if self.set.is_some_and(|(open, _)| open == number) {
            return;
        }
        self.close();
        self.set = Some((number, self.out.len()));
        self.out.u16(number);
        self.out.u16(0);
    }

    /// Ends a set: filled up to four octets, its length written.
    fn close(&mut self) {
        let Some((_, begin)) = self.set.take() else { return };
        while !self.out.len().is_multiple_of(4) {
            self.out.u8(0);
        }
        let length = (self.out.len() - begin) as u16;
        self.out.put_u16(begin + 2, length);
    }

    fn templates(&mut self) {
        self.open(if self.style.is_ipfix() { 2 } else { 0 });
        for shape in Shape::ALL {
            shape.write_template(self.style, &mut self.out);
            self.records += 1;
        }
    }

    /// What is told of sampling: the template, and the record.
    fn options(&mut self, domain: u32, sample: u32) {
        const SAMPLING: [(u16, u16); 2] = [(34, 4), (35, 1)];
        if self.style.is_ipfix() {
            self.open(3);
            // One field of three says what they go for: observationDomainId.
            for word in [OPTIONS, 3, 1, 149, 4] {
                self.out.u16(word);
            }
        } else {
            self.open(1);
            // Octets of what says what they go for, and of the others: the system.
            for word in [OPTIONS, 4, 8, 1, 4] {
                self.out.u16(word);
            }
        }
        for (number, octets) in SAMPLING {
            self.out.u16(number);
            self.out.u16(octets);
        }
        self.open(OPTIONS);
        self.out.u32(domain);
        self.out.u32(sample);
        self.out.u8(RANDOM);
        self.records += 2;
        self.data += 1;
    }

    fn record(&mut self, shape: Shape, ended: &Ended, began_ms: u64) {
        self.open(shape.id());
        shape.write(ended, began_ms, self.style, &mut self.out);
        self.records += 1;
        self.data += 1;
    }
}

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;
