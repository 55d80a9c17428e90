//! The exact words of complaints.

use super::{faults, messages, parse_ok};

#[test]
fn an_unknown_key_is_refused_with_its_neighbour_suggested() {
    assert_eq!(
        faults("[port.p0]\nkind = \"af_packet\"\ndevice = \"veth0\"\nmut = 1400\n"),
        "\
error: unknown key `mut`
  --> router.toml:4:1
   |
 4 | mut = 1400
   | ^^^
   = field: port.p0.mut
   = expected: one of kind, device, peer_offloads, kernel_receives, up, mtu, vrf, mac, rx_queues, rx_mode, addresses, unnumbered, acl_in, acl_out, policy, urpf, allow, police_in, police_out, mark_dscp, mark_pcp, export_in, export_out, qos, ra, routing, proxy_arp, proxy_nd, directed_broadcasts, redirects, twin
   = help: did you mean `mtu`?
"
    );
}

#[test]
fn keys_of_a_kind_that_is_wrong_or_missing_are_not_unknown_but_slips_are() {
    let port = "device = \"veth0\"\nadresses = [\"192.0.2.1/24\"]\n";
    assert_eq!(
        messages(&format!("[port.p0]\nkind = \"af_paket\"\n{port}")),
        ["`af_paket` is not known here", "unknown key `adresses`"]
    );
    assert_eq!(
        messages(&format!("[port.p0]\n{port}")),
        ["`kind` is missing", "unknown key `adresses`"]
    );
    // Of a kind that is known, what others have is unknown as before.
    assert_eq!(
        messages("[port.p0]\nkind = \"memory\"\ndevice = \"veth0\"\n"),
        ["unknown key `device`"]
    );
    let qos = "[port.p0]\nkind = \"memory\"\n[port.p0.qos]\nkind = \"fq_codl\"\ntarget = \"5ms\"\n";
    assert_eq!(messages(qos), ["`fq_codl` is not known here"]);
}

#[test]
fn every_fault_is_told_at_once_in_the_order_of_the_file() {
    let text = r#"
[port.p0]
kind = "afpacket"
mtu = 99999

[port.p1]
kind = "tap"
device = "tap1"
mtu = 20
mac = "01:00:5e:00:00:01"
addresses = ["192.0.2.0/24"]

[[route]]
prefix = "10.1.2.3/8"
via = "192.0.2.9"

[sections]
"#;
    assert_eq!(
        messages(text),
        [
            "`afpacket` is not known here",
            "`mtu` is 99999, which is out of range",
            "`mtu` is 20, which is out of range",
            "01:00:5e:00:00:01 is a multicast address",
            "192.0.2.0/24 is the network itself",
            "`10.1.2.3/8` has bits set beyond its prefix length",
            "unknown key `sections`",
        ]
    );
}

#[test]
fn a_number_out_of_range_is_told_with_its_field_and_the_range() {
    for number in ["99999", "67", "-1", "9217"] {
        let place = "^".repeat(number.len());
        assert_eq!(
            faults(&format!("[port.p0]\nkind = \"memory\"\nmtu = {number}\n")),
            format!(
                "\
error: `mtu` is {number}, which is out of range
  --> router.toml:3:7
   |
 3 | mtu = {number}
   |       {place}
   = field: port.p0.mtu
   = expected: a number from 68 to 9216
"
            )
        );
    }
    let missing = faults("[export.e]\ncollectors = [\"192.0.2.9:4739\"]\nsample = 70000000000\n");
    assert!(missing.contains("`sample` is 70000000000, which is out of range"), "{missing}");
}

