//! Serves the API over a router without workers: `fake_router SOCKET [CONFIGURATION]`.

use std::error::Error;
use std::path::{Path, PathBuf};

use control::api::{UnixSocket, router};
use control::config::{Config, Host, Source, parse};
use control::control_loop::{Control, channel};
use control::fake::FakeRouter;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let socket =
        PathBuf::from(arguments.next().ok_or("usage: fake_router SOCKET [CONFIGURATION]")?);
    let file = arguments.next().map(PathBuf::from);
    let config = file.as_deref().map_or_else(|| Ok(Config::default()), read)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (handle, jobs) = channel();
        let listener = UnixSocket::bind(&socket, &config.api)?;
        tokio::spawn(listener.serve(router(handle)));
        let engine = Box::new(FakeRouter::new(&config));
        Control::new(engine, config, Host::this(), file).run(jobs).await;
        Ok(())
    })
}

fn read(path: &Path) -> Result<Config, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    Ok(parse(&Source::new(path.display().to_string(), text), &Host::this())?)
}
