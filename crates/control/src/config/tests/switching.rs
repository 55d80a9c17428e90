//! Mirrors, tunnels and bindings: what is refused, and the commands that edit them.

use super::super::{Host, Source, edit, parse, render};
use super::{host, messages};

/// Ports of every sort, and the start of a mirror of p1.
const PORTS: &str = r#"
[port]
p1 = { kind = "memory" }
p2 = { kind = "memory" }
listener = { kind = "memory" }
routed = { kind = "memory", addresses = ["192.0.2.1/24"] }
trunk = { kind = "memory" }
"trunk.7" = { kind = "vlan", parent = "trunk", vlan = 7 }
bridged = { kind = "memory" }
own = { kind = "bvi" }
wired = { kind = "memory" }
wired2 = { kind = "memory" }

[bridge.lan]
ports = ["bridged", "own"]

[[xconnect]]
ports = ["wired", "wired2"]

[mirror.spy]
sources = ["p1"]
"#;

fn mirrored(rest: &str) -> Vec<String> {
    messages(&format!("{PORTS}{rest}"))
}

#[test]
fn copies_leave_by_a_port_that_carries_nothing_else() {
    for (destination, message) in [
        ("p1", "p1 is mirrored itself: its copies would be copied"),
        ("own", "own is the router's own station in a bridge"),
        ("routed", "routed has addresses: it carries packets of its own"),
        ("bridged", "bridged is in a bridge: it carries frames of its own"),
        ("wired", "wired is in an xconnect: it carries frames of its own"),
        ("trunk", "trunk has sub-interfaces: it carries frames of their own"),
        ("nobody", "there is no port `nobody`"),
    ] {
        assert_eq!(mirrored(&format!("destination = {destination:?}")), [message]);
    }
    for destination in ["listener", "trunk.7"] {
        let text = format!("{PORTS}destination = {destination:?}\n");
        assert!(parse(&Source::new("router.toml", &text), &Host::any()).is_ok());
    }
}

#[test]
fn copies_leave_by_a_tunnel_of_frames_or_one_for_copies_and_by_no_other() {
    let ends = "local = \"192.0.2.1\"\nremote = \"192.0.2.9\"\n";
    let text = |kind: &str, more: &str| {
        format!("{PORTS}destination = \"t\"\n[port.t]\nkind = {kind:?}\n{ends}{more}")
    };
    let with = |kind: &str, more: &str| messages(&text(kind, more));
    for (kind, more) in [("gre", ""), ("erspan", "session = 5\n"), ("vxlan", "vni = 7\n")] {
        parse(&Source::new("router.toml", text(kind, more)), &Host::any()).unwrap();
    }
    assert_eq!(
        with("gre", "payload = \"packets\"\n"),
        ["t carries IP packets, not Ethernet frames"]
    );
    assert_eq!(with("ipip", ""), ["t carries IP packets, not Ethernet frames"]);
    let erspan = |more: &str| with("erspan", &format!("session = 5\n{more}"));
    assert_eq!(erspan("version = \"III\"\nindex = 64\n"), ["hardware number 64 with type III"]);
    assert_eq!(
        erspan("addresses = [\"10.7.0.1/30\"]\n"),
        [
            "t has addresses: it carries packets of its own",
            "it has addresses, and carries a mirror's copies alone"
        ]
    );
    assert_eq!(erspan("[bridge.b]\nports = [\"t\"]\n").len(), 2);
    assert_eq!(
        erspan("[mirror.two]\ndestination = \"p2\"\nsources = [\"t\"]\n"),
        [
            "t is mirrored itself: its copies would be copied",
            "t carries a mirror's copies alone: they would be copied"
        ]
    );
    for wrong in ["session = 1024\n", ""] {
        assert_eq!(with("erspan", wrong).len(), 1, "{wrong}");
    }
    assert_eq!(mirrored("destination = \"listener\"\ntruncate = 59\n").len(), 1);
    assert_eq!(mirrored("destination = \"listener\"\nsample = 0\n").len(), 1);
}

#[test]
fn a_port_is_copied_once_and_a_mirror_copies_something() {
    let more = |text: &str| mirrored(&format!("destination = \"listener\"\n{text}"));
    assert_eq!(
        more(
            "[mirror.two]\ndestination = \"p2\"\nsources = [{ port = \"p1\", direction = \"rx\" }]\n"
        ),
        ["p1 rx is copied by mirror spy already"]
    );
    assert_eq!(
        more("[mirror.two]\ndestination = \"p2\"\nsources = [\"trunk\", \"trunk\"]\n"),
        ["trunk is listed twice"]
    );
    assert_eq!(more("[mirror.two]\ndestination = \"p2\"\n"), ["the mirror has no sources"]);
    assert_eq!(
        more("[mirror.two]\ndestination = \"p2\"\nsources = \"own\"\n"),
        ["own is the router's own station in a bridge"]
    );
    assert_eq!(
        more("[mirror.two]\ndestination = \"p1\"\nsources = \"p2\"\n"),
        ["p1 is mirrored itself: its copies would be copied"]
    );
}

