//! What a device has, and what commands do to it.

use std::collections::HashMap;

use super::options;
use super::place::{self, FIRST_FOUND, handle_of};
use super::words::{KERNEL, Words};
use crate::check::check;
use crate::config::Config;
use crate::filter::Filter;
use crate::plan::Shape;
use crate::settings::{Place, Settings, Slot};
use crate::{ClassId, Error};

/// What a command does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Add,
    /// Anew, whatever is there.
    Replace,
    /// All stays that is not named.
    Change,
    Delete,
}

/// What it does that to.
#[derive(Default)]
pub(super) struct Whose {
    pub(super) at_root: bool,
    pub(super) parent: Option<ClassId>,
    pub(super) handle: Option<ClassId>,
    pub(super) class: Option<ClassId>,
}

/// Filters of no preference come before those that were there, from here on.
const LAST_PREFERENCE: u32 = 49_152;

struct Placed {
    preference: u32,
    filter: Filter,
    /// Where it was read; it was there before if nowhere.
    line: Option<usize>,
}

/// A device and its scheduler.
pub(super) struct Device {
    config: Option<Config>,
    filters: Vec<Placed>,
    /// Whether a command was about it, or it has something: what it had before is known.
    is_known: bool,
    /// Where disciplines and classes were last named.
    lines: HashMap<ClassId, usize>,
    /// Whether a line about it was refused: what follows may lack what that would have made.
    is_broken: bool,
    /// There is no such device, which was told.
    is_missing: bool,
}

impl Device {
    pub(super) fn new(mut config: Option<Config>) -> Self {
        let filters = config.as_mut().map(|config| std::mem::take(&mut config.filters));
        let placed = |filter| Placed { preference: LAST_PREFERENCE, filter, line: None };
        let filters = filters.into_iter().flatten().map(placed).collect();
        Self {
            is_known: config.is_some(),
            config,
            filters,
            lines: HashMap::new(),
            is_broken: false,
            is_missing: false,
        }
    }

    /// One that is not there.
    pub(super) fn missing() -> Self {
        Self { is_missing: true, ..Self::new(None) }
    }

    pub(super) fn is_missing(&self) -> bool {
        self.is_missing
    }

    /// What is to be told of a line's outcome: not what only follows from another's.
    pub(super) fn told(&mut self, outcome: Result<(), Error>) -> Result<(), Error> {
        match outcome {
            Err(Error::Tc { status, .. }) if status == KERNEL && self.is_broken => Ok(()),
            outcome => {
                self.is_broken |= outcome.is_err();
                outcome
            }
        }
    }

    fn root(&mut self) -> Option<&mut Shape> {
        self.config.as_mut().map(|config| &mut config.root)
    }

    pub(super) fn delete_qdisc(
        &mut self,
        whose: &Whose,
        kind: &str,
        words: &Words<'_>,
    ) -> Result<(), Error> {
        let Whose { at_root, parent, handle, .. } = *whose;
        if parent.is_none() && !at_root {
            return words.refuse("neither `root` nor `parent` is given");
        }
        let was_known = std::mem::replace(&mut self.is_known, true);
        let is_meant = |shape: &Shape| {
            handle.is_none_or(|handle| handle == handle_of(shape))
                && (kind.is_empty() || kind == shape.kind())
        };
        let missing = || words.deny("there is no such qdisc");
        match (parent, self.root()) {
            (None, Some(root)) if is_meant(root) => {
                (self.config, self.filters) = (None, Vec::new())
            }
            // What scripts begin with: whatever may be there is to go.
            (None, None) if !was_known && handle.is_none() && kind.is_empty() => {}
            (Some(class), Some(root)) => match place::take(root, class).flatten() {
                Some(leaf) if is_meant(&leaf) => {}
                Some(leaf) => {
                    place::put(root, class, leaf);
                    return missing();
                }
                None => return missing(),
            },
            _ => return missing(),
        }
        Ok(())
    }

