//! Capture files in the classic pcap format, written and read as streams.
//!
//! ```text
//! file   │ magic 4 │ version 2+2 │ zone 4 │ accuracy 4 │ snap length 4 │ link type 4 │ record … │ record …
//! record │ seconds 4 │ µs or ns 4 │ octets kept 4 │ octets on the wire 4 │ octets kept …
//! ```
//! The magic tells fraction (µs or ns) and byte order; both of each are read, native order with ns
//! is written. The format: draft-ietf-opsawg-pcap, sections 4 and 5.

use std::io::{ErrorKind, Read, Write};

use crate::Error;

/// Link type: Ethernet frames.
pub const LINK_ETHERNET: u32 = 1;
/// Link type: IPv4 and IPv6 packets.
pub const LINK_RAW: u32 = 101;
/// Most octets kept of one packet; a reader refuses more, so that a bad file cannot ask for all
/// memory.
pub const MAX_SNAP_LEN: u32 = 262_144;

const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const FILE_HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;
const NS_PER_S: u64 = 1_000_000_000;

/// One captured packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Time of capture since the epoch of Unix.
    pub time_ns: u64,
    /// Octets the packet had on the wire; at least as many as were kept, if the writer was honest.
    pub wire_len: u32,
    /// The octets kept.
    pub bytes: Vec<u8>,
}

