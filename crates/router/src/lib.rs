//! The running router: what stands between the configuration and the data plane.
//!
//! ```text
//!  control ── apply, show, trace ──▶ Router (implements control's Engine; the control thread's)
//!    parts          the features, one file each, in one list; part: what a feature is
//!    ports, rows    ports come and go and parts follow; what workers see of them
//!    core           what parts stand on, and below it:
//!      open_ports     ports by name and number; interfaces: one of them, its addresses, its link
//!      devices        DPDK or plain memory: pools and open ports
//!      world          whose they are, and whose clock: the machine's, or a simulation's
//!      routing        the RIB and what of it stands in the forwarding table, for both families
//!      neighborhood   ARP and ND: who is behind which MAC, and packets that wait to know
//!    bulk           many routes at once, as a routing protocol brings them
//!    show           answers to every "show"
//! ```

mod aside;
mod bulk;
mod capabilities;
mod cleared;
mod connected;
#[cfg(test)]
mod contributing;
mod core;
mod counters;
mod devices;
mod drawn;
mod flow_connections;
mod interfaces;
mod left;
mod memory_port;
mod neighborhood;
mod open_ports;
mod part;
mod parts;
mod port_files;
mod port_specs;
mod ports;
mod reflected;
mod router;
mod routing;
mod rows;
mod settings;
mod show;
mod standing;
mod turns;
mod voices;
mod vrf_numbers;
mod world;

pub use capabilities::{calls, capabilities};
pub use left::Left;
pub use router::{Router, StartError};
pub use world::{GivenDevice, GivenLink, GivenTime, Opener, World};
