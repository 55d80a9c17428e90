//! Tests of the configuration as a whole.

pub(crate) mod arbitrary;
mod commands;
mod declared;
mod edits;
mod ip6;
mod messages;
mod nat;
mod recursive;
mod round_trip;
pub(crate) mod schema;
mod switching;
mod typed;
mod vrfs;

pub(crate) use typed::{read, run};

use super::*;

/// A router with two routed ports and two connected ones.
pub(crate) const EXAMPLE: &str = r#"
[workers]
cores = [0]

[port.p0]
kind = "af_packet"
device = "veth0"
addresses = ["192.0.2.1/24"]

[port.p1]
kind = "tap"
device = "tap1"
mtu = 1400
addresses = ["198.51.100.1/24", "203.0.113.1/31"]

[port.a]
kind = "memif"
socket = "/run/volley/memif.sock"
role = "server"

[port.b]
kind = "memory"

[[route]]
prefix = "10.0.0.0/8"
via = "192.0.2.9"

[[route]]
prefix = "default"
via = ["192.0.2.9", { address = "198.51.100.9", weight = 3 }]

[[route]]
prefix = "10.66.0.0/16"
blackhole = true

[[neighbor]]
address = "192.0.2.9"
port = "p0"
mac = "02:00:00:00:00:09"

[[xconnect]]
ports = ["b", "a"]
"#;

pub(crate) fn host() -> Host {
    Host { cores: Some(vec![0, 1]) }
}

pub(crate) fn example() -> Config {
    parse_ok(EXAMPLE)
}

pub(crate) fn parse_ok(text: &str) -> Config {
    parse(&Source::new("router.toml", text), &host())
        .unwrap_or_else(|problems| panic!("{problems}"))
}

fn faults(text: &str) -> String {
    parse(&Source::new("router.toml", text), &host()).unwrap_err().to_string()
}

fn messages(text: &str) -> Vec<String> {
    let problems = parse(&Source::new("router.toml", text), &host()).unwrap_err();
    problems.problems.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn the_examples_are_right_and_the_reference_names_every_default() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let made = reference::text().unwrap_or_else(|problems| panic!("{problems}"));
    if std::env::var_os("VOLLEY_BLESS").is_some() {
        std::fs::write(folder.join("reference.toml"), &made).unwrap();
    }
    let mut files = 0;
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let source = Source::new(path.display().to_string(), text);
        parse(&source, &Host::any()).unwrap_or_else(|problems| panic!("{problems}"));
        files += 1;
    }
    assert!(files > 0);
    let text = std::fs::read_to_string(folder.join("reference.toml")).unwrap();
    assert_eq!(made, text, "stale: run with VOLLEY_BLESS=1");
    let reference = parse_ok(&text);
    let sections =
        (reference.workers, reference.memory, reference.api, reference.arp, reference.icmp);
    let default = Config::default();
    assert_eq!(sections, (default.workers, default.memory, default.api, default.arp, default.icmp));
}
