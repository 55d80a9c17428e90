//! `--flow-mods`: what it costs to take in flows that a controller tells.
//!
//! ```text
//!  messages of OpenFlow 1.3 ─▶ switch::Bridge ─▶ a value for workers after each 2,000
//!  added one by one, then taken out one by one: a round
//! ```
//! That is what the router does with a stream of them, but for the socket. Processor time of this
//! thread counts.

use crate::rig::RigError;
use crate::sample::Middle;
use crate::thread_time::ThreadTime;
use openflow::action::Output;
use openflow::message::{Command, FlowMod, PortStats};
use openflow::{Field, Match, PortNumber, Version};
use std::time::Duration;
use switch::{Bridge, Connection, Port, World};

/// Flows of a round.
const FLOWS: u32 = 200_000;
/// Messages between two values for workers: those of 20 ms or so.
const PUBLISHED: usize = 2_000;
const SECOND_NS: u64 = 1_000_000_000;

/// No port has counted anything, and nothing is sent.
struct Nowhere;

impl World for Nowhere {
    fn port_stats(&self, _: PortNumber) -> Option<PortStats> {
        None
    }

    fn send(&mut self, _: &[u8], _: PortNumber, _: &flow::Verdict, _: &flow::Snapshot) {}
}

/// Measures so many rounds and prints what came of it.
pub(crate) fn run(rounds: u32, progress: fn(&str)) -> Result<(), RigError> {
    let adds = messages(Command::Add);
    let deletions = messages(Command::DeleteStrict);
    let own = ThreadTime::of_this();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        progress(&format!("round {round} of {rounds}"));
        let mut talk = Talk::new();
        for (messages, times) in [(&adds, &mut added), (&deletions, &mut removed)] {
            let before = own.now();
            talk.hear(messages)?;
            times.push((own.now() - before).as_secs_f64() * 1e6 / f64::from(FLOWS));
        }
    }
    progress("");
    for (what, times) in [("added", added), ("taken out", removed)] {
        let Middle { median, .. } = Middle::of(times.iter().copied());
        let (low, high) =
            times.iter().fold((f64::MAX, 0.0_f64), |(low, high), it| (low.min(*it), high.max(*it)));
        println!(
            "{FLOWS} flows {what}: {median:.2} us of processor each ({low:.2} to {high:.2}), \
             {:.0} a second, over {rounds} rounds",
            1e6 / median
        );
    }
    Ok(())
}

/// Each of a flow of its own: a port, a network, one in four of TCP.
fn messages(command: Command) -> Vec<Vec<u8>> {
    let one = |number: u32| {
        let mut matching = Match::any().with(Field::InPort, 1).with(Field::EthType, 0x800);
        matching.set(Field::IpDst, (0x0a00_0000 + number).into(), u128::from(u32::MAX));
        if number.is_multiple_of(4) {
            matching.set(Field::IpProto, 6, 0xff);
            matching.set(Field::TcpDst, 80, 0xffff);
        }
        let program = vec![Output::to(2).into()];
        let it = FlowMod { command, ..FlowMod::add(0, 9, matching, program) };
        it.encode(Version::V13, number)
    };
    (0..FLOWS).map(one).collect()
}

/// A bridge, and who speaks with it.
struct Talk {
    bridge: Bridge,
    connection: Connection,
    now_ns: u64,
}

impl Talk {
    fn new() -> Self {
        let mut bridge = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
        for number in 1..3u16 {
            let (name, mac) = (format!("p{number}"), [2, 0, 0, 0, 1, number as u8]);
            bridge.set_port(number, Some(Port::new(name, mac)), 0);
        }
        let mut it = Self { bridge, connection: Connection::new(false), now_ns: SECOND_NS };
        let version = Version::V13 as u8;
        let hello = [version, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << version];
        it.bridge.hear(&mut it.connection, &hello, &mut Nowhere, it.now_ns);
        it
    }

    /// Hears them, and gives workers a value now and then, which they hold until the next.
    fn hear(&mut self, messages: &[Vec<u8>]) -> Result<(), RigError> {
        let mut held = None;
        for some in messages.chunks(PUBLISHED) {
            for message in some {
                let answers =
                    self.bridge.hear(&mut self.connection, message, &mut Nowhere, self.now_ns);
                if !answers.is_empty() {
                    return Err("a flow was refused".into());
                }
            }
            self.bridge.take_events();
            held = self.bridge.take_snapshot();
            self.now_ns += Duration::from_millis(20).as_nanos() as u64;
        }
        drop(held);
        Ok(())
    }
}
