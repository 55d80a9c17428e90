use super::*;
use crate::describe;

const PORT: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);

fn unsaid() -> Unsaid {
    let (source4, source6) = ([192, 0, 2, 9].into(), "2001:db8::9".parse().unwrap());
    Unsaid { destination_mac: PORT, source_mac: HOST, source4, source6 }
}

fn frame(text: &str) -> Vec<u8> {
    Words::read(text).unwrap().frame(&unsaid()).unwrap()
}

fn said(text: &str) -> String {
    describe::frame(&frame(text)).to_string()
}

fn refused(text: &str) -> String {
    let framed = Words::read(text).and_then(|words| words.frame(&unsaid()));
    framed.unwrap_err().to_string()
}

#[test]
fn what_is_said_is_what_the_frame_has() {
    for (text, line) in [
        ("ip dst 10.0.2.9", "IPv4 192.0.2.9 > 10.0.2.9 ttl 64 len 20 no next header"),
        (
            "in p1 ether dst 02:00:00:00:00:07 / vlan id 10 pcp 5 / ip src 10.0.1.2 dst 10.0.2.9 ttl 3 / udp dport 53",
            "vlan 10 IPv4 10.0.1.2 > 10.0.2.9 ttl 3 len 28 UDP 49152 > 53 len 0",
        ),
        (
            "qinq id 7/vlan id 8/ip6 dst 2001:db8::7 hlim 1/tcp sport 1 dport 22 flags SA",
            "vlan 7 vlan 8 IPv6 2001:db8::9 > 2001:db8::7 hlim 1 len 20 TCP 1 > 22 [S.]",
        ),
        ("ip dst 10.0.2.9 / icmp id 7 seq 3 / data 56", "ICMP echo request id 7 seq 3"),
        ("ip6 dst 2001:db8::7 / icmp6", "ICMPv6 echo request id 1 seq 1"),
        ("arp dst 192.0.2.1", "ARP who has 192.0.2.1 tell 192.0.2.9 (02:00:00:00:00:09)"),
        (
            "arp reply dst 192.0.2.1 src 192.0.2.5 mac 02:00:00:00:00:05",
            "ARP 192.0.2.5 is at 02:00:00:00:00:05",
        ),
        (
            "ip dst 10.0.0.1 / udp / vxlan vni 7 / ether dst 02:00:00:00:00:03 / ip dst 10.9.0.1 / udp dport 53",
            "UDP 49152 > 4789 VXLAN vni 7 (IPv4 192.0.2.9 > 10.9.0.1 ttl 64 len 28 UDP 49152 > 53 len 0)",
        ),
        ("ip dst 10.0.0.1 / gre key 9 / ip dst 10.9.0.1", "GRE key 9 (IPv4"),
        ("ip dst 10.0.0.1 frag 1480 mf id 5 proto 17 / hex 00 01", "frag id 5 at 1480+ proto 17"),
        ("ether type 0x88b5 / data 46", "ethertype 0x88b5 len 60"),
    ] {
        let line_said = said(text);
        assert!(line_said.contains(line), "{text}: {line_said}");
        // What is wrong stands in brackets, and so do flags of TCP.
        assert!(!line_said.replace("[S.]", "").contains('['), "{text}: {line_said}");
    }
}

#[test]
fn who_does_not_say_where_a_frame_goes_means_the_port_or_the_group() {
    for (text, to) in [
        ("ip dst 10.0.2.9", PORT.octets()),
        ("ip dst 255.255.255.255", [0xff; 6]),
        ("ip dst 224.0.0.5", [1, 0, 0x5e, 0, 0, 5]),
        ("ip6 dst ff02::1:ff00:7", [0x33, 0x33, 0xff, 0, 0, 7]),
        ("ether / arp dst 10.0.0.1", [0xff; 6]),
        ("arp reply dst 10.0.0.1", PORT.octets()),
        ("ether dst 02:00:00:00:00:07 / arp dst 10.0.0.1", [2, 0, 0, 0, 0, 7]),
    ] {
        assert_eq!(frame(text)[..6], to, "{text}");
    }
    assert_eq!(frame("ip dst 10.0.2.9").len(), ethernet::MIN_FRAME_LEN);
}

#[test]
fn a_frame_in_hexadecimal_is_taken_as_it_is() {
    let whole = frame("ip dst 10.0.2.9 / udp");
    let hex: Vec<String> = whole.iter().map(|octet| format!("{octet:02x}")).collect();
    assert_eq!(frame(&format!("hex {}", hex.concat())), whole);
    assert_eq!(frame(&format!("in p1 hex 0x{}", hex.join(" "))), whole);
    assert_eq!(frame(&format!("hex {}", hex.join(":"))), whole);
    assert_eq!(Words::read("in eth0.7 hex 00").unwrap().port.as_deref(), Some("eth0.7"));
}

#[test]
fn what_does_not_fit_is_named_with_what_would() {
    for (text, told) in [
        ("", "a layer is missing: expected ether"),
        ("in", "`in` has no value: expected a port"),
        ("in p1", "a layer is missing"),
        ("ipx dst 1", "`ipx` is no layer: expected ether, vlan"),
        ("ip dst 10.0.2", "dst `10.0.2`: expected an IPv4 address, as in 10.0.2.9"),
        ("ip", "ip: its `dst` is missing"),
        ("ip dst 10.0.0.1 ttl 256", "ttl `256`: expected a number, 0 to 255"),
        ("ip dst 10.0.0.1 tttl 6", "`tttl` is no field of ip: expected src, dst, ttl"),
        ("ip dst 10.0.0.1 /", "a layer is missing"),
        ("ip dst 10.0.0.1 / tcp flags SX", "flags `SX`: expected letters of FSRPAUEC"),
        ("vlan pcp 3", "vlan: its `id` is missing"),
        ("vlan id 4096", "id `4096`: expected a number, 0 to 4095"),
        ("hex 0", "1 digits are no whole octets"),
        ("hex 0g", "hex `0g`: expected octets in hexadecimal"),
        ("hex", "`hex` has no value"),
        ("hex 0102", "a frame of 2 octets: expected 14 to 9216"),
        ("ip dst 10.0.0.1 / data 9000 / data 9000", "a frame of 18034 octets"),
        ("hex 0102 / ip dst 10.0.0.1", "a whole frame in `hex` has no layers behind it"),
    ] {
        let refused = refused(text);
        assert!(refused.contains(told), "{text}: {refused}");
    }
    assert!(refused(&"vlan id 1 / ".repeat(40)).contains("more than 16 layers"));
    assert!(refused(&"0".repeat(40_000)).contains("40000 letters"));
}
