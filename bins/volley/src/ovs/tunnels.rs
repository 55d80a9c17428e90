//! What `port add` says of an interface that is a tunnel.

use std::collections::BTreeMap;
use std::net::IpAddr;

use control::config::field::Field;
use control::config::objects::tunnel_number::{GreKey, Number, Vni};
use wire::udp;

type Options = BTreeMap<String, String>;

/// What is left to flows.
const FLOW: &str = "flow";

/// The words of a tunnel; none where the type is none of those that are here.
pub(super) fn words(kind: &str, options: &Options) -> Option<Result<String, String>> {
    Some(match kind {
        "vxlan" => vxlan(options),
        "geneve" => geneve(options),
        "gre" => gre(options),
        _ => return None,
    })
}

fn vxlan(options: &Options) -> Result<String, String> {
    let (ends, vni) = (ends(options)?, vni(options)?);
    let port = match options.get("dst_port") {
        Some(port) => format!(" udp_port {}", udp_port(port)?),
        None => String::new(),
    };
    Ok(format!("vxlan vni {vni}{ends}{port}"))
}

fn geneve(options: &Options) -> Result<String, String> {
    let (ends, vni) = (ends(options)?, vni(options)?);
    match options.get("dst_port").map(|port| udp_port(port)) {
        None | Some(Ok(udp::port::GENEVE)) => Ok(format!("geneve vni {vni}{ends}")),
        Some(Ok(port)) => Err(format!("options:dst_port is {port}: Geneve is at 6081 alone here")),
        Some(Err(why)) => Err(why),
    }
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
    Ok(format!("gre{ends}{keys}"))
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

/// A number as C writes it, or `flow`.
fn key<const MOST: u32>(text: &str) -> Option<Number<MOST>> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => {
            let number = u32::from_str_radix(digits, 16).ok().filter(|it| *it <= MOST);
            number.map(Number::Is)
        }
        None => Number::from_text(text).ok(),
    }
}

fn udp_port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "options:dst_port is no port".to_owned())
}

fn ends(options: &Options) -> Result<String, String> {
    let address = |key: &str| {
        let text = options.get(key).ok_or_else(|| format!("options:{key} is missing"))?;
        match text.parse::<IpAddr>() {
            Ok(address) => Ok(address.to_string()),
            Err(_) if text == FLOW && key == "local_ip" => {
                Err(format!("options:{key}=flow is not done here"))
            }
            Err(_) if text == FLOW => Ok(FLOW.to_owned()),
            Err(_) => Err(format!("options:{key} is not an IP address")),
        }
    };
    Ok(format!(" local {} remote {}", address("local_ip")?, address("remote_ip")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kind: &str, more: &[(&str, &str)]) -> Result<String, String> {
        let ends = [("local_ip", "192.0.2.1"), ("remote_ip", "192.0.2.9")];
        let options = ends.iter().chain(more).map(|(key, value)| ((*key).into(), (*value).into()));
        words(kind, &options.collect()).unwrap()
    }

    fn made(kind: &str, more: &[(&str, &str)]) -> String {
        told(kind, more).unwrap().replace(" local 192.0.2.1 remote 192.0.2.9", "")
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
        assert_eq!(made("geneve", &[("key", "flow"), ("dst_port", "6081")]), "geneve vni flow");
        assert_eq!(made("gre", &[]), "gre");
        assert_eq!(made("gre", &[("key", "4294967295")]), "gre key 4294967295");
        assert_eq!(made("gre", &[("key", "flow")]), "gre key flow");
        assert_eq!(made("gre", &[("in_key", "5"), ("out_key", "6")]), "gre key_in 5 key_out 6");
        assert_eq!(made("gre", &[("out_key", "6")]), "gre key_out 6");
        assert_eq!(
            told("geneve", &[("key", "flow"), ("remote_ip", "flow")]),
            Ok("geneve vni flow local 192.0.2.1 remote flow".to_owned())
        );
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
            ("vxlan", vec![("local_ip", "flow")], "options:local_ip=flow is not done here"),
            (
                "geneve",
                vec![("dst_port", "6082")],
                "options:dst_port is 6082: Geneve is at 6081 alone here",
            ),
            ("gre", vec![("local_ip", "x")], "options:local_ip is not an IP address"),
        ] {
            assert_eq!(told(kind, &options), Err(why.to_owned()));
        }
        assert_eq!(
            words("vxlan", &Options::new()),
            Some(Err("options:local_ip is missing".into()))
        );
        assert_eq!(words("stt", &Options::new()), None);
    }
}
