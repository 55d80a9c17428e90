//! Where the library listens, for the guard alone.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// See the module.
#[derive(Debug)]
pub struct Inside {
    path: PathBuf,
    /// The socket, where it has no name any more.
    _held: Option<File>,
}

impl Inside {
    /// At a path that stays.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), _held: None }
    }

    /// At a path that is taken away: whoever listens there goes on, and nobody else comes to it.
    pub fn hidden(path: &Path) -> io::Result<Self> {
        let held = held(path)?;
        std::fs::remove_file(path)?;
        Ok(Self { path: path_of(&held), _held: Some(held) })
    }

    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        UnixStream::connect(&self.path)
    }
}

/// What is at a path, a link itself, to be asked what it is and to be connected to.
pub(crate) fn held(path: &Path) -> io::Result<File> {
    let flags = libc::O_PATH | libc::O_NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// A path to it while it is held, whatever becomes of its name.
pub(crate) fn path_of(held: &File) -> PathBuf {
    format!("/proc/self/fd/{}", held.as_raw_fd()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn who_is_hidden_is_reached_and_has_no_name() {
        let path = std::env::temp_dir().join(format!("vhost-inside-{}", std::process::id()));
        assert!(Inside::hidden(&path).is_err());
        let listener = UnixListener::bind(&path).unwrap();
        let inside = Inside::hidden(&path).unwrap();
        assert!(!path.exists());
        // Another of that name is not it.
        let other = UnixListener::bind(&path).unwrap();
        other.set_nonblocking(true).unwrap();
        for _ in 0..2 {
            let _stream = inside.connect().unwrap();
            assert!(listener.accept().is_ok() && other.accept().is_err());
        }
        std::fs::remove_file(&path).unwrap();
    }
}
