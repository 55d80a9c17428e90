//! What the router without workers shows: its configuration, and made-up counters.

use super::{EDGES, FakeRouter};
use crate::answers;
use crate::config::objects::acl;
use crate::config::objects::export;
use crate::config::objects::mirror;
use crate::config::objects::neighbor::{Neighbor, NeighborKey};
use crate::config::objects::port::{Port, PortName};
use crate::config::objects::port_filters::Filters;
use crate::config::objects::port_twin::Twin;
use crate::config::objects::vrf::{DEFAULT_NAME, name_of};
use crate::engine::EngineError;
use crate::view::{self, All, Answer};

answers! { FakeRouter, router, filter;
    Process: view::Process {
        pid: 4711,
        user: 0,
        capabilities: ["net_admin", "net_raw", "ipc_lock", "bpf"].map(String::from).to_vec(),
        given_up: vec!["sys_module".to_owned()],
        no_new_privileges: true,
        calls: Some(180),
        refused: Vec::new(),
        threads: 5,
        descriptors: 24,
    },
    Port: {
        let port = |(index, (name, port)): (usize, (&PortName, &Port))| {
            let mac = port.mac.unwrap_or(wire::MacAddr([2, 0, 0, 0, 0, index as u8]));
            view::Port {
                name: name.to_string(),
                kind: port.kind.name().word().to_owned(),
                admin_up: port.up,
                link_up: port.up,
                problem: None,
                link_mbps: 10_000,
                vrf: name_of(port.vrf.as_ref()).to_owned(),
                mtu: port.mtu,
                mac: mac.to_string(),
                addresses: port.addresses.iter().map(ToString::to_string).collect(),
                rx_queues: port.rx_queues,
                rx: view::PortCounters {
                    packets: router.count(1_000_000),
                    bytes: router.count(64_000_000),
                    drops: router.count(1_500),
                    errors: 0,
                },
                tx: view::PortCounters {
                    packets: router.count(998_500),
                    bytes: router.count(63_904_000),
                    drops: 0,
                    errors: 0,
                },
            }
        };
        router.config.ports.iter().enumerate().map(port).collect()
    },
    DeviceCounter: {
        let wanted = |name: &&PortName| filter.port.as_deref().is_none_or(|it| it == name.as_str());
        let counters = |name: &PortName| {
            [("rx_good_packets", router.count(1_000_000)), ("rx_missed_errors", 0)].map(
                |(counter, value)| view::DeviceCounter {
                    port: name.to_string(),
                    counter: counter.to_owned(),
                    value,
                },
            )
        };
        let names = router.config.ports.iter().map(|(name, _)| name);
        names.filter(wanted).flat_map(counters).collect()
    },
    Qos: {
        let shaped = router.config.ports.iter().filter_map(|(name, port)| {
            let scheduler = sched::build::<u64>(&port.qos.as_ref()?.scheduler(port.mtu)).ok()?;
            Some(view::Qos { port: name.to_string(), root: scheduler.report().into() })
        });
        shaped.collect()
    },
    Node: {
        let mut nodes: Vec<view::Node> = Vec::new();
        for (name, exit, to, packets) in EDGES {
            let packets = router.count(packets);
            if nodes.last().is_none_or(|node| node.name != name) {
                nodes.push(view::Node {
                    name: name.to_owned(),
                    calls: 0,
                    packets: 0,
                    packets_per_call: 0.0,
                    cycles_per_packet: 0.0,
                    exits: Vec::new(),
                });
            }
            let Some(node) = nodes.last_mut() else { continue };
            node.packets += packets;
            node.calls = node.packets / 200;
            node.packets_per_call = if node.calls == 0 { 0.0 } else { 200.0 };
            node.cycles_per_packet = if node.calls == 0 { 0.0 } else { 12.5 };
            node.exits.push(view::Exit { name: exit.to_owned(), to: to.to_owned(), packets });
        }
        nodes
    },
    Drop: {
        let port = router.config.ports.iter().next().map(|(name, _)| name.to_string());
        EDGES
            .into_iter()
            .filter(|(_, _, to, packets)| *to == "drop" && router.count(*packets) > 0)
            .map(|(node, reason, _, packets)| view::Drop {
                node: node.to_owned(),
                reason: reason.to_owned(),
                answered: false,
                port: port.clone(),
                packets,
                meaning: format!("It is the {reason} of a test."),
                help: "Nothing.".to_owned(),
            })
            .collect()
    },
    Neighbor: {
        let neighbor = |(key, neighbor): (&NeighborKey, &Neighbor)| view::Neighbor {
            address: key.address.to_string(),
            port: key.port.to_string(),
            vrf: name_of(router.config.ports.get(&key.port).and_then(|port| port.vrf.as_ref()))
                .to_owned(),
            mac: Some(neighbor.mac.to_string()),
            state: view::NeighborState::Static,
            age_ms: 0,
            held_packets: 0,
        };
        router.config.neighbors.iter().map(neighbor).collect()
    },
    NeighborShare: {
        let share = |key: &NeighborKey| view::NeighborShare {
            port: key.port.to_string(),
            family: if key.address.is_ipv4() { "ip4" } else { "ip6" }.to_owned(),
            neighbors: 1,
            most: 8,
            unresolved: 0,
            most_unresolved: 4,
            evicted: 0,
            refused: 0,
            no_buffer: 0,
        };
        router.config.neighbors.iter().map(|(key, _)| share(key)).collect()
    },
    Graph: {
        let nodes = Answer::<view::Node>::answer(router, &All)?.whole();
        let edge = |(from, exit, to, _): (&str, &str, &str, u64)| view::GraphEdge {
            from: from.to_owned(),
            exit: exit.to_owned(),
            to: to.to_owned(),
        };
        view::Graph {
            nodes: nodes
                .into_iter()
                .map(|node| view::GraphNode {
                    about: format!("The {}.", node.name),
                    name: node.name,
                })
                .collect(),
            edges: EDGES.into_iter().map(edge).collect(),
        }
    },
    Drawing: {
        let edges = EDGES.into_iter();
        let text = match filter.format {
            view::GraphFormat::Text => {
                edges.map(|(from, exit, to, _)| format!("{from} -- {exit} --> {to}\n")).collect()
            }
            view::GraphFormat::Dot => {
                let edge = |(from, exit, to, _)| {
                    format!("  \"{from}\" -> \"{to}\" [label=\"{exit}\"];\n")
                };
                format!("digraph volley {{\n{}}}\n", edges.map(edge).collect::<String>())
            }
            view::GraphFormat::Svg => {
                "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n".to_owned()
            }
        };
        view::Drawing { format: filter.format, text }
    },
    Version: view::Version {
            volley: env!("CARGO_PKG_VERSION").to_owned(),
            dpdk: None,
            pid: std::process::id(),
            uptime_s: 1,
            abilities: vec!["no workers: a fake".to_owned()],
        },
    Memory: {
        let memory = &router.config.memory;
        let part = |name: &str, used, capacity, bytes| view::MemoryUse {
            name: name.to_owned(),
            used,
            capacity,
            bytes,
            page_bytes: (bytes > 0).then_some(4096),
        };
        let buffers = u64::from(memory.buffers);
        view::Memory {
            resident_bytes: 0,
            parts: vec![
                part("buffers", 0, buffers, buffers * u64::from(memory.frame_bytes)),
                part("ip4 routes", router.all_routes().len() as u64, memory.routes.into(), 0),
            ],
        }
    },
    Worker: {
        let worker = |id| view::Worker {
            id,
            core: None,
            loops: router.count(5_000),
            packets: router.count(1_000_000),
            busy: 0.5,
            sleeps: 0,
            stalls: view::Stalls {
                count: 2,
                total_us: 1500.0,
                longest_us: 1200.0,
                latest: [(1.0, 300.0), (2.0, 1200.0)]
                    .map(|(ended_unix_s, length_us)| view::Stall { ended_unix_s, length_us })
                    .to_vec(),
            },
            queues: router.config.ports.iter().map(|(name, _)| format!("{name}:0")).collect(),
        };
        (0..router.config.workers.count() as u32).map(worker).collect()
    },
    Vrf: {
        let vrf = |name: &str| {
            let of = |(_, port): &(&PortName, &Port)| name_of(port.vrf.as_ref()) == name;
            let routes = |routes| view::VrfRoutes { routes, ..view::VrfRoutes::default() };
            let count = router.routes_of(name).map_or(0, |routes| routes.len() as u64);
            view::Vrf {
                name: name.to_owned(),
                ports: router
                    .config
                    .ports
                    .iter()
                    .filter(of)
                    .map(|(port, _)| port.to_string())
                    .collect(),
                table: router.config.vrfs.iter().find_map(|(it, vrf)| {
                    Some(vrf.twin.as_deref().filter(|_| it.as_str() == name)?.table)
                }),
                twin: None,
                ip4: routes(count),
                ip6: routes(0),
            }
        };
        let named = router.config.vrfs.iter().map(|(name, _)| name.as_str());
        std::iter::once(DEFAULT_NAME).chain(named).map(vrf).collect()
    },
    Acl: {
        let rule = |rule: &acl::Rule| view::AclRule {
            rule: rule.to_string(),
            packets: router.count(3),
            bytes: router.count(180),
        };
        let named = |name: &acl::AclName, of: fn(&Filters) -> Option<&acl::AclName>| {
            let ports = router.config.ports.iter();
            let named = ports.filter(|(_, port)| of(&port.filters) == Some(name));
            named.map(|(port, _)| port.to_string()).collect()
        };
        let acl = |(name, acl): (&acl::AclName, &acl::Acl)| view::Acl {
            name: name.to_string(),
            ports_in: named(name, |filters| filters.acl_in.as_ref()),
            ports_out: named(name, |filters| filters.acl_out.as_ref()),
            ports_policy: named(name, |filters| filters.policy.as_ref()),
            default: acl.default.word().to_owned(),
            rules: acl.rules.iter().map(rule).collect(),
            other_packets: router.count(1),
            other_bytes: router.count(60),
            answer_packets: 0,
            answer_bytes: 0,
            memory_bytes: 64 * acl.rules.len(),
        };
        router.config.acls.iter().map(acl).collect()
    },
    Bond: {
        let count = router.count(3);
        let member = view::BondMember {
            port: "p1".to_owned(),
            link_up: true,
            state: "distributing".to_owned(),
            heard: Some("current".to_owned()),
            partner_port: Some(3),
            partner_state: Some("active in-sync".to_owned()),
            lacp_received: count,
            lacp_sent: count,
        };
        vec![view::Bond {
            name: "b0".to_owned(),
            mode: "802.3ad".to_owned(),
            link_up: true,
            carrying: 1,
            failovers: count,
            shares_moved: count,
            partner: Some("32768,06:00:00:00:00:01".to_owned()),
            partner_key: Some(7),
            key: Some(9),
            members: vec![member],
        }]
    },
    Mirror: {
        let source = |source: &mirror::Source| view::MirrorSource {
            port: source.port.to_string(),
            direction: source.direction.word().to_owned(),
            received: router.count(5),
            sent: router.count(4),
            lost: 0,
        };
        let mirror = |(name, mirror): (&mirror::MirrorName, &mirror::Mirror)| view::Mirror {
            name: name.to_string(),
            destination: mirror.destination.to_string(),
            truncate: mirror.truncate,
            sample: mirror.sample,
            sources: mirror.sources.iter().map(source).collect(),
        };
        router.config.mirrors.iter().map(mirror).collect()
    },
    Export: {
        let export = |(name, export): (&export::ExportName, &export::Export)| view::Export {
            name: name.to_string(),
            protocol: export.protocol.word().to_owned(),
            sample: export.sample,
            ports: vec![view::ExportPort {
                port: "p1".to_owned(),
                number: 1,
                received: true,
                sent: false,
            }],
            packets: router.count(9),
            noted: router.count(9),
            missed: 0,
            flows: 1,
            told: router.count(2),
            early: 0,
            left_out: 0,
            collectors: vec![view::Collector {
                address: "192.0.2.9:4739".to_owned(),
                datagrams: router.count(1),
                lost: 0,
                problem: None,
            }],
        };
        router.config.exports.iter().map(export).collect()
    },
    NextHops: view::NextHops {
            counted: true,
            next_hops: vec![view::CountedNextHop {
                address: "192.0.2.9".to_owned(),
                port: "p0".to_owned(),
                vrf: "default".to_owned(),
                family: "ip4".to_owned(),
                users: 1,
                packets: router.count(7),
                octets: router.count(700),
            }],
        },
    Flows: view::Flows {
            fields: vec!["source".to_owned(), "destination".to_owned()],
            vxlan_ports: vec![4789],
            groups: 1,
            ..Default::default()
        },
    Reassembly: {
        let pieces = router.count(6);
        view::Reassembly {
            pieces,
            whole: router.count(2),
            answered: router.count(1),
            ..Default::default()
        }
    },
    Twin: {
        let class = |class: &str| view::TwinClass {
            class: class.to_owned(),
            limit_pps: 2_000,
            passed: router.count(3),
            limited: 0,
        };
        let ports = router.config.ports.iter();
        let twins = ports.filter_map(|(name, port)| Some((name, port.twin.as_deref()?)));
        let twin = |(name, twin): (&PortName, &Twin)| view::Twin {
            port: name.to_string(),
            name: twin.name_for(name).to_owned(),
            netns: twin.netns.as_ref().map(ToString::to_string),
            index: Some(7),
            problem: None,
            to_kernel: router.count(6),
            refused: 0,
            from_kernel: router.count(5),
            lost: 0,
            classes: ["neighbors", "routing", "tcp", "rest"].map(class).into(),
        };
        twins.map(twin).collect()
    },
    Lisp: view::Lisp {
        registrations: vec![view::LispRegistration {
            server: "192.0.2.53".to_owned(),
            state: "registered".to_owned(),
            age_s: Some(5),
        }],
        messages: vec![view::LispCount {
            message: "map-register sent".to_owned(),
            count: router.count(3),
        }],
        ..view::Lisp::default()
    },
    Controller: {
        let count = router.count(5);
        vec![view::Controller {
            bridge: "br0".to_owned(),
            target: "tcp:192.0.2.1:6653".to_owned(),
            connected: 1,
            role: Some("master".to_owned()),
            version: Some("1.3".to_owned()),
            state_s: 7,
            connections: count,
            missed: count,
            fails_open: false,
            problem: None,
        }]
    },
    Evpn: Vec::new(),
    LispEntry: Vec::new(),
    LispRegistered: Vec::new(),
    Fpm: {
        let listen = router.config.fpm.0.as_ref();
        view::Fpm {
            listen: listen.map(|fpm| fpm.listen.to_string()),
            netns: listen.and_then(|fpm| fpm.netns.as_ref().map(ToString::to_string)),
            ..view::Fpm::default()
        }
    },
    Connections: view::Connections::default(),
    FlowTrace: {
        let part = view::FlowTracePart {
            again: String::new(),
            flow: filter.flow.clone(),
            walk: [" 0. priority 0", "    drop"].map(str::to_owned).to_vec(),
            final_flow: None,
            megaflow: "recirc_id=0,eth,in_port=1".to_owned(),
            actions: "drop".to_owned(),
            problem: None,
        };
        view::FlowTrace { parts: vec![part] }
    },
    Megaflows: {
        let it = view::Megaflow {
            bridge: "lan".to_owned(),
            worker: 0,
            flow: "recirc_id(0),in_port(1)".to_owned(),
            packets: 2,
            bytes: 196,
            used_ms: Some(1064),
            actions: "2".to_owned(),
        };
        view::Megaflows { total: 1, limit: 65_536, workers: vec![1], megaflows: vec![it] }
    },
    Explained: {
        let wrong = |error: wire::craft::WordsError| EngineError::Wrong(error.to_string());
        let words = wire::craft::Words::read(&filter.packet).map_err(wrong)?;
        let port = words.port.clone().unwrap_or_else(|| "p0".to_owned());
        router.find_port(Some(&port))?;
        let unsaid = wire::craft::Unsaid {
            destination_mac: wire::MacAddr([2, 0, 0, 0, 0, 1]),
            source_mac: wire::MacAddr([2, 0, 0, 0, 0, 9]),
            source4: [192, 0, 2, 9].into(),
            source6: std::net::Ipv6Addr::LOCALHOST,
        };
        let frame = words.frame(&unsaid).map_err(wrong)?;
        let packet = wire::describe::frame(&frame).to_string();
        let step = |(node, exit, what, said): (&str, &str, &str, &str)| view::ExplainedStep {
            node: node.to_owned(),
            exit: exit.to_owned(),
            meaning: String::new(),
            detail: packet.clone(),
            decisions: vec![view::Decision { what: what.to_owned(), said: said.to_owned() }],
        };
        let steps = [
            ("port-rx", "ethernet", "port", "p0, routed in VRF default"),
            ("ip4-lookup", "rewrite", "route", "static 0.0.0.0/0, via 192.0.2.1"),
        ];
        let hex: String = frame.iter().map(|octet| format!("{octet:02x}")).collect();
        let sent = view::ExplainedFrame {
            port: "p1".to_owned(),
            bytes: frame.len() as u32,
            packet: packet.clone(),
            hex: hex.clone(),
        };
        view::Explained {
            port,
            packet: packet.clone(),
            hex,
            outcome: "sent by p1".to_owned(),
            walks: vec![view::ExplainedWalk { number: 1, steps: steps.map(step).into() }],
            sent: vec![sent],
            twins: Vec::new(),
            brings_about: vec!["asks who has 192.0.2.1 on p1".to_owned()],
        }
    },
    WhyDropped: {
        router.find_port(filter.port.as_deref())?;
        let packet = view::DroppedPacket {
            unix_ms: 1_790_000_000_000,
            age_ms: 1_234,
            port: Some("p0".to_owned()),
            to: None,
            worker: 0,
            bytes: 98,
            detail: "IPv4 192.0.2.9 > 10.0.0.1 ttl 64 len 84 [bad checksum]".to_owned(),
            hex: "0200000000010200000000090800".to_owned(),
        };
        vec![view::WhyDropped {
            node: "ip4-input".to_owned(),
            reason: "bad-checksum".to_owned(),
            meaning: "The header checksum is wrong.".to_owned(),
            help: "Look at the error counters of the links on the way.".to_owned(),
            packets: router.count(500),
            last: vec![packet],
        }]
    },
    Trace: router.trace.clone(),
    Capture: router.capture.clone(),
}

// The example of CONTRIBUTING.md.
#[cfg(test)]
answers! { FakeRouter, router, filter;
    Probe: vec![view::Probe {
        name: "gateway".to_owned(),
        address: "192.0.2.9".to_owned(),
        is_there: true,
        sent: router.count(9),
        answered: router.count(8),
    }],
}
