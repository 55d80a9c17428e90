//! `configs/reference.toml`: every field there is, made of what is declared: a scene of commands,
//! and
//! beside what they say all that could be said, with what holds when it is left out.

use std::collections::HashSet;

use super::draft::Draft;
use super::edit::edit;
use super::help::{bracketed, takes};
use super::host::Host;
use super::info::{Described, Info, Stands};
use super::objects::{Config, described};
use super::render;
use super::report::Problems;
use super::source::Source;
use super::version;
use super::words::with_words;

/// The objects that the reference shows.
const SCENE: &str = include_str!("reference.commands");

const HEAD: &str = "\
# Every key there is, with what holds when it is left out. Most routers need five lines of it.
# `volley config check FILE` tells what is wrong, `volley config diff FILE` what would change.
# This file is made from the declarations of the fields: a test tells how when it is stale.
";

/// The text of the file.
pub fn text() -> Result<String, Problems> {
    let config = edit(&Config::default(), &Source::new("reference", SCENE), &Host::any())?;
    let known = described();
    let mut text = format!(
        "{HEAD}\nversion = {}  # the form of this file, which later routers know it by [default 1]\n",
        version::CURRENT
    );
    let mut shown = HashSet::new();
    let written = render(&config);
    let sections: Vec<&str> = written.split("\n\n").collect();
    // Sections that say nothing but what holds anyway are not written.
    let unsaid = known
        .iter()
        .filter(|it| matches!(it.stands, Stands::Once))
        .map(|it| format!("[{}]", it.path));
    let unsaid =
        unsaid.filter(|header| !sections.iter().any(|section| section.starts_with(header)));
    for section in unsaid.collect::<Vec<_>>().iter().map(String::as_str).chain(sections) {
        text.push('\n');
        explain(section.trim_end(), &known, &mut shown, &mut text);
    }
    Ok(text)
}

/// Writes a section with its fields' help, and those that it does not say, once for each kind.
fn explain(section: &str, known: &[Described], shown: &mut HashSet<String>, text: &mut String) {
    let mut lines = section.lines();
    let header = lines.next().unwrap_or_default();
    let said: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once('=')).collect();
    let said: Vec<(&str, &str)> = said.iter().map(|(key, it)| (key.trim(), it.trim())).collect();
    let mut declared = known.iter().filter(|known| !matches!(known.stands, Stands::Elsewhere(_)));
    let Some(of) = declared.find(|known| known.path == path_of(header)) else {
        text.push_str(section);
        text.push('\n');
        return;
    };
    let value = |name: &str| said.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let kind = value("kind").unwrap_or_default().trim_matches('"');
    if shown.insert(format!("{} {kind}", of.path)) {
        text.push_str(&format!("# {}.\n", (of.about)(kind).trim().trim_end_matches('.')));
    }
    text.push_str(&format!("{header}\n"));
    let mut rows = Vec::new();
    for info in of.infos.iter().filter(|info| info.is_field()) {
        if !info.of.is_empty() && info.of != kind {
            continue;
        }
        let is_new = shown.insert(format!("{} {} {}", of.path, info.of, info.name));
        let row = match (value(info.name), &info.default) {
            (Some(value), _) => format!("{} = {value}", info.name),
            (None, _) if !is_new => continue,
            (None, Some(default)) => format!("{} = {default}", info.name),
            (None, None) => format!("# {} = {}", info.name, example(info)),
        };
        rows.push((
            row,
            is_new.then(|| {
                let needed = if info.is_required { "needed" } else { "" };
                info.help.clone() + &bracketed([takes(info), needed.to_owned()])
            }),
        ));
    }
    let width = rows.iter().map(|(row, _)| row.chars().count()).filter(|width| *width <= 40).max();
    for (row, help) in rows {
        match help {
            Some(help) => {
                text.push_str(&format!("{row:width$}  # {help}\n", width = width.unwrap_or(0)))
            }
            None => text.push_str(&format!("{row}\n")),
        }
    }
}

/// A value that the field could have, as the file says it.
pub(super) fn example(info: &Info) -> String {
    let mut draft = Draft::default();
    let said = with_words(info.example, |words| draft.say(info, words));
    said.ok().and_then(|()| draft.value(info.name)).unwrap_or_default().to_owned()
}

/// What a header is of: `port` of `[port.p0]`, `acl.rule` of `[[acl.edge.rule]]`.
fn path_of(header: &str) -> String {
    let inside = header.trim_matches(['[', ']']);
    let Some((kind, rest)) = inside.split_once('.') else { return inside.to_owned() };
    let below = match rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some((_, below)) => below.strip_prefix('.'),
        None => rest.split_once('.').map(|(_, below)| below),
    };
    below.map_or_else(|| kind.to_owned(), |below| format!("{kind}.{below}"))
}
