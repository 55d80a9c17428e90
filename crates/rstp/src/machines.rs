//! The machines of a port (sections 17.24 to 17.31). Each is a list of what its states do when they
//! are entered, with the standard's conditions; all are tried until none moves any more.

use crate::HELLO_S;
use crate::MIGRATE_S;
use crate::bpdu::{Bpdu, Configuration, Kind, Said};
use crate::port::{Change, Heard, InfoIs, Migration, Port, Role};

/// What a port's machines look at beside the port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// Whether the bridge speaks the rapid protocol at all.
    pub(crate) is_rapid: bool,
    /// Messages that a port may send at once.
    pub(crate) hold_count: u8,
    /// All ports but the root port are synced.
    pub(crate) all_synced: bool,
    /// No other port was the root port a short while ago.
    pub(crate) re_rooted: bool,
}

/// What came of a turn of a port's machines.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Moved {
    /// Something changed: all are to be tried again.
    pub(crate) any: bool,
    /// All ports of the bridge are to be synced.
    pub(crate) sync_tree: bool,
    /// All ports of the bridge are to know that there is a new root port.
    pub(crate) re_root_tree: bool,
    /// All other ports are to tell of a change.
    pub(crate) tell_change: bool,
    /// The topology changed at this port.
    pub(crate) detected: bool,
    /// What is to be sent.
    pub(crate) send: Option<Bpdu>,
}

impl Port {
    /// Tries each machine once.
    pub(crate) fn step(&mut self, around: &Around) -> Moved {
        let mut moved = Moved::default();
        self.migrate(around, &mut moved);
        self.detect_edge(&mut moved);
        self.take_in(around, &mut moved);
        if self.is_settled() {
            self.follow_role(around, &mut moved);
        }
        self.follow_state(&mut moved);
        self.follow_changes(&mut moved);
        if self.is_settled() && self.enabled {
            self.transmit(around, &mut moved);
        }
        moved
    }

    /// Port protocol migration (section 17.24).
    fn migrate(&mut self, around: &Around, moved: &mut Moved) {
        let next = match self.migration {
            Migration::CheckingRapid if !self.enabled => {
                self.mdelay_while = MIGRATE_S;
                return;
            }
            Migration::CheckingRapid if self.mdelay_while == 0 => Migration::Sensing,
            Migration::SelectingOld if self.mdelay_while == 0 || !self.enabled || self.mcheck => {
                Migration::Sensing
            }
            Migration::Sensing
                if !self.enabled
                    || self.mcheck
                    || (around.is_rapid && !self.send_rapid && self.heard_rapid) =>
            {
                Migration::CheckingRapid
            }
            Migration::Sensing if self.send_rapid && self.heard_old => Migration::SelectingOld,
            _ => return,
        };
        moved.any = true;
        self.migration = next;
        match next {
            Migration::CheckingRapid => {
                self.mcheck = false;
                self.send_rapid = around.is_rapid;
                self.mdelay_while = MIGRATE_S;
            }
            Migration::SelectingOld => {
                self.send_rapid = false;
                self.mdelay_while = MIGRATE_S;
            }
            Migration::Sensing => (self.heard_rapid, self.heard_old) = (false, false),
        }
    }

    /// Bridge detection (section 17.25).
    fn detect_edge(&mut self, moved: &mut Moved) {
        if !self.enabled {
            self.edge_delay_while = MIGRATE_S;
        }
        let is_edge = match self.oper_edge {
            true => self.enabled || self.settings.admin_edge,
            false => {
                let silent = self.edge_delay_while == 0 && self.proposing && self.send_rapid;
                (!self.enabled && self.settings.admin_edge)
                    || (self.settings.auto_edge && silent && self.enabled)
            }
        };
        moved.any |= is_edge != self.oper_edge;
        self.oper_edge = is_edge;
    }

