//! Streams in a TOML file: made here, or the frames of a capture.
//!
//! ```text
//! [[stream]]                                   [[stream]]
//! rate = "10%"                                 replay = "seen.pcap"      beside this file
//! frame_bytes = [64, 1518]                     times = 10                once, unless it is said
//! [[stream.headers]] kind = "ethernet" …       rate = "20kpps"           with its gaps, unless it is said
//! ```
//! A mistake is told at its line and column: of a whole stream, at its beginning.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::Rate;
use super::header::Header;
use super::recording::Recording;
use super::stream::{FRAME_BYTES, Stream};
use super::vary::Vary;
use crate::Error;
use crate::arrivals::{Imix, Process};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    stream: Vec<Spanned<Entry>>,
}

/// All that a stream may say; which of it goes together is found out below.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    headers: Option<Vec<Header>>,
    frame_bytes: Option<Imix>,
    vary: Option<Vec<Vary>>,
    rate: Option<Rate>,
    arrivals: Option<Process>,
    packets: Option<u64>,
    #[serde(default)]
    after_s: f64,
    replay: Option<PathBuf>,
    times: Option<u64>,
}

/// Reads a file of streams, each fit to be sent.
pub fn load(path: &Path) -> Result<Vec<Stream>, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(&text, &path.display().to_string(), folder)
}

/// Reads streams; `path` is for messages, captures are looked for in `folder`.
pub fn parse(text: &str, path: &str, folder: &Path) -> Result<Vec<Stream>, Error> {
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Error::in_text(text, path, at, error.message())
    })?;
    if file.stream.is_empty() {
        return Err(Error::in_text(text, path, 0, "no [[stream]] is in it"));
    }
    let read = |entry: Spanned<Entry>| {
        let at = entry.span().start;
        let made = entry.into_inner().stream(folder);
        let made = made.and_then(|stream| match stream.check() {
            Ok(()) => Ok(stream),
            Err(error) => Err(error.to_string()),
        });
        made.map_err(|reason| Error::in_text(text, path, at, &reason))
    };
    file.stream.into_iter().map(read).collect()
}

impl Entry {
    fn stream(self, folder: &Path) -> Result<Stream, String> {
        if !(0.0..=1e6).contains(&self.after_s) {
            return Err(format!("after_s = {} is not 0 to 1,000,000 s", self.after_s));
        }
        let stream = match self.replay.clone() {
            Some(capture) => self.replay(&folder.join(capture))?,
            None => self.made()?,
        };
        Ok(stream)
    }

    fn replay(self, capture: &Path) -> Result<Stream, String> {
        let own = [
            ("headers", self.headers.is_some()),
            ("frame_bytes", self.frame_bytes.is_some()),
            ("vary", self.vary.is_some()),
        ];
        if let Some((field, _)) = own.into_iter().find(|(_, there)| *there) {
            return Err(format!("{field} does not go with replay: its frames are what they are"));
        }
        let recording = Arc::new(Recording::load(capture).map_err(|error| error.to_string())?);
        let times = self.times.unwrap_or(1);
        let stream = match self.rate {
            Some(rate) => Stream::replay_at(recording, times, rate),
            None => Stream::replay(recording, times).ok_or_else(|| {
                format!("no time passes in {}: say at which rate to send it", capture.display())
            })?,
        };
        Ok(Stream {
            name: self.name.unwrap_or(stream.name),
            arrivals: self.arrivals.unwrap_or(stream.arrivals),
            packets: self.packets.or(stream.packets),
            after_s: self.after_s,
            ..stream
        })
    }

