//! `acl append` and others: the commands that edit the rules of a list. Those of one text, as in a
//! file for `exec`,
//! take effect together.

use std::sync::Arc;

use super::{Acl, AclName, Rule};
use crate::config::Config;
use crate::config::declare::{Declared, explained, infos};
use crate::config::draft::Draft;
use crate::config::edit::{Command, Words};
use crate::config::report::{Problem, Report};
use crate::config::rows::row_mut;

pub(super) const COMMANDS: &[Command] = &[
    Command::new(
        "acl",
        "append",
        "NAME permit|deny [FIELD VALUE]...",
        "Add a rule behind the others, as in: acl append edge permit protocol tcp destination_port 443",
        explained::<Rule>,
        append,
    ),
    Command::new(
        "acl",
        "insert",
        "NAME NUMBER permit|deny [FIELD VALUE]...",
        "Add a rule in front of the one that has this number",
        explained::<Rule>,
        insert,
    ),
    Command::new(
        "acl",
        "replace",
        "NAME NUMBER permit|deny [FIELD VALUE]...",
        "Put a rule in the place of another",
        explained::<Rule>,
        replace,
    ),
    Command::new(
        "acl",
        "remove",
        "NAME NUMBER|all",
        "Remove a rule by the number that `show acl` tells, or all of them",
        Vec::new,
        remove,
    ),
];

fn append(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, acl) = list(config, words)?;
    let rule = rule(&name, words)?;
    Arc::make_mut(&mut acl.rules).push(rule);
    Ok(())
}

fn insert(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, acl) = list(config, words)?;
    let place = place(&name, acl.rules.len() + 1, words)?;
    let rule = rule(&name, words)?;
    Arc::make_mut(&mut acl.rules).insert(place, rule);
    Ok(())
}

fn replace(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, acl) = list(config, words)?;
    let place = place(&name, acl.rules.len(), words)?;
    let rule = rule(&name, words)?;
    Arc::make_mut(&mut acl.rules)[place] = rule;
    Ok(())
}

fn remove(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
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
    let acl = row_mut::<Acl>(config, &name)?;
    Ok((name, acl))
}

/// A rule's number, below `end`.
fn place(name: &AclName, end: usize, words: &mut Words<'_>) -> Result<usize, Problem> {
    let number: u32 = words.next("the number of a rule")?;
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

/// The rule that the rest of a command says, in the words of the file.
fn rule(name: &AclName, words: &mut Words<'_>) -> Result<Rule, Problem> {
    let (mut draft, infos) = (Draft::default(), infos::<Rule>());
    draft.say(&infos[0], words)?;
    draft.say_rest(&infos, words)?;
    let field = format!("acl.{name}.rule");
    let rule: Rule = draft.read(&field, Declared::read)?;
    let mut report = Report::default();
    rule.check(&field, &mut report);
    report.into_first().map_or(Ok(rule), Err)
}
