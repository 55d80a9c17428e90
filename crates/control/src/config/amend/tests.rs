use proptest::prelude::*;

use super::super::tests::arbitrary;
use super::super::{Config, Host, edit, render};
use super::*;

/// A router's file as a person writes it.
const FILE: &str = r#"# The router of the town hall.
# Ask Anna before you change it.

[workers]
count = 1   # one core is ours

# --- Links -----------------------------------------------------

# The offices.
[port.lan]
kind      = "memory"
mtu       = 1500              # said, though it is the default
addresses = [
    "192.0.2.1/24",           # the offices themselves
    # The printers have a network of their own.
    "198.51.100.1/24",        # printers
]

# The line to the world.
[port.wan]   # by the provider
kind = 'memory'
addresses = "203.0.113.1/24"

[port.wan.qos]
kind = "htb"
default = "1:30"              # what no filter takes

[[port.wan.qos.class]]
id = "1:1"                    # the whole line
rate = "19mbit"

[[port.wan.qos.class]]
id = "1:10"                   # voice
parent = "1:1"
rate = "2mbit"

[[port.wan.qos.class]]
id = "1:30"                   # everybody else
parent = "1:1"
rate = "7mbit"

# --- Where to ---------------------------------------------------

# The world.
[[route]]
prefix = "default"
via = "203.0.113.254"
port = "wan"                  # said twice over

# A branch, behind the printers.
[[route]]
prefix = "10.2.0.0/16"
via = "198.51.100.9"

# A branch, behind the offices.
[[route]]
prefix = "10.1.0.0/16"
via = "192.0.2.9"

[acl.outside]
default = "deny"

[[acl.outside.rule]]          # the web server
action = "permit"
protocol = "tcp"
destination_port = 443

[[acl.outside.rule]]          # pings
action = "permit"
protocol = "icmp"

# Nothing below here.
"#;

fn parse_ok(text: &str) -> Config {
    parse(&Source::new("file", text), &Host::any()).unwrap_or_else(|it| panic!("{it}"))
}

/// The file after commands, as it is saved.
fn after(commands: &str) -> String {
    after_of(FILE, commands)
}

fn after_of(text: &str, commands: &str) -> String {
    let before = parse_ok(text);
    let source = Source::new("commands", commands);
    let config = edit(&before, &source, &Host::any()).unwrap_or_else(|it| panic!("{it}"));
    let saved = amend(text, &before, &config).expect("it can be written");
    assert_eq!(parse_ok(&saved), config);
    saved
}

/// Lines that went from the file, and lines that came.
fn changed(commands: &str) -> (Vec<String>, Vec<String>) {
    let saved = after(commands);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(FILE), lines(&saved));
    let mut rest = new.clone();
    let gone = old.iter().filter(|line| match rest.iter().position(|it| it == *line) {
        Some(at) => {
            rest.remove(at);
            false
        }
        None => true,
    });
    let mut gone: Vec<String> = gone.cloned().collect();
    gone.sort();
    rest.sort();
    (gone, rest)
}

#[track_caller]
fn assert_changed(commands: &str, gone: &[&str], come: &[&str]) {
    let (went, came) = changed(commands);
    assert_eq!((&went[..], &came[..]), (&to_owned(gone)[..], &to_owned(come)[..]), "{commands}");
}

fn to_owned(lines: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    lines.sort();
    lines
}

#[test]
fn a_value_changes_where_it_stands_and_its_comment_stays() {
    assert_changed(
        "port set lan mtu 1400",
        &["mtu       = 1500              # said, though it is the default"],
        &["mtu       = 1400              # said, though it is the default"],
    );
    // Which goes to the end of the classes by that.
    assert_changed("qos class wan 1:10 rate 3mbit", &["rate = \"2mbit\""], &["rate = \"3mbit\""]);
}

#[test]
fn a_value_that_comes_stands_behind_the_others_in_their_style() {
    assert_changed("port set lan redirects on", &[], &["redirects = true"]);
    assert_changed("port set wan redirects on mtu 1400", &[], &["mtu = 1400", "redirects = true"]);
    let saved = after("port set lan up off");
    assert!(saved.contains("    \"198.51.100.1/24\",        # printers\n]\nup        = false\n"));
}

#[test]
fn items_of_a_list_come_and_go_with_their_own_comments() {
    assert_changed(
        "route del 10.2.0.0/16\nport set lan addresses none addresses 192.0.2.1/24",
        &[
            "    # The printers have a network of their own.",
            "    \"198.51.100.1/24\",        # printers",
            "# A branch, behind the printers.",
            "[[route]]",
            "prefix = \"10.2.0.0/16\"",
            "via = \"198.51.100.9\"",
            "",
        ],
        &[],
    );
}

#[test]
fn rows_change_where_they_stand_whatever_their_order() {
    assert_changed(
        "route del 10.1.0.0/16\nroute add 10.1.0.0/16 via 192.0.2.8",
        &["via = \"192.0.2.9\""],
        &["via = \"192.0.2.8\""],
    );
    // Written anew: `port` was a field beside `via`, which the new way has no use for.
    let saved = after("route del default\nroute add default via 203.0.113.253");
    assert!(saved.contains(
        "# The world.\n[[route]]\nprefix = \"0.0.0.0/0\"\nvia = \"203.0.113.253\"\n\n# A branch"
    ));
}

