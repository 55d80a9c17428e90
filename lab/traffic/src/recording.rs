//! The frames of a capture, sent octet for octet as they are, and known again when they come back.
//!
//! ```text
//! capture      A   B   A   C          sent twice:  0:A 1:B 2:A 3:C 4:A 5:B 6:A 7:C
//! came         A B C                               0   1       3
//! next: A      4 is the next A from here, 2 the last one missing: 4 is as near and has not been
//!              overtaken by three others, so 4 unless 2 is nearer
//! ```
//! Nothing is written into such a frame, so that it is told by its content: the instance nearest to
//! where the stream is. Between frames of the same content nobody could tell more.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufReader, Read};
use std::path::Path;

use wire::pcap::{LINK_ETHERNET, Reader, Record};

use super::test_frame::{FCS_BYTES, FRAME_BYTES};
use crate::Error;

/// Octets of an Ethernet header: what is shorter is no frame.
const SHORTEST: usize = 14;
/// Shorter frames are filled up with zeros on a wire.
const PADDED: usize = 60;
/// Most octets of a capture that are kept in memory.
const LARGEST_BYTES: u64 = 1 << 30;
/// Sent frames whose times are kept, and gaps in what came that are kept open.
const REMEMBERED: usize = 1 << 18;

/// The frames of a capture and the gaps between them.
#[derive(Debug, PartialEq)]
pub struct Recording {
    frames: Vec<Vec<u8>>,
    times_ns: Vec<u64>,
}

impl Recording {
    /// Reads a classic pcap file of whole Ethernet frames.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::read(BufReader::new(File::open(path).map_err(Error::file(path))?), path)
    }

    /// The same of a file's octets; `path` is only for messages.
    pub fn read(file: impl Read, path: &Path) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Capture { path: path.to_owned(), reason };
        let wrong = |error: wire::Error| refuse(error.to_string());
        let mut reader = Reader::new(file).map_err(wrong)?;
        if reader.link_type() != LINK_ETHERNET {
            let kind = reader.link_type();
            return Err(refuse(format!(
                "link type {kind}: only Ethernet ({LINK_ETHERNET}) is sent"
            )));
        }
        let (mut frames, mut times_ns, mut kept) = (Vec::new(), Vec::new(), 0);
        let mut record = Record::default();
        let longest = usize::from(*FRAME_BYTES.end()) - FCS_BYTES;
        while reader
            .read(&mut record)
            .map_err(|error| refuse(format!("packet {}: {error}", frames.len() + 1)))?
        {
            let (number, length) = (frames.len() + 1, record.bytes.len());
            let reason = match (record.wire_len as usize, length) {
                (whole, _) if whole > length => {
                    Some(format!("only {length} of its {whole} octets were captured"))
                }
                (_, ..SHORTEST) => Some(format!("{length} octets are no Ethernet frame")),
                _ if length > longest => Some(format!("{length} octets are more than {longest}")),
                _ => None,
            };
            if let Some(reason) = reason {
                return Err(refuse(format!("packet {number}: {reason}")));
            }
            kept += length as u64;
            if kept > LARGEST_BYTES {
                return Err(refuse(format!("more than {LARGEST_BYTES} octets of frames")));
            }
            times_ns.push(record.time_ns);
            frames.push(std::mem::take(&mut record.bytes));
        }
        match frames.is_empty() {
            true => Err(refuse("it has no packets".into())),
            false => Ok(Self { frames, times_ns }),
        }
    }

    /// Number of frames.
    pub fn frames(&self) -> u64 {
        self.frames.len() as u64
    }

    /// The frame that packet number `sequence` is, over and over.
    #[inline]
    pub fn frame(&self, sequence: u64) -> &[u8] {
        &self.frames[(sequence % self.frames()) as usize]
    }

    /// Mean size, with checksum.
    pub fn mean_bytes(&self) -> f64 {
        let octets: usize = self.frames.iter().map(|frame| frame.len() + FCS_BYTES).sum();
        octets as f64 / self.frames.len() as f64
    }

    /// Size of the largest, with checksum.
    pub fn largest_bytes(&self) -> u16 {
        let longest = self.frames.iter().map(Vec::len).max().unwrap_or(0);
        (longest + FCS_BYTES).min(usize::from(u16::MAX)) as u16
    }

    /// A gap behind each frame, that behind the last as long as the mean of the others; none where
    /// no time passes. A frame whose time is before the one before follows at once.
    pub fn gaps_ns(&self) -> Option<Vec<u64>> {
        let between = self.times_ns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let mut gaps: Vec<u64> = between.collect();
        let sum: u64 = gaps.iter().sum();
        gaps.push(sum.checked_div(gaps.len() as u64)?);
        (sum > 0).then_some(gaps)
    }
}

