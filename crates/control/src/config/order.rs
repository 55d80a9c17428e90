//! Commands whose words are fields of an object of their own: some first, without their names, the
//! others by name. Reading, usage, help and completion follow from its declaration.
//!
//! ```text
//!  object! {
//!      /// Take a port out of its bridge
//!      struct Leave { bridge: BridgeName, port: PortName, }      bridge leave BRIDGE PORT
//!  }
//!  impl Order for Leave { … }                                     what becomes of it
//! ```

use std::borrow::Cow;

use super::declare::{Declared, explained, infos};
use super::draft::Draft;
use super::info::Info;
use super::objects::{Command, Config};
use super::read::TableReader;
use super::report::Problem;
use super::value::Value;
use super::words::Words;
use super::write::Fields;

/// What a command says.
pub trait Order: Declared {
    /// The kind of object, as in `bridge`.
    const NOUN: &'static str;
    /// What is done, as in `leave`.
    const VERB: &'static str;
    /// How many of the fields are said first, without their names.
    const FIRST: usize;

    /// What is there already, where the command changes what it names.
    fn before(&self, _: &Config) -> Option<Fields> {
        None
    }

    /// Does it.
    fn run(self, config: &mut Config) -> Result<(), Problem>;
}

impl Command {
    /// The command that says this.
    pub const fn of<T: Order>() -> Self {
        let (first, fields) = (first::<T> as fn() -> _, explained::<T> as fn() -> _);
        let (noun, verb, about) = (T::NOUN, T::VERB, Cow::Borrowed(T::ABOUT.trim_ascii()));
        Self { noun, verb, about, first, fields, run: run::<T> }
    }
}

fn first<T: Order>() -> Vec<Info> {
    infos::<T>().into_iter().take(T::FIRST).collect()
}

fn run<T: Order>(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (mut draft, infos) = (Draft::default(), infos::<T>());
    for info in infos.iter().take(T::FIRST) {
        draft.say(info, words)?;
    }
    draft.say_rest(&infos, words)?;
    let mut order = draft.read(T::NOUN, T::read)?;
    if let Some(before) = order.before(config) {
        order = draft.over(&before).read(T::NOUN, T::read)?;
    }
    order.run(config)
}

/// An object whose fields stand among those of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flat<T>(pub T);

impl<T: Declared> Value for Flat<T> {
    fn read(table: &mut TableReader<'_>, _: &'static str, _: bool) -> Option<Self> {
        T::read(table).map(Self)
    }

    fn write(&self, _: &'static str, fields: Fields, _: Option<Self>) -> Fields {
        self.0.write(fields)
    }

    fn describe(_: Info, out: &mut Vec<Info>) {
        T::describe(out);
    }

    fn paths(&self, out: &mut Vec<std::path::PathBuf>) {
        self.0.paths(out);
    }
}
