//! What could come next: for shells by a script that asks us, for our own shell, and for `?`.
//!
//! ```text
//!  bash, zsh, fish ─▶ volley complete -- sh por ─┐
//!  Tab in our shell ─────────────────────────────┼─▶ candidates ─┬─ grammar: commands, flags
//!  ? in our shell ───────────────────────────────┘               ├─ declarations: fields, words
//!                                                                └─ the running router: names
//! ```

use std::path::PathBuf;

use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;
use control::config::help;

use crate::cli::{self, Global};
use crate::error::CliError;
use crate::names::{Asked, Names};
use crate::output::Output;
use crate::typed::{Place, written_out};

/// The line that tells a shell to offer its files.
const FILES: &str = ":files";

/// Prints the completions of a shell.
pub(crate) fn script(output: Output, shell: Shell) -> Result<(), CliError> {
    match shell {
        Shell::Bash => output.bytes(include_bytes!("complete/volley.bash")),
        Shell::Zsh => output.bytes(include_bytes!("complete/volley.zsh")),
        Shell::Fish => output.bytes(include_bytes!("complete/volley.fish")),
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut cli::command(), "volley", &mut script);
            output.bytes(&script)
        }
    }
}

/// Prints what could stand in the last word's place, for those scripts: a line each, its help
/// behind a tab.
pub(crate) fn print(output: Output, global: &Global, words: &[String]) -> Result<(), CliError> {
    let grammar = cli::command();
    let (start, words) = words.split_last().map_or(("", words), |(last, words)| (last, words));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let place = Place::of(&grammar, &words);
    // Those of the line that is typed stand in place of the environment's.
    let file = |flag: &str| place.value(flag).map(PathBuf::from);
    let asked = Asked::of(&Global {
        socket: file("socket").unwrap_or_else(|| global.socket.clone()),
        token_file: file("token-file").or_else(|| global.token_file.clone()),
        certificate: file("certificate").or_else(|| global.certificate.clone()),
        json: false,
    });
    let found = candidates(&grammar, &words, start, &|which| asked.names(which));
    let mut text: String =
        found.words.iter().map(|(word, help)| format!("{word}\t{help}\n")).collect();
    if found.files {
        text.push_str(FILES);
        text.push('\n');
    }
    output.text(&text)
}

/// What could come next.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Candidates {
    /// Words, each with a line of what it is, or none.
    pub(crate) words: Vec<(String, String)>,
    /// A file may stand there.
    pub(crate) files: bool,
}

