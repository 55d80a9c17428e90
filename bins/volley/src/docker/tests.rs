//! The driver as an engine's libnetwork speaks to it; router and kernel only remember.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::driver::Driver;
use super::links::Links;
use super::plan::Running;
use super::router::Router;
use super::state::Kept;
use crate::error::CliError;

const NET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
const END: &str = "aaaabbbbcccc0123456789abcdef0123456789abcdef0123456789abcdef0123";

/// A router that has what it was told, unless it is gone or refuses.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<(Running, Option<&'static str>)>>);

impl Told {
    fn now(&self) -> Running {
        self.0.lock().unwrap().0.clone()
    }

    fn fails(&self, why: Option<&'static str>) {
        self.0.lock().unwrap().1 = why;
    }

    fn restarts(&self) {
        self.0.lock().unwrap().0 = Running::default();
    }
}

impl Router for Told {
    fn running(&self) -> Result<Running, CliError> {
        let (running, fails) = &*self.0.lock().unwrap();
        match fails {
            Some("gone") => Err(CliError::Broken("gone".into())),
            _ => Ok(running.clone()),
        }
    }

    fn edit(&self, commands: &[String]) -> Result<(), CliError> {
        let (running, fails) = &mut *self.0.lock().unwrap();
        if let Some(why) = fails {
            return Err(CliError::Refused { detail: (*why).into(), json: None });
        }
        for command in commands {
            let words: Vec<&str> = command.split(' ').collect();
            match words[..] {
                ["bridge", "add", name] => {
                    assert!(running.bridges.insert(name.into(), BTreeSet::new()).is_none());
                }
                ["bridge", "del", name] => assert!(running.bridges.remove(name).is_some()),
                ["bridge", "join", bridge, port] => {
                    assert!(running.ports.contains(port), "{port}");
                    assert!(running.bridges.get_mut(bridge).unwrap().insert(port.into()));
                }
                ["bridge", "leave", bridge, port] => {
                    assert!(running.bridges.get_mut(bridge).unwrap().remove(port));
                }
                ["port", "add", name, ..] => assert!(running.ports.insert(name.into())),
                ["port", "del", name] => {
                    assert!(running.bridges.values().all(|ports| !ports.contains(name)));
                    assert!(running.ports.remove(name));
                }
                _ => panic!("{command}"),
            }
        }
        Ok(())
    }
}

/// Devices that are names.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<BTreeSet<String>>>);

impl Links for Names {
    fn add(&mut self, ours: &str, _: &str, _: &str, _: Option<u16>) -> Result<(), String> {
        let fresh = self.0.lock().unwrap().insert(ours.to_owned());
        if fresh { Ok(()) } else { Err("File exists".into()) }
    }

    fn remove(&mut self, ours: &str) -> Result<(), String> {
        self.0.lock().unwrap().remove(ours);
        Ok(())
    }

    fn has(&self, ours: &str) -> bool {
        self.0.lock().unwrap().contains(ours)
    }
}

struct World {
    driver: Rc<RefCell<Driver<Told, Names>>>,
    router: Told,
    links: Names,
}

impl World {
    fn new() -> Self {
        let (router, links) = (Told::default(), Names::default());
        let driver = Driver::new(router.clone(), links.clone(), Kept::nowhere());
        Self { driver: Rc::new(RefCell::new(driver)), router, links }
    }

    fn ask(&self, method: &str, body: Value) -> Result<Value, String> {
        let path = format!("/NetworkDriver.{method}");
        self.driver.borrow_mut().handle(&path, body.to_string().as_bytes()).unwrap()
    }

    fn network(&self, id: &str, options: Value) -> Result<Value, String> {
        let options = json!({ "com.docker.network.enable_ipv6": false, "com.docker.network.generic": options });
        let pools = json!([{ "AddressSpace": "LocalDefault", "Gateway": "10.9.0.1/24", "Pool": "10.9.0.0/24", "AuxAddresses": null }]);
        self.ask(
            "CreateNetwork",
            json!({ "NetworkID": id, "Options": options, "IPv4Data": pools, "IPv6Data": null }),
        )
    }

    fn end(&self, options: Value, mac: &str) -> Result<Value, String> {
        let interface = json!({ "Address": "10.9.0.2/24", "AddressIPv6": "", "MacAddress": mac });
        self.ask("CreateEndpoint", json!({ "NetworkID": NET, "EndpointID": END, "Interface": interface, "Options": options }))
    }

    fn is_empty(&self) -> bool {
        let state = self.driver.borrow().state().clone();
        self.router.now() == Running::default()
            && self.links.0.lock().unwrap().is_empty()
            && state == Default::default()
    }
}

