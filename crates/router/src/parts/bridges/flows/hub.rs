//! A bridge of flows, where all who speak about it meet: one at a time.

use super::normal::Domains;
use super::outbox::Outbox;
use super::seats::{Came, Seated, room};
use super::stream::Stream;
use super::surroundings::Surroundings;
use flow::{CameBy, Told};
use nodes::interface::Exporter;
use nodes::tables::{BridgeId, FlowBridge, FlowRow, Tracking};
use openflow::message::{Role, echo};
use openflow::{Version, Versions};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use switch::{Bridge, Connection, Port, TableSettings};

/// See the module.
pub(super) struct Hub {
    pub(super) bridge: Bridge,
    id: BridgeId,
    around: Surroundings,
    rows: Arc<BTreeMap<u16, FlowRow>>,
    /// Those of them that are tunnels.
    tunnels: Arc<BTreeMap<u16, CameBy>>,
    rows_differ: bool,
    /// Connections, if its flows ask for them.
    tracking: Option<Arc<Tracking>>,
    /// Who is told of what its flows sample.
    collectors: Arc<BTreeMap<u32, Arc<Exporter>>>,
    is_closed: bool,
    /// When workers were given the last value.
    published: Option<Instant>,
    peers: BTreeMap<u64, Peer>,
    next_peer: u64,
    next_expiry_ns: u64,
    policy: Policy,
    /// Since when no controller is left.
    lost_ns: u64,
}

/// What is done while nobody tells a bridge anything.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Policy {
    /// Nothing.
    pub(super) is_secure: bool,
    /// How long a controller is waited for, in ns; none where the bridge has none.
    pub(super) patience_ns: Option<u64>,
}

/// A controller, or a tool.
struct Peer {
    connection: Connection,
    came: Came,
    /// It has said more than a greeting.
    has_spoken: bool,
    missed: u64,
    /// What is to be sent to it.
    out: Outbox,
    /// To end it.
    stream: Arc<Stream>,
}

impl Peer {
    fn is_service(&self) -> bool {
        self.came != Came::Ours
    }

    /// Gives what the connection is owed to its writer, as far as that is not behind: who reads too
    /// slowly misses something, or is told later, and keeps nobody waiting.
    fn write_owed(&mut self, bridge: &Bridge) {
        if self.connection.is_paused() && !self.connection.is_owed() && self.out.is_empty() {
            bridge.resume(&mut self.connection);
        }
        while self.connection.is_owed() && !self.out.is_behind() {
            let messages = self.connection.take_first_owed(EVENTS_AT_ONCE);
            if messages.is_empty() {
                return;
            }
            for message in messages {
                self.missed += u64::from(!self.out.offer(message));
            }
        }
    }
}

/// What came of some messages.
pub(super) struct Heard {
    /// How many were heard.
    pub(super) messages: usize,
    pub(super) answers: Vec<Vec<u8>>,
    /// The connection is not over.
    pub(super) goes_on: bool,
}

/// What is told of a controller.
pub(super) struct Seen {
    pub(super) role: Role,
    pub(super) version: Option<Version>,
    pub(super) missed: u64,
}

/// Events that are put into messages before it is looked whether the other side reads.
const EVENTS_AT_ONCE: usize = 64;
/// Between two looks which flows are over.
const EXPIRY_PERIOD_NS: u64 = 250_000_000;
/// How long what one connection says may keep the others waiting, but for its last message.
const SHARE: Duration = Duration::from_millis(1);
/// For how long workers may not have what changed, while more is said and nothing is answered: each
/// value that they are given has its own copy of what changes behind it.
const UNPUBLISHED: Duration = Duration::from_millis(20);
/// Bytes of answers that are worked out before the others have their turn.
const MOST_ANSWERS: usize = 256 * 1024;

impl Hub {
    pub(super) fn new(id: BridgeId, name: &str, policy: Policy, around: Surroundings) -> Self {
        let now_ns = around.clock.now_ns();
        let is_secure = policy.is_secure || policy.patience_ns.is_some();
        let [high, low] = id.0.to_be_bytes();
        Self {
            bridge: Bridge::new(name, [2, 0x76, 0x6f, 0x6c, high, low], is_secure, now_ns),
            id,
            around,
            rows: Arc::default(),
            tunnels: Arc::default(),
            rows_differ: true,
            tracking: None,
            collectors: Arc::default(),
            is_closed: false,
            published: None,
            peers: BTreeMap::new(),
            next_peer: 0,
            next_expiry_ns: 0,
            policy,
            lost_ns: now_ns,
        }
    }

    /// Another way to fail. Flows are nobody's any more where the first controller comes, or the
    /// last goes, or where there is none and it fails otherwise now; as in Open vSwitch.
    pub(super) fn set_policy(&mut self, policy: Policy) {
        let now_ns = self.around.clock.now_ns();
        let had = std::mem::replace(&mut self.policy, policy);
        let (has, had_any) = (policy.patience_ns.is_some(), had.patience_ns.is_some());
        if policy.is_secure || !has {
            self.bridge.set_fails_open(false, now_ns);
        }
        if has != had_any || !has && policy.is_secure != had.is_secure {
            self.bridge.flush(policy.is_secure || has, now_ns);
            self.lost_ns = now_ns;
        }
    }

