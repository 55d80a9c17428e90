//! From a good configuration to a router that runs, until a signal ends it.

use crate::{reload, supervisor};
use control::api::{Tls, UnixSocket, Web, page, router};
use control::config::{Config, Host};
use control::control_loop::{Control, Handle, TICK, channel};
use control::engine::Engine;
use control::transaction::Moment;
use control::view::{All, Answer, Version};
use rights::filter::Of;
use router::{Left, Router};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

/// Threads that read requests and write answers.
const API_THREADS: usize = 2;
/// How long answers on their way have in the end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Runs the router until SIGTERM or SIGINT; SIGHUP reads the file again.
pub(crate) fn serve(
    config: Config,
    file: PathBuf,
    socket: UnixSocket,
    web_socket: Option<UnixSocket>,
) -> Result<(), Box<dyn Error>> {
    let mut runtime = Builder::new_current_thread();
    let filtered = router::calls(&config);
    // Read while workers and memory are made.
    let left = config.state.folder_beside(socket.path());
    let left = left.map(|folder| Left::begin(folder, config.state.keep)).transpose()?;
    let runtime = runtime.thread_name(events::REQUEST).enable_all().build()?;
    // Of requests the control thread has nothing but the jobs: reading and writing is for others.
    let mut api = Builder::new_multi_thread();
    let api = api.worker_threads(API_THREADS).thread_name(events::REQUEST).enable_all().build()?;
    let served = runtime.block_on(async {
        let (handle, jobs) = channel();
        // From now on it does not end us.
        let hangup = signal(SignalKind::hangup())?;
        let due = Arc::new(Notify::new());
        let mut engine = start(&config, &due, left)?;
        let version = Answer::<Version>::answer(&mut engine, &All)?.whole();
        say_what_runs(&version, &config, socket.path());
        api.spawn(socket.serve(router(handle.clone())));
        tokio::spawn(tick_when_due(due, handle.clone()));
        if let Some(tcp) = &config.api.tcp {
            let listen = tcp.clone();
            let tls = api.spawn(async move { Tls::bind(&listen).await }).await??;
            tracing::info!(address = %tcp.listen, "listening with TLS");
            api.spawn(tls.serve(router(handle.clone())));
        }
        if let Some(socket) = web_socket {
            tracing::info!(socket = %socket.path().display(), "the page listens");
            api.spawn(socket.serve(page(handle.clone())));
        }
        if let Some(address) = config.web.listen {
            let web = api.spawn(Web::bind(address)).await??;
            tracing::info!(url = format!("http://{}/", web.address()?), "the page listens");
            api.spawn(web.serve(page(handle.clone())));
        }
        tokio::spawn(reload::reload_at(hangup, handle.clone(), file.clone()));
        tokio::spawn(supervisor::stay_alive(handle));
        let mut control = Control::new(Box::new(engine), config, Host::this(), Some(file));
        let (mut terminated, mut interrupted) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        take_only_usual_calls(&filtered)?;
        supervisor::ready();
        let why = tokio::select! {
            () = control.run(jobs) => "nobody can ask any more",
            _ = terminated.recv() => "SIGTERM",
            _ = interrupted.recv() => "SIGINT",
        };
        supervisor::stopping();
        Ok::<_, Box<dyn Error>>((why, control.transaction.unsaved()))
    });
    // Nobody says anything behind us.
    api.shutdown_timeout(LAST_WORDS);
    let (why, unsaved) = served?;
    tracing::info!(why, unsaved, "shutting down");
    Ok(())
}

/// Starts the router, applies the whole configuration to it, and has it take over what one before
/// it left.
fn start(
    config: &Config,
    due: &Arc<Notify>,
    left: Option<JoinHandle<Left>>,
) -> Result<Router, Box<dyn Error>> {
    let due = Arc::clone(due);
    let mut router = Router::start(config, Arc::new(move || due.notify_one()))?;
    if let Some(left) = left {
        router.keep_state(left.join().map_err(|_| "the thread that reads state panicked")?);
    }
    let empty = Config::default();
    router.apply(&empty, config, &Config::diff(&empty, config))?;
    router.take_over();
    Ok(router)
}

/// All threads are there that drivers make: from now on calls are refused that no router makes.
fn take_only_usual_calls(calls: &Option<Vec<i64>>) -> Result<(), Box<dyn Error>> {
    let Some(calls) = calls else { return Ok(()) };
    match rights::filter::take_only(Of::Process, calls) {
        Ok(()) => tracing::debug!(calls = calls.len(), "the kernel refuses all other calls"),
        // An old kernel, or a container that has filters of its own.
        Err(error) => tracing::warn!(fault = "no-filter", %error, "the kernel filters no calls"),
    }
    Ok(())
}

/// Has the router look at what its workers told it, without waiting for its next turn.
async fn tick_when_due(due: Arc<Notify>, handle: Handle) {
    let handle = handle.named(TICK);
    loop {
        due.notified().await;
        let tick = |control: &mut Control, now: Moment| {
            control.engine.tick(now.monotonic);
        };
        if handle.call(tick).await.is_err() {
            return;
        }
    }
}

fn say_what_runs(version: &Version, config: &Config, socket: &Path) {
    let (ports, routes) = (config.ports.len(), config.routes.len());
    tracing::info!(version = version.volley, ports, static_routes = routes, "started");
    for ability in &version.abilities {
        tracing::info!("{ability}");
    }
    tracing::info!(socket = %socket.display(), "listening");
}
