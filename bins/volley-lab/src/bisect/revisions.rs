//! What git knows of the revisions between two.

use std::path::Path;
use std::process::Command;

use lab_record::Error;

/// One revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Revision {
    /// Its hash.
    pub(super) hash: String,
    /// The day it was made.
    pub(super) day: String,
    /// The first line of its message.
    pub(super) subject: String,
}

impl Revision {
    /// As people write it.
    pub(super) fn short(&self) -> String {
        self.hash.chars().take(10).collect()
    }

    /// Hash, day and subject.
    pub(super) fn words(&self) -> String {
        format!("{} {} {}", self.short(), self.day, self.subject)
    }
}

/// Those from a good one to a bad one, both included, oldest first: of merges, by what was merged
/// into.
pub(super) fn between(repository: &Path, good: &str, bad: &str) -> Result<Vec<Revision>, Error> {
    let [good, bad] = [good, bad].map(|it| format!("{it}^{{commit}}"));
    let resolved = |it: &str| git(repository, &["rev-parse", "--verify", "--quiet", it]);
    let unknown = |it: &str| Error::Text {
        what: "revision",
        text: it.trim_end_matches("^{commit}").to_owned(),
        allowed: format!("git knows none of that name in {}", repository.display()).into(),
    };
    let from = resolved(&good).map_err(|_| unknown(&good))?;
    let to = resolved(&bad).map_err(|_| unknown(&bad))?;
    let range = format!("{from}..{to}");
    const FORMAT: &str = "--format=%H%x09%cs%x09%s";
    let told = git(repository, &["log", "--first-parent", "--reverse", FORMAT, &range])?;
    let first = git(repository, &["show", "-s", FORMAT, &from])?;
    let is_before = git(repository, &["merge-base", "--is-ancestor", &from, &to]).is_ok();
    let all: Vec<Revision> = first.lines().chain(told.lines()).filter_map(revision).collect();
    if !is_before || all.len() < 2 {
        return Err(Error::Text {
            what: "revision",
            text: good.trim_end_matches("^{commit}").to_owned(),
            allowed: format!("it does not come before {}", bad.trim_end_matches("^{commit}"))
                .into(),
        });
    }
    Ok(all)
}

fn revision(line: &str) -> Option<Revision> {
    let mut parts = line.splitn(3, '\t').map(str::to_owned);
    Some(Revision { hash: parts.next()?, day: parts.next()?, subject: parts.next()? })
}

/// What git says in a repository.
pub(super) fn git(repository: &Path, arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new("git").arg("-C").arg(repository).args(arguments).output();
    let output = output.map_err(Error::file("git"))?;
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).trim_end().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(Error::Command {
            line: format!("git -C {} {}", repository.display(), arguments.join(" ")),
            reason: text(&output.stderr),
        }),
    }
}
