//! Ends in containers of a Docker engine: the host's programs and kernel, in control groups,
//! namespaces and a root of their own.
//!
//! ```text
//! ip, ethtool, tc        in the container's network namespace, by the lab: it may nothing itself
//! iperf3, volley-lab     docker exec
//! ```

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lab_record::axes::Endpoint;

use super::engine::Engine;
use super::network::Network;
use super::site::{Plan, Site};
use crate::Error;
use crate::place::{Inside, Place, Process, child};

/// No two ends of a lab are called the same.
static NEXT: AtomicU32 = AtomicU32::new(0);

pub(super) struct Container;

/// One that runs; it goes with this, then its network if nobody else is on it, then the engine.
pub(super) struct Running {
    name: String,
    pid: u32,
    network: Option<Arc<Network>>,
    engine: Arc<Engine>,
}

impl Site for Container {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Container
    }

    fn refusal(&self) -> Option<String> {
        Engine::refusal().map(str::to_owned)
    }

    fn place(&self, plan: &Plan<'_>) -> Result<Place, Error> {
        let none = ["--network", "none"].map(str::to_owned);
        Running::start(Engine::shared()?, None, &none)?.place(plan.folder, plan.cores)
    }
}

impl Running {
    /// Starts one, on a network as these words have it.
    pub(super) fn start(
        engine: Arc<Engine>,
        network: Option<Arc<Network>>,
        words: &[String],
    ) -> Result<Self, Error> {
        let name = format!("end{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let pid = engine.run(&name, words)?;
        Ok(Self { name, pid, network, engine })
    }

    /// What the engine says of its only network by a template of `docker inspect`.
    pub(super) fn of_network(&self, template: &str) -> Result<String, Error> {
        let template = format!("{{{{range .NetworkSettings.Networks}}}}{template}{{{{end}}}}");
        self.engine.says(&["inspect", "-f", &template, &self.name])
    }

    /// The place that it is.
    pub(super) fn place(self, folder: &Path, cores: &str) -> Result<Place, Error> {
        Place::within(folder, cores, Box::new(self))?.quiet()
    }
}

impl Inside for Running {
    fn pid(&self) -> u32 {
        self.pid
    }

    fn start(&self, cores: &str, line: &str, out: File) -> Result<Box<dyn Process>, Error> {
        let mut words = self.engine.client();
        words.extend(["exec", "-i", &self.name].map(str::to_owned));
        child(&words, cores, line, out)
    }

    fn description(&self) -> Option<String> {
        Some(match &self.network {
            Some(network) => format!("a container on {network}"),
            None => "a container with a wire that the lab laid".into(),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that the engine does not know any more has gone.
        let _ = self.engine.says(&["rm", "-f", &self.name]);
    }
}
