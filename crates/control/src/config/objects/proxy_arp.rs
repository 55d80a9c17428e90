//! `proxy_arp` of a port: networks whose addresses it answers ARP for (RFC 1027), as in `proxy_arp
//! = "10.0.0.0/8"`.

use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};

/// Finds networks that nobody asks for by ARP, and ports where nobody asks.
pub(super) fn check(port: &str, networks: &[Prefix], has_ip4: bool, report: &mut Report) {
    for (index, network) in networks.iter().enumerate() {
        if network.address().is_ipv6() {
            let problem = Problem::new(
                format!("{port}.proxy_arp[{index}]"),
                format!("{network} is not an IPv4 network"),
            );
            report.push(problem.expected("a network as in \"10.0.0.0/8\", or \"default\" for all"));
        }
    }
    if !networks.is_empty() && !has_ip4 {
        let message = "it has no IPv4 address, so no neighbours";
        let problem = Problem::new(format!("{port}.proxy_arp"), message);
        report.push(problem.expected("an IPv4 address on the port"));
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Host, Source, edit, parse, render};

    fn with(address: &str, networks: &str) -> Result<Config, String> {
        let text = format!(
            "[port.p1]\nkind = \"memory\"\naddresses = [\"{address}\"]\nproxy_arp = {networks}\n"
        );
        parse(&Source::new("test", text), &Host::any()).map_err(|error| error.to_string())
    }

    #[test]
    fn networks_are_named_in_the_file_and_by_command() {
        let mut config = with("192.0.2.1/24", "\"default\"").unwrap();
        let set = |config: &mut Config, command: &str| {
            *config = edit(config, &Source::new("test", command), &Host::any()).unwrap();
            render(config)
        };
        let more = set(&mut config, "port set p1 proxy_arp 10.0.0.0/8");
        assert!(more.contains("proxy_arp = [\"0.0.0.0/0\", \"10.0.0.0/8\"]"), "{more}");
        assert!(!set(&mut config, "port set p1 proxy_arp off").contains("proxy_arp"));
    }

    #[test]
    fn networks_that_nobody_asks_for_are_refused() {
        let refused = with("192.0.2.1/24", "[\"10.0.0.0/8\", \"2001:db8::/32\"]").unwrap_err();
        assert!(refused.contains("proxy_arp[1]") && refused.contains("not an IPv4 network"));
        let refused = with("2001:db8::1/64", "[\"10.0.0.0/8\"]").unwrap_err();
        assert!(refused.contains("it has no IPv4 address"));
    }
}
