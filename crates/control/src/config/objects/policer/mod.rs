//! `[policer.NAME]`: what was agreed about traffic (RFC 2697, RFC 2698). Ports that name it share
//! it.
//!
//! ```text
//!  rate, burst                            one rate, two colours:   conform, violate
//!  rate, burst, excess_burst              one rate, three:         conform, exceed, violate
//!  rate, burst, peak_rate, peak_burst     two rates, three:        conform, exceed, violate
//! ```

#[cfg(test)]
mod tests;
mod treatment;

use super::name::name_field;
use super::{Config, Object};
use crate::config::edit::{Command, Words};
use crate::config::field::Field;
use crate::config::host::Host;
use crate::config::nearest;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer, quoted};
use sched::units::{Rate, Size};
use toml::de::DeTable;

pub use treatment::{Dscp, Mark, Pcp, Treatment};

name_field! {
    /// A policer's name.
    PolicerName = "policer"
}

/// Longest burst: more than any link sends in a second.
const MOST_BYTES: u64 = 1 << 40;

/// A policer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policer {
    /// The committed rate.
    pub rate: Rate,
    /// The committed burst.
    pub burst: Size,
    /// What more may come after silence, of one rate and three colours.
    pub excess_burst: Option<Size>,
    /// The peak rate, where there are two.
    pub peak_rate: Option<Rate>,
    /// Its burst.
    pub peak_burst: Option<Size>,
    /// Whether packets are no better than their DSCP says.
    pub colour_aware: bool,
    /// What becomes of green packets.
    pub conform: Treatment,
    /// What becomes of yellow ones.
    pub exceed: Treatment,
    /// What becomes of red ones.
    pub violate: Treatment,
}

impl Policer {
    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let (rate, burst) = (table.required("rate"), table.required("burst"));
        let excess_burst = table.optional("excess_burst");
        let (peak_rate, peak_burst) = (table.optional("peak_rate"), table.optional("peak_burst"));
        Some(Self {
            rate: rate?,
            burst: burst?,
            excess_burst,
            peak_rate,
            peak_burst,
            colour_aware: table.or("colour_aware", false),
            conform: table.or("conform", Treatment::PASS),
            exceed: table.or("exceed", Treatment::PASS),
            violate: table.or("violate", Treatment::Drop),
        })
    }

    fn check(&self, field: &str, report: &mut Report) {
        let mut refuse = |key: &str, message: String, expected: &str| {
            let problem = Problem::new(format!("{field}.{key}"), message);
            report.push(problem.expected(expected.to_owned()));
        };
        for (key, rate) in [("rate", Some(self.rate)), ("peak_rate", self.peak_rate)] {
            if rate == Some(Rate(0)) {
                refuse(key, "nothing would ever pass".to_owned(), "a rate above 0");
            }
        }
        let bursts = [
            ("burst", Some(self.burst)),
            ("excess_burst", self.excess_burst),
            ("peak_burst", self.peak_burst),
        ];
        for (key, burst) in bursts {
            if let Some(burst) = burst.filter(|burst| !(1..=MOST_BYTES).contains(&burst.0)) {
                refuse(key, format!("a burst of {} bytes", burst.0), "1 byte to 1024gb");
            }
        }
        match (self.peak_rate, self.peak_burst) {
            (Some(peak), Some(_)) if peak < self.rate => {
                let message = format!("a peak rate of {peak}, below the rate of {}", self.rate);
                refuse("peak_rate", message, "a peak rate that is not below the rate");
            }
            (Some(_), None) => {
                refuse("peak_burst", "it is missing".to_owned(), "peak_rate and peak_burst")
            }
            (None, Some(_)) => {
                refuse("peak_rate", "it is missing".to_owned(), "peak_rate and peak_burst")
            }
            _ => {}
        }
        if self.excess_burst.is_some() && self.peak_rate.is_some() {
            let message = "one rate with an excess burst, and two rates".to_owned();
            refuse("excess_burst", message, "excess_burst, or peak_rate and peak_burst");
        }
        if self.exceed != Treatment::PASS && self.excess_burst.is_none() && self.peak_rate.is_none()
        {
            let message = "no packet is yellow with one rate and one burst".to_owned();
            refuse("exceed", message, "excess_burst, or peak_rate and peak_burst");
        }
    }
}

