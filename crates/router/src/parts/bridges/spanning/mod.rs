//! Bridges that are part of a spanning tree: what their ports may do, and what is told and heard.
//!
//! ```text
//!  configuration, links ─┐               ┌─ states ─▶ rows, and then ─▶ messages sent, stations forgotten
//!  workers' punts ───────┼▶ rstp::Bridge ┤
//!  clock ────────────────┘               └─ messages, where no state is another ─▶ sent at once
//! ```
//! What a port says when it agrees is true of workers by then: messages wait until rows are
//! published. A VLAN of a port, in another bridge, goes the way of the port.

mod show;

use crate::core::Core;
use crate::interfaces::OpenPort;
use control::config::objects::bridge::{Bridge, BridgeName, Member};
use control::config::objects::bridge_rstp::{Rstp, RstpVersion};
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use nodes::tables::{BpduHeard, BridgeId, BridgePort, Spanning};
use rstp::{Action, FRAME_LEN, PortSettings, Settings, State};
use std::collections::{BTreeMap, BTreeSet};

/// Between two looks at links.
const PERIOD_NS: u64 = 50_000_000;
/// What the way by a port costs that does not know its speed: a gigabit's.
const USUAL_COST: u32 = 20_000;

/// All bridges that are part of one.
#[derive(Default)]
pub(super) struct Spannings {
    trees: BTreeMap<BridgeId, Tree>,
    /// Bridges whose ports are part of another's, by its name.
    joined: BTreeMap<BridgeId, (BridgeName, Vec<Member>)>,
    next_ns: u64,
}

/// One of them. Its machines know ports by the numbers of their interfaces.
struct Tree {
    name: BridgeName,
    config: Rstp,
    members: Vec<Member>,
    /// Ports of other bridges that are part of it.
    joined: Vec<Member>,
    /// Those that take part, by the numbers of their interfaces.
    names: BTreeMap<u16, PortName>,
    machine: rstp::Bridge,
    /// What workers are told that ports may do.
    states: BTreeMap<u16, State>,
    /// Rows are to be published before what follows.
    waits: bool,
    sends: Vec<(u16, [u8; FRAME_LEN])>,
    forgets: BTreeSet<u16>,
}

impl Spannings {
    /// Makes a bridge take part as its configuration says, or no longer.
    pub(super) fn set(
        &mut self,
        core: &Core,
        id: BridgeId,
        name: &BridgeName,
        config: Option<&Bridge>,
    ) {
        self.set_own(core, id, name, config);
        match config.and_then(|config| Some((config.tree.clone()?, config.ports.clone()))) {
            Some(joins) => drop(self.joined.insert(id, joins)),
            None => drop(self.joined.remove(&id)),
        }
        for tree in self.trees.values_mut() {
            let of_it = self.joined.values().filter(|it| it.0 == tree.name);
            let joined = of_it.flat_map(|it| &it.1);
            // One behind flows has ports of these, which are part of it already.
            let is_own = |it: &&Member| tree.members.iter().any(|own| own.port == it.port);
            tree.joined = joined.filter(|it| !is_own(it)).cloned().collect();
        }
    }

    /// The same, but for ports of other bridges.
    fn set_own(&mut self, core: &Core, id: BridgeId, name: &BridgeName, config: Option<&Bridge>) {
        self.next_ns = 0;
        let wanted = config.and_then(|config| Some((config, config.rstp.as_deref()?)));
        let Some((config, rstp)) = wanted else {
            self.trees.remove(&id);
            return;
        };
        let tree = self.trees.entry(id).or_insert_with(|| Tree {
            name: name.clone(),
            config: rstp.clone(),
            members: Vec::new(),
            joined: Vec::new(),
            names: BTreeMap::new(),
            machine: rstp::Bridge::new(Settings::new([0; 6]), core.now_ns()),
            states: BTreeMap::new(),
            waits: false,
            sends: Vec::new(),
            forgets: BTreeSet::new(),
        });
        let checked = |port: &PortName| tree.members.iter().any(|it| it.port == *port && it.mcheck);
        let checks = config.ports.iter().filter(|it| it.mcheck && !checked(&it.port));
        let checks: Vec<u16> = checks.filter_map(|it| core.ports.id_of(&it.port)).collect();
        checks.into_iter().for_each(|id| tree.machine.check_protocol(id));
        (tree.config, tree.members) = (rstp.clone(), config.ports.clone());
    }

