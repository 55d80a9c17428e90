//! `[state]`: what the router leaves to the one that is started after it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;

/// How long what a router left is good for: longer than a machine's packages take to be upgraded.
const KEEP: Duration = Duration::from_secs(600);

object! {
    /// What the router leaves to the one that is started after it: routes that came while it ran,
    /// neighbours, stations, counters
    pub struct State {
        /// What is older is not taken over; 0s: nothing is kept
        pub keep: Duration = KEEP,
        /// Where it is kept, instead of beside the API's socket: memory is quicker than a disk
        pub folder: Option<PathBuf> as "/run/volley/state" = None,
    }
}

impl Row for State {
    const KIND: &'static str = "state";
}

impl Section for State {}

impl Object for State {
    const NEEDS_RESTART: bool = true;

    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        if let Some(folder) = self.folder.as_ref().filter(|folder| !folder.is_absolute()) {
            let message = format!("`{}` is not an absolute path", folder.display());
            let problem = Problem::new("state.folder", message);
            report.push(problem.expected("an absolute path, as in \"/var/lib/volley\""));
        }
    }
}

impl State {
    /// Where a router keeps its state that listens at this socket; none, if it keeps none.
    pub fn folder_beside(&self, socket: &Path) -> Option<PathBuf> {
        let beside = || socket.with_extension("state");
        (!self.keep.is_zero()).then(|| self.folder.clone().unwrap_or_else(beside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Source, parse};

    fn folder(text: &str) -> Option<PathBuf> {
        let config = parse(&Source::new("test", text), &Host::any()).unwrap();
        config.state.folder_beside(Path::new("/run/volley/volley.sock"))
    }

    #[test]
    fn state_is_kept_beside_the_socket_unless_the_file_says_otherwise() {
        assert_eq!(folder(""), Some("/run/volley/volley.state".into()));
        assert_eq!(folder("[state]\nfolder = \"/dev/shm/v\"\n"), Some("/dev/shm/v".into()));
        assert_eq!(folder("[state]\nkeep = \"0s\"\n"), None);
        let relative = Source::new("test", "[state]\nfolder = \"state\"\n");
        let error = parse(&relative, &Host::any()).unwrap_err().to_string();
        assert!(error.contains("`state` is not an absolute path"), "{error}");
    }
}
