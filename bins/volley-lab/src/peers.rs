//! `volley-lab peers`: which devices are here, which version of each, and how to get the others.

use clap::Args;
use lab_record::Error;
use lab_trial::dut::{self, ALL, Adapter};
use serde::Serialize;

use crate::Failure;
use crate::say::say;

/// One line a device. Nothing is started.
#[derive(Debug, Args)]
pub(crate) struct Peers {
    /// Builds to look at in place of what is installed, as in vpp=/opt/vpp
    #[arg(value_name = "NAME=FOLDER")]
    builds: Vec<String>,
    /// For programs
    #[arg(long)]
    json: bool,
}

/// A device as it is found.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Peer {
    /// Its name, as `--devices` takes it.
    name: String,
    /// Whether its programs are there.
    here: bool,
    /// Version as it says itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How to get it.
    get: &'static str,
    /// Whether it is measured unless others are named.
    usual: bool,
}

/// Looks for each and says what there is.
pub(crate) fn run(Peers { builds, json }: &Peers) -> Result<(), Failure> {
    let peers = all(builds)?;
    if *json {
        let told = serde_json::to_string_pretty(&peers);
        let broken = |error| Error::file("peers")(std::io::Error::other(error));
        say!("{}", told.map_err(broken)?);
        return Ok(());
    }
    let width = peers.iter().map(|peer| peer.name.chars().count()).max().unwrap_or(0);
    for peer in &peers {
        say!("{:<width$}  {}", peer.name, line(peer));
    }
    let missing = peers.iter().filter(|peer| !peer.here).count();
    say!("{} of {} are here", peers.len() - missing, peers.len());
    Ok(())
}

/// Every adapter's device; those of a build in a folder in place of what is installed.
fn all(builds: &[String]) -> Result<Vec<Peer>, Error> {
    for name in builds {
        dut::named(name)?;
    }
    let of = |adapter: &&'static Adapter| {
        let mine = |name: &&String| name.split('=').next() == Some(adapter.name);
        let mut named: Vec<String> = builds.iter().filter(mine).cloned().collect();
        if named.is_empty() {
            named.push(adapter.name.to_owned());
        }
        named.into_iter().map(|name| peer(name, adapter)).collect::<Vec<_>>()
    };
    ALL.iter().flat_map(of).collect()
}

fn peer(name: String, adapter: &Adapter) -> Result<Peer, Error> {
    let found = dut::named(&name)?.version();
    let (get, usual) = (adapter.get, adapter.usual);
    // A version may have several lines; a table has one.
    let one_line = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join(", ");
    Ok(match found {
        Ok(version) => {
            let version = Some(one_line(&version));
            Peer { name, here: true, version, reason: None, get, usual }
        }
        Err(error) => {
            let reason = match error {
                Error::Refused { reason, .. } => reason,
                other => other.to_string(),
            };
            let reason = Some(one_line(&reason));
            Peer { name, here: false, version: None, reason, get, usual }
        }
    })
}

/// What is said of one: its version, or what is missing and how to get it.
fn line(peer: &Peer) -> String {
    match (&peer.version, &peer.reason) {
        (Some(version), _) => format!("here: {version}"),
        (None, Some(reason)) => format!("not here: {reason}; to get it: {}", peer.get),
        (None, None) => format!("not here; to get it: {}", peer.get),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_adapter_has_a_line_and_says_how_its_device_is_got() {
        let peers = all(&[]).unwrap();
        assert_eq!(peers.len(), ALL.len());
        for peer in &peers {
            assert!(!peer.get.is_empty() && !peer.get.contains('\n'), "{}", peer.name);
            assert_eq!(peer.here, peer.version.is_some());
            assert!(!line(peer).contains('\n') && (peer.here || line(peer).contains(peer.get)));
        }
        // The kernel is always here.
        assert!(peers.iter().any(|peer| peer.name == "linux-router" && peer.here));
    }

    #[test]
    fn a_build_that_is_not_in_its_folder_is_not_here_and_its_folder_is_told() {
        let peers = all(&["vpp=/nonexistent/vpp".to_owned()]).unwrap();
        assert_eq!(peers.len(), ALL.len());
        let vpp = peers.iter().find(|peer| peer.name == "vpp=/nonexistent/vpp").unwrap();
        assert!(!vpp.here && line(vpp).contains("/nonexistent/vpp"), "{}", line(vpp));
        assert!(all(&["cisco=/opt".to_owned()]).unwrap_err().to_string().contains("cisco"));
        assert!(all(&["linux-router=/opt".to_owned()]).is_err());
    }
}
