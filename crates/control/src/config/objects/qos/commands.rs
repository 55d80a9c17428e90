//! `qos …`: the commands that edit how a port's packets wait.
//!
//! Words are turned into the TOML that they stand for, so that a command and the file read alike:
//! `qos class p0 1:10 rate 5mbit leaf fq_codel target 10ms`.

use std::sync::Arc;

use sched::{ClassId, Classes, Filter, Shape};
use toml::de::DeTable;

use super::filter as filter_fields;
use super::units::Kind;
use super::{LINK_HEADER_BYTES, Qos, described, read, write};
use crate::config::field::Field;
use crate::config::listed::{missing as missing_row, row_mut};
use crate::config::objects::port_name::PortName;
use crate::config::objects::{Command, Config};
use crate::config::read::TableReader;
use crate::config::report::{InScript, Problem, Report};
use crate::config::toml_text::quoted;
use crate::config::words::Words;

/// Gives a port a scheduler.
pub(in crate::config::objects) const SET: Command = Command::with(
    ("qos", "set"),
    "Give a port a scheduler, as in: qos set p0 fq_codel rate 100mbit",
    described::first_of_set,
    described::of_set,
    set,
);

/// Adds or changes a class.
pub(in crate::config::objects) const CLASS: Command = Command::with(
    ("qos", "class"),
    "Add or change a class of HTB or HFSC, as in: qos class p0 1:10 rate 3mbit ceil 10mbit",
    described::port_and_class,
    described::of_class,
    class,
);

/// Adds a filter.
pub(in crate::config::objects) const FILTER: Command = Command::with(
    ("qos", "filter"),
    "Send packets to a class, as in: qos filter p0 1:10 dscp 46",
    described::port_and_class,
    described::of_filter,
    filter,
);

/// Takes the scheduler, a class or a filter away.
pub(in crate::config::objects) const DEL: Command = Command::with(
    ("qos", "del"),
    "Take the scheduler, a class or a filter from a port",
    described::first_of_del,
    described::of_del,
    del,
);

/// Takes over a `tc` script.
pub(in crate::config::objects) const IMPORT: Command = Command::with(
    ("qos", "import"),
    "Take over what tc command lines say, of ports by their names; - reads standard input",
    described::first_of_import,
    Vec::new,
    import,
);

/// `key = value` for each pair of words, as TOML.
fn pairs(words: &mut Words<'_>, toml: &mut Vec<(String, String)>) -> Result<(), Problem> {
    while !words.is_empty() {
        if words.take("leaf") {
            let Kind(kind) = words.next("a discipline")?;
            let mut inner = vec![("kind".to_owned(), quoted(kind))];
            pairs(words, &mut inner)?;
            put(toml, "leaf".to_owned(), inline(&inner));
            return Ok(());
        }
        let key: String = words.next("an option")?;
        let value: String = words.next("its value")?;
        let plain = value.parse::<u32>().is_ok() || value.parse::<bool>().is_ok();
        put(toml, key, if plain { value } else { quoted(&value) });
    }
    Ok(())
}

/// Sets a key, whatever it was.
fn put(toml: &mut Vec<(String, String)>, key: String, value: String) {
    toml.retain(|(had, _)| *had != key);
    toml.push((key, value));
}