    /// Port information (section 17.27).
    fn take_in(&mut self, around: &Around, moved: &mut Moved) {
        if !self.enabled {
            self.heard = None;
            if self.info_is != InfoIs::Disabled {
                self.info_is = InfoIs::Disabled;
                (self.proposing, self.proposed) = (false, false);
                (self.agree, self.agreed) = (false, false);
                self.heard_info_while = 0;
                self.ask_for_roles(moved);
            }
            return;
        }
        if self.info_is == InfoIs::Disabled {
            self.info_is = InfoIs::Aged;
            self.ask_for_roles(moved);
        }
        if self.selected && self.update_info {
            (self.proposing, self.proposed) = (false, false);
            let holds = self.info_is == InfoIs::Mine && self.designated <= self.priority;
            self.agreed &= holds;
            self.synced &= self.agreed;
            (self.priority, self.times) = (self.designated, self.designated_times);
            self.update_info = false;
            self.info_is = InfoIs::Mine;
            self.new_info = true;
            moved.any = true;
        }
        if self.update_info {
            return;
        }
        if let Some(heard) = self.heard.take() {
            moved.any = true;
            match heard {
                Heard::Notification => self.heard_tcn = true,
                Heard::Configuration(told) => self.hear(&told, around, moved),
            }
        }
        // What came too far is over at once: no role is chosen by it.
        if self.info_is == InfoIs::Received && self.heard_info_while == 0 {
            self.info_is = InfoIs::Aged;
            self.ask_for_roles(moved);
        }
    }

    fn ask_for_roles(&mut self, moved: &mut Moved) {
        (self.reselect, self.selected) = (true, false);
        moved.any = true;
    }

    /// What a message is to this port (section 17.21.8), and what comes of it.
    fn hear(&mut self, told: &Configuration, around: &Around, moved: &mut Moved) {
        let times = told.times.within_bounds();
        let is_same = told.vector == self.priority;
        match told.said.role {
            Role::Designated
                if told.vector.supersedes(&self.priority) || (is_same && times != self.times) =>
            {
                (self.agreed, self.proposing) = (false, false);
                self.proposed |= told.said.proposal;
                self.note_changes(&told.said);
                self.agree &= self.info_is == InfoIs::Received && told.vector <= self.priority;
                (self.priority, self.times) = (told.vector, times);
                self.hold_info();
                self.info_is = InfoIs::Received;
                self.ask_for_roles(moved);
            }
            Role::Designated if is_same => {
                self.proposed |= told.said.proposal;
                self.note_changes(&told.said);
                self.hold_info();
            }
            // A worse one that would forward: it does not hear us.
            Role::Designated => {
                if told.said.learning {
                    (self.disputed, self.agreed) = (true, false);
                }
            }
            Role::Root | Role::Alternate | Role::Backup if told.vector >= self.priority => {
                let agrees = around.is_rapid && self.settings.point_to_point && told.said.agreement;
                self.agreed = agrees;
                self.proposing &= !agrees;
                self.note_changes(&told.said);
            }
            Role::Root | Role::Alternate | Role::Backup | Role::Disabled => {}
        }
    }

    fn note_changes(&mut self, said: &Said) {
        self.heard_tc |= said.change;
        self.heard_tc_ack |= said.acknowledged;
    }

    /// What was heard holds for three messages' time, unless it came too far (section 17.21.23).
    fn hold_info(&mut self) {
        let is_near = self.times.message_age < self.times.max_age;
        self.heard_info_while = if is_near { 3 * self.times.hello } else { 0 };
    }

    /// Port role transitions (section 17.29).
    fn follow_role(&mut self, around: &Around, moved: &mut Moved) {
        if self.role != self.selected_role {
            self.role = self.selected_role;
            moved.any = true;
            match self.role {
                Role::Root => self.rr_while = self.designated_times.forward_delay,
                Role::Designated => {}
                Role::Disabled | Role::Alternate | Role::Backup => {
                    (self.learn, self.forward) = (false, false);
                    return;
                }
            }
        }
        match self.role {
            Role::Disabled => self.be_disabled(moved),
            Role::Root => self.be_root(around, moved),
            Role::Designated => self.be_designated(moved),
            Role::Alternate | Role::Backup => self.be_blocked(around, moved),
        }
    }

    fn be_disabled(&mut self, moved: &mut Moved) {
        let wait = self.designated_times.max_age;
        if !self.learning && !self.forwarding && self.is_unsettled(wait) {
            self.rest(wait);
            moved.any = true;
        }
    }

