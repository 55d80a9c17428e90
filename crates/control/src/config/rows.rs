//! Tables of rows, and sections, as objects: how they stand in the file, and the commands that edit
//! them, the same for every kind.
//!
//! ```text
//!  [policer.gold]   a name and fields         policer add gold rate 10mbit burst 64kb
//!                                             policer set gold rate 20mbit
//!                                             policer del gold
//!  [[neighbor]]     a key of fields, fields   neighbor add 192.0.2.9 port p0 mac 02:00:00:00:00:09
//!  [icmp]           fields                    icmp set echo off
//! ```

use std::borrow::Cow;
use std::fmt::{Debug, Display};

use super::change::Replaced;
use super::declare::{Declared, explained, infos};
use super::draft::Draft;
use super::edit::{Command, Run, Words, with_words};
use super::field::Form;
use super::host::Host;
use super::info::{Described, Info, Stands};
use super::objects::{Config, Object};
use super::read::TableReader;
use super::report::{Problem, Report};
use super::suggest::nearest;
use super::table::{Delta, Table};
use super::write::{Fields, Writer, quoted};

/// A value with fields, as it stands in the file.
pub trait Row: Declared + Debug + 'static {
    /// What the file and commands call it, as in `acl`.
    const KIND: &'static str;
    /// What a person calls it, as in `access list`.
    const CALLED: &'static str = Self::KIND;
    /// The commands beside those that every kind has.
    const MORE: &'static [Command] = &[];

    /// What a section is, of a kind if there are several.
    fn about(_kind: &str) -> &'static str {
        Self::ABOUT
    }

    /// What stands in sections of its own: where, and what it is.
    fn parts() -> Vec<Described> {
        Vec::new()
    }

    /// Every field with its value as TOML, as changes tell them.
    fn fields(&self) -> Fields {
        self.write(Fields::new())
    }
}

/// A section that is always there.
pub trait Section: Row + Default {
    /// Whether changes only take effect when the router starts anew.
    const NEEDS_RESTART: bool = false;

    /// Finds what is wrong with it, alone and in its surroundings.
    fn check(&self, _: &Config, _: &Host, _: &mut Report) {}

    /// Whether the file says it.
    fn is_said(&self) -> bool {
        !self.fields().is_empty()
    }
}

/// What tells the rows of a table apart: a name, or fields.
pub trait Key: Clone + Ord + Debug + Display + 'static {
    /// What a name is, as in `[policer.gold]`; `None`: it is fields, as in `[[neighbor]]`.
    const NAME: Option<Form>;
    /// How many of its fields a command wants first, without their names.
    const FIRST: usize = 0;

    /// Reads a name of the file.
    fn of_name(name: &str) -> Result<Self, Problem>;
    /// Reads a name of a command; `None`: it has fields.
    fn take(words: &mut Words<'_>) -> Result<Option<Self>, Problem>;
    /// What a command says of it first.
    fn first() -> Vec<Info>;
    /// Reads its fields.
    fn read(table: &mut TableReader<'_>) -> Option<Self>;
    /// Puts its fields behind others.
    fn write(&self, fields: Fields) -> Fields;
    /// What is known of its fields.
    fn infos() -> Vec<Info>;
    /// How problems call its row.
    fn path(&self, kind: &str) -> String;
}

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

    /// Finds what is wrong with all rows, alone and in their surroundings.
    fn check(rows: &Table<Self::Key, Self>, config: &Config, host: &Host, report: &mut Report);

    /// Writes what has sections of its own, below that of `header`.
    fn write_more(&self, _header: &str, _: &mut Writer) {}

    /// Takes over what a command that sets fields cannot speak of.
    fn keep(&mut self, _: &Self) {}

    /// Brings changes into the order in which they can be made.
    fn order(_: &mut [Delta<Self::Key, Self>]) {}
}

/// Where an object stands in the configuration.
pub trait Place {
    /// The object.
    fn place(config: &mut Config) -> &mut Self;
}

impl<S: Section + Place> Object for S {
    type Change = Replaced<Self>;

    const NEEDS_RESTART: bool = S::NEEDS_RESTART;

    fn read(root: &mut TableReader<'_>) -> Self {
        root.table(S::KIND, <S as Declared>::read).flatten().unwrap_or_default()
    }

    fn check(&self, config: &Config, host: &Host, report: &mut Report) {
        Section::check(self, config, host, report);
    }

