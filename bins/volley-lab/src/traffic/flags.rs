//! A stream as the flags of the command line say it, or several from a file.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use lab_traffic::arrivals::{Field, Imix, Process};
use lab_traffic::port_times::LatencyClock;
use lab_traffic::recording::Recording;
use lab_traffic::stream::{FieldName, Header, Stream, Vary};
use lab_traffic::{Plan, Rate};
use serde::Deserialize;
use wire::MacAddr;

use crate::Failure;
use crate::arguments::Arguments;

pub(super) const KNOWN: [&str; 29] = [
    "rate",
    "link",
    "seconds",
    "directions",
    "frame-bytes",
    "imix",
    "kind",
    "ethertype",
    "vlan",
    "vxlan",
    "source-mac",
    "destination-mac",
    "source",
    "destination",
    "source-port",
    "destination-port",
    "ttl",
    "flows",
    "vary",
    "order",
    "step",
    "arrivals",
    "packets",
    "seed",
    "streams",
    "out",
    "replay",
    "times",
    "timestamps",
];

/// Flags that go with `--replay`: its frames are what they are.
const OF_REPLAY: [&str; 10] = [
    "replay",
    "times",
    "rate",
    "link",
    "seconds",
    "arrivals",
    "packets",
    "seed",
    "out",
    "timestamps",
];

/// UDP port of VXLAN.
const VXLAN_PORT: u16 = 4_789;

/// The streams that are asked for: from the first port, and those from the second where a file
/// tells them.
pub(super) fn streams(arguments: &Arguments) -> Result<[Vec<Stream>; 2], Failure> {
    let Some(path) = arguments.text("streams").filter(|path| path.ends_with(".json")) else {
        return Ok([from_the_first(arguments)?, Vec::new()]);
    };
    let text = std::fs::read_to_string(path).map_err(lab_record::Error::file(path))?;
    Ok(lab_trial::yang::streams(&text, path)?)
}

fn from_the_first(arguments: &Arguments) -> Result<Vec<Stream>, Failure> {
    if let Some(path) = arguments.text("replay") {
        arguments.only(&OF_REPLAY).map_err(|failure| {
            Failure::Usage(format!("{failure} goes with --replay: its frames are what they are"))
        })?;
        return Ok(vec![replay(arguments, path)?]);
    }
    let Some(path) = arguments.text("streams") else { return Ok(vec![stream(arguments)?]) };
    Ok(lab_traffic::file::load(Path::new(path))?)
}

/// Who is to say when packets came.
pub(super) fn timestamps(arguments: &Arguments) -> Result<LatencyClock, Failure> {
    match arguments.text("timestamps").unwrap_or("processor") {
        "processor" => Ok(LatencyClock::Processor),
        "port" => Ok(LatencyClock::Port),
        other => Err(refuse("timestamps", other)),
    }
}

/// How long, on which link. Unless that is said, as long as all packets take where their number is.
pub(super) fn plan(arguments: &Arguments, streams: &[Stream]) -> Result<Plan, Failure> {
    let link_bps = arguments.number("link", 10e9)?;
    let needed = streams.iter().map(|stream| {
        let pps = stream.rate.pps(stream.mean_bytes(), link_bps);
        // Random gaps may come to a little more.
        stream.packets.zip(pps).map(|(packets, pps)| 1.0 + 1.1 * packets as f64 / pps)
    });
    let needed = needed.collect::<Option<Vec<f64>>>().unwrap_or_default();
    let usual = needed.into_iter().fold(10.0, f64::max).min(1e6);
    let seconds = arguments.number("seconds", usual)?;
    if !(0.001..=1e6).contains(&seconds) {
        return Err(Failure::Usage(format!("--seconds {seconds} is not 0.001 to 1,000,000")));
    }
    let seed = arguments.count("seed", 1)?;
    Ok(Plan { link_bps, seed, ..Plan::new(seconds) })
}

