//! Controllers by the database, and what those over TLS are shown.

use super::*;

/// A bridge with this controller, where the database has this row SSL.
fn with(target: &str, ssl: Option<Value>) -> Wanted {
    let mut all = rows(&[]);
    let controller = json!({ "target": target, "max_backoff": 2500, "inactivity_probe": 0 });
    all.update(&json!({ "Controller": { "c": { "new": controller } } })).unwrap();
    let bridge = json!({ "name": "br0", "controller": ["uuid", "c"] });
    all.update(&json!({ "Bridge": { BRIDGE: { "new": bridge } } })).unwrap();
    if let Some(ssl) = ssl {
        let root = json!({ "bridges": ["uuid", BRIDGE], "ssl": ["uuid", "s"] });
        all.update(&json!({ "SSL": { "s": { "new": ssl } } })).unwrap();
        all.update(&json!({ "Open_vSwitch": { "r": { "new": root } } })).unwrap();
    }
    asked(&all)
}

fn files() -> Value {
    let (key, certificate) = ("/etc/openvswitch/sc-privkey.pem", "/etc/openvswitch/sc-cert.pem");
    json!({
        "private_key": key, "certificate": certificate, "ca_cert": "/etc/openvswitch/cacert.pem",
        "bootstrap_ca_cert": false,
    })
}

#[test]
fn controllers_over_tls_are_shown_what_the_one_row_of_the_database_says() {
    let keys = " private_key /etc/openvswitch/sc-privkey.pem \
                certificate /etc/openvswitch/sc-cert.pem ca_cert /etc/openvswitch/cacert.pem";
    let times = "max_backoff 2s probe 1s";
    for (target, words) in [
        ("tcp:10.0.0.1", format!("tcp:10.0.0.1:6653 {times}")),
        ("ptcp:", format!("ptcp:6653:0.0.0.0 {times}")),
        ("ssl:10.0.0.1", format!("ssl:10.0.0.1:6653 {times}{keys}")),
        ("pssl::127.0.0.1", format!("pssl:6653:127.0.0.1 {times}{keys}")),
    ] {
        let wanted = with(target, Some(files()));
        assert_eq!(wanted.bridges["br0"].controllers, [words]);
        assert_eq!(wanted.others, BTreeSet::new());
    }
}

#[test]
fn controllers_over_tls_without_keys_are_told_and_the_bridge_is_there() {
    let told = |target: &str, ssl: Option<Value>| {
        let wanted = with(target, ssl);
        let others: Vec<String> = wanted.others.into_iter().collect();
        (wanted.bridges["br0"].controllers.len(), others.join("\n"))
    };
    let (made, why) = told("ssl:10.0.0.1:1", None);
    assert_eq!(made, 0);
    assert!(why.starts_with("br0: ssl:10.0.0.1:1 ") && why.contains("ovs-vsctl set-ssl"), "{why}");
    assert_eq!(told("tcp:10.0.0.1:1", None), (1, String::new()));
    for wrong in ["", "keys/sc.pem", "/etc/a b", "/etc/a\nport"] {
        let mut ssl = files();
        ssl["certificate"] = json!(wrong);
        let (made, why) = told("pssl:", Some(ssl));
        assert!(made == 0 && why.contains(&format!("SSL: certificate `{wrong}` is no")), "{why}");
    }
    let mut ssl = files();
    ssl["bootstrap_ca_cert"] = json!(true);
    let (made, why) = told("ssl:10.0.0.1:1", Some(ssl.clone()));
    assert_eq!(made, 1);
    assert!(why.contains("bootstrap_ca_cert is not done"), "{why}");
    // Who needs none of it does not hear of it.
    assert_eq!(told("tcp:10.0.0.1:1", Some(ssl)), (1, String::new()));
}

#[test]
fn a_bridge_agrees_to_the_versions_that_it_says_and_no_others_any_more() {
    let router = Told::default();
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let mut make = |protocols: Value| {
        let mut all = rows(&[]);
        let bridge = json!({ "name": "br0", "protocols": protocols });
        all.update(&json!({ "Bridge": { BRIDGE: { "new": bridge } } })).unwrap();
        let wanted = asked(&all);
        maker.make(&wanted).unwrap();
        let told = std::mem::take(&mut router.0.borrow_mut().told);
        let said: Vec<String> = told
            .iter()
            .filter(|it| it.starts_with("bridge add ") || it.contains(" protocols "))
            .map(|it| it.split_once(" protocols ").map_or("all", |(_, words)| words).to_owned())
            .collect();
        (said.join("; "), wanted.others.into_iter().collect::<Vec<_>>().join("; "))
    };
    let set = |words: &[&str]| json!(["set", words]);
    assert_eq!(make(set(&[])).0, "all");
    assert_eq!(make(json!("OpenFlow13")).0, "OpenFlow13");
    assert_eq!(make(set(&["OpenFlow10", "OpenFlow15"])).0, "none; OpenFlow10,OpenFlow15");
    let (said, why) = make(set(&["OpenFlow11", "OpenFlow12", "OpenFlow14"]));
    assert_eq!(said, "none; OpenFlow14");
    assert_eq!(why, "br0: protocols OpenFlow11, OpenFlow12 are not spoken here");
    assert_eq!(make(set(&[])).0, "none");
    // With others than it is told to agree with, it is not there.
    let (said, why) = make(json!("OpenFlow12"));
    assert_eq!(
        (said.as_str(), why.as_str()),
        ("", "br0: protocols OpenFlow12 are not spoken here")
    );
    assert!(router.0.borrow().running.bridges.is_empty());
}
