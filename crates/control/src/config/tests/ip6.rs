//! What IPv6 adds: addresses, routes, router advertisements.

use super::{faults, messages, parse_ok};
use crate::config::objects::port_ra::Ra;
use crate::config::{Config, render};
use std::time::Duration;

const PORT: &str = "[port.p0]\nkind = \"af_packet\"\ndevice = \"veth0\"\n";

/// A port with these addresses and the rest of the file.
fn with(addresses: &str, rest: &str) -> String {
    format!("{PORT}addresses = {addresses}\n{rest}")
}

#[test]
fn a_port_that_advertises_reads_back_as_it_is_written() {
    let text = with("[\"2001:db8::1/64\"]", "[port.p0.ra]\ninterval = \"10s\"\n");
    let config = parse_ok(&text);
    let port = config.ports.iter().next().map(|(_, port)| port.clone()).unwrap();
    assert_eq!(port.ra, Some(Ra { interval: Duration::from_secs(10), ..Ra::default() }));
    let written = render(&config);
    assert!(written.contains("ra        = { interval = \"10s\" }"), "{written}");
    assert_eq!(parse_ok(&written), config);
    let plain = parse_ok(&with("[\"2001:db8::1/64\"]", "[port.p0.ra]\n"));
    assert_eq!(parse_ok(&render(&plain)), plain);
}

#[test]
fn link_local_addresses_may_stand_on_every_port() {
    let second = "[port.p1]\nkind = \"af_packet\"\ndevice = \"veth1\"\n";
    let text = with("[\"fe80::1/64\"]", second)
        + "addresses = [\"fe80::1/64\"]\n"
        + "[[route]]\nprefix = \"::/0\"\nvia = { address = \"fe80::2\", port = \"p1\" }\n"
        + "[[neighbor]]\naddress = \"fe80::2\"\nport = \"p1\"\nmac = \"02:00:00:00:00:02\"\n";
    assert_ne!(parse_ok(&text), Config::default());
}

#[test]
fn what_ipv6_does_not_allow_is_refused() {
    for (addresses, rest, told) in [
        ("[\"ff02::1/64\"]", "", "a multicast address"),
        ("[\"fe80::1/10\"]", "", "prefix length is not 64"),
        ("[\"::ffff:1.2.3.4/96\"]", "", "an IPv4 address written as IPv6"),
        ("[\"2001:db8::/64\"]", "", "anycast"),
        ("[\"2001:db8::1/64\"]", "mtu = 1279\n", "1280 or more"),
        ("[\"192.0.2.1/24\"]", "[port.p0.ra]\n", "no IPv6 address"),
        ("[\"2001:db8::1/64\"]", "[port.p0.ra]\ninterval = \"3s\"\n", "every 3s"),
        ("[\"2001:db8::1/64\"]", "[port.p0.ra]\nlifetime = \"1s\"\n", "a lifetime of 1s"),
        (
            "[]",
            "[[route]]\nprefix = \"ff00::/8\"\nblackhole = true\n",
            "not a network that can be routed to",
        ),
        ("[]", "[[route]]\nprefix = \"::/0\"\nvia = \"fe80::1\"\n", "may be on any link"),
        (
            "[\"192.0.2.1/24\"]",
            "[[route]]\nprefix = \"::/0\"\nvia = \"192.0.2.2\"\n",
            "another family",
        ),
        (
            "[\"2001:db8::1/64\"]",
            "[[route]]\nprefix = \"10.0.0.0/8\"\nvia = \"2001:db8::2\"\n",
            "a `port` with an IPv6 next hop",
        ),
        (
            "[\"192.0.2.1/24\"]",
            "[[route]]\nprefix = \"10.0.0.0/8\"\nvia = [{ address = \"fe80::2\", port = \"p0\" }]\n",
            "p0 speaks no IPv6",
        ),
    ] {
        let text = with(addresses, rest);
        assert_eq!(messages(&text).len(), 1, "{}", faults(&text));
        assert!(faults(&text).contains(told), "{}", faults(&text));
    }
}
