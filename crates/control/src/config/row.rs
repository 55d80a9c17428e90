//! Values with fields, as they stand in the file.

use std::fmt::Debug;

use super::declare::Declared;
use super::info::Described;
use super::write::Fields;

/// A value with fields, as it stands in the file.
pub trait Row: Declared + Debug + 'static {
    /// What the file and commands call it, as in `acl`.
    const KIND: &'static str;
    /// What a person calls it, as in `access list`.
    const CALLED: &'static str = Self::KIND;

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
