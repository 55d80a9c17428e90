//! The measuring lab's command line.
//!
//! ```text
//! volley-lab run SCENARIO     measures it on real devices, with a report
//! volley-lab compare A B …      two devices in interleaved blocks; bisect: several builds of ours
//! volley-lab trend DIR…         a number over many campaigns
//! volley-lab self-test          what the lab itself can do
//! volley-lab traffic PORT …    sends test frames, says what came of each
//! volley-lab respond | ask     small requests, and how long their answers take
//! volley-lab simulate …        a search against simulated devices, with a report
//! volley-lab report DIR        renders a results folder again
//! volley-lab index FILE DIR…   many results folders as one SQLite file
//! volley-lab scenario …        checks scenario files, lists their cases
//! volley-lab fit MODEL [CSV]   fits one of the sources' models
//! ```

mod arguments;
mod bench;
mod compare;
mod fit;
mod index;
mod interrupt;
mod progress;
mod report;
mod round_trip;
mod run;
mod say;
mod scenario;
mod self_test;
mod simulate;
mod traffic;
mod trend;

use std::process::ExitCode;

use arguments::Arguments;

/// What ends a command early.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Somebody stopped it; what was measured is kept.
    #[error("stopped; what was measured is kept")]
    Stopped,
    /// The lab refused.
    #[error(transparent)]
    Lab(#[from] lab_record::Error),
}

const USAGE: &str = "\
volley-lab: measures switches and routers

  volley-lab run SCENARIO [--devices volley,linux-bridge,linux-router,ovs,testpmd] [--link veth]
                     [--minutes N] [--restarts N] [--out DIR] [--device-cores 0] [--lab-core 1]
                     [--seed 1]
      Measures a scenario on devices of this host, in network namespaces of its own, and writes
      raw.jsonl and the report. Ctrl-C keeps what is measured. Devices: these, testpmd-mac,
      ovs-dpdk, vpp, grout, fastclick, and volley=FOLDER for other builds. Links: veth, veth-xdp, tap,
      memif, vhost; pcap for functional checks; pci where the scenario names the cards.

  volley-lab compare A B SCENARIO [--blocks 20] [--link veth] [--out DIR] …
      Holds device B against A: interleaved blocks of fresh starts, compared pair by pair, after as
      many blocks of A against itself, which tell what is too small to be believed on this host.

  volley-lab bisect SCENARIO FOLDER FOLDER… [--blocks 20] …
      Of builds of Volley in these folders, oldest first, finds the first that is slower than the
      first of them.

  volley-lab trend DIR DIR… [--metric NDR] [--device volley]
      Numbers that several campaigns have, in order of time, cut where they changed.

  volley-lab self-test [LINK…] [--frame-bytes 64]
      What the lab itself can send and receive over each kind of link, and at which latency; what a
      packet costs it, and what of this is for timing.

  volley-lab traffic PORT [PORT] [--rate 1Mpps|2.5Gbps|50%|max] [--seconds 10] [--directions 1]
                     [--frame-bytes 64[,512…] | --imix 7a4d1g] [--arrivals constant|poisson|
                     burst:N|on-off:PEAK:US|trace:PCAP] [--kind udp4|udp6|tcp4|tcp6|ethernet]
                     [--ethertype 0x88b5] [--vlan ID] [--vxlan VNI] [--source-mac MAC]
                     [--destination-mac MAC] [--source IP] [--destination IP] [--source-port N]
                     [--destination-port N] [--ttl N] [--flows N] [--vary FIELD,…]
                     [--order increment|random|permutation] [--step N] [--packets N]
                     [--link 10G] [--seed 1] [--streams TOML|JSON] [--replay PCAP [--times 1]]
                     [--timestamps processor|port] [--out JSON]
      Sends test frames at the first port, awaits them at the second (or at the same, if there is
      one) and says what came of every one of them. It ends when --packets were sent; --replay sends
      the frames of a capture as they are, with its gaps or at a --rate. --streams takes several
      streams and captures from a file, or the generators of the IETF's network testers as JSON.
      --timestamps port tells latencies by the time at which the port received a packet; ports that
      cannot do it are refused. Ports: af_packet:DEVICE, af_xdp:DEVICE, tap:NAME, memif:SOCKET,
      memif-client:SOCKET, vhost:SOCKET, virtio_user:SOCKET, pcap:IN+OUT, pci:ADDRESS, ring, or
      memory[:delay=50us,lose=1000,…], a link of its own.

  volley-lab respond ADDRESS:PORT
  volley-lab ask ADDRESS:PORT [--seconds 1] [--every-ms MS] [--requests N] [--bytes 64] [--out JSON]
      Answers small UDP datagrams with themselves; asks one after the other, or at a pace, and says how
      long the answers took. --out - writes JSON to standard output.

  volley-lab simulate [--search mlr] [--capacity 10M[,9.5M…]] [--noise 0.002]
                      [--stalls RATE:MEAN_MS] [--base-loss 0] [--max 14.88M] [--runs 5]
                      [--blocks 20] [--seed 1] [--out DIR]
      Runs a search, as a scenario names it, against simulated devices of known capacity. With two capacities or more the
      devices are compared in interleaved blocks. With --out, writes raw.jsonl and the report.

  volley-lab report DIR [--yang JSON]
      Renders report.html, results.csv, metrics.txt and index.sqlite from DIR/raw.jsonl again, and the
      results in the words of the YANG module volley-lab, too, if asked for.

  volley-lab index FILE DIR…
      Makes one SQLite file of the results in many folders: tables trial, answer, summary, comparison,
      failure, campaign, device and folder.

  volley-lab scenario check FILE…      tells the first fault of each file, with its position
  volley-lab scenario cases FILE       lists what a scenario would measure
  volley-lab scenario export --yang FILE   a scenario as instance data of the IETF's network testers
  volley-lab scenario import JSON      the TOML of such data; run, compare and check read it as it is

  volley-lab fit clock|workers|lookup|latency|knee [CSV] [--max X]
      Fits a model to lines of `x,y`. Without a CSV, clock fits the sources' own table.