    /// Has the row of a port say what its tree has it do, or that of the port that it is a VLAN of.
    pub(super) fn hold(&self, name: &PortName, port: &OpenPort, row: &mut BridgePort) {
        let of_flows = || row.flow.and_then(|flow| self.trees.get(&flow.bridge));
        let own = self.trees.get(&row.bridge).or_else(of_flows);
        let of_other = || {
            let (of, _) = self.joined.get(&row.bridge)?;
            self.trees.values().find(|tree| tree.name == *of)
        };
        let state = own.or_else(of_other).and_then(|tree| tree.state_of(name, port));
        let of_parent = || {
            let parent = port.parent().filter(|_| own.is_none())?;
            self.trees.values().find_map(|tree| tree.state_of_parent(parent))
        };
        row.spanning = match state {
            None => Spanning::None,
            Some(State::Discarding) => Spanning::Discarding,
            Some(State::Learning) => Spanning::Learning,
            Some(State::Forwarding) => Spanning::Forwarding,
        };
        if let Some(state) = state.or_else(of_parent) {
            row.learn &= state != State::Discarding;
            row.forward &= state == State::Forwarding;
        }
    }

    /// Workers have the rows: what waited for that is done.
    pub(super) fn published(&mut self, core: &mut Core) {
        for tree in self.trees.values_mut() {
            tree.waits = false;
            tree.speak(core);
        }
    }

    /// A link came or went.
    pub(super) fn link_changed(&mut self, core: &mut Core) {
        self.next_ns = 0;
        self.turn(core);
    }

    /// Takes in what another bridge said.
    pub(super) fn hear(&mut self, core: &mut Core, heard: &BpduHeard) {
        let of_it = |tree: &&mut Tree| tree.machine.port(heard.interface).is_some();
        if let Some(tree) = self.trees.values_mut().find(of_it) {
            tree.machine.turn(core.now_ns());
            tree.machine.receive_frame(heard.interface, heard.frame());
            tree.follow(core);
        }
    }

    /// Lets time pass, and looks at links.
    pub(super) fn turn(&mut self, core: &mut Core) {
        let now_ns = core.now_ns();
        if self.trees.is_empty() || now_ns < self.next_ns {
            return;
        }
        self.next_ns = now_ns + PERIOD_NS;
        for tree in self.trees.values_mut() {
            tree.look(core);
            tree.machine.turn(now_ns);
            tree.follow(core);
        }
    }
}

/// Whether a port can be part of a tree: neither the router's own station, nor a tunnel with many
/// ends.
fn takes_part(member: &Member, port: &OpenPort) -> bool {
    let kind = &port.config.kind;
    member.spanning && *kind != PortKind::Bvi && !kind.has_remotes()
}

/// The same of a port of a bridge that joins the tree of another: what is a VLAN of a port does
/// what that does.
fn joins(member: &Member, port: &OpenPort) -> bool {
    takes_part(member, port) && port.parent().is_none()
}

impl Tree {
    /// What a port may do, if it takes part, of its own bridge or of one that joins it. Nothing,
    /// before anything is known.
    fn state_of(&self, name: &PortName, port: &OpenPort) -> Option<State> {
        let of = |all: &[Member], fits: fn(&Member, &OpenPort) -> bool| {
            all.iter().find(|it| it.port == *name).is_some_and(|member| fits(member, port))
        };
        let takes_part = of(&self.members, takes_part) || of(&self.joined, joins);
        let known = self.states.get(&port.id).copied();
        takes_part.then(|| known.unwrap_or(State::Discarding))
    }

