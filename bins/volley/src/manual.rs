//! The manual pages, one a command, of the same grammar as the help.

use std::fs;
use std::path::Path;

use clap::Command;

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
        clap_mangen::generate_to(pages(), folder)
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

#[cfg(test)]
mod tests {
    use super::*;

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
