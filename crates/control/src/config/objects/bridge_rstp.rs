//! `[bridge.NAME] rstp`: the bridge is part of a spanning tree (IEEE 802.1D-2004 clause 17).
//!
//! ```toml
//! rstp = true                                        # with the standard's values
//! rstp = { priority = 4096 }                         # it is the root where no other has less
//! rstp = { version = "stp" }                         # among bridges that know the old protocol alone
//! ```

use std::time::Duration;

use wire::MacAddr;

use super::bridge::{Bridge, BridgeName, Bridges, Member};
use crate::config::declare::{as_field, object};
use crate::config::field::{duration_text, word_field};
use crate::config::listed::check_exists;
use crate::config::report::{Problem, Report};

/// Priorities of bridges go by these (section 17.14), those of ports by the other.
const PRIORITY_STEP: u16 = 4096;
const PORT_PRIORITY_STEP: u8 = 16;
/// Table 17-1.
const MAX_AGES: std::ops::RangeInclusive<u64> = 6..=40;
const FORWARD_DELAYS: std::ops::RangeInclusive<u64> = 4..=30;

word_field! {
    /// Which protocol a bridge speaks.
    RstpVersion {
        /// The rapid one, and the old one with neighbours that know no other.
        Rstp = "rstp",
        /// The old one alone.
        Stp = "stp",
    }
}

object! {
    /// How a bridge takes part in a spanning tree
    pub struct Rstp {
        /// Which protocol it speaks
        pub version: RstpVersion = RstpVersion::Rstp,
        /// The lower, the sooner it is the root, by steps of 4096
        pub priority: u16 [0..=61_440] = 32_768,
        /// By which address others know it; its own port's, or the lowest of its ports' when left
        /// out
        pub address: Option<MacAddr> as "02:00:00:00:00:01" = None,
        /// How long a port waits in each state, where no neighbour agrees to less; of the root
        pub forward_delay: Duration as "4s" = Duration::from_secs(15),
        /// Through how many bridges, a second each, what the root says is believed; of the root
        pub max_age: Duration as "10s" = Duration::from_secs(20),
        /// Most messages that a port sends in a second
        pub hold_count: u8 [1..=10] = 6,
    }
}
as_field!(Rstp);

/// Finds what is wrong with a bridge's.
pub(super) fn check(name: &BridgeName, bridge: &Bridge, all: &Bridges, report: &mut Report) {
    if let Some(rstp) = &bridge.rstp {
        rstp.check(&format!("bridge.{name}.rstp"), report);
    }
    if let Some(of) = &bridge.tree {
        let field = format!("bridge.{name}.tree");
        check_exists(&field, of, all, report);
        let is_another = all.get(of).is_some_and(|other| of == name || other.tree.is_some());
        if bridge.rstp.is_some() || is_another {
            let message = format!("{name} cannot be part of the tree of {of}");
            let problem = Problem::new(field, message);
            report.push(problem.expected("another bridge with a tree of its own, and none here"));
        }
    }
    for (index, member) in bridge.ports.iter().enumerate() {
        let field = format!("bridge.{name}.ports[{index}]");
        if member.port_priority % PORT_PRIORITY_STEP != 0 {
            let message = format!("{} is no multiple of 16", member.port_priority);
            let problem = Problem::new(format!("{field}.port_priority"), message);
            report.push(problem.expected("0, 16, 32, … 240"));
        }
        let same = |other: &Member| {
            member.port_number.is_some() && other.port_number == member.port_number
        };
        if let (Some(number), true) = (member.port_number, bridge.ports[..index].iter().any(same)) {
            let message = format!("the number {number} is another port's");
            let problem = Problem::new(format!("{field}.port_number"), message);
            report.push(problem.expected("each number once"));
        }
    }
}