#[test]
fn a_network_is_a_bridge_and_a_container_a_port_in_it_and_all_goes() {
    let world = World::new();
    world.network(NET, json!({})).unwrap();
    let made = world.end(json!({}), "").unwrap();
    // Of its address: the next container that has it is found where this one was.
    assert_eq!(made["Interface"]["MacAddress"], "02:76:0a:09:00:02");
    let joined = world
        .ask("Join", json!({ "NetworkID": NET, "EndpointID": END, "SandboxKey": "/x" }))
        .unwrap();
    assert_eq!(joined["InterfaceName"]["SrcName"], "dc-aaaabbbbcccc");
    assert_eq!((&joined["Gateway"], &joined["DisableGatewayService"]), (&json!(""), &json!(true)));
    let now = world.router.now();
    assert_eq!(now.bridges["dk-0123456789ab"], ["dk-aaaabbbbcccc".to_owned()].into());
    world.ask("DeleteEndpoint", json!({ "NetworkID": NET, "EndpointID": END })).unwrap();
    world.ask("DeleteNetwork", json!({ "NetworkID": NET })).unwrap();
    assert!(world.is_empty());
    // Twice is not once too often: an engine that crashed asks again.
    world.ask("DeleteEndpoint", json!({ "NetworkID": NET, "EndpointID": END })).unwrap();
    world.ask("DeleteNetwork", json!({ "NetworkID": NET })).unwrap();
    assert!(world.is_empty());
}

#[test]
fn the_router_may_be_the_gateway_and_the_users_mac_is_not_told_back() {
    let world = World::new();
    world.network(NET, json!({ "gateway": "router", "mtu": "9000" })).unwrap();
    assert!(world.router.now().bridges["dk-0123456789ab"].contains("dg-0123456789ab"));
    let made = world.end(json!({}), "02:00:00:00:00:09").unwrap();
    assert_eq!(made["Interface"], json!({}));
    let joined = world.ask("Join", json!({ "NetworkID": NET, "EndpointID": END })).unwrap();
    assert_eq!(joined["Gateway"], "10.9.0.1");
    // A network that goes with containers in it takes them along.
    world.ask("DeleteNetwork", json!({ "NetworkID": NET })).unwrap();
    assert!(world.is_empty());
}

#[test]
fn a_bridge_that_was_there_stays() {
    let world = World::new();
    world.router.edit(&["bridge add lan".into()]).unwrap();
    world.network(NET, json!({ "bridge": "lan", "gateway": "outside" })).unwrap();
    world.end(json!({}), "").unwrap();
    assert!(world.router.now().bridges["lan"].contains("dk-aaaabbbbcccc"));
    world.ask("DeleteNetwork", json!({ "NetworkID": NET })).unwrap();
    assert_eq!(world.router.now().bridges.keys().collect::<Vec<_>>(), ["lan"]);
    assert!(world.router.now().ports.is_empty());
}

#[test]
fn what_cannot_be_is_said_and_leaves_nothing() {
    let world = World::new();
    let refused = |options: Value| world.network(NET, options).unwrap_err();
    assert!(refused(json!({ "vlan": "7" })).contains("`vlan` is no option"));
    assert!(refused(json!({ "mtu": "67" })).contains("`67`, not 68 to 9216"));
    assert!(refused(json!({ "gateway": "yes" })).contains("`yes`, not none, router or outside"));
    assert!(refused(json!({ "bridge": 7 })).contains("is 7, not a text"));
    assert!(refused(json!({ "bridge": "lan\nport del uplink" })).contains("not a bridge name"));
    assert!(world.end(json!({}), "").unwrap_err().contains("no network 0123456789ab"));
    world.router.fails(Some("there is no room"));
    assert_eq!(world.network(NET, json!({})).unwrap_err(), "there is no room");
    world.router.fails(None);
    assert!(world.is_empty());

    world.network(NET, json!({})).unwrap();
    let ports =
        json!({ "com.docker.network.portmap": [{ "Proto": 6, "Port": 80, "HostPort": 8080 }] });
    let why = world.end(ports.clone(), "").unwrap_err();
    assert!(why.starts_with("port 8080:80 cannot be published"), "{why}");
    let why = world.ask(
        "ProgramExternalConnectivity",
        json!({ "NetworkID": NET, "EndpointID": END, "Options": ports }),
    );
    assert!(why.unwrap_err().contains("8080:80"));
    world.router.fails(Some("no such device"));
    assert_eq!(world.end(json!({}), "").unwrap_err(), "no such device");
    world.router.fails(None);
    assert!(world.links.0.lock().unwrap().is_empty());
    world.ask("DeleteNetwork", json!({ "NetworkID": NET })).unwrap();
    world.driver.borrow_mut().hold();
    assert!(world.is_empty());
}

