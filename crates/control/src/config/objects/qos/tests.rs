//! What a person writes, what comes of it, and what is refused.

use super::super::{Config, commands};
use crate::config::field::Field;
use crate::config::help::{self, of_fields};
use crate::config::objects::port_name::PortName;
use crate::config::{Host, Source, edit, parse, parse_and_warn, render};
use sched::units::Rate;
use sched::{Config as Scheduler, Shape};

const PORT: &str = "[port.p0]\nkind = \"memory\"\n";

const TREE: &str = r#"
[port.p0.qos]
kind = "htb"
default = "1:20"

[[port.p0.qos.class]]
id = "1:1"
rate = "10mbit"

[[port.p0.qos.class]]
id = "1:10"
parent = "1:1"
rate = "3mbit"
ceil = "10mbit"
leaf = { kind = "fq_codel", target = "10ms" }

[[port.p0.qos.class]]
id = "1:20"
parent = "1:1"
rate = "7mbit"
ceil = "10mbit"
prio = 1

[[port.p0.qos.filter]]
class = "1:10"
dscp = 46
protocol = "udp"
destination_port = "5060-5062"
"#;

fn read(text: &str) -> Result<Config, String> {
    let source = Source::new("test.toml", format!("{PORT}{text}"));
    parse(&source, &Host::any()).map_err(|problems| problems.to_string())
}

fn edited(config: &Config, commands: &str) -> Result<Config, String> {
    let source = Source::new("commands", commands);
    edit(config, &source, &Host::any()).map_err(|problems| problems.to_string())
}

fn scheduler(config: &Config) -> Option<Scheduler> {
    let port = config.ports.get(&PortName::from_text("p0").unwrap()).unwrap();
    port.qos.as_ref().map(|qos| qos.scheduler(port.mtu))
}

#[test]
fn a_tree_with_filters_reads_back_as_it_is_written() {
    let config = read(TREE).unwrap();
    let scheduler = scheduler(&config).unwrap();
    let Shape::Htb(htb) = &scheduler.root else { panic!("{:?}", scheduler.root) };
    assert_eq!((htb.classes.len(), scheduler.filters.len(), scheduler.mtu_bytes), (3, 1, 1514));
    let again = parse(&Source::new("again", render(&config)), &Host::any()).unwrap();
    assert_eq!(again, config);
}

#[test]
fn a_tree_is_for_all_workers_if_that_is_said_and_not_under_a_rate() {
    let config =
        read(&TREE.replace("kind = \"htb\"", "kind = \"htb\"\nall_workers = true")).unwrap();
    assert!(scheduler(&config).unwrap().is_for_all_workers());
    let again = parse(&Source::new("again", render(&config)), &Host::any()).unwrap();
    assert_eq!(again, config);
    // A command without it has one worker again.
    let one = edited(&config, "qos set p0 htb default 1:20").unwrap();
    assert_eq!(one, read(TREE).unwrap());
    assert_eq!(edited(&one, "qos set p0 htb default 1:20 all_workers true").unwrap(), config);
    let error = edited(&config, "qos set p0 htb all_workers true rate 20mbit").unwrap_err();
    assert!(error.contains("port.p0.qos") && error.contains("under another discipline"), "{error}");
    let error = edited(&config, "qos set p0 fq_codel all_workers true").unwrap_err();
    assert!(error.contains("all_workers"), "{error}");
}

#[test]
fn a_filter_may_name_a_bridge_and_a_vrf() {
    let others = "[bridge.blue]\nports = [\"p1\"]\n[port.p1]\nkind = \"memory\"\n[vrf.office]\n";
    let text = TREE.replace("dscp = 46", "bridge = \"blue\"\nvrf = \"office\"") + others;
    let config = read(&text).unwrap();
    let filter = &scheduler(&config).unwrap().filters[0];
    assert_eq!((filter.bridge.as_deref(), filter.vrf.as_deref()), (Some("blue"), Some("office")));
    let again = parse(&Source::new("again", render(&config)), &Host::any()).unwrap();
    assert_eq!(again, config);
}

