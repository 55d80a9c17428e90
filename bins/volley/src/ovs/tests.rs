//! From rows to commands; the router only remembers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use control::view;
use ovsdb::Rows;
use serde_json::{Value, json};

use super::make::{Broken, Maker};
use super::router::{Router, Running};
use super::told;
use super::wanted::{Machine, Wanted, wanted};
use crate::error::CliError;
use crate::kept::Kept;

mod controllers;
mod dpdk;
mod rstp;

const BRIDGE: &str = "0a1b2c3d-4e5f-0000-0000-000000000000";

/// A router that has what it was told, and refuses commands that have a word in them.
#[derive(Clone, Default)]
struct Told(Rc<RefCell<Memory>>);

#[derive(Default)]
struct Memory {
    running: Running,
    refuses: Option<&'static str>,
    is_gone: bool,
    told: Vec<String>,
}

fn port(name: &str) -> view::Port {
    let json = json!({
        "name": name, "kind": "af_packet", "admin_up": true, "link_up": true, "link_mbps": 10,
        "vrf": "default", "mtu": 1500, "mac": "02:00:00:00:00:01", "addresses": [], "rx_queues": 1,
        "rx": { "packets": 1, "bytes": 2, "drops": 3, "errors": 4 },
        "tx": { "packets": 5, "bytes": 6, "drops": 7, "errors": 8 },
    });
    serde_json::from_value(json).unwrap()
}

impl Router for Told {
    fn running(&self) -> Result<Running, CliError> {
        let memory = self.0.borrow();
        if memory.is_gone {
            Err(CliError::Broken("gone".into()))
        } else {
            Ok(memory.running.clone())
        }
    }

    fn edit(&self, commands: &[String]) -> Result<(), CliError> {
        let Memory { running, refuses, told, .. } = &mut *self.0.borrow_mut();
        if let Some(word) = refuses
            && commands.iter().any(|command| command.contains(*word))
        {
            let detail = format!("error: no {word}\n  --> command:1:1\n");
            return Err(CliError::Refused { detail, json: None });
        }
        for command in commands {
            told.push(command.clone());
            let words: Vec<&str> = command.split_whitespace().collect();
            match words[..] {
                ["bridge", "add", name, ..] => {
                    assert!(running.bridges.insert(name.into(), BTreeSet::new()).is_none());
                }
                ["bridge", "set", name, ..] => assert!(running.bridges.contains_key(name)),
                ["bridge", "del", name] => assert!(running.bridges.remove(name).is_some()),
                ["bridge", "join", bridge, port, ..] => {
                    assert!(running.ports.contains_key(port), "{port}");
                    running.bridges.get_mut(bridge).unwrap().insert(port.into());
                }
                ["bridge", "leave", bridge, port] => {
                    assert!(running.bridges.get_mut(bridge).unwrap().remove(port));
                }
                ["port", "add", name, ..] => {
                    assert!(running.ports.insert(name.into(), port(name)).is_none());
                }
                ["port", "set", name, ..] => assert!(running.ports.contains_key(name)),
                ["mirror", "add", name, "destination", to, ..] => {
                    assert!(running.bridges.values().all(|ports| !ports.contains(to)), "{to}");
                    let sources: Vec<Value> = words[5..]
                        .chunks(3)
                        .map(|it| {
                            assert!(it[0] == "sources" && running.ports.contains_key(it[1]), "{it:?}");
                            json!({ "port": it[1], "direction": it[2], "received": 3, "sent": 4, "lost": 0 })
                        })
                        .collect();
                    assert!(running.ports.contains_key(to), "{to}");
                    let mirror = json!({ "name": name, "destination": to, "sources": sources });
                    let mirror = serde_json::from_value(mirror).unwrap();
                    assert!(running.mirrors.insert(name.into(), mirror).is_none());
                }
                ["mirror", "del", name] => assert!(running.mirrors.remove(name).is_some()),
                ["port", "del", name] => {
                    let is_of = |it: &view::Mirror| {
                        it.destination == name || it.sources.iter().any(|it| it.port == name)
                    };
                    assert!(!running.mirrors.values().any(is_of), "{name}");
                    assert!(running.bridges.values().all(|ports| !ports.contains(name)), "{name}");
                    assert!(running.ports.remove(name).is_some());
                }
                ["policer", "add", name, ..] => drop(running.policers.insert(name.into())),
                ["policer", "del", name] => assert!(running.policers.remove(name)),
                ["export", "add", name, ..] => assert!(running.exports.insert(name.into())),
                ["export", "set", name, ..] => assert!(running.exports.contains(name)),
                ["export", "del", name] => assert!(running.exports.remove(name)),
                ["qos", "set", name, ..] => drop(running.shaped.insert(name.into())),
                ["qos", "class", name, ..] => assert!(running.shaped.contains(name)),
                ["qos", "del", name] => assert!(running.shaped.remove(name)),
                _ => panic!("{command}"),
            }
        }
        Ok(())
    }
}

