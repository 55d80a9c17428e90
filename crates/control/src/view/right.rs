//! What somebody may have the router do.

use std::fmt;

/// What somebody may: each may all that those before may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// See what it does.
    See,
    /// Change what it does.
    Change,
    /// Have it open files and sockets, below the folders for that.
    Files,
    /// Have it open any: root at the Unix socket, and the user as whom the router runs.
    All,
}

impl Right {
    /// As documents call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::See => "see",
            Self::Change => "change",
            Self::Files => "files",
            Self::All => "all",
        }
    }

    /// What is allowed with it.
    pub fn about(self) -> &'static str {
        match self {
            Self::See => "see what the router does",
            Self::Change => "change what the router does",
            Self::Files => "have it open files, below the folders for that",
            Self::All => "have it open any file",
        }
    }

    /// Who has it.
    pub fn whose(self) -> &'static str {
        match self {
            Self::See => "[api] see_group or see_token_file",
            Self::Change => "[api] group or token_file",
            Self::Files => "[api] files_group or files_token_file",
            Self::All => "root at the Unix socket, and nobody else",
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.word())
    }
}