    fn write(&self, writer: &mut Writer) {
        if self.is_said() {
            writer.section(&format!("[{}]", S::KIND), &self.fields());
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Replaced::between(old, new)
    }

    fn commands() -> Vec<Command> {
        let about = format!("Change `{}`", S::KIND);
        let set = command::<S>("set", about, Vec::new, explained::<S>, set_section::<S>);
        [&[set], S::MORE].concat()
    }

    fn described() -> Vec<Described> {
        let (path, about, infos) = (S::KIND, S::about, explained::<S>());
        vec![Described { path, about, infos, stands: Stands::Once }]
    }
}

impl<K: Key, V: Listed<Key = K>> Object for Table<K, V>
where
    Self: Place,
{
    type Change = Delta<K, V>;

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut rows = Self::default();
        if K::NAME.is_some() {
            root.each_table(V::KIND, |name, span, table| {
                let row = V::read(table);
                match (K::of_name(name), row) {
                    (Ok(name), Some(row)) => drop(rows.insert(name, row)),
                    (Ok(_), None) => table.report().lose_row(),
                    (Err(mut problem), _) => {
                        problem.field = format!("{}.{name}", V::KIND);
                        table.report().lose_row();
                        table.report().push(problem.at(span));
                    }
                }
            });
        } else {
            root.each_item(V::KIND, |table| {
                let key = K::read(table);
                if let Some(key) = &key {
                    let path = key.path(V::KIND);
                    if rows.contains(key) {
                        let problem = Problem::new(&path, format!("{key} is listed twice"));
                        let mut problem = problem.expected(format!("each {} once", V::CALLED));
                        problem.suggestion = V::ONCE.map(str::to_owned);
                        let problem = problem.at(table.span());
                        table.report().push(problem);
                    }
                    table.rename(path);
                }
                if let (Some(row), Some(key)) = (V::read(table), key) {
                    rows.insert(key, row);
                }
            });
        }
        rows
    }

    fn check(&self, config: &Config, host: &Host, report: &mut Report) {
        V::check(self, config, host, report);
    }

