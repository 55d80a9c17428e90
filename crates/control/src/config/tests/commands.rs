//! Commands and configurations say the same: whatever stands in a configuration can be printed as
//! commands, which make it again, and as commands that take it away.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::declare::Declared;
use super::super::field::Field;
use super::super::objects::bridge::{Bridge, BridgeName, Flags, Member};
use super::super::objects::commands;
use super::super::objects::mirror::{Direction, Mirror};
use super::super::objects::port::{Port, PortName};
use super::super::objects::port_kind::PortKind;
use super::super::objects::port_kind::bond::Bond;
use super::super::objects::port_kind::ends::{Ends, Remotes};
use super::super::objects::port_kind::erspan::Erspan;
use super::super::objects::port_kind::geneve::Geneve;
use super::super::objects::port_kind::gre::{Gre, Payload};
use super::super::objects::port_kind::ipip::Ipip;
use super::super::objects::port_kind::vlan::Vlan;
use super::super::objects::route::{NextHop, Route, RouteKey};
use super::super::objects::tunnel_outer::{OuterDscp, OuterTtl};
use super::super::objects::vrf::{Vrf, name_of};
use super::super::write::Fields;
use super::super::{Config, Source, edit, render};
use super::{arbitrary, host};

fn run(config: &Config, commands: &str) -> Result<Config, String> {
    let edited = edit(config, &Source::new("commands", commands), &host());
    edited.map_err(|problems| format!("{problems}\n{commands}"))
}

/// True of ports that commands make and remove; others stand on a device of the machine.
fn is_made(port: &Port) -> bool {
    let tunnel = port.kind.ends().is_some();
    tunnel || matches!(port.kind, PortKind::Vlan(_) | PortKind::Bvi)
}

/// What is there before the first command: all that none makes.
fn bare(config: &Config) -> Config {
    let mut bare = Config {
        workers: config.workers.clone(),
        memory: config.memory.clone(),
        arp: config.arp.clone(),
        icmp: config.icmp.clone(),
        ip4: config.ip4.clone(),
        flows: config.flows.clone(),
        next_hops: config.next_hops.clone(),
        connections: config.connections.clone(),
        acls: config.acls.clone(),
        policers: config.policers.clone(),
        exports: config.exports.clone(),
        twins: config.twins.clone(),
        fpm: config.fpm.clone(),
        ..Config::default()
    };
    for (name, port) in config.ports.iter().filter(|(_, port)| !is_made(port)) {
        let (filters, twin) = (port.filters.clone(), port.twin.clone());
        let (policing, made) = (port.policing.clone(), Port::new(port.kind.clone()));
        let exported = port.exported.clone();
        bare.ports.insert(name.clone(), Port { filters, twin, policing, exported, ..made });
    }
    bare
}

/// A value as a word of a command.
fn word(value: &impl Field) -> String {
    value.to_toml().trim_matches('"').to_owned()
}

/// ` KEY VALUE`, where there is a value.
fn maybe<T: Field>(key: &str, value: Option<&T>) -> String {
    value.map_or_else(String::new, |value| format!(" {key} {}", word(value)))
}

fn vlan(name: &PortName, vlan: &Vlan) -> String {
    let (parent, vid, protocol) = (&vlan.parent, word(&vlan.vlan), word(&vlan.protocol));
    let rest = maybe("inner", vlan.inner.as_ref()) + &maybe("priority", vlan.priority.as_ref());
    let customers = vlan.customers.iter().map(|vid| format!(" customers {vid}"));
    let rest = rest + &customers.collect::<String>();
    let native = if vlan.native { " native" } else { "" };
    format!("port add {name} vlan parent {parent} vlan {vid} protocol {protocol}{rest}{native}")
}

fn ends(ends: &Ends) -> String {
    let remotes = match &ends.remotes {
        Remotes::Flow => " remote flow".to_owned(),
        some => some.listed().iter().map(|it| format!(" remote {it}")).collect(),
    };
    let learns = matches!(ends.remotes, Remotes::Several { learn: true, .. });
    let learn = if learns { " learn" } else { "" };
    let local = maybe("local", ends.local.as_ref());
    format!("{local}{remotes}{learn} underlay {}", name_of(ends.underlay_vrf.as_ref()))
}

