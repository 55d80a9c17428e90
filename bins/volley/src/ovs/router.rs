//! The router, as it is needed here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use control::view;

use crate::client::Client;
use crate::error::CliError;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the router has.
#[derive(Clone, Debug, Default)]
pub(super) struct Running {
    /// Bridges with their ports.
    pub(super) bridges: BTreeMap<String, BTreeSet<String>>,
    /// All ports.
    pub(super) ports: BTreeMap<String, view::Port>,
    /// Policers.
    pub(super) policers: BTreeSet<String>,
    /// Exporters.
    pub(super) exports: BTreeSet<String>,
    /// Mirrors.
    pub(super) mirrors: BTreeMap<String, view::Mirror>,
    /// Ports whose packets wait.
    pub(super) shaped: BTreeSet<String>,
    /// Spanning trees of bridges.
    pub(super) trees: Vec<view::SpanningTree>,
    /// Controllers of bridges.
    pub(super) controllers: Vec<view::Controller>,
}

/// What is needed of the router.
pub(super) trait Router {
    /// What it has.
    fn running(&self) -> Result<Running, CliError>;
    /// Has it run commands: all of them or none.
    fn edit(&self, commands: &[String]) -> Result<(), CliError>;
}

/// A router, by its API.
pub(super) struct Api(Client);

impl Api {
    /// The one that listens there, now or later.
    pub(super) fn new(socket: &Path) -> Result<Self, CliError> {
        Ok(Self(Client::new(socket)?.with_patience(PATIENCE)))
    }
}

impl Router for Api {
    fn running(&self) -> Result<Running, CliError> {
        let bridges: Vec<view::Bridge> = self.0.view("/v1/bridges")?;
        let ports: Vec<view::Port> = self.0.view("/v1/ports")?;
        let policers: Vec<view::Policer> = self.0.view("/v1/policers")?;
        let exports: Vec<view::Export> = self.0.view("/v1/exports")?;
        let mirrors: Vec<view::Mirror> = self.0.view("/v1/mirrors")?;
        let shaped: Vec<view::Qos> = self.0.view("/v1/qos")?;
        let members = |bridge: view::Bridge| {
            (bridge.name, bridge.ports.into_iter().map(|port| port.port).collect())
        };
        Ok(Running {
            bridges: bridges.into_iter().map(members).collect(),
            ports: ports.into_iter().map(|port| (port.name.clone(), port)).collect(),
            policers: policers.into_iter().map(|it| it.name).collect(),
            exports: exports.into_iter().map(|it| it.name).collect(),
            mirrors: mirrors.into_iter().map(|it| (it.name.clone(), it)).collect(),
            shaped: shaped.into_iter().map(|it| it.port).collect(),
            trees: self.0.view("/v1/spanning-tree")?,
            controllers: self.0.view("/v1/controllers")?,
        })
    }

    fn edit(&self, commands: &[String]) -> Result<(), CliError> {
        self.0.edit(commands)
    }
}
