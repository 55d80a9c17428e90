//! Who is at the other end of a Unix socket.
//!
//! `unsafe`: one question to the kernel, which no safe function asks.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// As whom this process runs.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The groups that the peer's process had beside its own one when it connected.
pub fn peer_groups(socket: impl AsFd) -> io::Result<Vec<u32>> {
    let mut groups = vec![0_u32; 32];
    loop {
        let mut bytes = size_of_val(&groups[..]) as libc::socklen_t;
        // SAFETY: so many bytes of ours are there to be written, and the socket is open.
        let code = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERGROUPS,
                groups.as_mut_ptr().cast(),
                &raw mut bytes,
            )
        };
        let count = bytes as usize / size_of::<u32>();
        if code == 0 {
            groups.truncate(count);
            return Ok(groups);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::ERANGE) || count <= groups.len() {
            return Err(error);
        }
        groups.resize(count, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn the_groups_of_a_peer_are_those_of_its_process() {
        let (one, _other) = UnixStream::pair().unwrap();
        let told = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = told.lines().find_map(|line| line.strip_prefix("Groups:")).unwrap();
        let mut own: Vec<u32> = line.split_whitespace().map(|it| it.parse().unwrap()).collect();
        let mut groups = peer_groups(&one).unwrap();
        own.sort_unstable();
        groups.sort_unstable();
        assert_eq!(groups, own);
    }
}
