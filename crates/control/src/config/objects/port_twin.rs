//! `[port.NAME] twin`: the kernel has an interface of the same name, MAC address, MTU and
//! addresses, where its programs (ssh, BGP, OSPF, tcpdump) find the router's own traffic.
//!
//! ```toml
//! twin = true                             # in the router's own network namespace
//! twin = { netns = "frr", name = "eth1" } # in another one, and called differently there
//! ```

use super::netns::NetnsName;
use super::port_kind::PortKind;
use super::port_name::PortName;
use crate::config::declare::{as_field, object};
use crate::config::report::{Problem, Report};

object! {
    /// Where the twin is, and what it is called
    #[derive(Hash)]
    pub struct Twin {
        /// Its network namespace; the router's own when left out
        pub netns: Option<NetnsName> as "frr" = None,
        /// Its name there; the port's when left out
        pub name: Option<PortName> as "eth1" = None,
    }
}
as_field!(Twin);

impl Twin {
    /// What the twin of a port is called.
    pub fn name_for<'a>(&'a self, port: &'a PortName) -> &'a str {
        self.name.as_ref().unwrap_or(port).as_str()
    }

    pub(super) fn check(port: &str, kind: &PortKind, report: &mut Report) {
        let field = format!("{port}.twin");
        if let PortKind::Tap(_) = kind {
            let problem =
                Problem::new(&field, "the port's device is a tap of the kernel's already");
            report.push(problem.expected("no twin: use the device"));
        }
        if kind.is_point_to_point() {
            let message = "the port carries IP packets, not Ethernet frames";
            report.push(
                Problem::new(&field, message).expected("a port that carries Ethernet frames"),
            );
        }
        if kind.is_for_copies() {
            let message = "the port carries a mirror's copies alone";
            report.push(
                Problem::new(&field, message).expected("a port that carries Ethernet frames"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::field::Field;
    use crate::config::{Config, Host, Source, edit, parse, render};

    fn with(twin: &str) -> Result<Config, String> {
        let text = format!("[port.p1]\nkind = \"memory\"\ntwin = {twin}\n");
        parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
    }

    fn twin(config: &Config) -> Option<Twin> {
        config.ports.iter().next().unwrap().1.twin.as_deref().cloned()
    }

    #[test]
    fn a_twin_is_wanted_or_not_or_somewhere_else() {
        assert_eq!(twin(&with("false").unwrap()), None);
        assert_eq!(twin(&with("true").unwrap()), Some(Twin::default()));
        let elsewhere = twin(&with("{ netns = \"frr\", name = \"eth1\" }").unwrap()).unwrap();
        let port = PortName::from_text("p1").unwrap();
        assert_eq!((elsewhere.netns.as_deref(), elsewhere.name_for(&port)), (Some("frr"), "eth1"));
        assert!(with("7").unwrap_err().contains("`twin` is"));
        assert!(with("{ netns = \"\" }").is_err());
    }

    #[test]
    fn it_is_written_as_it_is_read_and_set_by_command() {
        let mut config = with("true").unwrap();
        assert!(render(&config).contains("twin = true"));
        let set = |config: &mut Config, command: &str| {
            *config = edit(config, &Source::new("test", command), &Host::any()).unwrap();
        };
        set(&mut config, "port set p1 twin on netns frr name eth1");
        assert!(render(&config).contains("twin = { netns = \"frr\", name = \"eth1\" }"));
        set(&mut config, "port set p1 twin off");
        assert_eq!(twin(&config), None);
    }
}
