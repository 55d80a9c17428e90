//! CONTRIBUTING.md shows how a field and an object are added: its lines are those of the sources,
//! and
//! what it says of them is so.

use crate::config::help::{next, of_fields};
use crate::config::objects::commands;
use crate::config::{Config, Host, Source, edit, parse};

const PAGE: &str = include_str!("../../../CONTRIBUTING.md");

#[test]
fn the_lines_that_contributing_shows_stand_in_the_sources() {
    let port = include_str!("config/objects/port.rs");
    let objects = include_str!("config/objects/mod.rs");
    for (source, line) in [
        (port, "        /// Whether it tells hosts of better ways than by us"),
        (port, "        pub redirects: bool = false,"),
        (objects, "    probes: probe::Probes,"),
    ] {
        assert!(source.lines().any(|of| of == line), "{line}");
        assert!(PAGE.contains(&format!("\n+{line}\n")), "{line}");
    }
}

#[test]
fn a_declared_field_is_set_told_explained_and_completed() {
    let text = "[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n";
    let old = parse(&Source::new("test", text), &Host::any()).unwrap();
    let new = edit(&old, &Source::new("test", "port set p0 redirects"), &Host::any()).unwrap();
    let told: Vec<String> = Config::diff(&old, &new).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["~ port p0: redirects false -> true"]);
    let set = commands().iter().find(|it| (it.noun, it.verb) == ("port", "set")).unwrap();
    let help = of_fields(&(set.fields)());
    assert!(help.contains("better ways than by us [default false]"), "{help}");
    assert!(help.contains("Ethernet header [68 to 9216 bytes; default 1500]"), "{help}");
    assert!(next(&["port", "set", "p0"]).words.iter().any(|(word, _)| word == "redirects"));
}
