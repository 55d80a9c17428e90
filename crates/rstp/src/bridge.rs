//! A bridge: its ports, and their machines run until none moves any more.

use crate::SECOND;
use crate::bpdu::{Bpdu, Kind};
use crate::machines::Around;
use crate::port::{Heard, Port, PortSettings};
use crate::vector::{BridgeId, Times, Vector};
use std::collections::BTreeMap;

/// Seconds that are made up for at once, when nobody has let time pass for longer: what was heard
/// has aged by then.
const MOST_BEHIND: u64 = 60;

/// Rounds of the machines after one event. A handful do; whatever is said, there are no more.
const MOST_ROUNDS: usize = 1000;

/// What is said of a bridge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Its address.
    pub address: [u8; 6],
    /// The lower, the sooner it is the root: 0 to 61440 by steps of 4096.
    pub priority: u16,
    /// Through how many bridges what the root says is believed: 6 to 40.
    pub max_age_s: u8,
    /// How long a port waits in each state, where nobody agrees to more: 4 to 30.
    pub forward_delay_s: u8,
    /// Messages that a port may send in a second: 1 to 10.
    pub hold_count: u8,
    /// Whether it speaks the rapid protocol; else the old one alone.
    pub is_rapid: bool,
}

impl Settings {
    /// A bridge as the standard has it.
    pub fn new(address: [u8; 6]) -> Self {
        Self {
            address,
            priority: 0x8000,
            max_age_s: 20,
            forward_delay_s: 15,
            hold_count: 6,
            is_rapid: true,
        }
    }
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A message leaves by a port.
    Send(u16, Bpdu),
    /// The stations behind a port are forgotten.
    Flush(u16),
}

/// See the module. Ports are known by a key that the caller chooses.
#[derive(Clone, Debug)]
pub struct Bridge {
    settings: Settings,
    pub(crate) ports: BTreeMap<u16, Port>,
    pub(crate) root: Vector,
    pub(crate) root_port: Option<u16>,
    pub(crate) root_times: Times,
    pub(crate) root_changes: u64,
    /// Roles are to be chosen anew, whatever the ports say.
    pub(crate) reselect: bool,
    now_ns: u64,
    next_tick_ns: u64,
    actions: Vec<Action>,
    changes: u64,
    changed_ns: u64,
}

impl Bridge {
    /// A bridge without ports, which is its own root.
    pub fn new(settings: Settings, now_ns: u64) -> Self {
        let own = BridgeId::new(settings.priority, settings.address);
        let mut bridge = Self {
            settings,
            ports: BTreeMap::new(),
            root: Vector { root: own, cost: 0, bridge: own, port: 0 },
            root_port: None,
            root_times: Times::default(),
            root_changes: 0,
            reselect: true,
            now_ns,
            next_tick_ns: now_ns + SECOND,
            actions: Vec::new(),
            changes: 0,
            changed_ns: now_ns,
        };
        bridge.root_times = bridge.own_times();
        bridge
    }

    /// Its identifier.
    pub fn id(&self) -> BridgeId {
        BridgeId::new(self.settings.priority, self.settings.address)
    }

    /// The root, what the way there costs, and by whom and which of its ports it leads.
    pub fn root(&self) -> Vector {
        self.root
    }

    /// The port that leads to the root; none where it is the root itself.
    pub fn root_port(&self) -> Option<u16> {
        self.root_port
    }

    /// The times that hold.
    pub fn times(&self) -> Times {
        self.root_times
    }

    /// What is said of it.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How often the topology changed at one of its ports, and when it did last.
    pub fn changes(&self) -> (u64, u64) {
        (self.changes, self.changed_ns)
    }

    /// How often another bridge became the root, or another port led there.
    pub fn root_changes(&self) -> u64 {
        self.root_changes
    }

    /// Its ports.
    pub fn ports(&self) -> impl Iterator<Item = (u16, &Port)> {
        self.ports.iter().map(|(&key, port)| (key, port))
    }

    /// One of them.
    pub fn port(&self, key: u16) -> Option<&Port> {
        self.ports.get(&key)
    }

    /// When time has something to do next.
    pub fn next_due_ns(&self) -> u64 {
        self.next_tick_ns
    }

    pub(crate) fn own_times(&self) -> Times {
        let Settings { max_age_s: max_age, forward_delay_s: forward_delay, .. } = self.settings;
        Times { message_age: 0, max_age, hello: crate::HELLO_S, forward_delay }
    }

    /// Changes what is said of it. With another protocol all begins anew (section 17.13.4).
    pub fn set(&mut self, settings: Settings) {
        if settings == self.settings {
            return;
        }
        let begins_anew = settings.is_rapid != self.settings.is_rapid;
        (self.settings, self.reselect) = (settings, true);
        for (&key, port) in &mut self.ports {
            if begins_anew {
                let mut fresh = Port::new(port.settings, settings.is_rapid, self.now_ns);
                fresh.enabled = port.enabled;
                *port = fresh;
                self.actions.push(Action::Flush(key));
            }
            (port.reselect, port.selected) = (true, false);
        }
        self.settle();
    }

