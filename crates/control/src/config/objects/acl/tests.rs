//! Lists are read, refused, written and told.

use super::*;
use crate::config::tests::host;
use crate::config::{Source, edit, parse, render};

const LIST: &str = r#"[acl.edge]
default = "permit"

[[acl.edge.rule]]
action           = "deny"
source           = "10.0.0.0/8"
destination      = "192.0.2.0/24"
protocol         = "tcp"
source_port      = "1024-65535"
destination_port = 22
tcp_flags        = "syn !ack"
vlan             = 7
source_mac       = "02:00:00:00:00:01"

[[acl.edge.rule]]
action    = "permit"
protocol  = "icmp6"
icmp_type = 128
icmp_code = 0
"#;

fn faults(rule: &str) -> String {
    let text = format!("[acl.a]\n[[acl.a.rule]]\n{rule}\n");
    parse(&Source::new("test", text.as_str()), &host()).unwrap_err().to_string()
}

#[test]
fn a_list_is_written_as_it_was_read() {
    let config = parse(&Source::new("test", LIST), &host()).unwrap();
    assert!(render(&config).contains(LIST.trim_end()), "{}", render(&config));
    assert_eq!(config.acls.iter().next().unwrap().1.rules.len(), 2);
}

#[test]
fn rules_that_nothing_can_fit_are_refused_with_their_reason() {
    for (rule, reason) in [
        ("source = \"10.0.0.0/8\"", "`action` is missing"),
        ("action = \"allow\"", "\"permit\""),
        ("action = \"deny\"\nsource = \"10.0.0.0/8\"\ndestination = \"::/0\"", "family"),
        ("action = \"deny\"\nsource_port = \"9-1\"", "9 is above 1"),
        ("action = \"deny\"\nprotocol = \"gre\"\nsource_port = 1", "has no ports"),
        ("action = \"deny\"\nicmp_type = 8", "only ICMP"),
        ("action = \"deny\"\nprotocol = \"icmp\"\nicmp_type = 256", "a whole number from 0 to 255"),
        ("action = \"deny\"\nprotocol = \"icmp\"\nicmp_code = 1", "of no type"),
        ("action = \"deny\"\ntcp_flags = \"syn\"", "only TCP"),
        ("action = \"deny\"\nprotocol = \"tcp\"\ntcp_flags = \"syn !syn\"", "twice"),
        ("action = \"deny\"\nprotocol = \"tcp\"\ntcp_flags = \"sin\"", "not a TCP flag"),
        ("action = \"deny\"\nvlan = 4095", "not a VLAN"),
        ("action = \"deny\"\nports = 9", "unknown key"),
    ] {
        let faults = faults(rule);
        assert!(faults.contains(reason), "{rule}: {faults}");
    }
}

#[test]
fn a_port_names_a_list_that_is_there() {
    let text = format!("{LIST}[port.p0]\nkind = \"memory\"\nacl_in = \"egde\"\n");
    let faults = parse(&Source::new("test", text.as_str()), &host()).unwrap_err().to_string();
    assert!(faults.contains("there is no access list `egde`"), "{faults}");
    assert!(faults.contains("did you mean `edge`?"), "{faults}");
}

/// A list whose rule has answers come back, that a port names so.
fn reflecting(default: &str, port: &str) -> Result<crate::config::Config, String> {
    let list = format!("[acl.out]\ndefault = \"{default}\"\n[[acl.out.rule]]\n");
    let rule = "action = \"reflect\"\nsource = \"10.0.0.0/8\"\n";
    let port = format!("[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n{port}\n");
    let text = format!("{list}{rule}{port}");
    parse(&Source::new("test", text.as_str()), &host()).map_err(|problems| problems.to_string())
}

