//! A stream as the flags of the command line say it, or several from a file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum, ValueHint};
use lab_traffic::arrivals::{Field, Imix, Process};
use lab_traffic::port_times::LatencyClock;
use lab_traffic::recording::Recording;
use lab_traffic::{FieldName, Header, Stream, Vary};
use lab_traffic::{Plan, Rate};
use serde::Deserialize;
use wire::MacAddr;

use crate::{Failure, numbers};

/// It ends when `--packets` were sent. Ports: af_packet:DEVICE, af_xdp:DEVICE, tap:NAME,
/// memif:SOCKET, memif-client:SOCKET, vhost:SOCKET, virtio_user:SOCKET, pcap:IN+OUT, pci:ADDRESS,
/// ring, or memory[:delay=50us,lose=1000,…], a link of its own.
#[derive(Debug, Args)]
pub(crate) struct Traffic {
    /// Where it sends; where it awaits the packets, unless that is the same
    #[arg(required = true, num_args = 1..=2, value_name = "PORT")]
    pub(super) ports: Vec<String>,
    /// 1Mpps, 2.5Gbps, 50% of the link, or max
    #[arg(long)]
    rate: Option<Rate>,
    /// Speed of the link, for rates in percent of it
    #[arg(long, value_name = "BPS", default_value = "10G", value_parser = numbers::number)]
    link: f64,
    /// For how long; 10, or as long as the packets take
    #[arg(long, value_name = "S", value_parser = numbers::number)]
    seconds: Option<f64>,
    /// 2: the same from the second port to the first
    #[arg(long, value_name = "1|2", default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(super) directions: u8,
    /// Octets of a frame, with its checksum; of several one after the other. 64 unless said
    #[arg(long, value_name = "N,…", conflicts_with_all = ["imix", "replay"])]
    frame_bytes: Option<String>,
    /// Sizes as a genome (RFC 6985), as in 7a4d1g
    #[arg(long, value_name = "GENOME", conflicts_with = "replay")]
    imix: Option<String>,
    /// Gaps: constant, poisson, burst:N, on-off:PEAK:US or trace:PCAP. Constant unless said
    #[arg(long, value_name = "PROCESS")]
    arrivals: Option<String>,
    /// What the packets are
    #[arg(long, value_enum, default_value_t = Kind::Udp4, conflicts_with = "replay")]
    kind: Kind,
    /// Type of the Ethernet header, hexadecimal, as in 0x88b5
    #[arg(long, value_name = "TYPE", value_parser = hexadecimal, conflicts_with = "replay")]
    ethertype: Option<u16>,
    /// Tag with this VLAN
    #[arg(long, value_name = "ID", conflicts_with = "replay")]
    vlan: Option<u16>,
    /// In VXLAN of this network
    #[arg(long, value_name = "VNI", conflicts_with = "replay")]
    vxlan: Option<u32>,
    /// Ethernet address of the sender
    #[arg(
        long,
        value_name = "MAC",
        default_value = "02:00:00:00:00:01",
        conflicts_with = "replay"
    )]
    source_mac: MacAddr,
    /// Ethernet address of the receiver
    #[arg(
        long,
        value_name = "MAC",
        default_value = "02:00:00:00:00:02",
        conflicts_with = "replay"
    )]
    destination_mac: MacAddr,
    /// Address of the sender; 198.18.0.2 or 2001:2::2 unless said
    #[arg(long, value_name = "IP", conflicts_with = "replay")]
    source: Option<IpAddr>,
    /// Address of the receiver; 198.19.0.2 or 2001:2:0:1::2 unless said
    #[arg(long, value_name = "IP", conflicts_with = "replay")]
    destination: Option<IpAddr>,
    /// Port of the sender
    #[arg(long, value_name = "N", default_value_t = 1_024, conflicts_with = "replay")]
    source_port: u16,
    /// Port of the receiver
    #[arg(long, value_name = "N", default_value_t = 5_001, conflicts_with = "replay")]
    destination_port: u16,
    /// TTL or hop limit
    #[arg(long, value_name = "N", default_value_t = 64, conflicts_with = "replay")]
    ttl: u8,
    /// How many different packets
    #[arg(long, value_name = "N", default_value = "1", value_parser = numbers::count,
        conflicts_with = "replay")]
    flows: u64,
    /// Fields that make them different, as in source-ip,destination-port
    #[arg(
        long,
        value_name = "FIELD,…",
        default_value = "destination-ip",
        conflicts_with = "replay"
    )]
    vary: String,
    /// In which order
    #[arg(long, value_enum, default_value_t = Order::Increment, conflicts_with = "replay")]
    order: Order,
    /// Step of those fields
    #[arg(long, value_name = "N", default_value = "1", value_parser = numbers::count,
        conflicts_with = "replay")]
    step: u64,
    /// How many packets at most
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    packets: Option<u64>,
    /// Names everything random
    #[arg(long, value_name = "N", default_value = "1", value_parser = numbers::count)]
    seed: u64,
    /// Streams and captures from a file: TOML, or the generators of the IETF's network testers
    #[arg(long, value_name = "TOML|JSON", value_hint = ValueHint::FilePath,
        conflicts_with = "replay")]
    streams: Option<PathBuf>,
    /// The frames of a capture as they are, with its gaps unless a rate is said
    #[arg(long, value_name = "PCAP", value_hint = ValueHint::FilePath)]
    replay: Option<PathBuf>,
    /// How often the capture is sent
    #[arg(long, value_name = "N", default_value = "1", value_parser = numbers::count,
        requires = "replay")]
    times: u64,
    /// Who says when a packet came: the processor, or the port; refused where it cannot
    #[arg(long, value_enum, default_value_t = Timestamps::Processor)]
    timestamps: Timestamps,
    /// Write what came of it as JSON
    #[arg(long, value_name = "JSON", value_hint = ValueHint::FilePath)]
    pub(super) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Udp4,
    Udp6,
    Tcp4,
    Tcp6,
    Ethernet,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    Increment,
    Random,
    Permutation,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Timestamps {
    Processor,
    Port,
}