    fn be_root(&mut self, around: &Around, moved: &mut Moved) {
        let delay = self.designated_times.forward_delay;
        if self.rr_while != delay {
            self.rr_while = delay;
        }
        if self.proposed && !self.agree {
            moved.sync_tree = true;
            self.proposed = false;
            moved.any = true;
            return;
        }
        if (around.all_synced && !self.agree) || (self.proposed && self.agree) {
            (self.proposed, self.sync) = (false, false);
            (self.agree, self.new_info) = (true, true);
            moved.any = true;
        }
        if !self.forward && !self.re_root {
            moved.re_root_tree = true;
            // Ours is among them.
            self.re_root = true;
            moved.any = true;
            return;
        }
        if self.re_root && self.forward {
            self.re_root = false;
            moved.any = true;
        }
        let at_once = around.re_rooted && self.rb_while == 0 && around.is_rapid;
        if (self.fd_while == 0 || at_once) && !self.forward {
            match self.learn {
                false => (self.learn, self.fd_while) = (true, self.forward_delay()),
                true => (self.forward, self.fd_while) = (true, 0),
            }
            moved.any = true;
        }
    }

    fn be_designated(&mut self, moved: &mut Moved) {
        if !self.forward && !self.agreed && !self.proposing && !self.oper_edge {
            self.proposing = true;
            let silent = if self.settings.point_to_point {
                MIGRATE_S
            } else {
                self.designated_times.max_age
            };
            (self.edge_delay_while, self.new_info) = (silent, true);
            moved.any = true;
        }
        let is_blocked = !self.learning && !self.forwarding;
        if ((is_blocked || self.agreed || self.oper_edge) && !self.synced)
            || (self.sync && self.synced)
        {
            (self.rr_while, self.synced, self.sync) = (0, true, false);
            moved.any = true;
        }
        if self.re_root && self.rr_while == 0 {
            self.re_root = false;
            moved.any = true;
        }
        let must_wait =
            (self.sync && !self.synced) || (self.re_root && self.rr_while != 0) || self.disputed;
        if must_wait && !self.oper_edge && (self.learn || self.forward) {
            (self.learn, self.forward, self.disputed) = (false, false, false);
            self.fd_while = self.forward_delay();
            moved.any = true;
            return;
        }
        let may = self.fd_while == 0 || self.agreed || self.oper_edge;
        if may && (self.rr_while == 0 || !self.re_root) && !self.sync && !self.forward {
            match self.learn {
                false => (self.learn, self.fd_while) = (true, self.forward_delay()),
                true => {
                    (self.forward, self.fd_while) = (true, 0);
                    self.agreed = self.send_rapid;
                }
            }
            moved.any = true;
        }
    }

    fn be_blocked(&mut self, around: &Around, moved: &mut Moved) {
        if self.learning || self.forwarding {
            return;
        }
        if self.proposed && !self.agree {
            moved.sync_tree = true;
            self.proposed = false;
            moved.any = true;
            return;
        }
        if (around.all_synced && !self.agree) || (self.proposed && self.agree) {
            self.proposed = false;
            (self.agree, self.new_info) = (true, true);
            moved.any = true;
        }
        if self.role == Role::Backup && self.rb_while != 2 * HELLO_S {
            self.rb_while = 2 * HELLO_S;
        }
        let wait = self.forward_delay();
        if self.is_unsettled(wait) {
            self.rest(wait);
            moved.any = true;
        }
    }

    /// Whether a port that forwards nothing is not as [`Self::rest`] has it. A timer that time has
    /// moved is put back without another round.
    fn is_unsettled(&mut self, wait: u8) -> bool {
        self.fd_while = wait;
        self.sync || self.re_root || !self.synced || self.rr_while != 0
    }

    fn rest(&mut self, wait: u8) {
        (self.fd_while, self.rr_while) = (wait, 0);
        (self.sync, self.re_root, self.synced) = (false, false, true);
    }

    /// Port state transition (section 17.30).
    fn follow_state(&mut self, moved: &mut Moved) {
        let (learning, forwarding) = (self.learn, self.learn && self.forward);
        moved.any |= (learning, forwarding) != (self.learning, self.forwarding);
        (self.learning, self.forwarding) = (learning, forwarding);
    }

