//! HTTP over the router's Unix socket, or TLS, one connection a request.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use control::view::{Asked, ConfigEdit, EditText, Fields, Method, ProblemDetails, Verb};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::http::request;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::runtime::Runtime;

use crate::cli::Global;
use crate::error::CliError;
use crate::remote::{self, Remote, Stream};

/// Time for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of one router.
pub(crate) struct Client {
    /// Its address, where it is none of this machine's.
    socket: PathBuf,
    remote: Option<Remote>,
    runtime: Runtime,
    patience: Duration,
}

/// An answer, as what it must be.
pub(crate) fn typed<T: DeserializeOwned>(answer: Value) -> Result<T, CliError> {
    serde_json::from_value(answer)
        .map_err(|error| CliError::Broken(format!("not the answer expected: {error}")))
}

impl Client {
    /// A client of the router that listens at `socket`.
    pub(crate) fn new(socket: &Path) -> Result<Self, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { socket: socket.to_owned(), remote: None, runtime, patience: PATIENCE })
    }

    /// A client of the router that the command line names.
    pub(crate) fn of(global: &Global) -> Result<Self, CliError> {
        let client = Self::new(&global.socket)?;
        let address = global.socket.to_string_lossy();
        if !address.starts_with(remote::SCHEME) {
            return Ok(client);
        }
        let files = (global.token_file.as_ref(), global.certificate.as_ref());
        let (token, certificate) = remote::files(&address, files.0, files.1)?;
        Ok(Self { remote: Some(Remote::new(&address, &token, &certificate)?), ..client })
    }

    /// The same, with other patience.
    pub(crate) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Another client of the same router, with other patience.
    pub(crate) fn beside(&self, patience: Duration) -> Result<Self, CliError> {
        let client = Self::new(&self.socket)?.with_patience(patience);
        Ok(Self { remote: self.remote.clone(), ..client })
    }

    /// Where the router listens.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Asks for JSON.
    pub(crate) fn get(&self, path: &str) -> Result<Value, CliError> {
        json(&self.get_bytes(path)?)
    }

    /// What a path of the API answers, as that.
    pub(crate) fn view<T: DeserializeOwned>(&self, path: &str) -> Result<T, CliError> {
        self.get(path).and_then(typed)
    }

    /// Has the router run commands: all of them or none.
    pub(crate) fn edit(&self, commands: &[String]) -> Result<(), CliError> {
        let commands = commands.join("\n");
        let body = EditText { commands, file: None, confirm_within_s: None };
        self.make::<ConfigEdit>(Fields(body)).map(drop)
    }

    /// Asks for a text.
    pub(crate) fn get_text(&self, path: &str) -> Result<String, CliError> {
        let bytes = self.get_bytes(path)?;
        String::from_utf8(bytes.to_vec()).map_err(|error| CliError::Broken(error.to_string()))
    }

    fn get_bytes(&self, path: &str) -> Result<Bytes, CliError> {
        self.whole(asked_for(path)?)
    }

    /// Has something done.
    pub(crate) fn make<V: Verb>(&self, request: V::Request) -> Result<Value, CliError> {
        json(&self.whole(asked::<V>(request)?)?)
    }

    /// Has something told as it is.
    pub(crate) fn make_bytes<V: Verb>(&self, request: V::Request) -> Result<Bytes, CliError> {
        self.whole(asked::<V>(request)?)
    }

    /// Has something done or told line by line, which may never end.
    pub(crate) fn make_lines<V: Verb>(
        &self,
        request: V::Request,
        told: impl FnMut(&[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.runtime.block_on(self.lines(asked::<V>(request)?, told))
    }

    /// The same, until the user interrupts: then nothing more is told, and that is no error.
    pub(crate) fn make_lines_until_interrupted<V: Verb>(
        &self,
        request: V::Request,
        told: impl FnMut(&[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let request = asked::<V>(request)?;
        self.runtime.block_on(async {
            tokio::select! {
                outcome = self.lines(request, told) => outcome,
                interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
            }
        })
    }

    async fn lines(
        &self,
        request: Request<Full<Bytes>>,
        mut told: impl FnMut(&[u8]) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let (status, mut body) = self.in_time(self.begin(request)).await?;
        if !status.is_success() {
            let body = self.in_time(async { body.collect().await.map_err(broken) }).await?;
            return Err(refusal(status, &body.to_bytes()));
        }
        let mut line = Vec::new();
        while let Some(frame) = self.in_time(async { Ok(body.frame().await) }).await? {
            let data = frame.map_err(broken)?.into_data().unwrap_or_default();
            for byte in data {
                match byte {
                    b'\n' => told(&std::mem::take(&mut line))?,
                    byte => line.push(byte),
                }
            }
        }
        Ok(())
    }

    fn whole(&self, request: Request<Full<Bytes>>) -> Result<Bytes, CliError> {
        let (status, body) = self.runtime.block_on(self.in_time(async {
            let (status, body) = self.begin(request).await?;
            Ok((status, body.collect().await.map_err(broken)?.to_bytes()))
        }))?;
        if status.is_success() { Ok(body) } else { Err(refusal(status, &body)) }
    }

    async fn in_time<T>(
        &self,
        answer: impl Future<Output = Result<T, CliError>>,
    ) -> Result<T, CliError> {
        let late = |_| CliError::Broken(format!("nothing for {} s", self.patience.as_secs()));
        tokio::time::timeout(self.patience, answer).await.map_err(late)?
    }

    /// The answer's head, and the body as it comes.
    async fn begin(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(StatusCode, Incoming), CliError> {
        let unreachable =
            |error: io::Error| CliError::Unreachable { socket: self.socket.clone(), error };
        let stream: Box<dyn Stream> = match &self.remote {
            Some(remote) => {
                request.headers_mut().insert(header::AUTHORIZATION, remote.token().clone());
                remote.connect().await.map_err(unreachable)?
            }
            None => Box::new(UnixStream::connect(&self.socket).await.map_err(unreachable)?),
        };
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(broken)?;
        Ok((response.status(), response.into_body()))
    }
}

/// What asks for what is at a path.
fn asked_for(path: &str) -> Result<Request<Full<Bytes>>, CliError> {
    with_body(Request::get(path), Vec::new())
}

/// What has a verb done.
fn asked<V: Verb>(request: V::Request) -> Result<Request<Full<Bytes>>, CliError> {
    let path = format!("{}{}", V::PATH, request.query());
    let mut head = match V::METHOD {
        Method::Get => Request::get(path),
        Method::Post => Request::post(path),
    };
    if let Some(media) = V::Request::MEDIA {
        head = head.header(header::CONTENT_TYPE, media);
    }
    with_body(head, request.body().map_err(|error| CliError::Broken(error.to_string()))?)
}

fn with_body(head: request::Builder, body: Vec<u8>) -> Result<Request<Full<Bytes>>, CliError> {
    let request = head.header(header::HOST, "volley").body(Full::new(Bytes::from(body)));
    request.map_err(|error| CliError::Broken(error.to_string()))
}

fn broken(error: hyper::Error) -> CliError {
    CliError::Broken(error.to_string())
}

fn json(body: &[u8]) -> Result<Value, CliError> {
    serde_json::from_slice(body).map_err(|error| CliError::Broken(error.to_string()))
}

fn refusal(status: StatusCode, body: &[u8]) -> CliError {
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let details = json.clone().and_then(|json| serde_json::from_value::<ProblemDetails>(json).ok());
    let detail = details.map_or_else(|| status.to_string(), |details| details.detail);
    CliError::Refused { detail, json }
}