";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    if std::env::args().skip(1).any(|word| word == "--help" || word == "-h") {
        say::say!("{}", USAGE.trim_end());
        return ExitCode::SUCCESS;
    }
    let command = words.next().unwrap_or_default();
    let arguments = match Arguments::parse(words) {
        Ok(arguments) => arguments,
        Err(failure) => return fail(&failure),
    };
    let done = match command.as_str() {
        "run" => run::run(&arguments),
        "compare" => compare::compare(&arguments),
        "bisect" => compare::bisect(&arguments),
        "trend" => trend::run(&arguments),
        "self-test" => self_test::run(&arguments),
        "traffic" => traffic::run(&arguments),
        "respond" => round_trip::respond(&arguments),
        "ask" => round_trip::ask(&arguments),
        "simulate" => simulate::run(&arguments),
        "report" => report::run(&arguments),
        "index" => index::run(&arguments),
        "scenario" => scenario::run(&arguments),
        "fit" => fit::run(&arguments),
        "help" => {
            say::say!("{}", USAGE.trim_end());
            return ExitCode::SUCCESS;
        }
        "" => Err(Failure::Usage(format!("no command\n\n{USAGE}"))),
        other => Err(Failure::Usage(format!("no command {other:?}; see volley-lab help"))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure),
    }
}

/// 2 for a command line that makes no sense, 130 where somebody stopped it, 1 for everything else.
fn fail(failure: &Failure) -> ExitCode {
    eprintln!("volley-lab: {failure}");
    ExitCode::from(match failure {
        Failure::Usage(_) => 2,
        Failure::Stopped => 130,
        Failure::Lab(_) => 1,
    })
}