#[test]
fn mirrors_are_made_and_removed_by_command() {
    let ports = PORTS.split("[mirror").next().unwrap();
    let start = parse(&Source::new("router.toml", ports), &host()).unwrap();
    let run = |commands: &str| {
        let edited = edit(&start, &Source::new("commands", commands), &host());
        edited.map(|config| render(&config)).map_err(|problems| problems.to_string())
    };
    let made = run("mirror add spy to listener from p1 rx from p2").unwrap();
    let section = "[mirror.spy]\ndestination = \"listener\"\nsources     = [{ port = \"p1\", direction = \"rx\" }, \"p2\"]\n";
    assert!(made.contains(section), "{made}");
    let twice = run("mirror add a to listener from p1\nmirror add a to listener").unwrap_err();
    assert!(twice.contains("mirror a is there already"), "{twice}");
    assert!(run("mirror del a").unwrap_err().contains("there is no mirror `a`"));
    assert!(run("mirror add a to listener from p1\nmirror del a").is_ok());
}

/// A port with an address of each family.
const UNDERLAY: &str = r#"
[port.p1]
kind = "memory"
addresses = ["192.0.2.1/24", "2001:db8::1/64"]
"#;

fn tunnel(fields: &str) -> Vec<String> {
    let text = format!("{UNDERLAY}\n[port.t]\n{fields}\n");
    match parse(&Source::new("router.toml", &text), &host()) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.problems.into_iter().map(|problem| problem.message).collect(),
    }
}