#[test]
fn a_rule_that_reflects_stands_in_a_list_that_a_port_is_held_to() {
    for port in ["acl_in = \"out\"", "acl_out = \"out\"", ""] {
        let config = reflecting("deny", port).unwrap();
        let acl = config.acls.iter().next().unwrap().1;
        assert!(acl.reflects());
        assert_eq!(acl.rules[0].to_string(), "{ action = \"reflect\", source = \"10.0.0.0/8\" }");
        let again = render(&config);
        assert_eq!(parse(&Source::new("test", again.as_str()), &host()).unwrap(), config);
    }
    let faults = reflecting("permit", "policy = \"out\"").unwrap_err();
    assert!(faults.contains("out has answers come back"), "{faults}");
    assert!(faults.contains("`acl_in` or `acl_out`"), "{faults}");
    let faults = reflecting("reflect", "").unwrap_err();
    assert!(faults.contains("connections are begun by these alone"), "{faults}");
    // Where it leads is not asked of it.
    let led = "action = \"reflect\"\nvia = \"192.0.2.9\"\nport = \"p0\"";
    assert!(self::faults(led).contains("action is not `route`"), "{}", self::faults(led));
    let (actions, rule) = edited("acl insert edge 0 reflect protocol tcp").unwrap();
    assert_eq!(actions, "reflect deny permit");
    assert_eq!(rule, "{ action = \"reflect\", protocol = \"tcp\" }");
}

#[test]
fn a_change_of_one_of_many_rules_is_seen() {
    let list = |action| Acl { default: Action::Deny, rules: vec![Rule::new(action); 9].into() };
    let (before, after) = (list(Action::Deny), list(Action::Permit));
    assert_ne!(before.fields().changes(&after.fields()), "");
}

/// The rules' actions after these commands and the first one's text, or what is wrong with them.
fn edited(commands: &str) -> Result<(String, String), String> {
    let before = parse(&Source::new("test", LIST), &host()).unwrap();
    let after = edit(&before, &Source::new("test", commands), &host());
    let after = after.map_err(|problems| problems.to_string())?;
    let rules = after.acls.iter().next().map(|(_, acl)| acl.rules.clone()).unwrap_or_default();
    let words: Vec<_> = rules.iter().map(|rule| rule.action.word()).collect();
    Ok((words.join(" "), rules.iter().next().map_or_else(String::new, ToString::to_string)))
}

#[test]
fn commands_edit_rules_by_their_numbers() {
    let actions = |commands: &str| edited(commands).unwrap().0;
    assert_eq!(actions("acl append edge deny protocol udp"), "deny permit deny");
    assert_eq!(actions("acl insert edge 0 permit vlan 5"), "permit deny permit");
    assert_eq!(actions("acl insert edge 2 deny"), "deny permit deny");
    assert_eq!(actions("acl replace edge 0 permit"), "permit permit");
    assert_eq!(actions("acl remove edge 1"), "deny");
    assert_eq!(
        actions("acl remove edge all\nacl append edge permit\nacl set edge default deny"),
        "permit"
    );
    let rule =
        "permit source 10.0.0.0/8 protocol tcp destination_port 80-443 tcp_flags \"syn !ack\"";
    let told = edited(&format!("acl replace edge 0 {rule}")).unwrap().1;
    for part in ["10.0.0.0/8", "80-443", "syn !ack"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(actions("acl del edge"), "");
}

#[test]
fn commands_that_name_what_is_not_there_say_so() {
    for (command, reason) in [
        ("acl add edge", "there already"),
        ("acl del egde", "there is no access list `egde`"),
        ("acl remove edge 2", "a number from 0 to 1"),
        ("acl insert edge 3 deny", "a number from 0 to 2"),
        ("acl append edge allow", "permit"),
        ("acl append edge deny protocol gre source_port 1", "has no ports"),
        ("acl append edge deny ports 9", "unexpected `ports`"),
        ("acl set edge permit", "default"),
    ] {
        let fault = edited(command).unwrap_err();
        assert!(fault.contains(reason), "{command}: {fault}");
    }
}
