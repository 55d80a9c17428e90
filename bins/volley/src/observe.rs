//! `volley trace` and `volley capture`.

use std::fs;
use std::path::Path;

use control::view::{
    self, Capture, CapturePcap, CaptureStart, CaptureStop, Fields, Nothing, Style, TraceStart,
    TraceStop, View,
};

use crate::cli::{CaptureVerb, TraceVerb};
use crate::error::CliError;
use crate::live;
use crate::session::Session;

/// Runs one verb of `trace`.
pub(crate) fn trace(session: &Session, verb: TraceVerb) -> Result<(), CliError> {
    match verb {
        TraceVerb::Start { port, count } => {
            let from = port.as_ref().map(|port| format!(" from {port}")).unwrap_or_default();
            let request = view::TraceRequest { port, count };
            session.make::<TraceStart>(Fields(request), |_, _| {
                format!("tracing {count} packets{from}\n")
            })
        }
        TraceVerb::Stop => session.make::<TraceStop>(Nothing, |trace, _| {
            format!("{} packets traced\n", trace.packets.len())
        }),
    }
}

/// Runs one verb of `capture`.
pub(crate) fn capture(session: &Session, verb: CaptureVerb) -> Result<(), CliError> {
    let (client, output) = (&session.client, session.output);
    match verb {
        CaptureVerb::Start { node, exit, count, snap } => {
            let request = view::CaptureRequest { node, exit, count, snap_bytes: snap };
            session.make::<CaptureStart>(Fields(request), standing)
        }
        CaptureVerb::Live(args) => live::run(session, &args),
        CaptureVerb::Stop => session.make::<CaptureStop>(Nothing, standing),
        CaptureVerb::Save { file } => {
            let pcap = client.make_bytes::<CapturePcap>(Nothing)?;
            if file == Path::new("-") {
                return output.bytes(&pcap);
            }
            fs::write(&file, &pcap)
                .map_err(|error| CliError::File { path: file.clone(), error })?;
            output.text(&format!("{} bytes are in {}\n", pcap.len(), file.display()))
        }
    }
}

fn standing(capture: Capture, style: Style) -> String {
    Capture::text(&capture, style)
}