    fn made(self) -> Result<Stream, String> {
        if self.times.is_some() {
            return Err("times goes with replay".into());
        }
        let headers = self.headers.ok_or("headers are missing, or a capture to replay")?;
        let rate = self.rate.ok_or("its rate is missing")?;
        let sizes = self.frame_bytes.unwrap_or_else(|| Imix::single(*FRAME_BYTES.start()));
        let stream = Stream::new(self.name.as_deref().unwrap_or("stream"), headers, sizes, rate);
        Ok(Stream {
            vary: self.vary.unwrap_or_default(),
            arrivals: self.arrivals.unwrap_or(stream.arrivals),
            packets: self.packets,
            after_s: self.after_s,
            ..stream
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE: &str = "[[stream]]\nrate = '10%'\nframe_bytes = [64, 1518]\n[[stream.headers]]\n\
                        kind = 'ethernet'\nsource = '02:00:00:00:00:01'\n\
                        destination = '02:00:00:00:00:02'\n";

    fn told(text: &str, folder: &Path) -> String {
        parse(text, "s.toml", folder).unwrap_err().to_string()
    }

    /// A capture of two frames, 5 ms apart.
    fn capture(folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let file = std::fs::File::create(folder.join("seen.pcap")).unwrap();
        let mut writer = wire::pcap::Writer::new(file, wire::pcap::LINK_ETHERNET).unwrap();
        for time_ns in [1_000_000_000, 1_005_000_000] {
            writer.write(time_ns, &[0x02; 60]).unwrap();
        }
        writer.finish().unwrap();
    }

    #[test]
    fn streams_are_made_or_replayed() {
        let folder = std::env::temp_dir().join(format!("lab-streams-{}", std::process::id()));
        capture(&folder);
        let text = format!(
            "{MADE}[[stream]]\nreplay = 'seen.pcap'\ntimes = 3\nafter_s = 0.5\n\
                            [[stream]]\nname = 'fast'\nreplay = 'seen.pcap'\nrate = '20kpps'\npackets = 5\n"
        );
        let streams = parse(&text, "s.toml", &folder).unwrap();
        assert_eq!(streams[0].frame_bytes.sequence(), [64, 1_518]);
        assert_eq!(
            (streams[1].packets, streams[1].after_s, streams[1].rate),
            (Some(6), 0.5, Rate::Pps(200.0))
        );
        assert_eq!(streams[1].arrivals, Process::Trace { gaps_ns: vec![5_000_000, 5_000_000] });
        assert_eq!((streams[2].name.as_str(), streams[2].packets), ("fast", Some(5)));
        assert_eq!((streams[2].rate, &streams[2].arrivals), (Rate::Pps(20e3), &Process::Constant));
        let odd = text.replace("times = 3", "times = 3\nframe_bytes = [64]");
        assert_eq!(
            told(&odd, &folder),
            "s.toml:8:1: frame_bytes does not go with replay: its frames are what they are"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn mistakes_are_told_where_they_are() {
        let nowhere = Path::new("/nowhere");
        let told = |from: &str, to: &str| told(&MADE.replace(from, to), nowhere);
        assert!(told("rate =", "rates =").starts_with("s.toml:2:1: unknown field `rates`"));
        assert!(told("'10%'", "'fast'").starts_with("s.toml:2:8: rate \"fast\""));
        let odd = told("kind = 'ethernet'", "kind = 'token ring'");
        assert!(
            odd.starts_with("s.toml:") && odd.contains("unknown variant `token ring`"),
            "{odd}"
        );
        assert_eq!(told("rate = '10%'\n", ""), "s.toml:1:1: its rate is missing");
        assert!(
            told("[64, 1518]", "[9]").starts_with("s.toml:1:1: stream stream: frames of 9 octets")
        );
        assert_eq!(told("rate", "times = 2\nrate"), "s.toml:1:1: times goes with replay");
        assert!(told("rate", "after_s = -1.0\nrate").starts_with("s.toml:1:1: after_s = -1"));
        let gone = "[[stream]]\nreplay = 'gone.pcap'\n";
        assert!(super::tests::told(gone, nowhere).starts_with("s.toml:1:1: /nowhere/gone.pcap: "));
        assert_eq!(
            super::tests::told("stream = []", nowhere),
            "s.toml:1:1: no [[stream]] is in it"
        );
    }
}
