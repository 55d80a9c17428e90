//! What a view is, and who answers it.
//!
//! ```text
//!  impl View for Policer ─┬─▶ volley show policers: table, --json, --watch, help, completion
//!                         ├─▶ GET /v1/policers, and its place in /openapi.json
//!                         └─▶ /metrics
//!  impl Answer<Policer> for Router: how it stands now
//! ```

use serde::de::DeserializeOwned;
use thiserror::Error;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{ArrayBuilder, Ref, RefOr, Schema};

use super::Right;
use super::metrics::Exposition;
use crate::config::nearest;

// What the file of a view begins with.
pub(super) use super::table::{Cell, NOTHING, Style, Table, shortened, table};
pub(super) use serde::{Deserialize, Serialize};
pub(super) use utoipa::{IntoParams, ToSchema};

/// What the API answers in, unless a view says otherwise.
pub const JSON: &str = "application/json";

/// Something that can be asked of the running router.
pub trait View: ToSchema + Sized + 'static {
    /// The whole answer: `Vec<Self>` or `Self`.
    type Reply: Reply<Self>;
    /// What may be asked for; each field is a flag of the command and a parameter of the API.
    type Filter: Serialize + DeserializeOwned + IntoParams + Send + 'static;
    /// The command that shows it, as in `show ports`.
    const COMMAND: &'static str;
    /// Where the API has it, as in `/v1/ports`; a part in braces is a field of the filter.
    const PATH: &'static str;
    /// What it is, in one line: the command's help, and the API's summary.
    const ABOUT: &'static str;
    /// The API's group of paths that it is among.
    const TAG: &'static str = "show";
    /// What whoever asks must be allowed.
    const RIGHT: Right = Right::See;
    /// Where the API has it as text, when the text is not made from the answer.
    const DRAWN_AT: Option<&'static str> = None;
    /// The media types that the API has it in.
    const MEDIA: &'static [&'static str] = &[JSON];
    /// Fields, at any depth, that only grow: `--watch` shows what came in a second.
    const COUNTERS: &'static [&'static str] = &[];
    /// What `/metrics` has of it, and the filter that it is asked with for that.
    const METRICS: Option<Metrics<Self>> = None;

    /// The revision of the configuration that it is: its entity tag, which `If-Match` takes.
    const REVISION: Option<fn(&Self::Reply) -> u64> = None;

    /// Takes out what nothing came to, and counts it: tables have that with `--all` alone.
    const BUSY: Option<fn(&mut Self::Reply) -> usize> = None;

    /// For a person to read: a table, unless it says otherwise.
    fn text(reply: &Self::Reply, style: Style) -> String {
        Self::table(reply).render(style)
    }

    /// The answer where it is no JSON, and its media type.
    fn written(_: Self::Reply) -> Option<(&'static str, String)> {
        None
    }

    /// Its rows and columns.
    fn table(_: &Self::Reply) -> Table {
        Table::new(&[])
    }

    /// Takes a slice of the answer in. True if there is more: the filter then asks for what comes
    /// next.
    fn take_in(whole: &mut Option<Self::Reply>, slice: Self::Reply, _: &mut Self::Filter) -> bool {
        *whole = Some(slice);
        false
    }

    /// Makes averages since the start those since `then`, for `--watch`.
    fn average_since(_then: &Self::Reply, _now: &mut Self::Reply) {}
}

/// The head of a view: command, path, what may be asked for and what is answered, what it is.
macro_rules! view {
    ($command:literal, $path:literal, $Filter:ty => $Reply:ty, $about:literal) => {
        type Filter = $Filter;
        type Reply = $Reply;
        const COMMAND: &'static str = $command;
        const PATH: &'static str = $path;
        const ABOUT: &'static str = $about;
    };
}

/// The counters of a view.
macro_rules! counters {
    ($($name:literal),+) => {
        const COUNTERS: &'static [&'static str] = &[$($name),+];
    };
}

pub(super) use counters;
pub(super) use view;

/// Says how a router answers views: each with what it is made of. Those after `later` are made on
/// another thread, of what a closure has taken down.
#[macro_export]
macro_rules! answers {
    (
        $Router:ty, $router:ident, $filter:ident; $($View:ident: $answer:expr,)*
        $(; later: $($Later:ident: $make:expr,)*)?
    ) => {
        $crate::answers! { @each $Router, $router, $filter;
            $($View: $crate::view::Shown::Whole($answer),)*
            $($($Later: $crate::view::Shown::Later(Box::new($make)),)*)?
        }
    };
    (@each $Router:ty, $router:ident, $filter:ident; $($View:ident: $answer:expr,)*) => {$(
        impl $crate::view::Answer<$crate::view::$View> for $Router {
            fn answer(
                &mut self,
                filter: &<$crate::view::$View as $crate::view::View>::Filter,
            ) -> $crate::view::Answered<$crate::view::$View> {
                let ($router, $filter) = (self, filter);
                let _ = (&*$router, $filter);
                Ok($answer)
            }
        }
    )*};
}

/// How a view's counters go into `/metrics`.
pub type Metrics<V> = (<V as View>::Filter, fn(&<V as View>::Reply, &mut Exposition));

/// A whole answer.
pub trait Reply<V>: Serialize + DeserializeOwned + Send + 'static {
    /// What the API's document says of it.
    fn schema() -> RefOr<Schema>;
}

impl<V: View + Serialize + DeserializeOwned + Send> Reply<V> for V {
    fn schema() -> RefOr<Schema> {
        Ref::from_schema_name(V::name()).into()
    }
}

impl<V: View + Serialize + DeserializeOwned + Send> Reply<V> for Vec<V> {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(Ref::from_schema_name(V::name())).build().into()
    }
}

/// The running router, as far as one view goes.
pub trait Answer<V: View> {
    /// How it stands now.
    fn answer(&mut self, filter: &V::Filter) -> Answered<V>;
}

/// An answer, as far as the control thread goes with it.
pub enum Shown<R> {
    /// All of it.
    Whole(R),
    /// What is left to do, on another thread: nothing waits for it.
    Later(Box<dyn FnOnce() -> R + Send>),
}

impl<R> Shown<R> {
    /// All of it, made here if need be.
    pub fn whole(self) -> R {
        match self {
            Self::Whole(reply) => reply,
            Self::Later(make) => make(),
        }
    }
}

/// An answer, or why there is none.
pub type Answered<V> = Result<Shown<<V as View>::Reply>, EngineError>;

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// It names something that is not there.
    #[error("there is no {what} `{name}`{}", perhaps(likely.as_deref()))]
    Unknown {
        /// Kind of thing, as in `port`.
        what: &'static str,
        /// Its name.
        name: String,
        /// What was perhaps meant.
        likely: Option<String>,
    },
    /// It does not fit what is going on.
    #[error("{0}")]
    Conflict(String),
    /// It says something that cannot be.
    #[error("{0}")]
    Wrong(String),
}

impl EngineError {
    /// A name that none of those has which are there.
    pub fn unknown<'a>(
        what: &'static str,
        name: &str,
        there: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let likely = nearest(name, there).map(str::to_owned);
        Self::Unknown { what, name: name.to_owned(), likely }
    }
}

/// What was perhaps meant, to be said behind a complaint.
pub(crate) fn perhaps(likely: Option<&str>) -> String {
    likely.map_or_else(String::new, |likely| format!(": did you mean `{likely}`?"))
}

/// All of it: there is nothing to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct All;

impl<'de> Deserialize<'de> for All {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl IntoParams for All {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        Vec::new()
    }
}
