//! What other parts than the one that keeps leave, and the next router has.

use super::*;
use crate::part::Part;
use control::view::{Answer, StationFilter, Stations};
use nodes::tables::RemoteHeard;

/// What may come at once of the frames below, of which there may be 1,000 bytes a second.
const BURST: u64 = 10 * 1024;
const POLICED: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
policer.slow = { rate = "8kbit", burst = "10kb" }
port.p1 = { kind = "memory", frames = ["ffffffffffff02000000000188b5"], police_in = "slow" }
"#;

fn green(router: &Router) -> [u64; 2] {
    let all = router.parts.policers.show(&router.core);
    let green = all[0].colours.iter().find(|it| it.colour == "green").unwrap();
    [green.packets, green.bytes]
}

#[test]
fn a_policer_goes_on_where_it_was_and_no_restart_brings_a_burst() {
    let place = Place::new("policed");
    let began = Instant::now();
    let mut counted = [0; 2];
    for round in 0..4 {
        let mut router = start(&place.0, POLICED);
        assert!(green(&router) >= counted, "counted goes back");
        for _ in 0..20 {
            router.tick(Duration::ZERO);
        }
        counted = green(&router);
        let most = BURST + began.elapsed().as_millis() as u64 + 1;
        assert!(counted[1] <= most, "round {round}: {counted:?} of {most} bytes");
    }
    assert!(counted[1] >= BURST - 14, "the burst was had once: {counted:?}");
}

#[test]
fn no_restart_brings_packets_that_were_had() {
    let octets = r#"rate = "8kbit", burst = "10kb""#;
    let few = POLICED.replace(octets, "packet_rate = 1, packet_burst = 50");
    let place = Place::new("few-packets");
    let (began, mut counted) = (Instant::now(), 0);
    for round in 0..4 {
        let mut router = start(&place.0, &few);
        for _ in 0..20 {
            router.tick(Duration::ZERO);
        }
        counted = green(&router)[0];
        let most = 50 + began.elapsed().as_secs() + 1;
        assert!(counted <= most, "round {round}: {counted} of {most} packets");
    }
    assert!(counted >= 50, "the burst was had once: {counted}");
}

#[test]
fn what_is_in_its_buckets_is_written_while_it_runs() {
    let place = Place::new("killed-policed");
    let mut first = start(&place.0, POLICED);
    for _ in 0..20 {
        first.tick(Duration::ZERO);
    }
    turn_until(&mut first, &place.0, |left| {
        left.parts.policers.0.iter().any(|it| it.counted[0][1] > 9_000 && it.held[0] < 1_000)
    });
}

