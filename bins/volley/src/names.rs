//! Names that a running router has, for completion. Where there is none, or it takes long, nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use control::config::help;
use control::view::{self, View};
use serde_json::Value;

use crate::cli::Global;
use crate::client::Client;

/// Who types does not wait for longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What there are names of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names<'a> {
    /// Rows of a section of the configuration, or a field of theirs.
    Configured(help::Names),
    /// Ports, those among them that are not configured by name.
    Ports,
    /// VRFs, the default one among them.
    Vrfs,
    /// Nodes of the graph.
    Nodes,
    /// Exits of a node, or of all.
    Exits(Option<&'a str>),
    /// Reasons that a node, or any, drops packets for.
    Reasons(Option<&'a str>),
    /// Revisions of the configuration.
    Revisions,
}

impl<'a> Names<'a> {
    /// What an argument of this name takes; `of` has the values of others.
    pub(crate) fn of_argument(name: &str, of: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let section = |section| Some(Self::Configured(help::Names { section, field: "" }));
        match name {
            "port" => Some(Self::Ports),
            "vrf" => Some(Self::Vrfs),
            "bridge" => section("bridge"),
            "node" => Some(Self::Nodes),
            "exit" => Some(Self::Exits(of("node"))),
            "reason" => Some(Self::Reasons(of("node"))),
            "revision" => Some(Self::Revisions),
            _ => None,
        }
    }
}

/// A router that is asked.
pub(crate) struct Asked {
    client: Option<Client>,
}

impl Asked {
    /// The router that a command line names, on this machine or another.
    pub(crate) fn of(global: &Global) -> Self {
        Self { client: Client::of(global).ok().map(|client| client.with_patience(PATIENCE)) }
    }

    /// The router of another client.
    pub(crate) fn by(client: &Client) -> Self {
        Self { client: client.beside(PATIENCE).ok() }
    }

    /// The names, in order, each once.
    pub(crate) fn names(&self, which: Names<'_>) -> Vec<String> {
        let get = |path: &str| self.client.as_ref()?.get(path).ok();
        let found = match which {
            Names::Configured(help::Names { section: "port", field: "" }) | Names::Ports => {
                get(view::Port::PATH).map(|ports| fields(&ports, "name"))
            }
            Names::Vrfs => get(view::Vrf::PATH).map(|vrfs| fields(&vrfs, "name")),
            Names::Configured(help::Names { section, field }) => {
                let config = get(view::ConfigStatus::PATH);
                config.map(|config| configured(&config["value"][section], field))
            }
            Names::Nodes => get(view::Node::PATH).map(|nodes| fields(&nodes, "name")),
            Names::Exits(of) => get(view::Node::PATH).map(|nodes| exits(&nodes, of, |_| true)),
            Names::Reasons(of) => get(view::Node::PATH).map(|nodes| exits(&nodes, of, ends_there)),
            Names::Revisions => {
                get(view::HistoryEntry::PATH).map(|entries| fields(&entries, "revision"))
            }
        };
        let names: BTreeSet<String> = found.unwrap_or_default().into_iter().collect();
        names.into_iter().filter(|name| name.chars().all(is_plain)).collect()
    }
}

/// Whether a shell takes it as it is, whatever a router calls its things.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-:/".contains(c)
}

/// A field of each row.
fn fields(rows: &Value, field: &str) -> Vec<String> {
    let rows = rows.as_array().into_iter().flatten();
    rows.filter_map(|row| word(&row[field])).collect()
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn configured(section: &Value, field: &str) -> Vec<String> {
    match section.as_object() {
        Some(rows) if field.is_empty() => rows.keys().cloned().collect(),
        _ => fields(section, field),
    }
}

/// Whether a packet goes no further by an exit: dropped, or its sender told.
fn ends_there(exit: &Value) -> bool {
    exit["to"] == "drop" || exit["to"] == "icmp4-error" || exit["to"] == "icmp6-error"
}

fn exits(nodes: &Value, of: Option<&str>, wanted: fn(&Value) -> bool) -> Vec<String> {
    let nodes = nodes.as_array().into_iter().flatten();
    let nodes = nodes.filter(|node| of.is_none_or(|of| node["name"] == of));
    let exits = nodes.flat_map(|node| node["exits"].as_array().into_iter().flatten());
    exits.filter(|exit| wanted(exit)).filter_map(|exit| word(&exit["name"])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_found_in_what_a_router_answers() {
        let rows = json!({ "p0": {}, "p1": { "mtu": 9000 } });
        assert_eq!(configured(&rows, ""), ["p0", "p1"]);
        let rows = json!([{ "prefix": "10.0.0.0/8" }, { "prefix": "default" }]);
        assert_eq!(configured(&rows, "prefix"), ["10.0.0.0/8", "default"]);
        assert_eq!(configured(&Value::Null, ""), [""; 0]);
        let nodes = json!([
            { "name": "a", "exits": [{ "name": "x", "to": "b" }, { "name": "z", "to": "drop" }] },
            { "name": "b", "exits": [{ "name": "y", "to": "drop" }] },
        ]);
        assert_eq!(exits(&nodes, Some("b"), |_| true), ["y"]);
        assert_eq!(exits(&nodes, None, |_| true), ["x", "z", "y"]);
        assert_eq!(exits(&nodes, None, ends_there), ["z", "y"]);
        let nodes = json!([{ "name": "a", "exits": [{ "name": "w", "to": "icmp4-error" }] }]);
        assert_eq!(exits(&nodes, None, ends_there), ["w"]);
    }

    #[test]
    fn where_there_is_no_router_nothing_is_said() {
        for socket in ["/nowhere/api.sock", "https://127.0.0.1:1", "https://no port"] {
            let (socket, files) = (socket.into(), None);
            let global =
                Global { socket, token_file: files.clone(), certificate: files, json: false };
            assert_eq!(Asked::of(&global).names(Names::Ports), [""; 0]);
        }
    }
}
