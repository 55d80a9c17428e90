//! A fault of a scenario, and where it is in its file.

use toml::Spanned;

/// A fault and where it is.
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) reason: String,
}

pub(super) fn wrong<T>(place: &Spanned<T>, reason: impl Into<String>) -> Result<(), Wrong> {
    Err(Wrong { at: place.span().start, reason: reason.into() })
}