#[test]
fn the_time_since_it_was_written_earns_but_for_what_may_have_passed_unwritten() {
    let idle = POLICED.replace(r#", frames = ["ffffffffffff02000000000188b5"]"#, "");
    let place = Place::new("earned");
    let mut router = start(&place.0, &idle);
    for (age_ms, least) in [(0, 0), (1_500, 0), (4_500, 3_000), (86_400_000, BURST)] {
        let left =
            state::policers::Policer { name: "slow".into(), held: [0, 0], counted: [[0; 2]; 3] };
        let policers = (vec![left], Duration::from_millis(age_ms));
        let left = crate::left::OfParts { policers, ..Default::default() };
        let began = Instant::now();
        let Router { parts, core, .. } = &mut router;
        parts.policers.take_over(core, &left);
        let (_, make) = parts.policers.leaves(core).unwrap();
        let held = state::policers::read(&make()).unwrap()[0].held[0];
        // A byte a millisecond, and the clock's own rounding.
        let most = (least + began.elapsed().as_millis() as u64 + 2).min(BURST);
        assert!((least.saturating_sub(2)..=most).contains(&held), "{held} after {age_ms} ms");
    }
}

const TUNNELS: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
port.p1 = { kind = "memory", addresses = ["192.0.2.1/24"] }
port.vx0 = { kind = "vxlan", vni = 5, local = "192.0.2.1", remotes = ["192.0.2.7"], learn_remotes = true }
bridge.lan = { ports = ["vx0"] }
"#;

/// Stations, and the remotes that they are behind.
fn stations(router: &mut Router) -> Vec<(String, Option<String>)> {
    let all = Answer::<Stations>::answer(router, &StationFilter::default()).unwrap().whole();
    let mut all: Vec<_> = all.stations.into_iter().map(|it| (it.mac, it.remote)).collect();
    all.sort();
    all
}

fn remote_id(router: &Router, address: &str) -> Option<u16> {
    let port = router.core.ports.get(&PortName::from_text("vx0").unwrap()).unwrap();
    port.remotes.get(&address.parse().unwrap()).map(|remote| remote.id)
}

fn behind(router: &Router, remote: &str, mac: [u8; 6]) {
    let id = remote_id(router, remote).unwrap();
    let Mode::Bridged(bridged) = router.core.dataplane.interfaces().get(id).unwrap().mode else {
        panic!()
    };
    router.core.dataplane.stations.table.learn(MacKey::new(bridged.bridge.0, mac), id.into(), 0);
}

#[test]
fn learned_remotes_and_their_stations_are_there_before_packets_are_read() {
    let place = Place::new("remotes");
    let mut first = start(&place.0, TUNNELS);
    for remote in ["192.0.2.9", "192.0.2.10"] {
        let heard = RemoteHeard {
            interface: id(&first, "vx0"),
            underlay: id(&first, "p1"),
            remote: remote.parse().unwrap(),
        };
        first.parts.hear(&mut first.core, Punt::RemoteHeard(heard));
    }
    first.settle();
    behind(&first, "192.0.2.9", [6, 0, 0, 0, 0, 9]);
    behind(&first, "192.0.2.7", [6, 0, 0, 0, 0, 7]);
    let had = stations(&mut first);
    assert_eq!(had.len(), 2);
    turn_until(&mut first, &place.0, |left| left.parts.remotes.0.len() == 3);
    drop(first);
    let mut second = forwards(&place.0, TUNNELS);
    assert_eq!(stations(&mut second), had);
    assert!(remote_id(&second, "192.0.2.10").is_some(), "one without a station");
    // It is learned as before: without a station its time runs out.
    let name = PortName::from_text("vx0").unwrap();
    let port = second.core.ports.get(&name).unwrap();
    assert!(port.remotes.values().filter(|remote| remote.learned.is_some()).count() == 2);
    second.take_over();
    drop(second);
    // Where no remotes are learned any more, none comes again: those that are configured do.
    let fixed = TUNNELS.replace(", learn_remotes = true", "");
    let mut third = start(&place.0, &fixed);
    assert_eq!(remote_id(&third, "192.0.2.9"), None);
    assert_eq!(stations(&mut third).len(), 1);
}

#[test]
fn no_more_remotes_come_again_than_a_network_may_have() {
    let place = Place::new("crowd");
    let first = start(&place.0, TUNNELS);
    drop(first);
    let remote = |last: u8| state::remotes::Remote {
        tunnel: "vx0".into(),
        address: [198, 51, 100, last].into(),
        learned: Some(state::remotes::Learned { underlay: "p1".into(), idle_ms: 0 }),
        bridge: "lan".into(),
        stations: Vec::new(),
    };
    let crowd: Vec<_> = (0..200).map(remote).collect();
    let payload = state::remotes::write(&crowd);
    let file = state::snapshot(state::Table::Remotes, &state::Boot::now(), &payload);
    std::fs::write(place.0.join("remotes"), file).unwrap();
    let second = start(&place.0, TUNNELS);
    let port = second.core.ports.get(&PortName::from_text("vx0").unwrap()).unwrap();
    assert_eq!(port.remotes.values().filter(|remote| remote.learned.is_some()).count(), 64);
}
