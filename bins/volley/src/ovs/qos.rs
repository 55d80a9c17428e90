//! Rows of QoS and Queue, and of policing, as the router's schedulers and policers.
//!
//! | type | becomes |
//! |---|---|
//! | `linux-htb`, `linux-hfsc` | a tree: 1:fffe at `max-rate`, under it 1:1 for queue 0, where what names no queue goes, and so on |
//! | `linux-sfq`, `linux-codel`, `linux-fq_codel` | the discipline of that name |
//! | `egress-policer` | a policer of what the port sends |
//! | `linux-noop`, none | nothing |

use std::collections::BTreeMap;

use ovsdb::{Atom, Datum, Row, Rows};

/// Of a port whose speed nobody knows.
const USUAL_RATE: u64 = 10_000_000_000;
/// Highest number of a queue: classes are numbered from 1, and 1:fffe is the root.
const MOST_QUEUE: u64 = 0xf000;
/// Longest frame that a bucket has to hold, and what may be put on it.
const FRAME: u64 = 1500 + 64;

/// What becomes of a port's frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Treatment {
    /// Commands that give the port its scheduler; none: it has none.
    pub(super) scheduler: Vec<String>,
    /// The rate and burst that what it sends is held to, in words of a policer.
    pub(super) police_out: Option<String>,
}

/// Most packets a second, and at once, that a policer counts.
const MOST_PACKETS: u64 = 4_000_000_000;

type Settings = BTreeMap<String, String>;

/// A row of Queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    settings: Settings,
    dscp: Option<i64>,
}

fn number(settings: &Settings, key: &str) -> Result<Option<u64>, String> {
    let Some(text) = settings.get(key) else { return Ok(None) };
    let read: u64 = text.parse().map_err(|_| format!("QoS: {key} is `{text}`, not a number"))?;
    // As in Open vSwitch, 0 is what is left out.
    Ok((read != 0).then_some(read))
}

/// What a row of QoS makes of a port's frames.
pub(super) fn treatment(port: &str, qos: &Row, rows: &Rows) -> Result<Treatment, String> {
    let settings = qos.get("other_config").pairs();
    let kind = qos.text("type").unwrap_or_default();
    let of = |scheduler| Ok(Treatment { scheduler, police_out: None });
    let plain = |name: &str, options: &[(&str, &str, &str)]| {
        let mut words = format!("qos set {port} {name}");
        for (key, ours, unit) in options {
            if let Some(value) = number(&settings, key)? {
                words.push_str(&format!(" {ours} {value}{unit}"));
            }
        }
        of(vec![words])
    };
    match kind {
        "" | "linux-noop" => Ok(Treatment::default()),
        "linux-htb" => of(htb(port, &settings, &queues(qos, rows)?)?),
        "linux-hfsc" => of(hfsc(port, &settings, &queues(qos, rows)?)?),
        "linux-sfq" => plain("sfq", &[("quantum", "quantum", ""), ("perturb", "perturb", "s")]),
        "linux-codel" => plain(
            "codel",
            &[("limit", "limit", ""), ("target", "target", "us"), ("interval", "interval", "us")],
        ),
        "linux-fq_codel" => plain(
            "fq_codel",
            &[
                ("limit", "limit", ""),
                ("target", "target", "us"),
                ("interval", "interval", "us"),
                ("flows", "flows", ""),
                ("quantum", "quantum", ""),
            ],
        ),
        "egress-policer" => {
            let rate = number(&settings, "cir")?.ok_or("QoS: egress-policer without cir")?;
            let burst = number(&settings, "cbs")?.ok_or("QoS: egress-policer without cbs")?;
            // Octets a second, there.
            let words = format!("rate {}bit burst {burst}", rate.saturating_mul(8));
            Ok(Treatment { scheduler: Vec::new(), police_out: Some(words) })
        }
        _ => Err(format!("QoS: `{kind}` is no type that is done here")),
    }
}

/// The queues by their numbers, and the settings of each; queue 0 is always there.
fn queues(qos: &Row, rows: &Rows) -> Result<BTreeMap<u64, Queue>, String> {
    let mut found = BTreeMap::from([(0, Queue::default())]);
    if let Datum::Map(pairs) = qos.get("queues") {
        for (number, queue) in pairs {
            let (Atom::Whole(number), Atom::Uuid(queue)) = (number, queue) else { continue };
            let Some(queue) = rows.get("Queue", queue) else { continue };
            let number = u64::try_from(*number).ok().filter(|it| *it < MOST_QUEUE);
            let number = number.ok_or(format!("QoS: a queue above {MOST_QUEUE}"))?;
            let settings = queue.get("other_config").pairs();
            found.insert(number, Queue { settings, dscp: queue.whole("dscp") });
        }
    }
    Ok(found)
}