    /// The number by which controllers know the bridge; its own if none is said.
    /// Whether it was another.
    pub(super) fn set_datapath(&mut self, said: Option<u64>) -> bool {
        let [high, low] = self.id.0.to_be_bytes();
        let own = [0, 0, 2, 0x76, 0x6f, 0x6c, high, low];
        let datapath = said.unwrap_or(u64::from_be_bytes(own));
        let was = self.bridge.datapath();
        self.bridge.set_datapath(datapath);
        was != datapath
    }

    /// Has tables be what is said of them.
    pub(super) fn set_tables(&mut self, tables: BTreeMap<u8, TableSettings>) {
        self.bridge.set_tables(tables, self.around.clock.now_ns());
    }

    /// Agrees to these versions and no others. Who speaks another, or was greeted with others and
    /// has not answered, has to come again.
    pub(super) fn set_versions(&mut self, versions: Versions) {
        if self.bridge.versions() == versions {
            return;
        }
        self.bridge.set_versions(versions);
        for peer in self.peers.values() {
            if !peer.connection.version().is_some_and(|it| versions.has(it)) {
                peer.out.close();
                peer.stream.end();
            }
        }
    }

    /// A new connection, which is written to by `out`; none where there are too many.
    pub(super) fn join(&mut self, out: Outbox, stream: Arc<Stream>, came: Came) -> Option<u64> {
        if self.is_closed {
            return None;
        }
        let seated = self.peers.iter().map(|(number, peer)| Seated {
            number: *number,
            came: peer.came,
            has_greeted: peer.connection.version().is_some(),
        });
        if let Some(gone) = room(&seated.collect::<Vec<_>>(), came).ok()? {
            let gone = self.peers.remove(&gone)?;
            gone.out.close();
            gone.stream.end();
        }
        self.next_peer += 1;
        let connection = Connection::new(came != Came::Ours);
        let peer = Peer { connection, came, has_spoken: false, missed: 0, out, stream };
        self.peers.insert(self.next_peer, peer);
        Some(self.next_peer)
    }

    pub(super) fn leave(&mut self, peer: u64) {
        let had = self.peers.remove(&peer);
        if had.is_some_and(|had| !had.is_service()) && !self.is_controlled() {
            self.lost_ns = self.around.clock.now_ns();
        }
        self.follow_peers();
        self.settle();
    }

    /// Whether a controller is there that has said something.
    fn is_controlled(&self) -> bool {
        self.peers.values().any(|peer| !peer.is_service() && peer.has_spoken)
    }

    fn follow_peers(&mut self) {
        let takes = self.peers.values().any(|peer| peer.connection.takes_misses());
        self.bridge.set_tells_misses(takes);
        if self.bridge.fails_open() && self.is_controlled() {
            self.bridge.set_fails_open(false, self.around.clock.now_ns());
            tracing::info!(
                event = "controller",
                bridge = self.bridge.name(),
                "is controlled again"
            );
        }
    }

    /// The question whether somebody is there; none who has not greeted can answer it.
    pub(super) fn echo(&self, peer: u64) -> Option<Vec<u8>> {
        self.peers.get(&peer)?.connection.version().map(echo)
    }

    /// Whether a connection has agreed upon a version.
    pub(super) fn has_greeted(&self, peer: u64) -> bool {
        self.peers.get(&peer).is_some_and(|peer| peer.connection.version().is_some())
    }

    /// What is known of a controller.
    pub(super) fn seen(&self, peer: u64) -> Option<Seen> {
        let peer = self.peers.get(&peer)?;
        let (role, version) = (peer.connection.role(), peer.connection.version());
        Some(Seen { role, version, missed: peer.missed + peer.connection.lost() })
    }

