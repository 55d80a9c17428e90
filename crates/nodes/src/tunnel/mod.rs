//! Tunnels: VXLAN, GRE, LISP and IP in IP, put around packets and taken off; ERSPAN, put around
//! copies.
//!
//! ```text
//!  interface_output ─▶ tunnel_encap ─▶ ip4_lookup, ip6_lookup …
//!  udp4_local, ip4_local … ─▶ tunnel_decap ─▶ (the tunnel's interface)
//!
//!  interface_output ─▶ lisp_encap ─▶ …, lisp_resolve      udp4_local, udp6_local ─▶ lisp_decap, lisp_control
//! ```

mod ecn;
mod erspan;
mod headers;
mod inner;
mod lisp_off;
mod settling;
mod takes;
mod uniform;

pub(crate) use erspan::erspan_bytes;
pub use erspan::{CopyTold, Sequence};
pub use headers::TunnelHeaders;
pub(crate) use takes::{takes, takes_packet};

nodes! {
    tunnel_encap::TunnelEncap,
    tunnel_decap::TunnelDecap,
    tunnel_too_big::TunnelTooBig,
    lisp_encap::LispEncap,
    lisp_decap::LispDecap,
    lisp_resolve::LispResolve,
    lisp_control::LispControl,
}
