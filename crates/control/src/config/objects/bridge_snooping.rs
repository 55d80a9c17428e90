//! `[bridge.NAME] snooping`: the bridge listens to who listens to which groups, by IGMP and MLD,
//! and sends each group's frames to those alone (RFC 4541).
//!
//! ```toml
//! snooping = true                                    # a router on the network asks for listeners
//! snooping = { querier = true }                      # the bridge does while no router does
//! snooping = { unknown = "routers" }                 # what nobody told of goes to routers alone
//! ```

use std::net::IpAddr;
use std::time::Duration;

use super::bridge::{Bridge, BridgeName};
use super::port_name::PortName;
use crate::config::declare::{as_field, object};
use crate::config::field::{duration_text, word_field};
use crate::config::report::{Problem, Report};

/// Shortest time between two questions, longest (RFC 3376 section 4.1.7 can say no more).
const INTERVALS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(31_744));
/// The same of answers (RFC 3376 section 4.1.1).
const RESPONSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(3174));
/// The same of ageing.
const AGEINGS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(24 * 3600));

word_field! {
    /// Where frames to groups go that nobody told of.
    Unknown {
        /// Everywhere.
        Flood = "flood",
        /// To ports behind which routers are.
        Routers = "routers",
    }
}

word_field! {
    /// Whether a router that forwards groups is behind a port, which gets all of them.
    RouterPort {
        /// If one is heard there.
        Learned = "learned",
        /// Yes.
        Always = "always",
        /// No, whatever is heard.
        Never = "never",
    }
}

object! {
    /// How a bridge listens to who listens to groups
    pub struct Snooping {
        /// Whether it asks for listeners, while nobody else does
        pub querier: bool = false,
        /// Where groups go that nobody told of
        pub unknown: Unknown = Unknown::Flood,
        /// Whether a port that leaves a group is not asked whether others behind it stay
        pub fast_leave: bool = false,
        /// Between two questions of its own
        pub interval: Duration as "60s" = Duration::from_secs(125),
        /// How long hosts may take to answer it
        pub response: Duration as "5s" = Duration::from_secs(10),
        /// How long a host listens that is not heard again; twice the interval and once the
        /// response when left out
        pub ageing: Option<Duration> as "260s" = None,
        /// Most groups that it knows, of each family
        pub groups_limit: u32 [1..=65_536] = 2048,
        /// Most of them behind one port
        pub port_limit: u32 [1..=65_536] = 1024,
    }
}
as_field!(Snooping);

object! {
    /// A group that somebody behind a port listens to and does not tell
    pub struct FixedGroup {
        /// The group
        pub group: IpAddr as "239.1.1.1",
        /// The port
        pub port: PortName as "lan1",
    }
}
as_field!(FixedGroup table);

impl Snooping {
    /// How long a host listens that is not heard again (RFC 3376 section 8.4).
    pub fn listens_for(&self) -> Duration {
        self.ageing.unwrap_or(self.interval * 2 + self.response)
    }

    /// How long who asks is remembered that is not heard again (section 8.5).
    pub fn asks_for(&self) -> Duration {
        self.interval * 2 + self.response / 2
    }
}

fn check_time(
    field: &str,
    value: Duration,
    (least, most): (Duration, Duration),
    report: &mut Report,
) {
    if !(least..=most).contains(&value) {
        let problem = Problem::new(field, format!("it is {}", duration_text(value)));
        let (least, most) = (duration_text(least), duration_text(most));
        report.push(problem.expected(format!("\"{least}\" to \"{most}\"")));
    }
}