    pub(super) fn set_qdisc(
        &mut self,
        verb: Verb,
        whose: &Whose,
        kind: &str,
        words: &mut Words<'_>,
    ) -> Result<(), Error> {
        let Whose { at_root, parent, handle, .. } = *whose;
        if parent.is_none() && !at_root {
            return words.refuse("neither `root` nor `parent` is given");
        }
        let Some(mut anew) = Shape::of_kind(kind) else {
            return words.refuse(format!("there is no discipline `{kind}` here"));
        };
        if verb != Verb::Change {
            // What cannot be read is told before what cannot be done.
            options::qdisc(&mut anew, false, words)?;
        }
        let old = match parent {
            None => self.root().map(|root| root.clone()),
            Some(class) => self.standing_in(class, words)?,
        };
        match (verb, &old) {
            (Verb::Add, Some(_)) => {
                return words.deny(
                    "a qdisc is there already (Exclusivity flag on, cannot modify): `replace` takes \
                     its place, `change` changes it",
                );
            }
            (Verb::Change, None) => return words.deny("there is no such qdisc to change"),
            (Verb::Change, Some(old)) if old.kind() != kind => {
                let old = old.kind();
                return words.deny(format!("a {old} cannot be changed into a {kind}"));
            }
            (Verb::Change, Some(old)) if handle.is_some_and(|handle| handle != handle_of(old)) => {
                return words.deny(format!("the qdisc is {}, no other", handle_of(old)));
            }
            _ => {}
        }
        let had = old.as_ref().filter(|old| old.kind() == kind).and_then(Shape::handle);
        let begun = old.filter(|_| verb == Verb::Change);
        let is_change = begun.is_some();
        let mut shape = begun.unwrap_or(anew);
        if is_change {
            options::qdisc(&mut shape, true, words)?;
        }
        let needs_name = shape.classes().is_some()
            || matches!(shape, Shape::Prio(_))
            || parent.is_some_and(|class| self.is_band(class));
        match handle.or(had) {
            Some(handle) => shape.set_handle(handle),
            None if needs_name => shape.set_handle(self.free_handle()),
            None => {}
        }
        let handle = handle_of(&shape);
        shape.settings().each(&mut |setting, slot| match slot {
            // `tc` says the minor number alone.
            Slot::Class(Place::Maybe(Some(id))) if !setting.is_its_name() && id.major() == 0 => {
                *id = ClassId::new(handle.major(), id.minor());
            }
            _ => {}
        });
        self.lines.insert(handle, words.line);
        self.is_known = true;
        let Some(class) = parent else {
            if !is_change {
                // What stood under the old one goes with it.
                self.filters.clear();
            }
            match &mut self.config {
                Some(config) => config.root = shape,
                None => self.config = Some(Config::of(shape)),
            }
            return Ok(());
        };
        if let Some(root) = self.root() {
            place::put(root, class, shape);
        }
        Ok(())
    }

    /// What stands in a class, which must be there.
    fn standing_in(&mut self, class: ClassId, words: &Words<'_>) -> Result<Option<Shape>, Error> {
        let Some(root) = self.root() else { return words.deny("there is no qdisc at the root") };
        let Some(old) = place::take(root, class) else {
            return words.deny(format!("there is no class {class} that a qdisc can stand in"));
        };
        if let Some(old) = old.clone() {
            place::put(root, class, old);
        }
        Ok(old)
    }

    /// Whether it is of a discipline that has something in every class of its own.
    fn is_band(&mut self, class: ClassId) -> bool {
        let of = self.root().and_then(|root| place::find(root, class.major()));
        of.is_some_and(|of| of.classes().is_none())
    }

    fn free_handle(&mut self) -> ClassId {
        let root = self.root();
        let majors = FIRST_FOUND.major()..u16::MAX;
        let free = match root {
            Some(root) => majors.into_iter().find(|&major| place::find(root, major).is_none()),
            None => None,
        };
        ClassId::new(free.unwrap_or(FIRST_FOUND.major()), 0)
    }

    pub(super) fn delete_class(&mut self, whose: &Whose, words: &Words<'_>) -> Result<(), Error> {
        let Some(id) = whose.class else { return words.refuse("no `classid` is named") };
        let missing = || words.deny(format!("there is no class {id}"));
        let Some(root) = self.root() else { return missing() };
        let Some(classes) = place::find(root, id.major()).and_then(Shape::classes_mut) else {
            return missing();
        };
        if classes.all().iter().any(|class| class.parent() == Some(id)) {
            return words.deny(format!("class {id} has classes below it"));
        }
        if classes.remove(id) { Ok(()) } else { missing() }
    }

