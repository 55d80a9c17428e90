//! What `port add` says of an interface that is a tunnel.

use std::collections::BTreeMap;
use std::net::IpAddr;

use control::config::field::Field;
use control::config::objects::tunnel_number::{GreKey, Number, Vni};

type Options = BTreeMap<String, String>;

/// What is left to flows.
const FLOW: &str = "flow";
/// What is that of what is inside.
const INHERIT: &str = "inherit";
/// Packets leave with one hop less than a tunnel could count.
const MOST_TTL: u32 = 254;

/// The words of a tunnel; none where the type is none of those that are here.
pub(super) fn words(kind: &str, options: &Options) -> Option<Result<String, String>> {
    Some(match kind {
        "vxlan" | "geneve" => in_udp(kind, options),
        "gre" => gre(options),
        _ => return None,
    })
}

/// One in UDP, of either kind.
fn in_udp(kind: &str, options: &Options) -> Result<String, String> {
    let (ends, vni) = (ends(options)?, vni(options)?);
    let port = match options.get("dst_port").map(|port| port.parse::<u16>()) {
        Some(Ok(port)) => format!(" udp_port {port}"),
        Some(Err(_)) => return Err("options:dst_port is no port".to_owned()),
        None => String::new(),
    };
    let checksum = if is_summed(options) { " checksum true" } else { "" };
    Ok(format!("{kind} vni {vni}{ends}{port}{checksum}{}", outer(options)?))
}

fn gre(options: &Options) -> Result<String, String> {
    let ends = ends(options)?;
    let [incoming, outgoing] = keys::<{ u32::MAX }>(options)?;
    let keys = match (incoming, outgoing) {
        (None, None) => String::new(),
        (one, other) if one == other => one.map(|key| format!(" key {key}")).unwrap_or_default(),
        (Some(GreKey::Flow), _) | (_, Some(GreKey::Flow)) => return Err(mixed()),
        (Some(incoming), Some(outgoing)) => format!(" key_in {incoming} key_out {outgoing}"),
        (Some(incoming), None) => format!(" key_in {incoming}"),
        (None, Some(outgoing)) => format!(" key_out {outgoing}"),
    };
    if is_summed(options) {
        return Err("options:csum is not done for gre".to_owned());
    }
    Ok(format!("gre{ends}{keys}{}", outer(options)?))
}

/// Whether its packets have checksums over IPv4, too.
fn is_summed(options: &Options) -> bool {
    options.get("csum").is_some_and(|text| text == "true")
}

/// The class of service and the TTL outside: 0 and 64 where none is said, as in Open vSwitch.
fn outer(options: &Options) -> Result<String, String> {
    let tos = match options.get("tos").map(String::as_str) {
        None => "0".to_owned(),
        Some(INHERIT) => INHERIT.to_owned(),
        Some(text) => match number(text) {
            // The two lowest bits are always those of what is inside.
            Some(tos) if tos <= u8::MAX.into() => (tos >> 2).to_string(),
            _ => return Err(format!("options:tos is `{text}`, not {INHERIT} or 0 to 255")),
        },
    };
    let ttl = match options.get("ttl").map(String::as_str) {
        None | Some("0") => String::new(),
        Some(INHERIT) => format!(" ttl {INHERIT}"),
        Some(text) => match number(text) {
            Some(ttl @ 1..=MOST_TTL) => format!(" ttl {ttl}"),
            _ => return Err(format!("options:ttl is `{text}`, not {INHERIT} or 0 to {MOST_TTL}")),
        },
    };
    Ok(format!(" dscp {tos}{ttl}"))
}

fn mixed() -> String {
    "options:in_key and options:out_key are to be both flow, or neither".to_owned()
}

/// The network identifier of what comes and goes: 0 where none is said, as in Open vSwitch.
fn vni(options: &Options) -> Result<Vni, String> {
    let keys = keys(options)?.map(|key| key.unwrap_or(Vni::Is(0)));
    match keys {
        [one, other] if one == other => Ok(one),
        [Vni::Flow, _] | [_, Vni::Flow] => Err(mixed()),
        _ => Err("options:in_key and options:out_key are two network identifiers".to_owned()),
    }
}

/// The keys of what comes, and of what goes.
fn keys<const MOST: u32>(options: &Options) -> Result<[Option<Number<MOST>>; 2], String> {
    let read = |name: &str| {
        options
            .get(name)
            .map(|text| key(text).ok_or_else(|| format!("options:{name} is no number of a tunnel")))
            .transpose()
    };
    let both = read("key")?;
    Ok([read("in_key")?.or(both), read("out_key")?.or(both)])
}

/// The number of a tunnel, or `flow`.
fn key<const MOST: u32>(text: &str) -> Option<Number<MOST>> {
    match number(text) {
        Some(number) => Some(Number::Is(number)).filter(|_| number <= MOST),
        None => Number::from_text(text).ok(),
    }
}