    fn write(&self, writer: &mut Writer) {
        for (key, row) in self.iter() {
            let fields = row.write(key.write(Fields::new()));
            if K::NAME.is_some() {
                let name = key.to_string();
                let name = if name.contains('.') { quoted(&name) } else { name };
                let header = format!("{}.{name}", V::KIND);
                writer.section(&format!("[{header}]"), &fields);
                row.write_more(&header, writer);
            } else {
                writer.section(&format!("[[{}]]", V::KIND), &fields);
            }
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        let mut deltas = Self::delta(old, new);
        V::order(&mut deltas);
        deltas
    }

    fn commands() -> Vec<Command> {
        if !V::IS_EDITED {
            return V::MORE.to_vec();
        }
        let one = format!("{} {}", article(V::CALLED), V::CALLED);
        let about = format!("Add {one}{}", example::<V>());
        let add = command::<V>("add", about, first_of::<V>, explained_infos::<V>, add_row::<V>);
        let mut commands = vec![add];
        if K::NAME.is_some() && !infos::<V>().is_empty() {
            let about = format!("Change {one}");
            commands.push(command::<V>("set", about, K::first, explained::<V>, set_row::<V>));
        }
        let about = format!("Remove {one}");
        commands.push(command::<V>("del", about, K::first, K::infos, del_row::<V>));
        commands.extend_from_slice(V::MORE);
        commands
    }

    fn described() -> Vec<Described> {
        let (path, about, infos) = (V::KIND, V::about, explained_infos::<V>());
        let mut described = vec![Described {
            path,
            about,
            infos,
            stands: K::NAME.map_or(Stands::Listed, Stands::Named),
        }];
        described.extend(V::parts());
        described
    }
}

/// A command of a kind of object.
fn command<R: Row>(
    verb: &'static str,
    about: String,
    first: fn() -> Vec<Info>,
    fields: fn() -> Vec<Info>,
    run: Run,
) -> Command {
    Command { noun: R::KIND, verb, about: Cow::Owned(about), first, fields, run }
}

/// What a command that adds one wants first.
fn first_of<V: Listed>() -> Vec<Info> {
    V::Key::first().into_iter().chain(infos::<V>().into_iter().take(V::FIRST)).collect()
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
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
fn explained_infos<V: Listed>() -> Vec<Info> {
    [V::Key::infos(), explained::<V>()].concat()
}

fn set_section<S: Section + Place>(
    config: &mut Config,
    words: &mut Words<'_>,
) -> Result<(), Problem> {
    let section = S::place(config);
    let mut draft = Draft::of(&section.fields());
    draft.say_some(&infos::<S>(), words)?;
    *section = draft.read(S::KIND, <S as Declared>::read)?;
    Ok(())
}

fn add_row<V: Listed>(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem>
where
    Table<V::Key, V>: Place,
{
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
    add_draft::<V>(config, name, draft, words)
}

/// Adds a row whose first field, which a command says elsewhere, is said by its noun.
pub(crate) fn add_as<V: Listed>(
    config: &mut Config,
    words: &mut Words<'_>,
    first: &str,
) -> Result<(), Problem>
where
    Table<V::Key, V>: Place,
{
    let name = V::Key::take(words)?;
    let mut draft = Draft::default();
    with_words(first, |words| draft.say(&infos::<V>()[0], words))?;
    add_draft::<V>(config, name, draft, words)
}

fn add_draft<V: Listed>(
    config: &mut Config,
    name: Option<V::Key>,
    mut draft: Draft,
    words: &mut Words<'_>,
) -> Result<(), Problem>
where
    Table<V::Key, V>: Place,
{
    let infos = all_infos::<V>();
    draft.say_rest(&infos, words)?;
    let path = name.as_ref().map_or_else(|| V::KIND.to_owned(), |name| name.path(V::KIND));
    let (key, row) = draft.read(&path, |table| {
        let key = name.or_else(|| V::Key::read(table));
        let row = V::read(table);
        Some((key?, row?))
    })?;
    add::<V>(config, key, row)
}

/// Adds a row where there is none.
pub(crate) fn add<V: Listed>(config: &mut Config, key: V::Key, row: V) -> Result<(), Problem>
where
    Table<V::Key, V>: Place,
{
    let rows = <Table<V::Key, V>>::place(config);
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

fn set_row<V: Listed>(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem>
where
    Table<V::Key, V>: Place,
{
    let Some(name) = V::Key::take(words)? else { return Err(words.unexpected(&[])) };
    let row = row_mut::<V>(config, &name)?;
    let mut draft = Draft::of(&row.write(Fields::new()));
    draft.say_some(&infos::<V>(), words)?;
    let mut new = draft.read(&name.path(V::KIND), V::read)?;
    new.keep(row);
    *row = new;
    Ok(())
}

fn del_row<V: Listed>(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem>
where
    Table<V::Key, V>: Place,
{
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
    row_mut::<V>(config, &key)?;
    <Table<V::Key, V>>::place(config).remove(&key);
    Ok(())
}

/// The row that a command names.
pub(crate) fn row_mut<'a, V: Listed>(
    config: &'a mut Config,
    key: &V::Key,
) -> Result<&'a mut V, Problem>
where
    Table<V::Key, V>: Place,
{
    let rows = <Table<V::Key, V>>::place(config);
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

/// A type whose values name rows.
macro_rules! name_key {
    ($($name:ty = $what:literal),+) => { $(
        impl $crate::config::rows::Key for $name {
            const NAME: Option<$crate::config::field::Form> =
                Some(<Self as $crate::config::field::Field>::FORM);

            fn of_name(name: &str) -> Result<Self, $crate::config::report::Problem> {
                <Self as $crate::config::field::Field>::from_text(name).map_err(|refusal| {
                    let message = refusal.message.unwrap_or_default();
                    let problem = $crate::config::report::Problem::new("", message);
                    problem.expected(<Self as $crate::config::field::Field>::EXPECTED)
                })
            }

            fn take(
                words: &mut $crate::config::edit::Words<'_>,
            ) -> Result<Option<Self>, $crate::config::report::Problem> {
                words.next($what).map(Some)
            }

            fn first() -> Vec<$crate::config::info::Info> {
                let name = $crate::config::info::Info::new("name", &["Its name"], "");
                vec![name.taking::<Self>(|words, _| words.next::<Self>($what).map(|_| None))]
            }

            fn read(_: &mut $crate::config::read::TableReader<'_>) -> Option<Self> {
                None
            }

            fn write(&self, fields: $crate::config::write::Fields) -> $crate::config::write::Fields {
                fields
            }

            fn infos() -> Vec<$crate::config::info::Info> {
                Vec::new()
            }

            fn path(&self, kind: &str) -> String {
                format!("{kind}.{self}")
            }
        }
    )+ };
}
pub(crate) use name_key;

/// A declared object whose fields tell rows apart.
macro_rules! field_key {
    ($name:ty, $first:literal, $path:expr) => {
        impl $crate::config::rows::Key for $name {
            const NAME: Option<$crate::config::field::Form> = None;
            const FIRST: usize = $first;

            fn of_name(name: &str) -> Result<Self, $crate::config::report::Problem> {
                Err($crate::config::report::Problem::new(name, "it has no name"))
            }

            fn take(
                _: &mut $crate::config::edit::Words<'_>,
            ) -> Result<Option<Self>, $crate::config::report::Problem> {
                Ok(None)
            }

            fn first() -> Vec<$crate::config::info::Info> {
                let infos = <Self as $crate::config::rows::Key>::infos();
                infos.into_iter().take($first).collect()
            }

            fn read(table: &mut $crate::config::read::TableReader<'_>) -> Option<Self> {
                $crate::config::declare::Declared::read(table)
            }

            fn write(
                &self,
                fields: $crate::config::write::Fields,
            ) -> $crate::config::write::Fields {
                $crate::config::declare::Declared::write(self, fields)
            }

            fn infos() -> Vec<$crate::config::info::Info> {
                $crate::config::declare::infos::<Self>()
            }

            fn path(&self, kind: &str) -> String {
                let path: fn(&Self) -> String = $path;
                format!("{kind}.{}", path(self))
            }
        }
    };
}
pub(crate) use field_key;
