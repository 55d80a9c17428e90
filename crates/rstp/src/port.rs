//! A port of a bridge: what it was told, and the variables of its machines (section 17.19), by the
//! standard's names.

use crate::bpdu::Configuration;
use crate::vector::{Times, Vector};

/// What is said of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortSettings {
    /// Its number in its bridge, 1 to 4095.
    pub number: u16,
    /// The lower, the sooner it is chosen: 0 to 240 by sixteens.
    pub priority: u8,
    /// What the way by it costs.
    pub path_cost: u32,
    /// Nothing but hosts is behind it, as far as is known before anything is heard.
    pub admin_edge: bool,
    /// Whether that is found out.
    pub auto_edge: bool,
    /// At most one other bridge is behind it.
    pub point_to_point: bool,
}

impl PortSettings {
    /// A port that finds out what is behind it.
    pub fn new(number: u16, path_cost: u32) -> Self {
        Self {
            number,
            priority: 128,
            path_cost,
            admin_edge: false,
            auto_edge: true,
            point_to_point: true,
        }
    }

    pub(crate) fn id(&self) -> u16 {
        u16::from(self.priority & 0xf0) << 8 | self.number & 0x0fff
    }
}

/// What a link costs, by its speed (table 17-3).
pub fn path_cost(mbps: u32) -> u32 {
    (20_000_000 / u64::from(mbps.max(1))).max(1) as u32
}

/// What a port is to the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It takes no part: its link is down.
    Disabled,
    /// It leads to the root.
    Root,
    /// It is its network's way to the root.
    Designated,
    /// It would lead to the root, too.
    Alternate,
    /// Another port of the bridge is its network's way to the root.
    Backup,
}

/// What a port does with frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing.
    Discarding,
    /// It learns stations.
    Learning,
    /// It learns, and forwards.
    Forwarding,
}

/// Where what a port knows comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InfoIs {
    Received,
    Mine,
    Aged,
    Disabled,
}

/// Whether neighbours are known to speak the rapid protocol (section 17.24).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Migration {
    CheckingRapid,
    SelectingOld,
    Sensing,
}

/// Where the machine of topology changes is (section 17.31).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Inactive,
    Learning,
    Active,
}

/// What was heard last, and is not taken in yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Heard {
    Notification,
    Configuration(Configuration),
}

/// A port. Timers are in seconds.
#[derive(Clone, Debug)]
pub struct Port {
    pub(crate) settings: PortSettings,
    pub(crate) enabled: bool,
    pub(crate) heard: Option<Heard>,

    pub(crate) info_is: InfoIs,
    pub(crate) priority: Vector,
    pub(crate) times: Times,
    pub(crate) designated: Vector,
    pub(crate) designated_times: Times,
    pub(crate) role: Role,
    pub(crate) selected_role: Role,

    pub(crate) agree: bool,
    pub(crate) agreed: bool,
    pub(crate) disputed: bool,
    pub(crate) forward: bool,
    pub(crate) forwarding: bool,
    pub(crate) learn: bool,
    pub(crate) learning: bool,
    pub(crate) new_info: bool,
    pub(crate) oper_edge: bool,
    pub(crate) proposed: bool,
    pub(crate) proposing: bool,
    pub(crate) re_root: bool,
    pub(crate) reselect: bool,
    pub(crate) selected: bool,
    pub(crate) sync: bool,
    pub(crate) synced: bool,
    pub(crate) update_info: bool,

    pub(crate) migration: Migration,
    pub(crate) mcheck: bool,
    pub(crate) send_rapid: bool,
    pub(crate) heard_rapid: bool,
    pub(crate) heard_old: bool,

    pub(crate) change: Change,
    pub(crate) flush: bool,
    pub(crate) heard_tc: bool,
    pub(crate) heard_tcn: bool,
    pub(crate) heard_tc_ack: bool,
    pub(crate) tc_ack: bool,
    pub(crate) tc_prop: bool,

