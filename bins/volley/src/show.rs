//! Every view as a command: `volley show …` and its kin.

use std::net::IpAddr;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use control::view::{self, Flag, Kind, Shows, Style, View, Visitor};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::CliError;
use crate::explain;
use crate::session::Session;

/// A view as a command has it.
pub(crate) struct Shown {
    command: &'static str,
    about: &'static str,
    path: &'static str,
    drawn_at: Option<&'static str>,
    is_json: bool,
    flags: Vec<Flag>,
    /// Whether it has counters.
    pub(crate) counts: bool,
    /// Whether its table leaves out what nothing came to.
    has_idle: bool,
    text: fn(Value, Style, bool) -> serde_json::Result<String>,
    rates: fn(&Value, Value, Duration) -> serde_json::Result<Value>,
}

#[derive(Default)]
struct Every(Vec<Shown>);

impl Visitor for Every {
    fn visit<V: View>(&mut self)
    where
        dyn Shows: view::Answer<V>,
    {
        self.0.push(Shown {
            command: V::COMMAND,
            about: V::ABOUT,
            path: V::PATH,
            drawn_at: V::DRAWN_AT,
            is_json: V::MEDIA == [view::JSON],
            flags: view::flags::<V>(),
            counts: !V::COUNTERS.is_empty(),
            has_idle: V::BUSY.is_some(),
            text: text::<V>,
            rates: view::rates::<V>,
        });
    }
}

/// An answer as text, with what nothing came to or without.
fn text<V: View>(reply: Value, style: Style, all: bool) -> serde_json::Result<String> {
    let mut reply = serde_json::from_value(reply)?;
    let left_out = V::BUSY.filter(|_| !all).map_or(0, |take_out| take_out(&mut reply));
    let mut text = V::text(&reply, style);
    if left_out > 0 {
        text.push_str(&style.dim(&format!("{left_out} idle ones with --all")));
        text.push('\n');
    }
    Ok(text)
}

fn every() -> Vec<Shown> {
    let mut every = Every::default();
    view::visit(&mut every);
    every.0
}

/// Adds the command of every view to the grammar.
pub(crate) fn add_commands(mut grammar: Command) -> Command {
    for shown in every() {
        grammar = match shown.command.split_once(' ') {
            Some((noun, verb)) => {
                grammar.mut_subcommand(noun, |noun| noun.subcommand(shown.grammar(verb)))
            }
            None => grammar.subcommand(shown.grammar(shown.command)),
        };
    }
    grammar
}

/// A view that was asked for, and the path that has what is wanted of it.
pub(crate) struct Wanted {
    shown: Shown,
    pub(crate) path: String,
    /// Every so many seconds again.
    pub(crate) watch: Option<u64>,
    /// What nothing came to, too.
    all: bool,
}

impl Wanted {
    /// The view that the matches ask for, if they ask for one.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Option<Self>, CliError> {
        let (mut words, mut matches) = (Vec::new(), matches);
        while let Some((word, below)) = matches.subcommand() {
            words.push(word);
            matches = below;
        }
        let command = match words.join(" ") {
            list if list == "route list" => "show routes".to_owned(),
            command => command,
        };
        let Some(shown) = every().into_iter().find(|shown| shown.command == command) else {
            return Ok(None);
        };
        let watch = matches.try_get_one::<u64>("watch").ok().flatten().copied();
        let all = matches.try_get_one::<bool>("all").ok().flatten().copied().unwrap_or_default();
        Ok(Some(Self { path: shown.path_of(matches)?, watch, all, shown }))
    }

    /// Shows it once.
    pub(crate) fn run(&self, session: &Session) -> Result<(), CliError> {
        let drawn = match self.shown.is_json {
            true => self.shown.drawn_at,
            false => Some(&self.path[..]),
        };
        if let (false, Some(path)) = (session.output.json, drawn) {
            return session.output.text(&session.client.get_text(path)?);
        }
        // What is drawn is there as data, too.
        let data = every().into_iter().find(|it| it.drawn_at == Some(self.shown.path));
        let answer = session.client.get(data.map_or(&self.path, |data| data.path))?;
        if session.output.json {
            return session.output.json(&answer);
        }
        session.output.text(&self.text(answer, session.output.style)?)
    }

    /// An answer as text.
    pub(crate) fn text(&self, answer: Value, style: Style) -> Result<String, CliError> {
        (self.shown.text)(answer, style, self.all)
            .map_err(|error| CliError::Broken(error.to_string()))
    }

    /// Two answers as text: counters as what came in a second.
    pub(crate) fn rates(
        &self,
        then: &Value,
        now: Value,
        elapsed: Duration,
        style: Style,
    ) -> Result<String, CliError> {
        if !self.shown.counts {
            return self.text(now, style);
        }
        let broken = |error: serde_json::Error| CliError::Broken(error.to_string());
        let rates = (self.shown.rates)(then, now, elapsed).map_err(broken)?;
        Ok(style.dim("per second\n") + &self.text(rates, style)?)
    }
}

