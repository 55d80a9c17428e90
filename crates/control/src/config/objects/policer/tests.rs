//! Policers as files and commands have them.

use crate::config::render;
use crate::config::tests::{read, run};

const TWO: &str = r#"[policer.gold]
rate         = "10mbit"
burst        = "64kb"
peak_rate    = "20mbit"
peak_burst   = "128kb"
colour_aware = true
conform      = "dscp af11"
exceed       = "dscp af12 pcp 1"
violate      = "dscp af13"

[port.p1]
kind       = "memory"
police_in  = "gold"
police_out = "gold"
mark_dscp  = "ef"
mark_pcp   = 5
"#;

#[test]
fn what_is_written_is_what_was_read() {
    assert_eq!(render(&read(TWO).unwrap()), TWO);
}

#[test]
fn commands_make_policers_name_them_and_take_them_away() {
    let mut config = read("[port.p1]\nkind = \"memory\"\n").unwrap();
    let empty = config.clone();
    let mut run = |command: &str| run(&mut config, command);
    let two = "policer add gold rate 10mbit burst 64kb peak_rate 20mbit peak_burst 128kb colour_aware true \
               conform \"dscp af11\" exceed \"dscp af12 pcp 1\" violate \"dscp af13\"";
    run(two).unwrap();
    let set = "port set p1 police_in gold police_out gold mark_dscp ef mark_pcp 5";
    assert_eq!(render(&run(set).unwrap()), TWO);
    assert!(run("policer del gold").unwrap_err().contains("there is no policer `gold`"));
    run("port set p1 police_in off police_out off mark_dscp off mark_pcp off").unwrap();
    assert_eq!(run("policer del gold").unwrap(), empty);
    assert!(run("policer del gold").is_err());
    assert!(run("policer add gold rate 10mbit").unwrap_err().contains("`rate` without `burst`"));
    // Packets, beside octets or alone.
    let both = "policer add both rate 10mbit burst 64kb packet_rate 1000 packet_burst 50";
    assert!(render(&run(both).unwrap()).contains("packet_rate  = 1000\npacket_burst = 50\n"));
    run("policer add few packet_rate 1000 packet_burst 50 violate \"dscp af13\"").unwrap();
    run("policer set few packet_rate 2000").unwrap();
}

#[test]
fn agreements_that_cannot_be_kept_are_refused() {
    for (fields, fault) in [
        ("rate = \"0bit\"\nburst = 1", "a rate of 0 lets nothing pass"),
        ("rate = \"1mbit\"\nburst = 0", "a burst of 0 bytes"),
        ("rate = \"1mbit\"\nburst = 9\npeak_rate = \"2mbit\"", "peak_burst"),
        ("rate = \"1mbit\"\nburst = 9\npeak_burst = 9", "peak_rate"),
        (
            "rate = \"2mbit\"\nburst = 9\npeak_rate = \"1mbit\"\npeak_burst = 9",
            "below the rate of 2mbit",
        ),
        (
            "rate = \"1mbit\"\nburst = 9\npeak_rate = \"2mbit\"\npeak_burst = 9\nexcess_burst = 9",
            "`excess_burst` is for one rate",
        ),
        (
            "rate = \"1mbit\"\nburst = 9\nexceed = \"drop\"",
            "with one rate and one burst no packet exceeds",
        ),
        ("rate = \"1mbit\"\nburst = 9\nviolate = \"dscp 64\"", "`64` is not a DSCP"),
        ("rate = \"1mbit\"", "`rate` without `burst`"),
        ("burst = 9", "`burst` without `rate`"),
        ("packet_rate = 9", "`packet_rate` without `packet_burst`"),
        ("rate = \"1mbit\"\nburst = 9\npacket_burst = 9", "`packet_burst` without `packet_rate`"),
        ("packet_rate = 0\npacket_burst = 9", "packet_rate"),
        ("packet_rate = 9\npacket_burst = 9\nexcess_burst = 9", "`excess_burst` without `rate`"),
        (
            "packet_rate = 9\npacket_burst = 9\npeak_rate = \"1mbit\"\npeak_burst = 9",
            "`peak_rate` without `rate`",
        ),
        ("colour_aware = true", "it limits neither octets nor packets"),
    ] {
        let refused = read(&format!("[policer.gold]\n{fields}\n")).unwrap_err();
        assert!(refused.contains(fault), "{refused}");
    }
    let unknown = "[port.p1]\nkind = \"memory\"\npolice_in = \"gold\"\n";
    assert!(read(unknown).unwrap_err().contains("there is no policer `gold`"));
}
