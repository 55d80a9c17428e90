//! A reader of `tc` command lines: what a person has for Linux becomes a configuration of ours, or
//! is refused by line.
//!
//! ```text
//!   tc qdisc add dev eth0 root handle 1: htb default 20
//!   tc class add dev eth0 parent 1: classid 1:20 htb rate 5mbit ceil 10mbit      ─▶  [("eth0", Config)]
//!   tc qdisc add dev eth0 parent 1:20 fq_codel
//!   tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 22 0xffff flowid 1:20
//! ```
//!
//! Each line changes what stands there, as it would in Linux. Empty lines, comments and a trailing
//! `\` are read as a shell would. What Linux has and we have not is an error that names it, never
//! silently left out.

mod cake;
mod device;
mod filter;
mod options;
mod place;
mod show;
mod words;

pub(crate) use cake::ETHERNET_BYTES;

pub use show::{show_classes, show_qdiscs};

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::config::Config;
use crate::{ClassId, Error};
use device::{Device, Verb, Whose};
use words::Words;

/// What a device has before, or why there is none.
pub type Before<'a> = dyn Fn(&str) -> Result<Option<Config>, String> + 'a;

/// What `tc` lines make of each device that they name, in the order of the devices' names: its
/// configuration, or none where its qdisc was deleted. Every line's fault is told.
pub fn read(text: &str) -> Result<Vec<(String, Option<Config>)>, Vec<Error>> {
    change(text, &|_| Ok(None))
}

/// The same for devices that have something already; or that are not there, which `before` says
/// in words.
pub fn change(
    text: &str,
    before: &Before<'_>,
) -> Result<Vec<(String, Option<Config>)>, Vec<Error>> {
    let mut devices: BTreeMap<String, Device> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut run = |line: usize, command: &str| {
        let mut words = Words::new(line, command);
        faults.extend(statement(&mut words, &mut devices, before).err());
    };
    let mut joined = String::new();
    let mut first_line = 1;
    for (number, line) in (1..).zip(text.lines()) {
        if joined.is_empty() {
            first_line = number;
        }
        let line = line.split('#').next().unwrap_or("").trim();
        if let Some(begun) = line.strip_suffix('\\') {
            joined += begun;
            joined.push(' ');
            continue;
        }
        joined += line;
        run(first_line, &std::mem::take(&mut joined));
    }
    run(first_line, &joined);
    // What a line that was refused would have made is missing: no more is said of it.
    if faults.is_empty() {
        faults.extend(devices.values().filter_map(|device| device.check().err()));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(devices.into_iter().map(|(name, device)| (name, device.into_config())).collect())
}

fn statement(
    words: &mut Words<'_>,
    devices: &mut BTreeMap<String, Device>,
    before: &Before<'_>,
) -> Result<(), Error> {
    let Some(mut object) = words.next() else { return Ok(()) };
    if object == "tc" || object.ends_with("/tc") {
        object = words.value("tc")?;
    }
    let word = words.value(object)?;
    if !["qdisc", "class", "filter"].contains(&object) {
        return words.refuse(format!("`{object}` is none of qdisc, class, filter"));
    }
    let verb = match word {
        "add" => Verb::Add,
        "replace" => Verb::Replace,
        "change" => Verb::Change,
        "del" | "delete" => Verb::Delete,
        _ => return words.refuse(format!("`{object} {word}` cannot be carried over")),
    };
    let mut name = None;
    let mut whose = Whose::default();
    let mut preference = None;
    // What stands before the kind: the device and the place.
    let kind = loop {
        let word = words.value(object)?;
        match word {
            "dev" => name = Some(words.value(word)?.to_string()),
            "root" => whose.at_root = true,
            "parent" => whose.parent = Some(words.class_id(word)?),
            "handle" if object == "qdisc" => {
                whose.handle = Some(words.class_id(word)?).filter(|id| *id != ClassId::NONE);
            }
            "handle" => _ = words.value(word)?,
            "classid" => whose.class = Some(words.class_id(word)?),
            "protocol" => _ = words.value(word)?,
            "prio" | "pref" if object == "filter" => preference = Some(words.parsed(word)?),
            kind => break kind,
        }
        if verb == Verb::Delete && words.peek().is_none() {
            break "";
        }
    };
    let Some(name) = name else { return words.refuse("no `dev` is named") };
    let device = match devices.entry(name) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(new) => match before(new.key()) {
            Ok(config) => new.insert(Device::new(config)),
            Err(reason) => {
                let refused = words.refuse(reason);
                return new.insert(Device::missing()).told(refused);
            }
        },
    };
    // What its lines say needs no more to be told once it is known that there is none.
    if device.is_missing() {
        return Ok(());
    }
    let outcome = match (object, verb) {
        ("qdisc", Verb::Delete) => device.delete_qdisc(&whose, kind, words),
        ("qdisc", _) => device.set_qdisc(verb, &whose, kind, words),
        ("class", Verb::Delete) => device.delete_class(&whose, words),
        ("class", _) => device.set_class(verb, &whose, kind, words),
        ("filter", Verb::Add | Verb::Replace) => {
            let filter = filter::read(kind, words);
            filter.and_then(|filter| device.add_filter(whose.parent, preference, filter, words))
        }
        _ => words.refuse(format!("`{object} {word}` cannot be carried over")),
    };
    device.told(outcome)
}

#[cfg(test)]
mod tests;
