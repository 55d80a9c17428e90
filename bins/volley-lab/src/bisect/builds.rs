//! Builds of revisions, each made once.
//!
//! ```text
//! CACHE/source               a clone that shares the repository's objects, at one revision at a time
//! CACHE/target               what cargo keeps from one revision to the next
//! CACHE/builds/HASH-COMMAND  what the command left in $OUT
//! CACHE/logs/HASH.log        what it said
//! ```
//! A revision that does not build is passed over; it is tried again by another bisection.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lab_record::{Error, host};

use super::revisions::{Revision, git};

/// Builds Volley as `make build` does, and no more of it than a device needs.
pub(super) const USUAL: &str = "cargo build --release -p volleyd -p volley && \
     cp \"$CARGO_TARGET_DIR/release/volleyd\" \"$CARGO_TARGET_DIR/release/volley\" \"$OUT\"";

/// A cache of builds.
#[derive(Debug)]
pub(super) struct Builds {
    repository: PathBuf,
    cache: PathBuf,
    command: String,
    /// Held as long as it is used: one checkout serves one bisection.
    _lock: File,
}

/// What came of building a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Built {
    /// The programs are in this folder; whether they were there already.
    Here(PathBuf, bool),
    /// It does not build; what was said is in this file.
    Failed(PathBuf),
}

impl Builds {
    /// Those of a repository in a cache.
    pub(super) fn open(repository: &Path, cache: &Path, command: &str) -> Result<Self, Error> {
        fs::create_dir_all(cache).map_err(Error::file(cache))?;
        let cache = cache.canonicalize().map_err(Error::file(cache))?;
        let repository = repository.canonicalize().map_err(Error::file(repository))?;
        for folder in ["builds", "logs"] {
            let path = cache.join(folder);
            fs::create_dir_all(&path).map_err(Error::file(&path))?;
        }
        let path = cache.join("lock");
        let lock = File::create(&path).map_err(Error::file(&path))?;
        lock.try_lock().map_err(|_| Error::Folder {
            path: cache.clone(),
            reason: "another bisection builds there",
        })?;
        let builds = Self { repository, cache, command: command.to_owned(), _lock: lock };
        let source = builds.cache.join("source");
        if !source.exists() {
            let [from, to] = [&builds.repository, &source].map(|it| it.display().to_string());
            git(&builds.cache, &["clone", "--quiet", "--shared", "--no-checkout", &from, &to])?;
        }
        Ok(builds)
    }

    /// Builds a revision, unless it was built before.
    pub(super) fn build(&self, revision: &Revision) -> Result<Built, Error> {
        let name = format!("{}-{}", revision.hash, host::short(&self.command));
        let place = self.cache.join("builds").join(name);
        if place.exists() {
            return Ok(Built::Here(place, true));
        }
        let source = self.cache.join("source");
        git(&source, &["checkout", "--quiet", "--detach", "--force", &revision.hash])?;
        // What is ignored, and so may be an earlier build's, stays.
        git(&source, &["clean", "--quiet", "-f", "-d"])?;
        let part = place.with_extension("part");
        if part.exists() {
            fs::remove_dir_all(&part).map_err(Error::file(&part))?;
        }
        fs::create_dir(&part).map_err(Error::file(&part))?;
        let log = self.cache.join("logs").join(format!("{}.log", revision.hash));
        let out = File::create(&log).map_err(Error::file(&log))?;
        let both = out.try_clone().map_err(Error::file(&log))?;
        let status = Command::new("sh")
            .args(["-c", &self.command])
            .current_dir(&source)
            .env("OUT", &part)
            .env("REVISION", &revision.hash)
            .env("CARGO_TARGET_DIR", self.cache.join("target"))
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(both)
            .status()
            .map_err(Error::file("sh"))?;
        let made = fs::read_dir(&part).map_err(Error::file(&part))?.next().is_some();
        if !(status.success() && made) {
            fs::remove_dir_all(&part).map_err(Error::file(&part))?;
            return Ok(Built::Failed(log));
        }
        fs::rename(&part, &place).map_err(Error::file(&place))?;
        Ok(Built::Here(place, false))
    }
}
