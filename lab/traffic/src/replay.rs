//! Recorded traffic: the gaps of a capture, to send with.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use wire::pcap::{Reader, Record};

use crate::Error;

/// The gaps between the packets of a pcap file.
pub fn gaps(path: &Path) -> Result<Vec<u64>, Error> {
    let times = times_ns(path)?;
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    match gaps.iter().any(|&gap| gap > 0) {
        true => Ok(gaps),
        false => Err(refuse(path, "it has no two packets at different times")),
    }
}

fn times_ns(path: &Path) -> Result<Vec<u64>, Error> {
    let file = File::open(path).map_err(Error::file(path))?;
    let wrong = |error: wire::Error| refuse(path, &error.to_string());
    let mut reader = Reader::new(BufReader::new(file)).map_err(wrong)?;
    let (mut record, mut times) = (Record::default(), Vec::new());
    while reader.read(&mut record).map_err(wrong)? {
        times.push(record.time_ns);
    }
    Ok(times)
}

fn refuse(path: &Path, reason: &str) -> Error {
    Error::Capture { path: path.to_owned(), reason: reason.to_owned() }
}
