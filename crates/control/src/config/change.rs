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

use super::field_change::FieldChange;
use super::row::Row;
use super::write::Fields;

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

    /// What it is done to.
    fn object(&self) -> Changed;
}

/// What a step is done to.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The kind of object, as in `port`.
    pub kind: &'static str,
    /// Which of them; empty: there is one.
    pub name: String,
    /// What it says before, if it is there then.
    pub before: Option<Fields>,
    /// What it says afterwards, likewise.
    pub after: Option<Fields>,
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

    fn object(&self) -> Changed {
        let (before, after) = (Some(self.old.fields()), Some(self.new.fields()));
        Changed { kind: T::KIND, name: String::new(), before, after }
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
    /// The kind of object that it is done to, as in `route`.
    pub kind: String,
    /// Which of them, as in `10.0.0.0/8`; empty where there is one.
    pub name: String,
    /// Its fields, as far as they change.
    pub fields: Vec<FieldChange>,
}

impl ChangeLine {
    /// The step as the API tells it.
    pub(crate) fn of(step: &impl Step, needs_restart: bool) -> Self {
        let Changed { kind, name, before, after } = step.object();
        let fields = match (&before, &after) {
            (Some(before), Some(after)) => before.differences(after),
            (Some(gone), None) => gone.differences(&Fields::new()),
            (None, Some(new)) => Fields::new().differences(new),
            (None, None) => Vec::new(),
        };
        let (action, text, kind) = (step.action(), step.to_string(), kind.to_owned());
        Self { action, text, needs_restart, kind, name, fields }
    }
}
