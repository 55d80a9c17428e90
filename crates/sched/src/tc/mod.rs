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
//! Lines of one device are put together whatever their order. Empty lines, comments and a trailing
//! `\` are read as a shell would. What Linux has and we have not is an error that names it, never
//! silently left out.

mod filter;
mod options;

use std::collections::BTreeMap;

use crate::config::Config;
use crate::filter::Filter;
use crate::plan::Shape;
use crate::settings::{Place, Slot};
use crate::{ClassId, Error};
use options::QdiscOptions;

/// The words of one command that are still to be read.
#[derive(Clone)]
pub(crate) struct Words<'a> {
    line: usize,
    words: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
}

impl<'a> Words<'a> {
    fn new(line: usize, text: &'a str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        Self { line, words: words.into_iter().peekable() }
    }

    fn next(&mut self) -> Option<&'a str> {
        self.words.next()
    }

    fn peek(&mut self) -> Option<&'a str> {
        self.words.peek().copied()
    }

    fn refuse<V>(&self, reason: impl Into<String>) -> Result<V, Error> {
        Err(Error::Tc { line: self.line, reason: reason.into() })
    }

    /// The word that must follow `after`.
    fn value(&mut self, after: &str) -> Result<&'a str, Error> {
        match self.next() {
            Some(word) => Ok(word),
            None => self.refuse(format!("nothing follows `{after}`")),
        }
    }

    /// The value that must follow `after`, read by its own reader.
    fn parsed<V>(&mut self, after: &str) -> Result<V, Error>
    where
        V: std::str::FromStr,
        V::Err: std::fmt::Display,
    {
        let word = self.value(after)?;
        match word.parse() {
            Ok(value) => Ok(value),
            Err(error) => self.refuse(format!("{after} `{word}`: {error}")),
        }
    }

    /// A hexadecimal number, as `tc` reads minors and masks.
    fn hexadecimal(&mut self, after: &str) -> Result<u16, Error> {
        let word = self.value(after)?;
        let digits = word.strip_prefix("0x").unwrap_or(word);
        match u16::from_str_radix(digits, 16) {
            Ok(value) => Ok(value),
            Err(error) => self.refuse(format!("{after} `{word}`: {error}")),
        }
    }

    fn unknown<V>(&self, what: &str, word: &str) -> Result<V, Error> {
        self.refuse(format!("{what} has no option `{word}` here"))
    }
}

struct Qdisc {
    line: usize,
    /// The class that it stands under; none at the root.
    parent: Option<ClassId>,
    handle: ClassId,
    kind: String,
    /// What it is set to, as it was written.
    written: String,
    options: QdiscOptions,
}

struct Class {
    line: usize,
    parent: ClassId,
    id: ClassId,
    kind: String,
    /// What it is set to, as it was written.
    written: String,
}

struct Filters {
    line: usize,
    parent: Option<ClassId>,
    preference: u32,
    filter: Filter,
}

#[derive(Default)]
struct Device {
    /// Whether a command was about it: what it had before them is not known.
    is_known: bool,
    qdiscs: Vec<Qdisc>,
    classes: Vec<Class>,
    filters: Vec<Filters>,
}