/// Writes a capture file.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins a file of packets of one link type. Give it a buffered writer: each record is two
    /// writes.
    pub fn new(mut out: W, link_type: u32) -> Result<Self, Error> {
        let mut header = [0; FILE_HEADER_LEN];
        header[..4].copy_from_slice(&MAGIC_NANOSECONDS.to_ne_bytes());
        header[4..6].copy_from_slice(&2u16.to_ne_bytes());
        header[6..8].copy_from_slice(&4u16.to_ne_bytes());
        header[16..20].copy_from_slice(&MAX_SNAP_LEN.to_ne_bytes());
        header[20..24].copy_from_slice(&link_type.to_ne_bytes());
        out.write_all(&header)?;
        Ok(Self { out })
    }

    /// Appends a packet, kept whole up to [`MAX_SNAP_LEN`] octets.
    pub fn write(&mut self, time_ns: u64, packet: &[u8]) -> Result<(), Error> {
        self.write_part(time_ns, packet, packet.len() as u32)
    }

    /// Appends the first octets of a packet that had `wire_len` of them.
    pub fn write_part(&mut self, time_ns: u64, kept: &[u8], wire_len: u32) -> Result<(), Error> {
        let kept = &kept[..kept.len().min(MAX_SNAP_LEN as usize)];
        let words =
            [(time_ns / NS_PER_S) as u32, (time_ns % NS_PER_S) as u32, kept.len() as u32, wire_len];
        let mut header = [0; RECORD_HEADER_LEN];
        for (field, word) in header.chunks_exact_mut(4).zip(words) {
            field.copy_from_slice(&word.to_ne_bytes());
        }
        self.out.write_all(&header)?;
        Ok(self.out.write_all(kept)?)
    }

    /// Flushes, and gives the writer below back.
    pub fn finish(mut self) -> Result<W, Error> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Reads a capture file, record by record; iterates over owned records too.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    is_swapped: bool,
    ns_per_fraction: u64,
    link_type: u32,
    is_spent: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the file header.
    pub fn new(mut input: R) -> Result<Self, Error> {
        let mut header = [0; FILE_HEADER_LEN];
        let have = read_up_to(&mut input, &mut header)?;
        if have < FILE_HEADER_LEN {
            return Err(Error::short("pcap file header", FILE_HEADER_LEN, have));
        }
        let magic = word(&header, 0, false);
        let (is_swapped, ns_per_fraction) = match (magic, magic.swap_bytes()) {
            (MAGIC_MICROSECONDS, _) => (false, 1000),
            (MAGIC_NANOSECONDS, _) => (false, 1),
            (_, MAGIC_MICROSECONDS) => (true, 1000),
            (_, MAGIC_NANOSECONDS) => (true, 1),
            _ => return Err(Error::field("pcap magic", magic, "a classic pcap file, not pcapng")),
        };
        // The upper bits hold the length of a check sequence, if known.
        let link_type = word(&header, 20, is_swapped) & 0x0fff_ffff;
        Ok(Self { input, is_swapped, ns_per_fraction, link_type, is_spent: false })
    }

    /// What the packets begin with: [`LINK_ETHERNET`], [`LINK_RAW`] or another.
    pub fn link_type(&self) -> u32 {
        self.link_type
    }

    /// Reads the next packet into `record`, whose memory is reused; false at the end of the file.
    pub fn read(&mut self, record: &mut Record) -> Result<bool, Error> {
        let mut header = [0; RECORD_HEADER_LEN];
        match read_up_to(&mut self.input, &mut header)? {
            0 => return Ok(false),
            RECORD_HEADER_LEN => {}
            have => return Err(Error::short("pcap record header", RECORD_HEADER_LEN, have)),
        }
        let field = |at| word(&header, at, self.is_swapped);
        let kept = field(8);
        if kept > MAX_SNAP_LEN {
            return Err(Error::field("pcap record length", kept, "at most 262144"));
        }
        // A fraction above one second is carried, not refused: 32 + 42 bits cannot overflow.
        record.time_ns =
            u64::from(field(0)) * NS_PER_S + u64::from(field(4)) * self.ns_per_fraction;
        record.wire_len = field(12);
        record.bytes.resize(kept as usize, 0);
        let have = read_up_to(&mut self.input, &mut record.bytes)?;
        if have < record.bytes.len() {
            return Err(Error::short("pcap record", kept as usize, have));
        }
        Ok(true)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, Error>;

    /// The next record. An error comes once and is the last: where the next record begins is then
    /// unknown.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_spent {
            return None;
        }
        let mut record = Record::default();
        let outcome = self.read(&mut record);
        self.is_spent = !matches!(outcome, Ok(true));
        match outcome {
            Ok(true) => Some(Ok(record)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// The four octets at `at`, in the file's order.
fn word(bytes: &[u8], at: usize, is_swapped: bool) -> u32 {
    let mut raw = [0; 4];
    raw.copy_from_slice(&bytes[at..at + 4]);
    let value = u32::from_ne_bytes(raw);
    if is_swapped { value.swap_bytes() } else { value }
}

/// Fills `buffer` as far as the input reaches, and says how far.
fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Error> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(magic: u32, big_endian: bool) -> Vec<u8> {
        let words = [magic, 0, 0, 0, 65535, 1, 7, 5, 2, 60, 0];
        let mut file = Vec::new();
        for word in words {
            file.extend(if big_endian { word.to_be_bytes() } else { word.to_le_bytes() });
        }
        file.truncate(40);
        file.extend([0xaa, 0xbb]);
        file
    }

    #[test]
    fn both_fractions_in_both_byte_orders_are_read() {
        for (magic, time_ns) in
            [(MAGIC_MICROSECONDS, 7_000_005_000), (MAGIC_NANOSECONDS, 7_000_000_005)]
        {
            for big_endian in [false, true] {
                let file = file(magic, big_endian);
                let mut reader = Reader::new(&file[..]).unwrap();
                assert_eq!(reader.link_type(), LINK_ETHERNET);
                let expected = Record { time_ns, wire_len: 60, bytes: vec![0xaa, 0xbb] };
                assert_eq!(reader.next().unwrap().unwrap(), expected);
                assert!(reader.next().is_none());
            }
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error_except_between_records() {
        let whole = file(MAGIC_NANOSECONDS, false);
        for len in 0..whole.len() {
            let outcome = Reader::new(&whole[..len]).map(|mut reader| reader.next());
            match outcome {
                Err(Error::Short { needed: 24, have, .. }) => assert_eq!(have, len),
                Ok(None) => assert_eq!(len, 24),
                Ok(Some(Err(Error::Short { .. }))) => assert!(len > 24),
                other => panic!("{len}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_record_that_asks_for_too_much_memory_is_refused() {
        let mut whole = file(MAGIC_NANOSECONDS, false);
        whole[32..36].copy_from_slice(&(MAX_SNAP_LEN + 1).to_le_bytes());
        let mut reader = Reader::new(&whole[..]).unwrap();
        assert!(matches!(reader.next(), Some(Err(Error::Field { found: 262_145, .. }))));
        assert!(reader.next().is_none());
    }

    #[test]
    fn another_file_is_refused_with_its_magic() {
        let refused = Reader::new(&[0x0a; 24][..]);
        assert!(matches!(refused, Err(Error::Field { found: 0x0a0a_0a0a, .. })));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            packets in prop::collection::vec(
                (any::<u32>(), 0..NS_PER_S, prop::collection::vec(any::<u8>(), 0..50)),
                0..8,
            )
        ) {
            let mut writer = Writer::new(Vec::new(), LINK_RAW).unwrap();
            let mut expected = Vec::new();
            for (seconds, ns, bytes) in packets {
                let time_ns = u64::from(seconds) * NS_PER_S + ns;
                writer.write(time_ns, &bytes).unwrap();
                expected.push(Record { time_ns, wire_len: bytes.len() as u32, bytes });
            }
            let file = writer.finish().unwrap();
            let reader = Reader::new(&file[..]).unwrap();
            prop_assert_eq!(reader.link_type(), LINK_RAW);
            let found: Result<Vec<_>, _> = reader.collect();
            prop_assert_eq!(found.unwrap(), expected);
        }
    }
}
