//! Spanning trees by the database.

use super::*;

#[test]
fn a_bridge_is_part_of_a_spanning_tree_where_it_says_so_and_what_it_is_there_is_written_back() {
    let router = Told::default();
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let cheap = json!({ "other_config": ["map", [["rstp-path-cost", "200"]]] });
    let tagged = json!({ "tag": 10 });
    let mut all =
        rows(&[plain("veth1"), ("veth2", cheap, json!({})), ("veth3", tagged, json!({}))]);
    let mut set = |all: &mut Rows, enabled: bool, other: &[(&str, &str)]| {
        let uuids: Vec<Value> =
            ["veth1", "veth2", "veth3"].map(|it| json!(["uuid", format!("p-{it}")])).into();
        let row = json!({
            "name": "br0", "ports": ["set", uuids], "rstp_enable": enabled,
            "rstp_status": ["map", []], "other_config": ["map", other],
        });
        all.update(&json!({ "Bridge": { BRIDGE: { "new": row } } })).unwrap();
        router.0.borrow_mut().told.clear();
        let outcome = maker.make(&asked(all)).unwrap();
        (std::mem::take(&mut router.0.borrow_mut().told), outcome)
    };
    let has = |told: &[String], end: &str| told.iter().any(|command| command.ends_with(end));
    let (told, outcome) = set(&mut all, true, &[("rstp-priority", "4096")]);
    let words = "rstp on version rstp priority 4096 forward_delay 15s max_age 20s hold_count 6";
    assert!(told.iter().any(|it| it.starts_with("bridge add br0 ") && it.ends_with(words)));
    assert!(has(&told, "join br0 veth1 number 1 spanning true"), "{told:?}");
    assert!(has(&told, "join br0 veth2 number 2 spanning true path_cost 200"), "{told:?}");
    // Its VLAN is another bridge, behind it: all ports are part of the tree of the one in front.
    assert!(has(&told, "bridge add br0.10 behind br0"), "{told:?}");
    assert!(has(&told, "join br0 veth3 number 3 spanning true"), "{told:?}");
    assert!(has(&told, "bridge join br0.10 veth3 "), "{told:?}");
    assert!(outcome.others.is_empty(), "{:?}", outcome.others);

    let port = view::SpanningPort {
        port: "veth2".into(),
        port_id: 0x8002,
        role: "root".into(),
        state: "forwarding".into(),
        sent: 7,
        ..view::SpanningPort::default()
    };
    let tree = view::SpanningTree {
        bridge: "br0".into(),
        root_id: "1.000.020000000001".into(),
        root_cost: 200,
        ports: vec![port],
        ..view::SpanningTree::default()
    };
    router.0.borrow_mut().running.trees = vec![tree];
    let (_, outcome) = set(&mut all, true, &[("rstp-priority", "4096")]);
    let told = told::columns(&all, &asked(&all), &outcome, true).changes(&all, |_, _| true);
    let row = |table: &str| &told.iter().find(|it| it["table"] == table).unwrap()["row"];
    let of = |map: &Value, key: &str| {
        let pairs = map[1].as_array().unwrap();
        pairs.iter().find(|it| it[0] == key).map(|it| it[1].clone())
    };
    let bridge = &row("Bridge")["rstp_status"];
    assert_eq!(of(bridge, "rstp_root_id"), Some(json!("1.000.020000000001")));
    assert_eq!(of(bridge, "rstp_root_path_cost"), Some(json!("200")));
    let port = row("Port");
    assert_eq!(of(&port["rstp_status"], "rstp_port_role"), Some(json!("Root")));
    assert_eq!(of(&port["rstp_statistics"], "rstp_tx_count"), Some(json!(7)));

    router.0.borrow_mut().running.trees.clear();
    let (told, outcome) = set(&mut all, false, &[]);
    assert!(has(&told, "bridge set br0 rstp off"), "{told:?}");
    assert!(outcome.others.is_empty(), "{:?}", outcome.others);
    let (_, outcome) = set(&mut all, true, &[("rstp-priority", "1")]);
    let why = "br0: rstp-priority is 1, no multiple of 4096";
    assert_eq!(outcome.others, BTreeSet::from([why.to_owned()]));
}
