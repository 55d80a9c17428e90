//! `[files]`: which files the router opens for those who may have it open some, and are not root.

use std::path::{Component, Path, PathBuf};

use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;

/// Where nobody but root puts anything, unless somebody else is let.
const FOLDERS: [&str; 2] = ["/var/lib/volley", "/run/volley"];

object! {
    /// Which files and sockets ports may have that come over the API, unless it is root who says so
    pub struct Files {
        /// Folders below which they are; no links are followed there, and no file of others written
        pub folders: Vec<PathBuf> as "/var/lib/volley" = FOLDERS.map(PathBuf::from).to_vec(),
    }
}

impl Row for Files {
    const KIND: &'static str = "files";
}

impl Section for Files {}

impl Object for Files {
    const NEEDS_RESTART: bool = true;

    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        for (index, folder) in self.folders.iter().enumerate() {
            if !is_plain(folder) {
                let message =
                    format!("`{}` is not an absolute path without `..`", folder.display());
                let problem = Problem::new(format!("files.folders[{index}]"), message);
                report.push(problem.expected("a folder, as in \"/var/lib/volley\""));
            }
        }
    }
}

fn is_plain(folder: &Path) -> bool {
    folder.is_absolute() && !folder.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::read;
    use crate::config::{Change, Source, edit};

    #[test]
    fn folders_have_whole_paths() {
        assert_eq!(read("").unwrap().files.folders.len(), 2);
        assert!(read("[files]\nfolders = []\n").unwrap().files.folders.is_empty());
        for wrong in ["captures", "/var/lib/../../etc"] {
            let error = read(&format!("[files]\nfolders = [\"{wrong}\"]\n")).unwrap_err();
            assert!(error.contains("is not an absolute path"), "{error}");
        }
    }

    fn opened(before: &Config, commands: &str) -> Vec<PathBuf> {
        let after = edit(before, &Source::new("test", commands), &Host::any()).unwrap();
        Config::diff(before, &after).iter().flat_map(Change::opens).collect()
    }

    #[test]
    fn a_change_tells_the_files_that_it_has_opened() {
        let before = read("[port.m]\nkind = \"memory\"\nrecord = \"/a\"\n").unwrap();
        let cases: [(&str, &[&str]); 9] = [
            ("port add p pcap rx /in tx /out", &["/in", "/out"]),
            ("port add q memory source /in", &["/in"]),
            ("port add v vhost socket /s", &["/s"]),
            ("port add v virtio_user socket /dev/vhost-net", &["/dev/vhost-net"]),
            ("port add v memif socket /s role client", &["/s"]),
            ("port set m twin on netns /proc/1/ns/net", &["/proc/1/ns/net"]),
            ("port set m twin on netns blue\nport set m mtu 1400", &[]),
            ("fpm set netns ../../tmp/x", &["../../tmp/x"]),
            ("port del m", &[]),
        ];
        for (commands, files) in cases {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            assert_eq!(opened(&before, commands), files, "{commands}");
        }
    }
}