#[test]
fn rows_go_with_the_comment_right_above_and_no_other() {
    assert_changed(
        "route del default",
        &[
            "# The world.",
            "[[route]]",
            "prefix = \"default\"",
            "via = \"203.0.113.254\"",
            "port = \"wan\"                  # said twice over",
            "",
        ],
        &[],
    );
    let saved = after("route del default");
    assert!(saved.contains(
        "# --- Where to ---------------------------------------------------\n\n# A branch"
    ));
    assert_changed(
        "acl del outside",
        &[
            "[acl.outside]",
            "default = \"deny\"",
            "",
            "[[acl.outside.rule]]          # the web server",
            "action = \"permit\"",
            "protocol = \"tcp\"",
            "destination_port = 443",
            "",
            "[[acl.outside.rule]]          # pings",
            "action = \"permit\"",
            "protocol = \"icmp\"",
            "",
        ],
        &[],
    );
}

#[test]
fn rows_that_come_stand_behind_those_of_their_kind() {
    let saved = after("route add 10.3.0.0/16 via 192.0.2.7");
    let new =
        "via = \"192.0.2.9\"\n\n[[route]]\nprefix = \"10.3.0.0/16\"\nvia    = \"192.0.2.7\"\n";
    assert!(saved.contains(&format!("{new}\n[acl.outside]\n")), "{saved}");
    let saved = after("port add dmz memory");
    let behind = "rate = \"7mbit\"\n\n[port.dmz]\nkind = \"memory\"\n\n# --- Where to";
    assert!(saved.contains(behind), "{saved}");
    let saved = after("vrf add red");
    assert!(
        saved.ends_with("protocol = \"icmp\"\n\n[vrf.red]\n\n# Nothing below here.\n"),
        "{saved}"
    );
}

#[test]
fn rules_and_classes_come_and_go_in_their_order() {
    let saved = after("acl insert outside 1 permit protocol tcp destination_port 22");
    let at = |text: &str| saved.find(text).unwrap_or_else(|| panic!("{text}: {saved}"));
    assert!(at("# the web server") < at("destination_port = 22"));
    assert!(at("destination_port = 22") < at("# pings"));
    let saved = after("acl remove outside 0");
    assert!(saved.contains("# pings") && !saved.contains("# the web server"), "{saved}");
    assert_changed(
        "qos del wan class 1:10",
        &[
            "[[port.wan.qos.class]]",
            "id = \"1:10\"                   # voice",
            "parent = \"1:1\"",
            "rate = \"2mbit\"",
            "",
        ],
        &[],
    );
}

#[test]
fn what_stands_at_the_head_of_the_file_stays_whatever_goes() {
    assert!(after("workers set count default").starts_with("# The router of the town hall.\n"));
    let text = "# The only port.\n[port.p0]\nkind = \"memory\"\n";
    assert_eq!(after_of(text, "port del p0"), "# The only port.\n");
}

#[test]
fn sections_that_come_stand_at_the_end_and_go_when_nothing_is_left() {
    let saved = after("icmp set echo off");
    assert!(saved.ends_with("\n[icmp]\necho = false\n\n# Nothing below here.\n"), "{saved}");
    let saved = after_of(&saved, "icmp set echo on");
    assert!(!saved.contains("icmp]"), "{saved}");
}

#[test]
fn inline_tables_and_dotted_keys_are_changed_as_they_are_written() {
    let text = "workers.mode = \"single-thread\"  # in one\nport.p0 = { kind = \"memory\", mtu = 1400 } # first\n\
                route = [\n  { prefix = \"10.0.0.0/8\", port = \"p1\" }, # all\n]\n\
                [port.p1]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n";
    let saved =
        after_of(text, "port set p0 mtu 1300 up off\nport set p1 addresses 198.51.100.1/24");
    let p0 = "port.p0 = { kind = \"memory\", mtu = 1300, up = false } # first\n";
    assert!(saved.contains(p0), "{saved}");
    assert!(saved.contains("addresses = [\"192.0.2.1/24\", \"198.51.100.1/24\"]\n"), "{saved}");
    let saved = after_of(text, "route add 10.1.0.0/16 blackhole");
    let all = "  { prefix = \"10.0.0.0/8\", port = \"p1\" }, # all\n  { prefix = \"10.1.0.0/16\", blackhole = true },\n]";
    assert!(saved.contains(all), "{saved}");
}

#[test]
fn every_example_keeps_its_comments() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let saved = after_of(&text, "icmp set echo off\nport add added memory mtu 1400");
        let lines: Vec<&str> = saved.lines().collect();
        let lost: Vec<_> = text.lines().filter(|line| !lines.contains(line)).collect();
        let is_echo = |line: &&str| line.starts_with("echo = true");
        assert!(lost.iter().all(is_echo), "{}: {lost:#?}", path.display());
    }
}

proptest! {
    #[test]
    fn any_change_of_any_file_is_written_and_reads_back(
        old in arbitrary::config(),
        new in arbitrary::config(),
    ) {
        let text = render(&old);
        let read = |text: &str| parse(&Source::new("saved", text), &Host::any());
        let saved = amend(&text, &old, &new);
        prop_assert!(saved.is_some(), "{}\n---\n{}", text, render(&new));
        prop_assert_eq!(read(&saved.unwrap_or_default()), Ok::<Config, _>(new));
    }
}
