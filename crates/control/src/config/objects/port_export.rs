//! `export_in` and `export_out` of a port, and `export` of a bridge: who is told of packets.

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
        if names[..index].contains(name) {
            let problem = Problem::new(&field, format!("{name} is listed twice"));
            report.push(problem.expected("each exporter once"));
        }
    }
}
