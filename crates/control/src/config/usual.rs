//! The commands that edit every kind of object: `add`, `set` and `del`.
//!
//! ```text
//!  policer add gold rate 10mbit burst 64kb
//!  policer set gold rate 20mbit
//!  policer del gold
//! ```

use super::declare::{explained, infos};
use super::draft::Draft;
use super::info::Info;
use super::key::Key;
use super::listed::{Listed, add, article, row_mut};
use super::report::Problem;
use super::table::Table;
use super::words::{Words, with_words};
use super::write::Fields;

/// What a usual command does.
#[derive(Clone, Copy, Debug)]
pub enum Verb {
    /// Brings a row.
    Add,
    /// Changes fields.
    Set,
    /// Takes a row away.
    Del,
}

impl Verb {
    /// How a command says it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Set => "set",
            Self::Del => "del",
        }
    }
}

/// A usual command.
pub struct Usual {
    /// What it does.
    pub verb: Verb,
    /// One line of help.
    pub about: String,
    /// What it wants first, without names.
    pub first: fn() -> Vec<Info>,
    /// The fields that it may name.
    pub fields: fn() -> Vec<Info>,
}

/// Those of a kind of rows.
pub(super) fn of_rows<V: Listed>() -> Vec<Usual> {
    if !V::IS_EDITED {
        return Vec::new();
    }
    let one = format!("{} {}", article(V::CALLED), V::CALLED);
    let about = format!("Add {one}{}", example::<V>());
    let (first, fields): (fn() -> _, fn() -> _) = (first_of::<V>, explained_infos::<V>);
    let mut commands = vec![Usual { verb: Verb::Add, about, first, fields }];
    if V::Key::NAME.is_some() && !infos::<V>().is_empty() {
        let (about, first, fields) = (format!("Change {one}"), V::Key::first, explained::<V>);
        commands.push(Usual { verb: Verb::Set, about, first, fields });
    }
    let (about, first, fields) = (format!("Remove {one}"), V::Key::first, V::Key::infos);
    commands.push(Usual { verb: Verb::Del, about, first, fields });
    commands
}

/// What a command that adds one wants first.
fn first_of<V: Listed>() -> Vec<Info> {
    V::Key::first().into_iter().chain(infos::<V>().into_iter().take(V::FIRST)).collect()
}

/// What must be said, as help shows it.
fn example<V: Listed>() -> String {
    let (infos, first) = (all_infos::<V>(), first_of::<V>());
    let mut words = vec![V::KIND, "add"];
    if V::Key::NAME.is_some() {
        words.push("NAME");
    }
    let length = words.len();
    let is_needed = |info: &&Info| info.is_field() && info.is_required && info.of.is_empty();
    for info in infos.iter().filter(is_needed) {
        if first.iter().all(|it| it.name != info.name) {
            words.push(info.word);
        }
        words.push(info.example);
    }
    if words.len() == length { String::new() } else { format!(", as in: {}", words.join(" ")) }
}

/// What is known of the fields of a row and of what tells it from others.
fn all_infos<V: Listed>() -> Vec<Info> {
    let mut infos = V::Key::infos();
    V::describe(&mut infos);
    infos
}

/// The same with defaults.
pub(super) fn explained_infos<V: Listed>() -> Vec<Info> {
    [V::Key::infos(), explained::<V>()].concat()
}

/// Adds the row that a command says.
pub(super) fn add_row<V: Listed>(
    rows: &mut Table<V::Key, V>,
    words: &mut Words<'_>,
) -> Result<(), Problem> {
    let name = V::Key::take(words)?;
    let (mut draft, infos) = (Draft::default(), all_infos::<V>());
    for info in &infos[..V::Key::FIRST + V::FIRST] {
        draft.say(info, words)?;
    }
    if V::IS_LIST {
        while words.peek().is_some_and(|word| infos.iter().all(|info| info.word != word)) {
            draft.say(&infos[0], words)?;
        }
    }
    add_draft(rows, name, draft, words)
}

/// Adds a row whose first field, which a command says elsewhere, is said by its noun.
pub(crate) fn add_as<V: Listed>(
    rows: &mut Table<V::Key, V>,
    words: &mut Words<'_>,
    first: &str,
) -> Result<(), Problem> {
    let name = V::Key::take(words)?;
    let mut draft = Draft::default();
    with_words(first, |words| draft.say(&infos::<V>()[0], words))?;
    add_draft(rows, name, draft, words)
}

fn add_draft<V: Listed>(
    rows: &mut Table<V::Key, V>,
    name: Option<V::Key>,
    mut draft: Draft,
    words: &mut Words<'_>,
) -> Result<(), Problem> {
    let infos = all_infos::<V>();
    draft.say_rest(&infos, words)?;
    let path = name.as_ref().map_or_else(|| V::KIND.to_owned(), |name| name.path(V::KIND));
    let (key, row) = draft.read(&path, |table| {
        let key = name.or_else(|| V::Key::read(table));
        let row = V::read(table);
        Some((key?, row?))
    })?;
    add(rows, key, row)
}

/// Changes the fields of a row that a command names.
pub(super) fn set_row<V: Listed>(
    rows: &mut Table<V::Key, V>,
    words: &mut Words<'_>,
) -> Result<(), Problem> {
    let Some(name) = V::Key::take(words)? else { return Err(words.unexpected(&[])) };
    let row = row_mut(rows, &name)?;
    let mut draft = Draft::of(&row.write(Fields::new()));
    draft.say_some(&infos::<V>(), words)?;
    let mut new = draft.read(&name.path(V::KIND), V::read)?;
    new.keep(row);
    *row = new;
    Ok(())
}

/// Removes the row that a command names.
pub(super) fn del_row<V: Listed>(
    rows: &mut Table<V::Key, V>,
    words: &mut Words<'_>,
) -> Result<(), Problem> {
    let key = match V::Key::take(words)? {
        Some(name) => name,
        None => {
            let (mut draft, infos) = (Draft::default(), V::Key::infos());
            for info in &infos[..V::Key::FIRST] {
                draft.say(info, words)?;
            }
            draft.say_rest(&infos, words)?;
            draft.read(V::KIND, V::Key::read)?
        }
    };
    row_mut(rows, &key)?;
    rows.remove(&key);
    Ok(())
}