#[test]
fn every_discipline_reads_back_as_it_is_written() {
    for head in [
        "kind = \"pfifo\"\nlimit = 5",
        "kind = \"bfifo\"\nlimit = \"64kb\"",
        "kind = \"pfifo_fast\"\nhandle = \"10:\"",
        "kind = \"prio\"\nbands = 5",
        "kind = \"prio\"\nband = [{ kind = \"sfq\" }, { kind = \"codel\", ecn = true }]",
        "kind = \"sfq\"\nperturb = \"10s\"\nquantum = 3000",
        "kind = \"codel\"\nrate = \"1gbit\"\npeakrate = \"2gbit\"",
        "kind = \"fq_codel\"\nrate = \"100mbit\"\nburst = \"64kb\"\nmemory_limit = \"4mb\"",
        "kind = \"tbf\"\nrate = \"1mbit\"\nlimit = \"32kb\"\nbucket_handle = \"1:\"",
        "kind = \"sfq\"\nhandle = \"2:\"\nrate = \"1mbit\"\nbucket_handle = \"1:\"",
        "kind = \"bfifo\"\nhandle = \"2:\"\nlimit = \"9kb\"\nrate = \"1mbit\"\nbucket_handle = \"1:\"",
        "kind = \"hfsc\"\nclass = [{ id = \"1:1\", rt = \"m1 5mbit d 10ms m2 1mbit\", ls = \"1mbit\" }]",
        "kind = \"htb\"\nclass = [{ id = \"1:1\", rate = \"1mbit\", leaf = { kind = \"prio\", handle = \"2:\" } }]",
    ] {
        let config = read(&format!("[port.p0.qos]\n{head}\n")).unwrap_or_else(|e| panic!("{e}"));
        let written = render(&config);
        let again = parse(&Source::new("again", written.as_str()), &Host::any());
        assert_eq!(again.as_ref(), Ok(&config), "{written}");
    }
}

#[test]
fn a_rate_puts_any_discipline_under_a_token_bucket() {
    let config = read("[port.p0.qos]\nkind = \"fq_codel\"\nrate = \"100mbit\"\n").unwrap();
    let Shape::Tbf(tbf) = scheduler(&config).unwrap().root else { panic!() };
    assert_eq!((tbf.rate, *tbf.leaf), (Rate(100_000_000), Shape::fq_codel()));
    assert_eq!(tbf.burst.0, 12_500 + 2 * 1514);
}

#[test]
fn nonsense_is_refused_where_it_stands() {
    let many: String = (1..70_000)
        .map(|n| {
            format!("[[port.p0.qos.class]]\nid = \"1:{:x}\"\nrate = \"1kbit\"\n", n % 0xffff + 1)
        })
        .collect();
    for (text, line, says) in [
        (TREE.replace("\"7mbit\"", "\"0bit\""), 19, "rate is zero"),
        (TREE.replace("id = \"1:1\"\n", "id = \"1:1\"\nparent = \"1:10\"\n"), 13, "ancestor"),
        (TREE.replace("parent = \"1:1\"", "parent = \"1:7\""), 8, "1:7"),
        (TREE.replace("class = \"1:10\"", "class = \"1:11\""), 26, "1:11"),
        (TREE.replace("class = \"1:10\"", "class = \"1:1\""), 26, "1:1"),
        (TREE.replace("default = \"1:20\"", "default = \"1:1\""), 8, "1:1"),
        (TREE.replace("\"10ms\"", "\"10\""), 17, "no unit"),
        (TREE.replace("fq_codel", "fq_codle"), 17, "fq_codle"),
        (TREE.replace("dscp = 46", "dscp = 64"), 4, "64"),
        (TREE.replace("3mbit", "3 mbit/s"), 15, "mbit/s"),
        (TREE.replace("dscp = 46", "bridge = \"blue\""), 28, "no bridge `blue`"),
        (TREE.replace("dscp = 46", "vrf = \"office\""), 28, "no vrf `office`"),
        (format!("[port.p0.qos]\nkind = \"htb\"\n{many}"), 3, "more than"),
    ] {
        let told = read(&text).unwrap_err();
        assert!(told.contains(says), "{says}: {told}");
        assert!(told.contains(&format!("test.toml:{line}:")), "{told}");
    }
}