    /// The same of the port that something else is a part of.
    fn state_of_parent(&self, parent: &PortName) -> Option<State> {
        let member = self.members.iter().find(|it| it.port == *parent)?;
        member.spanning.then(|| {
            let id = self.names.iter().find(|(_, name)| *name == parent).map(|(id, _)| id);
            id.and_then(|id| self.states.get(id)).copied().unwrap_or(State::Discarding)
        })
    }

    /// Has the machines know the ports that there are, and their links.
    fn look(&mut self, core: &Core) {
        let found = self.members.iter().filter_map(|member| {
            let port = core.ports.get(&member.port)?;
            takes_part(member, port).then_some((member, port))
        });
        let joined = self.joined.iter().filter_map(|member| {
            let port = core.ports.get(&member.port)?;
            joins(member, port).then_some((member, port))
        });
        let found: Vec<(&Member, &OpenPort)> = found.chain(joined).collect();
        self.machine.set(self.settings(core, &found));
        let mut numbers: BTreeSet<u16> = found.iter().filter_map(|it| it.0.port_number).collect();
        let mut there = BTreeMap::new();
        for (member, port) in found {
            let number = member.port_number.or_else(|| {
                let free = (1..=4095).find(|number| !numbers.contains(number))?;
                numbers.insert(free);
                Some(free)
            });
            let Some(number) = number else { continue };
            let by_speed = match port.link.mbps {
                0 => USUAL_COST,
                mbps => rstp::path_cost(mbps),
            };
            let settings = PortSettings {
                number,
                priority: member.port_priority,
                path_cost: member.path_cost.unwrap_or(by_speed),
                admin_edge: member.admin_edge,
                auto_edge: member.auto_edge,
                point_to_point: member.point_to_point,
            };
            let enabled = port.carries() && !port.closing;
            self.machine.set_port(port.id, settings, enabled);
            there.insert(port.id, member.port.clone());
        }
        let gone = self.machine.ports().map(|(id, _)| id).filter(|id| !there.contains_key(id));
        gone.collect::<Vec<_>>().into_iter().for_each(|id| self.machine.remove_port(id));
        self.names = there;
    }

    fn settings(&self, core: &Core, found: &[(&Member, &OpenPort)]) -> Settings {
        let own = self.members.iter().filter_map(|member| core.ports.get(&member.port));
        let own = own.filter(|port| port.config.kind == PortKind::Bvi).map(|port| port.mac).next();
        let lowest = || found.iter().map(|(_, port)| port.mac).min();
        let address = self.config.address.map(|it| it.0).or(own).or_else(lowest);
        Settings {
            address: address.unwrap_or_default(),
            priority: self.config.priority,
            max_age_s: self.config.max_age.as_secs() as u8,
            forward_delay_s: self.config.forward_delay.as_secs() as u8,
            hold_count: self.config.hold_count,
            is_rapid: self.config.version == RstpVersion::Rstp,
        }
    }

    /// Takes in what the machines want.
    fn follow(&mut self, core: &mut Core) {
        for action in self.machine.take_actions() {
            match action {
                Action::Flush(id) => _ = self.forgets.insert(id),
                Action::Send(id, bpdu) => {
                    if let Some(port) = core.ports.of_id(id) {
                        self.sends.push((id, bpdu.frame(port.mac)));
                    }
                }
            }
        }
        let states: BTreeMap<u16, State> =
            self.machine.ports().map(|(id, port)| (id, port.state())).collect();
        if states != self.states {
            self.tell(&states);
            self.states = states;
            self.waits = true;
            core.touch_rows();
        }
        self.speak(core);
    }

    /// Forgets stations and sends messages, unless rows are to be published before.
    fn speak(&mut self, core: &mut Core) {
        if self.waits {
            return;
        }
        for id in std::mem::take(&mut self.forgets) {
            let parts = self.names.get(&id).into_iter().flat_map(|name| {
                let is_part = move |port: &&OpenPort| port.parent() == Some(name);
                core.ports.iter().map(|(_, port)| port).filter(is_part).map(|port| port.id)
            });
            let all: Vec<u16> = parts.chain([id]).collect();
            all.into_iter().for_each(|id| core.forget_stations_behind(id));
        }
        for (id, frame) in self.sends.drain(..) {
            core.neighborhood.send(id, &frame);
        }
    }

