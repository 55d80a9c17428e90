//! The packet that `volley explain` is asked about: words, or the first of a capture file.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use clap::{Arg, ArgMatches, ValueHint, value_parser};
use wire::pcap::{LINK_ETHERNET, Reader, Record};

use crate::error::CliError;

/// The flag that names a capture file.
const PCAP: &str = "pcap";
/// What a pcapng file begins with.
const PCAPNG: &[u8] = &[0x0a, 0x0d, 0x0d, 0x0a];
/// What pcap files begin with: of micro- and of nanoseconds, each in both orders of octets.
const MAGIC: [[u8; 4]; 4] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
];

/// Words that a view is asked with, all of them; none where a file has what they would say.
pub(crate) fn arguments(words: Arg) -> [Arg; 2] {
    let words = words.num_args(1..).required_unless_present(PCAP);
    let pcap = Arg::new(PCAP).long(PCAP).value_name("FILE").value_hint(ValueHint::FilePath);
    let pcap = pcap.value_parser(value_parser!(std::path::PathBuf));
    let help = "Take the first frame of this pcap file; words say where it comes in, as in `in p1`";
    [words, pcap.help(help)]
}

/// What was said under a name, with the octets of the file where one was named.
pub(crate) fn said(matches: &ArgMatches, name: &str) -> Result<Option<String>, CliError> {
    let Some(mut words) = words(matches, name) else { return Ok(None) };
    if let Some(file) = matches.try_get_one::<std::path::PathBuf>(PCAP).ok().flatten() {
        words.push(format!("hex {}", first_of(file)?));
    }
    Ok(Some(words.join(" ")))
}

fn words(matches: &ArgMatches, name: &str) -> Option<Vec<String>> {
    let values = matches.try_get_raw(name).ok()?;
    let values = values.into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
    Some(values.collect())
}

/// The first frame of a capture file, in hexadecimal.
fn first_of(path: &Path) -> Result<String, CliError> {
    let wrong = |error: io::Error| CliError::File { path: path.to_owned(), error };
    let refused = |why: String| wrong(io::Error::new(io::ErrorKind::InvalidData, why));
    let mut file = BufReader::new(File::open(path).map_err(wrong)?);
    let begins = file.fill_buf().map_err(wrong)?;
    if begins.starts_with(PCAPNG) {
        let mend = "`editcap -F pcap` makes one of it";
        return Err(refused(format!("it is a pcapng file, not a pcap file: {mend}")));
    }
    if !MAGIC.iter().any(|magic| begins.starts_with(magic)) {
        return Err(refused("it is no pcap file".to_owned()));
    }
    let mut reader = Reader::new(file).map_err(|error| refused(error.to_string()))?;
    if reader.link_type() != LINK_ETHERNET {
        let kind = reader.link_type();
        return Err(refused(format!("its packets are of link type {kind}: expected 1, Ethernet")));
    }
    let mut record = Record::default();
    match reader.read(&mut record) {
        Ok(true) => Ok(record.bytes.iter().map(|octet| format!("{octet:02x}")).collect()),
        Ok(false) => Err(refused("there is no packet in it".to_owned())),
        Err(error) => Err(refused(error.to_string())),
    }
}
