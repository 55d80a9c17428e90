//! What the engine says to a network driver, and what it hears: libnetwork's remote drivers.
//!
//! ```text
//! POST /NetworkDriver.CreateEndpoint  { "NetworkID": …, "EndpointID": …, "Interface": { … }, "Options": { … } }
//!      ◀ 200 { "Interface": { "MacAddress": … } }      ◀ 200 { "Err": "why not" }
//! ```
//! Each field that an engine leaves out is empty: their versions differ in that.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Where the user's `-o` are.
const GENERIC: &str = "com.docker.network.generic";
/// What `-p` says.
const PORT_MAP: &str = "com.docker.network.portmap";

/// What is null is empty, too.
fn empty<'a, D: Deserializer<'a>, T: Default + Deserialize<'a>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A network, or part of one.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Asked {
    #[serde(rename = "NetworkID", deserialize_with = "empty")]
    pub(super) network: String,
    #[serde(rename = "EndpointID", deserialize_with = "empty")]
    pub(super) endpoint: String,
    #[serde(rename = "IPv4Data", deserialize_with = "empty")]
    pub(super) ip4: Vec<Pool>,
    #[serde(rename = "IPv6Data", deserialize_with = "empty")]
    pub(super) ip6: Vec<Pool>,
    #[serde(deserialize_with = "empty")]
    pub(super) interface: Interface,
    #[serde(deserialize_with = "empty")]
    options: Map<String, Value>,
}

/// Addresses of a network.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Pool {
    /// With its length, as in 10.0.0.1/24; the engine chooses one where the user does not.
    #[serde(deserialize_with = "empty")]
    pub(super) gateway: String,
}

/// A container's interface, as far as the engine knows it already.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Interface {
    /// With its length; of IPv6 alone there is none.
    #[serde(deserialize_with = "empty")]
    pub(super) address: String,
    #[serde(deserialize_with = "empty")]
    pub(super) mac_address: String,
}

impl Asked {
    /// Reads what was said.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(body)
            .map_err(|error| format!("not a request of libnetwork: {error}"))
    }

    /// The user's options of the driver.
    pub(super) fn generic(&self) -> Result<BTreeMap<String, String>, String> {
        let Some(Value::Object(options)) = self.options.get(GENERIC) else {
            return Ok(BTreeMap::new());
        };
        let text = |(name, value): (&String, &Value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            other => Err(format!("option {name} is {other}, not a text")),
        };
        options.iter().map(text).collect()
    }

    /// The first of the ports that are to be published, as the engine says it.
    pub(super) fn published(&self) -> Option<String> {
        let first = self.options.get(PORT_MAP)?.as_array()?.first()?;
        let port = |name: &str| first.get(name).and_then(Value::as_u64);
        Some(match (port("HostPort"), port("Port")) {
            (Some(host), Some(own)) => format!("{host}:{own}"),
            _ => first.to_string(),
        })
    }
}
