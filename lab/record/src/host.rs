//! Which host a campaign was measured on, by the facts that its speed hangs on: numbers of unlike
//! hosts are not held against each other.

use std::collections::BTreeMap;

/// Facts that make a host another one. Its name, and what changes from hour to hour, do not.
const NAMING: [&str; 4] = ["processor", "cores", "caches", "kernel"];

/// What names a host: the facts that its speed hangs on. Of what is no machine (a simulation) all
/// that is told.
pub fn fingerprint(facts: &BTreeMap<String, String>) -> String {
    let named: Vec<&str> =
        NAMING.iter().filter_map(|name| facts.get(*name).map(String::as_str)).collect();
    match named.is_empty() {
        true => facts.values().map(String::as_str).collect::<Vec<_>>().join(" / "),
        false => named.join(" / "),
    }
}

/// A fingerprint in eight digits, for names of files and columns (FNV-1a, folded).
pub fn short(fingerprint: &str) -> String {
    let hash = fingerprint.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

/// In what two hosts are unlike, if so: by name, with both values.
pub fn unlike(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Option<String> {
    if fingerprint(one) == fingerprint(other) {
        return None;
    }
    let said = |facts: &BTreeMap<String, String>, name: &str| {
        facts.get(name).map_or_else(|| "not told".to_owned(), Clone::clone)
    };
    let told: Vec<String> = NAMING
        .iter()
        .filter(|name| one.get(**name) != other.get(**name))
        .map(|name| format!("{name}: {} there, {} here", said(one, name), said(other, name)))
        .collect();
    Some(match told.is_empty() {
        true => format!("{} there, {} here", fingerprint(one), fingerprint(other)),
        false => told.join("; "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn hosts_are_alike_whatever_their_load_and_unlike_by_what_makes_them_slower() {
        let one = facts(&[("processor", "A"), ("cores", "2"), ("load average", "0.1")]);
        let busy = facts(&[("processor", "A"), ("cores", "2"), ("load average", "7.0")]);
        assert_eq!((fingerprint(&one), unlike(&one, &busy)), ("A / 2".into(), None));
        let larger = facts(&[("processor", "A"), ("cores", "4"), ("kernel", "6.1")]);
        let told = unlike(&one, &larger).unwrap();
        assert_eq!(told, "cores: 2 there, 4 here; kernel: not told there, 6.1 here");
    }

    #[test]
    fn what_is_no_machine_is_named_by_what_it_says() {
        let simulated = facts(&[("device", "simulated")]);
        assert_eq!(fingerprint(&simulated), "simulated");
        assert!(unlike(&simulated, &facts(&[("processor", "A")])).is_some());
        assert_eq!(short("simulated").len(), 8);
        assert_ne!(short("simulated"), short("A / 2"));
    }
}
