//! What changes in the mailboxes of a namespace, as the kernel tells it.
//!
//! ```text
//!  kernel ── every change ──▶ socket ── look ──▶ changes; too many at once: all there is
//! ```

use crate::rtnetlink::Conversation;
use crate::{KernelError, Namespace};
use netlink::neighbor::{self, NeighborChange};
use netlink::{Kind, Messages};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use std::io;
use std::os::fd::OwnedFd;

/// The bit of RTNLGRP_NEIGH.
const NEIGHBORS: u32 = 1 << 2;
/// Room for some ten thousand changes.
const ROOM: usize = 4 << 20;
/// Reads in one look: others have their turn as well.
const MOST_READS: usize = 256;

/// What a look finds.
#[derive(Debug)]
pub enum Watched {
    /// These changes, in order.
    Changes(Vec<NeighborChange>),
    /// Some were missed: this is all there is.
    All(Vec<NeighborChange>),
}

/// See the module.
pub struct Watch {
    socket: OwnedFd,
    conversation: Conversation,
    /// Messages that could not be read.
    malformed: u64,
}

impl Watch {
    /// Begins to watch.
    pub fn open(namespace: &Namespace) -> Result<Self, KernelError> {
        let opened = namespace.run(|| {
            let (flags, family) =
                (SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, AddressFamily::NETLINK);
            let socket = rustix::net::socket_with(family, SocketType::RAW, flags, None)?;
            rustix::net::bind(&socket, &SocketAddrNetlink::new(0, NEIGHBORS))?;
            set_socket_recv_buffer_size(&socket, ROOM)?;
            Ok::<_, io::Error>((socket, Conversation::open()?))
        })?;
        let (socket, conversation) = opened.map_err(KernelError::Thread)?;
        Ok(Self { socket, conversation, malformed: 0 })
    }

    /// Messages so far that could not be read.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// What changed since the last look.
    pub fn look(&mut self) -> io::Result<Watched> {
        let (mut changes, mut bytes) = (Vec::new(), vec![0; 32 << 10]);
        for _ in 0..MOST_READS {
            match rustix::net::recv(&self.socket, &mut bytes[..], RecvFlags::empty()) {
                Ok((length, _)) => self.read(&bytes[..length.min(bytes.len())], &mut changes),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(Errno::NOBUFS) => return self.all().map(Watched::All),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Watched::Changes(changes))
    }

    /// All there is.
    pub fn all(&mut self) -> io::Result<Vec<NeighborChange>> {
        let mut all = Vec::new();
        for request in [neighbor::all_stations(), neighbor::all()] {
            let answers = self.conversation.ask(request)?;
            self.read(&answers, &mut all);
        }
        Ok(all)
    }

    fn read(&mut self, bytes: &[u8], changes: &mut Vec<NeighborChange>) {
        for message in Messages::new(bytes) {
            let is_ours = |kind| matches!(kind, Kind::NEW_NEIGHBOR | Kind::DEL_NEIGHBOR);
            match message.map(|message| (is_ours(message.kind), message)) {
                Ok((true, message)) => match neighbor::read(&message) {
                    Ok(change) => changes.extend(change),
                    Err(_) => self.malformed += 1,
                },
                Ok((false, _)) => {}
                Err(_) => self.malformed += 1,
            }
        }
    }
}
