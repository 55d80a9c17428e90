//! `volley trace` and `volley capture`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{ArgMatches, Command};
use control::view::{
    self, Capture, CapturePcap, CaptureStart, CaptureStop, Fields, Nothing, Style, TraceRequest,
    TraceStart, TraceStop, View,
};

use wire::pcap::{Reader, Record};

use crate::cli::{CaptureVerb, TraceVerb};
use crate::client::typed;
use crate::error::CliError;
use crate::live;
use crate::session::Session;
use crate::show;

/// Adds the verbs whose words are declared with what they tell the router.
pub(crate) fn add_verbs(grammar: Command) -> Command {
    let start = Command::new("start").about("Trace the next packets");
    let start = start.args(show::arguments(&view::flags_of::<TraceRequest>()));
    grammar.mut_subcommand("trace", |noun| noun.subcommand(start))
}

/// Which packets to trace, if that is what was typed.
pub(crate) struct Start(TraceRequest);

impl Start {
    /// See there.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Option<Self>, CliError> {
        let Some(("trace", below)) = matches.subcommand() else { return Ok(None) };
        let Some(("start", below)) = below.subcommand() else { return Ok(None) };
        show::fields(&view::flags_of::<TraceRequest>(), below).map(|request| Some(Self(request)))
    }

    /// Has the router trace them.
    pub(crate) fn run(self, session: &Session) -> Result<(), CliError> {
        let told = format!("tracing {} packets{}\n", self.0.count, self.0.said());
        session.make::<TraceStart>(Fields(self.0), |_, _| told)
    }
}

/// Runs one verb of `trace`.
pub(crate) fn trace(session: &Session, verb: TraceVerb) -> Result<(), CliError> {
    match verb {
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
            let packets = packets_in(&pcap);
            if packets == 0 {
                let state: Capture = typed(client.get(Capture::PATH)?)?;
                let _nobody_reads = io::stderr().write_all(nothing_in(&state).as_bytes());
            }
            if file == Path::new("-") {
                return output.binary(&pcap);
            }
            fs::write(&file, &pcap)
                .map_err(|error| CliError::File { path: file.clone(), error })?;
            let bytes = pcap.len();
            output.text(&format!("{packets} packets, {bytes} bytes are in {}\n", file.display()))
        }
    }
}

/// How many packets a capture file has.
fn packets_in(pcap: &[u8]) -> usize {
    let (Ok(mut reader), mut record) = (Reader::new(pcap), Record::default()) else { return 0 };
    std::iter::from_fn(|| reader.read(&mut record).ok().filter(|is_one| *is_one)).count()
}

/// Why a file has no packets. It is written all the same, as tcpdump does: programs take it.
fn nothing_in(state: &Capture) -> String {
    match &state.node[..] {
        "" => "nothing was captured: `volley capture start --node NODE` begins\n".to_owned(),
        _ => format!("nothing was captured: {}", Capture::text(state, Style::new(false))),
    }
}

fn standing(capture: Capture, style: Style) -> String {
    Capture::text(&capture, style)
}