#[test]
fn tunnels_end_at_hosts_of_one_family() {
    for (ends, faults) in [
        (r#"local = "192.0.2.1", remote = "192.0.2.9""#, &[][..]),
        (r#"local = "2001:db8::1", remote = "2001:db8::9""#, &[]),
        (r#"local = "2001:db8::1", remotes = ["2001:db8::9", "2001:db8::8"]"#, &[]),
        (r#"local = "192.0.2.1", learn_remotes = true"#, &[]),
        (
            r#"local = "192.0.2.1", remote = "2001:db8::9""#,
            &["2001:db8::9 is not of the family of 192.0.2.1"],
        ),
        (
            r#"local = "192.0.2.1", remote = "224.0.0.5""#,
            &["224.0.0.5 cannot be an end of a tunnel"],
        ),
        (r#"local = "2001:db8::1", remote = "fe80::9""#, &["fe80::9 cannot be an end of a tunnel"]),
        (r#"local = "192.0.2.7", remote = "192.0.2.9""#, &["no port has the address 192.0.2.7"]),
        (r#"local = "192.0.2.1", remote = "192.0.2.1""#, &["192.0.2.1 is an address of ours"]),
        (
            r#"local = "192.0.2.1", remotes = ["192.0.2.9", "192.0.2.9"]"#,
            &["192.0.2.9 is listed twice"],
        ),
        (r#"local = "192.0.2.1""#, &["`remote` is missing"]),
    ] {
        let found = tunnel(&format!(
            "kind = \"vxlan\"\nvni = 5\n{}",
            ends.replace(", re", "\nre").replace(", learn", "\nlearn")
        ));
        assert_eq!(found, faults, "{ends}");
    }
}

#[test]
fn what_carries_packets_is_routed_and_what_has_several_ends_is_bridged() {
    let gre = "kind = \"gre\"\npayload = \"packets\"\nlocal = \"192.0.2.1\"\n";
    let one = format!("{gre}remote = \"192.0.2.9\"\n");
    let addresses = "addresses = [\"10.9.0.1/30\"]\n";
    assert_eq!(tunnel(&format!("{one}{addresses}")), [""; 0]);
    assert_eq!(
        tunnel(&format!("{gre}remotes = [\"192.0.2.9\"]\n")),
        ["a tunnel of packets has one other end"]
    );
    // Beside one of GRE, one of IP in IP has the same ends; a second one has not.
    let ipip = |name: &str| {
        let head = if name == "t" { String::new() } else { format!("[port.{name}]\n") };
        format!("{head}kind = \"ipip\"\nlocal = \"192.0.2.1\"\nremote = \"192.0.2.9\"\n")
    };
    assert_eq!(tunnel(&format!("{one}{}", ipip("u"))), [""; 0]);
    assert_eq!(tunnel(&format!("{}{}", ipip("t"), ipip("u"))), ["it is the same tunnel as t"]);
    assert_eq!(
        tunnel("kind = \"ipip\"\nlocal = \"192.0.2.1\"\nremotes = [\"192.0.2.9\"]\n"),
        ["a tunnel of packets has one other end"]
    );
    assert_eq!(
        tunnel(&format!("{one}[bridge.lan]\nports = [\"t\"]\n")),
        ["t carries IP packets, not Ethernet frames"]
    );
    assert_eq!(
        tunnel(&format!(
            "{one}[port.l]\nkind = \"memory\"\n[mirror.m]\ndestination = \"l\"\nsources = \"t\"\n"
        )),
        ["t carries IP packets, not Ethernet frames"]
    );
    let several = "kind = \"vxlan\"\nvni = 5\nlocal = \"192.0.2.1\"\nremotes = [\"192.0.2.9\"]\n";
    assert_eq!(
        tunnel(&format!("{several}{addresses}")),
        ["routes do not say which of several remotes they mean"]
    );
    assert_eq!(
        tunnel(&format!(
            "{several}[port.q]\nkind = \"memory\"\n[[xconnect]]\nports = [\"t\", \"q\"]\n"
        )),
        ["t carries IP packets, or is a tunnel with several remotes"]
    );
}

#[test]
fn flows_say_the_number_of_a_tunnel_in_a_bridge_of_flows_alone() {
    let ends = "local = \"192.0.2.1\"\nremote = \"192.0.2.9\"\n";
    let bridge = |mode: &str| format!("[bridge.lan]\nports = [\"t\"]\nmode = {mode:?}\n");
    for said in [
        "kind = \"vxlan\"\nvni = \"flow\"\n",
        "kind = \"geneve\"\nvni = \"flow\"\n",
        "kind = \"gre\"\nkey = \"flow\"\n",
    ] {
        assert_eq!(tunnel(&format!("{said}{ends}{}", bridge("flow"))), [""; 0], "{said}");
        for (other, what) in [
            (bridge("learning"), "bridge lan has none"),
            ("addresses = [\"10.9.0.1/24\"]\n".to_owned(), "the port has addresses"),
            ("[[route]]\nprefix = \"10.9.0.0/24\"\nport = \"t\"\n".to_owned(), "a route has none"),
            (
                "[port.q]\nkind = \"memory\"\n[mirror.m]\ndestination = \"t\"\nsources = \"q\"\n"
                    .to_owned(),
                "a mirror has none",
            ),
            (
                "[port.q]\nkind = \"memory\"\n[[xconnect]]\nports = [\"t\", \"q\"]\n".to_owned(),
                "an xconnect has none",
            ),
        ] {
            let told = format!("flows say it, and {what}");
            assert!(tunnel(&format!("{said}{ends}{other}")).contains(&told), "{said} {told}");
        }
        // One that is joined later is told of, and taken.
        assert_eq!(tunnel(&format!("{said}{ends}")), [""; 0]);
    }
    let vxlan = |rest: &str| tunnel(&format!("kind = \"vxlan\"\n{rest}{}", bridge("flow")));
    assert_eq!(
        vxlan("vni = \"flow\"\nlocal = \"192.0.2.1\"\nremotes = [\"192.0.2.9\"]\n"),
        ["flows say the number of packets to one other end"]
    );
    assert_eq!(vxlan(&format!("vni = \"flows\"\n{ends}")), ["`vni` is \"flows\""]);
    let taken =
        |port: u16, kind: &str| [format!("UDP port {port} is that of tunnels of the kind {kind}")];
    assert_eq!(vxlan(&format!("vni = 5\nudp_port = 6081\n{ends}")), taken(6081, "geneve"));
    let at =
        |kind: &str, port: u16| format!("kind = \"{kind}\"\nvni = 5\nudp_port = {port}\n{ends}");
    assert_eq!(tunnel(&at("geneve", 4789)), taken(4789, "vxlan"));
    let both = |first: &str, second: &str| {
        tunnel(&format!("{}[port.u]\n{}", at(first, 9999), at(second, 9999)))
    };
    assert_eq!(both("geneve", "vxlan"), taken(9999, "geneve"));
    assert_eq!(both("geneve", "geneve"), ["it is the same tunnel as t"]);
    let gre = |rest: &str| {
        tunnel(&format!("kind = \"gre\"\nkey = \"flow\"\n{rest}{ends}{}", bridge("flow")))
    };
    assert_eq!(gre("key_in = 5\n"), ["flows say the key, in and out"]);
    assert!(
        gre("payload = \"packets\"\n").contains(&"flows are of frames, not of packets".to_owned())
    );
}

#[test]
fn flows_say_the_other_end_of_a_tunnel_in_a_bridge_of_flows_alone() {
    let ends = "local = \"192.0.2.1\"\nremote = \"flow\"\n";
    let bridge = |mode: &str| format!("[bridge.lan]\nports = [\"t\"]\nmode = {mode:?}\n");
    for said in
        ["kind = \"vxlan\"\nvni = 5\n", "kind = \"geneve\"\nvni = \"flow\"\n", "kind = \"gre\"\n"]
    {
        assert_eq!(tunnel(&format!("{said}{ends}{}", bridge("flow"))), [""; 0], "{said}");
        let told = "flows say it, and bridge lan has none".to_owned();
        assert!(tunnel(&format!("{said}{ends}{}", bridge("learning"))).contains(&told), "{said}");
        assert_eq!(tunnel(&format!("{said}{ends}")), [""; 0], "one that is joined later");
    }
    let packets = "flows are of frames, not of packets".to_owned();
    for said in ["kind = \"gre\"\npayload = \"packets\"\n", "kind = \"ipip\"\n"] {
        assert!(tunnel(&format!("{said}{ends}")).contains(&packets), "{said}");
    }
    let copies = "copies go to one other end".to_owned();
    assert!(tunnel(&format!("kind = \"erspan\"\nsession = 5\n{ends}")).contains(&copies));
    let wrong = "kind = \"vxlan\"\nvni = 5\nlocal = \"192.0.2.1\"\nremote = \"flows\"\n";
    assert_eq!(tunnel(wrong), ["`remote` is \"flows\""]);
}

#[test]
fn a_tunnel_without_an_address_of_ours_has_one_other_end_or_flows_say_it() {
    let bridge = "[bridge.lan]\nports = [\"t\"]\nmode = \"flow\"\n";
    let vxlan = |ends: &str| tunnel(&format!("kind = \"vxlan\"\nvni = 5\n{ends}\n{bridge}"));
    for ends in [
        "remote = \"192.0.2.9\"",
        "remote = \"2001:db8::9\"",
        "remote = \"flow\"",
        "local = \"flow\"\nremote = \"flow\"",
    ] {
        assert_eq!(vxlan(ends), [""; 0], "{ends}");
    }
    assert_eq!(tunnel("kind = \"ipip\"\nremote = \"192.0.2.9\""), [""; 0]);
    for ends in ["remotes = [\"192.0.2.9\"]", "learn_remotes = true"] {
        assert_eq!(vxlan(ends), ["several remotes want one address of ours"]);
    }
    assert_eq!(
        vxlan("local = \"flow\"\nremote = \"192.0.2.9\""),
        ["flows say it together with the other end"]
    );
    let copies = tunnel("kind = \"erspan\"\nsession = 5\nremote = \"192.0.2.9\"");
    assert_eq!(copies, ["copies leave from one address"]);
    let four = UNDERLAY.replace(", \"2001:db8::1/64\"", "");
    let six = "[port.t]\nkind = \"vxlan\"\nvni = 5\nremote = \"2001:db8::9\"\n";
    assert_eq!(
        messages(&format!("{four}{six}")),
        ["no port has an address that its packets could leave from"]
    );
    // Those from an address of ours and from any are two.
    let one = "kind = \"vxlan\"\nvni = 5\nremote = \"192.0.2.9\"\n";
    let both = |second: &str| tunnel(&format!("{one}[port.u]\n{one}{second}\n"));
    assert_eq!(both("local = \"192.0.2.1\""), [""; 0]);
    assert_eq!(both(""), ["it is the same tunnel as t"]);
}

#[test]
fn tunnels_of_one_number_and_of_any_stand_beside_each_other() {
    let vxlan = |name: &str, (vni, remote): (&str, &str)| {
        format!(
            "[port.{name}]\nkind = \"vxlan\"\nvni = {vni}\nlocal = \"192.0.2.1\"\nremote = {remote}\n"
        )
    };
    let text = |t, u| {
        let bridge = "[bridge.lan]\nports = [\"t\", \"u\"]\nmode = \"flow\"\n";
        format!("{UNDERLAY}{}{}{bridge}", vxlan("t", t), vxlan("u", u))
    };
    let (flow, one) = ("\"flow\"", "\"192.0.2.9\"");
    for twice in [(flow, one), (flow, flow), ("5", flow)] {
        assert_eq!(messages(&text(twice, twice)), ["it is the same tunnel as t"]);
    }
    for other in [("5", one), (flow, flow), ("5", flow)] {
        assert!(parse(&Source::new("router.toml", text((flow, one), other)), &host()).is_ok());
    }
}

#[test]
fn a_fixed_station_of_several_remotes_is_behind_one() {
    let start = "kind = \"vxlan\"\nvni = 5\nlocal = \"192.0.2.1\"\n";
    let fixed = |ends: &str, remote: &str| {
        tunnel(&format!(
            "{start}{ends}\n[bridge.lan]\nports = [\"t\"]\n\
             [[mac]]\nbridge = \"lan\"\naddress = \"06:00:00:00:00:01\"\nport = \"t\"\n{remote}\n"
        ))
    };
    let several = "remotes = [\"192.0.2.9\"]";
    assert_eq!(fixed(several, "remote = \"192.0.2.10\""), [""; 0]);
    assert_eq!(fixed(several, ""), ["t has several remotes, and the station is behind one"]);
    assert_eq!(
        fixed(several, "remote = \"2001:db8::9\""),
        ["2001:db8::9 is not of the family of 192.0.2.1"]
    );
    assert_eq!(
        fixed("remote = \"192.0.2.9\"", "remote = \"192.0.2.9\""),
        ["t does not have several remotes"]
    );
}

#[test]
fn tunnels_and_bindings_are_made_by_command() {
    let start = parse(&Source::new("router.toml", UNDERLAY), &host()).unwrap();
    let run = |commands: &str| {
        let edited = edit(&start, &Source::new("commands", commands), &host());
        edited.map(|config| render(&config)).map_err(|problems| problems.to_string())
    };
    let made = |command: &str| {
        let text = run(command).unwrap_or_else(|fault| panic!("{fault}"));
        let lines = text.lines().skip_while(|line| *line != "[port.t]").skip(1);
        let lines = lines.take_while(|line| !line.starts_with('['));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(
        made("vxlan add t vni 7 checksum false local 2001:db8::1 remote 2001:db8::9"),
        [
            "kind = \"vxlan\"",
            "vni = 7",
            "checksum = false",
            "local = \"2001:db8::1\"",
            "remote = \"2001:db8::9\""
        ]
    );
    assert_eq!(
        made("vxlan add t vni 7 local 192.0.2.1 remote 192.0.2.9 remote 192.0.2.8 learn")[2..],
        [
            "local = \"192.0.2.1\"",
            "remotes = [\"192.0.2.9\", \"192.0.2.8\"]",
            "learn_remotes = true"
        ]
    );
    assert_eq!(
        made("gre add t key 3 packets local 192.0.2.1 remote 192.0.2.9")[1..3],
        ["key = 3", "payload = \"packets\""]
    );
    assert!(run("gre add t local 192.0.2.1").unwrap_err().contains("remote"));
    assert!(run("vxlan del p1").unwrap_err().contains("there is no tunnel `p1`"));
    let bound = "bridge add lan\nbridge set lan answer_arp true\nbridge bind lan 10.0.0.9 06:00:00:00:00:09\n";
    let text = run(bound).unwrap();
    assert!(text.contains("{ address = \"10.0.0.9\", mac = \"06:00:00:00:00:09\" }"), "{text}");
    assert!(!run(&format!("{bound}bridge unbind lan 10.0.0.9\n")).unwrap().contains("10.0.0.9"));
    let six = "bridge add lan\nbridge set lan answer_nd true\nbridge bind lan 2001:db8::9 06:00:00:00:00:09 router\n";
    let text = run(six).unwrap();
    let bound = "{ address = \"2001:db8::9\", mac = \"06:00:00:00:00:09\", router = true }";
    assert!(text.contains(bound) && text.contains("answer_nd"), "{text}");
    let four =
        run("bridge add lan\nbridge bind lan 10.0.0.9 06:00:00:00:00:09 router\n").unwrap_err();
    assert!(four.contains("ARP does not tell whether 10.0.0.9 is a router's"), "{four}");
    let missing = run("bridge add lan\nbridge unbind lan 10.0.0.9\n").unwrap_err();
    assert!(missing.contains("10.0.0.9 is not bound in bridge lan"), "{missing}");
    let group = run("bridge add lan\nbridge bind lan 224.0.0.9 06:00:00:00:00:09\n").unwrap_err();
    assert!(group.contains("224.0.0.9 is not the address of one host"), "{group}");
}