impl Shown {
    fn grammar(&self, name: &'static str) -> Command {
        let all = Arg::new("all").long("all").action(ArgAction::SetTrue);
        let all = self.has_idle.then(|| all.help("In tables also what nothing came to"));
        Command::new(name).about(self.about).args(arguments(&self.flags)).args(all)
    }

    fn path_of(&self, matches: &ArgMatches) -> Result<String, CliError> {
        let (mut path, mut given) = (self.path.to_owned(), Map::new());
        for flag in &self.flags {
            match said(flag, matches)? {
                Some(value) if flag.in_path => {
                    path = path.replace(&format!("{{{}}}", flag.name), &value);
                }
                Some(value) if flag.kind == Kind::Switch && value == "false" => {}
                Some(value) => drop(given.insert(flag.name.clone(), value.into())),
                None => {}
            }
        }
        Ok(path + &view::query(&given))
    }
}

/// Declared fields as arguments of a command.
pub(crate) fn arguments(flags: &[Flag]) -> Vec<Arg> {
    let arguments = flags.iter().flat_map(|flag| match flag.kind {
        Kind::Words => explain::arguments(argument(flag)).into(),
        _ => vec![argument(flag)],
    });
    arguments.collect()
}

/// What was said of declared fields, as what they are declared of.
pub(crate) fn fields<T: DeserializeOwned>(
    flags: &[Flag],
    matches: &ArgMatches,
) -> Result<T, CliError> {
    let mut given = Map::new();
    for flag in flags {
        let Some(text) = said(flag, matches)? else { continue };
        let number = text.parse::<u64>().ok().filter(|_| matches!(flag.kind, Kind::Number(_)));
        given.insert(flag.name.clone(), number.map_or(Value::from(text), Value::from));
    }
    let wrong = |error: serde_json::Error| CliError::Usage(format!("error: {error}\n"));
    serde_json::from_value(given.into()).map_err(wrong)
}

/// What was said of a field.
fn said(flag: &Flag, matches: &ArgMatches) -> Result<Option<String>, CliError> {
    if flag.kind == Kind::Words {
        return explain::said(matches, &flag.name);
    }
    let mut values = matches.try_get_raw(&flag.name).ok().flatten();
    let value = values.as_mut().and_then(Iterator::next);
    Ok(value.map(|value| value.to_string_lossy().into_owned()))
}

fn argument(flag: &Flag) -> Arg {
    let argument = Arg::new(&flag.name).help(&flag.help).value_name(&flag.value);
    let argument = match &flag.kind {
        Kind::Text | Kind::Words => argument,
        Kind::Word(words) => argument.value_parser(PossibleValuesParser::new(words)),
        Kind::Number(_) => argument.value_parser(value_parser!(u64)),
        Kind::Address => argument.value_parser(value_parser!(IpAddr)),
        Kind::Switch => argument.action(ArgAction::SetTrue),
    };
    match (flag.in_path, &flag.kind) {
        (true, _) => argument.required(true),
        (false, Kind::Words) => argument,
        (false, _) => argument.long(flag.name.replace('_', "-")),
    }
}
