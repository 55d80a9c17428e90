//! Configurations as tests write them: a text of the file, and commands.

use crate::config::{Config, Host, Source, edit, parse};

/// What a file says.
pub(crate) fn read(text: &str) -> Result<Config, String> {
    parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
}

/// Makes what a command says of it.
pub(crate) fn run(config: &mut Config, command: &str) -> Result<Config, String> {
    let edited = edit(config, &Source::new("test", command), &Host::any());
    *config = edited.map_err(|error| error.to_string())?;
    Ok(config.clone())
}
