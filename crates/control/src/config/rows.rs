//! Sections and tables of rows: how they stand in the file, the same for every kind.
//!
//! ```text
//!  [policer.gold]   a name and fields
//!  [[neighbor]]     a key of fields, fields
//!  [icmp]           fields
//! ```

use super::change::{Replaced, Step};
use super::declare::{Declared, explained, infos};
use super::draft::Draft;
use super::info::{Described, Stands};
use super::key::Key;
use super::listed::Listed;
use super::read::TableReader;
use super::report::Problem;
use super::row::Row;
use super::table::{Delta, Table};
use super::toml_text::quoted;
use super::usual::{self, Usual, Verb};
use super::words::Words;
use super::write::{Fields, Writer};

/// A kind of object as the file has it: a section that is always there, or a table of rows.
pub trait Stored: Clone + PartialEq + Default {
    /// A step from one state to another.
    type Change: Step;

    /// What the file and commands call it, as in `acl`.
    const KIND: &'static str;

    /// Takes its keys out of the file.
    fn read(root: &mut TableReader<'_>) -> Self;

    /// Writes it as [`Stored::read`] reads it.
    fn write(&self, writer: &mut Writer);

    /// What turns `old` into `new`.
    fn diff(old: &Self, new: &Self) -> Vec<Self::Change>;

    /// The usual commands that it has.
    fn usual() -> Vec<Usual>;

    /// Makes of itself what the words of a usual command say.
    fn edit(&mut self, verb: Verb, words: &mut Words<'_>) -> Result<(), Problem>;

    /// What is known of its fields.
    fn described() -> Vec<Described>;
}

/// A section that is always there.
pub trait Section: Row + Default {
    /// Whether the file says it.
    fn is_said(&self) -> bool {
        !self.fields().is_empty()
    }
}

impl<S: Section> Stored for S {
    type Change = Replaced<Self>;

    const KIND: &'static str = S::KIND;

    fn read(root: &mut TableReader<'_>) -> Self {
        root.table(S::KIND, <S as Declared>::read).flatten().unwrap_or_default()
    }

    fn write(&self, writer: &mut Writer) {
        if self.is_said() {
            writer.section(&format!("[{}]", S::KIND), &self.fields());
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Replaced::between(old, new)
    }

    fn usual() -> Vec<Usual> {
        let about = format!("Change `{}`", S::KIND);
        vec![Usual { verb: Verb::Set, about, first: Vec::new, fields: explained::<S> }]
    }

    fn edit(&mut self, verb: Verb, words: &mut Words<'_>) -> Result<(), Problem> {
        match verb {
            Verb::Set => {
                let mut draft = Draft::of(&self.fields());
                draft.say_some(&infos::<S>(), words)?;
                *self = draft.read(S::KIND, <S as Declared>::read)?;
                Ok(())
            }
            // It is always there.
            Verb::Add | Verb::Del => Err(words.unexpected(&[])),
        }
    }

    fn described() -> Vec<Described> {
        let (path, about, infos) = (S::KIND, S::about, explained::<S>());
        vec![Described { path, about, infos, stands: Stands::Once }]
    }
}

impl<K: Key, V: Listed<Key = K>> Stored for Table<K, V> {
    type Change = Delta<K, V>;

    const KIND: &'static str = V::KIND;

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
                    let path = || key.path(V::KIND);
                    if rows.contains(key) {
                        let problem = Problem::new(path(), format!("{key} is listed twice"));
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

    fn usual() -> Vec<Usual> {
        usual::of_rows::<V>()
    }

    fn edit(&mut self, verb: Verb, words: &mut Words<'_>) -> Result<(), Problem> {
        match verb {
            Verb::Add => usual::add_row(self, words),
            Verb::Set => usual::set_row(self, words),
            Verb::Del => usual::del_row(self, words),
        }
    }

    fn described() -> Vec<Described> {
        let (path, about, infos) = (V::KIND, V::about, usual::explained_infos::<V>());
        let mut described = vec![Described {
            path,
            about,
            infos,
            stands: K::NAME.map_or(Stands::Listed(K::infos), Stands::Named),
        }];
        described.extend(V::parts());
        described
    }
}
