//! Files that somebody else names, opened so that only what is theirs to name is touched.
//!
//! ```text
//!  /var/lib/volley / lan/a.pcap
//!  └─ folder ────┘   └─ below: by openat2, no link, nowhere out of the folder ─▶ a plain file
//! ```
//! What is below no folder is for those who might open it by themselves; links on the way to it are
//! followed, but it is a plain file, too, and what is recorded overwrites captures of ours alone.

use rustix::fs::{Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// How capture files begin: of micro- and of nanoseconds, in either byte order.
const CAPTURES: [[u8; 4]; 4] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];
/// The file is looked at before it is opened: opening alone may do something to a device.
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Folders below which files are opened for others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders(Vec<PathBuf>);

/// A descriptor's file as a path, for those who open by path alone.
pub fn path_of(file: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()).into()
}

impl Folders {
    /// These.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self(folders)
    }

    /// All of them.
    pub fn all(&self) -> &[PathBuf] {
        &self.0
    }

    /// Whether a path says that it is below one of them.
    pub fn cover(&self, path: &Path) -> bool {
        self.split(path).is_some()
    }

    fn split<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        self.0.iter().find_map(|folder| {
            let below = path.strip_prefix(folder).ok()?;
            let mut parts = below.components();
            let is_below = parts.clone().next().is_some()
                && parts.all(|part| matches!(part, Component::Normal(_)));
            is_below.then_some((&**folder, below))
        })
    }

    /// Opens a file to read it.
    pub fn read(&self, path: &Path) -> io::Result<File> {
        let found = self.open(path, LOOK, Mode::empty())?;
        must_be_plain(&rustix::fs::fstat(&found)?)?;
        File::open(path_of(&found))
    }

    /// Opens a file to write a capture into: a new one, or a capture of ours, which is emptied.
    pub fn record(&self, path: &Path) -> io::Result<File> {
        let fresh =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match self.open(path, fresh, Mode::from_raw_mode(0o640)) {
            Ok(file) => Ok(file.into()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let found = self.open(path, LOOK | OFlags::NOFOLLOW, Mode::empty())?;
                let stat = rustix::fs::fstat(&found)?;
                must_be_plain(&stat)?;
                must_be_ours(&stat)?;
                let mut file = File::options().read(true).write(true).open(path_of(&found))?;
                must_be_capture(&mut file)?;
                file.set_len(0)?;
                Ok(file)
            }
            Err(error) => Err(error),
        }
    }

    /// Refuses a socket's path below a folder to which a link leads, or a name from which one does.
    pub fn check_socket(&self, path: &Path) -> io::Result<()> {
        if !self.cover(path) {
            return Ok(());
        }
        match self.open(path, LOOK | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(found) => refuse_link(&rustix::fs::fstat(&found)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn open(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let Some((folder, below)) = self.split(path) else {
            return Ok(rustix::fs::open(path, flags, mode)?);
        };
        let folder = rustix::fs::open(folder, LOOK | OFlags::DIRECTORY, Mode::empty())?;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let opened = match rustix::fs::openat2(&folder, below, flags, mode, resolve) {
            // An old kernel, or a container that knows no such call.
            Err(Errno::NOSYS | Errno::PERM) => step_by_step(folder.as_fd(), below, flags, mode),
            opened => opened,
        };
        opened.map_err(|error| match error {
            Errno::LOOP => refuse("a link is on the way to it, which is not followed"),
            other => other.into(),
        })
    }
}

/// As `openat2`, one folder after the other.
fn step_by_step(
    folder: BorrowedFd<'_>,
    below: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let name = below.file_name().ok_or(Errno::INVAL)?;
    let mut at = rustix::io::dup(folder)?;
    for part in below.parent().into_iter().flat_map(Path::components) {
        let next = LOOK | OFlags::NOFOLLOW;
        let next = rustix::fs::openat(&at, part.as_os_str(), next, Mode::empty())?;
        if rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&next)?.st_mode).is_symlink() {
            return Err(Errno::LOOP);
        }
        at = next;
    }
    rustix::fs::openat(&at, name, flags | OFlags::NOFOLLOW, mode)
}

fn refuse(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

fn refuse_link(stat: &Stat) -> io::Result<()> {
    match rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink() {
        true => Err(refuse("it is a link, which is not followed")),
        false => Ok(()),
    }
}

fn must_be_plain(stat: &Stat) -> io::Result<()> {
    refuse_link(stat)?;
    match rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
        true => Ok(()),
        false => Err(refuse("it is no plain file")),
    }
}

fn must_be_ours(stat: &Stat) -> io::Result<()> {
    if stat.st_nlink != 1 {
        return Err(refuse("it has other names, too, and is not overwritten"));
    }
    if stat.st_uid != crate::own_user() {
        return Err(refuse("it belongs to another user, and is not overwritten"));
    }
    Ok(())
}

