//! Bonds of a running router.

use crate::router::Router;
use control::config::field::Field;
use control::config::objects::port::PortName;
use control::config::{Config, Host, Source, parse};
use control::view;
use fib::mac::MacKey;
use nodes::tables::{BondHash, BondWays, Collects, ComesBack, Interface, LacpHeard, Mode, SHARES};
use std::collections::BTreeSet;
use std::sync::Arc;
use wire::lacp::{End, Pdu};

const PORTS: &str = "workers = { mode = \"single-thread\" }\n\
     memory = { buffers = 4096, hugepages = \"never\" }\n\
     port.p1 = { kind = \"memory\", mac = \"02:00:00:00:00:11\" }\n\
     port.v7 = { kind = \"vlan\", parent = \"b0\", vlan = 7, addresses = [\"10.7.0.1/24\"] }\n";

fn text(second: &str, bond: &str) -> String {
    format!(
        "{PORTS}port.p2 = {{ kind = \"memory\", {second} }}\n\
         port.b0 = {{ kind = \"bond\", members = [\"p1\", \"p2\"], {bond} }}\n"
    )
}

fn config(second: &str, bond: &str) -> Config {
    parse(&Source::new("router.toml", text(second, bond)), &Host::any()).unwrap()
}

fn started(config: &Config) -> Router {
    let empty = Config::default();
    let mut router = Router::start(config, Arc::new(|| ())).unwrap();
    router.apply_all(&Config::diff(&empty, config)).unwrap();
    router
}

fn row<'a>(router: &'a Router, name: &str) -> &'a Interface {
    router.core.dataplane.interfaces().all().find(|row| row.name == name).unwrap()
}

/// The members that frames leave by, and those whose frames are taken in.
fn carrying(router: &Router) -> (Vec<String>, Vec<&'static str>) {
    let ways = row(router, "b0").get::<BondWays>().unwrap();
    let name = |id: &u16| router.core.port_of(*id).unwrap().0.to_string();
    let collects = |name: &&str| {
        let mode = row(router, name).mode;
        matches!(mode, Mode::Member(member) if member.collects != Collects::Nothing)
    };
    (ways.members.iter().map(name).collect(), ["p1", "p2"].into_iter().filter(collects).collect())
}

fn shown(router: &Router) -> view::Bond {
    router.parts.bonds.show(&router.core).remove(0)
}

/// Turns for long enough that links are looked at, however the machine stalls: the last one is
/// behind all of that time.
fn turn_for_a_while(router: &mut Router) {
    let end = std::time::Instant::now() + std::time::Duration::from_millis(250);
    while std::time::Instant::now() < end {
        router.turn();
    }
    router.turn();
}

fn link_is_up(router: &Router, name: &str) -> bool {
    router.core.ports.get(&PortName::from_text(name).unwrap()).unwrap().link.up
}

/// Links are looked at now and then.
fn until_up(router: &mut Router, names: &[&str], up: bool) {
    until(router, |router| names.iter().all(|name| link_is_up(router, name) == up));
}

#[test]
fn members_carry_as_the_mode_says_and_the_bond_has_their_link_and_mac() {
    let both = config("", "mode = \"balance-xor\"");
    let mut router = started(&both);
    let members = || vec!["p1".to_owned(), "p2".to_owned()];
    assert_eq!(carrying(&router), (members(), vec!["p1", "p2"]));
    until_up(&mut router, &["b0", "v7"], true);
    for name in ["b0", "v7"] {
        assert_eq!(row(&router, name).mac, [2, 0, 0, 0, 0, 0x11]);
    }
    // Of two that must carry, one is down: nothing leaves.
    let one = config("up = false", "mode = \"balance-xor\", min_links = 2");
    router.apply_all(&Config::diff(&both, &one)).unwrap();
    assert_eq!(carrying(&router), (Vec::new(), vec!["p1"]));
    until_up(&mut router, &["b0", "v7"], false);
    assert_eq!((shown(&router).carrying, shown(&router).link_up), (1, false));
}

#[test]
fn the_primary_carries_while_it_is_up_and_another_takes_over() {
    let backup = "mode = \"active-backup\", primary = \"p2\"";
    let (up, down) = (config("", backup), config("up = false", backup));
    let mut router = started(&up);
    assert_eq!(carrying(&router), (vec!["p2".to_owned()], vec!["p2"]));
    router.apply_all(&Config::diff(&up, &down)).unwrap();
    assert_eq!(carrying(&router), (vec!["p1".to_owned()], vec!["p1"]));
    assert_eq!(shown(&router).failovers, 1);
    router.apply_all(&Config::diff(&down, &up)).unwrap();
    assert_eq!(carrying(&router), (vec!["p2".to_owned()], vec!["p2"]));
    let states: Vec<_> = shown(&router).members.into_iter().map(|it| it.state).collect();
    assert_eq!(states, ["stands by", "carries"]);
    // Without a primary, who carries goes on.
    let free = "mode = \"active-backup\"";
    let (up, down) = (config("", free), config("up = false", free));
    let mut router = started(&down);
    router.apply_all(&Config::diff(&down, &up)).unwrap();
    assert_eq!(carrying(&router).0, ["p1"]);
}

