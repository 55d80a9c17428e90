//! How a program begins to tell.

use crate::{Format, Receiver, hub, panics};
use std::io;
use std::sync::Arc;

/// Takes all events of the program into [`hub`](crate::hub()), and begins to write them. Panics
/// become events, too, and one of another thread than the first ends the process.
pub fn install(format: Format) -> io::Result<()> {
    hub().start_writing(format.sink())?;
    tracing::subscriber::set_global_default(Receiver(Arc::clone(hub())))
        .map_err(io::Error::other)?;
    panics::tell_panics();
    Ok(())
}