#[test]
fn overlapping_networks_on_two_ports_are_refused_at_the_later_one() {
    let text = "[port.p0]\nkind = \"memory\"\naddresses = [\"10.0.0.1/8\"]\n\n\
                [port.p1]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\", \"10.1.0.1/16\"]\n";
    assert_eq!(
        faults(text),
        "\
error: 10.1.0.0/16 on p1 overlaps 10.0.0.0/8 on p0
  --> router.toml:7:30
   |
 7 | addresses = [\"192.0.2.1/24\", \"10.1.0.1/16\"]
   |                              ^^^^^^^^^^^^^
   = field: port.p1.addresses[1]
   = expected: each network on one port of a VRF
"
    );
}

#[test]
fn a_core_that_is_not_there_is_refused_with_those_that_are() {
    assert_eq!(
        faults("[workers]\ncores = [1, 7, 1]\n"),
        "\
error: core 7 is not available
  --> router.toml:2:13
   |
 2 | cores = [1, 7, 1]
   |             ^
   = field: workers.cores[1]
   = expected: cores of 0, 1

error: core 1 is named twice
  --> router.toml:2:16
   |
 2 | cores = [1, 7, 1]
   |                ^
   = field: workers.cores[2]
   = expected: each core once
"
    );
    assert_eq!(messages("[workers]\ncount = 3\n"), ["3 workers on 2 cores"]);
    assert_eq!(messages("[workers]\ncores = []\n"), ["no core for any worker"]);
    assert_eq!(
        messages("[workers]\ncores = [1]\ncount = 1\n"),
        ["`cores` and `count` exclude each other"]
    );
}

#[test]
fn a_route_to_nowhere_to_itself_or_beyond_the_networks_is_refused() {
    let ports = "[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n[port.p1]\nkind = \"memory\"\n";
    let route =
        |fields: &str| messages(&format!("{ports}[[route]]\nprefix = \"10.0.0.0/8\"\n{fields}\n"));
    assert_eq!(route(""), ["the route leads nowhere"]);
    assert_eq!(route("via = []"), ["`via` is an empty list"]);
    assert_eq!(
        route("via = \"192.0.2.9\"\nblackhole = true"),
        ["the route leads to several things at once"]
    );
    assert_eq!(route("via = \"192.0.2.1\""), ["192.0.2.1 is this router's own address"]);
    assert_eq!(route("via = \"198.51.100.1\""), ["no port has a network that 198.51.100.1 is in"]);
    assert_eq!(
        route("via = \"192.0.2.9\"\nport = \"p1\""),
        ["192.0.2.9 is reached by p0, not by p1"]
    );
    assert_eq!(route("port = \"p2\""), ["there is no port `p2`"]);
    assert_eq!(route("via = [\"192.0.2.9\", \"192.0.2.9\"]"), ["via 192.0.2.9 is listed twice"]);
    assert_eq!(
        route("via = { address = \"192.0.2.9\", weight = 0 }"),
        ["`weight` is 0, which is out of range"]
    );
}

#[test]
fn rows_that_stand_twice_are_refused() {
    let ports = "[port.p0]\nkind = \"memory\"\n[port.p1]\nkind = \"memory\"\n";
    let twice = |row: &str| messages(&format!("{ports}{row}{row}"));
    assert_eq!(
        twice("[[route]]\nprefix = \"10.0.0.0/8\"\nblackhole = true\n"),
        ["10.0.0.0/8 is listed twice"]
    );
    assert_eq!(twice("[[xconnect]]\nports = [\"p0\", \"p1\"]\n"), ["p0 p1 is listed twice"]);
    assert!(
        messages("[port.p0]\nkind=\"memory\"\n[port.p0]\nkind=\"memory\"\n")[0]
            .contains("duplicate")
    );
}

#[test]
fn a_device_and_a_port_serve_one_purpose_each() {
    let text = "[port.p0]\nkind = \"af_packet\"\ndevice = \"veth0\"\n\
                [port.p1]\nkind = \"af_xdp\"\ndevice = \"veth0\"\naddresses = [\"192.0.2.1/24\"]\n\
                [port.p2]\nkind = \"memory\"\n\
                [[xconnect]]\nports = [\"p0\", \"p1\"]\n\
                [[xconnect]]\nports = [\"p0\", \"p2\"]\n\
                [[xconnect]]\nports = [\"p2\", \"p2\"]\n";
    assert_eq!(
        messages(text),
        [
            "device veth0 is used by port p0 already",
            "p1 has addresses and is in an xconnect",
            "p0 is in the xconnect p0 p1 already",
            "p2 is connected to itself",
        ]
    );
}

#[test]
fn an_api_on_tcp_without_tls_and_token_is_refused() {
    assert_eq!(
        messages("[api]\ntcp = \"127.0.0.1:8443\"\n"),
        ["`tls_certificate` is missing", "`tls_key` is missing", "`token_file` is missing"]
    );
    assert_eq!(messages("[api]\ntls_key = \"k\"\n"), ["`tls_key` without `tcp`"]);
    assert_eq!(
        messages("[api]\nsocket = \"api.sock\"\n"),
        ["`api.sock` depends on where the router is started"]
    );
}

#[test]
fn a_large_mtu_wants_large_buffers() {
    assert_eq!(
        faults("[port.p0]\nkind = \"memory\"\nmtu = 9000\n"),
        "\
error: packets of 9000 bytes do not fit a buffer
  --> router.toml:3:7
   |
 3 | mtu = 9000
   |       ^^^^
   = field: port.p0.mtu
   = expected: at most 2026 with frame_bytes = 2048
   = help: set memory.frame_bytes to 9022 or more
"
    );
}

#[test]
fn rings_of_ports_must_leave_buffers_for_packets_on_their_way() {
    let config = |buffers: u32| {
        format!(
            "workers.count = 2\n[memory]\nbuffers = {buffers}\n\
             [port.p0]\nkind = \"af_xdp\"\ndevice = \"d0\"\n\
             [port.p1]\nkind = \"af_xdp\"\ndevice = \"d1\"\nrx_queues = 3\n\
             [port.p2]\nkind = \"memory\"\n"
        )
    };
    // A queue for each worker: two of p0 and three of p1; 512 buffers for each worker.
    assert_eq!(
        messages(&config(11_263)),
        ["receive rings of ports take 10240 of 11263 packet buffers (p0 4096, p1 6144), and \
          packets on their way 1024"]
    );
    assert_eq!(parse_ok(&config(11_264)).ports.len(), 3);
    parse_ok("[memory]\nbuffers = 512\n[port.p2]\nkind = \"memory\"\n");
}

#[test]
fn ports_without_a_device_of_their_own_wait_for_no_packets() {
    let vlan = "[port.a]\nkind = \"memory\"\nrx_mode = \"polling\"\n\
                [port.v]\nkind = \"vlan\"\nparent = \"a\"\nvlan = 7\n";
    parse_ok(vlan);
    let told = faults(&format!("{vlan}rx_mode = \"interrupt\"\n"));
    assert!(told.contains("port.v.rx_mode") && told.contains("come in by other ports"), "{told}");
    let told = faults("[port.a]\nkind = \"memory\"\nrx_mode = \"poll\"\n");
    assert!(told.contains("polling"), "{told}");
}

#[test]
fn more_ports_and_stations_than_there_is_room_for_are_refused() {
    let ports = |count: usize| -> String {
        (0..count).map(|number| format!("port.p{number}.kind = \"memory\"\n")).collect()
    };
    assert_eq!(parse_ok(&ports(1_024)).ports.len(), 1_024);
    assert_eq!(messages(&ports(2_002)), ["2002 ports"]);
    assert!(faults(&ports(1_025)).contains("at most 1024 ports"), "{}", faults(&ports(1_025)));
    let tunnel = "[port.vx]\nkind = \"vxlan\"\nvni = 1\nlocal = \"192.0.2.1\"\n\
                  remotes = [\"192.0.2.2\", \"192.0.2.3\"]\n\
                  [port.lo]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n";
    assert_eq!(messages(&format!("{}{tunnel}", ports(1_021))), ["1023 ports and 2 remotes"]);
    assert_eq!(parse_ok(&format!("{}{tunnel}", ports(1_020))).ports.len(), 1_022);
    let stations = "memory.macs = 1\nport.a.kind = \"memory\"\nbridge.lan.ports = [\"a\"]\n\
                    [[mac]]\nbridge = \"lan\"\naddress = \"02:00:00:00:00:01\"\nport = \"a\"\n\
                    [[mac]]\nbridge = \"lan\"\naddress = \"02:00:00:00:00:02\"\nport = \"a\"\n";
    assert_eq!(messages(stations), ["2 fixed stations and room for 1"]);
}

#[test]
fn more_static_routes_of_a_family_than_there_is_room_for_are_refused() {
    let route = |prefix| format!("[[route]]\nprefix = \"{prefix}\"\nblackhole = true\n");
    let rows: String = ["10.0.0.0/8", "2001:db8::/32", "2001:db9::/32"].map(route).concat();
    let text = format!("[memory]\nroutes = 1\nip6_routes = 1\n{rows}");
    assert_eq!(messages(&text), ["2 static IPv6 routes and room for 1"]);
    assert!(faults(&text).contains("set memory.ip6_routes to 2 or more"));
}

#[test]
fn a_file_that_is_no_toml_is_told_by_the_first_fault_of_a_few_lines() {
    let text = faults(&"root:x:0:0:root:/root:/bin/bash\n".repeat(40));
    assert_eq!(text.matches("error: ").count(), 10, "{text}");
    for line in 1..=10 {
        assert_eq!(text.matches(&format!("--> router.toml:{line}:")).count(), 1, "{text}");
    }
}

#[test]
fn broken_syntax_is_told_with_its_place() {
    let text = faults("[port.p0\nkind = \"memory\"\n");
    assert!(text.contains("--> router.toml:1:"), "{text}");
}

#[test]
fn values_of_the_wrong_type_name_what_stands_there() {
    let text = faults(
        "[port.p0]\nkind = \"memory\"\nup = \"true\"\nmtu = \"1500\"\naddresses = 5\n[arp]\nretry = 3\n",
    );
    assert!(text.contains("error: `up` is \"true\""), "{text}");
    assert!(text.contains("help: write true without quotes"), "{text}");
    assert!(text.contains("help: write 1500 without quotes"), "{text}");
    assert!(text.contains("error: `addresses` is 5"), "{text}");
    assert!(text.contains("help: for seconds write \"3s\""), "{text}");
    assert_eq!(messages("route = 5\n"), ["`route` is 5"]);
    assert_eq!(messages("[route]\nprefix = \"10.0.0.0/8\"\n"), ["`route` is a table"]);
    assert_eq!(messages("port = 1\n"), ["`port` is 1"]);
}

#[test]
fn a_port_that_cannot_be_read_is_one_fault_and_not_one_for_each_route() {
    let text = "[port.p0]\nkind = \"memroy\"\naddresses = [\"192.0.2.1/24\"]\n\
                [[route]]\nprefix = \"10.0.0.0/8\"\nvia = \"192.0.2.9\"\n\
                [[neighbor]]\naddress = \"192.0.2.9\"\nport = \"p0\"\nmac = \"02:00:00:00:00:09\"\n";
    assert_eq!(messages(text), ["`memroy` is not known here"]);
}
