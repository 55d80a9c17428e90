//! Commands that edit.

use super::super::{Config, Host, Source, edit, render};
use super::{example, host};

fn run(commands: &str) -> Result<Config, String> {
    edit(&example(), &Source::new("commands", commands), &host())
        .map_err(|problems| problems.to_string())
}

/// What the commands change, as a person reads it.
fn changes(commands: &str) -> Vec<String> {
    let edited = run(commands).unwrap_or_else(|problems| panic!("{problems}"));
    Config::diff(&example(), &edited).iter().map(ToString::to_string).collect()
}

#[test]
fn routes_are_added_led_elsewhere_and_removed() {
    assert_eq!(
        changes("route add 10.1.0.0/16 via 192.0.2.9"),
        ["+ route 10.1.0.0/16 via = \"192.0.2.9\""]
    );
    assert_eq!(
        changes("route add 10.1.0.0/16 via 192.0.2.9 weight 2 via 198.51.100.9 port p1"),
        ["+ route 10.1.0.0/16 via = [{ address = \"192.0.2.9\", weight = 2 }, \
          { address = \"198.51.100.9\", port = \"p1\" }]"]
    );
    assert_eq!(changes("route add 10.1.0.0/16 port p1"), ["+ route 10.1.0.0/16 port = \"p1\""]);
    assert_eq!(
        changes("route add 10.1.0.0/16 port p1 weight 2 via 192.0.2.9"),
        ["+ route 10.1.0.0/16 via = [{ port = \"p1\", weight = 2 }, \"192.0.2.9\"]"]
    );
    let leads = ["+ route 10.1.0.0/16 vrf red via_vrf = \"default\"", "+ vrf red"];
    for words in ["via vrf default vrf red", "vrf red via_vrf default"] {
        let mut changes = changes(&format!("vrf add red\nroute add 10.1.0.0/16 {words}"));
        changes.sort();
        assert_eq!(changes, leads);
    }
    assert_eq!(changes("route add 10.0.0.0/8 via 192.0.2.9"), [""; 0]);
    assert_eq!(
        changes("route replace 10.0.0.0/8 unreachable"),
        ["~ route 10.0.0.0/8: via \"192.0.2.9\" -> (none), unreachable (none) -> true"]
    );
    assert_eq!(
        changes("route del default"),
        ["- route 0.0.0.0/0 via = [\"192.0.2.9\", { address = \"198.51.100.9\", weight = 3 }]"]
    );
}

#[test]
fn ports_addresses_neighbours_and_xconnects_are_edited() {
    assert_eq!(
        changes("port set p0 down mtu 1280"),
        ["~ port p0: up true -> false, mtu 1500 -> 1280"]
    );
    assert_eq!(changes("port set p1 up"), [""; 0]);
    assert_eq!(
        changes("port add p7 af_packet device veth7 mtu 1280 up false"),
        ["+ port p7 kind = \"af_packet\", device = \"veth7\", up = false, mtu = 1280"]
    );
    assert_eq!(
        changes("address add 172.16.0.1/24 port p0"),
        ["~ port p0: addresses [\"192.0.2.1/24\"] -> [\"192.0.2.1/24\", \"172.16.0.1/24\"]"]
    );
    assert_eq!(
        changes("neighbor del 192.0.2.9 port p0"),
        ["- neighbor 192.0.2.9 port p0 mac = \"02:00:00:00:00:09\""]
    );
    assert_eq!(changes("xconnect del b a"), ["- xconnect a b"]);
}

#[test]
fn many_commands_are_one_change_and_comments_are_skipped() {
    let lines =
        "# move the uplink\nroute del default\n\n  route add default via 198.51.100.9 # new\n";
    assert_eq!(changes(lines).len(), 1);
    assert!(run("route del default\nroute del default\n").is_err());
}

