//! Next hops that other routes lead to.

use super::{messages, parse_ok};

const PORT: &str =
    "[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\", \"2001:db8::1/64\"]\n";

/// A file with routes, each a prefix and what it says.
fn file(more: &str, routes: &[(&str, &str)]) -> String {
    let route =
        |(prefix, rest): &(&str, &str)| format!("[[route]]\nprefix = \"{prefix}\"\n{rest}\n");
    format!("{PORT}{more}{}", routes.iter().map(route).collect::<String>())
}

fn faults(more: &str, routes: &[(&str, &str)]) -> Vec<String> {
    messages(&file(more, routes))
}

#[test]
fn a_next_hop_is_reached_by_another_route_and_that_by_a_third() {
    let routes = [
        ("10.0.0.0/8", "via = \"172.16.9.9\""),
        ("172.16.0.0/16", "via = \"198.51.100.7\""),
        ("198.51.100.0/24", "via = \"192.0.2.9\""),
        ("2001:db8:a::/48", "via = \"2001:db8:b::1\""),
        ("2001:db8:b::/48", "via = \"2001:db8::9\""),
    ];
    assert_eq!(parse_ok(&file("", &routes)).routes.len(), 5);
    // Without the third, neither of the others leads anywhere.
    let missing =
        ["172.16.9.9", "198.51.100.7"].map(|hop| format!("no port has a network that {hop} is in"));
    assert_eq!(faults("", &routes[..2]), missing);
}

#[test]
fn the_default_route_a_ring_the_route_itself_and_what_drops_lead_to_no_next_hop() {
    let far = ("10.0.0.0/8", "via = \"172.16.9.9\"");
    let nowhere = ["no port has a network that 172.16.9.9 is in".to_owned()];
    assert_eq!(faults("", &[far, ("0.0.0.0/0", "via = \"192.0.2.9\"")]), nowhere);
    assert_eq!(faults("", &[far, ("172.16.0.0/16", "blackhole = true")]), nowhere);
    assert_eq!(faults("", &[far, ("172.16.0.0/16", "via = \"10.1.1.1\"")]).len(), 2);
    assert_eq!(faults("", &[("172.16.0.0/12", "via = \"172.16.9.9\"")]), nowhere);
}

#[test]
fn routes_of_another_vrf_lead_to_none_of_its_next_hops() {
    let other = "[vrf.red]\n";
    let red = ("10.0.0.0/8", "vrf = \"red\"\nvia = \"172.16.9.9\"");
    let faults = faults(other, &[red, ("172.16.0.0/16", "via = \"192.0.2.9\"")]);
    assert_eq!(faults, ["no port of VRF red has a network that 172.16.9.9 is in"]);
}

#[test]
fn where_frr_brings_routes_any_next_hop_may_be_led_to() {
    let text = format!("{PORT}[fpm]\n[[route]]\nprefix = \"10.0.0.0/8\"\nvia = \"172.16.9.9\"\n");
    assert_eq!(parse_ok(&text).routes.len(), 1);
}
