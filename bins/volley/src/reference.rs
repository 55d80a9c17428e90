//! Pages of the documentation site that are made, not written: the commands, of the same grammar as
//! the help, and the fields of the configuration, of their declarations.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::{Arg, ArgAction, Command};
use control::config::help::of_fields;
use control::config::info::{Described, Stands};
use control::config::objects::described;

use crate::error::CliError;

/// Writes them into a folder, which is made.
pub(crate) fn write(folder: &Path, grammar: &Command) -> Result<(), CliError> {
    let write = || {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("commands.md"), commands(grammar))?;
        fs::write(folder.join("configuration.md"), configuration(&described()))
    };
    write().map_err(|error| CliError::File { path: folder.to_owned(), error })
}

/// Every command that does something, with what it takes.
fn commands(grammar: &Command) -> String {
    let mut text =
        "# Commands\n\nWhat `--help` says of each. Fields of `add` and `set` are those of the \
        [configuration](configuration.md). Every command takes `--json` and `--socket PATH`.\n"
            .to_owned();
    for noun in grammar.get_subcommands().filter(|noun| !noun.is_hide_set()) {
        let _ = write!(text, "\n## {}\n", noun.get_name());
        command(noun, &format!("volley {}", noun.get_name()), &mut text);
    }
    text
}

fn command(it: &Command, words: &str, text: &mut String) {
    if let Some(about) = it.get_about() {
        let _ = write!(text, "\n{}.\n", about.to_string().trim_end_matches('.'));
    }
    let verbs: Vec<_> = it.get_subcommands().filter(|verb| !verb.is_hide_set()).collect();
    if verbs.is_empty() {
        let usage = it.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").trim();
        let _ = write!(text, "\n```text\n{usage}\n```\n");
        options(it, text);
    }
    for verb in verbs.into_iter().filter(|verb| verb.get_name() != "help") {
        let words = format!("{words} {}", verb.get_name());
        let _ = write!(text, "\n### {words}\n");
        command(verb, &words, text);
    }
}

/// What it takes that not every command takes.
fn options(of: &Command, text: &mut String) {
    let own = |arg: &&Arg| {
        !arg.is_hide_set() && !["help", "socket", "json", "words"].contains(&arg.get_id().as_str())
    };
    let mut head = "\n| | |\n|---|---|\n";
    for arg in of.get_arguments().filter(own) {
        let value = arg.get_value_names().and_then(<[_]>::first).map(|name| name.to_string());
        let value = value.unwrap_or_else(|| arg.get_id().to_string().to_uppercase());
        let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
        let said = match arg.get_long() {
            Some(long) if takes => format!("--{long} {value}"),
            Some(long) => format!("--{long}"),
            None => value,
        };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "{head}| `{said}` | {} |", help.replace('|', "\\|"));
        head = "";
    }
}

/// Every section of the file, with its fields.
fn configuration(sections: &[Described]) -> String {
    let mut text = "# Configuration\n\nEvery section of the file, with its fields, what they take, and what holds when they are \
        left out. [reference.toml](../../configs/reference.toml) has the same as a file, `volley config schema` as a JSON Schema. At the \
        top of the file may stand `version = 1`, the form that it is written in ([versions](../versions.md)).\n"
        .to_owned();
    for section in sections {
        let path = section.path;
        let header = match (path.split_once('.'), section.stands) {
            (Some((of, part)), Stands::Listed(_)) => format!("[[{of}.NAME.{part}]]"),
            (Some((of, part)), _) => format!("[{of}.NAME.{part}]"),
            (None, Stands::Named(_)) => format!("[{path}.NAME]"),
            (None, Stands::Listed(_)) => format!("[[{path}]]"),
            (None, _) => format!("[{path}]"),
        };
        let about = (section.about)("").trim().trim_end_matches('.');
        let about = match section.stands {
            Stands::Elsewhere(_) => "Its scheduler: [shaping](../shaping.md)",
            _ => about,
        };
        let _ = write!(text, "\n## {header}\n\n{about}.\n");
        let fields = of_fields(&section.infos);
        if !fields.is_empty() {
            let _ = write!(text, "\n```text\n{}\n```\n", fields.trim_end());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_on_the_page_and_says_what_it_takes() {
        let mut grammar = crate::cli::command();
        grammar.build();
        let page = commands(&grammar);
        for words in
            ["volley config apply", "volley port add", "volley show nodes", "volley trace start"]
        {
            assert!(page.contains(&format!("\n### {words}\n")), "{words}");
        }
        assert!(page.contains("| `--confirm-within TIME` |"), "{page}");
        assert!(page.contains("\n## ping\n\nAsk somebody for echoes"), "{page}");
        assert!(!page.contains("### volley config help") && !page.contains("--socket <"));
        // Tables hold what has a bar in it.
        assert!(
            page.lines().filter(|line| line.starts_with("| `")).all(|line| line.ends_with(" |"))
        );
    }

    #[test]
    fn every_field_of_every_section_is_on_the_page() {
        let sections = described();
        let page = configuration(&sections);
        for section in &sections {
            for info in section.infos.iter().filter(|info| info.is_field()) {
                assert!(
                    page.contains(&format!("\n  {} ", info.word)),
                    "{}.{}",
                    section.path,
                    info.word
                );
            }
        }
        assert!(!page.contains("\n\n.\n"), "a section that says nothing of itself");
        for header in ["[icmp]", "[port.NAME]", "[[route]]", "[[acl.NAME.rule]]"] {
            assert!(page.contains(&format!("\n## {header}\n")), "{header}");
        }
    }
}
