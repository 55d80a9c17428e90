//! `unnumbered` of a port: it has no IPv4 address and speaks with another port's (RFC 1812 section
//! 2.2.7), as in `unnumbered = "lan0"`. Who is at its other end, routes say: with `port`, next hops
//! may have any address.

use super::Config;
use super::port::{Port, check_exists};
use super::port_name::PortName;
use crate::config::report::{Problem, Report};

/// Finds lenders that have nothing to lend, and ports that need nothing.
pub(super) fn check(name: &PortName, port: &Port, config: &Config, report: &mut Report) {
    let Some(lender) = &port.unnumbered else { return };
    let field = format!("port.{name}.unnumbered");
    check_exists(&field, lender, &config.ports, report);
    let Some(from) = config.ports.get(lender) else { return };
    let (message, expected) = if port.has_ip4() {
        (format!("{name} has an IPv4 address"), "a port without one")
    } else if !from.has_ip4() {
        (format!("{lender} has no IPv4 address"), "a port with one")
    } else if from.vrf != port.vrf {
        (format!("{lender} is in another VRF"), "a port of the same VRF")
    } else {
        return;
    };
    report.push(Problem::new(field, message).expected(expected));
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Host, Source, edit, parse, render};

    const LENDER: &str = "[port.lan]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n";

    fn with(lender: &str, own: &str) -> Result<Config, String> {
        let text = format!("{lender}[port.p1]\nkind = \"memory\"\nunnumbered = \"lan\"\n{own}");
        parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_lender_is_named_in_the_file_and_by_command() {
        let mut config = with(LENDER, "").unwrap();
        let set = |config: &mut Config, command: &str| {
            *config = edit(config, &Source::new("test", command), &Host::any()).unwrap();
            render(config)
        };
        assert!(!set(&mut config, "port set p1 unnumbered off").contains("unnumbered"));
        assert!(set(&mut config, "port set p1 unnumbered lan").contains("unnumbered = \"lan\""));
    }

    #[test]
    fn next_hops_behind_it_may_have_any_address_where_the_port_is_said() {
        let route = |via: &str| format!("[[route]]\nprefix = \"10.0.0.0/8\"\nvia = {via}\n");
        let said = "[{ address = \"198.51.100.9\", port = \"p1\" }]";
        assert_eq!(with(LENDER, &route(said)).err(), None);
        let refused = with(LENDER, &route("\"198.51.100.9\"")).unwrap_err();
        assert!(refused.contains("no port has a network that 198.51.100.9 is in"), "{refused}");
    }

    #[test]
    fn who_needs_or_has_nothing_is_told() {
        let refused = |lender: &str, own: &str| with(lender, own).unwrap_err();
        assert!(refused("", "").contains("there is no port `lan`"));
        assert!(
            refused(LENDER, "addresses = [\"198.51.100.1/24\"]").contains("p1 has an IPv4 address")
        );
        let six = LENDER.replace("192.0.2.1/24", "2001:db8::1/64");
        assert!(refused(&six, "").contains("lan has no IPv4 address"));
        let red = format!("[vrf.red]\n{LENDER}vrf = \"red\"\n");
        assert!(refused(&red, "").contains("lan is in another VRF"));
        let xconnect = "[port.p2]\nkind = \"memory\"\n[[xconnect]]\nports = [\"p1\", \"p2\"]\n";
        assert!(refused(LENDER, xconnect).contains("p1 has addresses"));
    }
}