/// The rate of the whole, and the least and most of a queue.
fn rates(settings: &Settings, queue: &Settings) -> Result<(u64, u64), String> {
    let whole = number(settings, "max-rate")?.unwrap_or(USUAL_RATE);
    let least = number(queue, "min-rate")?.unwrap_or(0).max(8 * 1500).min(whole);
    let most = number(queue, "max-rate")?.unwrap_or(whole).clamp(least, whole);
    Ok((least, most))
}

fn htb(
    port: &str,
    settings: &Settings,
    queues: &BTreeMap<u64, Queue>,
) -> Result<Vec<String>, String> {
    let whole = number(settings, "max-rate")?.unwrap_or(USUAL_RATE);
    let mut commands = vec![
        format!("qos set {port} htb default 1:1"),
        format!("qos class {port} 1:fffe rate {whole}bit ceil {whole}bit"),
    ];
    for (queue, own) in queues {
        let own = &own.settings;
        let (least, most) = rates(settings, own)?;
        let mut words = format!(
            "qos class {port} 1:{:x} parent 1:fffe rate {least}bit ceil {most}bit",
            queue + 1
        );
        if let Some(burst) = number(own, "burst")? {
            words.push_str(&format!(" burst {}", (burst / 8).max(FRAME)));
        }
        if let Some(priority) = number(own, "priority")? {
            words.push_str(&format!(" prio {}", priority.min(7)));
        }
        commands.push(words);
    }
    commands.extend(filters(port, queues)?);
    Ok(commands)
}

/// What flows choose queues by, and the code points that those give.
fn filters(port: &str, queues: &BTreeMap<u64, Queue>) -> Result<Vec<String>, String> {
    let filter = |(number, queue): (&u64, &Queue)| {
        let mut words = format!("qos filter {port} 1:{:x} queue {number}", number + 1);
        if let Some(dscp) = queue.dscp {
            if !(0..64).contains(&dscp) {
                return Err(format!("QoS: dscp {dscp} of queue {number} is not 0 to 63"));
            }
            words.push_str(&format!(" set_dscp {dscp}"));
        }
        Ok(words)
    };
    queues.iter().map(filter).collect()
}

fn hfsc(
    port: &str,
    settings: &Settings,
    queues: &BTreeMap<u64, Queue>,
) -> Result<Vec<String>, String> {
    let whole = number(settings, "max-rate")?.unwrap_or(USUAL_RATE);
    let mut commands = vec![
        format!("qos set {port} hfsc default 1:1"),
        format!("qos class {port} 1:fffe ls {whole}bit ul {whole}bit"),
    ];
    for (queue, own) in queues {
        let own = &own.settings;
        let (least, most) = rates(settings, own)?;
        commands.push(format!(
            "qos class {port} 1:{:x} parent 1:fffe sc {least}bit ul {most}bit",
            queue + 1
        ));
    }
    commands.extend(filters(port, queues)?);
    Ok(commands)
}

