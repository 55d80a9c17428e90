//! Policers: made when their agreement changes, shared with the ports that name them.

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::left::OfParts;
use crate::part::{Leaves, Makes, Part};
use control::config::Delta;
use control::config::field::Field;
use control::config::objects::policer::{self as config, PolicerName};
use control::config::objects::port::{Port, PortName};
use control::engine::ApplyError;
use control::view;
use graph::tsc_hz;
use nodes::filter::{Mark, NamedPolicer, Policed, PolicerInput, PolicerOutput, Treatment};
use nodes::tables::Interface;
use police::{Agreement, Colour, ColourCounters, Held, Limits, PacketAgreement, PoliceError, Rate};
use state::Table;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What stands behind a policer's name where it tells how many packets may come. No name has a
/// space, so a router that counts octets alone passes it over.
const PACKETS: &str = " packets";
/// For how long a killed router may have let packets pass since it wrote what was in its buckets.
const UNWRITTEN: Duration = Duration::from_millis(1500);

/// All policers.
#[derive(Default)]
pub(crate) struct Policers {
    made: BTreeMap<PolicerName, Made>,
}

/// A policer as it is configured, and as workers ask it.
struct Made {
    config: config::Policer,
    named: Arc<NamedPolicer>,
    /// Packets and bytes of each colour that routers before this one counted.
    before: [[u64; 2]; 3],
}

impl Policers {
    /// Makes, replaces or removes one, for so many workers. A port that names one that is gone is
    /// not held to it.
    fn set(
        &mut self,
        name: &PolicerName,
        config: Option<&config::Policer>,
        workers: usize,
    ) -> Result<(), PoliceError> {
        let Some(config) = config else {
            self.made.remove(name);
            return Ok(());
        };
        let named = Arc::new(make(config, workers)?);
        let made = Made { config: config.clone(), named, before: Default::default() };
        self.made.insert(name.clone(), made);
        Ok(())
    }

    /// What a policer is called.
    pub(crate) fn named(&self, policer: &Arc<NamedPolicer>) -> Option<String> {
        let found = self.made.iter().find(|(_, made)| Arc::ptr_eq(&made.named, policer));
        found.map(|(name, _)| name.to_string())
    }

    /// What a port does to the frames that it receives, and to those that it sends.
    fn of(&self, port: &Port) -> (Option<Policed>, Option<Policed>) {
        let policing = &port.policing;
        let named =
            |name: &Option<PolicerName>| Some(Arc::clone(&self.made.get(name.as_ref()?)?.named));
        let held = |policer: Option<Arc<NamedPolicer>>, mark: Mark| {
            (policer.is_some() || mark != Mark::default()).then_some(Policed { policer, mark })
        };
        let (input, output) = (named(&policing.police_in), named(&policing.police_out));
        (held(input, mark(policing.mark())), held(output, Mark::default()))
    }
}

fn make(config: &config::Policer, workers: usize) -> Result<NamedPolicer, PoliceError> {
    let octets = match (config.rate, config.burst) {
        (Some(rate), Some(burst)) => Some(octets(config, Rate::new(rate.0, tsc_hz())?, burst.0)?),
        _ => None,
    };
    let packets = match (config.packet_rate, config.packet_burst) {
        (Some(rate), Some(burst)) => {
            let rate = Rate::of_packets(rate.into(), tsc_hz())?;
            Some(PacketAgreement { rate, burst: burst.into() })
        }
        _ => None,
    };
    Ok(NamedPolicer {
        policer: Limits::new(octets, packets, config.colour_aware)?,
        treatments: [config.conform, config.exceed, config.violate].map(treatment),
        counters: (0..workers).map(|_| ColourCounters::default()).collect(),
    })
}

/// What was agreed about octets.
fn octets(
    config: &config::Policer,
    rate: Rate,
    burst_bytes: u64,
) -> Result<Agreement, PoliceError> {
    Ok(match (config.peak_rate, config.peak_burst) {
        (Some(peak), Some(peak_burst)) => {
            let (peak, peak_bytes) = (Rate::new(peak.0, tsc_hz())?, peak_burst.0);
            Agreement::TwoRate { rate, burst_bytes, peak, peak_bytes }
        }
        _ => {
            let excess_bytes = config.excess_burst.map(|excess| excess.0);
            Agreement::SingleRate { rate, burst_bytes, excess_bytes }
        }
    })
}

fn treatment(configured: config::Treatment) -> Treatment {
    match configured {
        config::Treatment::Drop => Treatment::Drop,
        config::Treatment::Pass(configured) => Treatment::Pass(mark(configured)),
    }
}

fn mark(configured: config::Mark) -> Mark {
    Mark { dscp: configured.dscp.map(|dscp| dscp.0), pcp: configured.pcp.map(|pcp| pcp.0) }
}

