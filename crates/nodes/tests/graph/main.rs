//! The whole graph, assembled as the daemon assembles it, over ports in memory.

#![allow(clippy::unwrap_used, clippy::panic)]

mod answers;
mod answers6;
mod arp;
mod bonds;
mod bridging;
mod drops;
mod drops6;
mod drops_flow;
mod drops_groups;
mod drops_lisp;
mod drops_nat;
mod drops_own;
mod drops_policy;
mod drops_reflect;
mod drops_spanning;
mod drops_tunnels;
mod errors;
mod forwarding;
mod ip6;
mod local;
mod mirrors;
mod nat64;
mod open_vswitch;
mod pieces;
mod property;
mod reflect;
mod rfc2889;
mod rig;
mod shaped_parents;
mod shaping;
mod steady;
mod tunnels;
mod vlans;
mod vrfs;
