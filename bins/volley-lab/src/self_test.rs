//! `volley-lab self-test [LINK…]`: what the lab itself can do, with no device in between.

use clap::Args;
use lab_traffic::clock::Clock;
use lab_traffic::ports::Ports;
use lab_traffic::speed::Speed;
use lab_trial::link::LinkKind;
use lab_trial::trial::self_test;

use crate::bench::Cores;
use crate::progress::Line;
use crate::say::say;
use crate::{Failure, bench};

/// What a packet costs the lab, what of this is for timing, and what it can do over each link.
#[derive(Debug, Args)]
pub(crate) struct SelfTest {
    /// Kinds of links; all that have two ends here, unless said
    #[arg(value_name = "LINK", value_parser = bench::links())]
    links: Vec<LinkKind>,
    /// Octets of a frame, with its checksum
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(64..=1_518))]
    frame_bytes: u16,
    #[command(flatten)]
    cores: Cores,
}

/// Measures each kind of link anew and prints it.
pub(crate) fn run(arguments: &SelfTest) -> Result<(), Failure> {
    let links = match &arguments.links[..] {
        [] => LinkKind::ALL.into_iter().filter(|link| link.has_two_ends()).collect(),
        told => told.to_vec(),
    };
    let frame_bytes = arguments.frame_bytes;
    bench::enter()?;
    bench::pin(&arguments.cores.lab());
    let (clock, ports) = (Clock::real(), Ports::start(frame_bytes, false)?);
    let speed = Speed::measure(&clock)?;
    say!(
        "generator and receiver into memory: {:.2} Mpps a core, {:.1} ns a packet of 64 octets, {:.1} ns of \
         them for its latency; the clock takes {:.1} ns to read",
        speed.pps() / 1e6,
        speed.packet_ns,
        speed.timing_ns,
        speed.look_ns
    );
    say!("{:<10}{:>8}{:>14}{:>12}{:>12}", "link", "octets", "ceiling", "floor", "usual");
    let (line, all) = (Line::new(), links.len());
    for (done, link) in links.into_iter().enumerate() {
        line.tell_parts(done, all, link.name());
        let folder = std::env::temp_dir().join(format!("volley-lab-{}", std::process::id()));
        let found =
            self_test::measure(&clock, &ports, (link, frame_bytes), self_test::ROUND_S, &folder);
        let _ = std::fs::remove_dir_all(&folder);
        line.finish();
        match found {
            Ok(found) => say!(
                "{:<10}{frame_bytes:>8}{:>9.3} Mpps{:>9.2} us{:>9.2} us",
                link.name(),
                found.ceiling_pps / 1e6,
                found.floor_ns as f64 / 1e3,
                found.usual_ns as f64 / 1e3
            ),
            Err(error) => say!("{:<10}{error}", link.name()),
        }
    }
    Ok(())
}