#[test]
fn a_fault_points_into_the_command_and_names_the_usage() {
    assert_eq!(
        run("xconnect del a b\nroute add 10.0.0.0/33 via 192.0.2.9\n").unwrap_err(),
        "\
error: `/33` is not a prefix length from 0 to 32
  --> commands:2:11
   |
 2 | route add 10.0.0.0/33 via 192.0.2.9
   |           ^^^^^^^^^^^
   = expected: a network, as in \"10.0.0.0/8\" or \"default\"
   = help: usage: route add PREFIX [vrf VRF] [via VIA]... [port PORT] [via_vrf VIA_VRF|default] [blackhole] [unreachable] [prohibit]
"
    );
    for (command, message) in [
        ("rotue add", "unexpected `rotue`"),
        ("route", "the command ends too early"),
        ("route addd", "unexpected `addd`"),
        ("route add", "a value for `prefix` is missing"),
        ("route add 10.0.0.0/8 to 192.0.2.9", "unexpected `to`"),
        ("route add 10.0.0.0/8 via 198.51.100.9", "10.0.0.0/8 has a route already"),
        ("route del 10.0.0.0/9", "there is no static route to 10.0.0.0/9"),
        ("port set p9 up", "there is no port `p9`"),
        ("port set p0", "the command ends too early"),
        ("port set p0 up now", "unexpected `now`"),
        ("port set p0 mtu 9", "`mtu` is 9, which is out of range"),
        ("port add p0 memory", "port p0 is there already"),
        ("port add p9 tap", "`device` is missing"),
        ("port add p9 tap device t mut 5", "unexpected `mut`"),
        ("address del 192.0.2.2/24 port p0", "port p0 has no address 192.0.2.2/24"),
        ("address add 192.0.2.1/24 port p0", "port p0 has 192.0.2.1/24 already"),
        ("xconnect add a b c", "unexpected `c`"),
        ("port set \"p0 up", "a quote is never closed"),
    ] {
        let text = run(command).unwrap_err();
        assert!(text.starts_with(&format!("error: {message}\n")), "{command}: {text}");
        assert!(text.contains("--> commands:1:"), "{command}: {text}");
    }
}

#[test]
fn a_number_that_its_type_cannot_hold_is_told_with_the_fields_range() {
    for number in ["99999", "-1", "1500b"] {
        let text = run(&format!("port set p0 mtu {number}")).unwrap_err();
        assert!(
            text.starts_with(&format!("error: `{number}` is not a value for `mtu`\n")),
            "{text}"
        );
        assert!(text.contains("   = expected: a number from 68 to 9216\n"), "{text}");
    }
}

#[test]
fn an_edit_that_breaks_something_else_is_refused_whole() {
    let text = run("port set p1 mtu 1300\nport del p0").unwrap_err();
    assert!(
        text.contains("error: after this, no port has a network that 192.0.2.9 is in"),
        "{text}"
    );
    assert!(text.contains("error: after this, there is no port `p0`"), "{text}");
    assert!(text.contains("--> commands:2:1"), "{text}");
}

#[test]
fn an_edited_configuration_can_be_written_and_read() {
    let edited = run("port add \"p 1\" memory").unwrap_err();
    assert!(edited.contains("`p 1` is not a port name"), "{edited}");
    let edited = run("port add p5 pcap rx \"a file\" repeat forever").unwrap();
    assert!(render(&edited).contains("rx     = \"a file\""), "{}", render(&edited));
    assert!(edit(&edited, &Source::new("c", ""), &Host::any()).is_ok());
}

#[test]
fn usage_lines_are_made_of_the_declared_fields() {
    let usage = |noun: &str, verb: &str| {
        let all = crate::config::objects::commands();
        all.iter().find(|it| (it.noun, it.verb) == (noun, verb)).unwrap().usage()
    };
    for ((noun, verb), words) in [
        (("address", "del"), "ADDRESS port PORT"),
        (("acl", "append"), "NAME permit|deny|route|reflect [FIELD VALUE]..."),
        (("acl", "remove"), "NAME NUMBER|all"),
        (("bridge", "bind"), "NAME ADDRESS MAC [router]"),
        (("bridge", "join"), "NAME PORT [FIELD VALUE]..."),
        (("xconnect", "add"), "PORT PORT"),
        (("icmp", "set"), "FIELD VALUE..."),
        (("route", "del"), "PREFIX [vrf VRF]"),
        (("fpm", "del"), ""),
        (
            ("mirror", "add"),
            "NAME destination DESTINATION [sources SOURCES]... [truncate TRUNCATE] [sample SAMPLE]",
        ),
    ] {
        assert_eq!(usage(noun, verb), words);
    }
    let said = "[payload frames|packets] [dscp DSCP|inherit] [ttl TTL|inherit]";
    assert!(usage("gre", "add").contains(said));
}