impl Row for Policer {
    const KIND: &'static str = "policer";

    fn fields(&self) -> Fields {
        Fields::new()
            .with("rate", &self.rate)
            .with("burst", &self.burst)
            .maybe("excess_burst", &self.excess_burst)
            .maybe("peak_rate", &self.peak_rate)
            .maybe("peak_burst", &self.peak_burst)
            .unless("colour_aware", &self.colour_aware, &false)
            .unless("conform", &self.conform, &Treatment::PASS)
            .unless("exceed", &self.exceed, &Treatment::PASS)
            .unless("violate", &self.violate, &Treatment::Drop)
    }
}

/// All policers by name.
pub type Policers = Table<PolicerName, Policer>;

impl Object for Policers {
    type Change = Delta<PolicerName, Policer>;

    const COMMANDS: &'static [Command] = &[
        Command {
            noun: "policer",
            verb: "add",
            usage: "NAME rate RATE burst SIZE [FIELD VALUE]...",
            about: "Add a policer, or replace it, as in: policer add gold rate 10mbit burst 64kb violate \"dscp 0\"",
            run: policer_add,
        },
        Command {
            noun: "policer",
            verb: "del",
            usage: "NAME",
            about: "Remove a policer that no port names",
            run: policer_del,
        },
    ];

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut policers = Self::default();
        root.each_table("policer", |name, span, table| {
            let policer = Policer::read(table);
            match (PolicerName::from_text(name), policer) {
                (Ok(name), Some(policer)) => {
                    policers.insert(name, policer);
                }
                (Ok(_), None) => table.report().lose_row(),
                (Err(refusal), _) => {
                    let message = refusal.message.unwrap_or_default();
                    let problem = Problem::new(format!("policer.{name}"), message);
                    table.report().lose_row();
                    table.report().push(problem.expected(PolicerName::EXPECTED).at(span));
                }
            }
        });
        policers
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        for (name, policer) in self.iter() {
            policer.check(&format!("policer.{name}"), report);
        }
        for (port, row) in config.ports.iter() {
            let Some(policing) = &row.policing else { continue };
            for (key, name) in [("police_in", &policing.input), ("police_out", &policing.output)] {
                if let Some(name) = name.as_ref().filter(|name| !self.contains(name)) {
                    report.push_missing(no_policer(&format!("port.{port}.{key}"), name, self));
                }
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (name, policer) in self.iter() {
            let bare = !name.as_str().contains('.');
            let key = if bare { name.to_string() } else { quoted(name.as_str()) };
            writer.section(&format!("[policer.{key}]"), &policer.fields());
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
    }
}

fn no_policer(field: &str, name: &PolicerName, policers: &Policers) -> Problem {
    let problem = Problem::new(field, format!("there is no policer `{name}`"));
    let names = policers.iter().map(|(name, _)| name.as_str());
    match nearest(name.as_str(), names) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.expected(format!("the name of a [policer.{name}]")),
    }
}

fn policer_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PolicerName = words.next("a policer name")?;
    let mut toml = String::new();
    while !words.is_empty() {
        let key: String = words.next("a field")?;
        let value: String = words.next("its value")?;
        let value = if value.parse::<bool>().is_ok() { value } else { value.to_toml() };
        toml.push_str(&format!("{} = {value}\n", key.to_toml()));
    }
    let field = format!("policer.{name}");
    let table =
        DeTable::parse(&toml).map_err(|error| Problem::new(&field, error.message().to_owned()))?;
    let mut report = Report::default();
    let mut reader = TableReader::new(table.get_ref(), 0..0, field, &mut report);
    let policer = Policer::read(&mut reader);
    reader.finish();
    if let Some(mut problem) = report.into_first() {
        // Its place is in the text made up here, which nobody has seen.
        problem.span = None;
        return Err(problem);
    }
    if let Some(policer) = policer {
        config.policers.insert(name, policer);
    }
    Ok(())
}

fn policer_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PolicerName = words.next("a policer name")?;
    match config.policers.remove(&name) {
        Some(_) => Ok(()),
        None => Err(no_policer(&format!("policer.{name}"), &name, &config.policers)),
    }
}