/// What a row of Interface holds what comes in to, in words of a policer.
pub(super) fn police_in(interface: &Row) -> Option<String> {
    let told = |column| interface.whole(column).unwrap_or(0).max(0) as u64;
    let burst = |column, usual| Some(told(column)).filter(|it| *it != 0).unwrap_or(usual);
    let mut words = Vec::new();
    let rate = told("ingress_policing_rate");
    if rate != 0 {
        let octets = burst("ingress_policing_burst", 8_000).saturating_mul(125);
        words.push(format!("rate {rate}kbit burst {}", octets.max(FRAME)));
    }
    let rate = told("ingress_policing_kpkts_rate");
    if rate != 0 {
        let thousands = |it: u64| it.saturating_mul(1_000).min(MOST_PACKETS);
        let burst = thousands(burst("ingress_policing_kpkts_burst", 16));
        words.push(format!("packet_rate {} packet_burst {burst}", thousands(rate)));
    }
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(
        kind: &str,
        settings: &[(&str, &str)],
        queues: &[(i64, &[(&str, &str)])],
    ) -> Result<Treatment, String> {
        let map = |pairs: &[(&str, &str)]| {
            Datum::map(pairs.iter().map(|(key, value)| (*key, Atom::Text((*value).to_owned()))))
        };
        let mut rows = Rows::default();
        let mut named = Vec::new();
        for (number, settings) in queues {
            let uuid = format!("q{number}");
            // Of queue 2 in these tests, no other.
            let dscp = if *number == 2 { Datum::whole(46) } else { Datum::default() };
            let new = json!({ "other_config": map(settings).write(), "dscp": dscp.write() });
            rows.update(&json!({ "Queue": { (uuid.clone()): { "new": new } } })).unwrap();
            named.push((Atom::Whole(*number), Atom::Uuid(uuid)));
        }
        let mut qos = Row::default();
        qos.set("type", Datum::text(kind));
        qos.set("other_config", map(settings));
        qos.set("queues", Datum::Map(named));
        treatment("p1", &qos, &rows)
    }

    #[test]
    fn queues_are_classes_and_queue_0_is_always_there() {
        let htb = told(
            "linux-htb",
            &[("max-rate", "1000000")],
            &[(2, &[("min-rate", "400000"), ("priority", "3"), ("burst", "80000")])],
        );
        assert_eq!(
            htb.unwrap().scheduler,
            [
                "qos set p1 htb default 1:1",
                "qos class p1 1:fffe rate 1000000bit ceil 1000000bit",
                "qos class p1 1:1 parent 1:fffe rate 12000bit ceil 1000000bit",
                "qos class p1 1:3 parent 1:fffe rate 400000bit ceil 1000000bit burst 10000 prio 3",
                "qos filter p1 1:1 queue 0",
                "qos filter p1 1:3 queue 2 set_dscp 46",
            ]
        );
        let hfsc = told("linux-hfsc", &[], &[(0, &[("max-rate", "2000000")])]).unwrap().scheduler;
        assert_eq!(hfsc[2], "qos class p1 1:1 parent 1:fffe sc 12000bit ul 2000000bit");
    }

    #[test]
    fn disciplines_are_those_of_the_same_name() {
        let of = |kind, settings: &[(&str, &str)]| told(kind, settings, &[]);
        let line =
            |kind, settings: &[(&str, &str)]| of(kind, settings).unwrap().scheduler.join(";");
        assert_eq!(line("linux-sfq", &[("perturb", "10")]), "qos set p1 sfq perturb 10s");
        assert_eq!(line("linux-codel", &[("target", "2000")]), "qos set p1 codel target 2000us");
        assert_eq!(line("linux-fq_codel", &[("flows", "64")]), "qos set p1 fq_codel flows 64");
        assert_eq!(of("linux-noop", &[]).unwrap(), Treatment::default());
        let policer = of("egress-policer", &[("cir", "125000"), ("cbs", "4000")]).unwrap();
        assert_eq!(policer.police_out.as_deref(), Some("rate 1000000bit burst 4000"));
        for (kind, settings, why) in [
            ("linux-netem", &[][..], "QoS: `linux-netem` is no type that is done here"),
            ("egress-policer", &[], "QoS: egress-policer without cir"),
            ("linux-htb", &[("max-rate", "1M")], "QoS: max-rate is `1M`, not a number"),
        ] {
            assert_eq!(of(kind, settings).unwrap_err(), why);
        }
    }

    #[test]
    fn policing_is_in_kilobits_and_thousands_of_packets() {
        let mut row = Row::default();
        assert_eq!(police_in(&row), None);
        row.set("ingress_policing_rate", Datum::whole(1000));
        assert_eq!(police_in(&row).unwrap(), "rate 1000kbit burst 1000000");
        row.set("ingress_policing_burst", Datum::whole(100));
        assert_eq!(police_in(&row).unwrap(), "rate 1000kbit burst 12500");
        // Bursts say nothing without a rate.
        row.set("ingress_policing_kpkts_burst", Datum::whole(2));
        assert_eq!(police_in(&row).unwrap(), "rate 1000kbit burst 12500");
        row.set("ingress_policing_kpkts_rate", Datum::whole(7));
        let both = "rate 1000kbit burst 12500 packet_rate 7000 packet_burst 2000";
        assert_eq!(police_in(&row).unwrap(), both);
        row.set("ingress_policing_rate", Datum::whole(0));
        row.set("ingress_policing_kpkts_burst", Datum::whole(0));
        assert_eq!(police_in(&row).unwrap(), "packet_rate 7000 packet_burst 16000");
        row.set("ingress_policing_kpkts_rate", Datum::whole(i64::MAX));
        assert!(police_in(&row).unwrap().starts_with("packet_rate 4000000000 "));
    }
}
