//! `acl append` and others: the commands that edit the rules of a list. Those of one text, as in a
//! file for `exec`, take effect together.

use super::Command;
use super::{AclName, Rule, Rules};
use crate::config::Config;
use crate::config::declare::object;
use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::listed::row_mut;
use crate::config::order::{Flat, Order};
use crate::config::report::{Problem, Report};
use crate::config::toml_text::quoted;

pub(super) const COMMANDS: &[Command] = &[
    Command::of::<Append>(),
    Command::of::<Insert>(),
    Command::of::<Replace>(),
    Command::of::<Remove>(),
];

object! {
    /// Add a rule behind the others, as in: acl append edge permit protocol tcp destination_port
    /// 443
    struct Append {
        /// The list
        name: AclName as "edge",
        /// The rule
        rule: Flat<Rule>,
    }
}

impl Order for Append {
    const NOUN: &'static str = "acl";
    const VERB: &'static str = "append";
    const FIRST: usize = 2;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let rules = rules(config, &self.name)?;
        rules.insert(rules.len(), right(&self.name, self.rule)?);
        Ok(())
    }
}

object! {
    /// Add a rule in front of the one that has this number
    struct Insert {
        /// The list
        name: AclName as "edge",
        /// The number that it gets
        number: u32 as "0",
        /// The rule
        rule: Flat<Rule>,
    }
}

impl Order for Insert {
    const NOUN: &'static str = "acl";
    const VERB: &'static str = "insert";
    const FIRST: usize = 3;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let rules = rules(config, &self.name)?;
        let place = place(&self.name, self.number, rules.len() + 1)?;
        rules.insert(place, right(&self.name, self.rule)?);
        Ok(())
    }
}

object! {
    /// Put a rule in the place of another
    struct Replace {
        /// The list
        name: AclName as "edge",
        /// The other's number
        number: u32 as "0",
        /// The rule
        rule: Flat<Rule>,
    }
}

impl Order for Replace {
    const NOUN: &'static str = "acl";
    const VERB: &'static str = "replace";
    const FIRST: usize = 3;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let rules = rules(config, &self.name)?;
        let place = place(&self.name, self.number, rules.len())?;
        rules.replace(place, right(&self.name, self.rule)?);
        Ok(())
    }
}

object! {
    /// Remove a rule by the number that `show acl` tells, or all of them
    struct Remove {
        /// The list
        name: AclName as "edge",
        /// The rule's number
        number: Which as "0",
    }
}

impl Order for Remove {
    const NOUN: &'static str = "acl";
    const VERB: &'static str = "remove";
    const FIRST: usize = 2;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let rules = rules(config, &self.name)?;
        match self.number {
            Which::All => *rules = Rules::default(),
            Which::One(number) => rules.remove(place(&self.name, number, rules.len())?),
        }
        Ok(())
    }
}

/// A rule by its number, or every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    One(u32),
    All,
}

impl Field for Which {
    const EXPECTED: &'static str = "the number of a rule, or all";
    const FORM: Form = Form::TextOrNumber("^(all|[0-9]+)$", 0, u32::MAX as u64);
    const WORDS: &'static [&'static str] = &["all"];

    fn from_text(text: &str) -> Result<Self, Refusal> {
        if text == "all" { Ok(Self::All) } else { u32::from_text(text).map(Self::One) }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::One(number) => number.to_toml(),
            Self::All => quoted("all"),
        }
    }
}

/// The rules of a list.
fn rules<'a>(config: &'a mut Config, name: &AclName) -> Result<&'a mut Rules, Problem> {
    Ok(&mut row_mut(&mut config.acls, name)?.rules)
}

/// A rule's place, below `end`.
fn place(name: &AclName, number: u32, end: usize) -> Result<usize, Problem> {
    let place = number as usize;
    if place < end {
        return Ok(place);
    }
    let problem =
        Problem::new(format!("acl.{name}.rule"), format!("there is no rule number {number}"));
    Err(match end {
        0 => problem.expected("a rule, and there is none"),
        _ => problem.expected(format!("a number from 0 to {}", end - 1)),
    })
}

/// The rule, if nothing is wrong with it.
fn right(name: &AclName, Flat(rule): Flat<Rule>) -> Result<Rule, Problem> {
    let mut report = Report::default();
    rule.check(&format!("acl.{name}.rule"), &mut report);
    report.into_first().map_or(Ok(rule), Err)
}