/// Tells the names that there are.
pub(crate) type Ask<'a> = &'a dyn Fn(Names<'_>) -> Vec<String>;

/// What could stand where `start` begins, after `words`. Flags are offered to who begins one.
pub(crate) fn candidates(
    grammar: &Command,
    words: &[&str],
    start: &str,
    ask: Ask<'_>,
) -> Candidates {
    let mut found = following(grammar, words, start, ask);
    found.words.retain(|(word, _)| {
        word.starts_with(start) && (!word.starts_with('-') || start.starts_with('-'))
    });
    found
}

/// Layers of a packet in words.
const LAYERS: [&str; 13] = [
    "arp", "data", "ether", "gre", "hex", "icmp", "icmp6", "ip", "ip6", "tcp", "udp", "vlan",
    "vxlan",
];

/// What could come after `words`, begun by `start` or not, flags among it.
pub(crate) fn following(
    grammar: &Command,
    words: &[&str],
    start: &str,
    ask: Ask<'_>,
) -> Candidates {
    let whole = std::iter::once("volley").chain(words.iter().copied()).map(Into::into);
    let Ok(whole) = written_out(grammar, whole) else { return Candidates::default() };
    let whole: Vec<&str> = whole[1..].iter().filter_map(|word| word.to_str()).collect();
    let place = Place::of(grammar, &whole);
    let mut found = Candidates::default();
    if let Some(flag) = place.open {
        found.of_argument(flag, flag.get_long().unwrap_or_default(), &place, start, ask);
        found.in_order();
        return found;
    }
    if place.plain.is_empty() {
        let verbs = place.command().get_subcommands().filter(|verb| !verb.is_hide_set());
        found.words.extend(verbs.map(|verb| {
            let about = verb.get_about().map(ToString::to_string);
            (verb.get_name().to_owned(), about.unwrap_or_default())
        }));
    }
    let mut wanted = place.command().get_positionals();
    match place.command().get_positionals().any(|argument| argument.get_id() == "words") {
        true => {
            let path = place.path[1..].iter().map(|command| command.get_name());
            let next = help::next(&path.chain(place.plain.iter().copied()).collect::<Vec<_>>());
            found.words.extend(next.words);
            if let Some(names) = next.names {
                found.of_names(Names::Configured(names), start, ask);
            }
        }
        // A packet in words: where it comes in is a name.
        false if place.command().get_name() == "explain" => match place.plain[..] {
            ["in"] => found.of_names(Names::Ports, start, ask),
            ["in", _] | [.., "/"] => {
                found.words.extend(LAYERS.map(|word| (word.to_owned(), String::new())));
            }
            [] => {
                let about = "The port that it comes in by".to_owned();
                found.words.push(("in".to_owned(), about));
            }
            _ => {}
        },
        false => {
            if let Some(argument) = wanted.nth(place.plain.len()) {
                found.of_argument(argument, argument.get_id().as_str(), &place, start, ask);
            }
        }
    }
    let flags = place.arguments().into_iter().filter(|argument| !argument.is_hide_set());
    found.words.extend(flags.filter_map(|argument| {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        argument.get_long().map(|long| (format!("--{long}"), help))
    }));
    found.in_order();
    found
}

impl Candidates {
    fn of_argument(
        &mut self,
        argument: &Arg,
        name: &str,
        place: &Place<'_>,
        start: &str,
        ask: Ask<'_>,
    ) {
        let values = argument.get_possible_values();
        self.words.extend(values.iter().map(|value| {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            (value.get_name().to_owned(), help)
        }));
        self.files = matches!(
            argument.get_value_hint(),
            ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath
        );
        if let Some(names) = Names::of_argument(name, |flag| place.value(flag)) {
            self.of_names(names, start, ask);
        }
    }

    /// Names, where a list of them has begun behind its last comma.
    fn of_names(&mut self, names: Names<'_>, start: &str, ask: Ask<'_>) {
        let before = start.rfind(',').map_or("", |at| &start[..=at]);
        let names = ask(names).into_iter();
        self.words.extend(names.map(|name| (format!("{before}{name}"), String::new())));
    }

    /// In order, each once; words of commands stay as they are declared.
    fn in_order(&mut self) {
        self.words.sort_by(|a, b| a.0.cmp(&b.0));
        self.words.dedup_by(|a, b| a.0 == b.0);
    }

    /// As `?` shows them: a line each, flags last.
    pub(crate) fn explained(&self) -> String {
        let width = self.words.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0);
        let is_flag = |word: &str| word.starts_with('-');
        let (flags, plain): (Vec<_>, Vec<_>) =
            self.words.iter().partition(|(word, _)| is_flag(word));
        let line = |(word, help): &&(String, String)| {
            let text = format!("  {word:width$}  {help}");
            format!("{}\n", text.trim_end())
        };
        let mut text: String = plain.iter().chain(&flags).map(line).collect();
        if self.files {
            text.push_str("  FILE\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(which: Names<'_>) -> Vec<String> {
        let names: &[&str] = match which {
            Names::Ports => &["dock", "lan", "wan"],
            Names::Configured(help::Names { section: "port", .. }) => &["dock", "lan", "wan"],
            Names::Configured(help::Names { section: "acl", .. }) => &["edge"],
            Names::Configured(help::Names { section: "route", field: "prefix" }) => {
                &["10.0.0.0/8", "default"]
            }
            Names::Configured(_) => &[],
            Names::Vrfs => &["default", "red"],
            Names::Nodes => &["ip4-input", "ip4-lookup"],
            Names::Exits(Some("ip4-lookup")) => &["blackhole", "no-route"],
            Names::Exits(_) => &["all"],
            Names::Reasons(Some("ip4-lookup")) => &["no-route"],
            Names::Reasons(_) => &["denied", "no-route"],
            Names::Revisions => &["1", "2"],
        };
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn next(words: &[&str], start: &str) -> Vec<String> {
        let found = candidates(&cli::command(), words, start, &names);
        found.words.into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn nouns_verbs_keywords_and_flags_are_offered_where_they_fit() {
        assert!(next(&[], "").contains(&"show".to_owned()));
        assert_eq!(next(&[], "ro"), ["route"]);
        assert_eq!(next(&["show"], "no"), ["nodes"]);
        assert_eq!(next(&["show", "routes"], "--w"), ["--watch", "--within"]);
        assert_eq!(next(&["show", "routes", "--source"], "s"), ["static"]);
        assert_eq!(next(&["graph", "--format"], ""), ["dot", "svg", "text"]);
        assert_eq!(next(&["route", "add", "10.0.0.0/8"], "v"), ["via", "via_vrf", "vrf"]);
        assert_eq!(next(&["port", "set", "p0"], "dev"), ["device"]);
        assert_eq!(next(&["port", "set", "p0", "up"], "of"), ["off"]);
        assert_eq!(next(&["port", "set", "p0", "twin", "on"], "netn"), ["netns"]);
        assert_eq!(next(&["port", "add", "p2"], "af"), ["af_packet", "af_xdp"]);
        assert_eq!(next(&["port", "add", "p2", "memif"], "so"), ["socket"]);
        assert_eq!(next(&["port", "add", "p2", "memif", "role"], "s"), ["server"]);
        assert_eq!(next(&["workers", "set", "idle"], ""), ["adaptive", "default", "poll"]);
        assert_eq!(next(&["port", "set", "p0"], "ma"), ["mac", "mark_dscp", "mark_pcp"]);
        assert_eq!(next(&["config", "apply"], "--c"), ["--certificate", "--confirm-within"]);
        assert!(next(&["route", "add"], "--j").contains(&"--json".to_owned()));
        // Values of flags are no verbs, and what is hidden stays so.
        assert_eq!(next(&["--socket", "/x", "show"], "no"), ["nodes"]);
        assert_eq!(next(&[], "compl"), ["completion"]);
        // Short words are understood here, too.
        assert_eq!(next(&["sh"], "no"), ["nodes"]);
        assert_eq!(next(&["e"], ""), [""; 0]);
    }

    #[test]
    fn names_are_those_of_the_running_router() {
        assert_eq!(next(&["port", "set"], ""), ["dock", "lan", "wan"]);
        assert_eq!(next(&["por", "del"], "w"), ["wan"]);
        assert_eq!(next(&["port", "set", "lan", "vrf"], ""), ["default"]);
        assert_eq!(next(&["acl", "append"], ""), ["edge"]);
        assert_eq!(next(&["route", "del"], "1"), ["10.0.0.0/8"]);
        assert_eq!(next(&["trace", "start", "--port"], "d"), ["dock"]);
        assert_eq!(next(&["capture", "start", "--node"], "ip4-l"), ["ip4-lookup"]);
        let node = ["capture", "start", "--node", "ip4-lookup", "--exit"];
        assert_eq!(next(&node, ""), ["blackhole", "no-route"]);
        assert_eq!(next(&["trace", "start", "--reason"], ""), ["denied", "no-route"]);
        assert_eq!(next(&["explain"], "i"), ["in"]);
        assert_eq!(next(&["explain", "in"], "l"), ["lan"]);
        assert_eq!(next(&["explain", "in", "lan"], "ip"), ["ip", "ip6"]);
        assert_eq!(next(&["explain", "in", "lan", "ip", "dst", "10.0.0.1", "/"], "u"), ["udp"]);
        assert_eq!(next(&["why-dropped", "--node", "ip4-lookup", "--reason"], ""), ["no-route"]);
        assert_eq!(next(&["trace", "start"], "--so"), ["--socket", "--source", "--source-port"]);
        assert_eq!(next(&["show", "routes", "--vrf"], "r"), ["red"]);
        assert_eq!(next(&["config", "rollback"], ""), ["1", "2"]);
        assert_eq!(next(&["qos", "show"], "l"), ["lan"]);
        // A name of a list, behind the comma; a new port has a new name.
        assert_eq!(next(&["bridge", "add", "br0", "ports"], "lan,w"), ["lan,wan"]);
        assert_eq!(next(&["port", "add"], "w"), [""; 0]);
    }

    #[test]
    fn files_are_the_shells_to_offer() {
        let files = |words: &[&str]| candidates(&cli::command(), words, "", &names).files;
        assert!(files(&["config", "check"]) && files(&["exec"]) && files(&["--socket"]));
        assert!(!files(&["show"]) && !files(&["port", "set"]));
    }

    #[test]
    fn a_question_is_answered_with_what_each_word_is() {
        let told = following(&cli::command(), &["trace"], "", &names).explained();
        assert!(told.contains("  start          Trace the next packets\n"), "{told}");
        assert!(told.contains("  --socket       The router's socket, or https://"), "{told}");
        let told = following(&cli::command(), &["port", "set", "p0"], "", &names).explained();
        assert!(told.contains("Longest packet, without the Ethernet header\n"), "{told}");
    }
}
