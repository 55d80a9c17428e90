//! The Unix socket: mode 0660, a group if asked for; a dead router's socket is replaced, a live
//! one's is not.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use axum::Router;
use thiserror::Error;
use tokio::net::{UnixListener, UnixStream};

use super::connection::{ACCEPT_PAUSE, accept_failed, serve, turned_away};
use super::places::{Full, Peer, Places};

/// Why the socket could not be had.
#[derive(Debug, Error)]
pub enum ListenError {
    /// Another router answers there.
    #[error("{} is in use by a running router", .0.display())]
    InUse(PathBuf),
    /// Something else stands there.
    #[error("{} is there and is no socket", .0.display())]
    NotASocket(PathBuf),
    /// The group is not known to the system.
    #[error("there is no group `{0}`")]
    NoSuchGroup(String),
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// A listening socket; its file goes when it goes.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl UnixSocket {
    /// Listens at `path`; members of `group` may connect.
    pub fn bind(path: &Path, group: Option<&str>) -> Result<Self, ListenError> {
        let io_error = |error| ListenError::Io { path: path.to_owned(), error };
        let group_id = group.map(group_id).transpose()?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(io_error)?;
        }
        refuse_live(path)?;
        // Made under another name, then renamed: at no time is there a socket with other rights,
        // and the dead one is replaced in one step.
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(format!(".{}", std::process::id()));
        let fresh = PathBuf::from(fresh);
        let bind = || {
            // There is none but after a crash; one that stays fails the next step, with its reason.
            drop(fs::remove_file(&fresh));
            let listener = UnixListener::bind(&fresh)?;
            fs::set_permissions(&fresh, Permissions::from_mode(0o660))?;
            if group_id.is_some() {
                chown(&fresh, None, group_id)?;
            }
            fs::rename(&fresh, path)?;
            Ok(listener)
        };
        let listener = bind().map_err(|error| {
            // There may be none yet; the error that is told is the one before.
            drop(fs::remove_file(&fresh));
            io_error(error)
        })?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Serves every connection, for ever.
    pub async fn serve(self, router: Router) {
        let places = Places::default();
        loop {
            let (stream, user) = match self.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    accept_failed(&error);
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            match places.of_known(user) {
                Ok(place) => drop(tokio::spawn(serve(stream, router.clone(), place))),
                Err(full) => {
                    turned_away(user, full);
                    say_full(&stream, full);
                }
            }
        }
    }

    async fn accept(&self) -> io::Result<(UnixStream, Peer)> {
        let (stream, _) = self.listener.accept().await?;
        let user = stream.peer_cred()?.uid();
        Ok((stream, Peer::User(user)))
    }
}

/// Answers a request before it is made. What does not fit at once is not said.
fn say_full(stream: &UnixStream, full: Full) {
    let detail = format!(
        "{{\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"{}\"}}",
        full.why()
    );
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\
         Content-Type: application/problem+json\r\nContent-Length: {}\r\n\r\n{detail}",
        detail.len()
    );
    if let Err(error) = stream.try_write(answer.as_bytes()) {
        tracing::info!(fault = "api-connection", %error, "a peer cannot be told that there is no place");
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            let path = self.path.display();
            tracing::warn!(fault = "api-socket", %path, %error, "the API's socket cannot be removed");
        }
    }
}

/// Refuses a path where someone listens, or where something else stands.
fn refuse_live(path: &Path) -> Result<(), ListenError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        return Err(ListenError::NotASocket(path.to_owned()));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Err(ListenError::InUse(path.to_owned())),
        // Nobody answers: a socket that was left behind.
        Err(_) => Ok(()),
    }
}

/// The number of a group of the system.
fn group_id(name: &str) -> Result<u32, ListenError> {
    let unknown = || ListenError::NoSuchGroup(name.to_owned());
    let path = Path::new("/etc/group");
    let groups = fs::read_to_string(path)
        .map_err(|error| ListenError::Io { path: path.to_owned(), error })?;
    let line = groups.lines().find(|line| line.split(':').next() == Some(name));
    line.and_then(|line| line.split(':').nth(2)?.parse().ok()).ok_or_else(unknown)
}
