//! The manual pages, one a command, of the same grammar as the help.

use std::path::Path;
use std::{fs, io};

use clap::Command;
use clap_mangen::Man;

use crate::cli;
use crate::error::CliError;
use crate::reference;

/// Writes them into a folder, which is made, or what the site has of the same grammar.
pub(crate) fn write(folder: &Path, markdown: bool) -> Result<(), CliError> {
    if markdown {
        return reference::write(folder, &pages());
    }
    let write = || {
        fs::create_dir_all(folder)?;
        each(&pages(), folder)
    };
    write().map_err(|error| CliError::File { path: folder.to_owned(), error })
}

fn pages() -> Command {
    let mut grammar = cli::command().disable_help_subcommand(true);
    // What verbs say of their fields they say by then, while they have the names that they know.
    grammar.build();
    named(grammar, "volley".into())
}

/// Pages are named for the words that are typed, whatever a command calls itself in its help.
fn named(command: Command, page: String) -> Command {
    command
        .mut_subcommands(|verb| {
            let page = format!("{page}-{}", verb.get_name());
            named(verb, page)
        })
        .display_name(page)
}

/// Its page, and those of its verbs.
fn each(command: &Command, folder: &Path) -> io::Result<()> {
    let page = command.get_display_name().unwrap_or(command.get_name());
    fs::write(folder.join(format!("{page}.1")), laid_out(&rendered(command)?))?;
    let mut verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    verbs.try_for_each(|verb| each(verb, folder))
}

fn rendered(command: &Command) -> io::Result<String> {
    let mut page = Vec::new();
    let source = concat!("volley ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).manual("Volley").render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// What the help has behind its options (`EXTRA`), as man(7) lays out lists: a name a paragraph,
/// and below it the names in it.
fn laid_out(page: &str) -> String {
    let Some((head, extra)) = page.split_once(".SH EXTRA\n") else { return page.to_owned() };
    let end = extra.find("\n.SH ").map_or(extra.len(), |at| at + 1);
    let (lines, tail) = extra.split_at(end);
    let mut list = String::new();
    let mut deep = false;
    for line in lines.lines() {
        let text = line.trim_start();
        let (indent, name) = (line.len() - text.len(), text.split_once("  "));
        let within = text.split_once(": ").filter(|_| indent > 2);
        if deep != within.is_some() {
            deep = !deep;
            list += if deep { ".RS\n" } else { ".RE\n" };
        }
        list += &match (indent, name, within) {
            (0, ..) if text.ends_with(':') => format!(".SS {}\n", text.trim_end_matches(':')),
            (2, Some((name, about)), _) => format!(".TP\n\\fB{name}\\fR\n{}\n", about.trim_start()),
            (_, _, Some((name, about))) => format!(".TP\n\\fB{name}\\fR\n{about}\n"),
            (2, None, _) => format!(".TP\n\\fB{text}\\fR\n"),
            _ => format!("{line}\n.br\n"),
        };
    }
    if deep {
        list += ".RE\n";
    }
    format!("{head}.SH MORE\n{list}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_paragraphs_with_those_within_below_them() {
        let page = ".TH x\n.SH EXTRA\nFields:\n  via    To a next hop\n           weight: Share [1 to 255]\n  port   Out of this\n\
                    .SH VERSION\nv1\n";
        let wanted = ".TH x\n.SH MORE\n.SS Fields\n.TP\n\\fBvia\\fR\nTo a next hop\n.RS\n.TP\n\\fBweight\\fR\nShare [1 to 255]\n.RE\n\
                      .TP\n\\fBport\\fR\nOut of this\n.SH VERSION\nv1\n";
        assert_eq!(laid_out(page), wanted);
        let pages = pages();
        let add =
            pages.find_subcommand("route").and_then(|route| route.find_subcommand("add")).unwrap();
        let page = laid_out(&rendered(add).unwrap());
        assert!(
            page.contains("\\fBvia\\fR\nTo a next hop")
                && page.contains("\"volley 0.")
                && !page.contains("EXTRA"),
            "{page}"
        );
    }

    #[test]
    fn every_verb_of_every_noun_has_a_page_of_its_name_with_its_fields() {
        for noun in pages().get_subcommands() {
            for verb in noun.get_subcommands() {
                let page = format!("volley-{}-{}", noun.get_name(), verb.get_name());
                assert_eq!(verb.get_display_name(), Some(page.as_str()));
            }
        }
        let pages = pages();
        let add = pages.find_subcommand("port").and_then(|port| port.find_subcommand("add"));
        let help = add.and_then(Command::get_after_help).map(ToString::to_string);
        assert!(help.is_some_and(|help| help.contains("peer_offloads")));
    }
}
