//! `[probe.NAME]`: a host that is asked again and again whether it is there.
//!
//! ```toml
//! [probe.gateway]
//! address  = "192.0.2.9"
//! interval = "10s"
//! ```

use std::net::IpAddr;
use std::time::Duration;

use super::name::name_field;
use super::vrf::{VrfName, check_exists};
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::listed::Listed;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

name_field! {
    /// A probe's name.
    ProbeName = "a probe name" of "probe"
}

object! {
    /// A host that is asked again and again whether it is there
    pub struct Probe {
        /// The host
        pub address: IpAddr as "192.0.2.9",
        /// The VRF that it is in; the default one when left out
        pub vrf: Option<VrfName> as "red" = None,
        /// Time between two questions
        pub interval: Duration as "10s" = Duration::from_secs(5),
        /// Questions without an answer before it counts as gone
        pub attempts: u16 [1..=100] = 3,
    }
}

impl Row for Probe {
    const KIND: &'static str = "probe";
}

/// Probes by name.
pub type Probes = Table<ProbeName, Probe>;

impl Listed for Probe {
    type Key = ProbeName;
}

impl Object for Probes {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        for (name, probe) in self.iter() {
            let field = |key: &str| format!("probe.{name}.{key}");
            check_exists(&field("vrf"), probe.vrf.as_ref(), &config.vrfs, report);
            if probe.address.is_multicast() {
                let message = format!("{} is a multicast address", probe.address);
                let problem = Problem::new(field("address"), message);
                report.push(problem.expected("the address of one host"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Host, Source, edit, parse, render};

    fn run(command: &str) -> Result<Config, String> {
        let edited = edit(&Config::default(), &Source::new("test", command), &Host::any());
        edited.map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_probe_is_made_by_command_and_written_as_it_reads() {
        let config = run("probe add gateway address 192.0.2.9\nprobe set gateway interval 10s");
        let text = render(config.as_ref().unwrap());
        assert_eq!(text, "[probe.gateway]\naddress  = \"192.0.2.9\"\ninterval = \"10s\"\n");
        assert_eq!(parse(&Source::new("test", text), &Host::any()).ok(), config.ok());
    }

    #[test]
    fn what_is_wrong_with_it_is_told() {
        for (command, told) in [
            ("probe add gateway", "`address` is missing"),
            ("probe add gateway address 224.0.0.1", "is a multicast address"),
            ("probe add gateway address 192.0.2.9 vrf red", "there is no VRF `red`"),
            (
                "probe add gateway address 192.0.2.9 attempts 0",
                "`attempts` is 0, which is out of range",
            ),
        ] {
            let refused = run(command).unwrap_err();
            assert!(refused.contains(told), "{refused}");
        }
    }
}
