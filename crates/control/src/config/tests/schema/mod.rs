//! The JSON Schema takes every configuration that is right, and refuses what a field cannot be.
//! `smoke/config_schema.sh` has another validator say the same.

pub(crate) mod checker;

use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::form::Form;
use super::super::info::{Info, Stands};
use super::super::objects::described;
use super::super::schema::schema;
use super::super::{Host, Source, parse, render};
use super::arbitrary;
use checker::check;

static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

/// What is wrong with a file, by the schema.
fn faults(toml: &str) -> Result<(), String> {
    let value: Value = toml::from_str(toml).unwrap();
    check(&SCHEMA, &value).map(drop)
}

#[test]
fn every_example_fits() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs");
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(faults(&fs::read_to_string(&path).unwrap()), Ok(()), "{}", path.display());
        count += 1;
    }
    assert!(count >= 19, "{count} examples");
}

proptest! {
    #[test]
    fn every_configuration_fits(config in arbitrary::config()) {
        let text = render(&config);
        prop_assert_eq!(faults(&text), Ok(()), "{}", text);
    }
}

#[test]
fn every_discipline_fits_with_its_classes_and_filters() {
    for kind in sched::Shape::kinds() {
        let rate = if kind == "tbf" { "" } else { "burst = \"32kb\"\n" };
        let more = match kind {
            "bfifo" => "limit = \"64kb\"\n",
            "htb" => {
                "[[port.p0.qos.class]]\nid = \"1:1\"\nrate = \"5mbit\"\nceil = \"9mbit\"\nleaf = { kind = \"sfq\" }\n"
            }
            "hfsc" => "[[port.p0.qos.class]]\nid = \"1:1\"\nsc = \"m1 5mbit d 10ms m2 1mbit\"\n",
            "prio" => {
                "priomap = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]\nband = [{ kind = \"codel\" }, { kind = \"sfq\" }, { kind = \"sfq\" }]\n"
            }
            _ => "",
        };
        let filter = "[[port.p0.qos.filter]]\nclass = \"1:1\"\ndscp = 46\nsource_port = 443\n";
        let head = "[port.p0]\nkind = \"memory\"\n[port.p0.qos]\n";
        let text = format!("{head}kind = \"{kind}\"\nrate = \"10mbit\"\n{rate}{more}{filter}");
        assert_eq!(faults(&text), Ok(()), "{text}");
        // What is written of it, as the router reads it, fits as well.
        let source =
            Source::new("test", format!("{head}kind = \"{kind}\"\nrate = \"10mbit\"\n{more}"));
        let config = parse(&source, &Host::any()).unwrap();
        assert_eq!(faults(&render(&config)), Ok(()), "{}", render(&config));
    }
}

/// A port with a class, and this discipline in it.
fn below_a_class(leaf: &str) -> String {
    format!(
        "[port.p0]\nkind = \"bvi\"\nqos = {{ kind = \"htb\", class = [{{ id = \"1:1\", rate = \"1mbit\", leaf = {leaf} }}] }}"
    )
}

#[test]
fn what_stands_below_a_class_is_known_to_any_depth() {
    for leaf in [
        "{ kind = \"sfq\", limit = 9 }",
        "{ kind = \"fq_codel\", rate = \"1mbit\", burst = \"32kb\" }",
        "{ kind = \"prio\", band = [{ kind = \"sfq\", limit = 9 }, { kind = \"codel\" }] }",
        "{ kind = \"htb\", class = [{ id = \"2:1\", rate = \"1mbit\", leaf = { kind = \"sfq\" } }] }",
    ] {
        assert_eq!(faults(&below_a_class(leaf)), Ok(()), "{leaf}");
    }
}

