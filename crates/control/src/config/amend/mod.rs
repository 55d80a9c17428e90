//! Writes a configuration into the text of a file that says another one: only what changed is
//! written, and comments, order and style of all else stay.
//!
//! ```text
//!  text ── parse ──▶ before ── render ─▶ old ┐
//!    │                                       ├▶ what differs, row by row ─┐
//!    │               config ── render ─▶ new ┘                            ▼
//!    └───────────────────────────────────────────────────────▶ text, with that changed
//! ```
//! People write the same in many ways (`via = "192.0.2.9"` beside `port = "p0"`, or one table of
//! both), so what differs is found between two texts that we wrote ourselves. A row that does not
//! read as it should with its changes in place is written anew; where even that is of no use,
//! nothing comes out.

mod comments;
mod list;
mod place;
mod row;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use toml_edit::{DocumentMut, Item, Table};

use self::comments::Left;
use self::list::Rows;
use self::row::Place;
use self::table::{as_new, remove, same, tables_of, text_of};
use super::info::Stands;
use super::objects::described;
use super::{Config, Host, Source, parse, render};

/// `text`, which says `before`, so that it says `config`; `None`: that cannot be done.
pub fn amend(text: &str, before: &Config, config: &Config) -> Option<String> {
    let mut file = File {
        document: text.parse().ok()?,
        old: render(before).parse().ok()?,
        new: render(config).parse().ok()?,
        left: Vec::new(),
    };
    let sections = described();
    let paths: BTreeSet<&str> = sections.iter().map(|it| it.path).collect();
    for section in &sections {
        // Parts of rows are changed with those.
        if section.path.rsplit_once('.').is_some_and(|(of, _)| paths.contains(of)) {
            continue;
        }
        match section.stands {
            Stands::Once => file.section(section.path)?,
            Stands::Named(_) => file.named(section.path)?,
            Stands::Listed(key) => {
                let names: Vec<_> = key().iter().map(|info| info.name).collect();
                file.listed(section.path, &names)?;
            }
            Stands::Elsewhere(_) => {}
        }
    }
    let text = comments::finish(text, file.document, file.left);
    let read = parse(&Source::new("", text.as_str()), &Host::any());
    (read.as_ref() == Ok(config)).then_some(text)
}

/// A file in the making.
struct File {
    document: DocumentMut,
    old: DocumentMut,
    new: DocumentMut,
    /// Comments above what is gone that are about more than that.
    left: Vec<Left>,
}

impl File {
    /// A section that is there once, as in `[icmp]`.
    fn section(&mut self, kind: &str) -> Option<()> {
        let row = |document: &DocumentMut| document.get(kind).cloned();
        let (old, new) = (row(&self.old), row(&self.new));
        if same(old.as_ref(), new.as_ref()) {
            return Some(());
        }
        let empty = || Item::Table(Table::new());
        let Some(written) = self.document.get_mut(kind) else { return self.put(kind, new?) };
        let new = new.unwrap_or_else(empty);
        Place::Section(kind).amend(written, &old.unwrap_or_else(empty), &new, &mut self.left)?;
        if written.as_table_like().is_some_and(|table| table.is_empty()) {
            remove(self.document.as_table_mut(), kind, &mut self.left)?;
        }
        Some(())
    }

    /// Rows with names, as in `[port.p0]`.
    fn named(&mut self, kind: &str) -> Option<()> {
        let rows = |document: &DocumentMut| -> BTreeMap<String, Item> {
            let table = document.get(kind).and_then(Item::as_table_like);
            let rows = table.into_iter().flat_map(|table| table.iter());
            rows.map(|(name, row)| (name.to_owned(), row.clone())).collect()
        };
        let (old, new) = (rows(&self.old), rows(&self.new));
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            let rows = self.document.get_mut(kind)?.as_table_like_mut()?;
            remove(rows, name, &mut self.left)?;
        }
        for (name, row) in new {
            let Some(before) = old.get(&name) else {
                self.put_named(kind, &name, row)?;
                continue;
            };
            if !same(Some(before), Some(&row)) {
                let written = self.document.get_mut(kind)?.as_table_like_mut()?.get_mut(&name)?;
                Place::Named(kind, &name).amend(written, before, &row, &mut self.left)?;
            }
        }
        Some(())
    }

    /// Rows that their fields `key` tell apart, as in `[[route]]`.
    fn listed(&mut self, kind: &str, key: &[&str]) -> Option<()> {
        if same(self.old.get(kind), self.new.get(kind)) {
            return Some(());
        }
        let (old, new) = (tables_of(self.old.get(kind)), tables_of(self.new.get(kind)));
        let Some(written) = self.document.get_mut(kind) else {
            let all = self.new.get(kind)?.clone();
            return self.put(kind, all);
        };
        let key_of = |row: &Item| -> Vec<String> {
            key.iter().map(|name| row.get(name).map_or(String::new(), text_of)).collect()
        };
        let by_text: BTreeMap<String, &Item> = old.iter().map(|row| (text_of(row), row)).collect();
        let mut others: BTreeMap<Vec<String>, &Item> =
            new.iter().map(|row| (key_of(row), row)).collect();
        let mut rows = Rows::of(written)?;
        let mut gone = Vec::new();
        for at in 0..rows.len() {
            let mut row = rows.get(at)?;
            let place = Place::Listed(kind);
            let before = *by_text.get(&text_of(&place.read(&row)?))?;
            match others.remove(&key_of(before)) {
                None => gone.push(at),
                Some(new) if same(Some(before), Some(new)) => {}
                Some(new) => {
                    place.amend(&mut row, before, new, &mut self.left)?;
                    rows.set(at, row)?;
                }
            }
        }
        gone.into_iter().rev().for_each(|at| rows.remove(at, &mut self.left));
        let mut added = new.iter().filter(|row| others.contains_key(&key_of(row)));
        added.try_for_each(|row| rows.insert(rows.len(), row))
    }

    /// A row of a kind that has some.
    fn put_named(&mut self, kind: &str, name: &str, row: Item) -> Option<()> {
        let Some(rows) = self.document.get_mut(kind) else {
            let mut rows = Table::new();
            rows.set_implicit(true);
            rows.insert(name, row);
            return self.put(kind, Item::Table(rows));
        };
        rows.as_table_like_mut()?.insert(name, as_new(row));
        Some(())
    }

    /// All of a kind of which there is nothing, at the end.
    fn put(&mut self, kind: &str, item: Item) -> Option<()> {
        let mut item = as_new(item);
        let end = place::last_position(self.document.as_table()) + 1;
        place::set_positions(&mut item, Some(end));
        self.document.insert(kind, item);
        Some(())
    }
}