fn outer(dscp: OuterDscp, ttl: OuterTtl) -> String {
    format!(" dscp {} ttl {}", word(&dscp), word(&ttl))
}

/// The command that makes a port.
fn made(name: &PortName, port: &Port) -> String {
    match &port.kind {
        PortKind::Vlan(config) => vlan(name, config),
        PortKind::Vxlan(it) => {
            let checksum = maybe("checksum", it.checksum.as_ref());
            let (port, outer) = (it.udp_port, outer(it.dscp, it.ttl));
            format!(
                "vxlan add {name} vni {}{checksum} udp_port {port}{outer}{}",
                it.vni,
                ends(&it.ends)
            )
        }
        PortKind::Geneve(Geneve { vni, udp_port, checksum, dscp, ttl, ends: between }) => {
            let checksum = maybe("checksum", checksum.as_ref());
            let (outer, ends) = (outer(*dscp, *ttl), ends(between));
            format!("geneve add {name} vni {vni} udp_port {udp_port}{checksum}{outer}{ends}")
        }
        PortKind::Gre(Gre { key, key_in, key_out, payload, dscp, ttl, ends: between }) => {
            let packets = if *payload == Payload::Packets { " packets" } else { "" };
            let keys = [("key_in", key_in), ("key_out", key_out)];
            let keys: String = keys.iter().map(|(word, key)| maybe(word, key.as_ref())).collect();
            let keys = maybe("key", key.as_ref()) + &keys;
            format!("gre add {name}{keys}{packets}{}{}", outer(*dscp, *ttl), ends(between))
        }
        PortKind::Ipip(Ipip { dscp, ttl, ends: between }) => {
            format!("ipip add {name}{}{}", outer(*dscp, *ttl), ends(between))
        }
        PortKind::Bond(Bond {
            members,
            mode,
            hash,
            min_links,
            primary,
            lacp,
            lacp_rate,
            fallback,
            up_delay,
            down_delay,
            rebalance,
            system_priority,
            key,
        }) => {
            let members: String = members.iter().map(|it| format!(" member {it}")).collect();
            let primary = maybe("primary", primary.as_ref());
            let (mode, hash, rate) = (mode.word(), hash.word(), lacp_rate.word());
            format!(
                "bond add {name}{members} mode {mode} hash {hash} min_links {min_links}{primary} \
                 lacp {} lacp_rate {rate} fallback {fallback} up_delay {}ms down_delay {}ms \
                 rebalance {}ms system_priority {system_priority}{}",
                lacp.word(),
                up_delay.as_millis(),
                down_delay.as_millis(),
                rebalance.as_millis(),
                maybe("key", key.as_ref())
            )
        }
        PortKind::Erspan(Erspan { session, version, index, dscp, ttl, ends: between }) => {
            let own = format!("session {session} version {} index {index}", version.word());
            format!("erspan add {name} {own}{}{}", outer(*dscp, *ttl), ends(between))
        }
        kind => format!("port add {name} {}", kind.name().word()),
    }
}

fn settings(name: &PortName, port: &Port) -> String {
    let up = if port.up { "up" } else { "down" };
    let mac = port.mac.map_or_else(|| "default".to_owned(), |mac| mac.to_string());
    let vrf = name_of(port.vrf.as_ref());
    let switch = |is_on: bool| if is_on { "on" } else { "off" };
    let (redirects, all) = (switch(port.redirects), switch(port.directed_broadcasts));
    let rx_mode = port.rx_mode.word();
    let routing = port.routing.map_or("default", |routes| if routes { "on" } else { "off" });
    let proxied = port.proxy_arp.iter().map(|network| format!(" proxy_arp {network}"));
    let proxied: String = proxied.collect();
    format!(
        "port set {name} {up} mtu {} mac {mac} vrf {vrf} proxy_arp off{proxied} redirects {redirects} directed_broadcasts {all} rx_mode {rx_mode} routing {routing}",
        port.mtu
    )
}

fn of_vrf(key: &RouteKey) -> String {
    maybe("vrf", key.vrf.as_ref())
}

