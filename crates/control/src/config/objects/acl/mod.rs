//! `[acl.NAME]`: an access list. Ports that name it hold to it what they receive, or send.
//!
//! ```text
//!  [acl.edge]            what no rule fits: `default`
//!  [[acl.edge.rule]]     the first that fits decides
//!  …
//!  [port.p0]
//!  acl_in = "edge"
//! ```

mod commands;
mod rule;
#[cfg(test)]
mod tests;

use super::name::name_field;
use super::{Config, Object};
use crate::config::edit::Command;
use crate::config::field::{Field, word_field};
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer, quoted};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

pub use super::qos::units::{PortRange, Protocol};
pub use rule::{Rule, TcpFlags};

name_field! {
    /// An access list's name.
    AclName = "access list"
}

word_field! {
    /// What becomes of a packet.
    Action {
        /// It goes on.
        Permit = "permit",
        /// It is dropped.
        Deny = "deny",
    }
}

/// An access list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acl {
    /// What becomes of packets that no rule fits.
    pub default: Action,
    /// The rules, the first to be asked first.
    pub rules: Arc<Vec<Rule>>,
}

/// Rules that a change of a list is told with; of more, their number and a sum over them.
const TOLD: usize = 4;

impl Row for Acl {
    const KIND: &'static str = "acl";

    fn fields(&self) -> Fields {
        let rules: Vec<String> = self.rules.iter().map(|rule| rule.fields().inline()).collect();
        let told = if rules.len() <= TOLD {
            format!("[{}]", rules.join(", "))
        } else {
            let mut sum = DefaultHasher::new();
            rules.hash(&mut sum);
            format!("{} rules ({:08x})", rules.len(), sum.finish() as u32)
        };
        self.own_fields().raw("rule", told)
    }
}

impl Acl {
    fn own_fields(&self) -> Fields {
        Fields::new().unless("default", &self.default, &Action::Deny)
    }

    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let default = table.or("default", Action::Deny);
        let mut rules = Vec::new();
        let mut is_whole = true;
        table.each_item("rule", |table| match Rule::read(table) {
            Some(rule) => rules.push(rule),
            None => is_whole = false,
        });
        is_whole.then(|| Self { default, rules: Arc::new(rules) })
    }
}

/// Access lists by name.
pub type Acls = Table<AclName, Acl>;

impl Object for Acls {
    type Change = Delta<AclName, Acl>;

    const COMMANDS: &'static [Command] = commands::COMMANDS;

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut acls = Self::default();
        root.each_table("acl", |name, span, table| {
            let acl = Acl::read(table);
            match (AclName::from_text(name), acl) {
                (Ok(name), Some(acl)) => {
                    acls.insert(name, acl);
                }
                (Ok(_), None) => table.report().lose_row(),
                (Err(refusal), _) => {
                    table.report().lose_row();
                    table.report().push(
                        Problem::new(format!("acl.{name}"), refusal.message.unwrap_or_default())
                            .expected(AclName::EXPECTED)
                            .at(span),
                    );
                }
            }
        });
        acls
    }

    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        for (name, acl) in self.iter() {
            for (index, rule) in acl.rules.iter().enumerate() {
                rule.check(&format!("acl.{name}.rule[{index}]"), report);
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (name, acl) in self.iter() {
            let bare = !name.as_str().contains('.');
            let key = if bare { name.to_string() } else { quoted(name.as_str()) };
            writer.section(&format!("[acl.{key}]"), &acl.own_fields());
            for rule in acl.rules.iter() {
                writer.section(&format!("[[acl.{key}.rule]]"), &rule.fields());
            }
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
    }
}

/// Complains about a list that a port names and that is not there.
pub(super) fn check_exists(field: &str, name: &AclName, acls: &Acls, report: &mut Report) {
    if acls.contains(name) {
        return;
    }
    let names: Vec<&str> = acls.iter().map(|(name, _)| name.as_str()).collect();
    let problem = Problem::new(field, format!("there is no access list `{name}`"));
    let problem = problem.expected(format!("the name of an [acl.{name}]"));
    report.push_missing(match crate::config::nearest(name.as_str(), names) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    });
}