/// Finds what is wrong with a bridge's.
pub(super) fn check(name: &BridgeName, bridge: &Bridge, report: &mut Report) {
    let field = format!("bridge.{name}.snooping");
    if let Some(snooping) = &bridge.snooping {
        check_time(&format!("{field}.interval"), snooping.interval, INTERVALS, report);
        check_time(&format!("{field}.response"), snooping.response, RESPONSES, report);
        if let Some(ageing) = snooping.ageing {
            check_time(&format!("{field}.ageing"), ageing, AGEINGS, report);
        }
        if snooping.response >= snooping.interval {
            let response = duration_text(snooping.response);
            let message = format!("hosts have {response} to answer, and are asked again before");
            let problem = Problem::new(format!("{field}.response"), message);
            report.push(problem.expected("less than `interval`"));
        }
    }
    for (index, fixed) in bridge.groups.iter().enumerate() {
        let field = format!("bridge.{name}.groups[{index}]");
        let FixedGroup { group, port } = fixed;
        if bridge.snooping.is_none() {
            let message = format!("{name} does not know who listens to groups");
            report.push(Problem::new(&field, message).expected("`groups` with `snooping`"));
        }
        if !group.is_multicast() {
            let problem = Problem::new(&field, format!("{group} is not the address of a group"));
            report.push(problem.expected("224.0.0.0 to 239.255.255.255, or of ff00::/8"));
        }
        if bridge.member(port).is_none() {
            let problem = Problem::new(&field, format!("{port} is not in bridge {name}"));
            report.push(problem.expected("a port of the bridge"));
        }
        if bridge.groups[..index].contains(fixed) {
            let message = format!("{group} behind {port} is listed twice");
            report.push(Problem::new(&field, message).expected("each once"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Host, Source, edit, parse, render};

    const PORTS: &str = "port.p1 = { kind = \"memory\" }\nport.p2 = { kind = \"memory\" }\nport.p3 = { kind = \"memory\" }\n";

    fn with(bridge: &str) -> Result<Config, String> {
        let text = format!("{PORTS}bridge.lan = {bridge}\n");
        parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_bridge_listens_with_the_times_of_the_rfc() {
        let config = with("{ ports = [\"p1\"], snooping = true }").unwrap();
        let lan = config.bridges.iter().next().unwrap().1;
        let snooping = lan.snooping.as_deref().unwrap();
        assert_eq!(snooping.listens_for(), Duration::from_secs(260));
        assert_eq!(snooping.asks_for(), Duration::from_secs(255));
        assert!(render(&config).contains("snooping = true"), "{}", render(&config));
        assert_eq!(
            with("{ ports = [\"p1\"] }").unwrap().bridges.iter().next().unwrap().1.snooping,
            None
        );
    }

    #[test]
    fn what_cannot_be_is_told_with_its_value() {
        for (bridge, told) in [
            ("{ ports = [\"p1\"], snooping = { interval = \"500ms\" } }", "it is 500ms"),
            ("{ ports = [\"p1\"], snooping = { response = \"125s\" } }", "hosts have"),
            ("{ ports = [\"p1\"], snooping = { ageing = \"0s\" } }", "it is 0"),
            (
                "{ ports = [\"p1\"], groups = [{ group = \"239.1.1.1\", port = \"p1\" }] }",
                "does not know",
            ),
            (
                "{ ports = [\"p1\"], snooping = true, groups = [{ group = \"10.1.1.1\", port = \"p1\" }] }",
                "10.1.1.1 is not the address of a group",
            ),
            (
                "{ ports = [\"p1\"], snooping = true, groups = [{ group = \"239.1.1.1\", port = \"p2\" }] }",
                "p2 is not in bridge lan",
            ),
            (
                "{ ports = [\"p1\"], snooping = true, groups = [{ group = \"ff0e::1\", port = \"p1\" }, { group = \"ff0e::1\", port = \"p1\" }] }",
                "listed twice",
            ),
        ] {
            let report = with(bridge).unwrap_err();
            assert!(report.contains(told), "{report}");
        }
    }

    #[test]
    fn commands_say_it_too() {
        let mut config = with("{ ports = [\"p1\", \"p2\"] }").unwrap();
        for command in [
            "bridge set lan snooping on querier true unknown routers",
            "bridge set lan groups 239.1.1.1 p1",
            "bridge join lan p2 multicast_router always fast_leave true",
        ] {
            config = edit(&config, &Source::new("test", command), &Host::any()).unwrap();
        }
        let text = render(&config);
        assert!(text.contains("snooping = { querier = true, unknown = \"routers\" }"), "{text}");
        assert!(text.contains("multicast_router = \"always\""), "{text}");
        assert!(text.contains("= [{ group = \"239.1.1.1\", port = \"p1\" }]"), "{text}");
        let again = parse(&Source::new("test", text), &Host::any()).unwrap();
        assert_eq!(again.bridges, config.bridges);
    }
}
