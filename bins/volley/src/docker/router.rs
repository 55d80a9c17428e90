//! The router, as the driver needs it.

use std::path::Path;
use std::time::Duration;

use control::view;

use super::plan::Running;
use crate::client::Client;
use crate::error::CliError;

/// The engine waits half a minute for its plugin.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the driver needs of the router.
pub(super) trait Router: Send + 'static {
    /// Its bridges and ports.
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
        let members = |bridge: view::Bridge| {
            (bridge.name, bridge.ports.into_iter().map(|port| port.port).collect())
        };
        Ok(Running {
            bridges: bridges.into_iter().map(members).collect(),
            ports: ports.into_iter().map(|port| port.name).collect(),
        })
    }

    fn edit(&self, commands: &[String]) -> Result<(), CliError> {
        self.0.edit(commands)
    }
}
