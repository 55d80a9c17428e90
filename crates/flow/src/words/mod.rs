//! Keys, and what is done to packets, in the words of Open vSwitch's tools, both ways.
//!
//! ```text
//!  "in_port=1,tcp,nw_dst=10.0.0.1" ─▶ read ─▶ Key ─▶ fields ─▶ the same
//!                                             Steps ─▶ actions ─▶ "set(eth(dst=…)),2"
//! ```

mod actions;
mod datapath;
mod fields;
mod flags;
mod read;
mod walk;

pub use actions::{Normals, actions};
pub use datapath::datapath_key;
pub use fields::{fields, flow};
pub use flags::{read_ct_state, state_words};
pub use read::read_flow;
pub use walk::{Normal, walk};

use openflow::{PortNumber, port};
use std::collections::BTreeMap;

/// What ports are called; those that are not named are told by their numbers.
pub type Names = BTreeMap<PortNumber, String>;

/// A port as matches have it.
fn port_word(number: PortNumber, names: &Names) -> String {
    match (names.get(&number), number) {
        (Some(name), _) => name.clone(),
        (_, port::LOCAL) => "LOCAL".to_owned(),
        (_, port::NONE) => "ANY".to_owned(),
        (_, number) => number.to_string(),
    }
}

/// A MAC address.
fn mac(value: u128) -> String {
    let octets = (value as u64).to_be_bytes().map(|octet| format!("{octet:02x}"));
    octets[2..].join(":")
}

/// A value in hexadecimal as C writes it: 0 has no sign of it.
fn hex(value: u128) -> String {
    if value == 0 { "0".to_owned() } else { format!("0x{value:x}") }
}
