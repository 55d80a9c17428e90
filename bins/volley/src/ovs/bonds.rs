//! Ports of several interfaces, as bonds of the router's.
//!
//! | `lacp` | `bond_mode` | becomes |
//! |---|---|---|
//! | `off` | `active-backup`, none | one carries, the others stand by |
//! | `off` | `balance-slb` | `balance-slb`: each station by one, and the other end need not know |
//! | `active`, `passive` | any | `802.3ad`: those carry of which both ends agree |
//!
//! In `balance-tcp` without LACP nothing carries, in Open vSwitch neither: it is not made.

use ovsdb::Row;

/// Milliseconds between two times that shares are moved by load: where nobody says it, at most.
const USUAL_REBALANCE_MS: u64 = 10_000;
const MOST_REBALANCE_MS: u64 = 3_600_000;

/// What `port add` says of a bond of these ports.
pub(super) fn words(port: &Row, members: &[String]) -> Result<String, String> {
    let other = port.get("other_config").pairs();
    let mode = port.text("bond_mode").unwrap_or("active-backup");
    if !matches!(mode, "active-backup" | "balance-slb" | "balance-tcp") {
        return Err(format!("bond_mode `{mode}` is none that there is"));
    }
    let mut words = match (port.text("lacp").unwrap_or("off"), mode) {
        ("off", "active-backup") => "bond mode active-backup".to_owned(),
        ("off", "balance-slb") => {
            let every = other.get("bond-rebalance-interval");
            let every = every.map_or(Ok(USUAL_REBALANCE_MS), |text| text.parse::<u64>());
            let every = every.map_err(|_| "bond-rebalance-interval is no number".to_owned())?;
            // Less often than asked: a second, at least.
            let every = if every == 0 { 0 } else { every.clamp(1_000, MOST_REBALANCE_MS) };
            format!("bond mode balance-slb rebalance {every}ms")
        }
        ("off", mode) => return Err(format!("bond_mode {mode} carries nothing without lacp")),
        (lacp @ ("active" | "passive"), mode) => {
            let rate = match other.get("lacp-time").map(String::as_str) {
                None | Some("slow") => "slow",
                Some("fast") => "fast",
                Some(time) => return Err(format!("lacp-time `{time}` is neither slow nor fast")),
            };
            let hash = if mode == "balance-slb" { "layer2" } else { "layer3+4" };
            let mut words = format!("bond mode 802.3ad hash {hash} lacp {lacp} lacp_rate {rate}");
            if other.get("lacp-fallback-ab").is_some_and(|it| it == "true") {
                words.push_str(" fallback true");
            }
            if let Some(priority) = other.get("lacp-system-priority") {
                let read = priority.parse::<u16>();
                let read = read.map_err(|_| format!("lacp-system-priority is `{priority}`"))?;
                words.push_str(&format!(" system_priority {read}"));
            }
            words
        }
        (lacp, _) => return Err(format!("lacp `{lacp}` is none that there is")),
    };
    if let Some(primary) = other.get("bond-primary").filter(|it| members.contains(it))
        && words.ends_with("active-backup")
    {
        words.push_str(&format!(" primary {primary}"));
    }
    // Where LACP is spoken, that says who carries.
    if matches!(port.text("lacp"), None | Some("off")) {
        for (column, field) in [("bond_updelay", "up_delay"), ("bond_downdelay", "down_delay")] {
            if let Some(delay) = port.whole(column).filter(|delay| *delay > 0) {
                words.push_str(&format!(" {field} {delay}ms"));
            }
        }
    }
    members.iter().for_each(|member| words.push_str(&format!(" members {member}")));
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ovsdb::{Atom, Datum};

    fn told(columns: &[(&str, &str)], other: &[(&'static str, &str)]) -> Result<String, String> {
        let mut row = Row::default();
        columns.iter().for_each(|(column, text)| row.set(column, Datum::text(*text)));
        let other = other.iter().map(|(key, value)| (*key, Atom::Text((*value).to_owned())));
        row.set("other_config", Datum::map(other));
        words(&row, &["a".to_owned(), "b".to_owned()])
    }

    #[test]
    fn rows_say_which_members_carry() {
        assert_eq!(told(&[], &[]).unwrap(), "bond mode active-backup members a members b");
        assert_eq!(
            told(&[], &[("bond-primary", "b")]).unwrap(),
            "bond mode active-backup primary b members a members b"
        );
        assert_eq!(
            told(&[("bond_mode", "balance-slb")], &[("bond-primary", "b")]).unwrap(),
            "bond mode balance-slb rebalance 10000ms members a members b"
        );
        for (interval, rebalance) in [("0", "0"), ("7", "1000"), ("30000", "30000")] {
            let other = [("bond-rebalance-interval", interval)];
            let told = told(&[("bond_mode", "balance-slb")], &other).unwrap();
            assert!(told.starts_with(&format!("bond mode balance-slb rebalance {rebalance}ms ")));
        }
        let other = [("bond-rebalance-interval", "x")];
        assert!(told(&[("bond_mode", "balance-slb")], &other).is_err());
        assert_eq!(
            told(&[("lacp", "active"), ("bond_mode", "balance-tcp")], &[("lacp-time", "fast")])
                .unwrap(),
            "bond mode 802.3ad hash layer3+4 lacp active lacp_rate fast members a members b"
        );
        assert_eq!(
            told(
                &[("lacp", "passive"), ("bond_mode", "balance-slb")],
                &[("lacp-system-priority", "7")]
            )
            .unwrap(),
            "bond mode 802.3ad hash layer2 lacp passive lacp_rate slow system_priority 7 members a members b"
        );
    }

    #[test]
    fn links_count_once_they_stayed_and_one_carries_beside_an_end_that_is_silent() {
        let row = |lacp: &str, other: &[(&'static str, &str)]| {
            let mut row = Row::default();
            row.set("lacp", Datum::text(lacp));
            row.set("bond_updelay", Datum::whole(200));
            row.set("bond_downdelay", Datum::whole(0));
            let other = other.iter().map(|(key, value)| (*key, Atom::Text((*value).to_owned())));
            row.set("other_config", Datum::map(other));
            words(&row, &["a".to_owned()]).unwrap()
        };
        assert_eq!(row("off", &[]), "bond mode active-backup up_delay 200ms members a");
        let by_lacp = "bond mode 802.3ad hash layer3+4 lacp active lacp_rate slow";
        assert_eq!(row("active", &[]), format!("{by_lacp} members a"));
        let falls_back = row("active", &[("lacp-fallback-ab", "true")]);
        assert_eq!(falls_back, format!("{by_lacp} fallback true members a"));
    }

    #[test]
    fn what_is_not_done_is_told() {
        let why = |mode: &str| told(&[("bond_mode", mode)], &[]).unwrap_err();
        assert_eq!(why("balance-tcp"), "bond_mode balance-tcp carries nothing without lacp");
        assert_eq!(why("x"), "bond_mode `x` is none that there is");
        assert_eq!(told(&[("lacp", "x")], &[]).unwrap_err(), "lacp `x` is none that there is");
        assert!(told(&[("lacp", "active")], &[("lacp-time", "x")]).is_err());
    }
}
