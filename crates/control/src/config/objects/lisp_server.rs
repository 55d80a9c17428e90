//! `[[lisp_server]]`: map servers that hear of our own networks.

use std::fmt;
use std::net::IpAddr;

use super::lisp_check::check_host;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::key::{Key, field_key};
use crate::config::listed::Listed;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

word_field! {
    /// How messages between a site and its map server are proved.
    Algorithm {
        /// HMAC-SHA-1-96.
        Sha1 = "sha1",
        /// HMAC-SHA-256-128.
        Sha256 = "sha256",
    }
}

/// Longest key, in bytes.
const MOST_KEY_BYTES: usize = 128;

/// Complains about a key that is too long.
pub(super) fn check_key(field: &str, key: &str, report: &mut Report) {
    if key.len() > MOST_KEY_BYTES {
        let problem = Problem::new(field, format!("a key of {} bytes", key.len()));
        report.push(problem.expected(format!("at most {MOST_KEY_BYTES} bytes")));
    }
}

object! {
    /// Which map server
    #[derive(PartialOrd, Ord)]
    pub struct ServerKey {
        /// Its address
        pub address: IpAddr as "192.0.2.53",
    }
}
field_key!(ServerKey, 1, |key| key.address.to_string());

impl fmt::Display for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

object! {
    /// A map server that hears of our own networks, each minute
    pub struct MapServer {
        /// The key that it knows our site by
        pub key: String as "secret",
        /// How the key proves messages
        pub algorithm: Algorithm as "sha256" = Algorithm::Sha256,
        /// Whether it is to answer for us
        pub proxy_reply: bool = false,
    }
}

impl Row for MapServer {
    const KIND: &'static str = "lisp_server";
    const CALLED: &'static str = "map server";
}

/// Map servers.
pub type LispServers = Table<ServerKey, MapServer>;

impl Listed for MapServer {
    type Key = ServerKey;

    const IS_REPLACED: bool = true;
}

impl Object for LispServers {
    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        for (key, server) in self.iter() {
            let field = key.path(MapServer::KIND);
            check_host(&format!("{field}.address"), key.address, report);
            check_key(&format!("{field}.key"), &server.key, report);
        }
    }
}