/// What `tc` lines make of each device that they name, in the order of the devices' names: its
/// configuration, or none where its qdisc was deleted. Every line's fault is told.
pub fn read(text: &str) -> Result<Vec<(String, Option<Config>)>, Vec<Error>> {
    let mut devices: BTreeMap<String, Device> = BTreeMap::new();
    let mut faults = Vec::new();
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
        let command = std::mem::take(&mut joined);
        faults.extend(statement(&mut Words::new(first_line, &command), &mut devices).err());
    }
    faults.extend(statement(&mut Words::new(first_line, &joined), &mut devices).err());
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut read = Vec::new();
    for (name, device) in devices {
        match device.assemble() {
            Ok(config) => read.push((name, config)),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

fn statement(words: &mut Words<'_>, devices: &mut BTreeMap<String, Device>) -> Result<(), Error> {
    let Some(mut object) = words.next() else { return Ok(()) };
    if object == "tc" || object.ends_with("/tc") {
        object = words.value("tc")?;
    }
    let verb = words.value(object)?;
    if !["qdisc", "class", "filter"].contains(&object) {
        return words.refuse(format!("`{object}` is none of qdisc, class, filter"));
    }
    if !["add", "replace", "change", "del"].contains(&verb) {
        return words.refuse(format!("`{object} {verb}` cannot be carried over"));
    }
    let mut name = None;
    let mut parent = None;
    let mut at_root = false;
    let mut handle = None;
    let mut preference = 0;
    // What stands before the kind: the device and the place.
    let kind = loop {
        let word = words.value(object)?;
        match word {
            "dev" => name = Some(words.value(word)?.to_string()),
            "root" => at_root = true,
            "parent" => parent = Some(words.parsed::<ClassId>(word)?),
            "handle" if object == "qdisc" => handle = Some(words.parsed::<ClassId>(word)?),
            "handle" => handle = Some(options::mark(words, word)?),
            "classid" => handle = Some(words.parsed::<ClassId>(word)?),
            "protocol" => _ = words.value(word)?,
            "prio" | "pref" if object == "filter" => preference = words.parsed(word)?,
            kind => break kind,
        }
        if verb == "del" && words.peek().is_none() {
            break "";
        }
    };
    let Some(name) = name else { return words.refuse("no `dev` is named") };
    let device = devices.entry(name).or_default();
    match (object, verb) {
        ("qdisc", "del") => device.delete_qdisc(parent, at_root, handle, kind, words)?,
        ("qdisc", _) => {
            if parent.is_none() && !at_root {
                return words.refuse("neither `root` nor `parent` is given");
            }
            device.set_qdisc(verb, parent, handle.unwrap_or(ClassId::NONE), kind, words)?;
        }
        ("class", "del") => {
            let Some(id) = handle else { return words.refuse("no `classid` is named") };
            if device.classes.iter().all(|class| class.id != id) {
                return words.refuse(format!("there is no class {id}"));
            }
            device.classes.retain(|class| class.id != id);
            device.qdiscs.retain(|qdisc| qdisc.parent != Some(id));
        }
        ("class", _) => {
            let (Some(parent), Some(id)) = (parent, handle) else {
                return words.refuse("a class needs `parent` and `classid`");
            };
            device.set_class(verb, parent, id, kind, words)?;
        }
        ("filter", "add" | "replace") => {
            let filter = filter::read(kind, handle, words)?;
            device.filters.push(Filters { line: words.line, parent, preference, filter });
        }
        _ => return words.refuse(format!("`{object} {verb}` cannot be carried over")),
    }
    device.is_known = true;
    Ok(())
}

/// What was written of an option list, with what is written now behind it where that is a change.
fn written(verb: &str, old: Option<&str>, words: &Words<'_>) -> String {
    let new = words.clone().words.collect::<Vec<_>>().join(" ");
    match old.filter(|_| verb == "change") {
        Some(old) => format!("{old} {new}"),
        None => new,
    }
}

impl Device {
    fn delete_qdisc(
        &mut self,
        parent: Option<ClassId>,
        at_root: bool,
        handle: Option<ClassId>,
        kind: &str,
        words: &Words<'_>,
    ) -> Result<(), Error> {
        if parent.is_none() && !at_root {
            return words.refuse("neither `root` nor `parent` is given");
        }
        if at_root && !self.is_known {
            // What scripts begin with: whatever was there before is to go.
            return Ok(());
        }
        let names = |qdisc: &Qdisc| {
            qdisc.parent == parent
                && handle.is_none_or(|handle| handle == qdisc.handle)
                && (kind.is_empty() || kind == qdisc.kind)
        };
        if !self.qdiscs.iter().any(names) {
            return words.refuse("there is no such qdisc");
        }
        match parent {
            None => *self = Self::default(),
            Some(_) => self.qdiscs.retain(|qdisc| !names(qdisc)),
        }
        Ok(())
    }

    fn set_qdisc(
        &mut self,
        verb: &str,
        parent: Option<ClassId>,
        handle: ClassId,
        kind: &str,
        words: &mut Words<'_>,
    ) -> Result<(), Error> {
        let old = self.qdiscs.iter().find(|old| old.parent == parent);
        match (verb, old) {
            ("add", Some(_)) => {
                return words.refuse("a qdisc is there already: `replace` takes its place");
            }
            ("change", None) => return words.refuse("there is no such qdisc to change"),
            ("change", Some(old)) if old.kind != kind => {
                return words.refuse(format!("a {} cannot be changed into a {kind}", old.kind));
            }
            _ => {}
        }
        let written = written(verb, old.map(|old| &*old.written), words);
        let handle = match old {
            Some(old) if handle == ClassId::NONE => old.handle,
            _ => handle,
        };
        let options = options::qdisc(kind, &mut Words::new(words.line, &written))?;
        self.qdiscs.retain(|old| old.parent != parent);
        let (line, kind) = (words.line, kind.to_string());
        self.qdiscs.push(Qdisc { line, parent, handle, kind, written, options });
        Ok(())
    }

    fn set_class(
        &mut self,
        verb: &str,
        parent: ClassId,
        id: ClassId,
        kind: &str,
        words: &mut Words<'_>,
    ) -> Result<(), Error> {
        let Some(mut shape) = Shape::of_kind(kind).filter(|shape| shape.classes().is_some()) else {
            return words.refuse(format!("classes of `{kind}` are not configured"));
        };
        let old = self.classes.iter().find(|old| old.id == id);
        match (verb, old) {
            ("add", Some(_)) => {
                return words.refuse(format!("class {id} is there already"));
            }
            ("change", None) => return words.refuse(format!("there is no class {id} to change")),
            _ => {}
        }
        let written = written(verb, old.map(|old| &*old.written), words);
        if let Some(classes) = shape.classes_mut() {
            options::class(kind, classes.add(id), &mut Words::new(words.line, &written))?;
        }
        self.classes.retain(|old| old.id != id);
        let (line, kind) = (words.line, kind.to_string());
        self.classes.push(Class { line, parent, id, kind, written });
        Ok(())
    }

    /// Its configuration, if a qdisc is left.
    fn assemble(mut self) -> Result<Option<Config>, Error> {
        if self.qdiscs.is_empty() && self.classes.is_empty() && self.filters.is_empty() {
            return Ok(None);
        }
        let refuse = |line, reason: String| Err(Error::Tc { line, reason });
        let Some(root) = self.qdiscs.iter().position(|qdisc| qdisc.parent.is_none()) else {
            let line = self.qdiscs.first().map_or(1, |qdisc| qdisc.line);
            return refuse(line, "there is no qdisc at the root".to_string());
        };
        let root = self.qdiscs.swap_remove(root);
        let handle = root.handle;
        let mut config = Config::of(self.shape(root)?);
        if let Some(left) = self.qdiscs.first() {
            return refuse(left.line, "its parent has no place for a qdisc".to_string());
        }
        if let Some(left) = self.classes.first() {
            return refuse(left.line, format!("no qdisc has class {}", left.id));
        }
        self.filters.sort_by_key(|filter| filter.preference);
        for filter in self.filters {
            if filter.parent.is_some_and(|parent| parent != handle) {
                let reason = "only filters of the qdisc at the root can be carried over";
                return refuse(filter.line, reason.to_string());
            }
            config.filters.push(filter.filter);
        }
        Ok(Some(config))
    }

    /// The discipline under a class, taken out of those still to be placed.
    fn leaf(&mut self, class: ClassId) -> Result<Option<Shape>, Error> {
        match self.qdiscs.iter().position(|qdisc| qdisc.parent == Some(class)) {
            Some(at) => {
                let qdisc = self.qdiscs.swap_remove(at);
                self.shape(qdisc).map(Some)
            }
            None => Ok(None),
        }
    }

    /// The classes of a discipline, taken out of those still to be placed.
    fn classes_of(&mut self, handle: ClassId) -> Vec<Class> {
        let (own, others) = std::mem::take(&mut self.classes)
            .into_iter()
            .partition(|class| class.id.major() == handle.major());
        self.classes = others;
        own
    }

    fn shape(&mut self, qdisc: Qdisc) -> Result<Shape, Error> {
        let Qdisc { line, handle, options: QdiscOptions { mut shape, tbf_bytes }, .. } = qdisc;
        let minor = |minor: u16| ClassId::new(handle.major(), minor);
        match &mut shape {
            Shape::Prio(prio) => {
                prio.handle = handle;
                for (number, band) in (1..).zip(&mut prio.bands) {
                    *band = self.leaf(minor(number))?.unwrap_or(Shape::pfifo(1000));
                }
            }
            Shape::Tbf(tbf) => {
                // Any minor names a token bucket's only class; `tc` shows it as 1.
                let at = self.qdiscs.iter().position(|below| {
                    below.parent.is_some_and(|parent| parent.major() == handle.major())
                });
                *tbf.leaf = match at.map(|at| self.qdiscs.swap_remove(at)) {
                    Some(below) => self.shape(below)?,
                    None => Shape::bfifo(tbf_bytes),
                };
            }
            _ => {}
        }
        let kind = shape.kind();
        let Some(classes) = shape.classes_mut() else { return Ok(shape) };
        for class in self.classes_of(handle) {
            if class.kind != kind {
                return Err(mismatch(class.line, class.id, kind));
            }
            let made = classes.add(class.id);
            options::class(kind, made, &mut Words::new(class.line, &class.written))?;
            made.place(class.id, (class.parent != handle).then_some(class.parent));
            made.set_leaf(self.leaf(class.id)?);
        }
        let known: Vec<ClassId> = classes.all().iter().map(|class| class.id()).collect();
        let handle = checked(line, handle)?;
        shape.settings().each(&mut |setting, slot| match (setting.name, slot) {
            ("handle", Slot::Class(place)) => place.set(handle),
            // A default that is not there sends packets past the shaper, in Linux and here.
            ("default", Slot::Class(Place::Maybe(place))) => {
                *place = place.map(|id| minor(id.minor())).filter(|id| known.contains(id));
            }
            _ => {}
        });
        Ok(shape)
    }
}

fn mismatch(line: usize, id: ClassId, kind: &str) -> Error {
    Error::Tc { line, reason: format!("class {id} is not of its qdisc's kind, {kind}") }
}

/// A discipline with classes needs a handle that they can name.
fn checked(line: usize, handle: ClassId) -> Result<ClassId, Error> {
    if handle == ClassId::NONE {
        let reason = "a qdisc with classes needs a `handle`".to_string();
        return Err(Error::Tc { line, reason });
    }
    Ok(handle)
}

#[cfg(test)]
mod tests;
