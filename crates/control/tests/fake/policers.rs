//! Policers, with made-up counters.

use super::FakeRouter;
use crate::config::objects::policer::{Policer, PolicerName};
use crate::config::objects::port::Port;
use crate::view::{self, All, Answer, Answered, Shown};

impl Answer<view::Policer> for FakeRouter {
    fn answer(&mut self, _: &All) -> Answered<view::Policer> {
        let policers = self.config.policers.iter();
        let shown = policers.map(|(name, policer)| self.show_policer(name, policer)).collect();
        Ok(Shown::Whole(shown))
    }
}

impl FakeRouter {
    fn show_policer(&self, name: &PolicerName, policer: &Policer) -> view::Policer {
        let named = |pick: fn(&Port) -> Option<&PolicerName>| {
            let ports = self.config.ports.iter().filter(|(_, port)| pick(port) == Some(name));
            ports.map(|(port, _)| port.to_string()).collect()
        };
        let actions = [policer.conform, policer.exceed, policer.violate];
        let colours = view::PolicerColour::NAMES.into_iter().zip(actions);
        view::Policer {
            name: name.to_string(),
            rate: policer.rate.map(|rate| rate.to_string()),
            burst: policer.burst.map(|burst| burst.to_string()),
            excess_burst: policer.excess_burst.map(|burst| burst.to_string()),
            peak_rate: policer.peak_rate.map(|rate| rate.to_string()),
            peak_burst: policer.peak_burst.map(|burst| burst.to_string()),
            packet_rate: policer.packet_rate,
            packet_burst: policer.packet_burst,
            colour_aware: policer.colour_aware,
            ports_in: named(|port| port.policing.police_in.as_ref()),
            ports_out: named(|port| port.policing.police_out.as_ref()),
            colours: colours
                .map(|(colour, action)| view::PolicerColour {
                    colour: colour.to_owned(),
                    action: action.text(),
                    packets: self.count(9),
                    bytes: self.count(900),
                })
                .collect(),
        }
    }
}