    /// A port is there, and its link is up or not.
    pub fn set_port(&mut self, key: u16, settings: PortSettings, enabled: bool) {
        let (is_rapid, now_ns) = (self.settings.is_rapid, self.now_ns);
        let is_new = !self.ports.contains_key(&key);
        let port = self.ports.entry(key).or_insert_with(|| Port::new(settings, is_rapid, now_ns));
        if !is_new && (port.settings, port.enabled) == (settings, enabled) {
            return;
        }
        (port.settings, port.enabled) = (settings, enabled);
        (port.reselect, port.selected) = (true, false);
        self.settle();
    }

    /// A port is there no more.
    pub fn remove_port(&mut self, key: u16) {
        if self.ports.remove(&key).is_some() {
            self.reselect = true;
            self.settle();
        }
    }

    /// Whether the rapid protocol is spoken at a port is found out anew (section 17.19.13).
    pub fn check_protocol(&mut self, key: u16) {
        if let Some(port) = self.ports.get_mut(&key).filter(|_| self.settings.is_rapid) {
            port.mcheck = true;
            self.settle();
        }
    }

    /// A frame to the group of spanning tree protocols came in by a port.
    pub fn receive_frame(&mut self, key: u16, frame: &[u8]) {
        match Bpdu::read_frame(frame) {
            Ok(bpdu) => self.receive(key, &bpdu),
            Err(_) => {
                if let Some(port) = self.ports.get_mut(&key) {
                    port.received += 1;
                    port.malformed += 1;
                }
            }
        }
    }

    /// A message came in by a port (section 17.23).
    pub fn receive(&mut self, key: u16, bpdu: &Bpdu) {
        let own = self.id();
        let Some(port) = self.ports.get_mut(&key) else { return };
        port.received += 1;
        let kind = match bpdu {
            Bpdu::Notification => Kind::Old,
            Bpdu::Configuration(told) => told.kind,
        };
        let is_own_echo = matches!(bpdu, Bpdu::Configuration(told)
            if told.vector.bridge == own && told.vector.port == port.id());
        if !port.enabled || is_own_echo {
            return;
        }
        match kind {
            Kind::Rapid => port.heard_rapid = true,
            Kind::Old => port.heard_old = true,
        }
        port.oper_edge = false;
        port.edge_delay_while = crate::MIGRATE_S;
        port.heard = Some(match bpdu {
            Bpdu::Notification => Heard::Notification,
            Bpdu::Configuration(told) => Heard::Configuration(*told),
        });
        self.settle();
    }

    /// Lets time pass.
    pub fn turn(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        if self.now_ns < self.next_tick_ns {
            return;
        }
        let behind = (self.now_ns - self.next_tick_ns) / SECOND + 1;
        self.next_tick_ns += behind * SECOND;
        for _ in 0..behind.min(MOST_BEHIND) {
            self.ports.values_mut().for_each(Port::tick);
            self.settle();
        }
    }

    /// What is to be done, in order.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// Runs all machines until none moves any more.
    fn settle(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let mut moved = self.select_roles();
            let keys: Vec<u16> = self.ports.keys().copied().collect();
            for key in keys {
                moved |= self.step(key);
            }
            if !moved {
                break;
            }
        }
    }

    /// Tries the machines of one port; whether any moved.
    fn step(&mut self, key: u16) -> bool {
        let around = self.around(key);
        let Some(port) = self.ports.get_mut(&key) else { return false };
        let moved = port.step(&around);
        if std::mem::take(&mut port.flush) {
            self.actions.push(Action::Flush(key));
        }
        if let Some(bpdu) = moved.send {
            self.actions.push(Action::Send(key, bpdu));
        }
        if moved.detected {
            (self.changes, self.changed_ns) = (self.changes + 1, self.now_ns);
        }
        for (&other, port) in &mut self.ports {
            port.sync |= moved.sync_tree;
            port.re_root |= moved.re_root_tree;
            port.tc_prop |= moved.tell_change && other != key;
        }
        moved.any
    }

    fn around(&self, key: u16) -> Around {
        let others = || self.ports.iter().filter(|(other, _)| **other != key);
        let is_synced =
            |port: &Port| port.selected && port.role == port.selected_role && port.synced;
        let is_root = |other: &u16| self.root_port == Some(*other);
        Around {
            is_rapid: self.settings.is_rapid,
            hold_count: self.settings.hold_count,
            all_synced: self.ports.iter().all(|(other, port)| is_root(other) || is_synced(port)),
            re_rooted: others().all(|(_, port)| port.rr_while == 0),
        }
    }
}
