//! Translations: what is refused, and the commands that edit them.

use super::super::objects::connections::Connections;
use super::super::objects::nat::Nat;
use super::super::{Host, Source, edit, parse, render};
use super::messages;

const PORTS: &str = r#"
[vrf.red]
[port]
lan = { kind = "memory", addresses = ["10.0.1.1/24"] }
guests = { kind = "memory", addresses = ["10.0.2.1/24"] }
uplink = { kind = "memory", addresses = ["203.0.113.2/30"] }
bare = { kind = "memory" }
other = { kind = "memory", vrf = "red", addresses = ["10.0.3.1/24"] }
"#;

/// What is wrong with a translation of these fields.
fn wrong(fields: &str) -> Vec<String> {
    messages(&format!("{PORTS}[nat.home]\n{fields}"))
}

#[test]
fn what_a_translation_cannot_be_is_told() {
    for (fields, message) in [
        ("outside = \"nobody\"\ninside = [\"lan\"]", "there is no port `nobody`"),
        ("outside = \"uplink\"", "no port is inside"),
        ("outside = \"uplink\"\ninside = [\"uplink\"]", "uplink is the port outside"),
        ("outside = \"uplink\"\ninside = [\"lan\", \"lan\"]", "lan is listed twice"),
        (
            "outside = \"uplink\"\ninside = [\"other\"]",
            "other is in another VRF than the port outside",
        ),
        ("outside = \"bare\"\ninside = [\"lan\"]", "bare has no IPv4 address to translate to"),
    ] {
        assert_eq!(wrong(fields), [message], "{fields}");
    }
    let good = "outside = \"uplink\"\ninside = [\"lan\"]\n";
    for (more, message) in [
        ("pool = [\"203.0.113.9-203.0.113.8\"]", "203.0.113.9-203.0.113.8 ends before it begins"),
        ("pool = [\"192.0.2.1-192.0.2.9\", \"192.0.2.5\"]", "192.0.2.5 is there already"),
        ("pool = [\"10.0.0.0-10.255.255.255\"]", "16777216 addresses"),
        ("pool = [\"224.0.0.1\"]", "224.0.0.1 is no host's"),
        ("ports = \"9-5\"", "ports 9 to 5"),
        (
            "forward = [{ protocol = \"tcp\", port = \"80-90\", to = \"10.0.1.9\", to_port = 65530 }]",
            "its last port inside is 65540",
        ),
        (
            "forward = [{ protocol = \"tcp\", port = 80, to = \"10.0.1.9\" }, \
             { protocol = \"tcp\", port = \"70-90\", to = \"10.0.1.8\" }]",
            "tcp port 70 is forwarded to 10.0.1.9 already",
        ),
        ("nat64 = \"10.0.0.0/8\"", "10.0.0.0/8 is a network of IPv4"),
        ("nat64 = \"2001:db8::/80\"", "2001:db8::/80 has another length"),
        ("nat64 = \"2001:db8:0:0:100::/96\"", "2001:db8:0:0:100::/96 has bits 64 to 71 set"),
        ("nat64 = \"ff05::/96\"", "ff05::/96 is of groups"),
    ] {
        assert_eq!(wrong(&format!("{good}{more}")), [message], "{more}");
    }
    let twice = format!(
        "{good}[nat.second]\noutside = \"bare\"\ninside = [\"lan\"]\npool = [\"192.0.2.1\"]"
    );
    assert_eq!(wrong(&twice), ["lan is in nat home already"]);
}

#[test]
fn a_timeout_is_of_whole_seconds() {
    let of = |timeout: &str| messages(&format!("[connections]\nudp = {timeout:?}\n"));
    assert_eq!(of("1500ms"), ["1.5 s"]);
    assert_eq!(of("0s"), ["0 s"]);
    assert_eq!(messages("[connections]\nmax = 3\n").len(), 1);
}

#[test]
fn commands_make_what_a_file_says() {
    let said = format!(
        "{PORTS}[nat.home]\noutside = \"uplink\"\ninside = [\"lan\", \"guests\"]\n\
         pool = [\"203.0.113.8-203.0.113.15\"]\nopen = true\nnat64 = \"64:ff9b::/96\"\n\
         forward = [{{ protocol = \"udp\", port = \"5000-5010\", to = \"10.0.1.9\" }}]\n\
         [connections]\nmax = 1000\n"
    );
    let read = |text: &str| parse(&Source::new("router.toml", text), &Host::any()).unwrap();
    let commands = "nat add home outside uplink inside lan,guests pool 203.0.113.8-203.0.113.15 open\n\
                    nat set home forward udp 5000-5010 10.0.1.9\n\
                    nat set home nat64 64:ff9b::/96\n\
                    connections set max 1000\n";
    let made = edit(&read(PORTS), &Source::new("commands", commands), &Host::any());
    let made = made.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(made, read(&said), "{}", render(&made));
    assert_eq!(read(&render(&made)), made);
    let without = "nat del home\nconnections set max default\n";
    let gone = edit(&made, &Source::new("commands", without), &Host::any()).unwrap();
    assert_eq!(gone, read(PORTS));
    assert_eq!(Connections::default().max, 262_144);
    assert!(!Nat::new(made.ports.iter().next().unwrap().0.clone()).open);
}
