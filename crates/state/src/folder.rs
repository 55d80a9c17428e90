//! The folder: nobody else's, and no other process's meanwhile.

use crate::Refused;
use crate::file::{WRITTEN_AT, now_ns, written};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest file that is read: more than any table holds.
const MOST_BYTES: u64 = 1 << 30;
/// Between two looks whether it is free.
const LOOK: Duration = Duration::from_millis(5);
/// Rights of the folder, and of files in it.
const FOLDER_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
/// Who else could write.
const OTHERS_WRITE: u32 = 0o022;

/// A folder that is ours alone.
#[derive(Debug)]
pub struct Folder {
    folder: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens it, made if need be. Refused, if others may write there, or another router keeps its
    /// state there.
    pub fn open(path: &Path) -> io::Result<Self> {
        match rustix::fs::mkdir(path, FOLDER_MODE) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty())?;
        if let Some(why) = foreign(&rustix::fs::fstat(&folder)?) {
            return Err(refuse(&why));
        }
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { folder, path: path.to_owned() }),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let why = "another router keeps its state there";
                Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The same; a router that is being killed has a while to let go of it.
    pub fn open_within(path: &Path, patience: Duration) -> io::Result<Self> {
        let end = Instant::now() + patience;
        loop {
            match Self::open(path) {
                Err(error)
                    if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < end =>
                {
                    std::thread::sleep(LOOK);
                }
                outcome => return outcome,
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What a file of ours has in it.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, Refused> {
        let (file, stat) = self.open_ours(name, OFlags::RDONLY)?;
        let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0) + 1);
        // It may grow while it is read.
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        fits(bytes.len() as u64)?;
        Ok(bytes)
    }

    /// A log that was read, to go on behind its last whole block.
    pub(crate) fn go_on(&self, name: &str, end: u64) -> Result<File, Refused> {
        let (file, _) = self.open_ours(name, OFlags::RDWR)?;
        file.set_len(end)?;
        Ok(file)
    }

    fn open_ours(&self, name: &str, flags: OFlags) -> Result<(File, Stat), Refused> {
        // A pipe is not waited for.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT) => return Err(Refused::Absent),
            Err(rustix::io::Errno::LOOP) => {
                return Err(Refused::Foreign("it is a link, which is not followed".to_owned()));
            }
            Err(error) => return Err(io::Error::from(error).into()),
        };
        let stat = rustix::fs::fstat(&file).map_err(io::Error::from)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(Refused::Foreign("it is no plain file".to_owned()));
        }
        if let Some(why) = foreign(&stat) {
            return Err(Refused::Foreign(why));
        }
        fits(stat.st_size.unsigned_abs())?;
        Ok((file, stat))
    }

    /// A new file, which has its name only when it is [named](Self::name_it).
    pub(crate) fn make(&self, name: &str) -> io::Result<File> {
        let fresh = fresh(name);
        // Of a process that was killed.
        self.remove(&fresh);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(&self.folder, &fresh, flags | OFlags::CLOEXEC, FILE_MODE)?;
        Ok(file.into())
    }

    /// A file that was [made](Self::make) takes the place of the one of its name.
    pub(crate) fn name_it(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.folder, fresh(name), &self.folder, name)?)
    }

    /// Writes a file in one step.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<File> {
        let write = || {
            let mut file = self.make(name)?;
            file.write_all(bytes)?;
            self.name_it(name)?;
            Ok(file)
        };
        write().inspect_err(|_| self.remove(&fresh(name)))
    }

    /// Takes a file away, if it is there.
    pub(crate) fn remove(&self, name: &str) {
        let _was_not_there = rustix::fs::unlinkat(&self.folder, name, AtFlags::empty());
    }

    /// Takes away what a process that was killed had begun to write.
    pub(crate) fn remove_unnamed(&self, name: &str) {
        self.remove(&fresh(name));
    }
}

/// Notes in a file's header that it is as good as written now.
pub(crate) fn touch(file: &File) -> io::Result<()> {
    file.write_all_at(&written(now_ns()), WRITTEN_AT)
}

fn fresh(name: &str) -> String {
    format!(".{name}.new")
}

fn fits(found: u64) -> Result<(), Refused> {
    if found > MOST_BYTES { Err(Refused::Long { found, most: MOST_BYTES }) } else { Ok(()) }
}

/// Why somebody else could have written it.
fn foreign(stat: &Stat) -> Option<String> {
    let own = rustix::process::geteuid().as_raw();
    let others = stat.st_mode & OTHERS_WRITE;
    match stat.st_uid {
        user if user != own => Some(format!("it belongs to user {user}, and we are {own}")),
        _ if others != 0 => Some(format!("others may write it: mode {:o}", stat.st_mode & 0o777)),
        _ => None,
    }
}

fn refuse(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    /// A folder of a test, which goes with it.
    pub(crate) struct Place(pub(crate) PathBuf);

    impl Place {
        pub(crate) fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("state-{name}-{}", std::process::id()));
            let _left_over = std::fs::remove_dir_all(&path);
            std::fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn a_folder_is_one_routers_and_nobody_elses() {
        let place = Place::new("folder");
        let path = place.0.join("state");
        let folder = Folder::open(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let second = Folder::open(&path).unwrap_err().to_string();
        assert_eq!(second, "another router keeps its state there");
        // The one that has it ends meanwhile.
        let ends = std::thread::spawn(move || {
            std::thread::sleep(LOOK);
            drop(folder);
        });
        drop(Folder::open_within(&path, Duration::from_secs(60)).unwrap());
        ends.join().unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o777)).unwrap();
        let open = Folder::open(&path).unwrap_err().to_string();
        assert_eq!(open, "others may write it: mode 777");
        let link = place.0.join("link");
        symlink(&path, &link).unwrap();
        assert!(Folder::open(&link).is_err());
    }

    #[test]
    fn files_of_others_links_pipes_and_what_is_too_long_are_refused() {
        let place = Place::new("files");
        let folder = Folder::open(&place.0.join("state")).unwrap();
        let path = |name: &str| folder.path().join(name);
        let told = |name: &str| folder.read(name).unwrap_err().to_string();
        assert_eq!(told("absent"), "there is none");
        folder.write("good", b"good").unwrap();
        assert_eq!(folder.read("good").unwrap(), b"good");
        symlink(path("good"), path("link")).unwrap();
        assert_eq!(told("link"), "it is a link, which is not followed");
        std::fs::create_dir(path("folder")).unwrap();
        assert_eq!(told("folder"), "it is no plain file");
        std::fs::write(path("open"), b"x").unwrap();
        std::fs::set_permissions(path("open"), PermissionsExt::from_mode(0o666)).unwrap();
        assert_eq!(told("open"), "others may write it: mode 666");
        let long = File::create(path("long")).unwrap();
        long.set_permissions(PermissionsExt::from_mode(0o600)).unwrap();
        long.set_len(MOST_BYTES + 1).unwrap();
        assert!(told("long").contains("1073741824 are the most"), "{}", told("long"));
        folder.write("theirs", b"x").unwrap();
        match chown(path("theirs"), Some(65_534), None) {
            Ok(()) => assert!(told("theirs").starts_with("it belongs to user 65534")),
            Err(error) => eprintln!("SKIPPED: files of others take root: {error}"),
        }
    }
}
