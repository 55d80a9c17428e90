//! `[api]`: where the router listens for commands: a Unix socket, and TCP if asked for.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Config, Object};
use crate::config::change::Replaced;
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::Row;
use crate::config::write::{Fields, Writer};

/// Where the router listens, and where the CLI looks first.
pub const DEFAULT_SOCKET: &str = "/run/volley/api.sock";

/// The kernel's `sun_path` holds 108 bytes with the closing zero.
const MAX_SOCKET_PATH_BYTES: usize = 107;

/// Listener on TCP: never without TLS, never without a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Address and port.
    pub listen: SocketAddr,
    /// Certificate chain, PEM.
    pub tls_certificate: PathBuf,
    /// Private key, PEM.
    pub tls_key: PathBuf,
    /// File whose first line every request must bear.
    pub token_file: PathBuf,
}

/// Where the router listens for commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Api {
    /// Unix socket, mode 0660.
    pub socket: PathBuf,
    /// Group that may use the socket.
    pub group: Option<String>,
    /// TCP listener.
    pub tcp: Option<Tcp>,
}

impl Default for Api {
    fn default() -> Self {
        Self { socket: PathBuf::from(DEFAULT_SOCKET), group: None, tcp: None }
    }
}

impl Row for Api {
    const KIND: &'static str = "api";

    fn fields(&self) -> Fields {
        let fields = Fields::new()
            .unless("socket", &self.socket, &PathBuf::from(DEFAULT_SOCKET))
            .maybe("group", &self.group);
        match &self.tcp {
            Some(tcp) => fields
                .with("tcp", &tcp.listen)
                .with("tls_certificate", &tcp.tls_certificate)
                .with("tls_key", &tcp.tls_key)
                .with("token_file", &tcp.token_file),
            None => fields,
        }
    }
}

impl Object for Api {
    type Change = Replaced<Self>;

    const NEEDS_RESTART: bool = true;

    fn read(root: &mut TableReader<'_>) -> Self {
        root.table("api", |table| {
            let socket = table.or("socket", PathBuf::from(DEFAULT_SOCKET));
            let group = table.optional("group");
            let listen = table.optional::<SocketAddr>("tcp");
            let wants = |table: &mut TableReader<'_>, key| match listen {
                Some(_) => table.required::<PathBuf>(key),
                None => {
                    if table.has(key) && !table.has("tcp") {
                        let problem =
                            Problem::new(table.field(key), format!("`{key}` without `tcp`"))
                                .expected("tcp = \"ADDRESS:PORT\" beside it");
                        table.report().push(problem);
                    }
                    table.optional(key)
                }
            };
            let certificate = wants(table, "tls_certificate");
            let key = wants(table, "tls_key");
            let token_file = wants(table, "token_file");
            let tcp = match (listen, certificate, key, token_file) {
                (Some(listen), Some(tls_certificate), Some(tls_key), Some(token_file)) => {
                    Some(Tcp { listen, tls_certificate, tls_key, token_file })
                }
                _ => None,
            };
            Self { socket, group, tcp }
        })
        .unwrap_or_default()
    }

    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        check_socket("api.socket", &self.socket, report);
    }

    fn write(&self, writer: &mut Writer) {
        writer.section_unless_default("[api]", &self.fields());
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Replaced::between(old, new)
    }
}

/// A path that a Unix socket can have, wherever the router is started from.
pub(crate) fn check_socket(field: &str, path: &Path, report: &mut Report) {
    let bytes = path.as_os_str().len();
    if !path.is_absolute() {
        let message = format!("`{}` depends on where the router is started", path.display());
        report
            .push(Problem::new(field, message).expected("a path from the root, as in \"/run/…\""));
    } else if bytes > MAX_SOCKET_PATH_BYTES {
        report.push(
            Problem::new(field, format!("the path has {bytes} bytes")).expected(format!(
                "at most {MAX_SOCKET_PATH_BYTES}, the kernel's limit for sockets"
            )),
        );
    }
}