#[test]
fn a_router_that_comes_back_gets_all_again_and_gives_up_what_went_meanwhile() {
    let world = World::new();
    world.network(NET, json!({ "gateway": "router" })).unwrap();
    world.network(OTHER, json!({})).unwrap();
    world.end(json!({}), "").unwrap();
    let before = world.router.now();
    world.router.restarts();
    world.driver.borrow_mut().hold();
    assert_eq!(world.router.now(), before);
    // Gone while the router does not answer: the engine is not kept waiting for it.
    world.router.fails(Some("gone"));
    world.ask("DeleteEndpoint", json!({ "NetworkID": NET, "EndpointID": END })).unwrap();
    world.ask("DeleteNetwork", json!({ "NetworkID": OTHER })).unwrap();
    assert!(world.network(OTHER, json!({})).is_err());
    world.router.fails(None);
    assert_eq!(world.router.now(), before);
    world.driver.borrow_mut().hold();
    let now = world.router.now();
    assert_eq!(now.bridges.keys().collect::<Vec<_>>(), ["dk-0123456789ab"]);
    assert_eq!(now.ports.iter().collect::<Vec<_>>(), ["dg-0123456789ab"]);
    assert!(world.driver.borrow().state().doomed.is_empty());
}

#[test]
fn a_container_whose_device_has_gone_is_no_port() {
    let world = World::new();
    world.network(NET, json!({})).unwrap();
    world.end(json!({}), "").unwrap();
    world.links.0.lock().unwrap().clear();
    world.driver.borrow_mut().hold();
    assert_eq!(world.router.now().bridges["dk-0123456789ab"].len(), 0);
    assert!(world.router.now().ports.is_empty());
    assert!(world.driver.borrow().state().endpoints.is_empty());
    // The engine may yet ask for its end.
    world.ask("DeleteEndpoint", json!({ "NetworkID": NET, "EndpointID": END })).unwrap();
}

#[test]
fn what_is_kept_is_read_again_and_a_file_that_is_none_is_refused() {
    let folder = std::env::temp_dir().join(format!("volley-docker-{}", std::process::id()));
    let file = folder.join("deep/docker.json");
    let (router, links) = (Told::default(), Names::default());
    let driver = || Driver::new(router.clone(), links.clone(), Kept::load(&file).unwrap());
    let body = json!({ "NetworkID": NET }).to_string();
    let asked = driver().handle("/NetworkDriver.CreateNetwork", body.as_bytes()).unwrap();
    assert_eq!(asked, Ok(json!({})));
    router.restarts();
    driver().hold();
    assert!(router.now().bridges.contains_key("dk-0123456789ab"));
    std::fs::write(&file, "{").unwrap();
    assert!(Kept::load(&file).unwrap_err().to_string().contains("docker.json"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn methods_that_are_none_are_told_apart() {
    let world = World::new();
    let handle = |path: &str| world.driver.borrow_mut().handle(path, b"{}");
    assert_eq!(handle("/Plugin.Activate"), Some(Ok(json!({ "Implements": ["NetworkDriver"] }))));
    assert!(handle("/NetworkDriver.GetCapabilities").unwrap().unwrap()["Scope"] == "local");
    assert!(handle("/NetworkDriver.AllocateNetwork").unwrap().is_err());
    for path in ["/", "/NetworkDriver.", "/NetworkDriver.Dance", "/IpamDriver.RequestPool"] {
        assert_eq!(handle(path), None, "{path}");
    }
}

const METHODS: [&str; 7] = [
    "CreateNetwork",
    "DeleteNetwork",
    "CreateEndpoint",
    "DeleteEndpoint",
    "Join",
    "ProgramExternalConnectivity",
    "EndpointOperInfo",
];

proptest! {
    #[test]
    fn any_request_is_answered_and_nothing_is_left_of_what_was_refused(
        method in 0..METHODS.len(),
        body in proptest::collection::vec(any::<u8>(), 0..200),
        id in "[0-9a-f\u{e9}./ ]{0,70}",
        option in "[a-z\" \n]{0,12}",
    ) {
        let world = World::new();
        let path = format!("/NetworkDriver.{}", METHODS[method]);
        drop(world.driver.borrow_mut().handle(&path, &body));
        let asked = world.network(&id, json!({ "bridge": &id, option: "x" }));
        prop_assert!(asked.is_err());
        prop_assert!(world.is_empty());
    }
}
