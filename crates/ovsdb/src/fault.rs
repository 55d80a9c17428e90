//! What can be wrong with a server, or with what it says.

use std::io;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It cannot be reached, or went.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It closed the connection.
    #[error("the database's server went")]
    Gone,
    /// It says nothing, not even when it is asked.
    #[error("the database's server said nothing for {0} s")]
    Silent(u64),
    /// What it says is no message.
    #[error("the database's server said what is no message: {0}")]
    Malformed(String),
    /// More than is taken.
    #[error("the database's server said more than {0} bytes at once")]
    TooLong(usize),
    /// It refuses what was asked.
    #[error("the database's server refused {method}: {why}")]
    Refused {
        /// What was asked.
        method: String,
        /// What it said.
        why: String,
    },
    /// A file that is needed to be known, or to know a server, is not what it should be.
    #[error(transparent)]
    Keys(#[from] tls::Fault),
    /// Nobody said by which key and certificates a server is spoken with.
    #[error("ssl: needs a private key, a certificate and that of the authority")]
    NoKeys,
    /// Not a place that a server can be at.
    #[error("`{0}` is no database: expected unix:FILE, tcp:ADDRESS:PORT or ssl:ADDRESS:PORT")]
    Target(String),
}

/// At most so much of something that is wrong is told, with nothing in it that moves a terminal's
/// cursor: a server says what it likes.
pub(crate) fn excerpt(text: &str) -> String {
    let mut short = String::new();
    for (count, letter) in text.chars().enumerate() {
        match letter {
            _ if count == 80 => {
                short.push('…');
                break;
            }
            _ if letter.is_control() => short.extend(letter.escape_default()),
            _ => short.push(letter),
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_told_in_short_and_moves_no_cursor() {
        assert_eq!(excerpt("a\u{1b}[2Jb\u{9b}c\nü"), "a\\u{1b}[2Jb\\u{9b}c\\nü");
        assert_eq!(excerpt(&"ü".repeat(80)), "ü".repeat(80));
        assert_eq!(excerpt(&"ü".repeat(81)), "ü".repeat(80) + "…");
    }
}
