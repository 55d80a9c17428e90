//! `volley capture live`: packets as they come, for Wireshark: what is dropped and why, or what
//! takes a node's exits.
//!
//! ```text
//!  what was dropped: why-dropped, again and again ─┐
//!  at a node: capture start, then take ────────────┴─▶ pcapng, a comment on each ─▶ a pipe, a file
//! ```

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use clap::{Args, ValueHint};
use control::view::{
    Capture, CaptureRequest, CaptureStart, CaptureStop, CaptureTake, Fields, Nothing, Taken, View,
    WhyDropped,
};

use crate::client::{Client, typed};
use crate::error::CliError;
use crate::output::for_programs;
use crate::pcapng::{Pcapng, Said};
use crate::session::Session;

/// Between two questions.
const PERIOD: Duration = Duration::from_millis(50);
/// Packets that the router keeps between two of them: as many as may wait there.
const MOST: u32 = 4_096;
/// What has come from no port.
const OWN: &str = "router";

/// What is captured.
#[derive(Clone, Debug, Args)]
pub(crate) struct Live {
    /// At this node, as in `show nodes`; what is dropped, if none is named
    #[arg(long)]
    pub(crate) node: Option<String>,
    /// At this exit of the node; without one, all of them
    #[arg(long, requires = "node")]
    pub(crate) exit: Option<String>,
    /// Only what came in by this port
    #[arg(long)]
    pub(crate) port: Option<String>,
    /// Bytes kept of each packet at a node
    #[arg(long, value_name = "BYTES", requires = "node")]
    pub(crate) snap: Option<u32>,
    /// So many packets, and no more; until interrupted when left out
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// The file, or a pipe; `-` for standard output
    #[arg(long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) write: PathBuf,
}

/// Captures until whoever reads has enough.
pub(crate) fn run(session: &Session, args: &Live) -> Result<(), CliError> {
    match &args.node {
        Some(node) => at_node(&session.client, node, args),
        None => dropped(&session.client, args),
    }
}

/// What is written to: who finds something there may believe that the capture goes on.
fn begun(args: &Live) -> Result<Pcapng<Box<dyn Write>>, CliError> {
    let out: Box<dyn Write> = match args.write.as_path() {
        path if path == Path::new("-") => {
            for_programs()?;
            Box::new(io::stdout().lock())
        }
        path => {
            let file = std::fs::File::create(path);
            Box::new(file.map_err(|error| CliError::File { path: path.to_owned(), error })?)
        }
    };
    let mut out = Pcapng::new(out)?;
    out.flush()?;
    Ok(out)
}

fn octets(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks_exact(2);
    let octet = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok();
    digits.map_while(octet).collect()
}

/// Whether a packet is wanted, and how many more are then.
fn counted(left: &mut Option<u64>) -> bool {
    match left {
        Some(0) => false,
        Some(more) => {
            *more -= 1;
            true
        }
        None => true,
    }
}

fn at_node(client: &Client, node: &str, args: &Live) -> Result<(), CliError> {
    let (exit, snap_bytes) = (args.exit.clone(), args.snap);
    let request = CaptureRequest { node: node.to_owned(), exit, count: MOST, snap_bytes };
    client.make::<CaptureStart>(Fields(request.clone()))?;
    let mut out = begun(args)?;
    let exit = args.exit.as_deref().map(|exit| format!(", exit {exit}")).unwrap_or_default();
    let comment = format!("node {node}{exit}");
    let mut left = args.count;
    let outcome = loop {
        let taken: Taken = typed(client.make::<CaptureTake>(Nothing)?)?;
        for packet in &taken.packets {
            let port = packet.port.as_deref().unwrap_or(OWN);
            if args.port.as_deref().is_some_and(|wanted| wanted != port) || !counted(&mut left) {
                continue;
            }
            let bytes = octets(&packet.hex);
            let (unix_ns, length) = (packet.unix_ns, packet.bytes);
            let comment = format!("from {port}, {comment}");
            out.packet(Said { port, unix_ns, length, bytes: &bytes, comment: &comment })?;
        }
        if let Err(error) = out.flush() {
            break Err(error.into());
        }
        if left == Some(0) {
            break Ok(());
        }
        if !taken.running {
            let now: Capture = typed(client.get(Capture::PATH)?)?;
            if now.running || now.node != request.node || now.exit != request.exit {
                let text = "somebody else began a capture: there is one at a time".to_owned();
                break Err(CliError::Refused { detail: text, json: None });
            }
            // More came than is kept between two questions: what came since is lost to us.
            client.make::<CaptureStart>(Fields(request.clone()))?;
        }
        sleep(PERIOD);
    };
    client.make::<CaptureStop>(Nothing)?;
    outcome
}

fn dropped(client: &Client, args: &Live) -> Result<(), CliError> {
    let (mut told, mut left) = (HashSet::new(), args.count);
    // What was dropped before is told by nobody.
    let mut out: Option<Pcapng<Box<dyn Write>>> = None;
    while left != Some(0) {
        let all: Vec<WhyDropped> = typed(client.get(WhyDropped::PATH)?)?;
        let mut now = HashSet::new();
        for reason in &all {
            for packet in reason.last.iter().rev() {
                let port = packet.port.as_deref().unwrap_or(OWN);
                let key = |ms| {
                    let (node, why, hex) = (&reason.node, &reason.reason, &packet.hex);
                    (node.clone(), why.clone(), packet.worker, hex.clone(), ms)
                };
                // A millisecond more or less is the clock's, between two answers.
                let mut about = packet.unix_ms.saturating_sub(1)..=packet.unix_ms + 1;
                let is_new = !about.any(|ms| told.contains(&key(ms)));
                now.insert(key(packet.unix_ms));
                let is_wanted = args.port.as_deref().is_none_or(|wanted| wanted == port);
                let Some(out) = out.as_mut().filter(|_| is_new && is_wanted) else { continue };
                if !counted(&mut left) {
                    continue;
                }
                let to = packet.to.as_deref().map(|to| format!(" to {to}")).unwrap_or_default();
                let comment = format!(
                    "dropped by {}: {}, from {port}{to}. {} {}",
                    reason.node, reason.reason, reason.meaning, reason.help
                );
                let (unix_ns, bytes) = (packet.unix_ms * 1_000_000, octets(&packet.hex));
                let (length, comment) = (packet.bytes, &comment[..]);
                out.packet(Said { port, unix_ns, length, bytes: &bytes, comment })?;
            }
        }
        told = now;
        match &mut out {
            Some(out) => out.flush()?,
            None => out = Some(begun(args)?),
        }
        if left != Some(0) {
            sleep(PERIOD);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_read_as_far_as_they_are_some() {
        assert_eq!(octets("00ff1"), [0, 255]);
        assert!(octets("0g11").is_empty());
    }

    #[test]
    fn as_many_packets_are_wanted_as_were_asked_for() {
        let mut left = Some(2);
        assert_eq!([(); 3].map(|()| counted(&mut left)), [true, true, false]);
        assert!(counted(&mut None));
    }
}
