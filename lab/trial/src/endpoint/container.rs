//! Ends in containers of a Docker engine: the host's programs and kernel, in control groups,
//! namespaces and a root of their own.
//!
//! ```text
//! ip, ethtool, tc        in the container's network namespace, by the lab: it may nothing itself
//! iperf3, volley-lab     docker exec
//! ```

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lab_record::axes::Endpoint;

use super::engine::Engine;
use super::site::Site;
use crate::Error;
use crate::place::{Inside, Place};

/// No two ends of a lab are called the same.
static NEXT: AtomicU32 = AtomicU32::new(0);

pub(super) struct Container;

/// One that runs; it goes with this.
struct Running {
    engine: Arc<Engine>,
    name: String,
    pid: u32,
}

impl Site for Container {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Container
    }

    fn refusal(&self) -> Option<&'static str> {
        Engine::refusal()
    }

    fn place(&self, folder: &Path, cores: &str) -> Result<Place, Error> {
        let engine = Engine::shared()?;
        let name = format!("end{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let pid = engine.run(&name)?;
        Place::within(folder, cores, Box::new(Running { engine, name, pid }))
    }
}

impl Inside for Running {
    fn pid(&self) -> u32 {
        self.pid
    }

    fn starts_by(&self) -> Vec<String> {
        let mut words = self.engine.client();
        words.extend(["exec", "-i", &self.name].map(str::to_owned));
        words
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that the engine does not know any more has gone.
        let _ = self.engine.says(&["rm", "-f", &self.name]);
    }
}
