//! Where packets come into the graph and leave it: queues of ports, the control thread, the
//! scheduler of a shaped port, and the end of those that are dropped.
//!
//! ```text
//!  receive queues ─▶ port_rx ─▶ …          … ─▶ shape ─▶ port_tx ─▶ transmit queues
//!  control thread ─▶ inject ──▶ …          … ─▶ drop
//! ```

mod classify;

pub use classify::{Classifier, ForwardedIn, mark_congestion};

pub use port_rx::RxMode;
pub use shape::Shaped;

nodes! {
    port_rx::PortRx,
    inject::Inject,
    shape::Shape,
    port_tx::PortTx,
    drop::Drop,
}
