//! The socket, and the file with our number by which it is found.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::{FlockOperation, fcntl_lock};

use super::Known;
use super::command::{self, Asked};
use super::rpc::Held;
use crate::client::Client;

/// The program in whose place we are: `ovs-appctl` looks for it when nothing is said.
const NAME: &str = "ovs-vswitchd";
/// Connections at a time.
const MOST: usize = 16;
/// How long one may say nothing, or read nothing.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the router may take for what a command asks of it.
const ROUTER: Duration = Duration::from_secs(20);

/// The socket; it and the file go with this.
pub(in crate::ovs) struct Socket {
    files: [PathBuf; 2],
    /// As long as it is open and locked, the number in it is believed.
    _number: File,
}

impl Socket {
    /// Listens.
    pub(in crate::ovs) fn open(
        folder: &Path,
        router: &Path,
        known: &Arc<Mutex<Known>>,
    ) -> Result<Self, String> {
        let of =
            |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let number = folder.join(format!("{NAME}.pid"));
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&number)
            .map_err(|error| of(&number, &error))?;
        fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| of(&number, &"another has it locked: is ovs-vswitchd running?"))?;
        let path = folder.join(format!("{NAME}.{}.ctl", std::process::id()));
        // Of one of our number that died.
        _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).map_err(|error| of(&path, &error))?;
        let only_ours = fs::Permissions::from_mode(0o700);
        fs::set_permissions(&path, only_ours).map_err(|error| of(&path, &error))?;
        file.set_len(0)
            .and_then(|()| file.write_all(format!("{}\n", std::process::id()).as_bytes()))
            .map_err(|error| of(&number, &error))?;
        let (router, known) = (router.to_owned(), Arc::clone(known));
        std::thread::Builder::new()
            .name("appctl".to_owned())
            .spawn(move || listen(&listener, &router, &known))
            .map_err(|error| format!("a thread for {}: {error}", path.display()))?;
        Ok(Self { files: [number, path], _number: file })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.files.iter().for_each(|file| _ = fs::remove_file(file));
    }
}

fn listen(listener: &UnixListener, router: &Path, known: &Arc<Mutex<Known>>) {
    let count = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        if count.fetch_add(1, Ordering::Relaxed) >= MOST {
            count.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (router, known, counted) = (router.to_owned(), Arc::clone(known), Arc::clone(&count));
        let serve = move || {
            // Whichever way it ends: the connection is over.
            _ = serve(stream, &router, &known);
            counted.fetch_sub(1, Ordering::Relaxed);
        };
        if std::thread::Builder::new().name("appctl-one".to_owned()).spawn(serve).is_err() {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn serve(mut stream: UnixStream, router: &Path, known: &Mutex<Known>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let client = Client::new(router).map_err(|error| io::Error::other(error.to_string()))?;
    let client = client.with_patience(ROUTER);
    let (mut held, mut chunk) = (Held::default(), [0; 4096]);
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        for request in held.take(&chunk[..count]).map_err(io::Error::other)? {
            let asked = Asked { client: &client, known, words: &request.words };
            stream.write_all(&request.answer(command::run(&request.method, &asked)))?;
        }
    }
}
