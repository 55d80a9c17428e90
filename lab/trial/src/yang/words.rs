//! What the testers' model has no words for: `volley-lab:scenario`, to and from the lab's own TOML.
//!
//! ```text
//! TOML                                 JSON
//! trial_s = 0.1                        "trial-s": "0.1"              numbers in quotes
//! [[function]] kind = "ip4"            "function": [{"id": "1", "kind": "ip4"}]
//! entries = [1, 2]                     "entries": {"value": ["1", "2"]}          axes of [sweep]
//! entries = { from = 1, to = 9 }       "entries": {"from": "1", "to": "9"}
//! gaps_ns = [5, 5]                     "gap": [{"id": "1", "length": "5"}, …]    may repeat
//! ```

use lab_record::axes;
use lab_traffic::arrivals::Process;
use serde_json::{Map, Value, json};

use super::document::Document;
use super::node::{Node, Wrong};
use super::ports::Ports;
use crate::Error;
use crate::scenario::Scenario;

/// Leaves that are text; all others are numbers or booleans.
const TEXTS: [&str; 11] = [
    "name",
    "title",
    "about",
    "kind",
    "label",
    "ethertype",
    "destinations",
    "process",
    "search",
    "generator",
    "device",
];

/// Whether a leaf is text: one of those, or the words of an axis.
fn is_text(name: &str) -> bool {
    TEXTS.contains(&name) || axes::named(name).is_some_and(|axis| !axis.words.is_empty())
}

/// Members of `[traffic]` that the generators say.
const TESTERS: [&str; 3] = ["frame-bytes", "imix", "both-directions"];

/// What is ours of a scenario.
pub(super) fn spoken(scenario: &Scenario) -> Result<Value, Error> {
    let name = scenario.name.get_ref();
    let whole = serde_json::to_value(scenario)
        .map_err(|error| Error::file(name)(std::io::Error::other(error)))?;
    let mut spoken = speak(&whole).unwrap_or_default();
    if let Some(Value::Object(traffic)) = spoken.get_mut("traffic") {
        TESTERS.iter().for_each(|name| drop(traffic.remove(*name)));
        if matches!(scenario.traffic.arrivals, Process::Constant | Process::Burst { .. }) {
            traffic.remove("arrivals");
        }
    }
    if let Some(Value::Object(sweep)) = spoken.get_mut("sweep") {
        for (name, axis) in sweep.iter_mut().filter(|(_, axis)| axis.is_array()) {
            if !is_text(name) {
                *axis = json!({ "value": axis.take() });
            }
        }
    }
    Ok(spoken)
}

/// A value in the model's words; none where there is nothing to say.
fn speak(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Null => return None,
        Value::Number(number) => Value::String(digits(number)),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            Value::Array((1..).zip(list).filter_map(|(id, entry)| numbered(id, entry)).collect())
        }
        Value::Array(list) => Value::Array(list.iter().filter_map(speak).collect()),
        Value::Object(members) => {
            let mut spoken = Map::new();
            for (name, value) in members {
                match (name.as_str(), speak(value)) {
                    (_, None) => {}
                    ("gaps_ns", Some(Value::Array(gaps))) => {
                        let gap = |(id, gap)| json!({ "id": format!("{id}"), "length": gap });
                        spoken.insert("gap".into(), (1..).zip(gaps).map(gap).collect());
                    }
                    ("process", Some(word)) => {
                        let word = word.as_str().unwrap_or_default().replace('_', "-");
                        spoken.insert("process".into(), word.into());
                    }
                    (name, Some(value)) => drop(spoken.insert(name.replace('_', "-"), value)),
                }
            }
            Value::Object(spoken)
        }
        plain => plain.clone(),
    })
}

fn numbered(id: usize, entry: &Value) -> Option<Value> {
    let mut spoken = speak(entry)?;
    spoken.as_object_mut()?.insert("id".into(), id.to_string().into());
    Some(spoken)
}

/// Digits without an exponent, which the model has none of, and as many as bring the number back.
pub(super) fn digits(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float.to_string(),
        _ => number.to_string(),
    }
}

impl Document {
    /// A member as `key = value`.
    fn member(&mut self, name: &str, node: &Node<'_>) -> Result<(), Wrong> {
        let value = written(name, node)?;
        self.line(&format!("{} = {value}", key(name)), &node.path);
        Ok(())
    }

    fn table(&mut self, header: &str, node: &Node<'_>) -> Result<(), Wrong> {
        self.line(header, &node.path);
        for (name, member) in node.members()? {
            self.member(name, &member)?;
        }
        Ok(())
    }
}

/// The TOML of a scenario in the model's words.
pub(super) fn document(node: &Node<'_>, ports: &Ports) -> Result<Document, Wrong> {
    let mut document = Document::default();
    let is_leaf = |member: &Node<'_>| !(member.value.is_object() || member.value.is_array());
    for (name, leaf) in node.members()?.filter(|(_, member)| is_leaf(member)) {
        document.member(name, &leaf)?;
    }
    if let Some(functions) = node.member("function")? {
        for function in functions.entries()? {
            document.line("[[function]]", &function.path);
            for (name, member) in function.members()?.filter(|(name, _)| *name != "id") {
                document.member(name, &member)?;
            }
        }
    }
    match node.member("traffic")? {
        Some(traffic) => {
            if let Some((_, told)) = traffic.members()?.find(|(name, _)| TESTERS.contains(name)) {
                return Err(told.wrong("the traffic generators say this"));
            }
            document.table("[traffic]", &traffic)?;
        }
        None => document.line("[traffic]", &node.path),
    }
    ports.write(&mut document);
    let rest = |(name, member): &(&str, Node<'_>)| {
        !["function", "traffic"].contains(name) && !is_leaf(member)
    };
    for (name, member) in node.members()?.filter(rest) {
        document.table(&format!("[{}]", key(name)), &member)?;
    }
    Ok(document)
}

/// A name as a key of TOML, whatever it is.
fn key(name: &str) -> String {
    let word = name.replace('-', "_");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !word.is_empty() && word.chars().all(plain) { word } else { Value::from(word).to_string() }
}

/// A value as TOML.
fn written(name: &str, node: &Node<'_>) -> Result<String, Wrong> {
    let list = |entries: Vec<Node<'_>>| {
        let entries: Result<Vec<_>, _> = entries.iter().map(|it| written(name, it)).collect();
        entries.map(|entries| format!("[{}]", entries.join(", ")))
    };
    match node.value {
        Value::Bool(yes) => Ok(yes.to_string()),
        Value::Array(_) => list(node.entries()?),
        Value::Object(_) => {
            if let Some(values) = node.member("value")? {
                node.only(&["value"])?;
                return list(values.entries()?);
            }
            let mut members = Vec::new();
            for (name, member) in node.members()? {
                members.push(match name {
                    "gap" => format!("gaps_ns = {}", gaps(&member)?),
                    name => format!("{} = {}", key(name), written(name, &member)?),
                });
            }
            Ok(format!("{{ {} }}", members.join(", ")))
        }
        _ if name == "process" => Ok(Value::from(node.text()?.replace('-', "_")).to_string()),
        // A string of JSON is one of TOML.
        _ if is_text(name) => Ok(Value::from(node.text()?).to_string()),
        _ => Ok(node.digits()?.to_owned()),
    }
}

fn gaps(node: &Node<'_>) -> Result<String, Wrong> {
    let length = |entry: &Node<'_>| Ok(entry.needed("length")?.digits()?.to_owned());
    let lengths: Result<Vec<String>, Wrong> = node.entries()?.iter().map(length).collect();
    Ok(format!("[{}]", lengths?.join(", ")))
}
