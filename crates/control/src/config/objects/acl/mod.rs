//! `[acl.NAME]`: an access list. Ports that name it hold to it what they receive, or send.
//!
//! ```text
//!  [acl.edge]            what no rule fits: `default`
//!  [[acl.edge.rule]]     the first that fits decides
//!  …
//!  [port.p0]
//!  acl_in = "edge"
//!  policy = "ways"       of another list: rules may say whereto
//! ```

mod commands;
mod rule;
mod rules;
#[cfg(test)]
mod tests;
mod way;

use super::name::name_field;
use super::{Command, Config, Object};
use crate::config::declare::{Declared, explained, object};
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::info::{Described, Info, Stands};
use crate::config::listed::Listed;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;
use crate::config::value::Value;
use crate::config::write::{Fields, Writer};

pub use super::qos::units::{PortRange, Protocol};
pub use rule::{Fragment, Rule, TcpFlags};
pub use rules::Rules;
pub use way::Fallback;

name_field! {
    /// An access list's name.
    AclName = "the name of an access list" of "acl"
}

word_field! {
    /// What becomes of a packet.
    Action {
        /// It goes on.
        Permit = "permit",
        /// It is dropped.
        Deny = "deny",
        /// It is led elsewhere than its destination says: of the list of a port's `policy`.
        Route = "route",
        /// It goes on, and what answers it may come back: of a list that a port is held to.
        Reflect = "reflect",
    }
}

object! {
    /// Rules that packets are held to: the first that fits decides
    pub struct Acl {
        /// What becomes of packets that no rule fits
        pub default: Action as "deny" = Action::Deny,
        /// The rules, the first to be asked first
        pub rules: Rules = Rules::default(),
    }
}

/// Sections of their own, which the fields of the list say nothing of.
impl Value for Rules {
    fn read(table: &mut TableReader<'_>, _: &'static str, _: bool) -> Option<Self> {
        let mut rules = Vec::new();
        let mut is_whole = true;
        table.each_item("rule", |table| match Declared::read(table) {
            Some(rule) => rules.push(rule),
            None => is_whole = false,
        });
        if !is_whole {
            table.report().lose_row();
        }
        Some(Self::from(rules))
    }

    fn write(&self, _: &'static str, fields: Fields, _: Option<Self>) -> Fields {
        fields
    }

    fn paths(&self, _: &mut Vec<std::path::PathBuf>) {}

    fn describe(_: Info, _: &mut Vec<Info>) {}
}

/// Rules that a change of a list is told with; of more, their number and a sum over them.
const TOLD: usize = 4;

impl Row for Acl {
    const KIND: &'static str = "acl";
    const CALLED: &'static str = "access list";

    fn parts() -> Vec<Described> {
        let infos = explained::<Rule>();
        let stands = Stands::Listed(Vec::new);
        vec![Described { path: "acl.rule", about: |_| Rule::ABOUT, infos, stands }]
    }

    fn fields(&self) -> Fields {
        let told = if self.rules.len() <= TOLD {
            let rules: Vec<String> = self.rules.iter().map(|rule| rule.fields().inline()).collect();
            format!("[{}]", rules.join(", "))
        } else {
            format!("{} rules ({:08x})", self.rules.len(), self.rules.sum())
        };
        self.write(Fields::new()).raw("rule", told)
    }
}

/// Access lists by name.
pub type Acls = Table<AclName, Acl>;

impl Listed for Acl {
    type Key = AclName;

    fn write_more(&self, header: &str, writer: &mut Writer) {
        for rule in self.rules.iter() {
            writer.section(&format!("[[{header}.rule]]"), &rule.fields());
        }
    }

    fn keep(&mut self, old: &Self) {
        self.rules.clone_from(&old.rules);
    }
}

impl Acl {
    /// Whether a rule has answers come back.
    pub fn reflects(&self) -> bool {
        self.rules.reflects()
    }
}

impl Object for Acls {
    const MORE: &'static [Command] = commands::COMMANDS;

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        for (name, acl) in self.iter() {
            let wrong = match acl.default {
                Action::Permit | Action::Deny => None,
                Action::Route => Some("`route` says not where packets go"),
                Action::Reflect => {
                    Some("`reflect` is for rules: connections are begun by these alone")
                }
            };
            if let Some(message) = wrong {
                let problem = Problem::new(format!("acl.{name}.default"), message);
                report.push(problem.expected("\"permit\" or \"deny\""));
            }
            let mut before = 0;
            for piece in acl.rules.pieces() {
                let rules = if piece.is_sound() { &[][..] } else { piece.rules() };
                for (index, rule) in (before..).zip(rules) {
                    let field = format!("acl.{name}.rule[{index}]");
                    rule.check(&field, report);
                    rule.check_way(&field, config, report);
                }
                before += piece.rules().len();
            }
        }
    }
}