/// A database of one bridge with these ports, each a row of Port and one of Interface.
fn rows(ports: &[(&str, Value, Value)]) -> Rows {
    let mut rows = Rows::default();
    let uuid = |name: &str| json!(["uuid", name]);
    let names: Vec<Value> = ports.iter().map(|(name, ..)| uuid(&format!("p-{name}"))).collect();
    let with = |mut row: Value, more: &Value| {
        for (key, value) in more.as_object().unwrap() {
            row[key] = value.clone();
        }
        json!({ "new": row })
    };
    for (name, port, interface) in ports {
        let of_port = with(json!({ "name": name, "interfaces": uuid(&format!("i-{name}")) }), port);
        rows.update(&json!({ "Port": { (format!("p-{name}")): of_port } })).unwrap();
        let of_interface = with(json!({ "name": name }), interface);
        rows.update(&json!({ "Interface": { (format!("i-{name}")): of_interface } })).unwrap();
    }
    let bridge = json!({ "new": { "name": "br0", "ports": ["set", names] } });
    let root = json!({ "new": { "bridges": uuid(BRIDGE), "next_cfg": 7, "cur_cfg": 3 } });
    rows.update(&json!({ "Bridge": { BRIDGE: bridge }, "Open_vSwitch": { "r": root } })).unwrap();
    rows
}

fn asked(rows: &Rows) -> Wanted {
    let devices = ["veth1", "veth2", "veth3"].map(str::to_owned).into();
    wanted(rows, &Machine { folder: Path::new("/run/ovs"), devices: &devices })
}

fn plain(name: &str) -> (&str, Value, Value) {
    (name, json!({}), json!({}))
}

fn own() -> (&'static str, Value, Value) {
    ("br0", json!({}), json!({ "type": "internal" }))
}

