//! Policers: made when their agreement changes, shared with the ports that name them.

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part};
use control::config::Delta;
use control::config::objects::policer::{self as config, PolicerName};
use control::config::objects::port::{Port, PortName};
use control::engine::ApplyError;
use control::view;
use graph::tsc_hz;
use nodes::filter::{Mark, NamedPolicer, Policed, PolicerInput, PolicerOutput, Treatment};
use nodes::tables::Interface;
use police::{Agreement, Colour, ColourCounters, PoliceError, Policer, Rate};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All policers.
#[derive(Default)]
pub(crate) struct Policers {
    made: BTreeMap<PolicerName, Made>,
}

/// A policer as it is configured, and as workers ask it.
struct Made {
    config: config::Policer,
    named: Arc<NamedPolicer>,
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
        self.made.insert(name.clone(), Made { config: config.clone(), named });
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
    let (rate, burst_bytes) = (Rate::new(config.rate.0, tsc_hz())?, config.burst.0);
    let agreement = match (config.peak_rate, config.peak_burst) {
        (Some(peak), Some(peak_burst)) => {
            let (peak, peak_bytes) = (Rate::new(peak.0, tsc_hz())?, peak_burst.0);
            Agreement::TwoRate { rate, burst_bytes, peak, peak_bytes }
        }
        _ => {
            let excess_bytes = config.excess_burst.map(|excess| excess.0);
            Agreement::SingleRate { rate, burst_bytes, excess_bytes }
        }
    };
    Ok(NamedPolicer {
        policer: Policer::new(agreement, config.colour_aware)?,
        treatments: [config.conform, config.exceed, config.violate].map(treatment),
        counters: (0..workers).map(|_| ColourCounters::default()).collect(),
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
    fn show(&self, core: &Core, name: &PolicerName) -> view::Policer {
        let mut counts = [(0, 0); 3];
        for worker in &self.named.counters {
            for (sum, (packets, bytes)) in counts.iter_mut().zip(worker.read()) {
                *sum = (sum.0 + packets, sum.1 + bytes);
            }
        }
        let config = &self.config;
        let treatments = [config.conform, config.exceed, config.violate];
        let colour = |colour: Colour| view::PolicerColour {
            colour: view::PolicerColour::NAMES[colour as usize].to_owned(),
            action: treatments[colour as usize].text(),
            packets: counts[colour as usize].0,
            bytes: counts[colour as usize].1,
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
            rate: config.rate.to_string(),
            burst: config.burst.to_string(),
            excess_burst: config.excess_burst.map(|burst| burst.to_string()),
            peak_rate: config.peak_rate.map(|rate| rate.to_string()),
            peak_burst: config.peak_burst.map(|burst| burst.to_string()),
            colour_aware: config.colour_aware,
            ports_in: named(|port| port.policing.police_in.as_ref()),
            ports_out: named(|port| port.policing.police_out.as_ref()),
            colours: colours.map(colour).collect(),
        }
    }
}
