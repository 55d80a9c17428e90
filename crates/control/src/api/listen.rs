//! The Unix socket: for groups if asked for; a dead router's socket is replaced, a live one's is
//! not.
//!
//! ```text
//!  one group at most   mode 0660: the kernel lets nobody else in
//!  several             mode 0666: we ask the kernel which groups the peer's process is in
//! ```

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::http::StatusCode;
use thiserror::Error;
use tokio::net::{UnixListener, UnixStream};

use super::connection::{ACCEPT_PAUSE, accept_failed, serve, turned_away};
use super::places::{Full, Peer, Places};
use super::problem::refuse;
use super::right::UNKNOWN;
use crate::config::objects::api::Api;
use crate::view::Right;

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
    listener: std::os::unix::net::UnixListener,
    path: PathBuf,
    groups: Groups,
}

/// The groups of the system whose members may something.
#[derive(Clone, Debug, Default)]
struct Groups(Vec<(u32, Right)>);

impl Groups {
    fn of(api: &Api) -> Result<Self, ListenError> {
        let all = [
            (&api.see_group, Right::See),
            (&api.group, Right::Change),
            (&api.files_group, Right::Files),
        ];
        let named = all.into_iter().filter_map(|(name, right)| Some((name.as_ref()?, right)));
        let numbered = named.map(|(name, right)| Ok((group_id(name)?, right)));
        numbered.collect::<Result<_, ListenError>>().map(Self)
    }

    /// The one that may connect, where it is one.
    fn only(&self) -> Option<u32> {
        let (first, _) = self.0.first()?;
        self.0.iter().all(|(group, _)| group == first).then_some(*first)
    }

    /// What a user in these groups may.
    fn right_of(&self, user: u32, groups: &[u32]) -> Option<Right> {
        if user == 0 || user == rights::own_user() {
            return Some(Right::All);
        }
        let of_theirs = self.0.iter().filter(|(group, _)| groups.contains(group));
        of_theirs.map(|(_, right)| *right).max()
    }
}

impl UnixSocket {
    /// Listens at `path`; members of the groups may connect. Takes no runtime: who starts it gives
    /// rights up before there are threads.
    pub fn bind(path: &Path, api: &Api) -> Result<Self, ListenError> {
        let io_error = |error| ListenError::Io { path: path.to_owned(), error };
        let groups = Groups::of(api)?;
        let is_for_all = !groups.0.is_empty() && groups.only().is_none();
        let mode = if is_for_all { 0o666 } else { 0o660 };
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
            let listener = std::os::unix::net::UnixListener::bind(&fresh)?;
            listener.set_nonblocking(true)?;
            fs::set_permissions(&fresh, Permissions::from_mode(0o600))?;
            if let Some(group) = groups.only() {
                chown(&fresh, None, Some(group))?;
            }
            fs::set_permissions(&fresh, Permissions::from_mode(mode))?;
            fs::rename(&fresh, path)?;
            Ok(listener)
        };
        let listener = bind().map_err(|error| {
            // There may be none yet; the error that is told is the one before.
            drop(fs::remove_file(&fresh));
            io_error(error)
        })?;
        Ok(Self { listener, path: path.to_owned(), groups })
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Serves every connection, for ever.
    pub async fn serve(self, router: Router) {
        let listener = self.listener.try_clone().and_then(UnixListener::from_std);
        let listener = match listener {
            Ok(listener) => listener,
            Err(error) => {
                tracing::error!(fault = "api-socket", %error, "the API's socket cannot be waited for");
                return;
            }
        };
        let places = Places::default();
        let strangers = Router::new().fallback(async || refuse(StatusCode::FORBIDDEN, UNKNOWN));
        loop {
            let (stream, user, right) = match self.accept(&listener).await {
                Ok(accepted) => accepted,
                Err(error) => {
                    accept_failed(&error);
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            // Strangers take no place of those who may.
            let (place, router) = match right {
                Some(_) => (places.of_known(user), router.clone()),
                None => {
                    tracing::warn!(fault = "api-stranger", peer = %user, "a peer of the API is refused: it is in no group that may");
                    (places.of_unknown(user, Instant::now()), strangers.clone())
                }
            };
            match place {
                Ok(place) => {
                    let task = tokio::spawn(serve(stream, router, Arc::clone(&place), right));
                    place.is_served_by(task.abort_handle());
                }
                Err(full) => {
                    turned_away(user, full);
                    say_full(&stream, full);
                }
            }
        }
    }

    async fn accept(
        &self,
        listener: &UnixListener,
    ) -> io::Result<(UnixStream, Peer, Option<Right>)> {
        let (stream, _) = listener.accept().await?;
        let peer = stream.peer_cred()?;
        let mut groups = rights::peer_groups(&stream)?;
        groups.push(peer.gid());
        let right = self.groups.right_of(peer.uid(), &groups);
        Ok((stream, Peer::User(peer.uid()), right))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_may_all_and_others_what_the_best_of_their_groups_may() {
        let groups = Groups(vec![(10, Right::See), (20, Right::Change), (30, Right::Files)]);
        let stranger = 4_000_000_000;
        assert_eq!(groups.right_of(0, &[]), Some(Right::All));
        assert_eq!(groups.right_of(rights::own_user(), &[]), Some(Right::All));
        for (in_groups, right) in [
            (&[5, 10][..], Some(Right::See)),
            (&[20, 10], Some(Right::Change)),
            (&[10, 20, 30], Some(Right::Files)),
            (&[5], None),
            (&[], None),
        ] {
            assert_eq!(groups.right_of(stranger, in_groups), right, "{in_groups:?}");
        }
        assert_eq!(groups.only(), None);
        assert_eq!(Groups(vec![(10, Right::See), (10, Right::Files)]).only(), Some(10));
        assert_eq!(Groups::default().right_of(stranger, &[0, 10]), None);
    }
}
