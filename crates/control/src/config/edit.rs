//! Commands that edit a configuration: `route add 10.0.0.0/8 via 192.0.2.9`, `port set p0 down`.
//!
//! A command is a function from configuration to configuration. The CLI, files of commands and the
//! API all send the same text, so it is read in one place, and a fault points into it.

use super::host::Host;
use super::objects::{Command, Config, commands};
use super::report::{Problem, Problems, Report};
use super::source::Source;
use super::words::{Word, Words, words_of};

/// Runs every command of a text, one a line, and checks the outcome; all of it or nothing.
///
/// Empty lines and what follows a `#` are skipped.
pub fn edit(config: &Config, commands: &Source, host: &Host) -> Result<Config, Problems> {
    let mut edited = config.clone();
    let mut report = Report::default();
    let mut last = 0..0;
    let mut offset = 0;
    for line in commands.text.split_inclusive('\n') {
        let outcome = words_of(line, offset).and_then(|words| match words.first() {
            Some(first) => {
                last = first.span.start..words.last().map_or(first.span.end, |word| word.span.end);
                run(&mut edited, &words)
            }
            None => Ok(()),
        });
        if let Err(problem) = outcome {
            report.push(problem);
        }
        offset += line.len();
    }
    if report.is_empty() {
        edited.check(host, &mut report);
        report.preface("after this, ");
        // The fault is in the outcome as a whole; the last command is where to look first.
        report.place("", last);
    }
    report.into_result(commands)?;
    Ok(edited)
}

/// The command a line names.
fn run(config: &mut Config, words: &[Word]) -> Result<(), Problem> {
    let mut left = Words::of(words);
    let nouns = || commands().iter();
    let Some(noun) = words.first().filter(|word| nouns().any(|c| c.noun == word.text)) else {
        let mut names: Vec<&str> = nouns().map(|command| command.noun).collect();
        names.dedup();
        return Err(left.unexpected(&names));
    };
    left.take(&noun.text);
    let verbs: Vec<&Command> = nouns().filter(|command| command.noun == noun.text).collect();
    let named = words.get(1).and_then(|word| verbs.iter().find(|c| c.verb == word.text));
    let Some(command) = named else {
        let names: Vec<&str> = verbs.iter().map(|command| command.verb).collect();
        return Err(left.unexpected(&names));
    };
    left.take(command.verb);
    let usage = || format!("usage: {} {} {}", command.noun, command.verb, command.usage());
    let add_usage = |problem: Problem| match problem.suggestion {
        Some(_) => problem,
        None => problem.help(usage()),
    };
    (command.run)(config, &mut left).map_err(|mut problem| {
        if problem.in_script.is_some() {
            return problem;
        }
        if problem.span.is_none() {
            problem.span = words.first().zip(words.last()).map(|(a, b)| a.span.start..b.span.end);
            return problem;
        }
        add_usage(problem)
    })?;
    if left.is_empty() { Ok(()) } else { Err(add_usage(left.unexpected(&[]))) }
}

/// The noun and verb a line begins with, if it is a command that edits.
pub fn is_edit(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (noun, verb) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    commands().iter().any(|c| c.noun == noun && c.verb == verb)
}
