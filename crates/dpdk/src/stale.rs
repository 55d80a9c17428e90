//! Socket files whose process was killed: they would keep a listening port from opening.

use crate::interface_request;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Removes the socket at `path` if nobody listens there. Anything else at that path stays.
pub(crate) fn remove_socket(path: &Path) {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
    if is_socket && is_refused(path) {
        // If it fails, opening the port fails and says so.
        let _ = fs::remove_file(path);
    }
}

/// True if connecting finds nobody; of another type of socket the kernel says something else.
fn is_refused(path: &Path) -> bool {
    let Ok(socket) = interface_request::socket(libc::AF_UNIX, libc::SOCK_STREAM) else {
        return false;
    };
    // SAFETY: zeroes are a valid address.
    let mut address: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() >= address.sun_path.len() {
        return false;
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    let size = size_of::<libc::sockaddr_un>() as u32;
    // SAFETY: the address is of the size given.
    let code = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), size) };
    code != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ECONNREFUSED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_a_socket_without_a_listener_is_removed() {
        let path = std::env::temp_dir().join(format!("stale-{}", std::process::id()));
        remove_socket(&path);
        let listener = UnixListener::bind(&path).unwrap();
        remove_socket(&path);
        assert!(path.exists());
        drop(listener);
        remove_socket(&path);
        assert!(!path.exists());
        fs::write(&path, "not a socket").unwrap();
        remove_socket(&path);
        assert!(path.exists());
        fs::remove_file(&path).unwrap();
    }
}