    pub(crate) edge_delay_while: u8,
    pub(crate) fd_while: u8,
    pub(crate) hello_when: u8,
    pub(crate) mdelay_while: u8,
    pub(crate) rb_while: u8,
    pub(crate) heard_info_while: u8,
    pub(crate) rr_while: u8,
    pub(crate) tc_while: u8,
    pub(crate) tx_count: u8,

    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) malformed: u64,
    pub(crate) since_ns: u64,
}

impl Port {
    /// As a port begins (`BEGIN`): it takes no part.
    pub(crate) fn new(settings: PortSettings, is_rapid: bool, now_ns: u64) -> Self {
        let times = Times::default();
        Self {
            settings,
            enabled: false,
            heard: None,
            info_is: InfoIs::Disabled,
            priority: Vector::default(),
            times,
            designated: Vector::default(),
            designated_times: times,
            role: Role::Disabled,
            selected_role: Role::Disabled,
            agree: false,
            agreed: false,
            disputed: false,
            forward: false,
            forwarding: false,
            learn: false,
            learning: false,
            new_info: true,
            oper_edge: settings.admin_edge,
            proposed: false,
            proposing: false,
            re_root: true,
            reselect: true,
            selected: false,
            sync: true,
            synced: false,
            update_info: false,
            migration: Migration::CheckingRapid,
            mcheck: false,
            send_rapid: is_rapid,
            heard_rapid: false,
            heard_old: false,
            change: Change::Inactive,
            flush: false,
            heard_tc: false,
            heard_tcn: false,
            heard_tc_ack: false,
            tc_ack: false,
            tc_prop: false,
            edge_delay_while: crate::MIGRATE_S,
            fd_while: times.max_age,
            hello_when: 0,
            mdelay_while: crate::MIGRATE_S,
            rb_while: 0,
            heard_info_while: 0,
            rr_while: times.forward_delay,
            tc_while: 0,
            tx_count: 0,
            sent: 0,
            received: 0,
            malformed: 0,
            since_ns: now_ns,
        }
    }

    /// What it is to the tree.
    pub fn role(&self) -> Role {
        self.role
    }

    /// What it does with frames.
    pub fn state(&self) -> State {
        match (self.learning, self.forwarding) {
            (_, true) => State::Forwarding,
            (true, _) => State::Learning,
            _ => State::Discarding,
        }
    }

    /// Its priority and number.
    pub fn id(&self) -> u16 {
        self.settings.id()
    }

    /// What the way by it costs.
    pub fn cost(&self) -> u32 {
        self.settings.path_cost
    }

    /// What holds on its network: heard, or its own.
    pub fn vector(&self) -> Vector {
        self.priority
    }

    /// Whether nothing but hosts is behind it.
    pub fn is_edge(&self) -> bool {
        self.oper_edge
    }

    /// Whether what is behind it is spoken to in the rapid protocol.
    pub fn is_rapid(&self) -> bool {
        self.send_rapid
    }

    /// Messages sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Messages received, whatever they were.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Messages received that were none.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// Since when it is there, in nanoseconds.
    pub fn since_ns(&self) -> u64 {
        self.since_ns
    }

    /// Whether its machines may move by its role.
    pub(crate) fn is_settled(&self) -> bool {
        self.selected && !self.update_info
    }

    /// How long it waits in a state (section 17.20.5).
    pub(crate) fn forward_delay(&self) -> u8 {
        if self.send_rapid {
            self.designated_times.hello
        } else {
            self.designated_times.forward_delay
        }
    }

    /// One second went.
    pub(crate) fn tick(&mut self) {
        for timer in [
            &mut self.edge_delay_while,
            &mut self.fd_while,
            &mut self.hello_when,
            &mut self.mdelay_while,
            &mut self.rb_while,
            &mut self.heard_info_while,
            &mut self.rr_while,
            &mut self.tc_while,
            &mut self.tx_count,
        ] {
            *timer = timer.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_link_costs_less() {
        let costs = [0, 10, 100, 1_000, 10_000, 100_000, u32::MAX].map(path_cost);
        assert_eq!(costs, [20_000_000, 2_000_000, 200_000, 20_000, 2_000, 200, 1]);
        assert_eq!(PortSettings::new(7, 1).id(), 0x8007);
    }
}