fn hexadecimal(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u16::from_str_radix(digits, 16).map_err(|error| error.to_string())
}

/// UDP port of VXLAN.
const VXLAN_PORT: u16 = 4_789;

/// The streams that are asked for: from the first port, and those from the second where a file
/// tells them.
pub(super) fn streams(arguments: &Traffic) -> Result<[Vec<Stream>; 2], Failure> {
    let is_json = |path: &&PathBuf| path.extension().is_some_and(|it| it == "json");
    let Some(path) = arguments.streams.as_ref().filter(is_json) else {
        return Ok([from_the_first(arguments)?, Vec::new()]);
    };
    let text = std::fs::read_to_string(path).map_err(lab_record::Error::file(path))?;
    Ok(lab_trial::yang::streams(&text, &path.display().to_string())?)
}

fn from_the_first(arguments: &Traffic) -> Result<Vec<Stream>, Failure> {
    if let Some(path) = &arguments.replay {
        return Ok(vec![replay(arguments, path)?]);
    }
    match &arguments.streams {
        Some(path) => Ok(lab_traffic::file::load(path)?),
        None => Ok(vec![stream(arguments)?]),
    }
}

/// Who is to say when packets came.
pub(super) fn timestamps(arguments: &Traffic) -> LatencyClock {
    match arguments.timestamps {
        Timestamps::Processor => LatencyClock::Processor,
        Timestamps::Port => LatencyClock::Port,
    }
}

/// How long, on which link. Unless that is said, as long as all packets take where their number is.
pub(super) fn plan(arguments: &Traffic, streams: &[Stream]) -> Result<Plan, Failure> {
    let link_bps = arguments.link;
    let needed = streams.iter().map(|stream| {
        let pps = stream.rate.pps(stream.mean_bytes(), link_bps);
        // Random gaps may come to a little more.
        stream.packets.zip(pps).map(|(packets, pps)| 1.0 + 1.1 * packets as f64 / pps)
    });
    let needed = needed.collect::<Option<Vec<f64>>>().unwrap_or_default();
    let usual = needed.into_iter().fold(10.0, f64::max).min(1e6);
    let seconds = arguments.seconds.unwrap_or(usual);
    if !(0.001..=1e6).contains(&seconds) {
        return Err(Failure::Usage(format!("--seconds {seconds} is not 0.001 to 1,000,000")));
    }
    let seed = arguments.seed;
    Ok(Plan { link_bps, seed, ..Plan::new(seconds) })
}

/// The frames of a capture: with its gaps, or at a rate that is asked for.
fn replay(arguments: &Traffic, path: &Path) -> Result<Stream, Failure> {
    let recording = Arc::new(Recording::load(path)?);
    let times = arguments.times;
    let mut stream = match arguments.rate {
        Some(rate) => Stream::replay_at(recording, times, rate),
        None => Stream::replay(recording, times).ok_or_else(|| {
            let path = path.display();
            Failure::Usage(format!("no time passes in {path}: say at which --rate to send it"))
        })?,
    };
    if let Some(text) = &arguments.arrivals {
        stream.arrivals = arrivals(text)?;
    }
    stream.packets = arguments.packets.or(stream.packets);
    Ok(stream)
}

fn stream(arguments: &Traffic) -> Result<Stream, Failure> {
    let rate = arguments.rate.unwrap_or(Rate::Pps(1e6));
    let sizes = match (&arguments.imix, &arguments.frame_bytes) {
        (Some(genome), _) => Imix::parse(genome, 1_518)?,
        (None, Some(list)) => Imix::list(list.split(',').map(|it| it.trim().parse()))
            .ok_or_else(|| refuse("frame-bytes", list))?,
        (None, None) => Imix::single(64),
    };
    let mut stream = Stream::new("stream", headers(arguments)?, sizes, rate);
    stream.arrivals = arguments.arrivals.as_deref().map_or(Ok(Process::Constant), arrivals)?;
    stream.packets = arguments.packets;
    stream.vary = vary(arguments)?;
    Ok(stream)
}

