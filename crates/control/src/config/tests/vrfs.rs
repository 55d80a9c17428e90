//! VRFs: who is in them, which networks and routes they have, and when they can go.

use super::super::{Config, Source, edit, parse, render};
use super::{faults, host, messages, parse_ok};

/// The same network in two VRFs, routes from one to the other.
const TWO: &str = r#"
[vrf.red]
[vrf.blue]

[port.p0]
kind = "memory"
vrf = "red"
addresses = ["192.0.2.1/24"]

[port.p1]
kind = "memory"
vrf = "blue"
addresses = ["192.0.2.1/24", "2001:db8::1/64"]

[[route]]
vrf = "red"
prefix = "10.0.0.0/8"
via = "192.0.2.9"

[[route]]
vrf = "red"
prefix = "10.1.0.0/16"
via = "192.0.2.9"
port = "p1"

[[route]]
vrf = "blue"
prefix = "10.0.0.0/8"
via_vrf = "red"

[[route]]
prefix = "10.0.0.0/8"
via_vrf = "blue"
"#;

fn run(commands: &str) -> Result<Config, String> {
    edit(&parse_ok(TWO), &Source::new("commands", commands), &host())
        .map_err(|problems| problems.to_string())
}

fn changes(commands: &str) -> Vec<String> {
    let edited = run(commands).unwrap_or_else(|problems| panic!("{problems}"));
    Config::diff(&parse_ok(TWO), &edited).iter().map(ToString::to_string).collect()
}

#[test]
fn networks_and_routes_of_two_vrfs_may_be_the_same() {
    let two = parse_ok(TWO);
    assert_eq!(two.routes.len(), 4);
    assert_eq!(parse_ok(&render(&two)), two);
    assert!(render(&two).contains("[vrf.blue]\n"), "{}", render(&two));
    let one = messages(&TWO.replace("vrf = \"blue\"\naddr", "vrf = \"red\"\naddr"));
    assert!(one[0].contains("192.0.2.0/24 on p1 overlaps 192.0.2.0/24 on p0"), "{one:?}");
}

#[test]
fn a_next_hop_is_looked_for_in_the_vrf_of_its_route_or_of_its_port() {
    let text = faults(&TWO.replace("via = \"192.0.2.9\"\n\n", "via = \"198.51.100.9\"\n\n"));
    assert!(text.contains("no port of VRF red has a network that 198.51.100.9 is in"), "{text}");
    let text = run("route add 11.0.0.0/8 via 192.0.2.9").unwrap_err();
    assert!(text.contains("no port has a network that 192.0.2.9 is in"), "{text}");
    let added = changes("route add 11.0.0.0/8 via 192.0.2.9 port p0");
    assert_eq!(added, ["+ route 11.0.0.0/8 via = { address = \"192.0.2.9\", port = \"p0\" }"]);
}

#[test]
fn routes_of_a_vrf_are_edited() {
    assert_eq!(
        changes("route add 10.2.0.0/16 via 192.0.2.8 weight 2 via 192.0.2.9 vrf blue"),
        [
            "+ route 10.2.0.0/16 vrf blue via = [{ address = \"192.0.2.8\", weight = 2 }, \"192.0.2.9\"]"
        ]
    );
    assert_eq!(
        changes("route add ::/0 via vrf default vrf red"),
        ["+ route ::/0 vrf red via_vrf = \"default\""]
    );
    assert_eq!(
        changes("route replace 10.0.0.0/8 blackhole vrf blue"),
        ["~ route 10.0.0.0/8 vrf blue: via_vrf \"red\" -> (none), blackhole (none) -> true"]
    );
    assert_eq!(
        changes("route del 10.1.0.0/16 vrf red"),
        ["- route 10.1.0.0/16 vrf red via = { address = \"192.0.2.9\", port = \"p1\" }"]
    );
    for (command, message) in [
        ("route add 10.3.0.0/16 via vrf green vrf red", "there is no VRF `green`"),
        ("route add 10.3.0.0/16 via vrf red vrf red", "the route leads back to VRF red itself"),
        ("route add 10.3.0.0/16 blackhole vrf gren", "there is no VRF `gren`"),
        ("route del 10.1.0.0/16 vrf blue", "there is no static route to 10.1.0.0/16 vrf blue"),
        ("route add 10.3.0.0/16 blackhole vrf", "a value for `vrf` is missing"),
    ] {
        let text = run(command).unwrap_err();
        assert!(text.contains(message), "{command}: {text}");
    }
}

