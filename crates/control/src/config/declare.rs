//! Objects are declared: a list of fields, each with its help, type, range and default. Reading,
//! writing and what is known of the fields follow.
//!
//! ```text
//!  object! {
//!      /// A policer.
//!      pub struct Policer {
//!          /// The committed rate.
//!          pub rate: Rate as "10mbit",              must be said; an example, as a command has it
//!          /// Frames from it a second.
//!          pub storm_pps: u32 [0..=1_000] = 0,      range, default
//!      }
//!      also { "ip_only": non_ip = "false" }         a word of commands that says so
//!      by { "to": destination }                     another word for a field, in commands
//!  }
//! ```
//! A default may name the fields before it.

use std::path::PathBuf;

use toml::Spanned;
use toml::de::DeValue;

use super::draft::Draft;
use super::field::Field;
use super::info::Info;
use super::read::{TableReader, read_table};
use super::report::{Problem, Report};
use super::toml_text::found;
use super::words::Words;
use super::write::Fields;

/// What `object!` declares.
pub trait Declared: Clone + PartialEq {
    /// One line of help.
    const ABOUT: &'static str;

    /// Reads its fields; `None`: one that must be there is not, or is wrong, and told.
    fn read(table: &mut TableReader<'_>) -> Option<Self>;

    /// Puts its fields behind others.
    fn write(&self, fields: Fields) -> Fields;

    /// Puts what is known of its fields behind that of others.
    fn describe(out: &mut Vec<Info>);

    /// Puts the files that the router opens for it behind others.
    fn paths(&self, out: &mut Vec<PathBuf>);
}

/// What is known of the fields.
pub fn infos<T: Declared>() -> Vec<Info> {
    let mut infos = Vec::new();
    T::describe(&mut infos);
    infos
}

/// The same with their defaults, which examples tell: one of each kind that there is.
pub fn explained<T: Declared>() -> Vec<Info> {
    let mut infos = infos::<T>();
    let mut kinds: Vec<&str> = infos.iter().map(|info| info.of).collect();
    kinds.dedup();
    for kind in kinds {
        let example = Draft::of_examples(&infos, kind).and_then(|draft| draft.read("", T::read));
        let Ok(example) = example else { continue };
        let fields = example.write(Fields::new());
        for info in infos.iter_mut().filter(|info| !info.is_required && info.of == kind) {
            info.default = fields.value(info.name).map(str::to_owned);
        }
    }
    infos
}

macro_rules! object {
    (
        $(#[doc = $about:literal])+ $(#[derive($($derive:ident),+)])?
        $vis:vis struct $name:ident { $($body:tt)* }
        $(also { $($word:literal : $sets:ident = $toml:literal),+ $(,)? })?
        $(by { $($by:literal : $called:ident),+ $(,)? })?
    ) => {
        $crate::config::declare::object! {
            @sort [$($about)+] [$($($derive)+)?] [$vis] $name [$($($word $sets $toml)+)? ; $($($by $called)+)?] {} {} $($body)*
        }
    };
    // A field that must be said is an argument of `new`.
    (
        @sort $about:tt $derive:tt $vis:tt $name:ident $also:tt { $($must:tt)* } { $($all:tt)* }
        $(#[doc = $help:literal])+
        $fvis:vis $field:ident : $ty:ty $(as $example:literal)? $([$range:expr])?, $($rest:tt)*
    ) => {
        $crate::config::declare::object! {
            @sort $about $derive $vis $name $also { $($must)* $field: $ty, }
            { $($all)* { [$($help)+] [$fvis] $field $ty [$($example)?] [$($range)?] [] } } $($rest)*
        }
    };
    (
        @sort $about:tt $derive:tt $vis:tt $name:ident $also:tt $must:tt { $($all:tt)* }
        $(#[doc = $help:literal])+
        $fvis:vis $field:ident : $ty:ty $(as $example:literal)? $([$range:expr])? = $default:expr, $($rest:tt)*
    ) => {
        $crate::config::declare::object! {
            @sort $about $derive $vis $name $also $must
            { $($all)* { [$($help)+] [$fvis] $field $ty [$($example)?] [$($range)?] [$default] } } $($rest)*
        }
    };
    (@sort $about:tt $derive:tt $vis:tt $name:ident $also:tt { } $all:tt) => {
        $crate::config::declare::object! { @make $about $derive $vis $name $also {} $all }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
    (@sort $about:tt $derive:tt $vis:tt $name:ident $also:tt $must:tt $all:tt) => {
        $crate::config::declare::object! { @make $about $derive $vis $name $also $must $all }
    };
    (
        @make [$($about:literal)+] [$($derive:ident)*] [$vis:vis] $name:ident
        [$($word:literal $sets:ident $toml:literal)* ; $($by:literal $called:ident)*] { $($must:ident: $must_ty:ty,)* }
        { $({
            [$($help:literal)+] [$fvis:vis] $field:ident $ty:ty
            [$($example:literal)?] [$($range:expr)?] [$($default:expr)?]
        })* }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq $(, $derive)*)]
        $vis struct $name { $( $(#[doc = $help])+ $fvis $field: $ty, )* }

        #[allow(unused_variables, clippy::clone_on_copy, reason = "a default may name the fields before it")]
        impl $name {
            /// With everything that need not be said left out.
            #[allow(dead_code, reason = "some are only read")]
            $vis fn new($($must: $must_ty),*) -> Self {
                $( let $field: $ty = $crate::config::declare::object!(@new $field [$($default)?]); )*
                Self { $($field),* }
            }
        }

        #[allow(unused_variables, clippy::clone_on_copy, reason = "a default may name the fields before it")]
        impl $crate::config::declare::Declared for $name {
            const ABOUT: &'static str = concat!($($about),+);

            fn read(table: &mut $crate::config::read::TableReader<'_>) -> Option<Self> {
                $(
                    let $field = <$ty as $crate::config::value::Value>::read(
                        table,
                        stringify!($field),
                        $crate::config::declare::object!(@must [$($default)?]),
                    );
                    $( let $field = table.within(stringify!($field), $field, &$range); )?
                )*
                $( let $field: $ty = $crate::config::declare::object!(@or $field [$($default)?]); )*
                Some(Self { $($field),* })
            }

            fn write(&self, fields: $crate::config::write::Fields) -> $crate::config::write::Fields {
                $(
                    let $field = self.$field.clone();
                    let default = $crate::config::declare::object!(@default $ty [$($default)?]);
                    let fields = $crate::config::value::Value::write(&$field, stringify!($field), fields, default);
                )*
                fields
            }

            fn describe(out: &mut Vec<$crate::config::info::Info>) {
                $(
                    let info = $crate::config::info::Info::new(stringify!($field), &[$($help),+], concat!($($example)?));
                    let is_required = $crate::config::declare::object!(@must [$($default)?]);
                    $( let info = info.within(&$range); )?
                    <$ty as $crate::config::value::Value>::describe($crate::config::info::Info { is_required, ..info }, out);
                )*
                $( out.push($crate::config::info::Info::saying($word, stringify!($sets), $toml)); )*
                $( out.extend($crate::config::declare::by_another_word(out, $by, stringify!($called))); )*
            }

            fn paths(&self, out: &mut Vec<std::path::PathBuf>) {
                $( $crate::config::value::Value::paths(&self.$field, out); )*
            }
        }
    };
    (@new $field:ident []) => { $field };
    (@new $field:ident [$default:expr]) => { $default };
    (@must []) => { true };
    (@must [$default:expr]) => { false };
    (@or $field:ident []) => { $field? };
    (@or $field:ident [$default:expr]) => { match $field { Some(said) => said, None => $default } };
    (@default $ty:ty []) => { None::<$ty> };
    (@default $ty:ty [$default:expr]) => { Some::<$ty>($default) };
}
pub(crate) use object;

/// A declared object as the value of one field: a table in the file, words in a command.
macro_rules! as_field {
    // `true`, `false`, or a table.
    ($name:ident) => {
        $crate::config::declare::as_field! {
            @ $name "true, false or a table" "" None (Some(&$crate::config::form::Form::Boolean)) read_switch
        }
    };
    // A table alone.
    ($name:ident table) => {
        $crate::config::declare::as_field! { @ $name "a table" "" None None read_inline }
    };
    // A table, or its first field alone.
    ($name:ident or $lead:ident: $ty:ty => $make:expr) => {
        $crate::config::declare::as_field! {
            @ $name (<$ty as $crate::config::field::Field>::EXPECTED)
            (<$ty as $crate::config::field::Field>::NAMES) (Some(stringify!($lead)))
            (Some(&<$ty as $crate::config::field::Field>::FORM))
            |value: &toml::Spanned<toml::de::DeValue<'_>>, field: &str, report: &mut $crate::config::report::Report| match value.get_ref() {
                toml::de::DeValue::Table(_) => $crate::config::declare::read_inline(value, field, report),
                _ => <$ty as $crate::config::field::Field>::read(value, field, report).map($make),
            }
        }
    };
    (@ $name:ident $expected:tt $names:tt $lead:tt $short:tt read_switch) => {
        $crate::config::declare::as_field! {
            @ $name $expected $names $lead $short $crate::config::declare::read_switch
        }
    };
    (@ $name:ident $expected:tt $names:tt $lead:tt $short:tt read_inline) => {
        $crate::config::declare::as_field! {
            @ $name $expected $names $lead $short $crate::config::declare::read_inline
        }
    };
    (@ $name:ident $expected:tt $names:tt $lead:tt $short:tt $read:expr) => {
        impl $crate::config::field::Field for $name {
            const EXPECTED: &'static str = $expected;
            const NAMES: &'static str = $names;
            const FORM: $crate::config::form::Form = $crate::config::form::Form::Table($short);

            fn from_text(_: &str) -> Result<Self, $crate::config::field::Refusal> {
                Err($crate::config::field::Refusal::default())
            }

            fn to_toml(&self) -> String {
                let fields = $crate::config::write::Fields::new();
                $crate::config::declare::Declared::write(self, fields).short($lead)
            }

            fn read(
                value: &toml::Spanned<toml::de::DeValue<'_>>,
                field: &str,
                report: &mut $crate::config::report::Report,
            ) -> Option<Self> {
                let read: fn(&_, &_, &mut _) -> _ = $read;
                read(value, field, report)
            }

            fn take(
                words: &mut $crate::config::words::Words<'_>,
                _: &str,
            ) -> Result<String, $crate::config::report::Problem> {
                $crate::config::declare::take_inline::<Self>(words, $lead)
            }

            fn take_items(
                words: &mut $crate::config::words::Words<'_>,
                what: &str,
            ) -> Result<Vec<String>, $crate::config::report::Problem> {
                Ok(vec![Self::take(words, what)?])
            }

            fn inner() -> Vec<$crate::config::info::Info> {
                $crate::config::declare::explained::<Self>()
            }

            fn paths(&self, out: &mut Vec<std::path::PathBuf>) {
                $crate::config::declare::Declared::paths(self, out);
            }
        }
    };
}
pub(crate) use as_field;

/// A declared object whose fields stand among those of another.
macro_rules! flat {
    ($($name:ty),+) => { $(
        impl $crate::config::value::Value for $name {
            fn read(
                table: &mut $crate::config::read::TableReader<'_>,
                _: &'static str,
                _: bool,
            ) -> Option<Self> {
                $crate::config::declare::Declared::read(table)
            }

            fn write(
                &self,
                _: &'static str,
                fields: $crate::config::write::Fields,
                _: Option<Self>,
            ) -> $crate::config::write::Fields {
                $crate::config::declare::Declared::write(self, fields)
            }

            fn describe(_: $crate::config::info::Info, out: &mut Vec<$crate::config::info::Info>) {
                <$name as $crate::config::declare::Declared>::describe(out);
            }

            fn paths(&self, out: &mut Vec<std::path::PathBuf>) {
                $crate::config::declare::Declared::paths(self, out);
            }
        }
    )+ };
}
pub(crate) use flat;

impl<T: Declared> Declared for Box<T> {
    const ABOUT: &'static str = T::ABOUT;

    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        T::read(table).map(Self::new)
    }

    fn write(&self, fields: Fields) -> Fields {
        T::write(self, fields)
    }

    fn describe(out: &mut Vec<Info>) {
        T::describe(out);
    }

    fn paths(&self, out: &mut Vec<PathBuf>) {
        T::paths(self, out);
    }
}

/// The field by another word.
pub(crate) fn by_another_word(infos: &[Info], word: &'static str, name: &str) -> Option<Info> {
    infos.iter().find(|info| info.name == name).map(|info| info.called(word))
}

/// Reads an object where it stands as a value.
pub(crate) fn read_inline<T: Declared>(
    value: &Spanned<DeValue<'_>>,
    field: &str,
    report: &mut Report,
) -> Option<T> {
    read_table(value, field.to_owned(), report, T::read).flatten()
}

/// The same where `true` stands for one with everything left out, and `false` for none.
pub(crate) fn read_switch<T: Declared + Field + Default>(
    value: &Spanned<DeValue<'_>>,
    field: &str,
    report: &mut Report,
) -> Option<T> {
    match value.get_ref() {
        DeValue::Table(_) => read_inline(value, field, report),
        DeValue::Boolean(is_on) => is_on.then(T::default),
        _ => {
            let key = field.rsplit('.').next().unwrap_or(field);
            let problem = Problem::new(field, format!("`{key}` is {}", found(value)));
            report.push(problem.expected(T::EXPECTED).at(value.span()));
            None
        }
    }
}

/// Reads an object from the words of a command: what must be said first, in order, or `lead`, which
/// may be; then fields by name.
pub(crate) fn take_inline<T: Declared>(
    words: &mut Words<'_>,
    lead: Option<&str>,
) -> Result<String, Problem> {
    let infos = infos::<T>();
    let mut draft = Draft::default();
    let has_name = words.peek().is_none_or(|word| infos.iter().any(|info| info.word == word));
    let is_first = |info: &&Info| info.is_required || !has_name && lead == Some(info.name);
    for info in infos.iter().filter(is_first) {
        draft.say(info, words)?;
    }
    draft.say_all(&infos, words)?;
    if draft.is_empty() {
        return Err(draft.no_field(&infos, words));
    }
    Ok(draft.inline())
}