/// What of a recording is under way: from the sender to the receiver, on one thread.
#[derive(Debug)]
pub struct UnderWay {
    /// Where in the recording a content is.
    places: HashMap<u64, Vec<u32>>,
    frames: u64,
    sent: u64,
    /// Times of the newest.
    times_ns: VecDeque<u64>,
    /// One more than the newest that came.
    next: u64,
    /// Those before it that did not come.
    missing: BTreeSet<u64>,
}

/// What a frame that came was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recognised {
    /// Its number in the stream.
    pub sequence: u64,
    /// When it was to be sent; none where that was too long ago.
    pub intended_ns: Option<u64>,
}

impl UnderWay {
    /// Nothing of this recording yet.
    pub fn new(recording: &Recording) -> Self {
        let mut places: HashMap<u64, Vec<u32>> = HashMap::new();
        for (place, frame) in recording.frames.iter().enumerate() {
            places.entry(content(frame)).or_default().push(place as u32);
        }
        Self {
            places,
            frames: recording.frames(),
            sent: 0,
            times_ns: VecDeque::new(),
            next: 0,
            missing: BTreeSet::new(),
        }
    }

    /// The next frame was built, to be sent then.
    #[inline]
    pub fn sent(&mut self, intended_ns: u64) {
        self.sent += 1;
        self.times_ns.push_back(intended_ns);
        if self.times_ns.len() > REMEMBERED {
            self.times_ns.pop_front();
        }
    }

    /// Which of the frames under way this is, if it is of the recording.
    pub fn recognise(&mut self, frame: &[u8]) -> Option<Recognised> {
        let places = self.places.get(&content(frame))?;
        let is_one =
            |sequence: u64| places.binary_search(&((sequence % self.frames) as u32)).is_ok();
        let ahead = following(places, self.frames, self.next).filter(|&it| it < self.sent);
        let behind = self.missing.iter().rev().copied().find(|&it| is_one(it));
        let sequence = match (ahead, behind) {
            (Some(ahead), Some(behind)) if ahead - self.next < self.next - behind => ahead,
            (_, Some(behind)) => behind,
            (Some(ahead), None) => ahead,
            // All that were sent came already: a copy of the last of them.
            (None, None) => preceding(places, self.frames, self.next)?,
        };
        if sequence >= self.next {
            self.missing.extend(self.next..sequence);
            self.next = sequence + 1;
            while self.missing.len() > REMEMBERED {
                self.missing.pop_first();
            }
        } else {
            self.missing.remove(&sequence);
        }
        let first = self.sent - self.times_ns.len() as u64;
        let remembered = sequence.checked_sub(first);
        let intended_ns = remembered.and_then(|at| self.times_ns.get(at as usize).copied());
        Some(Recognised { sequence, intended_ns })
    }
}

/// The first number from `from` on at one of these places of the recording.
fn following(places: &[u32], frames: u64, from: u64) -> Option<u64> {
    let (round, within) = (from / frames, (from % frames) as u32);
    match places.get(places.partition_point(|&place| place < within)) {
        Some(&place) => Some(round * frames + u64::from(place)),
        None => places.first().map(|&place| (round + 1) * frames + u64::from(place)),
    }
}

/// The last number before `before` at one of these places.
fn preceding(places: &[u32], frames: u64, before: u64) -> Option<u64> {
    let (round, within) = (before / frames, (before % frames) as u32);
    match places.partition_point(|&place| place < within).checked_sub(1) {
        Some(at) => Some(round * frames + u64::from(places[at])),
        None => Some(round.checked_sub(1)? * frames + u64::from(*places.last()?)),
    }
}