    pub(super) fn set_class(
        &mut self,
        verb: Verb,
        whose: &Whose,
        kind: &str,
        words: &mut Words<'_>,
    ) -> Result<(), Error> {
        if Shape::of_kind(kind).is_none_or(|shape| shape.classes().is_none()) {
            return words.refuse(format!("classes of `{kind}` are not configured"));
        }
        let (Some(parent), Some(id)) = (whose.parent, whose.class) else {
            return words.refuse("a class needs `parent` and `classid`");
        };
        self.lines.insert(id, words.line);
        // Its settings are read aside: one that is refused changes nothing.
        let Some(mut aside) = Shape::of_kind(kind) else { return Ok(()) };
        let Some(read) = aside.classes_mut() else { return Ok(()) };
        if verb != Verb::Change {
            options::class(read.add(id), false, words)?;
        }
        let Some(qdisc) = self.root().and_then(|root| place::find(root, id.major())) else {
            return words.deny(format!("no qdisc has class {id}"));
        };
        if qdisc.kind() != kind {
            let kind = qdisc.kind();
            return words.deny(format!("class {id} is not of its qdisc's kind, {kind}"));
        }
        let handle = handle_of(qdisc);
        let Some(classes) = qdisc.classes_mut() else {
            return words.deny(format!("no qdisc has class {id}"));
        };
        let is_there = classes.find(id).is_some();
        if is_there && verb == Verb::Add {
            return words.deny(format!("class {id} is there already"));
        }
        if !is_there && verb == Verb::Change {
            return words.deny(format!("there is no class {id} to change"));
        }
        if parent != handle && classes.find(parent).is_none() {
            return words.deny(format!("there is no class {parent} for {id} to stand under"));
        }
        let leaf = classes.find(id).and_then(|class| class.leaf().cloned());
        if verb == Verb::Change {
            read.take_over(id, &*classes);
        }
        let Some(made) = read.find(id) else { return Ok(()) };
        if verb == Verb::Change {
            options::class(made, true, words)?;
        }
        made.place(id, (parent != handle).then_some(parent));
        made.set_leaf(leaf);
        if let Err(error) = Settings::check_ranges(&*made) {
            return words.deny(error.to_string());
        }
        classes.take_over(id, read);
        Ok(())
    }

    pub(super) fn add_filter(
        &mut self,
        parent: Option<ClassId>,
        preference: Option<u32>,
        filter: Filter,
        words: &Words<'_>,
    ) -> Result<(), Error> {
        let Some(root) = self.root() else { return words.deny("there is no qdisc at the root") };
        if parent.is_some_and(|parent| parent != handle_of(root)) {
            return words.deny("only filters of the qdisc at the root can be carried over");
        }
        if let Err(error) = filter.check() {
            return words.deny(error.to_string());
        }
        let first = self.filters.iter().map(|placed| placed.preference).min();
        let before = first.unwrap_or(LAST_PREFERENCE + 1).saturating_sub(1);
        let preference = preference.unwrap_or(before);
        self.filters.push(Placed { preference, filter, line: Some(words.line) });
        Ok(())
    }

    /// Finds what no line alone could be refused for, and the line nearest to it.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Some(config) = &self.config else { return Ok(()) };
        let refuse = |line: Option<usize>, error: &Error| {
            let line = line.or_else(|| self.lines.values().copied().min()).unwrap_or(1);
            Err(Error::Tc { line, status: KERNEL, reason: error.to_string() })
        };
        if let Err(error) = check(config) {
            let line = error.class().and_then(|id| self.lines.get(&id));
            let root = self.lines.get(&handle_of(&config.root));
            return refuse(line.or(root).copied(), &error);
        }
        let filters = self.sorted();
        let whole = Config {
            filters: filters.iter().map(|placed| placed.filter.clone()).collect(),
            ..config.clone()
        };
        match check(&whole) {
            Ok(()) => Ok(()),
            Err(error) => {
                let at = error.filter().and_then(|number| filters.get(number - 1));
                refuse(at.and_then(|placed| placed.line), &error)
            }
        }
    }

    fn sorted(&self) -> Vec<&Placed> {
        let mut filters: Vec<&Placed> = self.filters.iter().collect();
        filters.sort_by_key(|placed| placed.preference);
        filters
    }

    /// Its configuration, if a qdisc is left.
    pub(super) fn into_config(self) -> Option<Config> {
        let filters = self.sorted().into_iter().map(|placed| placed.filter.clone()).collect();
        let mut config = self.config?;
        config.filters = filters;
        Some(config)
    }
}
