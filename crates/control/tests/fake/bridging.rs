//! Bridges, with made-up counters and stations.

use super::FakeRouter;
use crate::answers;
use crate::config::objects::bridge::{Bridge, BridgeName, Member};
use crate::config::objects::bridge_snooping::Snooping as Listening;
use crate::config::objects::station::{Station, StationKey};
use crate::view;

answers! { FakeRouter, router, filter;
    Bridge: {
        let port = |member: &Member| view::BridgePort {
            port: member.port.to_string(),
            up: true,
            flags: vec!["learn".to_owned(), "forward".to_owned()],
            group: member.group,
            isolated: member.isolated,
            learned: router.count(3),
            moved: router.count(1),
            not_learned: 0,
        };
        let bridges = router.config.bridges.iter();
        bridges
            .map(|(name, bridge)| view::Bridge {
                name: name.to_string(),
                stations: 3,
                mac_limit: bridge.mac_limit,
                ageing_s: bridge.ageing.as_secs(),
                bindings: bridge.answer_arp.then_some(bridge.bindings.len()),
                nd_bindings: bridge.answer_nd.then_some(bridge.bindings.len()),
                ports: bridge.ports.iter().map(port).collect(),
            })
            .collect()
    },
    Snooping: {
        let listening = router.config.bridges.iter().filter_map(|(name, bridge)| {
            Some((name, bridge.snooping.as_deref()?))
        });
        let show = |(name, snooping): (&BridgeName, &Listening)| view::Snooping {
            bridge: name.to_string(),
            protocol: "igmp".to_owned(),
            active: true,
            asks: snooping.querier,
            querier: None,
            querier_port: None,
            routers: Vec::new(),
            groups: 1,
            groups_limit: snooping.groups_limit,
            reports: router.count(12),
            questions: 0,
            asked: router.count(4),
            refused: 0,
        };
        listening.map(show).collect()
    },
    SpanningTree: {
        let spanning = router.config.bridges.iter().filter(|(_, bridge)| bridge.rstp.is_some());
        let port = |member: &Member| view::SpanningPort {
            port: member.port.to_string(),
            port_id: 0x8001,
            role: "root".to_owned(),
            state: "forwarding".to_owned(),
            cost: 2000,
            designated_id: "8.000.020000000001".to_owned(),
            designated_port_id: 0x8002,
            speaks: "rstp".to_owned(),
            sent: router.count(2),
            received: router.count(9),
            since_s: 60,
            ..view::SpanningPort::default()
        };
        let show = |(name, bridge): (&BridgeName, &Bridge)| {
            view::SpanningTree {
                bridge: name.to_string(),
                version: "rstp".to_owned(),
                bridge_id: "8.000.020000000002".to_owned(),
                root_id: "8.000.020000000001".to_owned(),
                root_cost: 2000,
                root_port: bridge.ports.first().map(|it| it.port.to_string()),
                max_age_s: 20,
                forward_delay_s: 15,
                topology_changes: router.count(1),
                last_change_s: Some(7),
                ports: bridge.ports.iter().map(port).collect(),
                ..view::SpanningTree::default()
            }
        };
        spanning.map(show).collect()
    },
    Groups: {
        let fixed = router.config.bridges.iter().flat_map(|(name, bridge)| {
            bridge.groups.iter().map(move |it| view::Group {
                bridge: name.to_string(),
                group: it.group.to_string(),
                port: it.port.to_string(),
                remote: None,
                version: None,
                left_s: None,
            })
        });
        let groups: Vec<_> = fixed.collect();
        view::Groups { total: groups.len(), groups }
    },
    Stations: {
        let station = |(key, station): (&StationKey, &Station)| view::Station {
            bridge: key.bridge.to_string(),
            mac: key.address.to_string(),
            port: station.port.to_string(),
            remote: station.remote.map(|remote| remote.to_string()),
            is_static: true,
            age_s: 0,
        };
        let all: Vec<_> = router.config.stations.iter().map(station).collect();
        let stations = all.iter().take(filter.limit.unwrap_or(usize::MAX)).cloned().collect();
        view::Stations { total: all.len(), stations }
    },
}
