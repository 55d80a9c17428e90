//! Differences between two configurations, as steps in the order in which they can be taken.
//!
//! ```text
//! removals, dependants first        then the rest, foundations first
//! mac, bridge, xconnect, …, port ▶ workers, …, port, …, xconnect, bridge, mac
//! ```

use std::fmt::{self, Display};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::row::Row;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Takes something away.
    Remove,
    /// Gives something other fields.
    Modify,
    /// Brings something new.
    Add,
}

/// One object's change.
pub trait Step: Display {
    /// What it does.
    fn action(&self) -> Action;

    /// The step that undoes it.
    #[must_use]
    fn inverse(&self) -> Self;

    /// The files that the router opens for it and did not have open for what was there before.
    fn opens(&self) -> Vec<PathBuf>;
}

/// The files of `new` that are not those of `old`.
pub(super) fn opened<T: Row>(old: Option<&T>, new: Option<&T>) -> Vec<PathBuf> {
    let of = |row: Option<&T>| {
        let mut paths = Vec::new();
        row.inspect(|row| row.paths(&mut paths));
        paths
    };
    let mut paths = of(new);
    if !paths.is_empty() {
        let before = of(old);
        paths.retain(|path| !before.contains(path));
    }
    paths
}

/// A section that is always there has other fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced<T> {
    /// What it was.
    pub old: T,
    /// What it is.
    pub new: T,
}

impl<T: Clone + PartialEq> Replaced<T> {
    /// The change, if there is one.
    pub fn between(old: &T, new: &T) -> Vec<Self> {
        if old == new {
            return Vec::new();
        }
        vec![Self { old: old.clone(), new: new.clone() }]
    }
}

impl<T: Row> Step for Replaced<T> {
    fn action(&self) -> Action {
        Action::Modify
    }

    fn inverse(&self) -> Self {
        Self { old: self.new.clone(), new: self.old.clone() }
    }

    fn opens(&self) -> Vec<PathBuf> {
        opened(Some(&self.old), Some(&self.new))
    }
}

impl<T: Row> Display for Replaced<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "~ {}: {}", T::KIND, self.old.fields().changes(&self.new.fields()))
    }
}

/// One step as the API tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangeLine {
    /// What it does.
    pub action: Action,
    /// The step as a person reads it, as in `+ route 10.0.0.0/8 via = "192.0.2.9"`.
    pub text: String,
    /// Whether it only takes effect when the router starts anew.
    pub needs_restart: bool,
}
