use crate::part::Part;
use crate::router::Router;
use control::config::{Config, Host, Source, edit, parse};
use control::engine::Engine;
use fib::Forward;
use nodes::tables::{EidWanted, Kind, LispSaid, VrfTables};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::craft;
use wire::lisp::{Action, Address, Eid, Locator, MapRecord, RequestHead, reply};

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

    /// Something is said to us, from 192.0.2.2.
    fn tell(&mut self, message: &[u8]) {
        let packet = craft::ipv4([192, 0, 2, 2], [192, 0, 2, 1]).udp(4342, 4342).payload(message);
        let packet = self.router.core.pool.cache().copy_of(&packet.build()).unwrap();
        let wan = control::config::field::Field::from_text("wan").unwrap();
        let interface = self.router.core.ports.id_of(&wan).unwrap();
        let said = LispSaid { interface, upper: 20, packet };
        self.router.parts.lisp.hear_message(&mut self.router.core, said);
        self.router.parts.lisp.turn(&mut self.router.core, Instant::now());
    }

    /// How often something was counted.
    fn counted(&self, what: &str) -> u64 {
        let shown = self.router.parts.lisp.show(&self.router.core);
        shown.messages.iter().find(|it| it.message == what).map_or(0, |it| it.count)
    }

    /// The nonce with which an endpoint is asked for.
    fn asked(&mut self, endpoint: [u8; 4]) -> u64 {
        let port = control::config::field::Field::from_text("lisp0").unwrap();
        let interface = self.router.core.ports.id_of(&port).unwrap();
        let wanted = EidWanted { interface, endpoint: endpoint.into(), packet: None };
        self.router.parts.lisp.want(&mut self.router.core, wanted);
        let later = self.router.core.now_ns() + 5_000_000_000;
        let (questions, _) = self.router.parts.lisp.asker.due(later);
        questions.last().unwrap().nonce
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

fn record(instance: u32, network: [u8; 4], at: [u8; 4]) -> MapRecord {
    MapRecord {
        ttl_minutes: 60,
        eid: Eid::new(instance, network.into(), 16).unwrap(),
        action: Action::None,
        is_authoritative: true,
        locators: vec![Locator::new(at.into(), 1, 1)],
    }
}

#[test]
fn an_answer_teaches_what_was_asked_and_once() {
    const STRANGER: &str = "map-reply that nobody asked for";
    let mut rig = Rig::new();
    rig.say("lisp set map_resolvers 192.0.2.2");
    let nonce = rig.asked([10, 2, 0, 9]);
    let right = record(7, [10, 2, 0, 0], [192, 0, 2, 3]);
    for (nonce, record) in [
        (nonce ^ 1, right.clone()),
        (nonce, record(7, [10, 3, 0, 0], [192, 0, 2, 3])),
        (nonce, record(8, [10, 2, 0, 0], [192, 0, 2, 3])),
    ] {
        rig.tell(&reply(nonce, false, &[record]));
    }
    assert_eq!((rig.word([10, 2, 0, 9]), rig.counted(STRANGER)), (Forward::NONE, 3));
    rig.tell(&reply(nonce, false, std::slice::from_ref(&right)));
    assert!(is(rig.word([10, 2, 0, 9]), Kind::Rewrite));
    assert_eq!((rig.counted("map-reply heard"), rig.states()), (1, vec!["used".to_owned()]));
    let elsewhere = record(7, [10, 2, 0, 0], [192, 0, 2, 2]);
    rig.tell(&reply(nonce, false, &[elsewhere]));
    assert_eq!(rig.counted(STRANGER), 4);
    let entries = rig.router.parts.lisp.show_cache(&rig.router.core);
    assert_eq!(entries[0].rlocs[0].address, "192.0.2.3");
    // Without the port nothing of it is left.
    rig.say("route del 10.0.0.0/8\nport del lisp0");
    assert!(rig.router.parts.lisp.show_cache(&rig.router.core).is_empty());
}

#[test]
fn our_own_networks_are_answered_for_and_no_others() {
    let mut rig = Rig::new();
    rig.say("lisp_eid add 10.1.0.0/16 lisp0");
    let asks = |network: [u8; 4], instance| {
        let head = RequestHead { nonce: 5, ..RequestHead::default() };
        let eid = Eid::host(instance, IpAddr::from(network));
        head.write(Address::None, &[[192, 0, 2, 2].into()], eid)
    };
    rig.tell(&asks([10, 1, 0, 9], 7));
    assert_eq!(rig.counted("map-reply sent"), 1);
    for (network, instance) in [([10, 5, 0, 9], 7), ([10, 1, 0, 9], 8)] {
        rig.tell(&asks(network, instance));
    }
    assert_eq!(rig.counted("map-request for what is not ours"), 2);
    // Who asked is told to ask again when the network changes: at once, and twice later.
    rig.say("lisp_eid add 10.1.0.0/16 lisp0 ttl 1h");
    rig.router.parts.lisp.turn(&mut rig.router.core, Instant::now());
    assert_eq!(rig.counted("solicit-map-request sent"), 1);
    rig.tell(b"nothing that anybody knows");
    assert_eq!(rig.counted("message malformed"), 1);
}

#[test]
fn a_solicitation_has_us_ask_again_for_what_we_know_alone() {
    let mut rig = Rig::new();
    rig.say("lisp set map_resolvers 192.0.2.2");
    let solicit = |network: [u8; 4]| {
        let head = RequestHead { nonce: 5, solicits: true, ..RequestHead::default() };
        let eid = Eid::new(7, network.into(), 16).unwrap();
        head.write(Address::None, &[[192, 0, 2, 3].into()], eid)
    };
    rig.tell(&solicit([10, 2, 0, 0]));
    assert_eq!(rig.counted("map-request sent"), 0);
    let nonce = rig.asked([10, 2, 0, 9]);
    rig.tell(&reply(nonce, false, &[record(7, [10, 2, 0, 0], [192, 0, 2, 3])]));
    let before = rig.counted("map-request sent");
    rig.tell(&solicit([10, 2, 0, 0]));
    assert_eq!(rig.counted("map-request sent"), before + 1);
    assert!(is(rig.word([10, 2, 0, 9]), Kind::Rewrite), "what is known serves meanwhile");
}

#[test]
fn what_was_learned_is_known_to_the_next_router_for_the_rest_of_its_time() {
    let mut rig = Rig::new();
    rig.say("lisp set map_resolvers 192.0.2.2");
    let nonce = rig.asked([10, 2, 0, 9]);
    rig.tell(&reply(nonce, false, &[record(7, [10, 2, 0, 0], [192, 0, 2, 3])]));
    let (table, make) = rig.router.parts.lisp.leaves(&rig.router.core).unwrap();
    assert_eq!(table, state::Table::Mappings);
    let bytes = make();
    // An hour it was told for.
    for (age_s, knows) in [(0, true), (3500, true), (3700, false)] {
        let mut next = Rig::new();
        let left = crate::left::OfParts {
            mappings: (state::mappings::read(&bytes).unwrap(), Duration::from_secs(age_s)),
            ..Default::default()
        };
        let Router { parts, core, .. } = &mut next.router;
        parts.lisp.take_over(core, &left);
        assert_eq!(is(next.word([10, 2, 0, 9]), Kind::Rewrite), knows, "after {age_s} s");
        assert_eq!(next.states(), if knows { vec!["used"] } else { vec![] });
        let due = next.router.parts.lisp.cache.next_due_ns();
        let most = (3600 - age_s.min(3600)) * 1_000_000_000 + next.router.core.now_ns();
        assert!(due.is_none_or(|due| due <= most));
    }
    // Of an instance that there is no port of any more nothing is known.
    let mut next = Rig::new();
    next.say("port set lisp0 instance_id 8");
    let mappings = (state::mappings::read(&bytes).unwrap(), Duration::ZERO);
    let left = crate::left::OfParts { mappings, ..Default::default() };
    let Router { parts, core, .. } = &mut next.router;
    parts.lisp.take_over(core, &left);
    assert_eq!(next.states(), Vec::<String>::new());
}