    /// Messages of a connection, as many as its share of time is for: how many, the answers, and
    /// whether it goes on. Workers have what came of them before an answer is given, and when the
    /// last is heard; in between when they have waited for it.
    pub(super) fn hear<'m>(
        &mut self,
        peer: u64,
        messages: impl Iterator<Item = &'m [u8]>,
    ) -> Heard {
        let mut messages = messages.peekable();
        let (now_ns, began) = (self.around.clock.now_ns(), Instant::now());
        self.around.rows = Arc::clone(&self.rows);
        self.around.collectors = Arc::clone(&self.collectors);
        let mut heard = Heard { messages: 0, answers: Vec::new(), goes_on: false };
        let Some(Peer { connection, has_spoken, .. }) = self.peers.get_mut(&peer) else {
            return heard;
        };
        let mut bytes = 0;
        for message in messages.by_ref() {
            *has_spoken |= connection.version().is_some();
            let answers = self.bridge.hear(connection, message, &mut self.around, now_ns);
            bytes += answers.iter().map(Vec::len).sum::<usize>();
            heard.messages += 1;
            heard.answers.extend(answers);
            if connection.version().is_none() {
                return heard;
            }
            if bytes >= MOST_ANSWERS || began.elapsed() >= SHARE {
                break;
            }
        }
        if connection.take_claim() {
            let generation = self.bridge.generation();
            let others = self.peers.iter_mut().filter(|(number, _)| **number != peer);
            others.for_each(|(_, other)| other.connection.demote(generation));
        }
        self.follow_peers();
        for (told, frame, in_port) in self.around.take_told() {
            self.told(&told, &frame, in_port);
        }
        let is_due = self.published.is_none_or(|last| began.duration_since(last) >= UNPUBLISHED);
        if is_due || !heard.answers.is_empty() || messages.peek().is_none() {
            self.settle();
        } else {
            self.tell_peers();
        }
        heard.goes_on = true;
        heard
    }

    /// A message of a connection that is none of the peers': the answers, and what it is told.
    pub(super) fn say(&mut self, connection: &mut Connection, message: &[u8]) -> Vec<Vec<u8>> {
        let now_ns = self.around.clock.now_ns();
        self.around.rows = Arc::clone(&self.rows);
        self.around.collectors = Arc::clone(&self.collectors);
        let mut answers = self.bridge.hear(connection, message, &mut self.around, now_ns);
        for (told, frame, in_port) in self.around.take_told() {
            self.told(&told, &frame, in_port);
        }
        answers.extend(connection.take_owed());
        self.settle();
        answers
    }

    pub(super) fn told(&mut self, told: &Told, frame: &[u8], in_port: u16) {
        if matches!(told, Told::Learned(..) | Told::Ended { .. }) || self.bridge.tells_of(in_port) {
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

    /// `NORMAL` leads elsewhere.
    pub(super) fn set_domains(&mut self, domains: Domains) {
        self.around.domains = domains;
    }

    pub(super) fn set_tunnels(&mut self, tunnels: BTreeMap<u16, CameBy>) {
        if *self.tunnels != tunnels {
            (self.tunnels, self.rows_differ) = (Arc::new(tunnels), true);
            // What was found of packets that came by another tunnel is not so any more.
            self.bridge.begin_anew();
        }
    }

    /// Others are told of what its flows sample.
    pub(super) fn set_collectors(&mut self, collectors: BTreeMap<u32, Arc<Exporter>>) {
        let had = self.collectors.iter();
        let is_same = self.collectors.len() == collectors.len()
            && had.zip(&collectors).all(|(had, new)| had.0 == new.0 && Arc::ptr_eq(had.1, new.1));
        if !is_same {
            self.bridge.set_collectors(collectors.keys().copied().collect());
            (self.collectors, self.rows_differ) = (Arc::new(collectors), true);
        }
    }

    pub(super) fn expire(&mut self) {
        let now_ns = self.around.clock.now_ns();
        if now_ns >= self.next_expiry_ns {
            self.next_expiry_ns = now_ns + EXPIRY_PERIOD_NS;
            self.bridge.expire(now_ns);
            self.fail(now_ns);
        }
    }

    /// Does what an ordinary bridge does where no controller has been there for long.
    fn fail(&mut self, now_ns: u64) {
        let is_due = |patience: u64| now_ns.saturating_sub(self.lost_ns) >= patience;
        if !self.policy.is_secure
            && self.policy.patience_ns.is_some_and(is_due)
            && !self.is_controlled()
            && !self.bridge.fails_open()
        {
            self.bridge.set_fails_open(true, now_ns);
            let bridge = self.bridge.name();
            tracing::warn!(
                fault = "openflow",
                bridge,
                "no controller is left: it forwards as an ordinary bridge"
            );
        }
    }

    pub(super) fn fails_open(&self) -> bool {
        self.bridge.fails_open()
    }

    /// Workers get what changed, controllers hear of it.
    pub(super) fn settle(&mut self) {
        if self.is_closed {
            return;
        }
        self.track();
        let snapshot = self.bridge.take_snapshot();
        if snapshot.is_some() || std::mem::take(&mut self.rows_differ) {
            let snapshot = snapshot.unwrap_or_else(|| self.bridge.snapshot());
            let (rows, tracking) = (Arc::clone(&self.rows), self.tracking.clone());
            let tunnels = Arc::clone(&self.tunnels);
            let collectors = Arc::clone(&self.collectors);
            let value = FlowBridge { snapshot, rows, tunnels, tracking, collectors };
            self.publish(Some(value));
            self.published = Some(Instant::now());
        }
        self.tell_peers();
    }

    /// Controllers hear of what happened.
    fn tell_peers(&mut self) {
        let events = self.bridge.take_events();
        for peer in self.peers.values_mut() {
            events.iter().for_each(|event| peer.connection.tell(event));
            peer.write_owed(&self.bridge);
        }
    }

    /// Has connections to track, if flows ask for that: as many as the configuration says now.
    fn track(&mut self) {
        if self.bridge.tracks() {
            let wanted = self.around.connections.wanted();
            if self.tracking.as_ref().is_none_or(|had| !Arc::ptr_eq(had, &wanted)) {
                (self.tracking, self.rows_differ) = (Some(wanted), true);
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
