//! The running router: what stands between the configuration and the data plane.
//!
//! ```text
//!  control ── apply, show, trace ──▶ Router (implements control's Engine; the control thread's)
//!    steps          one change of the configuration at a time, each with its inverse
//!    bridging       bridges, fixed stations, ageing
//!    devices        DPDK or plain memory: pools and open ports
//!    interfaces     a port's row in the data plane's table, its addresses, its link
//!    bulk           many routes at once, as a routing protocol brings them
//!    routing        the RIB and what of it stands in the forwarding table
//!    neighborhood   ARP: who is behind which MAC, and packets that wait to know
//!    observing      traces and captures on their way from the workers
//!    show           answers to every "show"
//! ```

mod bridging;
mod bulk;
mod devices;
mod interfaces;
mod memory_port;
mod neighborhood;
mod observing;
mod router;
mod routing;
mod shaping;
mod show;
mod steps;

pub use router::{Router, StartError};