fn inline(toml: &[(String, String)]) -> String {
    let pairs: Vec<String> =
        toml.iter().map(|(key, value)| format!("{} = {value}", quoted(key))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// Reads a table made of words.
fn table<T>(
    field: &str,
    toml: &[(String, String)],
    read: impl FnOnce(&mut TableReader<'_>) -> Option<T>,
) -> Result<T, Problem> {
    let text = format!("it = {}", inline(toml));
    let broken = |message: &str| Problem::new(field, message.trim_end().to_owned());
    let root = DeTable::parse(&text).map_err(|error| broken(error.message()))?;
    let mut report = Report::default();
    let Some(it) = root.get_ref().get("it").and_then(|it| it.get_ref().as_table()) else {
        return Err(broken("the options make no table"));
    };
    let mut reader = TableReader::new(it, 0..0, field, &mut report);
    let value = read(&mut reader);
    reader.finish();
    if let Some(mut problem) = report.into_first() {
        // Its place is in the text made up here, which nobody has seen.
        problem.span = None;
        return Err(problem);
    }
    value.ok_or_else(|| broken("the options are not enough"))
}

fn missing(name: &PortName) -> Problem {
    Problem::new(format!("port.{name}.qos"), format!("port {name} has no scheduler"))
        .help(format!("`qos set {name} htb` gives it one"))
}

fn set(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    let port = row_mut(&mut config.ports, &name)?;
    let Kind(kind) = words.next("a discipline")?;
    let mut toml = vec![("kind".to_owned(), quoted(kind))];
    pairs(words, &mut toml)?;
    let mtu = port.mtu;
    let new = table(&format!("port.{name}.qos"), &toml, |table| Qos::read(table, mtu))?;
    port.qos = Some(match port.qos.take() {
        Some(old) => with_classes_of(&old, new),
        None => new,
    });
    Ok(())
}

/// A scheduler of the same kind keeps its classes and filters.
fn with_classes_of(old: &Qos, mut new: Qos) -> Qos {
    let kept = match (old.0.root.classes(), new.change().root.classes_mut()) {
        (Some(old), Some(new)) => new.become_like(old),
        _ => false,
    };
    if kept {
        new.change().filters.clone_from(&old.0.filters);
    }
    new
}

fn class(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    let port = row_mut(&mut config.ports, &name)?;
    let frame_bytes = u32::from(port.mtu) + LINK_HEADER_BYTES;
    let qos = port.qos.as_mut().ok_or_else(|| missing(&name))?;
    let id: ClassId = words.next("a class")?;
    let field = format!("port.{name}.qos.class");
    let had = write::classes(&qos.0.root).into_iter().find(|(had, _)| *had == id.to_string());
    let mut toml = had.map(|(_, fields)| fields.pairs()).unwrap_or_default();
    pairs(words, &mut toml)?;
    toml.retain(|(key, _)| key != "id");
    let kind = qos.0.root.kind();
    let Some(classes) = classful(&mut qos.change().root) else {
        let problem = Problem::new(field, format!("{kind} has no classes of its own"));
        return Err(problem.expected("a port with a discipline of classes, as htb or hfsc"));
    };
    classes.remove(id);
    let made = classes.add(id);
    let field = format!("{field}.{id}");
    table(&field, &toml, |table| read::class(table, made, frame_bytes).then_some(()))
}

fn classful(shape: &mut Shape) -> Option<&mut dyn Classes> {
    match shape {
        Shape::Tbf(tbf) => classful(&mut tbf.leaf),
        shape => shape.classes_mut(),
    }
}

fn filter(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    let port = row_mut(&mut config.ports, &name)?;
    let qos = port.qos.as_mut().ok_or_else(|| missing(&name))?;
    let class: ClassId = words.next("a class")?;
    let mut toml = vec![("class".to_owned(), class.to_toml())];
    pairs(words, &mut toml)?;
    let field = format!("port.{name}.qos.filter[{}]", qos.0.filters.len());
    let new: Filter = table(&field, &toml, filter_fields::read)?;
    qos.change().filters.push(new);
    Ok(())
}

fn del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    let port = row_mut(&mut config.ports, &name)?;
    let qos = port.qos.as_mut().ok_or_else(|| missing(&name))?;
    if words.is_empty() {
        port.qos = None;
        return Ok(());
    }
    let gone = if words.take("class") {
        let id: ClassId = words.next("a class")?;
        let was_there = classful(&mut qos.change().root).is_some_and(|classes| classes.remove(id));
        (!was_there).then(|| format!("class {id}"))
    } else if words.take("filter") {
        let number: u32 = words.next("its number, from 0")?;
        let filters = &mut qos.change().filters;
        let there = (number as usize) < filters.len();
        if there {
            filters.remove(number as usize);
        }
        (!there).then(|| format!("filter {number}"))
    } else {
        return Err(words.unexpected(&["class", "filter"]));
    };
    match gone {
        Some(what) => {
            Err(Problem::new(format!("port.{name}.qos"), format!("port {name} has no {what}")))
        }
        None => Ok(()),
    }
}

/// The command line sends the file's text as one word, its lines parted by `;`.
fn import(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let text: String = words.next("the lines of a tc script")?;
    let script = text.replace(';', "\n");
    let before = |device: &str| {
        let name =
            PortName::from_text(device).map_err(|_| format!("`{device}` is not a port name"))?;
        match config.ports.get(&name) {
            Some(port) => Ok(port.qos.as_ref().map(|qos| qos.scheduler(port.mtu))),
            None => {
                let Problem { message, expected, .. } = missing_row("", &name, &config.ports);
                Err(expected
                    .iter()
                    .fold(message, |it, expected| format!("{it}: expected {expected}")))
            }
        }
    };
    let made = sched::tc::change(&script, &before).map_err(|faults| of_script(&script, faults))?;
    if made.is_empty() {
        return Err(Problem::new("qos import", "there is no tc command"));
    }
    for (device, scheduler) in made {
        let name = PortName::from_text(&device)
            .map_err(|_| Problem::new("qos import", format!("`{device}` is not a port name")))?;
        row_mut(&mut config.ports, &name)?.qos = scheduler.map(Qos::new);
    }
    Ok(())
}

/// Every line's fault, at its line.
fn of_script(script: &str, faults: Vec<sched::Error>) -> Problem {
    let text: Arc<str> = script.into();
    let lines: Vec<&str> = script.split('\n').collect();
    let problem = |fault: sched::Error| {
        let (message, line) = match fault {
            sched::Error::Tc { line, reason, .. } => (reason, line),
            other => (other.to_string(), 1),
        };
        let before: usize = lines.iter().take(line - 1).map(|line| line.len() + 1).sum();
        // One caret: the line itself is the place.
        let start =
            before + lines.get(line - 1).map_or(0, |line| line.len() - line.trim_start().len());
        let script = InScript { text: Arc::clone(&text), others: Vec::new() };
        let problem = Problem::new("", message).at(start..start + 1);
        Problem { in_script: Some(Box::new(script)), ..problem }
    };
    let mut problems = faults.into_iter().map(problem);
    let mut first = problems.next().unwrap_or_default();
    if let Some(script) = &mut first.in_script {
        script.others = problems.collect();
    }
    first
}
