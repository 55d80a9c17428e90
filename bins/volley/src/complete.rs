//! What could come next: for shells as a script, for our own shell as words.

use clap::{Arg, Command};
use control::config::help;

use crate::cli;
use crate::error::CliError;
use crate::output::Output;

/// Prints the completions of a shell.
pub(crate) fn script(output: Output, shell: clap_complete::Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "volley", &mut script);
    output.bytes(&script)
}

/// The words that could stand where `start` begins, after `words`.
pub(crate) fn candidates(grammar: &Command, words: &[&str], start: &str) -> Vec<String> {
    let (mut command, mut above) = (grammar, Vec::new());
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let Some(verb) = command.find_subcommand(word) else { break };
        above.push(command);
        command = verb;
    }
    let above = above.into_iter().flat_map(Command::get_arguments);
    let arguments: Vec<&Arg> =
        command.get_arguments().chain(above.filter(|argument| argument.is_global_set())).collect();
    let last = words.last().and_then(|word| word.strip_prefix("--"));
    let valued = |argument: &&&Arg| argument.get_long() == last && !of_values(argument).is_empty();
    if let Some(argument) = arguments.iter().find(|argument| last.is_some() && valued(argument)) {
        let mut values = of_values(argument);
        values.retain(|value| value.starts_with(start));
        return values;
    }
    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned());
    let flags =
        arguments.iter().filter_map(|argument| argument.get_long().map(|long| format!("--{long}")));
    let keywords = match command.get_arguments().any(|argument| argument.get_id() == "words") {
        true => help::next_words(words),
        false => Vec::new(),
    };
    let mut found: Vec<String> = verbs
        .chain(keywords)
        .chain(flags)
        .filter(|word| {
            word.starts_with(start) && (!word.starts_with('-') || start.starts_with('-'))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The words that a flag's value may be, if those are few.
fn of_values(argument: &Arg) -> Vec<String> {
    if !argument.get_action().takes_values() {
        return Vec::new();
    }
    argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_verbs_keywords_and_flags_are_offered_where_they_fit() {
        let grammar = cli::command();
        let next = |words: &[&str], start: &str| candidates(&grammar, words, start);
        assert!(next(&[], "").contains(&"show".to_owned()));
        assert_eq!(next(&[], "ro"), ["route"]);
        assert_eq!(next(&["show"], "no"), ["nodes"]);
        assert_eq!(next(&["show", "routes"], "--w"), ["--watch", "--within"]);
        assert_eq!(next(&["show", "routes", "--source"], "s"), ["static"]);
        assert_eq!(next(&["graph", "--format"], ""), ["text", "dot", "svg"]);
        assert_eq!(next(&["route", "add", "10.0.0.0/8"], "v"), ["via", "via_vrf", "vrf"]);
        assert_eq!(next(&["port", "set", "p0"], "d"), ["device", "down", "dscp"]);
        assert_eq!(next(&["port", "set", "p0", "vrf"], "d"), ["default"]);
        assert_eq!(next(&["port", "set", "p0", "up"], "of"), ["off"]);
        assert_eq!(next(&["port", "set", "p0", "twin", "on"], "netn"), ["netns"]);
        assert_eq!(next(&["port", "add", "p2"], "af"), ["af_packet", "af_xdp"]);
        assert_eq!(next(&["port", "add", "p2", "memif"], "so"), ["socket"]);
        assert_eq!(next(&["port", "add", "p2", "memif", "role"], "s"), ["server"]);
        assert_eq!(next(&["workers", "set", "idle"], ""), ["adaptive", "default", "poll"]);
        assert_eq!(next(&["port", "set", "p0"], "ma"), ["mac", "mark_dscp", "mark_pcp"]);
        assert_eq!(next(&["config", "apply"], "--c"), ["--confirm-within"]);
        assert!(next(&["route", "add"], "--j").contains(&"--json".to_owned()));
    }
}
