//! HTTP on a Unix socket that the engine alone may use.

use std::convert::Infallible;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};

use super::driver::Driver;
use super::links::Links;
use super::router::Router;
use super::say;
use crate::error::CliError;

/// What libnetwork's plugins speak.
const MEDIA: &str = "application/vnd.docker.plugins.v1.1+json";
/// Largest request: a network with all of its options is a few thousand octets.
const MOST_BYTES: usize = 1 << 20;
/// How often the router is held to what there is to be.
const HOLD: Duration = Duration::from_secs(1);
/// Time for a request's header.
const HEADER_TIME: Duration = Duration::from_secs(30);

type Shared<R, L> = Arc<Mutex<Driver<R, L>>>;

/// Serves until it is interrupted.
pub(super) fn serve<R: Router, L: Links>(
    path: &Path,
    driver: Driver<R, L>,
) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // It has a runtime of its own, which must not end within this one: ours is the last hold on it.
    let driver = Arc::new(Mutex::new(driver));
    let served = runtime.block_on(async {
        let socket = Socket::bind(path).await?;
        say(&format!("listening at {}", path.display()));
        let mut ends = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        let [interrupt, terminate] = &mut ends;
        let (Ok(interrupt), Ok(terminate)) = (interrupt, terminate) else {
            return Err(std::io::Error::other("no signals").into());
        };
        tokio::select! {
            () = socket.accept(&driver) => {}
            () = hold(driver.clone()) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(())
    });
    drop(runtime);
    served
}

/// A socket whose file goes with it.
struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Whoever took it away has done what there was to do.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Socket {
    /// A dead plugin's socket is replaced, a live one's is not.
    async fn bind(path: &Path) -> Result<Self, CliError> {
        let wrong = |error| CliError::File { path: path.to_owned(), error };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(wrong)?;
        }
        match UnixStream::connect(path).await {
            Ok(_) => return Err(wrong(std::io::Error::other("a plugin answers there already"))),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(wrong)?;
            }
            Err(_) => {}
        }
        let listener = UnixListener::bind(path).map_err(wrong)?;
        let socket = Self { listener, path: path.to_owned() };
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(wrong)?;
        Ok(socket)
    }

    async fn accept<R: Router, L: Links>(&self, driver: &Shared<R, L>) {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(HOLD).await;
                continue;
            };
            let driver = driver.clone();
            tokio::spawn(async move {
                let service = service_fn(|request| answer(driver.clone(), request));
                let mut server = http1::Builder::new();
                let server = server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
                // Who hangs up has nobody left to be told.
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }
}

/// Holds the router to what there is to be, for ever.
async fn hold<R: Router, L: Links>(driver: Shared<R, L>) {
    loop {
        beside(driver.clone(), Driver::hold).await;
        tokio::time::sleep(HOLD).await;
    }
}

/// Does something that may wait, on a thread of its own.
async fn beside<R: Router, L: Links, T: Send + 'static>(
    driver: Shared<R, L>,
    what: impl FnOnce(&mut Driver<R, L>) -> T + Send + 'static,
) -> Option<T> {
    let locked = move || what(&mut driver.lock().unwrap_or_else(PoisonError::into_inner));
    tokio::task::spawn_blocking(locked).await.ok()
}

async fn answer<R: Router, L: Links>(
    driver: Shared<R, L>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    if request.method() != Method::POST {
        return Ok(told(StatusCode::METHOD_NOT_ALLOWED, &err("requests are POST")));
    }
    let body = match Limited::new(request.into_body(), MOST_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return Ok(told(StatusCode::BAD_REQUEST, &err(&error.to_string()))),
    };
    let done = beside(driver, move |driver| driver.handle(&path, &body)).await;
    Ok(match done.flatten() {
        None => told(StatusCode::NOT_FOUND, &err("there is no such method")),
        Some(Ok(value)) => told(StatusCode::OK, &value),
        // The engine shows its user what stands here.
        Some(Err(why)) => told(StatusCode::OK, &err(&why)),
    })
}

fn err(why: &str) -> Value {
    json!({ "Err": why })
}

fn told(status: StatusCode, value: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(value.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(MEDIA));
    response
}
