//! `volley trace` and `volley capture`.

use std::fs;
use std::path::Path;

use control::view;

use crate::cli::{CaptureVerb, TraceVerb};
use crate::error::CliError;
use crate::output::Style;
use crate::run::Session;

/// Runs one verb of `trace`.
pub(crate) fn trace(session: &Session, verb: TraceVerb) -> Result<(), CliError> {
    let (client, output) = (&session.client, session.output);
    match verb {
        TraceVerb::Start { port, count } => {
            let from = port.as_ref().map(|port| format!(" from {port}")).unwrap_or_default();
            let request = view::TraceRequest { port, count };
            output.answer(client.post_json("/v1/trace/start", &request)?, |_: view::Trace, _| {
                format!("tracing {count} packets{from}\n")
            })
        }
        TraceVerb::Show => output.answer(client.get("/v1/trace")?, walks),
        TraceVerb::Stop => output
            .answer(client.post("/v1/trace/stop")?, |trace: view::Trace, _| {
                format!("{} packets traced\n", trace.packets.len())
            }),
    }
}

fn walks(trace: view::Trace, style: Style) -> String {
    if trace.packets.is_empty() {
        let state = if trace.running { "waiting for packets" } else { "nothing was traced" };
        return format!("{state}\n");
    }
    let widest = |pick: fn(&view::TraceStep) -> &str| {
        let steps = trace.packets.iter().flat_map(|packet| &packet.steps);
        steps.map(|step| pick(step).chars().count()).max().unwrap_or(0)
    };
    let (node, exit) = (widest(|step| &step.node), widest(|step| &step.exit));
    let mut text = String::new();
    for packet in &trace.packets {
        let head = format!(
            "packet {}  from {}  {} bytes  worker {}  at {} us",
            packet.number, packet.port, packet.bytes, packet.worker, packet.time_us
        );
        text.push_str(&style.bold(&head));
        text.push('\n');
        for step in &packet.steps {
            let line = format!(
                "  {:node$}  {:exit$}  {:>7.1} cycles  {}",
                step.node, step.exit, step.cycles, step.detail
            );
            text.push_str(line.trim_end());
            if !step.hex.is_empty() {
                text.push_str("  ");
                text.push_str(&style.dim(&step.hex));
            }
            text.push('\n');
        }
    }
    text
}

/// Runs one verb of `capture`.
pub(crate) fn capture(session: &Session, verb: CaptureVerb) -> Result<(), CliError> {
    let (client, output) = (&session.client, session.output);
    match verb {
        CaptureVerb::Start { node, exit, count, snap } => {
            let request = view::CaptureRequest { node, exit, count, snap_bytes: snap };
            output.answer(client.post_json("/v1/capture/start", &request)?, standing)
        }
        CaptureVerb::Show => output.answer(client.get("/v1/capture")?, standing),
        CaptureVerb::Stop => output.answer(client.post("/v1/capture/stop")?, standing),
        CaptureVerb::Save { file } => {
            let pcap = client.get_bytes("/v1/capture/pcap")?;
            if file == Path::new("-") {
                return output.bytes(&pcap);
            }
            fs::write(&file, &pcap)
                .map_err(|error| CliError::File { path: file.clone(), error })?;
            output.text(&format!("{} bytes are in {}\n", pcap.len(), file.display()))
        }
    }
}

fn standing(capture: view::Capture, _: Style) -> String {
    if capture.node.is_empty() {
        return "no capture\n".to_owned();
    }
    let exit = capture.exit.map(|exit| format!(" {exit}")).unwrap_or_default();
    let state = if capture.running { "running" } else { "stopped" };
    format!("{}{exit}: {} of {} packets, {state}\n", capture.node, capture.captured, capture.count)
}