#[test]
fn what_no_field_can_be_is_refused() {
    for (text, fault) in [
        ("[prot.p0]\nkind = \"bvi\"", "prot"),
        ("[port.p0]\nkind = \"bvi\"\nmut = 1500", "mut"),
        ("[port.p0]\nkind = \"bvi\"\ndevice = \"veth0\"", "device"),
        ("[port.p0]\nkind = \"bvy\"", "kind"),
        ("[port.p0]\nmtu = 1500", "is not required"),
        ("[port.p0]\nkind = \"tap\"", "device"),
        ("[port.0]\nkind = \"bvi\"", "pattern"),
        ("[port.p0]\nkind = \"bvi\"\nmtu = 67", "67"),
        ("[port.p0]\nkind = \"bvi\"\nmtu = \"1500\"", "1500"),
        ("[port.p0]\nkind = \"bvi\"\nup = \"on\"", "on"),
        ("[port.p0]\nkind = \"bvi\"\ntwin = { nets = \"x\" }", "twin"),
        ("[port.p0]\nkind = \"bvi\"\naddresses = [\"192.0.2.1\"]", "addresses"),
        ("[port.t]\nkind = \"gre\"\nlocal = \"192.0.2.1\"", "remote"),
        ("[[route]]\nvia = \"192.0.2.9\"", "prefix"),
        ("[route]\nprefix = \"default\"", "array"),
        ("[[acl.edge.rule]]\naction = \"perhaps\"", "perhaps"),
        ("[bridge.b]\nageing = 30", "ageing"),
        ("[port.p0]\nkind = \"bvi\"\nqos = { kind = \"fq_codle\" }", "fq_codle"),
        ("[port.p0]\nkind = \"bvi\"\nqos = { kind = \"fq_codel\", limt = 9 }", "limt"),
        ("[port.p0]\nkind = \"bvi\"\nqos = { kind = \"fq_codel\", limit = \"9\" }", "limit"),
        ("[port.p0]\nkind = \"bvi\"\nqos = { kind = \"tbf\" }", "rate"),
        (
            "[port.p0]\nkind = \"bvi\"\nqos = { kind = \"htb\", class = [{ rate = \"1mbit\" }] }",
            "id",
        ),
        ("[port.p0]\nkind = \"bvi\"\nqos = { kind = \"pfifo\", class = [] }", "class"),
        (below_a_class("{ kind = \"sfq\", limt = 9 }").as_str(), "limt"),
        (below_a_class("{ kind = \"sfq\", limit = \"nine\" }").as_str(), "nine"),
        (below_a_class("{ kind = \"sqf\" }").as_str(), "sqf"),
        (below_a_class("{ limit = 9 }").as_str(), "leaf"),
        // What stands beside the discipline of a port stands beside no other.
        (below_a_class("{ kind = \"sfq\", link_rate = \"1mbit\" }").as_str(), "link_rate"),
        (below_a_class("{ kind = \"prio\", band = [{ kind = \"sfq\", limt = 9 }] }").as_str(), "limt"),
        (
            below_a_class(
                "{ kind = \"htb\", class = [{ id = \"2:1\", rate = \"1mbit\", leaf = { kind = \"sfq\", limt = 9 } }] }",
            )
            .as_str(),
            "limt",
        ),
        ("[policer.gold]\nrate = \"1mbit\"\nburst = -1", "burst"),
    ] {
        let refused = faults(text).expect_err(text);
        assert!(refused.contains(fault), "{text}: {refused}");
    }
}

/// Values that no field of this declaration has.
fn wrong(info: &Info) -> Vec<Value> {
    let mut wrong = vec![json!(1.5), json!(null), json!({ "no such field": 1 }), json!([[1]])];
    if !matches!(info.form, Form::Boolean | Form::Table(Some(Form::Boolean))) {
        wrong.push(true.into());
    }
    if !matches!(info.form, Form::Number(..) | Form::TextOrNumber(..)) {
        wrong.push(1.into());
    }
    if let Some((least, most)) = info.range {
        wrong.extend([json!(most + 1), json!(least as i64 - 1)]);
    }
    wrong
}

#[test]
fn no_field_of_any_section_takes_what_it_cannot_be() {
    let mut count = 0;
    for section in described() {
        for info in section.infos.iter().filter(|info| info.is_field()) {
            for wrong in wrong(info) {
                let row = match info.of {
                    "" => json!({ info.name: wrong }),
                    kind => json!({ "kind": kind, info.name: wrong }),
                };
                let whole = match (section.stands, section.path.split_once('.')) {
                    (Stands::Once | Stands::Elsewhere(_), _) => json!({ section.path: row }),
                    (Stands::Named(_), _) => json!({ section.path: { "it": row } }),
                    (Stands::Listed(_), None) => json!({ section.path: [row] }),
                    (Stands::Listed(_), Some((above, part))) => {
                        json!({ above: { "it": { part: [row] } } })
                    }
                };
                let refused = check(&SCHEMA, &whole).expect_err(&format!("{whole}"));
                assert!(refused.contains(info.name), "{whole}: {refused}");
                count += 1;
            }
        }
    }
    assert!(count > 500, "{count} values tried");
}

#[test]
fn a_field_has_in_the_schema_what_is_declared_of_it() {
    let port = &SCHEMA["properties"]["port"]["additionalProperties"];
    let mtu = &port["properties"]["mtu"];
    assert_eq!(
        *mtu,
        json!({
            "type": "integer", "minimum": 68, "maximum": 9216, "default": 1500, "x-unit": "bytes",
            "description": "Longest packet, without the Ethernet header",
        })
    );
    let kinds = port["oneOf"].as_array().unwrap();
    let memif = kinds.iter().find(|it| it["properties"]["kind"]["const"] == "memif").unwrap();
    assert_eq!(memif["required"], json!(["socket", "role"]));
    assert_eq!(memif["properties"]["role"]["enum"], json!(["server", "client"]));
    assert_eq!(memif["properties"]["role"]["examples"], json!(["server"]));
    assert_eq!(memif["description"], "Shared memory with another process");
}