#[test]
fn with_lacp_nothing_is_carried_before_the_other_end_speaks_and_what_it_says_is_shown() {
    use crate::part::Hears;
    let mut router = started(&config("", "key = 9"));
    assert_eq!(carrying(&router), (Vec::new(), Vec::new()));
    turn_for_a_while(&mut router);
    assert!(!link_is_up(&router, "b0"));
    let name = PortName::from_text("p1").unwrap();
    let interface = router.core.ports.id_of(&name).unwrap();
    let actor = End { system: [6; 6], key: 3, port: 4, state: 0x05, ..End::default() };
    let pdu = Pdu { actor, partner: End::default() };
    router.parts.bonds.hear(&mut router.core, LacpHeard { interface, pdu });
    router.turn();
    let bond = shown(&router);
    assert_eq!((bond.partner.as_deref(), bond.partner_key), (Some("0,06:06:06:06:06:06"), Some(3)));
    assert_eq!((bond.key, bond.members[0].state.as_str()), (Some(9), "waiting"));
    assert_eq!(bond.members[0].partner_state.as_deref(), Some("active aggregatable"));
    assert_eq!((bond.members[0].lacp_received, bond.members[1].lacp_received), (1, 0));
    assert!(bond.members.iter().all(|member| member.lacp_sent > 0));
    assert_eq!(bond.members[1].heard.as_deref(), Some("expired"));
    // Another setting leaves what is known of the other end; another first member does not.
    let (slow, fast) = (config("", "key = 9"), config("", "key = 9, lacp_rate = \"fast\""));
    router.apply_all(&Config::diff(&slow, &fast)).unwrap();
    assert_eq!(shown(&router).members[0].lacp_received, 1);
    let swapped = text("", "key = 9").replace("[\"p1\", \"p2\"]", "[\"p2\", \"p1\"]");
    let other = parse(&Source::new("router.toml", swapped), &Host::any()).unwrap();
    router.apply_all(&Config::diff(&fast, &other)).unwrap();
    assert_eq!(shown(&router).members[1].lacp_received, 0);
}

