//! `acl …`: the commands that edit access lists. Those of one text, as in a file for `exec`, take
//! effect together.

use std::sync::Arc;

use toml::de::DeTable;

use super::{Acl, AclName, Action, Rule};
use crate::config::Config;
use crate::config::edit::{Command, Words};
use crate::config::field::Field;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        noun: "acl",
        verb: "add",
        usage: "NAME [default permit|deny]",
        about: "Make an access list without rules",
        run: acl_add,
    },
    Command {
        noun: "acl",
        verb: "del",
        usage: "NAME",
        about: "Remove an access list",
        run: acl_del,
    },
    Command {
        noun: "acl",
        verb: "set",
        usage: "NAME default permit|deny",
        about: "Say what becomes of packets that no rule fits",
        run: acl_set,
    },
    Command {
        noun: "acl",
        verb: "append",
        usage: "NAME permit|deny [FIELD VALUE]...",
        about: "Add a rule behind the others, as in: acl append edge permit protocol tcp destination_port 443",
        run: acl_append,
    },
    Command {
        noun: "acl",
        verb: "insert",
        usage: "NAME NUMBER permit|deny [FIELD VALUE]...",
        about: "Add a rule in front of the one that has this number",
        run: acl_insert,
    },
    Command {
        noun: "acl",
        verb: "replace",
        usage: "NAME NUMBER permit|deny [FIELD VALUE]...",
        about: "Put a rule in the place of another",
        run: acl_replace,
    },
    Command {
        noun: "acl",
        verb: "remove",
        usage: "NAME NUMBER|all",
        about: "Remove a rule by the number that `show acl` tells, or all of them",
        run: acl_remove,
    },
];

fn acl_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: AclName = words.next("the name of an access list")?;
    let default = if words.take("default") { words.next("permit or deny")? } else { Action::Deny };
    if config.acls.contains(&name) {
        let message = format!("access list {name} is there already");
        return Err(Problem::new(format!("acl.{name}"), message));
    }
    config.acls.insert(name, Acl { default, rules: Arc::default() });
    Ok(())
}

fn acl_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: AclName = words.next("the name of an access list")?;
    match config.acls.remove(&name) {
        Some(_) => Ok(()),
        None => Err(missing(&name)),
    }
}

fn acl_set(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (_, acl) = list(config, words)?;
    words.must("default")?;
    acl.default = words.next("permit or deny")?;
    Ok(())
}

fn acl_append(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, acl) = list(config, words)?;
    let rule = rule(&name, words)?;
    Arc::make_mut(&mut acl.rules).push(rule);
    Ok(())
}

fn acl_insert(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, acl) = list(config, words)?;
    let place = place(&name, acl.rules.len() + 1, words)?;
    let rule = rule(&name, words)?;
    Arc::make_mut(&mut acl.rules).insert(place, rule);
    Ok(())
}

fn acl_replace(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, acl) = list(config, words)?;
    let place = place(&name, acl.rules.len(), words)?;
    let rule = rule(&name, words)?;
    Arc::make_mut(&mut acl.rules)[place] = rule;
    Ok(())
}

fn acl_remove(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, acl) = list(config, words)?;
    if words.take("all") {
        acl.rules = Arc::default();
        return Ok(());
    }
    let place = place(&name, acl.rules.len(), words)?;
    Arc::make_mut(&mut acl.rules).remove(place);
    Ok(())
}

/// The list that a command names.
fn list<'a>(
    config: &'a mut Config,
    words: &mut Words<'_>,
) -> Result<(AclName, &'a mut Acl), Problem> {
    let name: AclName = words.next("the name of an access list")?;
    match config.acls.get_mut(&name) {
        Some(acl) => Ok((name, acl)),
        None => Err(missing(&name)),
    }
}

fn missing(name: &AclName) -> Problem {
    Problem::new(format!("acl.{name}"), format!("there is no access list `{name}`"))
}

/// A rule's number, below `end`.
fn place(name: &AclName, end: usize, words: &mut Words<'_>) -> Result<usize, Problem> {
    let number: u32 = words.next("the number of a rule")?;
    let place = number as usize;
    if place < end {
        return Ok(place);
    }
    let problem = Problem::new(format!("acl.{name}.rule"), format!("there is no place {number}"));
    Err(match end {
        0 => problem.expected("a rule, and there is none"),
        _ => problem.expected(format!("a number from 0 to {}", end - 1)),
    })
}

/// The rule that the rest of a command says, in the words of the file.
fn rule(name: &AclName, words: &mut Words<'_>) -> Result<Rule, Problem> {
    let action: Action = words.next("permit or deny")?;
    let mut toml = format!("action = {}\n", action.to_toml());
    while !words.is_empty() {
        let key: String = words.next("a field")?;
        let value: String = words.next("its value")?;
        let value = if value.parse::<u32>().is_ok() { value } else { value.to_toml() };
        toml.push_str(&format!("{} = {value}\n", key.to_toml()));
    }
    let field = format!("acl.{name}.rule");
    let table =
        DeTable::parse(&toml).map_err(|error| Problem::new(&field, error.message().to_owned()))?;
    let mut report = Report::default();
    let mut reader = TableReader::new(table.get_ref(), 0..0, field.clone(), &mut report);
    let rule = Rule::read(&mut reader);
    reader.finish();
    if let Some(rule) = &rule {
        rule.check(&field, &mut report);
    }
    match (rule, report.into_first()) {
        (Some(rule), None) => Ok(rule),
        (_, problem) => {
            let mut problem = problem.unwrap_or_else(|| Problem::new(field, "no rule"));
            // Its place is in the text made up here, which nobody has seen.
            problem.span = None;
            Err(problem)
        }
    }
}
