//! `export_in` and `export_out` of a port, `export` and `samples` of a bridge: who is told of
//! packets.

use super::Config;
use super::export::ExportName;
use crate::config::declare::{flat, object};
use crate::config::listed::check_exists;
use crate::config::report::{Problem, Report};

object! {
    /// Who is told of a port's packets
    pub struct Exported {
        /// Who is told of what it receives
        pub export_in: Vec<ExportName> as "flows" = Vec::new(),
        /// Who is told of what it sends
        pub export_out: Vec<ExportName> as "flows" = Vec::new(),
    }
}
flat!(Box<Exported>);

impl Exported {
    pub(super) fn check(&self, port: &str, config: &Config, report: &mut Report) {
        check(&format!("{port}.export_in"), &self.export_in, config, report);
        check(&format!("{port}.export_out"), &self.export_out, config, report);
    }
}

/// Finds what is wrong with who is told.
pub(super) fn check(field: &str, names: &[ExportName], config: &Config, report: &mut Report) {
    for (index, name) in names.iter().enumerate() {
        let field = format!("{field}[{index}]");
        check_exists(&field, name, &config.exports, report);
        if config.exports.get(name).is_some_and(|export| export.set.is_some()) {
            let message = format!("{name} is told of what flows sample alone");
            report.push(Problem::new(&field, message).expected("an exporter without `set`"));
        }
        if names[..index].contains(name) {
            let problem = Problem::new(&field, format!("{name} is listed twice"));
            report.push(problem.expected("each exporter once"));
        }
    }
}

/// Finds what is wrong with who is told of what flows sample.
pub(super) fn check_samples(
    field: &str,
    names: &[ExportName],
    config: &Config,
    report: &mut Report,
) {
    let set = |name: &ExportName| config.exports.get(name).and_then(|export| export.set);
    for (index, name) in names.iter().enumerate() {
        let field = format!("{field}[{index}]");
        check_exists(&field, name, &config.exports, report);
        let Some(number) = set(name) else {
            if config.exports.get(name).is_some() {
                let message = format!("{name} has no `set`, which flows call it by");
                report.push(Problem::new(&field, message).expected("an exporter with `set`"));
            }
            continue;
        };
        if names[..index].iter().any(|other| set(other) == Some(number)) {
            let message = format!("the number {number} is another exporter's");
            report.push(Problem::new(&field, message).expected("each number once in a bridge"));
        }
    }
}