impl Rstp {
    fn check(&self, field: &str, report: &mut Report) {
        if !self.priority.is_multiple_of(PRIORITY_STEP) {
            let message = format!("{} is no multiple of 4096", self.priority);
            let problem = Problem::new(format!("{field}.priority"), message);
            report.push(problem.expected("0, 4096, 8192, … 61440"));
        }
        if let Some(address) = self.address.filter(|it| !it.is_unicast()) {
            let message = format!("{address} is not the address of one station");
            let problem = Problem::new(format!("{field}.address"), message);
            report.push(problem.expected("the address of one station"));
        }
        for (what, time, allowed) in [
            ("forward_delay", self.forward_delay, FORWARD_DELAYS),
            ("max_age", self.max_age, MAX_AGES),
        ] {
            if !allowed.contains(&time.as_secs()) || time.subsec_nanos() != 0 {
                let problem = Problem::new(
                    format!("{field}.{what}"),
                    format!("it is {}", duration_text(time)),
                );
                let (least, most) = (allowed.start(), allowed.end());
                report.push(problem.expected(format!("whole seconds, {least} to {most}")));
            }
        }
        // Section 17.14: news of the root is gone everywhere before a port forwards.
        let forwards = 2 * self.forward_delay.as_secs().saturating_sub(1);
        if self.max_age.as_secs() > forwards {
            let (age, delay) = (duration_text(self.max_age), duration_text(self.forward_delay));
            let message = format!("{age} are too long for a `forward_delay` of {delay}");
            let problem = Problem::new(format!("{field}.max_age"), message);
            report.push(problem.expected("at most twice a second less than `forward_delay`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Host, Source, edit, parse, render};

    const PORTS: &str = "port.p1 = { kind = \"memory\" }\nport.p2 = { kind = \"memory\" }\n";

    fn with(bridge: &str) -> Result<Config, String> {
        let text = format!("{PORTS}bridge.lan = {bridge}\n");
        parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_is_told_with_its_value() {
        for (bridge, told) in [
            ("{ ports = [\"p1\"], rstp = { priority = 100 } }", "100 is no multiple of 4096"),
            ("{ ports = [\"p1\"], rstp = { forward_delay = \"3s\" } }", "it is 3s"),
            ("{ ports = [\"p1\"], rstp = { max_age = \"6500ms\" } }", "it is 6500ms"),
            ("{ ports = [\"p1\"], rstp = { max_age = \"29s\" } }", "too long"),
            ("{ ports = [\"p1\"], rstp = { address = \"01:00:00:00:00:01\" } }", "one station"),
            ("{ ports = [{ port = \"p1\", port_priority = 17 }] }", "17 is no multiple of 16"),
            (
                "{ ports = [{ port = \"p1\", port_number = 5 }, { port = \"p2\", port_number = 5 }] }",
                "the number 5 is another port's",
            ),
        ] {
            let report = with(bridge).unwrap_err();
            assert!(report.contains(told), "{report}");
        }
    }

    #[test]
    fn ports_of_a_bridge_may_be_part_of_the_tree_of_another() {
        let two = |vlan: &str| {
            let vlan = format!("bridge.vlan = {{ ports = [\"p2\"], {vlan} }}\n");
            with(&format!("{{ ports = [\"p1\"], rstp = true }}\n{vlan}"))
        };
        assert!(two("tree = \"lan\"").is_ok());
        assert!(two("tree = \"none\"").unwrap_err().contains("there is no bridge `none`"));
        let told = "vlan cannot be part of the tree of";
        assert!(two("tree = \"lan\", rstp = true").unwrap_err().contains(told));
        assert!(two("tree = \"vlan\"").unwrap_err().contains(told));
    }

    #[test]
    fn commands_say_it_too_and_take_it_away() {
        let mut config = with("{ ports = [\"p1\", \"p2\"] }").unwrap();
        let run = |config: &Config, command: &str| {
            edit(config, &Source::new("test", command), &Host::any()).unwrap()
        };
        for command in [
            "bridge set lan rstp on priority 4096 version stp",
            "bridge join lan p2 path_cost 200 port_priority 16 admin_edge true",
        ] {
            config = run(&config, command);
        }
        let text = render(&config);
        assert!(text.contains("= { version = \"stp\", priority = 4096 }"), "{text}");
        assert!(text.contains("path_cost = 200, port_priority = 16, admin_edge = true"), "{text}");
        let again = parse(&Source::new("test", text), &Host::any()).unwrap();
        assert_eq!(again.bridges, config.bridges);
        config = run(&config, "bridge set lan rstp off");
        assert_eq!(config.bridges.iter().next().unwrap().1.rstp, None);
    }
}
