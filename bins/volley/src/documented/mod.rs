//! Every `volley …` that a page or a configuration of this repository shows is a command: its
//! words, options, fields and values are there. No router is asked.
//!
//! A command that edits is tried upon the configuration that has one of everything
//! (`configs/reference.toml`), and upon an empty one. Names of pages are their own: in their place
//! stand those of that configuration.

pub(crate) mod pages;

use control::config::help::next;
use control::config::{Config, Host, Problem, Source, edit, parse, render};

use crate::cli;
use crate::edits::Edit;
use crate::error::CliError;
use crate::observe::Start;
use crate::show::Wanted;
use crate::typed::written_out;
use pages::Shown;

const REFERENCE: &str = include_str!("../../../../configs/reference.toml");

/// What commands may be about beside that.
const MORE: &str =
    "port add shaped memory\nqos set shaped htb default 1:20\nqos class shaped 1:1 rate 1mbit";

/// How many names of a command others stand in for, its first ones.
const NAMES: usize = 2;

#[test]
fn every_command_that_pages_show_is_one() {
    let scene = scene();
    let (tried, wrong) = pages::faults("volley", |shown| fault(&scene, shown));
    assert!(wrong.is_empty(), "{} of {tried} are none:\n\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 250, "only {tried} were found");
}

#[test]
fn what_is_no_command_is_found() {
    let scene = scene();
    let find = |line: &str, may_lack: bool| {
        let words = line.split(' ').map(str::to_owned).collect();
        fault(&scene, &Shown { place: String::new(), words, may_lack }).unwrap_or_default()
    };
    for (line, why) in [
        ("volley show nothing", "unrecognized subcommand 'nothing'"),
        ("volley show ports --no-such", "unexpected argument '--no-such'"),
        ("volley show", "Show what the router is doing"),
        ("volley lookup", "required arguments"),
        ("volley lookup nobody", "invalid value 'nobody'"),
        ("volley port set wan no_such 1", "unexpected `no_such`"),
        ("volley port set wan mtu 1", "68 to 9216"),
        ("volley route add 10.0.0.0/8 over 192.0.2.9", "unexpected `over`"),
        ("volley route add 10.0.0.0/8", "leads nowhere"),
        ("volley port set wan no_such 1 --confirm-within 60s", "unexpected `no_such`"),
        ("volley acl append edge permit from anywhere", "unexpected `from`"),
    ] {
        let found = find(line, false);
        assert!(found.contains(why), "{line}: {found}");
    }
    // What is only spoken of may lack something; what it says is still so.
    assert_eq!(find("volley show", true), "");
    assert_eq!(find("volley route add", true), "");
    assert_eq!(find("volley route add 10.0.0.0/8", true), "");
    assert!(find("volley rute add", true).contains("unrecognized subcommand 'rute'"));
    assert!(find("volley port set wan no_such 1", true).contains("unexpected `no_such`"));
    assert!(find("volley route add 10.0.0.0", true).contains("10.0.0.0"));
    // Names are the page's own.
    assert_eq!(find("volley port set wan mtu 9000 acl_in nobodys", false), "");
    assert_eq!(find("volley bridge join br7 access3 isolated", false), "");
    assert_eq!(find("volley route del 203.0.0.0/8", false), "");
}

/// A configuration that has one of everything.
fn scene() -> Config {
    let reference = parse(&Source::new("reference.toml", REFERENCE), &Host::any()).unwrap();
    edit(&reference, &Source::new("more", MORE), &Host::any()).unwrap()
}

/// Why this is no command.
fn fault(scene: &Config, shown: &Shown) -> Option<String> {
    let grammar = cli::command();
    let words = shown.words.iter().map(Into::into);
    let words = match written_out(&grammar, words) {
        Ok(words) => words,
        Err(told) => return Some(told),
    };
    let matches = match grammar.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return shown.complaint(&error),
    };
    if let Some(edit) = Edit::of(&matches) {
        return edit.line().and_then(|line| edit_fault(scene, line, shown.may_lack));
    }
    let asked = Wanted::of(&matches).map(drop).and_then(|()| Start::of(&matches).map(drop));
    match asked {
        Err(CliError::Usage(told)) => Some(told),
        // A capture that is not there is the page's.
        Ok(()) | Err(_) => None,
    }
}

/// Why this is no command that edits.
fn edit_fault(scene: &Config, line: &str, may_lack: bool) -> Option<String> {
    let empty = Config::default();
    let mut told: Option<String> = None;
    let own = [(&empty, line.to_owned())];
    let others = with_known_names(scene, line).into_iter().map(|line| (scene, line));
    for (config, line) in own.into_iter().chain([(scene, line.to_owned())]).chain(others) {
        let Err(problems) = edit(config, &Source::new("page", line), &Host::any()) else {
            return None;
        };
        // That is of the surroundings, and those are the page's.
        let is_of_surroundings = |it: &Problem| it.message.starts_with("after this, ");
        let is_unknown = |it: &Problem| it.message.starts_with("there is no ");
        // It points at no word, but at the end, or at all of it.
        let lacks = |it: &Problem| {
            !is_unknown(it) && it.span.as_ref().is_none_or(|at| at.is_empty() || at.start == 0)
        };
        let is_fine = |it: &Problem| is_of_surroundings(it) || may_lack && lacks(it);
        if problems.problems.iter().all(is_fine) {
            return None;
        }
        // One that knows the name has more to say.
        if told.is_none() || !is_unknown(&problems.problems[0]) {
            told = Some(problems.to_string());
        }
    }
    told.filter(|told| !(line.contains(" del ") && told.contains("there is no ")))
}

/// The command with names of the scene in the place of its first ones.
fn with_known_names(scene: &Config, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let written = render(scene);
    let names =
        |at: usize| next(&words[..at]).names.map(|names| (at, names_of(names.section, &written)));
    let mut lines = vec![words.clone()];
    for (at, names) in (2..words.len()).filter_map(names).take(NAMES) {
        lines = names.iter().flat_map(|name| with(&lines, at, name)).collect();
    }
    lines.into_iter().map(|words| words.join(" ")).collect()
}

/// The same lines with another word at a place.
fn with<'a>(lines: &[Vec<&'a str>], at: usize, word: &'a str) -> Vec<Vec<&'a str>> {
    let mut lines = lines.to_vec();
    lines.iter_mut().for_each(|words| words[at] = word);
    lines
}

/// The names that a configuration has in a section.
fn names_of<'a>(section: &str, written: &'a str) -> Vec<&'a str> {
    let header = format!("[{section}.");
    let inside = written.lines().filter_map(|line| line.strip_prefix(&*header));
    let name = |inside: &'a str| match inside.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => inside.split(['.', ']']).next(),
    };
    inside.filter_map(name).collect()
}
