//! The running router: what stands between the configuration and the data plane.
//!
//! ```text
//!  control ── apply, show, trace ──▶ Router (implements control's Engine; the control thread's)
//!    steps          one change of the configuration at a time, each with its inverse
//!    bridging       bridges, fixed stations, ageing
//!    devices        DPDK or plain memory: pools and open ports
//!    interfaces     a port's row in the data plane's table, its addresses, its link
//!    bulk           many routes at once, as a routing protocol brings them
//!    connected      the routes that a port's addresses make
//!    routing        the RIB and what of it stands in the forwarding table, for both families
//!    vrfs           which there are, and who is in them
//!    neighborhood   ARP and ND: who is behind which MAC, and packets that wait to know
//!    ip6, dad       IPv6 addresses are tried before they are used
//!    advertiser     when routers are advertised; router_advertisement: what is said then
//!    observing      traces and captures on their way from the workers
//!    fpm            FRR's routes
//!    twins          the kernel's interfaces beside ours
//!    policing       policers, as workers have them
//!    show           answers to every "show"
//! ```

/// What goes wrong is an event: this thread must not wait for a reader of stderr.
macro_rules! eprintln {
    ($($told:tt)*) => {
        tracing::warn!("{}", format!($($told)*).trim_start_matches("volleyd: "))
    };
}

mod access;
mod advertiser;
mod binding;
mod bridging;
mod bulk;
mod connected;
mod dad;
mod devices;
mod fpm;
mod interfaces;
mod ip6;
mod listening;
mod memory_port;
mod mirroring;
mod neighborhood;
mod observing;
mod policing;
mod reassembling;
mod redirecting;
mod remotes;
mod router;
mod router_advertisement;
mod routing;
mod shaping;
mod show;
mod standing;
mod steps;
mod twins;
mod virtual_ports;
mod vrfs;

pub use router::{Router, StartError};