fn target(route: &Route) -> String {
    let hop = |hop: &NextHop| {
        let via = hop.address.map_or_else(String::new, |it| format!(" via {it}"));
        format!("{via}{} weight {}", maybe("port", hop.port.as_ref()), hop.weight)
    };
    match route {
        Route::Blackhole => " blackhole".to_owned(),
        Route::Unreachable => " unreachable".to_owned(),
        Route::Prohibit => " prohibit".to_owned(),
        Route::Vrf(vrf) => format!(" via vrf {}", name_of(vrf.as_ref())),
        Route::Via(hops) => hops.iter().map(hop).collect(),
    }
}

fn flags(flags: &Flags) -> String {
    let fields = flags.write(Fields::new());
    let flag = |name: &str| format!(" {name} {}", fields.value(name).unwrap());
    ["learn", "forward", "flood_unknown", "flood_groups"].map(flag).concat()
}

fn bridge(name: &BridgeName, bridge: &Bridge) -> Vec<String> {
    let join = |member: &Member| {
        let group = maybe("group", member.group.as_ref());
        let (port, isolated) = (&member.port, member.isolated);
        let storm = format!(" storm_pps {}", member.storm_pps);
        format!(
            "bridge join {name} {port}{group}{storm} isolated {isolated}{}",
            flags(&member.flags)
        )
    };
    let bind = |it: &super::super::objects::bridge::BoundAddress| {
        let router = if it.router { " router" } else { "" };
        format!("bridge bind {name} {} {}{router}", it.address, it.mac)
    };
    let evpn = bridge.evpn.as_deref().map_or_else(String::new, |it| {
        let netns = it.netns.as_ref().map_or_else(String::new, |netns| format!(" netns {netns}"));
        format!(" evpn on{netns} routes {}", it.routes)
    });
    let snooping = bridge.snooping.as_deref().map_or_else(String::new, |it| {
        format!(" snooping on querier {} unknown {}", it.querier, it.unknown.word())
    });
    let rstp = bridge.rstp.as_deref().map_or_else(String::new, |it| {
        format!(" rstp on version {} priority {}", it.version.word(), it.priority)
    });
    let Bridge { ageing, mac_limit, answer_arp, answer_nd, .. } = bridge;
    let own = format!(
        "bridge set {name} ageing {} mac_limit {mac_limit} answer_arp {answer_arp} answer_nd {answer_nd}{}",
        word(ageing),
        flags(&bridge.flags)
    );
    let own = [format!("bridge add {name}"), own].into_iter();
    let own = own.chain(bridge.ports.iter().map(join)).chain(bridge.bindings.iter().map(bind));
    let more = [evpn, snooping, rstp].into_iter().filter(|more| !more.is_empty());
    own.chain(more.map(|more| format!("bridge set {name}{more}"))).collect()
}

fn mirror(mirror: &Mirror) -> String {
    let direction = |direction| match direction {
        Direction::Received => "rx",
        Direction::Sent => "tx",
        Direction::Both => "both",
    };
    let from =
        mirror.sources.iter().map(|it| format!(" from {} {}", it.port, direction(it.direction)));
    let part = maybe("truncate", mirror.truncate.as_ref());
    let from: String = from.collect();
    format!(" to {}{from}{part} sample {}", mirror.destination, mirror.sample)
}

/// The commands that make of [`bare`] the whole.
fn making(config: &Config) -> Vec<String> {
    let mut commands = Vec::new();
    let twin = |vrf: &Vrf| maybe("twin", vrf.twin.as_ref().map(|twin| twin.table).as_ref());
    let vrfs = config.vrfs.iter();
    commands.extend(vrfs.map(|(name, vrf)| format!("vrf add {name}{}", twin(vrf))));
    for (name, port) in config.ports.iter() {
        commands.extend(is_made(port).then(|| made(name, port)));
        commands.push(settings(name, port));
        let address = |own| format!("address add {own} port {name}");
        commands.extend(port.addresses.iter().map(address));
    }
    let route = |(key, route): (&RouteKey, &Route)| {
        format!("route add {}{}{}", key.prefix, target(route), of_vrf(key))
    };
    commands.extend(config.routes.iter().map(route));
    commands.extend(
        config.neighbors.iter().map(|(key, it)| {
            format!("neighbor add {} mac {} port {}", key.address, it.mac, key.port)
        }),
    );
    commands.extend(config.xconnects.iter().map(|(pair, _)| {
        let [a, b] = pair.ports();
        format!("xconnect add {b} {a}")
    }));
    commands.extend(config.bridges.iter().flat_map(|(name, it)| bridge(name, it)));
    commands.extend(config.stations.iter().map(|(key, it)| {
        let (bridge, remote) = (&key.bridge, maybe("remote", it.remote.as_ref()));
        format!("mac add {bridge} {} port {}{remote}", key.address, it.port)
    }));
    commands
        .extend(config.mirrors.iter().map(|(name, it)| format!("mirror add {name}{}", mirror(it))));
    commands
}

