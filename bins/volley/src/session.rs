//! Who is talked to, where results go, and how a command is run.

use clap::ArgMatches;
use control::view::{Style, Verb};
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::CliError;
use crate::output::Output;

/// Runs the command that was matched.
pub(crate) type Run = fn(&Session, &ArgMatches) -> Result<(), CliError>;

/// Who is talked to, and where results go.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) output: Output,
}

impl Session {
    /// Has the router do something, and writes what it came to.
    pub(crate) fn make<V: Verb>(
        &self,
        request: V::Request,
        text: impl FnOnce(V::Reply, Style) -> String,
    ) -> Result<(), CliError>
    where
        V::Reply: DeserializeOwned,
    {
        self.output.answer(self.client.make::<V>(request)?, text)
    }
}

/// What clap says, for those who typed it.
pub(crate) fn usage(error: clap::Error) -> CliError {
    CliError::Usage(error.render().to_string())
}
