//! Ctrl-C and termination, as a flag: what was measured is kept, what was started is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::Failure;

/// Whether somebody wants us to end.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. A second signal ends the process at once.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let listen = || {
                // In this order: the first signal finds the flag unset and only sets it.
                signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
                signal_hook::flag::register(signal, Arc::clone(&flag))
            };
            listen().map_err(lab_record::Error::file("signals"))?;
        }
        Ok(Self(flag))
    }

    /// Whether a signal came.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