#[test]
fn promises_that_cannot_be_kept_are_warned_of_where_they_stand() {
    let warned = |text: &str| {
        let source = Source::new("test.toml", format!("{PORT}{text}"));
        parse_and_warn(&source, &Host::any()).unwrap().1.to_string()
    };
    assert_eq!(warned(TREE), "");
    let of_three = "rate = \"3mbit\"\nceil = ";
    for (text, line, says) in [
        (TREE.replace("\"7mbit\"", "\"8mbit\""), 8, "promised"),
        (
            TREE.replace(&format!("{of_three}\"10mbit\""), &format!("{of_three}\"20mbit\"")),
            12,
            "ceil 20mbit is above the ceil of its parent",
        ),
        (
            TREE.replace(&format!("{of_three}\"10mbit\""), &format!("{of_three}\"2mbit\"")),
            12,
            "rate 3mbit is above its own ceil 2mbit",
        ),
        (TREE.replace("default = \"1:20\"", "default = \"1:30\""), 4, "1:30, which is not defined"),
        ("[port.p0.qos]\nkind = \"tbf\"\nrate = \"1mbit\"\nburst = 1500\n".to_owned(), 3, "1514b"),
    ] {
        let told = warned(&text);
        assert!(told.starts_with("warning: ") && told.contains(says), "{says}: {told}");
        assert!(told.contains(&format!("test.toml:{line}:")), "{line}: {told}");
        assert_eq!(told.matches("warning: ").count(), 1, "{told}");
    }
}

#[test]
fn a_tree_grows_line_by_line_from_its_default_on() {
    let mut config = read("").unwrap();
    for line in [
        "qos set p0 htb default 1:20",
        "qos class p0 1:1 rate 19mbit",
        "qos class p0 1:10 parent 1:1 rate 2mbit ceil 19mbit leaf pfifo limit 100",
        "qos class p0 1:20 parent 1:1 rate 17mbit ceil 19mbit leaf fq_codel target 5ms",
        "qos filter p0 1:10 dscp 46",
    ] {
        config = edited(&config, line).unwrap_or_else(|told| panic!("{line}: {told}"));
    }
    let Shape::Htb(htb) = scheduler(&config).unwrap().root else { panic!() };
    assert_eq!(htb.classes.len(), 3);
}

#[test]
fn a_link_of_cells_reads_back_as_it_is_written() {
    let text =
        TREE.replace("rate = \"3mbit\"", "rate = \"3mbit\"\nlinklayer = \"adsl\"\noverhead = 8");
    let config = read(&text).unwrap();
    let written = render(&config);
    assert!(written.contains("linklayer = \"atm\""), "{written}");
    assert_eq!(parse(&Source::new("again", written.as_str()), &Host::any()).as_ref(), Ok(&config));
}

#[test]
fn what_stands_on_other_ports_has_no_scheduler_of_its_own() {
    let on = |kind: &str| format!("[port.v1]\n{kind}\n[port.v1.qos]\nkind = \"pfifo\"\n");
    for (kind, says) in [
        ("kind = \"vlan\"\nparent = \"p0\"\nvlan = 7", "[port.p0.qos]"),
        ("kind = \"bvi\"", "other ports"),
    ] {
        let told = read(&on(kind)).unwrap_err();
        assert!(told.contains("port.v1.qos") && told.contains(says), "{told}");
    }
}

#[test]
fn commands_build_what_the_file_says() {
    let config = read("").unwrap();
    let built = edited(
        &config,
        "qos set p0 htb default 1:20\n\
         qos class p0 1:1 rate 10mbit\n\
         qos class p0 1:10 parent 1:1 rate 3mbit ceil 10mbit leaf fq_codel target 10ms\n\
         qos class p0 1:20 parent 1:1 rate 7mbit ceil 10mbit prio 1\n\
         qos filter p0 1:10 dscp 46 protocol udp destination_port 5060-5062\n",
    )
    .unwrap();
    assert_eq!(built, read(TREE).unwrap());
    let changed = edited(&built, "qos class p0 1:20 rate 6mbit").unwrap();
    assert_eq!(changed, read(&TREE.replace("7mbit", "6mbit")).unwrap());
    let told: Vec<String> =
        Config::diff(&built, &changed).iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("~ port p0: qos.class.1:20 { id = \"1:20\""), "{told:?}");
    let without = edited(&built, "qos del p0 filter 0\nqos del p0 class 1:10\nqos del p0");
    assert_eq!(without.unwrap(), config);
}