/// The frames of a capture: with its gaps, or at a rate that is asked for.
fn replay(arguments: &Arguments, path: &str) -> Result<Stream, Failure> {
    let recording = Arc::new(Recording::load(Path::new(path))?);
    let times = arguments.count("times", 1)?;
    let mut stream = match arguments.text("rate") {
        Some(rate) => Stream::replay_at(recording, times, rate.parse()?),
        None => Stream::replay(recording, times).ok_or_else(|| {
            Failure::Usage(format!("no time passes in {path}: say at which --rate to send it"))
        })?,
    };
    if let Some(text) = arguments.text("arrivals") {
        stream.arrivals = arrivals(text)?;
    }
    if arguments.text("packets").is_some() {
        stream.packets = Some(arguments.count("packets", 0)?);
    }
    Ok(stream)
}

fn stream(arguments: &Arguments) -> Result<Stream, Failure> {
    let rate: Rate = arguments.text("rate").unwrap_or("1Mpps").parse()?;
    let sizes = match (arguments.text("imix"), arguments.text("frame-bytes")) {
        (Some(genome), _) => Imix::parse(genome, 1_518)?,
        (None, Some(list)) => Imix::list(list.split(',').map(|it| it.trim().parse()))
            .ok_or_else(|| refuse("frame-bytes", list))?,
        (None, None) => Imix::single(64),
    };
    let mut stream = Stream::new("stream", headers(arguments)?, sizes, rate);
    stream.arrivals = arrivals(arguments.text("arrivals").unwrap_or("constant"))?;
    if arguments.text("packets").is_some() {
        stream.packets = Some(arguments.count("packets", 0)?);
    }
    stream.vary = vary(arguments)?;
    Ok(stream)
}

fn headers(arguments: &Arguments) -> Result<Vec<Header>, Failure> {
    let kind = arguments.text("kind").unwrap_or("udp4");
    let mac = |flag, default| value(arguments, flag, MacAddr([2, 0, 0, 0, 0, default]));
    let ethertype = arguments.text("ethertype").map(|text| {
        let hex = text.strip_prefix("0x").unwrap_or(text);
        u16::from_str_radix(hex, 16).map_err(|_| refuse("ethertype", text))
    });
    let ethertype = ethertype.transpose()?;
    let (source, destination) = (mac("source-mac", 1)?, mac("destination-mac", 2)?);
    let mut headers = Vec::new();
    if arguments.text("vxlan").is_some() {
        let outer = |last| [198, 18, 255, last].into();
        headers.extend([
            Header::Ethernet { source, destination, ethertype: None },
            Header::Ipv4 { source: outer(1), destination: outer(2), ttl: 64, dscp: 0 },
            Header::Udp { source_port: 49_152, destination_port: VXLAN_PORT },
            Header::Vxlan { vni: arguments.count("vxlan", 0)?.min(u64::from(u32::MAX)) as u32 },
        ]);
    }
    headers.push(Header::Ethernet { source, destination, ethertype });
    if arguments.text("vlan").is_some() {
        let id = arguments.count("vlan", 0)?.min(u64::from(u16::MAX)) as u16;
        headers.push(Header::Vlan { id, priority: 0 });
    }
    let hops = arguments.count("ttl", 64)?.min(255) as u8;
    match kind {
        "ethernet" => return Ok(headers),
        "udp4" | "tcp4" => headers.push(Header::Ipv4 {
            source: value(arguments, "source", [198, 18, 0, 2].into())?,
            destination: value(arguments, "destination", [198, 19, 0, 2].into())?,
            ttl: hops,
            dscp: 0,
        }),
        "udp6" | "tcp6" => headers.push(Header::Ipv6 {
            source: value(arguments, "source", [0x2001, 2, 0, 0, 0, 0, 0, 2].into())?,
            destination: value(arguments, "destination", [0x2001, 2, 0, 1, 0, 0, 0, 2].into())?,
            hop_limit: hops,
        }),
        other => return Err(refuse("kind", other)),
    }
    let source_port = value(arguments, "source-port", 1_024)?;
    let destination_port = value(arguments, "destination-port", 5_001)?;
    headers.push(match kind.starts_with("udp") {
        true => Header::Udp { source_port, destination_port },
        false => Header::Tcp { source_port, destination_port },
    });
    Ok(headers)
}

