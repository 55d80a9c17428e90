//! A bridge of flows, where all who speak about it meet: one at a time.

use super::surroundings::Surroundings;
use flow::Told;
use nodes::tables::{BridgeId, FlowBridge, FlowRow};
use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError};
use switch::{Bridge, Connection, Port};

/// See the module.
pub(super) struct Hub {
    pub(super) bridge: Bridge,
    id: BridgeId,
    around: Surroundings,
    rows: Arc<BTreeMap<u16, FlowRow>>,
    rows_differ: bool,
    is_closed: bool,
    peers: BTreeMap<u64, Peer>,
    next_peer: u64,
    next_expiry_ns: u64,
}

/// A controller.
struct Peer {
    connection: Connection,
    /// What is to be sent to it.
    out: SyncSender<Vec<u8>>,
}

/// Between two looks which flows are over.
const EXPIRY_PERIOD_NS: u64 = 250_000_000;
/// Connections of a bridge, at most.
const MOST_PEERS: usize = 64;

impl Hub {
    pub(super) fn new(id: BridgeId, name: &str, is_secure: bool, around: Surroundings) -> Self {
        let now_ns = around.clock.now_ns();
        let [high, low] = id.0.to_be_bytes();
        Self {
            bridge: Bridge::new(name, [2, 0x76, 0x6f, 0x6c, high, low], is_secure, now_ns),
            id,
            around,
            rows: Arc::default(),
            rows_differ: true,
            is_closed: false,
            peers: BTreeMap::new(),
            next_peer: 0,
            next_expiry_ns: 0,
        }
    }

    /// A new connection, which is written to by `out`; none where there are too many.
    pub(super) fn join(&mut self, out: SyncSender<Vec<u8>>) -> Option<u64> {
        if self.is_closed || self.peers.len() >= MOST_PEERS {
            return None;
        }
        self.next_peer += 1;
        let connection = Connection::new(true);
        self.peers.insert(self.next_peer, Peer { connection, out });
        Some(self.next_peer)
    }

    pub(super) fn leave(&mut self, peer: u64) {
        self.peers.remove(&peer);
    }

    /// Messages of a connection: the answers, and whether it goes on.
    pub(super) fn hear<'m>(
        &mut self,
        peer: u64,
        messages: impl Iterator<Item = &'m [u8]>,
    ) -> (Vec<Vec<u8>>, bool) {
        let now_ns = self.around.clock.now_ns();
        self.around.rows = Arc::clone(&self.rows);
        let mut answers = Vec::new();
        let Some(Peer { connection, .. }) = self.peers.get_mut(&peer) else {
            return (answers, false);
        };
        for message in messages {
            answers.extend(self.bridge.hear(connection, message, &mut self.around, now_ns));
            if connection.version().is_none() {
                return (answers, false);
            }
        }
        for (told, frame, in_port) in self.around.take_told() {
            self.told(&told, &frame, in_port);
        }
        self.settle();
        (answers, true)
    }

    pub(super) fn told(&mut self, told: &Told, frame: &[u8], in_port: u16) {
        if matches!(told, Told::Learned(_)) || self.bridge.tells_of(in_port) {
            self.bridge.told(told, frame, self.around.clock.now_ns());
        }
    }

    pub(super) fn set_port(&mut self, number: u16, port: Option<Port>) {
        self.bridge.set_port(number, port, self.around.clock.now_ns());
    }

    pub(super) fn set_rows(&mut self, rows: BTreeMap<u16, FlowRow>) {
        if *self.rows != rows {
            (self.rows, self.rows_differ) = (Arc::new(rows), true);
        }
    }

    pub(super) fn expire(&mut self) {
        let now_ns = self.around.clock.now_ns();
        if now_ns >= self.next_expiry_ns {
            self.next_expiry_ns = now_ns + EXPIRY_PERIOD_NS;
            self.bridge.expire(now_ns);
        }
    }

    /// Workers get what changed, controllers hear of it.
    pub(super) fn settle(&mut self) {
        if self.is_closed {
            return;
        }
        let snapshot = self.bridge.take_snapshot();
        if snapshot.is_some() || std::mem::take(&mut self.rows_differ) {
            let snapshot = snapshot.unwrap_or_else(|| self.bridge.snapshot().clone());
            let value = FlowBridge { snapshot, rows: Arc::clone(&self.rows) };
            self.publish(Some(value));
        }
        let events = self.bridge.take_events();
        if events.is_empty() {
            return;
        }
        for peer in self.peers.values_mut() {
            events.iter().for_each(|event| peer.connection.tell(event));
            for message in peer.connection.take_owed() {
                // Who reads too slowly misses something, and keeps nobody waiting.
                _ = peer.out.try_send(message);
            }
        }
    }

    fn publish(&self, value: Option<FlowBridge>) {
        let publisher = &self.around.publisher;
        let mut publisher = publisher.lock().unwrap_or_else(PoisonError::into_inner);
        let all = publisher.with(self.id, value);
        publisher.set(all);
    }

    /// The bridge is no more.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.peers.clear();
        self.publish(None);
    }
}