/// A frame's content, however it was filled up.
fn content(frame: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(frame);
    if let Some(short) = PADDED.checked_sub(frame.len()) {
        hasher.write(&[0; PADDED][..short]);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::pcap::{LINK_RAW, Writer};

    fn recording(names: &str) -> Recording {
        let frames = names.bytes().map(|name| vec![name; 80]).collect();
        Recording { frames, times_ns: (0..names.len() as u64).map(|at| at * 1_000).collect() }
    }

    /// What each of these is taken for, when so many were sent.
    fn came(recording: &Recording, sent: u64, names: &str) -> Vec<Option<u64>> {
        let mut under_way = UnderWay::new(recording);
        (0..sent).for_each(|at| under_way.sent(at * 10));
        let recognise = |name: u8| {
            let known = under_way.recognise(&[name; 80])?;
            assert_eq!(known.intended_ns, Some(known.sequence * 10));
            Some(known.sequence)
        };
        names.bytes().map(recognise).collect()
    }

    #[test]
    fn frames_are_told_by_their_content_over_rounds_losses_copies_and_reordering() {
        let plain = recording("ABCDEFGH");
        let some = |numbers: &[u64]| numbers.iter().map(|&it| Some(it)).collect::<Vec<_>>();
        assert_eq!(came(&plain, 24, "ABCDEFGHAB"), some(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
        assert_eq!(came(&plain, 24, "ABDEFGHABC"), some(&[0, 1, 3, 4, 5, 6, 7, 8, 9, 10]), "loss");
        assert_eq!(came(&plain, 24, "ABDCE"), some(&[0, 1, 3, 2, 4]), "reordering");
        assert_eq!(came(&plain, 4, "ABCCD"), some(&[0, 1, 2, 2, 3]), "a copy");
        assert_eq!(came(&plain, 4, "AXB"), [Some(0), None, Some(1)], "another's");
    }

    #[test]
    fn equal_frames_are_taken_in_the_order_in_which_they_were_sent() {
        let twins = recording("AABA");
        let numbers: Vec<Option<u64>> = (0..8).map(Some).collect();
        assert_eq!(came(&twins, 8, "AABAAABA"), numbers);
    }

    #[test]
    fn a_frame_filled_up_on_the_wire_is_known() {
        let short = Recording { frames: vec![vec![7; 42]], times_ns: vec![0] };
        let mut under_way = UnderWay::new(&short);
        under_way.sent(5);
        let mut padded = vec![7; 42];
        padded.resize(60, 0);
        assert_eq!(under_way.recognise(&padded).unwrap().intended_ns, Some(5));
    }

    #[test]
    fn gaps_are_those_recorded_and_a_mean_one_at_the_end() {
        let four = Recording { times_ns: vec![0, 100, 50, 250], ..recording("ABCD") };
        assert_eq!(four.gaps_ns(), Some(vec![100, 0, 200, 100]));
        assert_eq!(Recording { times_ns: vec![7, 7], ..recording("AB") }.gaps_ns(), None);
        assert_eq!(recording("A").gaps_ns(), None);
    }

    #[test]
    fn captures_that_cannot_be_sent_say_which_packet_and_why() {
        let path = std::env::temp_dir().join(format!("lab-recording-{}.pcap", std::process::id()));
        let told = |octets: &[u8]| {
            std::fs::write(&path, octets).unwrap();
            Recording::load(&path).unwrap_err().to_string()
        };
        let file = |link_type, packets: &[(usize, u32)]| {
            let mut writer = Writer::new(Vec::new(), link_type).unwrap();
            for &(kept, whole) in packets {
                writer.write_part(0, &vec![0; kept], whole).unwrap();
            }
            writer.finish().unwrap()
        };
        assert!(told(&file(LINK_RAW, &[])).contains("link type 101: only Ethernet (1)"));
        assert!(told(&file(LINK_ETHERNET, &[])).contains("it has no packets"));
        let cut = told(&file(LINK_ETHERNET, &[(60, 60), (96, 1_500)]));
        assert!(cut.contains("packet 2: only 96 of its 1500 octets"), "{cut}");
        assert!(told(&file(LINK_ETHERNET, &[(13, 13)])).contains("packet 1: 13 octets are no"));
        assert!(told(&file(LINK_ETHERNET, &[(9_019, 9_019)])).contains("more than 9018"));
        let whole = file(LINK_ETHERNET, &[(60, 60), (60, 60)]);
        assert!(told(&whole[..whole.len() - 1]).contains("packet 2: "), "truncated");
        let next_generation = told(&[0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 0x1c].repeat(4));
        assert!(next_generation.contains("not pcapng"), "{next_generation}");
        std::fs::remove_file(&path).unwrap();
        assert!(Recording::load(&path).unwrap_err().to_string().contains("lab-recording"));
    }
}
