//! Which networks and containers there are to be: written down before anybody is told that they
//! are, so that a crash loses nothing and leaves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::CliError;

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

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) networks: BTreeMap<String, Network>,
    pub(super) endpoints: BTreeMap<String, Endpoint>,
    /// Ports and bridges that were ours and may still be there.
    pub(super) doomed: BTreeSet<String>,
}

/// A state with its file.
#[derive(Debug)]
pub(super) struct Kept {
    path: Option<PathBuf>,
    state: State,
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

impl Kept {
    /// What the file has; nothing where there is none.
    pub(super) fn load(path: &Path) -> Result<Self, CliError> {
        let wrong = |error| CliError::File { path: path.to_owned(), error };
        let state = match fs::read(path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| wrong(error.into()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::default(),
            Err(error) => return Err(wrong(error)),
        };
        Ok(Self { path: Some(path.to_owned()), state })
    }

    /// What nobody writes down.
    #[cfg(test)]
    pub(super) fn nowhere() -> Self {
        Self { path: None, state: State::default() }
    }

    /// What there is to be.
    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Changes it: whole, in the file as well, or not at all.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut State)) -> Result<(), String> {
        let mut state = self.state.clone();
        change(&mut state);
        if state == self.state {
            return Ok(());
        }
        if let Some(path) = &self.path {
            write(path, &state).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        self.state = state;
        Ok(())
    }
}

fn write(path: &Path, state: &State) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    fs::write(&beside, serde_json::to_vec_pretty(state)?)?;
    fs::rename(&beside, path)
}