#[test]
fn of_stations_each_has_a_member_one_takes_in_what_is_for_all_and_switches_are_told_who_moved() {
    let slb = text("", "mode = \"balance-slb\"");
    let slb =
        format!("{slb}port.p3 = {{ kind = \"memory\" }}\nbridge.lan.ports = [\"b0\", \"p3\"]\n");
    let first_down = slb.replace("00:11\" }", "00:11\", up = false }");
    let read =
        |text: &str| parse(&Source::new("router.toml", text.to_owned()), &Host::any()).unwrap();
    let (slb, first_down) = (read(&slb), read(&first_down));
    let mut router = started(&slb);
    // What time it is, stations are told in a turn.
    until_up(&mut router, &["b0"], true);
    let collects = |router: &Router| {
        ["p1", "p2"].map(|name| match row(router, name).mode {
            Mode::Member(member) => member.collects,
            _ => Collects::Nothing,
        })
    };
    let carriers = |router: &Router| {
        let ways = row(router, "b0").get::<BondWays>().unwrap();
        assert_eq!(ways.hash, BondHash::Source);
        let name = |id: &u16| router.core.port_of(*id).unwrap().0.to_string();
        ways.members.iter().map(name).collect::<BTreeSet<_>>()
    };
    let states =
        |router: &Router| shown(router).members.into_iter().map(|it| it.state).collect::<Vec<_>>();
    let both = BTreeSet::from(["p1".to_owned(), "p2".to_owned()]);
    assert_eq!(collects(&router), [Collects::StationsAndGroups, Collects::Stations]);
    assert_eq!((carriers(&router), states(&router)), (both.clone(), words(&["active", "carries"])));
    // The bridge knows where its own frames may come back.
    let bridged = |name: &str| match row(&router, name).mode {
        Mode::Bridged(port) => port,
        mode => panic!("{mode:?}"),
    };
    let domain = bridged("b0").bridge.0;
    assert_eq!(
        ["b0", "p3"].map(|name| bridged(name).comes_back),
        [ComesBack::Here, ComesBack::Elsewhere]
    );
    let stations = router.core.dataplane.stations.clone();
    let id = |name: &str| router.core.ports.id_of(&PortName::from_text(name).unwrap()).unwrap();
    let [behind, bond, vlan] = ["p3", "b0", "v7"].map(id);
    for last in 1..=3 {
        stations.table.learn(
            MacKey::new(domain, [2, 7, 0, 0, 0, last]),
            behind.into(),
            stations.now(),
        );
    }
    stations.table.learn(MacKey::new(domain, [2, 7, 0, 0, 0, 9]), bond.into(), stations.now());
    // What the bond sent of its own, beside its VLAN's.
    let sent = |router: &Router| {
        let [bond, vlan] =
            [bond, vlan].map(|id| router.core.dataplane.interface_totals(id).tx_packets);
        bond - vlan
    };
    let before = sent(&router);
    // The active member goes: the other takes in what is for all, and stations are told of, those
    // behind the bond not among them.
    router.apply_all(&Config::diff(&slb, &first_down)).unwrap();
    assert_eq!(collects(&router), [Collects::Nothing, Collects::StationsAndGroups]);
    assert_eq!(carriers(&router), BTreeSet::from(["p2".to_owned()]));
    assert_eq!((states(&router), shown(&router).failovers), (words(&["down", "active"]), 1));
    // Twice, and no more.
    until(&mut router, |router| sent(router) - before >= 6);
    turn_for_a_while(&mut router);
    assert!(link_is_up(&router, "b0"));
    assert_eq!(sent(&router) - before, 6);
    // It comes back, and the other one stays the active one.
    router.apply_all(&Config::diff(&first_down, &slb)).unwrap();
    assert_eq!(collects(&router), [Collects::Stations, Collects::StationsAndGroups]);
    assert_eq!((carriers(&router), states(&router)), (both, words(&["carries", "active"])));
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn one_member_carries_beside_an_end_that_speaks_no_lacp_until_it_does() {
    use crate::part::Hears;
    let mut router = started(&config("", "fallback = true, lacp_rate = \"fast\", key = 9"));
    assert_eq!(carrying(&router), (Vec::new(), Vec::new()), "it may speak yet");
    until(&mut router, |router| !carrying(router).0.is_empty());
    assert_eq!(carrying(&router), (vec!["p1".to_owned()], vec!["p1"]));
    let states: Vec<_> = shown(&router).members.into_iter().map(|it| it.state).collect();
    assert_eq!(states, ["carries", "detached"]);
    until_up(&mut router, &["b0"], true);
    // It speaks, and agrees: that of both members, two seconds later.
    let id = |name: &str| router.core.ports.id_of(&PortName::from_text(name).unwrap()).unwrap();
    let members = ["p1", "p2"].map(id);
    let mac = row(&router, "b0").mac;
    let agree = |router: &mut Router| {
        for (at, interface) in (0..).zip(members) {
            let known =
                End { system: mac, key: 9, port: interface + 1, state: 0x3d, ..End::default() };
            let partner = End { system_priority: 32_768, port_priority: 32_768, ..known };
            let actor = End { system: [6; 6], key: 3, port: at, state: 0x3d, ..End::default() };
            let pdu = Pdu { actor, partner };
            router.parts.bonds.hear(&mut router.core, LacpHeard { interface, pdu });
        }
    };
    until(&mut router, |router| {
        agree(router);
        assert!(!carrying(router).0.is_empty(), "somebody carries all the time");
        carrying(router).0.len() == 2
    });
    assert_eq!(shown(&router).members[0].state, "distributing");
    // Without it, nobody carries beside one that is silent.
    let mut router = started(&config("", "lacp_rate = \"fast\", key = 9"));
    let heard = |router: &Router| shown(router).members[0].heard.as_deref() == Some("defaulted");
    until(&mut router, |router| heard(router));
    assert_eq!(carrying(&router), (Vec::new(), Vec::new()));
}

#[test]
fn stations_that_send_much_are_given_to_the_member_that_carries_less() {
    let mut router = started(&config("", "mode = \"balance-slb\", rebalance = \"1s\""));
    let ways = |router: &Router| row(router, "b0").get::<BondWays>().unwrap().clone();
    let first = ways(&router);
    let member = first.members[0];
    let own = (0..SHARES).filter(|share| first.members[*share] == member).take(2);
    let loads = first.loads.clone().unwrap();
    own.for_each(|share| loads.add(0, share, 1_000_000));
    until(&mut router, |router| shown(router).shares_moved > 0);
    let second = ways(&router).members;
    let moved = first.members.iter().zip(&second).filter(|(before, after)| before != after);
    assert_eq!((moved.count(), shown(&router).shares_moved), (1, 1));
    // Never, where nobody wants it.
    let never = started(&config("", "mode = \"balance-slb\", rebalance = \"0s\""));
    assert_eq!(ways(&never), BondWays { loads: None, ..first });
    let wrong = Source::new("router.toml", text("", "rebalance = \"500ms\""));
    assert!(parse(&wrong, &Host::any()).unwrap_err().to_string().contains("rebalance"));
}

/// Turns a router until something is so.
fn until(router: &mut Router, mut is_so: impl FnMut(&mut Router) -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        router.turn();
        if is_so(router) {
            return;
        }
        assert!(std::time::Instant::now() < end, "it does not come to that");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
