//! `bond`: several ports that are one (IEEE 802.1AX).
//!
//! ```text
//!  b0 ─┬─ p1    active-backup   one carries, the others stand by
//!      └─ p2    balance-xor     all that are up carry, each flow by one; the other end is told by hand
//!               balance-slb     all that are up carry, each station by one; the other end need not know
//!               802.3ad         as balance-xor, and both ends agree by LACP which do
//! ```

use std::ops::RangeInclusive;
use std::time::Duration;

use super::super::port_name::PortName;
use super::kind::Kind;
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::report::{Problem, Report};

word_field! {
    /// Which members carry.
    BondMode {
        /// One, the others stand by.
        ActiveBackup = "active-backup",
        /// All that are up.
        BalanceXor = "balance-xor",
        /// All that are up, each station by one of them: the other end need not know of the bond.
        BalanceSlb = "balance-slb",
        /// Those of which both ends agree.
        Lacp = "802.3ad",
    }
}

word_field! {
    /// What frames have in common that leave by one member.
    BondHash {
        /// Their stations and ethertype.
        Layer2 = "layer2",
        /// Their addresses and ports.
        Layer34 = "layer3+4",
    }
}

word_field! {
    /// Whether link aggregation control is spoken to who does not speak.
    LacpActivity {
        /// It is.
        Active = "active",
        /// It is not.
        Passive = "passive",
    }
}

word_field! {
    /// How often the other end is asked to speak.
    LacpRate {
        /// Every 30 seconds.
        Slow = "slow",
        /// Every second.
        Fast = "fast",
    }
}

/// For how long a link may be otherwise than it counts.
const MOST_DELAY: Duration = Duration::from_secs(300);

/// Between two looks at what members carry.
const REBALANCES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);

/// Members of one bond.
const MOST_MEMBERS: usize = 16;

object! {
    /// Several ports that are one
    pub struct Bond {
        /// The ports that it is made of: they carry nothing else
        pub members: Vec<PortName> as "eth0,eth1" = Vec::new(),
        /// Which of them carry
        pub mode: BondMode as "802.3ad" = BondMode::Lacp,
        /// What frames have in common that leave by one member; in balance-slb always their station
        pub hash: BondHash as "layer3+4" = BondHash::Layer34,
        /// Members that must carry, or its link is down
        pub min_links: u16 [1..=MOST_MEMBERS as u16] = 1,
        /// The member that carries while it is up, in active-backup; the first that was up else
        pub primary: Option<PortName> as "eth0" = None,
        /// Whether LACP is spoken to who does not speak it first
        pub lacp: LacpActivity as "active" = LacpActivity::Active,
        /// How often the other end is asked to speak LACP: every 30 s, or every second
        pub lacp_rate: LacpRate as "slow" = LacpRate::Slow,
        /// Whether one member carries, as in active-backup, while the other end speaks no LACP
        pub fallback: bool = false,
        /// For how long the link of a member is up before it counts, while others carry
        pub up_delay: Duration as "200ms" = Duration::ZERO,
        /// For how long it is down before that counts
        pub down_delay: Duration as "50ms" = Duration::ZERO,
        /// How often stations of members that carry much are given to members that carry little, in
        /// balance-slb; never if 0
        pub rebalance: Duration = Duration::from_secs(10),
        /// Its priority among the two ends, the lower the better
        pub system_priority: u16 = 32_768,
        /// Tells it from other bonds of the router; a number of its own when left out
        pub key: Option<u16> as "7" [1..=u16::MAX] = None,
    }
    by { "member": members }
}

impl Kind for Bond {
    fn is_virtual(&self) -> bool {
        true
    }

    fn is_trunk(&self) -> bool {
        true
    }

    fn check(&self, port: &str, report: &mut Report) {
        let mut refuse = |key: &str, message: String, expected: String| {
            report.push(Problem::new(format!("{port}.{key}"), message).expected(expected));
        };
        let count = self.members.len();
        if !(1..=MOST_MEMBERS).contains(&count) {
            let message = format!("a bond of {count} ports");
            refuse("members", message, format!("1 to {MOST_MEMBERS} ports"));
        }
        if usize::from(self.min_links) > count && count > 0 {
            let message =
                format!("`min_links` is {}, and there are {count} members", self.min_links);
            refuse("min_links", message, format!("at most {count}"));
        }
        if self.mode == BondMode::ActiveBackup && self.min_links > 1 {
            let message = format!("`min_links` is {}, and one member carries", self.min_links);
            refuse("min_links", message, "1 in active-backup".to_owned());
        }
        if self.fallback && self.mode != BondMode::Lacp {
            let message = format!(
                "`fallback` is for an end that speaks no LACP, and {} speaks none",
                self.mode.word()
            );
            refuse("fallback", message, "mode = \"802.3ad\"".to_owned());
        }
        for (key, delay) in [("up_delay", self.up_delay), ("down_delay", self.down_delay)] {
            if delay > MOST_DELAY {
                let message = format!("`{key}` is {delay:?}");
                refuse(key, message, format!("at most {MOST_DELAY:?}"));
            }
        }
        if !self.rebalance.is_zero() && !REBALANCES.contains(&self.rebalance) {
            let message = format!("`rebalance` is {:?}", self.rebalance);
            refuse("rebalance", message, "\"0s\", or \"1s\" to \"1h\"".to_owned());
        }
        let Some(primary) = &self.primary else { return };
        if !self.members.contains(primary) {
            let message = format!("{primary} is none of its members");
            refuse("primary", message, "one of `members`".to_owned());
        } else if self.mode != BondMode::ActiveBackup {
            let message =
                format!("`primary` names the one that carries, and in {} all do", self.mode.word());
            refuse("primary", message, "mode = \"active-backup\"".to_owned());
        }
    }
}