/// A number as C writes it.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Where it begins, if that is said, and ends.
fn ends(options: &Options) -> Result<String, String> {
    let end = |key: &str| {
        let read = |text: &String| match text.parse::<IpAddr>() {
            Ok(address) => Ok(address.to_string()),
            Err(_) if text == FLOW => Ok(FLOW.to_owned()),
            Err(_) => Err(format!("options:{key} is not an IP address")),
        };
        options.get(key).map(read).transpose()
    };
    let remote = end("remote_ip")?.ok_or("options:remote_ip is missing")?;
    match end("local_ip")? {
        Some(local) if local == FLOW && remote != FLOW => {
            Err("options:local_ip=flow requires options:remote_ip=flow".to_owned())
        }
        Some(local) => Ok(format!(" local {local} remote {remote}")),
        None => Ok(format!(" remote {remote}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kind: &str, more: &[(&str, &str)]) -> Result<String, String> {
        let ends = [("local_ip", "192.0.2.1"), ("remote_ip", "192.0.2.9")];
        let options = ends.iter().chain(more).map(|(key, value)| ((*key).into(), (*value).into()));
        words(kind, &options.collect()).unwrap()
    }

    /// But for the ends, and what stands outside where nothing is said of it.
    fn made(kind: &str, more: &[(&str, &str)]) -> String {
        let words = told(kind, more).unwrap().replace(" local 192.0.2.1 remote 192.0.2.9", "");
        words.strip_suffix(" dscp 0").unwrap().to_owned()
    }

    #[test]
    fn numbers_are_fixed_or_the_flows() {
        assert_eq!(made("vxlan", &[]), "vxlan vni 0");
        assert_eq!(
            made("vxlan", &[("key", "0x64"), ("dst_port", "8472")]),
            "vxlan vni 100 udp_port 8472"
        );
        assert_eq!(made("vxlan", &[("key", "flow")]), "vxlan vni flow");
        assert_eq!(made("vxlan", &[("in_key", "flow"), ("out_key", "flow")]), "vxlan vni flow");
        assert_eq!(
            made("vxlan", &[("key", "7"), ("in_key", "5"), ("out_key", "5")]),
            "vxlan vni 5"
        );
        assert_eq!(
            made("geneve", &[("key", "flow"), ("dst_port", "6082")]),
            "geneve vni flow udp_port 6082"
        );
        assert_eq!(made("gre", &[]), "gre");
        assert_eq!(made("gre", &[("key", "4294967295")]), "gre key 4294967295");
        assert_eq!(made("gre", &[("key", "flow")]), "gre key flow");
        assert_eq!(made("gre", &[("in_key", "5"), ("out_key", "6")]), "gre key_in 5 key_out 6");
        assert_eq!(made("gre", &[("out_key", "6")]), "gre key_out 6");
        assert_eq!(
            told("geneve", &[("key", "flow"), ("remote_ip", "flow")]),
            Ok("geneve vni flow local 192.0.2.1 remote flow dscp 0".to_owned())
        );
    }

    #[test]
    fn what_stands_outside_is_fixed_or_that_of_what_is_inside() {
        for (options, outer) in [
            (vec![("tos", "inherit"), ("ttl", "inherit")], " dscp inherit ttl inherit"),
            (vec![("tos", "0xb8"), ("ttl", "9")], " dscp 46 ttl 9"),
            (vec![("tos", "3"), ("ttl", "0"), ("csum", "false")], " dscp 0"),
        ] {
            for kind in ["vxlan", "geneve", "gre"] {
                let words = told(kind, &options).unwrap();
                assert!(words.ends_with(&format!(" remote 192.0.2.9{outer}")), "{words}");
            }
        }
        let summed = told("geneve", &[("csum", "true"), ("dst_port", "7")]).unwrap();
        assert!(summed.ends_with(" udp_port 7 checksum true dscp 0"), "{summed}");
    }

    #[test]
    fn our_end_is_said_left_to_flows_or_to_the_way() {
        for (options, words) in [
            (vec![("remote_ip", "192.0.2.9")], " remote 192.0.2.9"),
            (vec![("remote_ip", "flow")], " remote flow"),
            (vec![("remote_ip", "flow"), ("local_ip", "flow")], " local flow remote flow"),
            (
                vec![("remote_ip", "2001:db8::9"), ("local_ip", "2001:db8::1")],
                " local 2001:db8::1 remote 2001:db8::9",
            ),
        ] {
            let options = options.into_iter().map(|(key, value)| (key.into(), value.into()));
            let made = super::words("gre", &options.collect());
            assert_eq!(made, Some(Ok(format!("gre{words} dscp 0"))));
        }
    }

    #[test]
    fn what_is_not_done_is_told() {
        let mixed = "options:in_key and options:out_key are to be both flow, or neither";
        for (kind, options, why) in [
            ("vxlan", vec![("key", "16777216")], "options:key is no number of a tunnel"),
            ("vxlan", vec![("in_key", "flow"), ("out_key", "5")], mixed),
            ("gre", vec![("in_key", "flow"), ("out_key", "5")], mixed),
            ("gre", vec![("out_key", "flow")], mixed),
            (
                "vxlan",
                vec![("in_key", "4"), ("out_key", "5")],
                "options:in_key and options:out_key are two network identifiers",
            ),
            (
                "vxlan",
                vec![("local_ip", "flow")],
                "options:local_ip=flow requires options:remote_ip=flow",
            ),
            ("geneve", vec![("dst_port", "x")], "options:dst_port is no port"),
            ("gre", vec![("local_ip", "x")], "options:local_ip is not an IP address"),
            ("gre", vec![("csum", "true")], "options:csum is not done for gre"),
            ("gre", vec![("tos", "256")], "options:tos is `256`, not inherit or 0 to 255"),
            ("gre", vec![("ttl", "255")], "options:ttl is `255`, not inherit or 0 to 254"),
        ] {
            assert_eq!(told(kind, &options), Err(why.to_owned()));
        }
        assert_eq!(
            words("vxlan", &Options::new()),
            Some(Err("options:remote_ip is missing".into()))
        );
        assert_eq!(words("stt", &Options::new()), None);
    }
}