#[test]
fn commands_are_refused_with_their_reason() {
    let config = read("").unwrap();
    for (command, says) in [
        ("qos class p0 1:1 rate 1mbit", "no scheduler"),
        ("qos set p0 fq_codle", "fq_codel"),
        ("qos set p0 fq_codel targt 5ms", "target"),
        ("qos set p9 fq_codel", "p9"),
        ("qos set p0 fq_codel\nqos class p0 1:1 rate 1mbit", "no classes"),
        ("qos set p0 sfq\nqos del p0 filter 3", "filter 3"),
        ("qos set p0 htb\nqos del p0 class 1:3", "class 1:3"),
        ("qos set p0 sfq burst 3kb", "rate"),
        ("qos import \"nonsense\"", "nonsense"),
    ] {
        let told = edited(&config, command).unwrap_err();
        assert!(told.contains(says), "{says}: {told}");
    }
}

#[test]
fn tc_lines_are_taken_over() {
    let lines = "tc qdisc add dev p0 root handle 1: htb default 20;\
                 tc class add dev p0 parent 1: classid 1:20 htb rate 5mbit ceil 10mbit;\
                 tc qdisc add dev p0 parent 1:20 sfq perturb 10";
    let config = edited(&read("").unwrap(), &format!("qos import \"{lines}\"")).unwrap();
    let Shape::Htb(htb) = scheduler(&config).unwrap().root else { panic!() };
    assert_eq!(htb.classes[0].ceil, Some(Rate(10_000_000)));
    assert!(matches!(htb.classes[0].leaf, Some(Shape::Sfq(_))));
    let unknown = edited(&config, "qos import \"tc qdisc add dev p7 root sfq\"").unwrap_err();
    assert!(unknown.contains("error: there is no port `p7`: expected one of p0"), "{unknown}");
    assert!(unknown.ends_with("\n 1 | tc qdisc add dev p7 root sfq\n   | ^\n"), "{unknown}");
}

#[test]
fn a_discipline_that_is_missing_or_unknown_is_told_where_it_stands() {
    let refused = |command: &str| edited(&read("").unwrap(), command).unwrap_err();
    let missing = refused("qos set p0");
    assert!(missing.contains("error: a discipline is missing\n"), "{missing}");
    let unknown = refused("qos set p0 fq_codl rate 5mbit");
    assert!(unknown.contains("error: `fq_codl` is not known here"), "{unknown}");
    assert!(unknown.contains("\n   |            ^^^^^^^\n"), "{unknown}");
}

#[test]
fn a_deleted_root_takes_the_scheduler_away_and_marks_are_refused() {
    let shaped = edited(&read("").unwrap(), "qos import \"tc qdisc add dev p0 root sfq\"").unwrap();
    assert!(scheduler(&shaped).is_some());
    let gone = edited(&shaped, "qos import \"tc qdisc del dev p0 root\"").unwrap();
    assert!(scheduler(&gone).is_none());
    let marked = "tc qdisc add dev p0 root handle 1: prio;\
                  tc filter add dev p0 parent 1: handle 6 fw flowid 1:1";
    let refused = edited(&gone, &format!("qos import \"{marked}\"")).unwrap_err();
    assert!(refused.contains("marks of packets, which have none here"), "{refused}");
    let both = "tc qdisc add dev p0 root sfq limt 3;;tc qdisc add dev p0 root pie";
    let told = edited(&gone, &format!("qos import \"{both}\"")).unwrap_err();
    assert_eq!(
        told,
        "error: sfq has no option `limt` here\n  --> commands:1:1\n   |\n 1 | tc qdisc add dev p0 root sfq \
         limt 3\n   | ^\n\nerror: there is no discipline `pie` here\n  --> commands:3:1\n   |\n 3 | tc qdisc \
         add dev p0 root pie\n   | ^\n"
    );
    let again = edited(&shaped, "qos import \"tc qdisc add dev p0 root codel\"").unwrap_err();
    assert!(again.contains("Exclusivity flag on, cannot modify"), "{again}");
    let changed =
        edited(&shaped, "qos import \"tc qdisc change dev p0 root sfq limit 9\"").unwrap();
    let Shape::Sfq(sfq) = scheduler(&changed).unwrap().root else { panic!() };
    assert_eq!(sfq.limit, 9);
}