/// The commands that leave of the whole what is [`bare`].
fn taking_away(config: &Config) -> Vec<String> {
    let mut commands = Vec::new();
    commands.extend(config.mirrors.iter().map(|(name, _)| format!("mirror del {name}")));
    commands.extend(
        config.stations.iter().map(|(key, _)| format!("mac del {} {}", key.bridge, key.address)),
    );
    commands.extend(config.bridges.iter().map(|(name, _)| format!("bridge del {name}")));
    commands.extend(config.xconnects.iter().map(|(pair, _)| {
        let [a, b] = pair.ports();
        format!("xconnect del {a} {b}")
    }));
    let neighbors = config.neighbors.iter();
    commands.extend(
        neighbors.map(|(key, _)| format!("neighbor del {} port {}", key.address, key.port)),
    );
    let routes = config.routes.iter();
    commands.extend(routes.map(|(key, _)| format!("route del {}{}", key.prefix, of_vrf(key))));
    for (name, port) in config.ports.iter() {
        if is_made(port) {
            commands.push(format!("port del {name}"));
            continue;
        }
        let address = |own| format!("address del {own} port {name}");
        commands.extend(port.addresses.iter().map(address));
        commands.push(settings(name, &Port::new(port.kind.clone())));
    }
    commands.extend(config.vrfs.iter().map(|(name, _)| format!("vrf del {name}")));
    commands
}

/// The same commands as somebody writes them who likes quotes, tabs and comments.
fn written_oddly(commands: &[String]) -> String {
    let quoted = |word: &str| match word.len() % 3 {
        0 => format!("\"{word}\""),
        1 => format!("{}\"{}\"", &word[..1], &word[1..]),
        _ => word.to_owned(),
    };
    let line = |command: &String| {
        let words: Vec<String> = command.split(' ').map(quoted).collect();
        format!(" \t{}\t# {command}\r\n\n", words.join(" \t "))
    };
    commands.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn commands_make_any_configuration_and_take_it_away(whole in arbitrary::config()) {
        let bare = bare(&whole);
        let commands = making(&whole);
        let made = run(&bare, &commands.join("\n"));
        prop_assert_eq!(made.as_ref().map(render), Ok(render(&whole)));
        prop_assert_eq!(made.as_ref(), Ok(&whole));
        prop_assert_eq!(run(&bare, &written_oddly(&commands)), Ok(whole.clone()));
        prop_assert_eq!(run(&whole, &taking_away(&whole).join("\n")), Ok(bare));
    }

    #[test]
    fn a_command_that_is_refused_changes_nothing_before_it_either(
        whole in arbitrary::config(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut commands = making(&whole);
        let at = at.index(commands.len() + 1);
        commands.insert(at, "route add nowhere blackhole".to_owned());
        let refused = run(&bare(&whole), &commands.join("\n")).unwrap_err();
        let place = format!("commands:{}:11", at + 1);
        prop_assert!(refused.contains("nowhere") && refused.contains(&place), "{refused}");
    }

    #[test]
    fn no_words_make_the_editor_panic(
        named in any::<prop::sample::Index>(),
        rest in vec("[a-z]{1,9}|[0-9./:]{1,12}|p0|p1|via|port|vrf|vni|local|remote|\"|#|\\PC", 0..9),
    ) {
        let command = named.get(commands());
        let line = format!("{} {} {}", command.noun, command.verb, rest.join(" "));
        if let Err(refused) = run(&super::example(), &line) {
            prop_assert!(!refused.is_empty());
        }
    }
}
