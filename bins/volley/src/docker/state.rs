//! Which networks and containers there are to be: written down before anybody is told that they
//! are, so that a crash loses nothing and leaves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// Digits of an engine's id that names are made of: what there is room for, and as unlike as 48
/// bits.
const ID_DIGITS: usize = 12;

/// A network of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Network {
    /// The bridge that it is.
    pub(super) bridge: String,
    /// Whether the bridge is ours to make and to take away.
    pub(super) owned: bool,
    /// Longest packet, where the user said one.
    pub(super) mtu: Option<u16>,
    /// Addresses that the router has in it.
    pub(super) addresses: Vec<String>,
    /// Who leads out of it, told to containers; without their lengths.
    pub(super) gateways: [Option<String>; 2],
}

/// A container's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Endpoint {
    /// Its network's id.
    pub(super) network: String,
}

/// All of it, with its file.
pub(super) type Kept = crate::kept::Kept<State>;

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) networks: BTreeMap<String, Network>,
    pub(super) endpoints: BTreeMap<String, Endpoint>,
    /// Ports and bridges that were ours and may still be there.
    pub(super) doomed: BTreeSet<String>,
}

/// Part of a name, of an id; an error where it is none.
fn digits(id: &str) -> Result<&str, String> {
    let part = id.get(..ID_DIGITS).filter(|part| part.bytes().all(|it| it.is_ascii_hexdigit()));
    part.ok_or_else(|| format!("`{id}` is not an id: {ID_DIGITS} hexadecimal digits or more"))
}

/// The bridge that a network gets where the user names none.
pub(super) fn bridge_of(network: &str) -> Result<String, String> {
    Ok(format!("dk-{}", digits(network)?))
}

/// The router's own port in a network.
pub(super) fn gateway_of(network: &str) -> Result<String, String> {
    Ok(format!("dg-{}", digits(network)?))
}

/// The port of a container, and the kernel device that it is.
pub(super) fn port_of(endpoint: &str) -> Result<String, String> {
    Ok(format!("dk-{}", digits(endpoint)?))
}

/// The container's end of the pair, until the engine takes it.
pub(super) fn inner_of(endpoint: &str) -> Result<String, String> {
    Ok(format!("dc-{}", digits(endpoint)?))
}

/// A MAC address of a container's own: locally administered, of its IPv4 address, so that one that
/// is started anew is found where its neighbours remember it; without one, of its id.
pub(super) fn mac_of(endpoint: &str, address: &str) -> Result<String, String> {
    let digits = digits(endpoint)?;
    let bare = address.split('/').next().unwrap_or_default();
    let octets: Vec<String> = match bare.parse::<Ipv4Addr>() {
        Ok(address) => address.octets().map(|octet| format!("{octet:02x}")).into(),
        Err(_) => (0..4).map(|octet| digits[2 * octet..2 * octet + 2].to_owned()).collect(),
    };
    Ok(format!("02:76:{}", octets.join(":")))
}