#[test]
fn what_a_link_adds_to_packets_reads_back_as_it_is_written() {
    let config = edited(&read("").unwrap(), "qos set p0 tbf rate 1mbit mpu 64 overhead 4").unwrap();
    let Shape::Tbf(tbf) = scheduler(&config).unwrap().root else { panic!() };
    assert_eq!((tbf.mpu, tbf.overhead), (64, 4));
    let again = parse(&Source::new("again", render(&config)), &Host::any()).unwrap();
    assert_eq!(again, config, "{}", render(&config));
}

#[test]
fn a_queue_that_the_pool_cannot_fill_is_warned_of() {
    let warned = |buffers: u32, limit: u32| {
        let text = format!(
            "[memory]\nbuffers = {buffers}\n[port.p0]\nkind = \"memory\"\n[port.p0.qos]\nkind = \"pfifo\"\nlimit = {limit}\n"
        );
        parse_and_warn(&Source::new("test", text), &Host::any()).unwrap().1.to_string()
    };
    assert_eq!(warned(16_384, 11_000), "");
    let told = warned(16_384, 100_000);
    assert!(
        told.contains("a queue of 100000 packets, and of 16384 buffers 11468 may wait"),
        "{told}"
    );
    assert!(warned(8_192, 11_000).contains("of 8192 buffers"));
}

#[test]
fn what_commands_can_say_follows_from_the_declarations() {
    let command = |verb| commands().iter().find(|c| (c.noun, c.verb) == ("qos", verb)).unwrap();
    let kinds = Shape::kinds().join("|");
    for (verb, usage) in [
        ("set", format!("PORT {kinds} [FIELD VALUE]...")),
        ("class", "PORT CLASS [FIELD VALUE]...".to_owned()),
        ("filter", "PORT CLASS [FIELD VALUE]...".to_owned()),
        ("del", "PORT [class CLASS] [filter FILTER]".to_owned()),
        ("import", "FILE".to_owned()),
    ] {
        assert_eq!(command(verb).usage(), usage);
    }
    let help = of_fields(&(command("set").fields)());
    for kind in Shape::kinds() {
        let mut shape = Shape::of_kind(kind).unwrap();
        shape.settings().each(&mut |setting, _| {
            assert!(help.contains(&format!("  {}  ", setting.name)), "{kind} {}", setting.name);
            assert!(help.contains(setting.about.trim_end_matches('.')), "{}", setting.about);
        });
    }
    assert!(help.contains("Of the kind fq_codel:\n") && help.contains("[default 5ms]"), "{help}");
    let next = |said: &[&str]| {
        let next = help::next(&[&["qos"], said].concat());
        next.words.into_iter().map(|(word, _)| word).collect::<Vec<_>>()
    };
    let offers = |said: &[&str], word: &str| next(said).iter().any(|next| next == word);
    assert!(offers(&["set", "p0"], "htb"));
    assert!(offers(&["set", "p0", "fq_codel"], "target") && offers(&["set", "p0", "sfq"], "rate"));
    assert!(!offers(&["set", "p0", "fq_codel"], "r2q") && !offers(&["set", "p0", "sfq"], "target"));
    assert!(offers(&["class", "p0", "1:10"], "ceil") && offers(&["class", "p0", "1:10"], "sc"));
    assert!(offers(&["class", "p0", "1:10", "leaf"], "fq_codel"));
    assert!(offers(&["class", "p0", "1:10", "leaf", "fq_codel"], "target"));
    assert!(offers(&["class", "p0", "1:10", "linklayer"], "atm"));
    assert!(offers(&["filter", "p0", "1:10"], "destination_port"));
    // Each can be said as its example has it.
    let config = edited(&read("").unwrap(), "qos set p0 htb\nqos class p0 1:1 rate 1mbit").unwrap();
    for info in (command("filter").fields)().iter().filter(|info| !info.word.starts_with("hash")) {
        let told = edited(&config, &format!("qos filter p0 1:1 {} {}", info.word, info.example));
        let unknown_name = told.as_ref().is_err_and(|told| told.contains("there is no"));
        assert!(told.is_ok() || unknown_name, "{told:?}");
    }
}
