//! `proxy_nd` of a port: networks whose addresses it answers neighbour discovery for (RFC 4389), as
//! in `proxy_nd = "2001:db8:2::/64"`.

use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};

/// Finds networks that nobody asks for by neighbour discovery, and ports where nobody asks.
pub(super) fn check(port: &str, networks: &[Prefix], has_ip6: bool, report: &mut Report) {
    for (index, network) in networks.iter().enumerate() {
        if network.address().is_ipv4() {
            let problem = Problem::new(
                format!("{port}.proxy_nd[{index}]"),
                format!("{network} is not an IPv6 network"),
            );
            report.push(problem.expected("a network as in \"2001:db8::/32\", or \"::/0\" for all"));
        }
    }
    if !networks.is_empty() && !has_ip6 {
        let message = "it has no IPv6 address, so no neighbours";
        let problem = Problem::new(format!("{port}.proxy_nd"), message);
        report.push(problem.expected("an IPv6 address on the port"));
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Host, Source, edit, parse, render};

    fn with(address: &str, networks: &str) -> Result<Config, String> {
        let text = format!(
            "[port.p1]\nkind = \"memory\"\naddresses = [\"{address}\"]\nproxy_nd = {networks}\n"
        );
        parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
    }

    #[test]
    fn networks_are_named_in_the_file_and_by_command() {
        let mut config = with("2001:db8::1/64", "\"2001:db8:2::/64\"").unwrap();
        let set = |config: &mut Config, command: &str| {
            *config = edit(config, &Source::new("test", command), &Host::any()).unwrap();
            render(config)
        };
        let more = set(&mut config, "port set p1 proxy_nd 2001:db8:3::/64");
        assert!(more.contains("[\"2001:db8:2::/64\", \"2001:db8:3::/64\"]"), "{more}");
        assert!(!set(&mut config, "port set p1 proxy_nd off").contains("proxy_nd"));
    }

    #[test]
    fn networks_that_nobody_asks_for_are_refused() {
        let refused = with("2001:db8::1/64", "[\"2001:db8:2::/64\", \"10.0.0.0/8\"]").unwrap_err();
        assert!(refused.contains("proxy_nd[1]") && refused.contains("not an IPv6 network"));
        let refused = with("192.0.2.1/24", "[\"2001:db8:2::/64\"]").unwrap_err();
        assert!(refused.contains("it has no IPv6 address"));
    }
}
