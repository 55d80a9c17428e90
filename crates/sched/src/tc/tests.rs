//! Command lines as people have them.

use super::*;
use crate::units::{Rate, Size, Time};
use crate::{Curve, Fields, Shape, build, classify};

fn one(text: &str) -> Config {
    let mut devices = read(text).unwrap_or_else(|faults| panic!("{faults:?}"));
    assert_eq!(devices.len(), 1);
    let config = devices.remove(0).1.unwrap_or_else(|| panic!("nothing is left: {text}"));
    build::<u64>(&config).unwrap_or_else(|error| panic!("{error}"));
    config
}

fn refused(text: &str) -> String {
    match read(text) {
        Ok(config) => panic!("accepted: {config:?}"),
        Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

const HTB: &str = "
# an office uplink
tc qdisc add dev eth0 root handle 1: htb default 30 r2q 5
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit burst 15k
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 3mbit ceil 10mbit prio 0 quantum 1514
tc class add dev eth0 parent 1:1 classid 1:30 htb rate 7mbit ceil 10mbit \\
    prio 1 burst 15k cburst 1600b
tc qdisc add dev eth0 parent 1:10 handle 10: sfq perturb 10
tc qdisc add dev eth0 parent 1:30 fq_codel target 10ms noecn
tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip dport 22 0xffff flowid 1:10
tc filter add dev eth0 protocol ip parent 1: prio 1 u32 match ip tos 0xb8 0xfc match ip dst 10.0.0.0/8 flowid 1:10
";

#[test]
fn an_htb_tree_with_leaves_and_filters_is_put_together() {
    let config = one(HTB);
    let Shape::Htb(htb) = &config.root else { panic!("{config:?}") };
    assert_eq!((htb.default, htb.r2q), (Some(ClassId::new(1, 0x30)), 5));
    assert_eq!(htb.classes.len(), 3);
    let bulk = htb.classes.iter().find(|class| class.id == ClassId::new(1, 0x30)).unwrap();
    assert_eq!(bulk.parent, Some(ClassId::new(1, 1)));
    assert_eq!((bulk.rate, bulk.ceil), (Rate(7_000_000), Some(Rate(10_000_000))));
    assert_eq!((bulk.prio, bulk.burst, bulk.cburst), (1, Some(Size(15360)), Some(Size(1600))));
    let Some(Shape::FqCodel(leaf)) = &bulk.leaf else { panic!("{bulk:?}") };
    assert_eq!((leaf.target, leaf.ecn), (Time(10_000_000), false));
    // Preference 1 comes first although it was written last.
    assert_eq!(config.filters[0].dscp, Some(46));
    let ssh = Fields { ports: Some((40_000, 22)), ..Fields::default() };
    assert_eq!(classify(&config.filters, &ssh), ClassId::new(1, 0x10));
}

#[test]
fn hfsc_curves_read_in_all_their_forms() {
    let config = one("
        qdisc add dev p0 root handle 1: hfsc default 2
        class add dev p0 parent 1: classid 1:1 hfsc rt m1 2mbit d 5ms m2 1mbit ls rate 1mbit
        class add dev p0 parent 1: classid 1:2 hfsc sc umax 1500b dmax 10ms rate 1mbit ul rate 8mbit
        class add dev p0 parent 1: classid 1:3 hfsc sc umax 125b dmax 10ms rate 1mbit");
    let Shape::Hfsc(hfsc) = &config.root else { panic!("{config:?}") };
    let straight = Curve::straight(Rate(1_000_000));
    let m2 = Rate(1_000_000);
    let [one, two, three] = &hfsc.classes[..] else { panic!("{hfsc:?}") };
    let concave = Curve { m1: Rate(2_000_000), d: Time(5_000_000), m2 };
    assert_eq!((one.rt, one.ls), (Some(concave), Some(straight)));
    let by_burst = Curve { m1: Rate(1_200_000), d: Time(10_000_000), m2 };
    assert_eq!((two.rt, two.ls), (Some(by_burst), Some(by_burst)));
    assert_eq!(two.ul, Some(Curve::straight(Rate(8_000_000))));
    let convex = Curve { m1: Rate(0), d: Time(9_000_000), m2 };
    assert_eq!(three.rt, Some(convex));
}

#[test]
fn a_token_bucket_holds_what_stands_under_it() {
    let config = one("tc qdisc add dev a root handle 1: tbf rate 1mbit burst 2k latency 50ms
                      tc qdisc add dev a parent 1:1 handle 2: codel limit 100");
    let Shape::Tbf(tbf) = &config.root else { panic!("{config:?}") };
    assert_eq!(tbf.leaf.kind(), "codel");
    let config = one("tc qdisc add dev a root tbf rate 8mbit burst 2k latency 50ms");
    let Shape::Tbf(tbf) = &config.root else { panic!("{config:?}") };
    assert_eq!(*tbf.leaf, Shape::bfifo(50_000 + 2048));
}

#[test]
fn prio_with_a_shaper_in_its_last_band_and_no_marks() {
    let config = one(
        "tc qdisc add dev a root handle 1: prio bands 2 priomap 1 1 1 1 1 1 0 0 1 1 1 1 1 1 1 1
        tc qdisc add dev a parent 1:2 handle 20: htb default 1
        tc class add dev a parent 20: classid 20:1 htb rate 1mbit
        tc filter add dev a parent 1: matchall flowid 20:1",
    );
    let Shape::Prio(prio) = &config.root else { panic!("{config:?}") };
    assert_eq!(prio.bands[1].kind(), "htb");
    assert_eq!(classify(&config.filters, &Fields::default()), ClassId::new(0x20, 1));
    let marked = refused(
        "tc qdisc add dev a root handle 1: prio\n\
         tc filter add dev a parent 1: handle 6 fw flowid 1:1",
    );
    assert_eq!(marked, "line 2: `fw` goes by the marks of packets, which have none here");
}

#[test]
fn a_later_replace_takes_the_place_of_an_earlier_add() {
    let config = one("tc qdisc add dev a root pfifo limit 10
                      tc qdisc replace dev a root handle 1: pfifo limit 20");
    let mut named = Shape::pfifo(20);
    named.set_handle(ClassId::new(1, 0));
    assert_eq!(config.root, named);
}

#[test]
fn a_change_keeps_what_it_does_not_name_and_a_replacement_does_not() {
    let begun = "tc qdisc add dev a root handle 1: fq_codel limit 1000 flows 256 noecn\n";
    let limits = |verb: &str| {
        let text = format!("{begun}tc qdisc {verb} dev a root handle 1: fq_codel limit 2000");
        let Shape::FqCodel(fq) = one(&text).root else { panic!("{text}") };
        (fq.limit, fq.flows, fq.ecn)
    };
    assert_eq!(limits("change"), (2000, 256, false));
    assert_eq!(limits("replace"), (2000, 1024, true));
    let config = one("tc qdisc add dev a root handle 1: htb
        tc class add dev a parent 1: classid 1:1 htb rate 1mbit ceil 2mbit prio 3
        tc class change dev a parent 1: classid 1:1 htb rate 2mbit");
    let Shape::Htb(htb) = &config.root else { panic!("{config:?}") };
    let class = &htb.classes[0];
    assert_eq!((class.rate, class.ceil, class.prio), (Rate(2_000_000), Some(Rate(2_000_000)), 3));
}

#[test]
fn what_is_there_is_not_added_and_what_is_not_there_not_changed_or_deleted() {
    let begun = "tc qdisc add dev a root handle 1: prio\n";
    for (command, reason) in [
        ("tc qdisc add dev a root handle 1: prio", "line 2: a qdisc is there already"),
        ("tc qdisc del dev a root handle 2:", "line 2: there is no such qdisc"),
        ("tc qdisc del dev a root handle 1: sfq", "line 2: there is no such qdisc"),
        ("tc qdisc del dev a parent 1:1", "line 2: there is no such qdisc"),
        ("tc qdisc change dev a parent 1:1 sfq limit 3", "line 2: there is no such qdisc"),
        ("tc qdisc change dev a root sfq limit 3", "line 2: a prio cannot be changed into a sfq"),
        ("tc qdisc change dev a root prio bands 1", "line 2: prio: bands 1 is not within 2 to 16"),
        ("tc class del dev a classid 1:1", "line 2: there is no class 1:1"),
    ] {
        let error = refused(&format!("{begun}{command}"));
        assert!(error.contains(reason), "{command}: {error}");
    }
    // Scripts begin like this, whatever is there.
    let deleted = |text: &str| read(text).unwrap().remove(0).1.is_none();
    assert!(deleted("tc qdisc del dev a root"));
    assert!(deleted("tc qdisc add dev a root handle 1: prio\ntc qdisc del dev a root"));
    let twice = refused("tc qdisc del dev a root\ntc qdisc del dev a root");
    assert!(twice.contains("line 2: there is no such qdisc"), "{twice}");
}

/// What `tc qdisc show` prints of it.
fn shown(config: &Config) -> Vec<String> {
    let report = build::<u64>(config).unwrap().report();
    let text = show_qdiscs(None, Some(&report), false);
    text.lines().map(|line| line.split(" refcnt").next().unwrap().to_owned()).collect()
}

#[test]
fn handles_are_kept_and_found_as_tc_finds_them() {
    let config = one("tc qdisc add dev a root htb default 1");
    assert_eq!(shown(&config), ["qdisc htb 8001: root"]);
    let config = one("tc qdisc add dev a root handle 1 prio
        tc qdisc add dev a parent 1:1 handle 10: sfq
        tc qdisc add dev a parent 1:2 pfifo limit 1000");
    let lines = shown(&config);
    assert_eq!(lines[0], "qdisc prio 1: root");
    assert!(lines[1].starts_with("qdisc sfq 10: parent 1:1 limit 127p"), "{lines:?}");
    // Found again where it stands, and another than what a band has of itself.
    assert_eq!(lines[2], "qdisc pfifo 8001: parent 1:2 limit 1000p ");
    let again = change(
        "tc qdisc change dev a parent 1:1 handle 10: sfq limit 9
         tc qdisc add dev a parent 1:3 codel",
        &|_| Ok(Some(config.clone())),
    );
    let lines = shown(again.unwrap()[0].1.as_ref().unwrap());
    assert!(lines[1].contains("10: parent 1:1 limit 9p"), "{lines:?}");
    assert!(lines[3].starts_with("qdisc codel 8002: parent 1:3 limit 1000p"), "{lines:?}");
}

#[test]
fn commands_change_what_the_device_has() {
    let before = one(HTB);
    let change = |text: &str| change(text, &|_| Ok(Some(before.clone())));
    let refused = |text: &str| change(text).unwrap_err()[0].to_string();
    assert!(
        refused("tc qdisc add dev eth0 root sfq").contains("Exclusivity flag on, cannot modify")
    );
    assert!(
        refused("tc class add dev eth0 parent 1: classid 1:10 htb rate 1mbit").contains("already")
    );
    assert!(refused("tc class del dev eth0 classid 1:1").contains("has classes below it"));
    let changed = change(
        "tc class change dev eth0 parent 1:1 classid 1:10 htb prio 3
         tc qdisc del dev eth0 parent 1:10
         tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 80 0xffff flowid 1:30",
    );
    let config = changed.unwrap().remove(0).1.unwrap();
    let Shape::Htb(htb) = &config.root else { panic!("{config:?}") };
    assert_eq!((htb.classes[1].prio, htb.classes[1].rate), (3, Rate(3_000_000)));
    assert_eq!(htb.classes[1].leaf, None);
    // What names no preference comes before all that is there.
    assert_eq!(config.filters.len(), 3);
    assert_eq!(config.filters[0].class, ClassId::new(1, 0x30));
    assert!(change("tc qdisc del dev eth0 root").unwrap()[0].1.is_none());
    let anew = change("tc qdisc replace dev eth0 root handle 1: htb default 30").unwrap();
    let config = anew[0].1.clone().unwrap();
    assert_eq!((config.root.classes().unwrap().all().len(), config.filters.len()), (0, 0));
}

#[test]
fn what_no_line_alone_is_wrong_for_is_told_of_the_nearest() {
    let told = refused(&format!("{HTB}tc filter add dev eth0 parent 1: matchall flowid 1:77"));
    assert_eq!(told, "line 12: filter 1 names class 1:77, which is not defined");
    let zero = refused(&HTB.replace("rate 3mbit", "rate 0"));
    assert_eq!(zero, "line 5: class 1:10: rate is zero, so nothing could ever be sent");
    let twice = refused(&HTB.replace("handle 10: sfq", "handle 1: sfq"));
    assert_eq!(twice, "line 8: handle 1: names two disciplines");
}

#[test]
fn what_only_follows_from_another_fault_is_not_told() {
    let told = refused(
        "tc qdisc add dev a root handle 1: htb r3q 4
         tc class add dev a parent 1: classid 1:1 htb rate 1mbit
         tc class add dev a parent 1: classid 1:2 htb rate 1mbits
         tc qdisc add dev a parent 1:1 sfq limt 3
         tc qdisc add dev b parent 1:1 sfq",
    );
    let lines: Vec<&str> = told.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["line 1", "line 3", "line 4", "line 5"], "{told}");
}

#[test]
fn every_line_that_is_wrong_is_told() {
    let told = refused("tc qdisc add dev a root sfq limt 3\n\ntc qdisc add dev b root pie");
    assert_eq!(told.lines().count(), 2);
    assert!(told.contains("line 1: ") && told.contains("line 3: "), "{told}");
}

#[test]
fn a_device_that_is_not_there_is_told_once_among_the_other_faults() {
    let before = |device: &str| match device {
        "a" => Ok(None),
        _ => Err(format!("there is no `{device}`")),
    };
    let text = "tc qdisc add dev a root sfq limt 3
         tc qdisc add dev b root handle 1: htb
         tc class add dev b parent 1: classid 1:1 htb rate 1mbits
         tc qdisc add dev a root pie";
    let faults = change(text, &before).unwrap_err();
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[1], "line 2: there is no `b`");
}

#[test]
fn times_sizes_and_links_are_what_tc_takes_them_for() {
    let report = |text: &str| build::<u64>(&one(text)).unwrap().report().settings;
    assert_eq!(
        report("tc qdisc add dev a root codel target 100ms ce_threshold 20ms"),
        "limit 1000p target 100ms ce_threshold 20ms interval 100ms"
    );
    assert!(report("tc qdisc add dev a root codel").contains("target 5ms interval"));
    let config = one("tc qdisc add dev a root handle 1: htb
        tc class add dev a parent 1: classid 1:1 htb rate 1mbit burst 32kbit mpu 64 overhead 4 \\
            linklayer ethernet
        tc filter add dev a parent 1: protocol ip u32 match u32 0 0 flowid 1:1");
    let Shape::Htb(htb) = &config.root else { panic!("{config:?}") };
    let class = &htb.classes[0];
    assert_eq!((class.burst, class.mpu, class.overhead), (Some(Size(4096)), 64, 4));
    assert_eq!(classify(&config.filters, &Fields::default()), ClassId::new(1, 1));
}

#[test]
fn what_cannot_be_carried_over_is_refused_by_line_and_name() {
    let cases = [
        ("tc qdisc add dev a root pie", "line 1: there is no discipline `pie` here"),
        (
            "\n\ntc qdisc add dev a root sfq redflowlimit 5",
            "line 3: sfq has no option `redflowlimit` here",
        ),
        ("tc qdisc add dev a root htb default", "line 1: nothing follows `default`"),
        ("tc qdisc add root sfq", "line 1: no `dev` is named"),
        ("tc qdisc add dev a root tbf rate 10mbits burst 5k limit 1k", "`mbits` where one of"),
        ("tc qdisc add dev a sfq", "line 1: neither `root` nor `parent` is given"),
        ("tc qdisc add dev a parent 1:1 sfq", "line 1: there is no qdisc at the root"),
        (
            "tc qdisc add dev a root sfq\ntc class add dev a parent 1: classid 1:1 htb rate 1mbit",
            "line 2: no qdisc has class 1:1",
        ),
        (
            "tc qdisc add dev a root handle 1: hfsc\ntc class add dev a parent 1: classid 1:1 htb rate 1mbit",
            "line 2: class 1:1 is not of its qdisc's kind, hfsc",
        ),
        ("tc filter add dev a parent 1: bpf obj x", "line 1: there is no filter `bpf` here"),
        (
            "tc filter add dev a parent 1: u32 match ip ttl 3 0xff flowid 1:1",
            "`match ip ttl` cannot be carried over",
        ),
        ("tc qdisc show dev a root", "line 1: `qdisc show` cannot be carried over"),
        ("ip link set a up", "`ip` is none of"),
    ];
    for (text, reason) in cases {
        let error = refused(text);
        assert!(error.contains(reason), "{text}: {error}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "tc", "qdisc", "class", "filter", "add", "replace", "del", "dev", "a", "root", "parent", "1:", "1:1",
            "handle", "classid", "htb", "hfsc", "prio", "sfq", "tbf", "codel", "rate", "1mbit", "ceil", "burst", "15k",
            "sc", "umax", "dmax", "10ms", "u32", "match", "ip", "dport", "22", "0xffff", "flowid", "default", "\n", "\\\n",
            "fw", "limit", "0", "bands", "99999", "#", "d", "m1", "m2", "latency", "é",
        ]), 0..40)
    ) {
        if let Ok(devices) = read(&words.join(" ")) {
            for config in devices.into_iter().filter_map(|(_, config)| config) {
                let _ = build::<u64>(&config);
            }
        }
    }
}
