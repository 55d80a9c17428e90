//! The machine, as `/proc` and `/sys` tell it; in tests those are somewhere else.

use std::fs;
use std::path::PathBuf;

/// Where `/proc`, `/sys` and `/dev` are.
pub(super) struct Machine {
    root: PathBuf,
}

impl Machine {
    /// The one this runs on, in the network namespace that this runs in.
    pub(super) fn this() -> Self {
        Self { root: "/".into() }
    }

    /// One that is described by files below a folder.
    #[cfg(test)]
    pub(super) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A path as it is called here.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A file's text, without blanks around it; none where there is no such file.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok().map(|text| text.trim().to_owned())
    }

    /// A file's number.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// Whether there is such a path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// What there is at a path; a relative one is of the folder that this runs in.
    pub(super) fn about(&self, path: &str) -> Option<fs::Metadata> {
        let is_whole = path.starts_with('/');
        fs::metadata(if is_whole { self.path(path) } else { path.into() }).ok()
    }

    /// Names in a folder; none where there is no such folder.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The last name of where a link leads.
    pub(super) fn link(&self, path: &str) -> Option<String> {
        let to = fs::read_link(self.path(path)).ok()?;
        to.file_name()?.to_str().map(ToOwned::to_owned)
    }
}
