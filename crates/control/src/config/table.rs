//! The rows of one kind of object, and the difference between two states of them.
//!
//! A table is shared until it is written: a configuration that changes a port shares the million
//! routes of the one before it, and their difference costs one pointer comparison.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display};
use std::path::PathBuf;
use std::sync::Arc;

use super::change::{Action, Changed, Step, opened};
use super::row::Row;

/// Rows by key.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<K: Ord, V> {
    rows: Arc<BTreeMap<K, V>>,
}

impl<K: Ord, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: Arc::default() }
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    /// Adds or replaces a row; returns the one replaced.
    pub fn insert(&mut self, key: K, row: V) -> Option<V> {
        Arc::make_mut(&mut self.rows).insert(key, row)
    }

    /// Takes a row out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        if !self.rows.contains_key(key) {
            return None;
        }
        Arc::make_mut(&mut self.rows).remove(key)
    }

    /// A row to change.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if !self.rows.contains_key(key) {
            return None;
        }
        Arc::make_mut(&mut self.rows).get_mut(key)
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    /// All rows in the order of their keys, which are the caller's.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = (K, V)> {
        Arc::unwrap_or_clone(self.rows).into_iter()
    }
}

impl<K: Ord, V> Table<K, V> {
    /// A row.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key)
    }

    /// A row with its key as the table has it.
    pub fn entry(&self, key: &K) -> Option<(&K, &V)> {
        self.rows.get_key_value(key)
    }

    /// Whether the key is there.
    pub fn contains(&self, key: &K) -> bool {
        self.rows.contains_key(key)
    }

    /// All rows in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.rows.iter()
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// One row's change.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta<K, V> {
    /// The row is gone.
    Removed {
        /// Its key.
        key: K,
        /// What it was.
        row: V,
    },
    /// The row is new.
    Added {
        /// Its key.
        key: K,
        /// What it is.
        row: V,
    },
    /// The row has other fields.
    Modified {
        /// Its key.
        key: K,
        /// What it was.
        old: V,
        /// What it is.
        new: V,
    },
}

impl<K: Ord + Clone, V: Clone + PartialEq> Table<K, V> {
    /// What turns `old` into `new`, in the order of keys.
    pub fn delta(old: &Self, new: &Self) -> Vec<Delta<K, V>> {
        let mut deltas = Vec::new();
        if Arc::ptr_eq(&old.rows, &new.rows) {
            return deltas;
        }
        for (key, row) in old.iter() {
            match new.get(key) {
                None => deltas.push(Delta::Removed { key: key.clone(), row: row.clone() }),
                Some(changed) if changed != row => deltas.push(Delta::Modified {
                    key: key.clone(),
                    old: row.clone(),
                    new: changed.clone(),
                }),
                Some(_) => {}
            }
        }
        let added = new.iter().filter(|(key, _)| !old.contains(key));
        deltas.extend(added.map(|(key, row)| Delta::Added { key: key.clone(), row: row.clone() }));
        deltas
    }
}

impl<K, V> Delta<K, V> {
    /// The row's key, and what it comes to; none if it is taken away.
    pub fn outcome(&self) -> (&K, Option<&V>) {
        match self {
            Self::Added { key, row } => (key, Some(row)),
            Self::Modified { key, new, .. } => (key, Some(new)),
            Self::Removed { key, .. } => (key, None),
        }
    }

    /// What the row was, if there was one.
    pub fn before(&self) -> Option<&V> {
        match self {
            Self::Added { .. } => None,
            Self::Modified { old, .. } | Self::Removed { row: old, .. } => Some(old),
        }
    }
}

impl<K: Display + Clone, V: Row> Step for Delta<K, V> {
    fn action(&self) -> Action {
        match self {
            Self::Removed { .. } => Action::Remove,
            Self::Added { .. } => Action::Add,
            Self::Modified { .. } => Action::Modify,
        }
    }

    fn inverse(&self) -> Self {
        match self.clone() {
            Self::Added { key, row } => Self::Removed { key, row },
            Self::Removed { key, row } => Self::Added { key, row },
            Self::Modified { key, old, new } => Self::Modified { key, old: new, new: old },
        }
    }

    fn opens(&self) -> Vec<PathBuf> {
        opened(self.before(), self.outcome().1)
    }

    fn object(&self) -> Changed {
        let (key, after) = self.outcome();
        let (before, after) = (self.before().map(Row::fields), after.map(Row::fields));
        Changed { kind: V::KIND, name: key.to_string(), before, after }
    }
}

impl<K: Display, V: Row> Display for Delta<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed { key, row } => write!(f, "- {} {key}{}", V::KIND, row.fields()),
            Self::Added { key, row } => write!(f, "+ {} {key}{}", V::KIND, row.fields()),
            Self::Modified { key, old, new } => {
                write!(f, "~ {} {key}: {}", V::KIND, old.fields().changes(&new.fields()))
            }
        }
    }
}
