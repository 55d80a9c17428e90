//! `volley doctor`: whether this machine has what a configuration needs, as the kernel tells it.
//!
//! ```text
//!  file ─▶ Config ┐
//!                 ├─▶ checks, one file a subject ─▶ findings: fine, could be better, will not work
//!  /proc, /sys ─▶ Machine ┘                                   with how to mend it
//! ```
//! To add a check: its file, and its line in [`CHECKS`].

mod cores;
mod listens;
mod machine;
mod memory;
mod ports;
mod rights;

use std::fmt::Write as _;
use std::path::Path;

use control::config::{Config, Host, Source, parse};
use control::view::Style;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::machine::Machine;
use crate::config::read;
use crate::error::CliError;
use crate::session::Session;

/// What is looked at, in this order.
const CHECKS: [fn(&Machine, &Config) -> Vec<Finding>; 5] =
    [rights::check, memory::check, cores::check, ports::check, listens::check];

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Fine,
    /// It works, and could be better.
    Better,
    /// It will not work.
    Wrong,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Finding {
    state: State,
    /// What was found.
    found: String,
    /// What mends it.
    mend: Option<String>,
}

fn fine(found: impl Into<String>) -> Finding {
    Finding { state: State::Fine, found: found.into(), mend: None }
}

fn better(found: impl Into<String>, mend: impl Into<String>) -> Finding {
    Finding { state: State::Better, found: found.into(), mend: Some(mend.into()) }
}

fn wrong(found: impl Into<String>, mend: impl Into<String>) -> Finding {
    Finding { state: State::Wrong, found: found.into(), mend: Some(mend.into()) }
}

/// Looks at all of it; what will not work makes it fail.
pub(crate) fn run(session: &Session, file: &Path) -> Result<(), CliError> {
    let source = Source::new(file.display().to_string(), read(file)?);
    let config = parse(&source, &Host::this())?;
    let machine = Machine::this();
    let findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&machine, &config)).collect();
    session.output.answer(json!(findings), text)?;
    match findings.iter().any(|finding| finding.state == State::Wrong) {
        true => Err(CliError::Quiet),
        false => Ok(()),
    }
}

fn text(findings: Vec<Finding>, style: Style) -> String {
    let mut text = String::new();
    for Finding { state, found, mend } in &findings {
        let word = match state {
            State::Fine => style.dim("fine  "),
            State::Better => style.step("better"),
            State::Wrong => style.bold("wrong "),
        };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{word}  {found}");
        if let Some(mend) = mend {
            let _ = writeln!(text, "        {mend}");
        }
    }
    let count = |state| findings.iter().filter(|finding| finding.state == state).count();
    let [wrong, better] = [State::Wrong, State::Better].map(count);
    let _ = writeln!(text, "{wrong} will not work, {better} could be better");
    text
}

#[cfg(test)]
mod testing {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A machine that is described by files of a folder, which goes with it.
    pub(super) struct Pretended {
        pub(super) machine: Machine,
        folder: PathBuf,
    }

    impl Pretended {
        pub(super) fn new(name: &str) -> Self {
            let folder = format!("volley-doctor-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(folder);
            Self { machine: Machine::at(&folder), folder }
        }

        /// Its file of this name says so.
        pub(super) fn says(&self, path: &str, text: &str) {
            let path = self.machine.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }

        /// Its link of this name leads there.
        pub(super) fn leads(&self, path: &str, to: &str) {
            let path = self.machine.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(to, path).unwrap();
        }
    }

    impl Drop for Pretended {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.folder).unwrap();
        }
    }

    /// A configuration, whatever cores this machine has.
    pub(super) fn config(text: &str) -> Config {
        parse(&Source::new("volley.toml".to_owned(), text.to_owned()), &Host::any()).unwrap()
    }

    /// What was found, with its state.
    pub(super) fn told(findings: &[Finding]) -> Vec<(State, &str)> {
        findings.iter().map(|finding| (finding.state, finding.found.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_mended_is_told_below_it() {
        let findings = vec![fine("a"), better("b", "do c"), wrong("d", "do e")];
        let told = text(findings, Style::new(false));
        assert_eq!(
            told,
            "fine    a\nbetter  b\n        do c\nwrong   d\n        do e\n1 will not work, 1 could be better\n"
        );
    }
}