#[test]
fn a_bridge_with_its_own_port_and_another() {
    let router = Told::default();
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let rows = rows(&[own(), plain("veth1")]);
    let outcome = maker.make(&asked(&rows)).unwrap();
    assert_eq!(
        router.0.borrow().told,
        [
            "bridge add br0 mode flow management /run/ovs/br0.mgmt fail_mode standalone datapath 0000020a1b2c3d4e",
            "port add br0 tap device br0 mac 02:0a:1b:2c:3d:4e",
            "port add veth1 af_packet device veth1",
            "bridge join br0 br0 number 65534",
            "bridge join br0 veth1 number 1",
        ]
    );
    assert_eq!(outcome.faults, BTreeMap::new());
    // Nothing is done twice.
    router.0.borrow_mut().told.clear();
    maker.make(&asked(&rows)).unwrap();
    assert_eq!(router.0.borrow().told, Vec::<String>::new());
    // A router that begins anew has all again.
    router.0.borrow_mut().running = Running::default();
    maker.make(&asked(&rows)).unwrap();
    assert_eq!(router.0.borrow().told.len(), 5);

    // What is told: numbers, links, and that it is done.
    let told = told::columns(&rows, &asked(&rows), &outcome, true).changes(&rows, |_, _| true);
    let of = |uuid: &str| {
        let change = told.iter().find(|it| it["where"][0][2] == json!(["uuid", uuid]));
        change.unwrap_or_else(|| panic!("{uuid} in {told:?}"))["row"].clone()
    };
    assert_eq!(of("r")["cur_cfg"], 7);
    assert_eq!((&of("i-br0")["ofport"], &of("i-veth1")["ofport"]), (&json!(65534), &json!(1)));
    assert_eq!(of("i-veth1")["link_state"], "up");
    assert_eq!(of("i-veth1")["link_speed"], 10_000_000);
    assert!(of("i-veth1")["statistics"].to_string().contains(r#"["tx_bytes",6]"#));
    // A schema without a column is not told of it.
    let fewer = told::columns(&rows, &asked(&rows), &outcome, true)
        .changes(&rows, |_, column| column == "cur_cfg");
    assert_eq!(fewer.len(), 1);
}

#[test]
fn what_goes_is_taken_out_and_what_is_somebody_elses_stays() {
    let router = Told::default();
    router.0.borrow_mut().running.ports.insert("veth2".into(), port("veth2"));
    router.0.borrow_mut().running.bridges.insert("lan".into(), BTreeSet::new());
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let policed = json!({ "ingress_policing_rate": 100 });
    let all =
        rows(&[own(), ("veth1", json!({ "tag": 10 }), policed), plain("veth2"), plain("veth3")]);
    let outcome = maker.make(&asked(&all)).unwrap();
    assert_eq!(
        outcome.faults,
        BTreeMap::from([("i-veth2".to_owned(), "port veth2 is the router's own".to_owned())])
    );
    {
        let memory = router.0.borrow();
        let members = |name: &str| memory.running.bridges[name].iter().cloned().collect::<Vec<_>>();
        assert_eq!(members("br0"), ["br0", "veth1", "veth3"]);
        assert_eq!(members("br0.10"), ["br0.10", "veth1", "veth3.10"]);
        assert_eq!(memory.running.policers, BTreeSet::from(["veth1.in".to_owned()]));
    }
    maker.make(&asked(&rows(&[own()]))).unwrap();
    {
        let memory = router.0.borrow();
        assert_eq!(memory.running.bridges.keys().collect::<Vec<_>>(), ["br0", "lan"]);
        assert_eq!(memory.running.ports.keys().collect::<Vec<_>>(), ["br0", "veth2"]);
        assert_eq!(memory.running.policers, BTreeSet::new());
    }
    maker.make(&asked(&Rows::default())).unwrap();
    let memory = router.0.borrow();
    assert_eq!(memory.running.bridges.keys().collect::<Vec<_>>(), ["lan"]);
    assert_eq!(memory.running.ports.keys().collect::<Vec<_>>(), ["veth2"]);
}

#[test]
fn what_is_refused_leaves_the_others_and_is_tried_again() {
    let router = Told::default();
    router.0.borrow_mut().refuses = Some("veth1");
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let rows = rows(&[plain("veth1"), plain("veth2"), plain("none")]);
    let outcome = maker.make(&asked(&rows)).unwrap();
    let faults = [
        ("i-none", "could not open network device none (No such device)"),
        ("i-veth1", "no veth1"),
    ];
    assert_eq!(outcome.faults, faults.map(|(uuid, why)| (uuid.to_owned(), why.to_owned())).into());
    let told = told::columns(&rows, &asked(&rows), &outcome, false).changes(&rows, |_, _| true);
    let of = told.iter().find(|it| it["where"][0][2] == json!(["uuid", "i-none"])).unwrap();
    assert_eq!((&of["row"]["ofport"], &of["row"]["error"]), (&json!(-1), &json!(faults[0].1)));
    assert_eq!(router.0.borrow().running.bridges["br0"], BTreeSet::from(["veth2".to_owned()]));
    router.0.borrow_mut().refuses = None;
    let outcome = maker.make(&asked(&rows)).unwrap();
    assert_eq!(outcome.faults.len(), 1);
    router.0.borrow_mut().is_gone = true;
    assert!(matches!(maker.make(&asked(&rows)), Err(Broken(_))));
}

#[test]
fn collectors_are_told_as_the_bridge_says() {
    let router = Told::default();
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let mut all = rows(&[plain("veth1"), ("veth2", json!({ "tag": 10 }), json!({}))]);
    let mut set = |all: &mut Rows, bridge: Value, tables: Value| {
        let ports = json!(["set", [["uuid", "p-veth1"], ["uuid", "p-veth2"]]]);
        let mut row = json!({ "name": "br0", "ports": ports });
        for (key, value) in bridge.as_object().unwrap() {
            row[key] = value.clone();
        }
        all.update(&json!({ "Bridge": { BRIDGE: { "new": row } } })).unwrap();
        all.update(&tables).unwrap();
        router.0.borrow_mut().told.clear();
        let outcome = maker.make(&asked(all)).unwrap();
        let told = std::mem::take(&mut router.0.borrow_mut().told);
        let told = told.into_iter().filter(|command| command.contains("export"));
        (told.collect::<Vec<_>>(), outcome.others)
    };
    let uuid = |name: &str| json!(["uuid", name]);
    let named = json!({ "netflow": uuid("n"), "sflow": uuid("s"), "ipfix": uuid("i") });
    let two = json!(["set", ["10.0.0.9:9995", "[::1]:7"]]);
    let netflow = json!({ "targets": two, "engine_type": 1, "engine_id": 2, "active_timeout": 30,
        "add_id_to_interface": true });
    let sflow = json!({ "targets": "10.0.0.9", "sampling": 64, "agent": "eth0" });
    let ipfix = json!({ "targets": "10.0.0.9:4739", "obs_domain_id": 123, "obs_point_id": 7,
        "cache_max_flows": 9 });
    let tables = |netflow: &Value| {
        json!({ "NetFlow": { "n": { "new": netflow } }, "sFlow": { "s": { "new": sflow } },
            "IPFIX": { "i": { "new": ipfix } } })
    };
    let (told, others) = set(&mut all, named.clone(), tables(&netflow));
    let wanted = [
        "export add br0.ipfix protocol ipfix collectors 10.0.0.9:4739 sample 400 domain 123 \
         point 7 active 1s idle 1s cache 64",
        "export add br0.netflow protocol netflow-5 collectors 10.0.0.9:9995 collectors [::1]:7 sample 1 \
         domain 258 engine_in_interfaces true active 30s",
        "export add br0.sflow protocol sflow-5 collectors 10.0.0.9:6343 sample 64 header 128 \
         counters 30s agent none",
        "bridge set br0 export br0.ipfix export br0.netflow export br0.sflow",
    ];
    assert_eq!((told, others.len()), (wanted.map(str::to_owned).to_vec(), 0));
    assert_eq!(set(&mut all, named.clone(), json!({})).0, Vec::<String>::new());
    let other = json!({ "targets": "10.0.0.8:1" });
    let (told, _) = set(&mut all, named.clone(), tables(&other));
    let set_anew = [
        "export set br0.netflow collectors none",
        "export set br0.netflow protocol netflow-5 collectors 10.0.0.8:1 sample 1 domain 0 \
         engine_in_interfaces false active 600s",
    ];
    assert_eq!(told, set_anew);
    // One that is wrong is said, and is no more; so with what the bridge names no more.
    let wrong = json!({ "targets": "10.0.0.9" });
    let (told, others) = set(&mut all, named, tables(&wrong));
    let why = "br0: netflow: target `10.0.0.9` is no IP address with a port";
    assert!(others.contains(why), "{others:?}");
    let left = |bridge: &str| format!("bridge set {bridge} export br0.ipfix export br0.sflow");
    let none = |bridge: &str| format!("bridge set {bridge} export none");
    assert_eq!(told, [none("br0"), left("br0"), "export del br0.netflow".to_owned()]);
    let (told, _) = set(&mut all, json!({}), json!({}));
    let gone = ["bridge set br0 export none", "export del br0.ipfix", "export del br0.sflow"];
    assert_eq!(told, gone.map(str::to_owned));
}

#[test]
fn sets_of_collectors_are_told_what_flows_of_their_bridge_sample() {
    let router = Told::default();
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let mut all = rows(&[plain("veth1"), ("veth2", json!({ "tag": 10 }), json!({}))]);
    let set = |id: u64, bridge: &str, ipfix: Value| json!({ "new": { "id": id, "bridge": ["uuid", bridge], "ipfix": ipfix } });
    let ipfix = json!({ "targets": "10.0.0.9:4739", "sampling": 7, "obs_domain_id": 9, "cache_active_timeout": 60 });
    let none = || json!(["set", []]);
    let sets = json!({ "a": set(5, BRIDGE, json!(["uuid", "i"])), "b": set(6, "another", json!(["uuid", "i"])),
        "c": set(7, BRIDGE, none()), "d": set(8, BRIDGE, json!(["uuid", "w"])) });
    let tables = json!({ "Flow_Sample_Collector_Set": sets,
        "IPFIX": { "i": { "new": ipfix }, "w": { "new": { "targets": "x" } } } });
    all.update(&tables).unwrap();
    let mut make = |all: &Rows| {
        router.0.borrow_mut().told.clear();
        let others = maker.make(&asked(all)).unwrap().others;
        let told = std::mem::take(&mut router.0.borrow_mut().told);
        let is_of_it = |command: &String| command.contains("set5");
        (told.into_iter().filter(is_of_it).collect::<Vec<_>>(), others)
    };
    // What is sampled, and in which domain, flows say; a VLAN's bridge has none.
    let (told, others) = make(&all);
    let add = "export add br0.set5 protocol ipfix collectors 10.0.0.9:4739 set 5 active 60s idle 15s cache 65536";
    assert_eq!(told, [add, "bridge set br0 samples br0.set5"]);
    let why = "br0: Flow_Sample_Collector_Set: target `x` is no IP address with a port";
    assert!(others.contains(why), "{others:?}");
    assert_eq!(make(&all).0, Vec::<String>::new());
    all.update(&json!({ "Flow_Sample_Collector_Set": { "a": { "old": {} } } })).unwrap();
    // The bridge names it no more, and then it goes.
    let gone = ["bridge set br0 samples none", "export del br0.set5"];
    router.0.borrow_mut().told.clear();
    maker.make(&asked(&all)).unwrap();
    let told = std::mem::take(&mut router.0.borrow_mut().told);
    assert_eq!(told, gone);
}

#[test]
fn what_ports_carry_is_copied_as_the_bridge_says() {
    let router = Told::default();
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let trunk = json!({ "trunks": ["set", [10, 99]] });
    let ports =
        [plain("veth1"), ("veth2", json!({ "tag": 10 }), json!({})), ("veth3", trunk, json!({}))];
    let mut all = rows(&ports);
    let mut set = |all: &mut Rows, mirrors: &[Value]| {
        let named: Vec<Value> =
            (0..mirrors.len()).map(|it| json!(["uuid", format!("m{it}")])).collect();
        let ports = json!(["set", [["uuid", "p-veth1"], ["uuid", "p-veth2"], ["uuid", "p-veth3"]]]);
        let row = json!({ "name": "br0", "ports": ports, "mirrors": ["set", named] });
        all.update(&json!({ "Bridge": { BRIDGE: { "new": row } } })).unwrap();
        for (number, mirror) in mirrors.iter().enumerate() {
            all.update(&json!({ "Mirror": { (format!("m{number}")): { "new": mirror } } }))
                .unwrap();
        }
        router.0.borrow_mut().told.clear();
        let outcome = maker.make(&asked(all)).unwrap();
        let told = std::mem::take(&mut router.0.borrow_mut().told);
        (told, outcome)
    };
    let uuid = |name: &str| json!(["uuid", name]);
    let spy = json!({ "name": "spy", "select_all": true, "output_port": uuid("p-veth3") });
    let (told, outcome) = set(&mut all, std::slice::from_ref(&spy));
    let mirror = "mirror add br0.spy destination veth3 sources veth1 both sources veth2 both";
    assert_eq!(
        (told.last().map(String::as_str), &outcome.others),
        (Some(mirror), &BTreeSet::new())
    );
    // What copies leave by carries nothing else.
    assert!(!told.iter().any(|it| it.contains("join") && it.contains("veth3")), "{told:?}");
    let told = told::columns(&all, &asked(&all), &outcome, true).changes(&all, |_, _| true);
    let of = told.iter().find(|it| it["table"] == "Mirror").unwrap();
    assert_eq!(of["row"]["statistics"], json!(["map", [["tx_bytes", 6], ["tx_packets", 14]]]));
    assert_eq!(set(&mut all, std::slice::from_ref(&spy)).0, Vec::<String>::new());

    // Directions, a VLAN of them, and copies in a VLAN.
    let some = json!({ "name": "spy", "select_src_port": uuid("p-veth1"), "select_dst_port": uuid("p-veth2"),
        "output_vlan": 99 });
    let (told, _) = set(&mut all, &[some]);
    assert_eq!(told.first().map(String::as_str), Some("mirror del br0.spy"));
    let last = "mirror add br0.spy destination veth3.99 sources veth1 rx sources veth2 tx";
    assert_eq!(told.last().map(String::as_str), Some(last));
    assert!(!told.iter().any(|it| it.contains("br0.99")), "{told:?}");
    let vlan = json!({ "name": "spy", "select_all": true, "select_vlan": 10, "output_port": uuid("p-veth3") });
    let (told, _) = set(&mut all, &[vlan]);
    let last = "mirror add br0.spy destination veth3 sources veth1.10 both sources veth2 both";
    assert_eq!(told.last().map(String::as_str), Some(last));

    // What cannot be is told, and takes nothing else away.
    let other = json!({ "name": "two", "select_all": true, "output_vlan": 99 });
    let nowhere = json!({ "name": "x", "select_all": true });
    let (_, outcome) = set(&mut all, &[spy, other, nowhere]);
    let why: Vec<&str> = outcome.others.iter().map(String::as_str).collect();
    assert_eq!(
        why,
        [
            "mirror br0.two: veth1 is copied by another mirror already",
            "mirror br0.x: it has neither output_port nor output_vlan",
        ]
    );
    let (told, _) = set(&mut all, &[]);
    assert_eq!(told.first().map(String::as_str), Some("mirror del br0.spy"));
    assert!(told.iter().any(|it| it == "bridge join br0.10 veth3.10 "), "{told:?}");
}

#[test]
fn a_port_of_several_interfaces_is_a_bond() {
    let router = Told::default();
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let mut all = rows(&[plain("veth1"), plain("veth2"), plain("veth3")]);
    let mut set = |all: &mut Rows, lacp: &str, members: &[&str]| {
        let members: Vec<Value> =
            members.iter().map(|it| json!(["uuid", format!("i-{it}")])).collect();
        let port =
            json!({ "name": "bond0", "interfaces": ["set", members], "lacp": lacp, "tag": 10 });
        all.update(&json!({ "Port": { "p-bond": { "new": port } } })).unwrap();
        let ports = json!(["set", [["uuid", "p-bond"], ["uuid", "p-veth3"]]]);
        let row = json!({ "name": "br0", "ports": ports });
        all.update(&json!({ "Bridge": { BRIDGE: { "new": row } } })).unwrap();
        router.0.borrow_mut().told.clear();
        let outcome = maker.make(&asked(all)).unwrap();
        (std::mem::take(&mut router.0.borrow_mut().told), outcome)
    };
    let (told, outcome) = set(&mut all, "off", &["veth1", "veth2"]);
    assert_eq!(outcome.faults, BTreeMap::new());
    let ports: Vec<&str> =
        told.iter().filter(|it| it.starts_with("port")).map(String::as_str).collect();
    assert_eq!(
        ports,
        [
            "port add veth1 af_packet device veth1",
            "port add veth2 af_packet device veth2",
            "port add veth3 af_packet device veth3",
            "port add bond0 bond mode active-backup members veth1 members veth2",
            "port add veth3.10 vlan parent veth3 vlan 10",
        ]
    );
    assert!(told.contains(&"bridge join br0.10 bond0 ".to_owned()), "{told:?}");
    assert!(!told.iter().any(|it| it.contains("join") && it.contains("veth1")), "{told:?}");
    assert_eq!(set(&mut all, "off", &["veth1", "veth2"]).0, Vec::<String>::new());
    // Otherwise: the bond alone is made anew. Without a member, that goes, too.
    let (told, _) = set(&mut all, "active", &["veth1", "veth2"]);
    assert_eq!(told[..4], ["bridge leave br0.10 bond0", "bridge leave br0 bond0", "port del bond0",
        "port add bond0 bond mode 802.3ad hash layer3+4 lacp active lacp_rate slow members veth1 members veth2"]
        .map(str::to_owned));
    let numbers = asked(&all).numbers;
    assert_eq!(numbers["i-veth1"], numbers["i-veth2"]);
    let (told, _) = set(&mut all, "active", &["veth1"]);
    assert!(told.contains(&"bridge join br0.10 veth1 ".to_owned()), "{told:?}");
    let gone: Vec<&String> = told.iter().filter(|it| it.starts_with("port del")).collect();
    assert_eq!(gone, ["port del bond0", "port del veth2"]);
}

#[test]
fn patch_ports_are_ends_of_one_link() {
    let patch = |peer: Option<&str>| {
        let options: Vec<_> = peer.iter().map(|peer| ("peer", *peer)).collect();
        json!({ "type": "patch", "options": ["map", options] })
    };
    let rows = rows(&[
        ("one", json!({}), patch(Some("two"))),
        ("two", json!({}), patch(Some("one"))),
        ("self", json!({}), patch(Some("self"))),
        ("none", json!({}), patch(None)),
    ]);
    let wanted = asked(&rows);
    assert_eq!(wanted.ports["one"].add, "memif socket /run/ovs/patch.one.two role server");
    assert_eq!(wanted.ports["two"].add, "memif socket /run/ovs/patch.one.two role client");
    assert_eq!(wanted.faults["i-self"], "self: patch peer must not be self");
    assert_eq!(wanted.faults["i-none"], "none: patch type requires valid 'peer' argument");
}

#[test]
fn groups_go_to_listeners_where_the_bridge_says_so() {
    let router = Told::default();
    let mut maker = Maker::new(router.clone(), Kept::nowhere());
    let floods = json!({ "other_config": ["map", [["mcast-snooping-flood", "true"]]], "tag": 10 });
    let mut all = rows(&[plain("veth1"), ("veth2", floods, json!({}))]);
    let mut set = |all: &mut Rows, enabled: bool, other: &[(&str, &str)]| {
        let ports = json!(["set", [["uuid", "p-veth1"], ["uuid", "p-veth2"]]]);
        let row = json!({
            "name": "br0", "ports": ports, "mcast_snooping_enable": enabled,
            "other_config": ["map", other],
        });
        all.update(&json!({ "Bridge": { BRIDGE: { "new": row } } })).unwrap();
        router.0.borrow_mut().told.clear();
        let outcome = maker.make(&asked(all)).unwrap();
        (std::mem::take(&mut router.0.borrow_mut().told), outcome.others)
    };
    let strict = [
        ("mcast-snooping-disable-flood-unregistered", "true"),
        ("mcast-snooping-aging-time", "60"),
        ("mcast-snooping-table-size", "5"),
    ];
    let (told, _) = set(&mut all, true, &strict);
    let words =
        "snooping on unknown routers ageing 60s groups_limit 10 port_limit 10 fast_leave true";
    let has = |told: &[String], end: &str| told.iter().any(|command| command.ends_with(end));
    assert!(has(&told, &format!(" {words}")), "{told:?}");
    assert!(has(&told, &format!("bridge add br0.10 behind br0 {words}")), "{told:?}");
    assert!(has(&told, "join br0 veth1 number 1 multicast_router learned"), "{told:?}");
    assert!(has(&told, "join br0.10 veth2 multicast_router always"), "{told:?}");
    let (told, _) = set(&mut all, true, &[]);
    assert!(has(
        &told,
        "unknown flood ageing 300s groups_limit 2048 port_limit 2048 fast_leave true"
    ));
    let (told, _) = set(&mut all, false, &[]);
    assert!(has(&told, "bridge set br0 snooping off") && has(&told, "set br0.10 snooping off"));
    let (told, others) = set(&mut all, true, &[("mcast-snooping-aging-time", "soon")]);
    assert!(others.contains("br0: mcast-snooping-aging-time is no number"), "{others:?} {told:?}");
}

#[test]
fn numbers_are_asked_for_kept_or_free() {
    let with = |column: &str, number: i64| json!({ column: number });
    let rows = rows(&[
        ("veth1", json!({}), with("ofport_request", 2)),
        ("veth2", json!({}), with("ofport", 2)),
        ("veth3", json!({}), with("ofport", 9)),
        own(),
    ]);
    let numbers = asked(&rows).numbers;
    let of = |name: &str| numbers[&format!("i-{name}")];
    assert_eq!(["veth1", "veth2", "veth3", "br0"].map(of), [2, 1, 9, 65534]);
}

#[test]
fn words_of_the_database_are_no_commands() {
    let mut all = rows(&[plain("veth1")]);
    let names = ["a b", "x\nport del y", "", "a-name-that-is-far-too-long", "é"];
    for (index, name) in names.iter().enumerate() {
        let interface = json!({ "new": { "name": name, "type": "internal" } });
        let port = json!({ "new": { "name": name, "interfaces": ["uuid", format!("i{index}")] } });
        all.update(&json!({ "Interface": { (format!("i{index}")): interface } })).unwrap();
        all.update(&json!({ "Port": { (format!("p{index}")): port } })).unwrap();
    }
    let ports: Vec<Value> = (0..names.len()).map(|it| json!(["uuid", format!("p{it}")])).collect();
    let controllers = json!({ "c": { "new": { "target": "tcp:1.2.3.4:5 fail_mode secure" } } });
    all.update(&json!({ "Controller": controllers })).unwrap();
    let bridge = json!({ "name": "br0", "ports": ["set", ports], "controller": ["uuid", "c"] });
    all.update(&json!({ "Bridge": { BRIDGE: { "new": bridge } } })).unwrap();
    let wanted = asked(&all);
    assert_eq!(wanted.faults.len(), names.len());
    assert_eq!((wanted.ports.len(), wanted.bridges["br0"].controllers.len()), (0, 0));
    assert!(wanted.others.iter().any(|why| why.contains("has no IP address and port")));
    let bad = json!({ "name": "br0 x", "fail_mode": "secure" });
    all.update(&json!({ "Bridge": { BRIDGE: { "new": bad } } })).unwrap();
    assert_eq!(asked(&all).bridges.len(), 0);
}
