use crate::router::Router;
use control::config::{Config, Host, Source, edit, parse};
use control::engine::Engine;
use fib::Forward;
use nodes::tables::{Kind, VrfTables};
use std::sync::Arc;

const START: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
port.lan = { kind = "memory", addresses = ["10.1.0.1/24"] }
port.wan = { kind = "memory", addresses = ["192.0.2.1/24", "2001:db8::1/64"] }
port.lisp0 = { kind = "lisp", instance_id = 7, locators = ["192.0.2.1", "2001:db8::1"] }
neighbor = [
  { address = "192.0.2.2", port = "wan", mac = "02:00:00:00:00:02" },
  { address = "192.0.2.3", port = "wan", mac = "02:00:00:00:00:03" },
]
route = [{ prefix = "10.0.0.0/8", port = "lisp0" }]
"#;

struct Rig {
    router: Router,
    running: Config,
}

impl Rig {
    fn new() -> Self {
        let start = parse(&Source::new("file", START), &Host::any()).unwrap();
        let mut router = Router::start(&start, Arc::new(|| ())).unwrap();
        let before = Config {
            workers: start.workers.clone(),
            memory: start.memory.clone(),
            ..Config::default()
        };
        router.apply(&before, &start, &Config::diff(&before, &start)).unwrap();
        Self { router, running: start }
    }

    fn say(&mut self, commands: &str) {
        let new = edit(&self.running, &Source::new("commands", commands), &Host::any()).unwrap();
        self.router.apply(&self.running, &new, &Config::diff(&self.running, &new)).unwrap();
        self.running = new;
    }

    /// The state of each locator of the only entry.
    fn states(&self) -> Vec<String> {
        let entries = self.router.parts.lisp.show_cache(&self.router.core);
        entries.iter().flat_map(|entry| &entry.rlocs).map(|rloc| rloc.state.clone()).collect()
    }

    fn maps(&self) -> VrfTables {
        self.router.parts.lisp.forwarding.maps_for_tests()
    }

    fn word(&self, address: [u8; 4]) -> Forward {
        self.maps().ip4.lookup(u32::from_be_bytes(address))
    }

    /// How the flows to an address are shared: locators and buckets.
    fn shared(&self, address: [u8; 4]) -> Vec<usize> {
        let word = self.word(address);
        assert_eq!(word.kind(), Kind::Group as u8);
        let members = self.router.core.dataplane.groups.members(fib::ecmp::GroupId(word.id()));
        members.into_iter().map(|(_, buckets)| buckets).collect()
    }
}

fn is(word: Forward, kind: Kind) -> bool {
    word.kind() == kind as u8
}

#[test]
fn mappings_are_words_and_go_as_they_came() {
    let mut rig = Rig::new();
    assert_eq!(rig.word([10, 2, 0, 9]), Forward::NONE);
    rig.say("lisp_map add 10.2.0.0/16 lisp0 rlocs 192.0.2.2");
    assert!(is(rig.word([10, 2, 0, 9]), Kind::Rewrite));
    rig.say("lisp_map add 10.2.0.0/16 lisp0 action drop");
    assert!(is(rig.word([10, 2, 0, 9]), Kind::Blackhole));
    rig.say("lisp_map add 10.2.0.0/16 lisp0 action native");
    assert!(is(rig.word([10, 2, 0, 9]), Kind::Vrf));
    rig.say("port set lisp0 petr 192.0.2.3");
    assert!(is(rig.word([10, 2, 0, 9]), Kind::Rewrite), "to the proxy");
    rig.say("lisp_map add 10.2.0.0/16 lisp0 action ask");
    assert!(is(rig.word([10, 2, 0, 9]), Kind::NoRoute));
    rig.say("lisp_map del 10.2.0.0/16 lisp0");
    assert_eq!(rig.word([10, 2, 0, 9]), Forward::NONE);
}

#[test]
fn the_lowest_priority_gets_the_flows_by_weight_and_the_next_when_its_routes_are_gone() {
    let mut rig = Rig::new();
    rig.say(
        "route add 198.51.100.0/24 via 192.0.2.2\nroute add 203.0.113.0/24 via 192.0.2.3\n\
         lisp_map add 10.2.0.0/16 lisp0 rlocs 198.51.100.9 priority 1 weight 3 \
         rlocs 203.0.113.9 priority 1 weight 1 rlocs 192.0.2.3 priority 2",
    );
    assert_eq!(rig.states(), ["used", "used", "standby"]);
    let mut shared = rig.shared([10, 2, 0, 9]);
    shared.sort_unstable();
    assert_eq!(shared[1] / shared[0], 3, "{shared:?}");
    rig.say("route del 203.0.113.0/24");
    assert_eq!(rig.states(), ["used", "no route", "standby"]);
    assert!(is(rig.word([10, 2, 0, 9]), Kind::Rewrite));
    rig.say("route del 198.51.100.0/24");
    assert_eq!(rig.states(), ["no route", "no route", "used"]);
    rig.say("route add 198.51.100.0/24 via 192.0.2.2");
    assert_eq!(rig.states(), ["used", "no route", "standby"]);
    rig.say("port set wan down");
    assert!(is(rig.word([10, 2, 0, 9]), Kind::Unreachable));
}

#[test]
fn a_port_that_goes_takes_its_words_along_and_workers_hear_nothing_any_more() {
    let mut rig = Rig::new();
    rig.say("lisp_map add 10.2.0.0/16 lisp0 rlocs 192.0.2.2 rlocs 192.0.2.3");
    let groups = |rig: &Rig| rig.router.core.dataplane.groups.memory().groups;
    assert_eq!(rig.shared([10, 2, 0, 9]).len(), 2);
    let before = groups(&rig);
    rig.say("lisp_map del 10.2.0.0/16 lisp0\nroute del 10.0.0.0/8\nport del lisp0");
    assert!(rig.router.parts.lisp.forwarding.is_empty());
    rig.router.core.dataplane.reclaim();
    assert!(groups(&rig) <= before);
    assert_eq!(rig.router.parts.lisp.show(&rig.router.core).instances, []);
}
