//! Files that are written whole or not at all, wherever links were put.
//!
//! ```text
//!  folder, open ─┬─ .NAME.PID.new   made anew, nobody else's: text, rights, onto the disk
//!                └─ renamed to NAME what was there goes, link or not; nothing is written through it
//! ```

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Of a file that was not there before.
const FRESH_MODE: u32 = 0o640;

/// Reads a plain file; a link in its place is refused.
pub fn read_plain(path: &Path) -> io::Result<(String, Metadata)> {
    // A pipe is not waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::LOOP) => return Err(refuse("it is a link, which is not followed")),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(refuse("it is no plain file"));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok((text, metadata))
}

/// Writes a file in one step, with the rights of another, as far as we may give them.
pub fn write_whole(path: &Path, text: &str, like: Option<&Metadata>) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| refuse("it is no file's name"))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(parent.unwrap_or(Path::new(".")), flags, Mode::empty())?;
    let mut fresh = std::ffi::OsString::from(".");
    fresh.push(name);
    fresh.push(format!(".{}.new", std::process::id()));
    let remove = || rustix::fs::unlinkat(&folder, &*fresh, AtFlags::empty());
    let write = || -> io::Result<()> {
        // Of a process of the same number that was killed, or put there: it is a name in a folder,
        // and taking it away touches nothing else.
        let _may_not_be_there = remove();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(&folder, &*fresh, flags | OFlags::CLOEXEC, Mode::RUSR)?;
        let mut file = File::from(file);
        let mode = like.map_or(FRESH_MODE, |like| like.mode() & 0o777);
        if let Some(like) = like {
            // Who may not do this writes it as his own, as any editor does.
            let (user, group) = (Uid::from_raw(like.uid()), Gid::from_raw(like.gid()));
            let _may_not = rustix::fs::fchown(&file, Some(user), Some(group));
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        rustix::fs::renameat(&folder, &*fresh, &folder, name)?;
        Ok(rustix::fs::fsync(&folder)?)
    };
    write().inspect_err(|_| {
        let _was_not_made = remove();
    })
}

fn refuse(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A folder with `router.toml`, and one beside it with a text that is somebody else's.
    struct World(PathBuf);

    impl World {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("whole-{name}-{}", std::process::id()));
            drop(fs::remove_dir_all(&root));
            fs::create_dir_all(root.join("in")).unwrap();
            fs::write(root.join("in/router.toml"), "before").unwrap();
            fs::write(root.join("text"), "not ours").unwrap();
            Self(root)
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.join(path)
        }

        fn has(&self, path: &str) -> String {
            fs::read_to_string(self.path(path)).unwrap()
        }

        /// What is in the folder.
        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.path("in")).unwrap();
            let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
            let mut names: Vec<_> = entries.map(|it| name(it).into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn read(&self, path: &str) -> Result<String, String> {
            read_plain(&self.path(path)).map(|it| it.0).map_err(|error| error.to_string())
        }
    }

    impl Drop for World {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn a_link_is_not_read_through_and_a_pipe_is_not_waited_for() {
        let world = World::new("read");
        assert_eq!(world.read("in/router.toml").as_deref(), Ok("before"));
        symlink(world.path("text"), world.path("in/link")).unwrap();
        assert!(world.read("in/link").unwrap_err().contains("is a link"));
        let mode = Mode::RUSR | Mode::WUSR;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, world.path("in/pipe"), kind, mode, 0).unwrap();
        assert!(world.read("in/pipe").unwrap_err().contains("no plain file"));
        assert!(world.read("in").unwrap_err().contains("no plain file"));
    }

    #[test]
    fn what_is_written_takes_the_place_of_a_link_and_goes_through_none() {
        let world = World::new("written");
        let (to, fresh) = (world.path("in/link"), format!(".link.{}.new", std::process::id()));
        symlink(world.path("text"), &to).unwrap();
        // One in the place of what is made on the way there, too.
        symlink(world.path("text"), world.path("in").join(fresh)).unwrap();
        write_whole(&to, "after", None).unwrap();
        assert_eq!((world.has("in/link"), world.has("text")), ("after".into(), "not ours".into()));
        assert!(fs::symlink_metadata(&to).unwrap().is_file());
        assert_eq!(fs::metadata(&to).unwrap().mode() & 0o777, FRESH_MODE);
        assert_eq!(world.names(), ["link", "router.toml"]);
    }

    #[test]
    fn a_file_keeps_its_rights_and_one_that_cannot_be_written_leaves_nothing() {
        let world = World::new("rights");
        let at = world.path("in/router.toml");
        fs::set_permissions(&at, Permissions::from_mode(0o604)).unwrap();
        let (_, like) = read_plain(&at).unwrap();
        write_whole(&at, "after", Some(&like)).unwrap();
        assert_eq!(world.has("in/router.toml"), "after");
        assert_eq!(fs::metadata(&at).unwrap().mode() & 0o777, 0o604);
        fs::create_dir(world.path("in/folder")).unwrap();
        assert!(write_whole(&world.path("in/folder"), "text", None).is_err());
        assert_eq!(world.names(), ["folder", "router.toml"]);
    }
}
