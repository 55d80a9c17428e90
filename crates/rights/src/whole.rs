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
