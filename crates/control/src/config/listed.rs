//! Rows of tables: what is said of a kind of them, and how one is found that is named.

use super::declare::infos;
use super::key::Key;
use super::report::{Problem, Report};
use super::row::Row;
use super::suggest::nearest;
use super::table::{Delta, Table};
use super::write::Writer;

/// A row of a table.
pub trait Listed: Row {
    /// What tells it from others.
    type Key: Key;
    /// How many of its fields a command that adds one wants first, without their names.
    const FIRST: usize = 0;
    /// Whether they are the items of its first field.
    const IS_LIST: bool = false;
    /// What is said beside a row that stands in the file twice.
    const ONCE: Option<&'static str> = None;
    /// Whether the usual commands are for it.
    const IS_EDITED: bool = true;
    /// Whether `add` may put it in the place of another.
    const IS_REPLACED: bool = false;

    /// Writes what has sections of its own, below that of `header`.
    fn write_more(&self, _header: &str, _: &mut Writer) {}

    /// Takes over what a command that sets fields cannot speak of.
    fn keep(&mut self, _: &Self) {}

    /// Brings changes into the order in which they can be made.
    fn order(_: &mut [Delta<Self::Key, Self>]) {}
}

/// Adds a row where there is none.
pub(crate) fn add<V: Listed>(
    rows: &mut Table<V::Key, V>,
    key: V::Key,
    row: V,
) -> Result<(), Problem> {
    if V::Key::NAME.is_some() && !V::IS_REPLACED && rows.contains(&key) {
        let message = format!("{} {key} is there already", V::CALLED);
        let problem = Problem::new(key.path(V::KIND), message);
        return Err(match infos::<V>()[..] {
            [] => problem,
            _ => problem
                .help(format!("`{0} set {key} …` changes it, `{0} del {key}` removes it", V::KIND)),
        });
    }
    rows.insert(key, row);
    Ok(())
}

/// The row that a command names.
pub(crate) fn row_mut<'a, V: Listed>(
    rows: &'a mut Table<V::Key, V>,
    key: &V::Key,
) -> Result<&'a mut V, Problem> {
    if !rows.contains(key) {
        return Err(missing(&key.path(V::KIND), key, rows));
    }
    rows.get_mut(key).ok_or_else(|| Problem::new(V::KIND, "it is gone"))
}

/// The complaint that there is no such row; `field` names it.
pub(crate) fn missing<V: Listed>(field: &str, key: &V::Key, rows: &Table<V::Key, V>) -> Problem {
    let called = V::CALLED;
    if V::Key::NAME.is_none() {
        return Problem::new(field, format!("there is no {called} {key}"));
    }
    let names: Vec<String> = rows.iter().map(|(name, _)| name.to_string()).collect();
    let problem = Problem::new(field, format!("there is no {called} `{key}`"));
    let problem = match &names[..] {
        [] => problem.expected(format!("{} {called}, and there is none", article(called))),
        names if names.len() <= 16 => problem.expected(format!("one of {}", names.join(", "))),
        _ => problem.expected(format!("the name of {} {called}", article(called))),
    };
    match nearest(&key.to_string(), names.iter().map(String::as_str)) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}

/// Complains about a row that is named and is not there, unless it may have been lost to a fault of
/// its own.
pub(crate) fn check_exists<V: Listed>(
    field: &str,
    key: &V::Key,
    rows: &Table<V::Key, V>,
    report: &mut Report,
) {
    if !rows.contains(key) {
        report.push_missing(missing(field, key, rows));
    }
}

/// The article of a noun.
pub(super) fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