fn must_be_capture(file: &mut File) -> io::Result<()> {
    let mut head = Vec::new();
    file.by_ref().take(4).read_to_end(&mut head)?;
    file.rewind()?;
    if head.is_empty() || CAPTURES.iter().any(|capture| *capture == head[..]) {
        return Ok(());
    }
    Err(refuse("it is there and is no capture, and is not overwritten"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const CAPTURE: &[u8] = b"\xd4\xc3\xb2\xa1and packets";

    /// A folder, another beside it with a secret, and `Folders` of the first.
    struct World {
        root: PathBuf,
        folders: Folders,
    }

    impl World {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("rights-{name}-{}", std::process::id()));
            drop(fs::remove_dir_all(&root));
            fs::create_dir_all(root.join("in/sub")).unwrap();
            fs::create_dir_all(root.join("out")).unwrap();
            fs::write(root.join("out/secret"), "root:x:").unwrap();
            fs::write(root.join("out/capture"), CAPTURE).unwrap();
            let folders = Folders::new(vec![root.join("in")]);
            Self { root, folders }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.root.join(path)
        }

        fn recorded(&self, path: &str) -> Result<(), String> {
            let file = self.folders.record(&self.path(path));
            file.map(drop).map_err(|error| error.to_string())
        }

        fn read(&self, path: &str) -> Result<String, String> {
            let mut text = String::new();
            let file = self.folders.read(&self.path(path)).map_err(|error| error.to_string());
            file?.read_to_string(&mut text).map_err(|error| error.to_string())?;
            Ok(text)
        }
    }

    impl Drop for World {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.root));
        }
    }

    #[test]
    fn a_path_is_below_a_folder_or_not() {
        let folders = Folders::new(vec!["/a/b".into()]);
        for inside in ["/a/b/c", "/a/b/c/d", "/a/b//c", "/a/b/./c"] {
            assert!(folders.cover(Path::new(inside)), "{inside}");
        }
        for outside in ["/a/b", "/a/bc", "/a/b/../c", "/a/b/c/../../../d", "b/c", "/", ""] {
            assert!(!folders.cover(Path::new(outside)), "{outside}");
        }
    }

    #[test]
    fn links_below_a_folder_are_not_followed() {
        let world = World::new("links");
        symlink(world.path("out"), world.path("in/way")).unwrap();
        symlink(world.path("out/secret"), world.path("in/a.pcap")).unwrap();
        symlink(world.path("out/capture"), world.path("in/b.pcap")).unwrap();
        symlink(world.path("out/new"), world.path("in/c.pcap")).unwrap();
        for planted in ["in/way/secret", "in/a.pcap"] {
            assert!(world.read(planted).unwrap_err().contains("link"), "{planted}");
        }
        for planted in ["in/way/new", "in/way/capture", "in/a.pcap", "in/b.pcap", "in/c.pcap"] {
            assert!(world.recorded(planted).unwrap_err().contains("link"), "{planted}");
        }
        assert_eq!(fs::read(world.path("out/capture")).unwrap(), CAPTURE);
        assert!(!world.path("out/new").exists());
        assert!(world.folders.check_socket(&world.path("in/way/s")).is_err());
        assert!(world.folders.check_socket(&world.path("in/a.pcap")).is_err());
        world.folders.check_socket(&world.path("in/sub/s")).unwrap();
        // Whoever may name any file is root: the way there may have links, what is recorded not.
        assert_eq!(world.read("out/secret").unwrap(), "root:x:");
        symlink(world.path("out/capture"), world.path("out/link")).unwrap();
        assert!(world.recorded("out/link").unwrap_err().contains("link"));
    }

    #[test]
    fn an_old_kernel_follows_no_links_either() {
        let world = World::new("old");
        symlink(world.path("out"), world.path("in/way")).unwrap();
        symlink(world.path("out/secret"), world.path("in/a")).unwrap();
        fs::write(world.path("in/sub/b"), "b").unwrap();
        let folder = File::open(world.path("in")).unwrap();
        let open = |below: &str| {
            step_by_step(folder.as_fd(), Path::new(below), OFlags::RDONLY, Mode::empty())
        };
        assert!(open("sub/b").is_ok());
        assert_eq!(open("way/secret").err(), Some(Errno::LOOP));
        assert_eq!(open("a").err(), Some(Errno::LOOP));
    }

    #[test]
    fn what_is_no_capture_of_ours_is_not_emptied() {
        let world = World::new("ours");
        world.recorded("in/sub/new.pcap").unwrap();
        let mode = fs::metadata(world.path("in/sub/new.pcap")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777 & !0o640, 0);
        fs::write(world.path("in/old.pcap"), CAPTURE).unwrap();
        let mut file = world.folders.record(&world.path("in/old.pcap")).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 0);
        file.write_all(b"1").unwrap();
        assert_eq!(world.read("in/old.pcap").unwrap(), "1");
        fs::write(world.path("in/notes"), "to keep").unwrap();
        assert!(world.recorded("in/notes").unwrap_err().contains("no capture"));
        assert!(world.recorded("out/secret").unwrap_err().contains("no capture"));
        assert_eq!(world.read("in/notes").unwrap(), "to keep");
        fs::hard_link(world.path("out/capture"), world.path("in/hard.pcap")).unwrap();
        assert!(world.recorded("in/hard.pcap").unwrap_err().contains("other names"));
        assert_eq!(fs::read(world.path("out/capture")).unwrap(), CAPTURE);
    }

    #[test]
    fn pipes_devices_and_folders_are_not_opened() {
        let world = World::new("pipes");
        let pipe = world.path("in/pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RWXU).unwrap();
        // Opened, it would wait for a writer for ever.
        assert!(world.read("in/pipe").unwrap_err().contains("no plain file"));
        assert!(world.recorded("in/pipe").unwrap_err().contains("no plain file"));
        assert!(world.read("in/sub").unwrap_err().contains("no plain file"));
        assert!(world.read("/dev/zero").unwrap_err().contains("no plain file"));
        assert!(world.recorded("/dev/null").unwrap_err().contains("no plain file"));
    }
}