fn headers(arguments: &Traffic) -> Result<Vec<Header>, Failure> {
    let &Traffic { kind, ethertype, source_port, destination_port, .. } = arguments;
    let (source, destination) = (arguments.source_mac, arguments.destination_mac);
    let mut headers = Vec::new();
    if let Some(vni) = arguments.vxlan {
        let outer = |last| [198, 18, 255, last].into();
        headers.extend([
            Header::Ethernet { source, destination, ethertype: None },
            Header::Ipv4 { source: outer(1), destination: outer(2), ttl: 64, dscp: 0 },
            Header::Udp { source_port: 49_152, destination_port: VXLAN_PORT },
            Header::Vxlan { vni },
        ]);
    }
    headers.push(Header::Ethernet { source, destination, ethertype });
    headers.extend(arguments.vlan.map(|id| Header::Vlan { id, priority: 0 }));
    let (udp, version6) = match kind {
        Kind::Ethernet => return Ok(headers),
        Kind::Udp4 => (true, false),
        Kind::Tcp4 => (false, false),
        Kind::Udp6 => (true, true),
        Kind::Tcp6 => (false, true),
    };
    headers.push(if version6 {
        Header::Ipv6 {
            source: ip6("source", arguments.source, [0x2001, 2, 0, 0, 0, 0, 0, 2])?,
            destination: ip6("destination", arguments.destination, [0x2001, 2, 0, 1, 0, 0, 0, 2])?,
            hop_limit: arguments.ttl,
        }
    } else {
        Header::Ipv4 {
            source: ip4("source", arguments.source, [198, 18, 0, 2])?,
            destination: ip4("destination", arguments.destination, [198, 19, 0, 2])?,
            ttl: arguments.ttl,
            dscp: 0,
        }
    });
    headers.push(match udp {
        true => Header::Udp { source_port, destination_port },
        false => Header::Tcp { source_port, destination_port },
    });
    Ok(headers)
}

fn ip4(flag: &str, told: Option<IpAddr>, usual: [u8; 4]) -> Result<Ipv4Addr, Failure> {
    match told {
        None => Ok(usual.into()),
        Some(IpAddr::V4(address)) => Ok(address),
        Some(other) => Err(refuse(flag, &other.to_string())),
    }
}

fn ip6(flag: &str, told: Option<IpAddr>, usual: [u16; 8]) -> Result<Ipv6Addr, Failure> {
    match told {
        None => Ok(usual.into()),
        Some(IpAddr::V6(address)) => Ok(address),
        Some(other) => Err(refuse(flag, &other.to_string())),
    }
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

fn vary(arguments: &Traffic) -> Result<Vec<Vary>, Failure> {
    let &Traffic { flows: count, step, seed, order, .. } = arguments;
    if count <= 1 {
        return Ok(Vec::new());
    }
    let order = match order {
        Order::Increment => Field::Increment { count },
        Order::Random => Field::Random { count, seed },
        Order::Permutation => Field::Permutation { count, seed },
    };
    let field = |name: &str| {
        let name = name.trim().replace('-', "_");
        let field = FieldName::deserialize(serde::de::value::StrDeserializer::new(&name));
        field.map_err(|_: serde::de::value::Error| refuse("vary", &name))
    };
    let fields = arguments.vary.split(',');
    fields.map(|name| Ok(Vary { field: field(name)?, step, order })).collect()
}

fn refuse(flag: &str, text: &str) -> Failure {
    Failure::Usage(format!("--{flag} {text:?} makes no sense; see volley-lab help traffic"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        traffic: Traffic,
    }

    fn parse(line: &str) -> Result<Traffic, Failure> {
        let words = ["", "memory"].into_iter().chain(line.split(' ').filter(|it| !it.is_empty()));
        let words = Words::try_parse_from(words);
        words.map(|it| it.traffic).map_err(|error| Failure::Usage(error.to_string()))
    }

    fn read(line: &str) -> Result<Stream, Failure> {
        let read = stream(&parse(line)?)?;
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
        assert!(read("--frame-bytes 20").is_err() && read("--source ::1").is_err());
    }

    #[test]
    fn what_a_capture_says_itself_cannot_be_said_beside_it() {
        assert!(parse("--replay a.pcap --rate 1kpps --times 3").is_ok());
        for line in ["--replay a.pcap --ttl 3", "--replay a.pcap --kind udp4", "--times 3"] {
            let told = parse(line).unwrap_err().to_string();
            assert!(told.contains("--replay"), "{told}");
        }
    }
}