    /// Topology change (section 17.31).
    fn follow_changes(&mut self, moved: &mut Moved) {
        let takes_part = matches!(self.role, Role::Root | Role::Designated);
        let any_heard = self.heard_tc || self.heard_tcn || self.heard_tc_ack || self.tc_prop;
        match self.change {
            Change::Inactive if self.learn => {
                self.change = Change::Learning;
                self.forget_changes();
                moved.any = true;
            }
            Change::Inactive => {}
            Change::Learning if takes_part && self.forward && !self.oper_edge => {
                self.change = Change::Active;
                self.tell_of_change();
                (moved.tell_change, moved.detected, self.new_info) = (true, true, true);
                moved.any = true;
            }
            Change::Learning if !takes_part && !self.learn && !self.learning && !any_heard => {
                self.change = Change::Inactive;
                (self.flush, self.tc_while, self.tc_ack) = (true, 0, false);
                moved.any = true;
            }
            Change::Learning => {
                moved.any |= any_heard;
                self.forget_changes();
            }
            Change::Active if !takes_part || self.oper_edge => {
                self.change = Change::Learning;
                self.forget_changes();
                moved.any = true;
            }
            Change::Active if self.heard_tcn || self.heard_tc => {
                if self.heard_tcn {
                    self.tell_of_change();
                    self.tc_ack |= self.role == Role::Designated;
                }
                (self.heard_tcn, self.heard_tc) = (false, false);
                (moved.tell_change, moved.any) = (true, true);
            }
            Change::Active if self.tc_prop => {
                self.tell_of_change();
                (self.flush, self.tc_prop) = (true, false);
                moved.any = true;
            }
            Change::Active if self.heard_tc_ack => {
                (self.tc_while, self.heard_tc_ack) = (0, false);
                moved.any = true;
            }
            Change::Active => {}
        }
    }

    fn forget_changes(&mut self) {
        (self.heard_tc, self.heard_tcn, self.heard_tc_ack) = (false, false, false);
        self.tc_prop = false;
    }

    /// For how long a change is told (section 17.21.7).
    fn tell_of_change(&mut self) {
        if self.tc_while == 0 {
            let times = self.designated_times;
            self.tc_while = match self.send_rapid {
                true => times.hello + 1,
                false => times.max_age + times.forward_delay,
            };
            self.new_info = true;
        }
    }

    /// Port transmit (section 17.26).
    fn transmit(&mut self, around: &Around, moved: &mut Moved) {
        let is_designated = self.role == Role::Designated;
        let tells_change = self.role == Role::Root && self.tc_while != 0;
        if self.hello_when == 0 {
            self.new_info |= is_designated || tells_change;
            self.hello_when = HELLO_S;
            moved.any = true;
        }
        if !self.new_info || self.tx_count >= around.hold_count {
            return;
        }
        moved.send = match (self.send_rapid, self.role) {
            (true, _) => Some(Bpdu::Configuration(self.told(Kind::Rapid))),
            (false, Role::Designated) => Some(Bpdu::Configuration(self.told(Kind::Old))),
            // Nothing else has a root port say anything in the old protocol.
            (false, Role::Root) if tells_change => Some(Bpdu::Notification),
            (false, _) => None,
        };
        self.new_info = false;
        moved.any = true;
        if moved.send.is_some() {
            self.hello_when = HELLO_S;
            self.tx_count += 1;
            self.sent += 1;
            if self.send_rapid || is_designated {
                self.tc_ack = false;
            }
        }
    }

    fn told(&self, kind: Kind) -> Configuration {
        // A message has one word for both.
        let role = if self.role == Role::Backup { Role::Alternate } else { self.role };
        let said = Said {
            role,
            change: self.tc_while != 0,
            acknowledged: self.tc_ack && kind == Kind::Old,
            proposal: self.proposing,
            agreement: self.agree,
            learning: self.learning,
            forwarding: self.forwarding,
        };
        Configuration { kind, vector: self.designated, times: self.designated_times, said }
    }
}