fn arrivals(text: &str) -> Result<Process, Failure> {
    let mut parts = text.split(':');
    let process = match (parts.next(), parts.next(), parts.next()) {
        (Some("constant"), None, None) => Some(Process::Constant),
        (Some("poisson"), None, None) => Some(Process::Poisson),
        (Some("burst"), Some(packets), None) => {
            packets.parse().ok().map(|packets| Process::Burst { packets })
        }
        (Some("on-off"), Some(peak), Some(on_us)) => {
            let numbers = peak.parse().ok().zip(on_us.parse().ok());
            numbers.map(|(peak, on_us)| Process::OnOff { peak, on_us })
        }
        (Some("trace"), Some(file), None) => {
            Some(Process::Trace { gaps_ns: lab_traffic::replay::gaps(Path::new(file))? })
        }
        _ => None,
    };
    process.ok_or_else(|| refuse("arrivals", text))
}

fn vary(arguments: &Arguments) -> Result<Vec<Vary>, Failure> {
    let flows = arguments.count("flows", 1)?;
    if flows <= 1 {
        return Ok(Vec::new());
    }
    let (step, seed) = (arguments.count("step", 1)?, arguments.count("seed", 1)?);
    let order = match arguments.text("order").unwrap_or("increment") {
        "increment" => Field::Increment { count: flows },
        "random" => Field::Random { count: flows, seed },
        "permutation" => Field::Permutation { count: flows, seed },
        other => return Err(refuse("order", other)),
    };
    let fields = arguments.text("vary").unwrap_or("destination-ip");
    let field = |name: &str| {
        let name = name.trim().replace('-', "_");
        let field = FieldName::deserialize(serde::de::value::StrDeserializer::new(&name));
        field.map_err(|_: serde::de::value::Error| refuse("vary", &name))
    };
    fields.split(',').map(|name| Ok(Vary { field: field(name)?, step, order })).collect()
}

fn value<T: FromStr>(arguments: &Arguments, flag: &str, default: T) -> Result<T, Failure> {
    let text = arguments.text(flag);
    text.map_or(Ok(default), |text| text.parse().map_err(|_| refuse(flag, text)))
}

fn refuse(flag: &str, text: &str) -> Failure {
    Failure::Usage(format!("--{flag} {text:?} makes no sense; see volley-lab help"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Stream, Failure> {
        let words = line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
        let read = stream(&Arguments::parse(words)?)?;
        read.check()?;
        Ok(read)
    }

    #[test]
    fn nothing_said_is_the_smallest_udp_over_ipv4_at_a_million_a_second() {
        let stream = read("").unwrap();
        assert_eq!((stream.rate, stream.frame_bytes.sequence()), (Rate::Pps(1e6), &[64][..]));
        assert_eq!(stream.headers.len(), 3);
    }

    #[test]
    fn flags_make_headers_sizes_flows_and_gaps() {
        let line = "--kind tcp6 --vlan 7 --vxlan 9 --frame-bytes 200,1518 --flows 1000000 \
                    --order permutation --vary source-ip,destination-port --arrivals burst:4";
        let stream = read(line).unwrap();
        assert_eq!(stream.headers.len(), 8);
        assert_eq!(stream.frame_bytes.sequence(), [200, 1_518]);
        assert_eq!(stream.vary[1].field, FieldName::DestinationPort);
        assert_eq!(stream.arrivals, Process::Burst { packets: 4 });
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_flag() {
        for line in ["--kind sctp", "--rate fast", "--frame-bytes 1,x", "--order odd --flows 2"] {
            let told = read(line).unwrap_err().to_string();
            assert!(told.contains(line.split(' ').nth(1).unwrap()), "{told}");
        }
        assert!(read("--frame-bytes 20").is_err());
    }
}
