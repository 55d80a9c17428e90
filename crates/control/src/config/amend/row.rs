//! A row of the file: what it says by itself, and how that is changed in place.

use toml::de::DeTable;
use toml_edit::{DocumentMut, Item, Key};

use super::super::read::TableReader;
use super::super::report::Report;
use super::super::{Config, render};
use super::comments::Left;
use super::table::{amend_table, replace_all, same, tables_of};

/// Where a row stands in the file.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// As in `[icmp]`.
    Section(&'a str),
    /// As in `[port.p0]`.
    Named(&'a str, &'a str),
    /// As in `[[route]]`.
    Listed(&'a str),
}

impl Place<'_> {
    /// A row as we would write it; `None`: it is wrong.
    pub(super) fn read(self, row: &Item) -> Option<Item> {
        let value = row.clone().into_value().ok()?;
        let text = match self {
            Self::Section(kind) => format!("{kind} = {value}"),
            Self::Named(kind, name) => {
                format!("{kind}.{} = {value}", Key::new(name).display_repr())
            }
            Self::Listed(kind) => format!("{kind} = [{value}]"),
        };
        let root = DeTable::parse(&text).ok()?;
        let mut report = Report::default();
        let mut reader = TableReader::new(root.get_ref(), 0..0, "", &mut report);
        let config = Config::read(&mut reader);
        if !report.is_empty() {
            return None;
        }
        let document: DocumentMut = render(&config).parse().ok()?;
        match self {
            Self::Section(kind) => {
                Some(document.get(kind).cloned().unwrap_or_else(|| Item::Table(Default::default())))
            }
            Self::Named(kind, name) => document.get(kind)?.get(name).cloned(),
            Self::Listed(kind) => tables_of(document.get(kind)).into_iter().next(),
        }
    }

    /// Makes of `written`, which says `old`, what says `new`.
    pub(super) fn amend(
        self,
        written: &mut Item,
        old: &Item,
        new: &Item,
        left: &mut Vec<Left>,
    ) -> Option<()> {
        let (before, known) = (written.clone(), left.len());
        let amended = amend_table(written, old, new, left);
        if amended.is_none() || !same(self.read(written).as_ref(), Some(new)) {
            left.truncate(known);
            *written = before;
            replace_all(written, new)?;
        }
        Some(())
    }
}