    /// Tells of ports that may do something else now.
    fn tell(&self, states: &BTreeMap<u16, State>) {
        for (id, state) in states.iter().filter(|(id, state)| self.states.get(id) != Some(state)) {
            let (Some(port), Some(known)) = (self.names.get(id), self.machine.port(*id)) else {
                continue;
            };
            let (bridge, role) = (&self.name, show::role_word(known.role()));
            let state = show::state_word(*state);
            tracing::info!(%bridge, %port, role, state, "the spanning tree has a port do this");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::router::Router;
    use control::config::{Config, Host, Source, parse};
    use nodes::tables::{BpduHeard, BridgePort, Mode, Spanning};
    use rstp::{Bpdu, BridgeId, Configuration, Kind, Role, Said, Times, Vector};
    use std::sync::Arc;

    const PORTS: &str = "workers = { mode = \"single-thread\" }\n\
         memory = { buffers = 4096, hugepages = \"never\" }\n\
         port.p1 = { kind = \"memory\", mac = \"02:00:00:00:00:11\" }\n\
         port.p2 = { kind = \"memory\", mac = \"02:00:00:00:00:12\" }\n\
         port.v7 = { kind = \"vlan\", parent = \"p2\", vlan = 7 }\n\
         port.own = { kind = \"bvi\", mac = \"02:00:00:00:00:21\" }\n\
         bridge.vlan7 = { ports = [\"v7\"] }\n";

    fn config(bridge: &str) -> Config {
        let text =
            format!("{PORTS}bridge.lan = {{ ports = [\"p1\", \"p2\", \"own\"], {bridge} }}\n");
        parse(&Source::new("router.toml", text), &Host::any()).unwrap()
    }

    fn started(config: &Config) -> Router {
        let empty = Config::default();
        let mut router = Router::start(config, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&empty, config)).unwrap();
        router.turn();
        router
    }

    fn row(router: &Router, name: &str) -> BridgePort {
        let row = router.core.dataplane.interfaces().all().find(|row| row.name == name).unwrap();
        let Mode::Bridged(port) = row.mode else { panic!("{row:?}") };
        port
    }

    /// A better root says something by a port.
    fn says(router: &mut Router, port: &str, priority: u16, said: Said) {
        use crate::part::Hears;
        let name = control::config::field::Field::from_text(port).unwrap();
        let interface = router.core.ports.id_of(&name).unwrap();
        let root = BridgeId::new(priority, [6; 6]);
        let vector = Vector { root, cost: 0, bridge: root, port: 0x8001 };
        let told = Configuration { kind: Kind::Rapid, vector, times: Times::default(), said };
        let frame = Bpdu::Configuration(told).frame([6; 6]);
        router.parts.bridges.hear(&mut router.core, BpduHeard::new(interface, &frame));
        router.turn();
    }

    #[test]
    fn ports_discard_until_the_tree_knows_better_and_what_stands_on_them_too() {
        let mut router = started(&config("rstp = true"));
        for port in ["p1", "p2"] {
            let port = row(&router, port);
            assert_eq!(
                (port.spanning, port.learn, port.forward),
                (Spanning::Discarding, false, false)
            );
        }
        assert_eq!(
            (row(&router, "own").spanning, row(&router, "own").forward),
            (Spanning::None, true)
        );
        assert!(!row(&router, "v7").forward && row(&router, "v7").spanning == Spanning::None);
        // A root that proposes is agreed with: that port forwards at once, the other does not.
        let proposes = Said { proposal: true, ..Said::by(Role::Designated) };
        says(&mut router, "p2", 4096, proposes);
        assert_eq!(row(&router, "p2").spanning, Spanning::Forwarding);
        assert!(row(&router, "p2").forward && row(&router, "v7").forward);
        assert!(!row(&router, "p1").forward);
        let tree = router.parts.bridges.show_spanning(&router.core).remove(0);
        assert_eq!(
            (tree.root_id.as_str(), tree.root_port.as_deref()),
            ("1.000.060606060606", Some("p2"))
        );
        assert_eq!((tree.bridge_id.as_str(), tree.topology_changes), ("8.000.020000000021", 1));
        let ports: Vec<_> = tree.ports.iter().map(|it| (it.role.as_str(), it.received)).collect();
        assert_eq!(ports, [("designated", 0), ("root", 1)]);
        assert!(tree.ports.iter().all(|it| it.sent > 0));
        // The same root by the other port, too: one is enough.
        says(&mut router, "p1", 4096, proposes);
        assert_eq!([row(&router, "p1"), row(&router, "p2")].map(|it| it.forward), [true, false]);
    }

    #[test]
    fn ports_of_a_vlan_are_part_of_the_tree_that_their_bridge_joins() {
        let text = format!(
            "{PORTS}port.p3 = {{ kind = \"memory\" }}\n\
             bridge.lan = {{ ports = [\"p1\", \"p2\", \"own\"], rstp = true }}\n"
        );
        let text = text.replace(
            "bridge.vlan7 = { ports = [\"v7\"] }",
            "bridge.vlan7 = { ports = [\"v7\", \"p3\"], tree = \"lan\" }",
        );
        let read =
            |text: &str| parse(&Source::new("router.toml", text.to_owned()), &Host::any()).unwrap();
        let joined = read(&text);
        let mut router = started(&joined);
        let row_of = |router: &Router, name: &str| {
            let row = row(router, name);
            (row.spanning, row.forward)
        };
        assert_eq!(row_of(&router, "p3"), (Spanning::Discarding, false));
        assert_eq!(row_of(&router, "v7"), (Spanning::None, false));
        let tree = router.parts.bridges.show_spanning(&router.core).remove(0);
        let names: Vec<_> = tree.ports.iter().map(|it| it.port.as_str()).collect();
        assert_eq!(names, ["p1", "p2", "p3"]);
        // A better root behind the one port, and the same behind the port with the tag.
        let proposes = Said { proposal: true, ..Said::by(Role::Designated) };
        says(&mut router, "p3", 4096, proposes);
        assert_eq!(row_of(&router, "p3"), (Spanning::Forwarding, true));
        says(&mut router, "p2", 4096, proposes);
        let forward = ["p2", "v7", "p3"].map(|name| row_of(&router, name).1);
        assert_eq!(forward, [true, true, false]);
        // Without it the port forwards as it did, and the VLAN of the other goes its way still.
        let alone = read(&text.replace(", tree = \"lan\"", ""));
        router.apply_all(&Config::diff(&joined, &alone)).unwrap();
        router.turn();
        assert_eq!(row_of(&router, "p3"), (Spanning::None, true));
        assert_eq!(router.parts.bridges.show_spanning(&router.core)[0].ports.len(), 2);
    }

    #[test]
    fn without_a_tree_ports_forward_as_they_did() {
        let with = config("rstp = true");
        let without = config("");
        let mut router = started(&with);
        router.apply_all(&Config::diff(&with, &without)).unwrap();
        router.turn();
        for port in ["p1", "p2", "v7"] {
            let port = row(&router, port);
            assert_eq!((port.spanning, port.learn, port.forward), (Spanning::None, true, true));
        }
        assert!(router.parts.bridges.show_spanning(&router.core).is_empty());
        let alone = config("rstp = true").bridges;
        let mut other = with.clone();
        other.bridges = alone;
        let lan = other.bridges.iter().next().map(|(name, _)| name.clone()).unwrap();
        let mut bridge = other.bridges.get(&lan).unwrap().clone();
        bridge.ports[0].spanning = false;
        other.bridges.insert(lan, bridge);
        router.apply_all(&Config::diff(&without, &other)).unwrap();
        router.turn();
        assert_eq!([row(&router, "p1"), row(&router, "p2")].map(|it| it.forward), [true, false]);
    }
}