impl Part for Policers {
    fn row(&self, _: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        let (received, sent) = self.of(&port.config);
        row.set::<PolicerInput>(received);
        row.set::<PolicerOutput>(sent);
    }

    fn leaves(&self, core: &Core) -> Option<Leaves> {
        let now = core.clock.tsc();
        let left = |(name, made): (&PolicerName, &Made)| {
            let policer = &made.named.policer;
            let (Held { committed, beyond }, packets) = policer.held(policer.at(now));
            let (held, counted) = ([committed, beyond], made.counted());
            let of_octets = state::policers::Policer { name: name.to_string(), held, counted };
            let of_packets = made.config.packet_rate.map(|_| state::policers::Policer {
                name: format!("{name}{PACKETS}"),
                held: [packets, 0],
                counted: Default::default(),
            });
            [Some(of_octets), of_packets].into_iter().flatten()
        };
        let all: Vec<_> = self.made.iter().flat_map(left).collect();
        Some((Table::Policers, Box::new(move || state::policers::write(&all))))
    }

    /// Buckets go on from what was in them, and never above the agreement: of the time since then
    /// they lack as much as packets may have passed in unwritten.
    fn take_over(&mut self, core: &mut Core, left: &OfParts) {
        let (left, age) = &left.policers;
        let earned_for = age.saturating_sub(UNWRITTEN).as_nanos() * u128::from(tsc_hz());
        let ticks = u64::try_from(earned_for / 1_000_000_000).unwrap_or(u64::MAX);
        let then = core.clock.tsc().saturating_sub(ticks);
        for it in left {
            let name = PolicerName::from_text(&it.name).ok();
            let Some(made) = name.and_then(|name| self.made.get_mut(&name)) else { continue };
            let ([committed, beyond], policer) = (it.held, &made.named.policer);
            // Of who left none, none may come: it did not count them.
            let of_packets = format!("{}{PACKETS}", it.name);
            let packets = left.iter().find(|other| other.name == of_packets);
            let packets = packets.map_or(0, |it| it.held[0]);
            policer.go_on(policer.at(then), Held { committed, beyond }, packets);
            made.before = it.counted;
        }
    }
}

impl Makes<Delta<PolicerName, config::Policer>> for Policers {
    fn make(
        &mut self,
        core: &mut Core,
        change: &Delta<PolicerName, config::Policer>,
    ) -> Result<(), ApplyError> {
        let (name, config) = change.outcome();
        core.touch_rows();
        self.set(name, config, core.workers())
            .map_err(|error| fault(&format!("policer.{name}"), error.to_string()))
    }
}

impl Policers {
    pub(crate) fn show(&self, core: &Core) -> Vec<view::Policer> {
        self.made.iter().map(|(name, made)| made.show(core, name)).collect()
    }
}

impl Made {
    /// Packets and bytes of each colour.
    fn counted(&self) -> [[u64; 2]; 3] {
        let mut counts = self.before;
        for worker in &self.named.counters {
            for (sum, (packets, bytes)) in counts.iter_mut().zip(worker.read()) {
                *sum = [sum[0].wrapping_add(packets), sum[1].wrapping_add(bytes)];
            }
        }
        counts
    }

    fn show(&self, core: &Core, name: &PolicerName) -> view::Policer {
        let counts = self.counted();
        let config = &self.config;
        let treatments = [config.conform, config.exceed, config.violate];
        let colour = |colour: Colour| view::PolicerColour {
            colour: view::PolicerColour::NAMES[colour as usize].to_owned(),
            action: treatments[colour as usize].text(),
            packets: counts[colour as usize][0],
            bytes: counts[colour as usize][1],
        };
        let has_yellow = config.excess_burst.is_some() || config.peak_rate.is_some();
        let colours =
            Colour::ALL.into_iter().filter(|colour| has_yellow || *colour != Colour::Yellow);
        let named = |pick: fn(&Port) -> Option<&PolicerName>| {
            let ports = core.ports.iter().filter(|(_, port)| pick(&port.config) == Some(name));
            ports.map(|(port, _)| port.to_string()).collect()
        };
        view::Policer {
            name: name.to_string(),
            rate: config.rate.map(|rate| rate.to_string()),
            burst: config.burst.map(|burst| burst.to_string()),
            excess_burst: config.excess_burst.map(|burst| burst.to_string()),
            peak_rate: config.peak_rate.map(|rate| rate.to_string()),
            peak_burst: config.peak_burst.map(|burst| burst.to_string()),
            packet_rate: config.packet_rate,
            packet_burst: config.packet_burst,
            colour_aware: config.colour_aware,
            ports_in: named(|port| port.policing.police_in.as_ref()),
            ports_out: named(|port| port.policing.police_out.as_ref()),
            colours: colours.map(colour).collect(),
        }
    }
}
