//! The configuration: one value, read from one TOML file, checked, compared, edited, written.
//!
//! ```text
//!  file ── parse ──▶ Config ── diff ──▶ [Change] ──▶ the running router
//!            ▲         │ ▲
//!            └─ write ─┘ └── edit: "route add 10.0.0.0/8 via 192.0.2.9"
//! ```
//!
//! Values carry no positions. While a file is read a [`Report`] remembers where each field stood,
//! so a check over plain values can still point at line and column.

pub mod amend;
pub mod change;
pub mod command;
pub mod declare;
pub mod draft;
pub mod edit;
pub mod field;
mod field_change;
pub mod form;
pub mod help;
pub mod host;
pub mod info;
pub mod key;
pub mod listed;
pub mod objects;
pub mod order;
mod pieces;
mod plain_routes;
pub mod prefix;
pub mod read;
pub mod reference;
pub mod report;
pub mod row;
pub mod rows;
pub mod schema;
pub mod source;
mod suggest;
pub mod table;
mod toml_text;
pub mod usual;
pub mod value;
pub mod version;
pub mod words;
pub mod write;

use std::collections::BTreeSet;

use toml::de::DeTable;

pub use change::{Action, ChangeLine, Step};
pub use edit::edit;
pub use field_change::FieldChange;
pub use host::{Host, parse_cores};
pub use objects::{Change, Config};
pub use prefix::{InterfaceAddress, Prefix};
pub use report::{Finding, Problem, Problems, Report, Warnings};
pub use source::{Position, Source};
pub use suggest::nearest;
pub use table::{Delta, Table};

use read::TableReader;
use write::Writer;

/// Faults of syntax that are told.
const FAULTS: usize = 10;

/// Reads and checks a configuration; reports everything wrong with it at once.
pub fn parse(source: &Source, host: &Host) -> Result<Config, Problems> {
    parse_and_warn(source, host).map(|(config, _)| config)
}

/// The same, with what it had better not say.
pub fn parse_and_warn(source: &Source, host: &Host) -> Result<(Config, Warnings), Problems> {
    let mut report = Report::default();
    if let Some(config) = pieces::read(&source.text, pieces::LARGE, host) {
        return Ok((config, report.into_result(source)?));
    }
    let (mut root, faults) = DeTable::parse_recoverable(&source.text);
    // What follows on a line is mostly made by its first, and a file that has very many is no TOML.
    let mut lines = BTreeSet::new();
    let mut is_first = |fault: &toml::de::Error| {
        fault.span().is_none_or(|at| lines.insert(source.position(at.start).line))
    };
    for fault in faults.into_iter().filter(|fault| is_first(fault)).take(FAULTS) {
        let mut problem = Problem::new("", fault.message().trim_end());
        problem.span = fault.span();
        report.push(problem);
    }
    // A file with broken syntax, or of a version to come, reads as something its author did not
    // mean: no more is said of it.
    if !report.is_empty() || version::bring_up(root.get_mut(), &mut report).is_none() {
        return Ok((Config::default(), report.into_result(source)?));
    }
    let mut whether = Report::whether();
    let config = read_and_check(root.get_ref(), host, &mut whether);
    if whether.is_silent() {
        return Ok((config, whether.into_result(source)?));
    }
    // There is something to tell: once more, to know where.
    let config = read_and_check(root.get_ref(), host, &mut report);
    Ok((config, report.into_result(source)?))
}

fn read_and_check(root: &DeTable<'_>, host: &Host, report: &mut Report) -> Config {
    let mut reader = TableReader::new(root, 0..0, "", report);
    let config = Config::read(&mut reader);
    reader.finish();
    config.check(host, report);
    config
}

/// Writes a configuration as TOML that [`parse`] reads as the same value.
pub fn render(config: &Config) -> String {
    let mut writer = Writer::default();
    config.write(&mut writer);
    writer.finish()
}

#[cfg(test)]
pub(crate) mod tests;
