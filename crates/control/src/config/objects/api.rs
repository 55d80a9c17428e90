//! `[api]`: where the router listens for commands: a Unix socket, and TCP if asked for.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::info::Info;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;
use crate::config::value::Value;
use crate::config::write::Fields;

/// Where the router listens, and where the CLI looks first.
pub const DEFAULT_SOCKET: &str = "/run/volley/api.sock";

/// The kernel's `sun_path` holds 108 bytes with the closing zero.
pub const MAX_SOCKET_PATH_BYTES: usize = 107;

/// Listener on TCP: never without TLS, never without a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Address and port.
    pub listen: SocketAddr,
    /// Certificate chain, PEM.
    pub tls_certificate: PathBuf,
    /// Private key, PEM.
    pub tls_key: PathBuf,
    /// File whose first line a request bears that may change the router.
    pub token_file: PathBuf,
    /// The same of those that may only see.
    pub see_token_file: Option<PathBuf>,
    /// The same of those that may also have files opened.
    pub files_token_file: Option<PathBuf>,
}

object! {
    /// Where the router listens for commands
    pub struct Api {
        /// Unix socket, mode 0660; 0666 with several groups, who are told apart by their processes
        pub socket: PathBuf = PathBuf::from(DEFAULT_SOCKET),
        /// Group that may see and change everything, but have no files opened; root may do all
        pub group: Option<String> as "volley" = None,
        /// Group that may only see
        pub see_group: Option<String> as "volley-see" = None,
        /// Group that may see, change, and have files opened below `files.folders`
        pub files_group: Option<String> as "volley-files" = None,
        /// TCP listener
        pub tcp: Option<Tcp> = None,
    }
}

/// `tcp`, with all that it needs or not at all.
impl Value for Option<Tcp> {
    fn read(table: &mut TableReader<'_>, key: &'static str, _: bool) -> Option<Self> {
        let listen = table.optional(key);
        let mut with = |(name, ..): TcpFile, is_needed: bool| match listen {
            Some(_) if is_needed => table.required::<PathBuf>(name),
            Some(_) => table.optional(name),
            None => {
                if table.has(name) && !table.has(key) {
                    let problem =
                        Problem::new(table.field(name), format!("`{name}` without `tcp`"));
                    table.report().push(problem.expected("tcp = \"ADDRESS:PORT\" beside it"));
                }
                table.optional(name)
            }
        };
        let [tls_certificate, tls_key, token_file] = TCP_FILES.map(|file| with(file, true));
        let [see_token_file, files_token_file] = MORE_TOKENS.map(|file| with(file, false));
        Some(match (listen, tls_certificate, tls_key, token_file) {
            (Some(listen), Some(tls_certificate), Some(tls_key), Some(token_file)) => Some(Tcp {
                listen,
                tls_certificate,
                tls_key,
                token_file,
                see_token_file,
                files_token_file,
            }),
            _ => None,
        })
    }

    fn write(&self, key: &'static str, fields: Fields, _: Option<Self>) -> Fields {
        let Some(tcp) = self else { return fields };
        let files = [&tcp.tls_certificate, &tcp.tls_key, &tcp.token_file];
        let files = TCP_FILES.iter().zip(files);
        let fields = files.fold(fields.with(key, &tcp.listen), |fields, ((name, ..), file)| {
            fields.with(name, file)
        });
        let more = MORE_TOKENS.iter().zip([&tcp.see_token_file, &tcp.files_token_file]);
        more.fold(fields, |fields, ((name, ..), file)| fields.maybe(name, file))
    }

    fn describe(info: Info, out: &mut Vec<Info>) {
        let help =
            "TCP listener, with TLS and a token: the three below must be there, too".to_owned();
        Option::<SocketAddr>::describe(Info { help, example: "127.0.0.1:8443", ..info }, out);
        for (name, help, example) in TCP_FILES.into_iter().chain(MORE_TOKENS) {
            Option::<PathBuf>::describe(Info::new(name, &[help], example), out);
        }
    }

    /// None of them is opened for a change: they take a new start.
    fn paths(&self, _: &mut Vec<PathBuf>) {}
}

/// A file: name, help, example.
type TcpFile = (&'static str, &'static str, &'static str);

/// What a listener on TCP needs.
const TCP_FILES: [TcpFile; 3] = [
    ("tls_certificate", "Certificate chain, PEM", "/etc/volley/cert.pem"),
    ("tls_key", "Private key, PEM", "/etc/volley/key.pem"),
    ("token_file", "File whose first line requests bear that see and change", "/etc/volley/token"),
];
/// What it may have: tokens with other rights.
const MORE_TOKENS: [TcpFile; 2] = [
    ("see_token_file", "The same of requests that only see", "/etc/volley/see-token"),
    (
        "files_token_file",
        "The same of requests that also have files opened, below `files.folders`",
        "/etc/volley/files-token",
    ),
];

impl Row for Api {
    const KIND: &'static str = "api";
}

impl Section for Api {}

impl Object for Api {
    const NEEDS_RESTART: bool = true;

    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        check_socket("api.socket", &self.socket, report);
    }
}

/// A path that a Unix socket can have, wherever the router is started from.
pub(crate) fn check_socket(field: &str, path: &Path, report: &mut Report) {
    let bytes = path.as_os_str().len();
    if !path.is_absolute() {
        let message = format!("`{}` depends on where the router is started", path.display());
        report.push(Problem::new(field, message).expected("an absolute path, as in \"/run/…\""));
    } else if bytes > MAX_SOCKET_PATH_BYTES {
        report.push(
            Problem::new(field, format!("the path has {bytes} bytes")).expected(format!(
                "at most {MAX_SOCKET_PATH_BYTES}, the kernel's limit for sockets"
            )),
        );
    }
}
