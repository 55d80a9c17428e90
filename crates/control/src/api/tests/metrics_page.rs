//! docs/metrics.md is what `/metrics` has; rules and dashboard ask for nothing else.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use super::{fresh_router, get, on_one_thread};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

const HEAD: &str = "\
# Metrics

What `/metrics` has, in the order in which it has them, as [Prometheus](tasks/prometheus.md) calls them. Counters begin with the router, or
with `volley counters clear`. This page is made from the declarations of the views: a test tells how when it is stale.
Where no label is named, there is none, or the router of that test had nothing of the kind.

| metric | kind | labels | what |
|---|---|---|---|
";

/// A family of samples: its kind, what it is, the labels of its samples.
#[derive(Default)]
struct Family {
    name: String,
    kind: String,
    help: String,
    labels: Vec<String>,
}

fn families(text: &str) -> Vec<Family> {
    let mut all: Vec<Family> = Vec::new();
    for line in text.lines() {
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|it| it.split_once(' ')) {
            let suffix = if kind == "counter" { "_total" } else { "" };
            all.push(Family {
                name: format!("{name}{suffix}"),
                kind: kind.to_owned(),
                ..Family::default()
            });
        } else if let Some((_, help)) =
            line.strip_prefix("# HELP ").and_then(|it| it.split_once(' '))
        {
            all.last_mut().unwrap().help = help.to_owned();
        } else if let Some((_, labels)) = line.split_once('{') {
            let keys = labels.split("=\"").filter_map(|part| part.rsplit(['{', ',', '"']).next());
            let keys: Vec<_> = keys
                .filter(|key| !key.is_empty() && !key.contains('}'))
                .map(str::to_owned)
                .collect();
            all.last_mut().unwrap().labels = keys;
        }
    }
    // The example of CONTRIBUTING.md is of the tests alone.
    all.retain(|family| !family.name.starts_with("volley_probe"));
    all
}

fn whole() -> Vec<Family> {
    families(&on_one_thread(async { get(&fresh_router(), "/metrics").await.text }))
}

#[test]
fn the_page_of_metrics_is_what_the_api_has() {
    let mut made = HEAD.to_owned();
    for Family { name, kind, help, labels } in whole() {
        let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
        made += &format!("| `{name}` | {kind} | {} | {help} |\n", labels.join(", "));
    }
    let path = format!("{FOLDER}/metrics.md");
    if std::env::var_os("VOLLEY_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), made, "stale: run with VOLLEY_BLESS=1");
}

/// The names of our metrics in a text, each with the labels that some are chosen by: `{port="p0"}`.
fn asked(text: &str) -> BTreeMap<String, HashSet<String>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    for (at, _) in text.match_indices("volley_") {
        if text[..at].ends_with(is_word) {
            continue;
        }
        let rest = &text[at..];
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let labels = found.entry(rest[..end].to_owned()).or_default();
        if let Some(said) = rest[end..].strip_prefix('{') {
            let said = &said[..said.find('}').unwrap()];
            let keys = said.split(',').filter_map(|one| one.split(['=', '!', '~']).next());
            labels.extend(keys.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()));
        }
    }
    found
}

#[test]
fn rules_and_dashboard_ask_for_what_there_is() {
    let there = whole();
    for (file, least) in [("rules.yml", 6), ("dashboard.json", 8)] {
        let text = fs::read_to_string(format!("{FOLDER}/prometheus/{file}")).unwrap();
        let asked = asked(&text);
        assert!(asked.len() >= least, "{file} asks for {asked:?} alone");
        for (name, labels) in asked {
            let family = there.iter().find(|family| family.name == name);
            let family =
                family.unwrap_or_else(|| panic!("{file} asks for `{name}`, which there is not"));
            // Prometheus itself says which router it is.
            for label in labels.into_iter().filter(|label| label != "instance") {
                assert!(family.labels.contains(&label), "{file}: `{name}` has no label `{label}`");
            }
        }
    }
}

#[test]
fn the_dashboard_is_one() {
    let text = fs::read_to_string(format!("{FOLDER}/prometheus/dashboard.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: HashSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
    for panel in panels {
        assert!(!panel["title"].as_str().unwrap().is_empty());
        assert!(["timeseries", "stat", "table"].contains(&panel["type"].as_str().unwrap()));
        for target in panel["targets"].as_array().unwrap() {
            assert!(target["expr"].as_str().unwrap().contains("volley_"), "{target}");
        }
    }
    // No two lie on each other.
    let mut taken = HashSet::new();
    for panel in panels {
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
        assert!(x + w <= 24);
        for (column, row) in (x..x + w).flat_map(|column| (y..y + h).map(move |row| (column, row)))
        {
            assert!(taken.insert((column, row)), "{} lies on another", panel["title"]);
        }
    }
}
