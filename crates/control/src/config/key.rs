//! What tells the rows of a table apart: a name, or fields.

use std::fmt::{Debug, Display};

use super::form::Form;
use super::info::Info;
use super::read::TableReader;
use super::report::Problem;
use super::words::Words;
use super::write::Fields;

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

/// A type whose values name rows.
macro_rules! name_key {
    ($($name:ty = $what:literal),+) => { $(
        impl $crate::config::key::Key for $name {
            const NAME: Option<$crate::config::form::Form> =
                Some(<Self as $crate::config::field::Field>::FORM);

            fn of_name(name: &str) -> Result<Self, $crate::config::report::Problem> {
                <Self as $crate::config::field::Field>::from_text(name).map_err(|refusal| {
                    let message = refusal.message.unwrap_or_default();
                    let problem = $crate::config::report::Problem::new("", message);
                    problem.expected(<Self as $crate::config::field::Field>::EXPECTED)
                })
            }

            fn take(
                words: &mut $crate::config::words::Words<'_>,
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
        impl $crate::config::key::Key for $name {
            const NAME: Option<$crate::config::form::Form> = None;
            const FIRST: usize = $first;

            fn of_name(name: &str) -> Result<Self, $crate::config::report::Problem> {
                Err($crate::config::report::Problem::new(name, "it has no name"))
            }

            fn take(
                _: &mut $crate::config::words::Words<'_>,
            ) -> Result<Option<Self>, $crate::config::report::Problem> {
                Ok(None)
            }

            fn first() -> Vec<$crate::config::info::Info> {
                let infos = <Self as $crate::config::key::Key>::infos();
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
