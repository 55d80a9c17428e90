//! What the lab itself can do over a kind of link, with no device in between: the ceiling that
//! results are held against, and the latency that every result contains.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use dpdk::kinds::{AfPacket, AfXdp, Memif, Tap, Vhost, VirtioUser};
use dpdk::{MemifRole, PortSpec};
use lab_traffic::arrivals::Imix;
use lab_traffic::clock::Clock;
use lab_traffic::ports::{self, Ports};
use lab_traffic::{End, Plan, Rate, Side, drive};
use serde::{Deserialize, Serialize};

use crate::link::LinkKind;
use crate::load::frames::Load;
use crate::place::output;
use crate::scenario::{Ethertype, FunctionKind, Traffic};
use crate::{Error, host};

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Kind of the link.
    pub link: LinkKind,
    /// Frame size with checksum.
    pub frame_bytes: u16,
    /// Most packets that came back in a second of the best round.
    pub ceiling_pps: f64,
    /// Least latency.
    pub floor_ns: u64,
    /// Median latency at a tenth of the ceiling.
    pub usual_ns: u64,
    /// On which host.
    host: String,
    /// When, in seconds since 1970.
    at_s: u64,
}

impl SelfTest {
    fn is_of(&self, link: LinkKind, frame_bytes: u16) -> bool {
        self.link == link && self.frame_bytes == frame_bytes
    }

    /// The one with the higher ceiling, and the lower of both latencies.
    fn or_better(self, other: Self) -> Self {
        let (floor_ns, usual_ns) =
            (self.floor_ns.min(other.floor_ns), self.usual_ns.min(other.usual_ns));
        let best = if other.ceiling_pps > self.ceiling_pps { other } else { self };
        Self { floor_ns, usual_ns, ..best }
    }
}

/// Kernel devices of the self-test.
const ENDS: [&str; 2] = ["s0", "s1"];
/// Rounds of which the best counts: a busy machine only makes them worse.
const ROUNDS: usize = 3;
/// Longest a round takes, and usually.
pub const ROUND_S: f64 = 0.2;
/// Results older than this are forgotten.
const VALID_S: u64 = 24 * 3600;

/// Measures in rounds of so many seconds, with nothing between the ends.
pub fn measure(
    clock: &Clock,
    ports: &Ports,
    (link, frame_bytes): (LinkKind, u16),
    round_s: f64,
    folder: &Path,
) -> Result<SelfTest, Error> {
    std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let mut ends = direct(ports, link, folder)?;
    let traffic = Traffic::default();
    let sizes = Imix::single(frame_bytes);
    let load = Load::new(FunctionKind::CrossConnect, Ethertype::Udp4, &traffic, sizes);
    let mut round = |rate: Rate| {
        let streams = [vec![load.stream(rate)], Vec::new()];
        let sides = ends.iter_mut().zip(streams);
        let sides = sides.map(|(end, streams)| Side { end, streams }).collect();
        drive(clock, sides, &Plan::new(round_s), &mut |_| true)
    };
    let mut ceiling_pps: f64 = 0.0;
    for _ in 0..ROUNDS {
        ceiling_pps = ceiling_pps.max(round(Rate::Max)?.received_pps());
    }
    let latency = round(Rate::Pps((ceiling_pps / 10.0).max(1.0)))?.latency();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(SelfTest {
        link,
        frame_bytes,
        ceiling_pps,
        floor_ns: latency.min_ns(),
        usual_ns: latency.percentile_ns(50.0),
        host: host::fingerprint(),
        at_s: since.as_secs(),
    })
}

/// Measured now; the ceiling and the floor are the best of this and what was kept of earlier times
/// on this host, as other work on it only makes them worse. Kept in its turn.
pub fn best_known(
    clock: &Clock,
    ports: &Ports,
    (link, frame_bytes): (LinkKind, u16),
    round_s: f64,
    folder: &Path,
) -> Result<SelfTest, Error> {
    let mut found = measure(clock, ports, (link, frame_bytes), round_s, folder)?;
    let cache = cache_file();
    let text = std::fs::read_to_string(&cache).unwrap_or_default();
    // A cache that cannot be read is one that is not there.
    let mut all: Vec<SelfTest> = serde_json::from_str(&text).unwrap_or_default();
    all.retain(|it| it.host == found.host && it.at_s + VALID_S > found.at_s);
    for earlier in all.extract_if(.., |it| it.is_of(link, frame_bytes)) {
        found = found.or_better(earlier);
    }
    all.push(found.clone());
    if let (Some(parent), Ok(text)) = (cache.parent(), serde_json::to_string(&all)) {
        let _ = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&cache, text));
    }
    Ok(found)
}

fn cache_file() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    base.unwrap_or_else(std::env::temp_dir).join("volley-lab/self-test.json")
}

/// Both ends of one link.
fn direct(ports: &Ports, link: LinkKind, folder: &Path) -> Result<Vec<End>, Error> {
    let socket = folder.join("direct.sock");
    let memif = |role| PortSpec::from(Memif::usual(role, socket.clone(), 0));
    let kernel = |device: &str| match link {
        LinkKind::VethXdp => {
            PortSpec::AfXdp(AfXdp { device: device.into(), first_queue: 0, force_copy: false })
        }
        _ => PortSpec::AfPacket(AfPacket::usual(device.into())),
    };
    let specs = match link {
        LinkKind::Pcap | LinkKind::Pci => {
            let reason = "the lab cannot have both of its ends".to_owned();
            return Err(Error::Port { port: link.to_string(), reason });
        }
        LinkKind::Memif => [memif(MemifRole::Server), memif(MemifRole::Client)],
        LinkKind::Vhost => [
            PortSpec::Vhost(Vhost { socket: socket.clone(), client: false }),
            PortSpec::VirtioUser(VirtioUser { path: socket.clone(), server: false }),
        ],
        LinkKind::Tap => [PortSpec::Tap(Tap { name: ENDS[0].into() }), kernel(ENDS[0])],
        LinkKind::Veth | LinkKind::VethXdp => {
            let [one, other] = ENDS;
            let quiet =
                |name: &str| format!("echo 1 > /proc/sys/net/ipv6/conf/{name}/disable_ipv6");
            let line = format!(
                "ip link del {one} 2>/dev/null; ip link add {one} type veth peer name {other} && {} && {} && \
                 ip link set {one} up && ip link set {other} up",
                quiet(one),
                quiet(other)
            );
            output(&["sh", "-c", &line])
                .map_err(|reason| Error::Command { line: line.clone(), reason })?;
            ENDS.map(kernel)
        }
    };
    let mut ends = specs.iter().map(|spec| ports.open(spec)).collect::<Result<Vec<_>, _>>()?;
    ports::wait_for_links(&mut ends, ports::LINK_PATIENCE)?;
    Ok(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_tests_the_best_of_each_is_kept() {
        let test = |ceiling_pps, floor_ns, usual_ns, at_s| SelfTest {
            link: LinkKind::Veth,
            frame_bytes: 64,
            ceiling_pps,
            floor_ns,
            usual_ns,
            host: "here".into(),
            at_s,
        };
        let (busy, quiet) = (test(140e3, 4_900, 550_000, 2), test(220e3, 5_000, 8_000, 1));
        let best = test(220e3, 4_900, 8_000, 1);
        assert_eq!(busy.clone().or_better(quiet.clone()), best);
        assert_eq!(quiet.or_better(busy), best);
    }
}
