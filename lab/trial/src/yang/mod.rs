//! Scenarios and streams in the words of the IETF's network testers, as JSON (RFC 7951).
//!
//! ```text
//! scenario ─┬─ ietf-interfaces:interfaces    two ports: traffic-generator, traffic-analyzer     ports
//!           └─ volley-lab:scenario           all that these have no words for                   words
//! streams  ─── ietf-interfaces:interfaces    generators alone, each sent as it says             streams
//! ```
//! The models are those of draft-ietf-bmwg-network-tester-cfg in their revision of 2022-10-22,
//! which Debian has in `libyuma-base`, and ours in `yang/`. What comes in is written down as the
//! TOML that says the same, each line with its path in the document: one reader and one set of
//! checks for both.

mod document;
mod module;
mod node;
mod ports;
mod streams;
mod words;

pub use module::with_searches;
use node::{Node, Wrong, json};
use ports::INTERFACES;
use serde_json::Value;
pub use streams::streams;

use crate::Error;
use crate::scenario::Scenario;

/// Name of what is ours.
const SCENARIO: &str = "volley-lab:scenario";

/// A scenario as instance data.
pub fn export(scenario: &Scenario) -> Result<Value, Error> {
    Ok(serde_json::json!({
        INTERFACES: { "interface": ports::interfaces(scenario) },
        SCENARIO: words::spoken(scenario)?,
    }))
}

/// Reads a scenario from instance data; `path` is only for messages.
pub fn import(text: &str, path: &str) -> Result<Scenario, Error> {
    read(text, path).map(|(scenario, _)| scenario)
}

/// Instance data as the TOML of the same scenario.
pub fn to_toml(text: &str, path: &str) -> Result<String, Error> {
    read(text, path).map(|(_, toml)| toml)
}

fn read(text: &str, path: &str) -> Result<(Scenario, String), Error> {
    let root = json(text, path)?;
    let refuse = |Wrong { at, reason }| Error::Instance { path: path.into(), at, reason };
    let root = Node::root(&root);
    root.only(&[INTERFACES, SCENARIO]).map_err(refuse)?;
    let ports =
        root.needed(INTERFACES).and_then(|node| ports::Ports::read(&node)).map_err(refuse)?;
    let document =
        root.needed(SCENARIO).and_then(|node| words::document(&node, &ports)).map_err(refuse)?;
    let scenario = Scenario::parse(&document.text, path).map_err(|error| match error {
        Error::Scenario { line, reason, .. } => refuse(Wrong { at: document.place(line), reason }),
        other => other,
    })?;
    ports.agree(&scenario).map_err(refuse)?;
    Ok((scenario, document.text))
}
