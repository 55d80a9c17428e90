//! The router itself: its parts, what they stand on, and its turn now and then.

use crate::aside::{aside, breathe, hear_punts};
use crate::capabilities;
use crate::core::Core;
use crate::devices::{DeviceError, Devices};
use crate::drawn::Drawn;
use crate::left::Left;
use crate::neighborhood::Neighborhood;
use crate::parts::Parts;
use crate::parts::routes::{TOGETHER, add_together};
use crate::settings::{neighbor_config, settings};
use crate::turns::Turns;
use crate::world::{Clock, World};
use crate::{ports, rows};
use control::config::{Change, Config};
use control::engine::ApplyError;
use control::pace;
use dataplane::{Dataplane, DataplaneError, Threads};
use fib::FibError;
use fib::ip4::Ip4Layout;
use kernel::Waker;
use std::sync::Arc;

/// Of so many worlds that are given, one has a wide table, as a router on a machine has.
const WIDE_OF: u64 = 8;

/// Why the router does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No packets to be had.
    #[error(transparent)]
    Devices(#[from] DeviceError),
    /// No workers or tables.
    #[error(transparent)]
    Dataplane(#[from] DataplaneError),
    /// No routes.
    #[error(transparent)]
    Table(#[from] FibError),
    /// Nothing to wake the kernel's twins with.
    #[error("no event file: {0}")]
    Waker(#[from] std::io::Error),
    /// Neither kind of pool.
    #[error("there is no pool of packet buffers")]
    NoPool,
}

/// The running router. Implements [`control::engine::Engine`].
pub struct Router {
    /// First, so that they end first: their threads use buffers and queues.
    pub(crate) parts: Parts,
    pub(crate) core: Core,
    pub(crate) drawn: Arc<Drawn>,
    pub(crate) turns: Turns,
}

impl Router {
    /// Starts workers and memory as `config` says; nothing else of it is applied yet. `wake` is
    /// called, from any thread, when [`control::engine::Engine::tick`] should be called soon.
    pub fn start(config: &Config, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Self, StartError> {
        Self::start_with(config, wake, Devices::start(config)?, Clock::machine())
    }

    /// The same in another world than the machine: one whose time stands until it is moved. One
    /// thread does all there, whatever `config` says of workers.
    pub fn start_in(world: World, config: &Config) -> Result<Self, StartError> {
        let World { time, pool, opener } = world;
        let devices = Devices::given(config, pool, opener);
        Self::start_with(config, Arc::new(|| ()), devices, Clock::given(time))
    }

    fn start_with(
        config: &Config,
        wake: Arc<dyn Fn() + Send + Sync>,
        devices: Devices,
        clock: Clock,
    ) -> Result<Self, StartError> {
        let turns = Turns::new(clock.now());
        let wake = turns.asked_for(wake);
        let pool = devices.pool().ok_or(StartError::NoPool)?;
        let (waker, mut settings) =
            (Waker::new()?, settings(config, Arc::clone(&pool), Arc::clone(&wake)));
        if let Some(chance) = clock.given_chance() {
            (settings.threads, settings.flow_seed) = (Threads::Caller, chance as u32);
            // A small table, but for a few worlds: the ranges that are nobody's take 12 MiB of a
            // wide one each time that a world begins.
            if !chance.is_multiple_of(WIDE_OF) {
                settings.ip4.layout = Ip4Layout::Compact;
            }
        }
        if let Some(given) = clock.given_flow_clock() {
            settings.flow_clock = given;
        }
        let wakes = waker.clone();
        settings.wake_twins = Arc::new(move || wakes.wake());
        let dataplane = Dataplane::start(&settings)?;
        let neighborhood = Neighborhood::new(
            neighbor_config(&config.arp),
            config.arp.hold_packets.into(),
            pool.cache(),
            dataplane.injector.clone(),
        );
        let core = Core::new(dataplane, devices, pool, neighborhood, wake, waker, clock)?;
        let (parts, drawn) = (Parts::default(), Arc::default());
        Ok(Self { parts, core, drawn, turns })
    }

    /// What a router before this one left is taken over when the configuration is applied, and this
    /// one leaves the like.
    pub fn keep_state(&mut self, left: Left) {
        self.core.recalled = left.routes.as_ref().map(|(routes, _)| Arc::clone(routes));
        self.core.stands_in = left.age.is_some();
        self.parts.keeping.find(left);
    }

    /// Gives the routes that were left their places, while packets are forwarded as they say.
    pub fn take_over(&mut self) {
        pace::begin("take over");
        while self.parts.keeping.learn_some(&mut self.core) {
            breathe(&mut self.parts, &mut self.core);
        }
        pace::end();
    }

    /// Makes all changes, or none. A change that fails is followed by the inverses of those before
    /// it, so that the whole takes effect or nothing does.
    pub(crate) fn apply_all(&mut self, changes: &[Change]) -> Result<(), ApplyError> {
        let (mut done, mut one_by_one) = (0, 0);
        while let Some(change) = changes.get(done) {
            breathe(&mut self.parts, &mut self.core);
            if done >= one_by_one {
                match add_together(&mut self.core, &changes[done..]) {
                    None => {}
                    Some(0) => one_by_one = done + TOGETHER,
                    Some(count) => {
                        done += count;
                        continue;
                    }
                }
            }
            if let Err(error) = self.step(change) {
                self.core.is_undoing = true;
                for made in changes[..done].iter().rev() {
                    breathe(&mut self.parts, &mut self.core);
                    if let Err(fault) = self.step(&made.inverse()) {
                        tracing::warn!(fault = "undo", "while taking back `{made}`: {fault}");
                    }
                }
                self.core.is_undoing = false;
                self.after_steps();
                return Err(capabilities::explained(error));
            }
            done += 1;
        }
        self.after_steps();
        Ok(())
    }

    fn step(&mut self, change: &Change) -> Result<(), ApplyError> {
        if let Some(work) = self.parts.prepare(&self.core, change) {
            let take_in = aside(&mut self.parts, &mut self.core, work);
            take_in(&mut self.parts);
        }
        self.parts.make(&mut self.core, change, ports::change)?;
        ports::follow_touched(&mut self.parts, &mut self.core)
    }

    fn after_steps(&mut self) {
        self.core.ports.inherit_macs();
        for part in self.parts.all_mut() {
            part.settle(&mut self.core);
        }
        self.core.touch_rows();
        rows::publish(&mut self.parts, &mut self.core);
        if let Some(left) = self.parts.keeping.take_of_parts() {
            self.parts.all_mut().into_iter().for_each(|part| part.take_over(&mut self.core, &left));
            rows::publish(&mut self.parts, &mut self.core);
        }
        self.core.settle_neighbors();
        let Core { ports, dataplane, .. } = &mut self.core;
        for port in ports.values_mut() {
            port.begin_reading(dataplane);
        }
    }

    /// Keeps what parts would leave to a next router.
    pub(crate) fn leave(&self) {
        let leaves = self.parts.all().into_iter().filter_map(|part| part.leaves(&self.core));
        self.parts.keeping.keep(leaves.collect());
    }

    /// Hears what workers told; true if there is more.
    pub(crate) fn read_punts(&mut self) -> bool {
        hear_punts(&mut self.parts, &mut self.core)
    }

    /// Follows what parts touched, and carries out what neighbours are owed.
    pub(crate) fn settle(&mut self) {
        ports::settle_touched(&mut self.parts, &mut self.core);
        rows::publish(&mut self.parts, &mut self.core);
        self.core.settle_neighbors();
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        self.leave();
        self.parts.keeping.end(&mut self.core);
        for name in self.core.ports.names() {
            for part in self.parts.all_mut() {
                part.leave(&mut self.core, &name, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::config::objects::neighbor::{Neighbor, NeighborKey};
    use control::config::{Delta, Host, Source, parse};
    use fib::neighbor::NeighborState;
    use fib::rib::Protocol;
    use nodes::tables::{Features, Interface, VrfId};
    use std::mem::discriminant;
    use wire::MacAddr;

    const FIXED: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
"#;
    const WHOLE: &str = r#"
icmp = { errors_pps = 7 }
vrf.red = {}
policer.slow = { rate = "1mbit", burst = "10kb" }
acl.edge = { default = "deny", rule = [{ action = "permit" }] }
mirror.m = { destination = "p4", sources = [{ port = "p1" }] }
port.p1 = { kind = "memory", addresses = ["192.0.2.1/24"], acl_in = "edge", redirects = true }
port.p2 = { kind = "memory", police_in = "slow" }
port.p3 = { kind = "memory", vrf = "red", addresses = ["10.0.0.1/24"] }
port.p4 = { kind = "memory" }
port.p5 = { kind = "memory" }
port.p6 = { kind = "memory" }
port.v7 = { kind = "vlan", parent = "p1", vlan = 7, unnumbered = "p1" }
port.vx = { kind = "vxlan", vni = 5, local = "192.0.2.1", remotes = ["192.0.2.7"] }
port.p8 = { kind = "memory" }
port.p9 = { kind = "memory" }
port.b8 = { kind = "bond", members = ["p8", "p9"], mode = "balance-xor", addresses = ["10.8.0.1/24"] }
port.v8 = { kind = "vlan", parent = "b8", vlan = 8, addresses = ["10.88.0.1/24"] }
port.far = { kind = "erspan", session = 5, local = "192.0.2.1", remote = "192.0.2.7" }
port.ip = { kind = "ipip", local = "192.0.2.1", remote = "192.0.2.7", addresses = ["10.77.0.1/30"] }
mirror.f = { destination = "far", truncate = 100, sources = [{ port = "p2" }] }
bridge.lan = { ports = ["p2", "vx"] }
mac = [{ bridge = "lan", address = "06:00:00:00:00:01", port = "vx", remote = "192.0.2.9" }]
xconnect = [{ ports = ["p5", "p6"] }]
port.s1 = { kind = "lisp", locators = ["192.0.2.1"] }
lisp_map = [{ eid = "10.8.0.0/16", port = "s1", rlocs = ["192.0.2.9"] }]
lisp_eid = [{ prefix = "10.7.0.0/16", port = "s1" }]
lisp_server = [{ address = "192.0.2.9", key = "secret" }]
route = [{ prefix = "10.9.0.0/16", via = "192.0.2.9" }]
neighbor = [{ port = "p1", address = "192.0.2.9", mac = "06:00:00:00:00:09" }]
"#;

    fn config(text: &str) -> Config {
        parse(&Source::new("router.toml", format!("{text}{FIXED}")), &Host::any()).unwrap()
    }

    fn rows(router: &Router) -> Vec<Interface> {
        router.core.dataplane.interfaces().all().cloned().collect()
    }

    /// All that changes of the configuration bring about, in words.
    fn state(router: &Router) -> String {
        let Router { core, parts, .. } = router;
        let routes = core.routing.ip4.vrf(VrfId::DEFAULT).map(|it| it.rib.len());
        let stations = core.dataplane.stations.table.len();
        let limit =
            core.dataplane.icmp.errors_per_second.load(std::sync::atomic::Ordering::Relaxed);
        let lists = (parts.acls.show(core)(), parts.policers.show(core), parts.mirrors.show(core));
        let bridges = parts.bridges.show(core);
        let lisp = (parts.lisp.show_cache(core), parts.lisp.show(core).instances);
        let neighbors = core.neighborhood.machine.list();
        let neighbors = neighbors.iter().filter(|it| it.state == NeighborState::Static);
        let neighbors: Vec<_> = neighbors.map(|neighbor| neighbor.key.address).collect();
        // Numbers of ports may be others after they were opened again.
        let kind = |row: &Interface| (discriminant(&row.mode), discriminant(&row.link));
        let names =
            |row: &Interface| [&row.name, &row.vrf_name, &row.bridge_name].map(Clone::clone);
        let featured = |row: &Interface| [&row.input, &row.output].map(Features::is_empty);
        let row = |row: &Interface| {
            format!("{:?}", (names(row), row.up, kind(row), featured(row), &row.ip4))
        };
        let mut rows: Vec<String> = rows(router).iter().map(row).collect();
        rows.sort();
        format!("{:?}", (rows, routes, stations, limit, lists, bridges, neighbors, lisp))
    }

    /// What its devices refuse.
    fn refusals(router: &mut Router) -> &mut crate::devices::Refusals {
        &mut Arc::get_mut(&mut router.core.devices).unwrap().refusals
    }

    /// A step that fails: there is no such port.
    fn bad() -> Change {
        let key = NeighborKey {
            port: control::config::field::Field::from_text("nowhere").unwrap(),
            address: [192, 0, 2, 9].into(),
        };
        Change::Neighbors(Box::new(Delta::Added { key, row: Neighbor { mac: MacAddr([6; 6]) } }))
    }

    #[test]
    fn a_change_that_fails_at_its_last_step_leaves_all_as_it_was() {
        let (empty, whole) = (config(""), config(WHOLE));
        let mut router = Router::start(&empty, Arc::new(|| ())).unwrap();
        router.apply_all(&[]).unwrap();
        let nothing = state(&router);
        let brings = Config::diff(&empty, &whole);
        let failing = |steps: &[Change]| [steps, &[bad()]].concat();
        router.apply_all(&failing(&brings)).unwrap_err();
        assert_eq!(state(&router), nothing);
        router.apply_all(&brings).unwrap();
        let all = state(&router);
        assert_eq!(rows(&router).len(), 15 + 2);
        let takes = Config::diff(&whole, &empty);
        router.apply_all(&failing(&takes)).unwrap_err();
        assert_eq!(state(&router), all);
        router.apply_all(&takes).unwrap();
        assert_eq!(state(&router), nothing);
    }

    #[test]
    fn a_port_whose_device_is_opened_again_keeps_what_the_rest_of_the_configuration_says_of_it() {
        let whole = config(WHOLE);
        let mut router = Router::start(&config(""), Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&config(""), &whole)).unwrap();
        // Who lives on the wire was told of meanwhile, and that was mirrored.
        let uncounted = |router: &Router| {
            let told = state(router);
            let mut parts = told.split("sent: ");
            let first = parts.next().unwrap_or_default().to_owned();
            let is_digit = |c: char| c.is_ascii_digit();
            parts.fold(first, |all, part| all + part.trim_start_matches(is_digit))
        };
        let all = uncounted(&router);
        for (name, _) in whole.ports.iter() {
            let mut other = whole.clone();
            other.ports.get_mut(name).unwrap().mtu = 1400;
            router.apply_all(&Config::diff(&whole, &other)).unwrap();
            assert_eq!(uncounted(&router), all, "{name} has another MTU");
            router.apply_all(&Config::diff(&other, &whole)).unwrap();
            assert_eq!(uncounted(&router), all, "{name} has its MTU again");
        }
    }

    #[test]
    fn routes_that_do_not_all_fit_are_refused_and_those_that_do_are_there_whatever_is_between() {
        let with = |count: usize, room: usize| {
            let route = |n: usize| match n % 700 {
                699 => {
                    format!("{{ prefix = \"10.{}.{}.0/24\", blackhole = true }}", n / 250, n % 250)
                }
                _ => format!(
                    "{{ prefix = \"10.{}.{}.0/24\", via = \"192.0.2.9\" }}",
                    n / 250,
                    n % 250
                ),
            };
            let routes: Vec<String> = (0..count).map(route).collect();
            let memory = format!("buffers = 4096, routes = {room}");
            let fixed = FIXED.replace("buffers = 4096", &memory);
            let port = "port.p1 = { kind = \"memory\", addresses = [\"192.0.2.1/24\"] }";
            let six = "{ prefix = \"2001:db8::/32\", blackhole = true }";
            let text = format!("{port}\nroute = [{six}, {}]\n{fixed}", routes.join(", "));
            parse(&Source::new("router.toml", text), &Host::any()).unwrap()
        };
        let (few, many, most) = (with(1, 4_096), with(3_000, 4_096), with(8_000, 9_000));
        let mut router = Router::start(&few, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&Config::default(), &few)).unwrap();
        let nothing = state(&router);
        let error = router.apply_all(&Config::diff(&few, &most)).unwrap_err();
        assert!(error.to_string().starts_with("route 10."), "{error}");
        assert_eq!(state(&router), nothing);
        router.apply_all(&Config::diff(&few, &many)).unwrap();
        let rib = &router.core.routing.ip4.vrf(VrfId::DEFAULT).unwrap().rib;
        assert_eq!(rib.count(Protocol::Static.into()).active, 3_000);
        router.apply_all(&Config::diff(&many, &few)).unwrap();
        assert_eq!(state(&router), nothing);
    }

    /// What `count` VLANs with an address each cost to make and to take back: entries of routing
    /// looked at, once each of a second round, when numbers of interfaces are used again.
    fn steps_of_vlans(count: usize) -> [u64; 2] {
        let parent = "port.p1 = { kind = \"memory\" }\n";
        let vlan = |n: usize| {
            let (a, b) = (n / 250, n % 250);
            format!(
                "port.v{n} = {{ kind = \"vlan\", parent = \"p1\", vlan = {}, \
                 addresses = [\"10.{a}.{b}.1/24\", \"2001:db8:{a:x}:{b:x}::1/64\"] }}\n",
                n + 1
            )
        };
        let vlans: String = (0..count).map(vlan).collect();
        let (nothing, empty) = (config(""), config(parent));
        let whole = config(&format!("{parent}{vlans}"));
        let mut router = Router::start(&nothing, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&nothing, &empty)).unwrap();
        let mut steps = |from: &Config, to: &Config| {
            let all = |router: &Router| {
                let (ip4, ip6) = (&router.core.routing.ip4, &router.core.routing.ip6);
                let rib4 = &ip4.vrf(VrfId::DEFAULT).unwrap().rib;
                rib4.steps() + ip6.vrf(VrfId::DEFAULT).unwrap().rib.steps()
            };
            let before = all(&router);
            router.apply_all(&Config::diff(from, to)).unwrap();
            all(&router) - before
        };
        steps(&empty, &whole);
        steps(&whole, &empty);
        [steps(&empty, &whole), steps(&whole, &empty)]
    }

    #[test]
    fn what_vlans_cost_grows_as_their_number() {
        let [few, many] = [100, 400].map(steps_of_vlans);
        assert!(few[0] > 100 && few[1] > 100, "{few:?}");
        assert_eq!(many, few.map(|steps| steps * 4));
    }

    #[test]
    fn next_hops_follow_the_mtu_of_their_port_up_and_down_tunnels_too() {
        let with = |mtu: u16| {
            config(&format!(
                "port.p1 = {{ kind = \"memory\", addresses = [\"192.0.2.1/24\"], mtu = {mtu} }}\n\
                 port.t1 = {{ kind = \"gre\", payload = \"packets\", local = \"192.0.2.1\", remote = \"192.0.2.9\", mtu = {} }}\n\
                 neighbor = [{{ port = \"p1\", address = \"192.0.2.9\", \
                 mac = \"06:00:00:00:00:09\" }}]\n\
                 route = [{{ prefix = \"10.9.0.0/16\", via = \"192.0.2.9\" }}, \
                 {{ prefix = \"10.8.0.0/16\", port = \"t1\" }}]\n",
                mtu - 100
            ))
        };
        let mut router = Router::start(&config(""), Arc::new(|| ())).unwrap();
        let mut had = config("");
        for mtu in [1500, 1000, 1400, 700] {
            let wanted = with(mtu);
            router.apply_all(&Config::diff(&had, &wanted)).unwrap();
            let tables = router.core.dataplane.vrfs().get(VrfId::DEFAULT).unwrap();
            let mtu_to = |to: [u8; 4]| {
                let id = tables.ip4.lookup(u32::from_be_bytes(to)).id();
                let adjacencies = &router.core.dataplane.adjacencies;
                let fields = adjacencies.entry(fib::adjacency::AdjacencyId(id)).unwrap().fields();
                assert!(fields.is_complete());
                fields.mtu()
            };
            assert_eq!([[10, 9, 0, 1], [10, 8, 0, 1]].map(mtu_to), [mtu, mtu - 100]);
            had = wanted;
        }
    }

    #[test]
    fn a_port_that_is_not_to_be_had_as_asked_stays_as_it_was() {
        let one = |more: &str| {
            let port = format!("port.p1 = {{ kind = \"memory\", {more} }}\n");
            config(&port)
        };
        let old = one("addresses = [\"192.0.2.1/24\"]");
        let new = one("addresses = [\"192.0.2.2/24\"], source = \"/nowhere/at/all.pcap\"");
        let mut router = Router::start(&old, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&config(""), &old)).unwrap();
        let before = rows(&router);
        router.apply_all(&Config::diff(&old, &new)).unwrap_err();
        assert_eq!(rows(&router), before);
        let connected = router.core.routing.ip4.vrf(VrfId::DEFAULT).unwrap().rib.routes();
        let connected = connected.filter(|route| route.source.protocol == Protocol::Connected);
        let prefixes: Vec<String> = connected.map(|route| route.prefix.to_string()).collect();
        assert_eq!(prefixes, ["192.0.2.0/24", "192.0.2.1/32"]);
    }

    /// A router with one port that replays nothing, as its own configuration has it.
    fn with_one_port() -> (Router, Config) {
        let one = config("port.p1 = { kind = \"memory\", addresses = [\"192.0.2.1/24\"] }\n");
        let mut router = Router::start(&one, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&config(""), &one)).unwrap();
        (router, one)
    }

    fn with(one: &Config, change: impl Fn(&mut control::config::objects::port::Port)) -> Config {
        let mut other = one.clone();
        let name = control::config::field::Field::from_text("p1").unwrap();
        let mut port = other.ports.get(&name).unwrap().clone();
        change(&mut port);
        other.ports.insert(name, port);
        other
    }

    #[test]
    fn a_device_that_takes_another_mac_address_stays_open_and_one_that_refuses_is_as_it_was() {
        let (mut router, one) = with_one_port();
        let before = rows(&router);
        let mac = MacAddr([2, 0, 0, 0, 0, 9]);
        let other = with(&one, |port| port.mac = Some(mac));
        // Whatever happens, nothing is opened.
        refusals(&mut router).open = Some("it is busy");
        refusals(&mut router).readdress = Some("Operation not supported");
        let error = router.apply_all(&Config::diff(&one, &other)).unwrap_err();
        assert_eq!(error.field, "port.p1.mac");
        assert_eq!(error.message, "Operation not supported");
        assert_eq!(rows(&router), before);
        assert!(router.show_ports()[0].link_up);
        refusals(&mut router).readdress = None;
        router.apply_all(&Config::diff(&one, &other)).unwrap();
        assert_eq!(rows(&router)[0].mac, mac.0);
        assert_eq!(rows(&router)[0].ip4, before[0].ip4);
        let shown = &router.show_ports()[0];
        assert!(shown.link_up && shown.problem.is_none());
    }

    #[test]
    fn a_port_that_cannot_be_opened_as_it_was_is_down_with_the_reason_and_tried_again() {
        let (mut router, one) = with_one_port();
        let before = rows(&router);
        refusals(&mut router).open = Some("it is busy");
        let wider = with(&one, |port| port.rx_queues = 2);
        router.apply_all(&Config::diff(&one, &wider)).unwrap_err();
        let shown = &router.show_ports()[0];
        assert_eq!((shown.link_up, shown.problem.as_deref()), (false, Some("it is busy")));
        assert_eq!(shown.rx_queues, 1);
        // What is said of it is what is configured: the same change is one still.
        ports::look_at_links(&mut router.parts, &mut router.core, true);
        assert_eq!(router.show_ports()[0].problem.as_deref(), Some("it is busy"));
        refusals(&mut router).open = None;
        ports::look_at_links(&mut router.parts, &mut router.core, true);
        let shown = &router.show_ports()[0];
        assert!(shown.link_up && shown.problem.is_none());
        assert_eq!(rows(&router), before);
        router.apply_all(&Config::diff(&one, &wider)).unwrap();
        assert_eq!(router.show_ports()[0].rx_queues, 2);
    }

    #[test]
    fn a_port_that_a_failed_change_took_away_comes_back_even_if_its_device_does_not() {
        let (mut router, one) = with_one_port();
        let takes = Config::diff(&one, &config(""));
        refusals(&mut router).open = Some("it is busy");
        router.apply_all(&[&takes[..], &[bad()]].concat()).unwrap_err();
        let shown = &router.show_ports()[0];
        assert_eq!((&shown.name[..], shown.problem.as_deref()), ("p1", Some("it is busy")));
        refusals(&mut router).open = None;
        ports::look_at_links(&mut router.parts, &mut router.core, true);
        assert!(router.show_ports()[0].link_up);
    }
}
