//! What can go wrong, and the exit code that says so.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | refused, or wrong: the message says what |
//! | 2 | not a command; a ping that could not be asked |
//! | 3 | no router to talk to |

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use control::config::Problems;
use thiserror::Error;

use crate::printable::printable;

/// Exit code: refused, or wrong.
pub(crate) const REFUSED: u8 = 1;
/// Exit code: not a command.
pub(crate) const USAGE: u8 = 2;
/// Exit code: no router to talk to.
pub(crate) const UNREACHABLE: u8 = 3;

/// Why a command failed.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// Nobody answers.
    #[error("{} {}: {error}", who_answers(error), socket.display())]
    Unreachable {
        /// Where it was looked for.
        socket: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The router hung up or spoke nonsense.
    #[error("the router's answer broke off: {0}")]
    Broken(String),
    /// The router refused.
    #[error("{}", detail.trim_end())]
    Refused {
        /// What it said.
        detail: String,
        /// All it said, for `--json`.
        json: Option<serde_json::Value>,
    },
    /// A question could not even be asked: a code of its own, as of ping(8).
    #[error("{}", detail.trim_end())]
    NotAsked {
        /// What the router said.
        detail: String,
        /// All it said, for `--json`.
        json: Option<serde_json::Value>,
    },
    /// A configuration is wrong.
    #[error("{}", .0.to_string().trim_end())]
    Config(#[from] Problems),
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Not a command.
    #[error("{0}")]
    Usage(String),
    /// It was told already.
    #[error("a command failed")]
    Quiet,
    /// Standard output is gone.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

/// Whether a router may well be there, which does not hear this user.
fn is_forbidden(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn who_answers(error: &io::Error) -> &'static str {
    match is_forbidden(error) {
        true => "you may not speak to the router at",
        false => "no router answers at",
    }
}

impl CliError {
    /// Tells a person, and the caller by its exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if let Self::Output(error) = self
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            // Whoever read us has seen enough.
            return ExitCode::SUCCESS;
        }
        self.print();
        self.code().into()
    }

    /// Tells a person, if one is there: a closed standard error changes no exit code.
    pub(crate) fn print(&self) {
        let _nobody_reads = io::stderr().write_all(self.words().as_bytes());
    }

    fn words(&self) -> String {
        let said = || printable(&self.to_string()).into_owned();
        match self {
            // Already worded as a compiler would.
            Self::Config(_) => said() + "\n",
            Self::Refused { detail, .. } if detail.starts_with("error:") => said() + "\n",
            Self::Usage(text) => text.clone(),
            Self::Quiet => String::new(),
            Self::Unreachable { error, .. } => {
                let help = match is_forbidden(error) {
                    true => "root may, and who is in a group that [api] names",
                    false => "is volleyd running? --socket PATH or VOLLEY_SOCKET names another",
                };
                format!("error: {}\n   = help: {help}\n", said())
            }
            _ => format!("error: {}\n", said()),
        }
    }

    fn code(&self) -> u8 {
        match self {
            Self::Unreachable { .. } => UNREACHABLE,
            Self::Usage(_) | Self::NotAsked { .. } => USAGE,
            _ => REFUSED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_router_that_may_not_be_spoken_to_is_told_from_none() {
        let words = |code| {
            let error = io::Error::from_raw_os_error(code);
            CliError::Unreachable { socket: "/run/volley/api.sock".into(), error }.words()
        };
        assert_eq!(
            words(13),
            "error: you may not speak to the router at /run/volley/api.sock: Permission denied (os error 13)\n   \
             = help: root may, and who is in a group that [api] names\n"
        );
        assert_eq!(
            words(2),
            "error: no router answers at /run/volley/api.sock: No such file or directory (os error 2)\n   \
             = help: is volleyd running? --socket PATH or VOLLEY_SOCKET names another\n"
        );
    }
}