#[test]
fn vrfs_are_added_and_ports_moved_into_them() {
    assert_eq!(
        changes("vrf add green\nport set p1 vrf green\nroute del 10.1.0.0/16 vrf red"),
        [
            "- route 10.1.0.0/16 vrf red via = { address = \"192.0.2.9\", port = \"p1\" }",
            "+ vrf green",
            "~ port p1: vrf \"blue\" -> \"green\"",
        ]
    );
    assert_eq!(
        changes("port add p2 memory vrf red\nport set p1 vrf default"),
        ["~ port p1: vrf \"blue\" -> (none)", "+ port p2 kind = \"memory\", vrf = \"red\""]
    );
}

#[test]
fn a_tunnel_begins_at_an_address_of_its_underlays_vrf() {
    let tunnel = "vxlan add vx vni 7 local 192.0.2.1 remote 192.0.2.9";
    for under in ["red", "blue"] {
        let (added, key) = (changes(&format!("{tunnel} underlay {under}")), "underlay_vrf");
        assert_eq!(added.len(), 1);
        assert!(added[0].ends_with(&format!("{key} = \"{under}\"")), "{added:?}");
    }
    let other = format!("{tunnel} underlay red\n{}", tunnel.replace("vx ", "vy "));
    assert_eq!(changes(&format!("{other} underlay blue\nport set vx vrf blue")).len(), 2);
    for (commands, message) in [
        (tunnel.to_owned(), "no port has the address 192.0.2.1"),
        (format!("{tunnel} underlay default"), "no port has the address 192.0.2.1"),
        (format!("{tunnel} underlay green"), "there is no VRF `green`"),
        (format!("{tunnel} underlay"), "a value for `underlay_vrf` is missing"),
        (format!("{other} underlay red"), "it is the same tunnel as vx"),
        (tunnel.replace("2.1", "2.7") + " underlay red", "no port of VRF red has the address"),
    ] {
        let text = run(&commands).unwrap_err();
        assert!(text.contains(message), "{commands}: {text}");
    }
}

#[test]
fn a_vrf_that_is_named_cannot_go() {
    let text = run("vrf del red").unwrap_err();
    for reason in [
        "after this, there is no VRF `red`",
        "port.p0.vrf",
        "route.10.0.0.0/8@red.vrf",
        "route.10.0.0.0/8@blue.via_vrf",
    ] {
        assert!(text.contains(reason), "{reason}: {text}");
    }
    assert!(run("vrf del green").unwrap_err().contains("there is no VRF `green`"));
    assert!(run("vrf add red").unwrap_err().contains("VRF red is there already"));
    assert!(run("vrf add default").unwrap_err().contains("the VRF of what names none"));
}

#[test]
fn a_vrf_comes_before_what_names_it_and_goes_after() {
    let old = parse_ok(TWO);
    let steps = |changes: Vec<super::super::Change>| -> Vec<String> {
        changes.iter().map(ToString::to_string).collect()
    };
    let coming = steps(Config::diff(&Config::default(), &old));
    let going = steps(Config::diff(&old, &Config::default()));
    assert!(coming[0].starts_with("+ vrf") && coming[1].starts_with("+ vrf"), "{coming:?}");
    assert!(going[going.len() - 1].starts_with("- vrf"), "{going:?}");
}

#[test]
fn a_link_is_of_its_ports_vrf_and_of_no_other() {
    let ports = "[vrf.red]\n[port.p1]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n\
                 [port.p2]\nkind = \"memory\"\nvrf = \"red\"\naddresses = [\"198.51.100.1/24\"]\n";
    let with = |route: &str| {
        let text = format!("{ports}[[route]]\nprefix = \"10.0.0.0/8\"\n{route}\n");
        parse(&Source::new("test", text), &host()).map_err(|problems| problems.to_string())
    };
    assert!(with("port = \"p1\"").is_ok());
    assert!(with("vrf = \"red\"\nport = \"p2\"").is_ok());
    assert!(with("vrf = \"red\"\nvia = { address = \"192.0.2.9\", port = \"p1\" }").is_ok());
    let refused = with("vrf = \"red\"\nport = \"p1\"").unwrap_err();
    let told = "p1 is in VRF default: hosts on its link are not those of VRF red";
    assert!(refused.contains(told) && refused.contains("via_vrf = \"default\""), "{refused}");
    let refused = with("port = \"p2\"").unwrap_err();
    assert!(refused.contains("p2 is in VRF red"), "{refused}");
}
