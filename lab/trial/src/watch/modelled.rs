//! Instructions and cache misses where the host hides its counters: the device once more, in a run
//! of its own that is not timed, under valgrind.
//!
//! ```text
//! start under callgrind ▶ first packet ▶ packets as fast as that goes ▶ end ▶ its file: events by function ▶ nodes
//! ```
//!
//! The instructions are those that ran, in the node's own function and all that it calls. The
//! caches are a model of two levels, without prefetching, as large as the host's: *modelled*, and
//! told as such. Nodes that are called without packets, too, are left out: they would be charged
//! for idling.

use std::collections::BTreeMap;
use std::path::Path;

use lab_record::{ModelledCost, ModelledRecord, Subject, Trial};

use crate::Error;
use crate::dut::device::Device;
use crate::load::frames::Load;
use crate::place::has_program;
use crate::trial::rig::{Bench, Rig, Wish};
use crate::watch::perf;

/// Packets offered: a device is some fifty times slower than itself there, and takes what it can.
const LOAD_PPS: f64 = 5_000.0;
const TRIAL_S: f64 = 2.0;

/// Whether there is a reason to: the processor's counters are hidden, and the device tells which
/// function is which node.
pub(crate) fn is_wanted(device: &dyn Device) -> bool {
    device.function_of("drop").is_some() && perf::counters().is_err()
}

/// A file that is taken away in the end.
struct Gone<'a>(&'a Path);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        // One that was never written is gone.
        let _ = std::fs::remove_file(self.0);
    }
}

/// Runs a device under valgrind.
pub(crate) fn run(
    bench: &Bench<'_>,
    device: &str,
    wish: &Wish,
    load: &Load,
    subject: Subject,
    both: bool,
) -> Result<ModelledRecord, Error> {
    if !has_program("valgrind") {
        let (device, job) = (device.to_owned(), "telemetry".to_owned());
        return Err(Error::Refused { device, job, reason: "valgrind is not installed".into() });
    }
    let file = bench.folder.with_extension("callgrind");
    // The device writes it when it ends, however that comes: this goes after it.
    let _gone = Gone(&file);
    let prefix = format!(
        "valgrind --tool=callgrind --cache-sim=yes --compress-strings=no --compress-pos=no --fair-sched=yes \
         --callgrind-out-file={} ",
        file.display()
    );
    let mut rig = Rig::start_under(bench, device, wish, &prefix)?;
    rig.first_packet(load)?;
    rig.measure(load, Trial::new(LOAD_PPS, TRIAL_S), both)?;
    let nodes = rig.nodes()?;
    let functions: Vec<_> = nodes.iter().map(|node| rig.function_of(&node.node)).collect();
    rig.end();
    let text = std::fs::read_to_string(&file).map_err(Error::file(&file))?;
    let events = Events::parse(&text);
    let costs = nodes.into_iter().zip(functions).filter(|(node, _)| node.packets > 0);
    let nodes = costs
        .filter_map(|(node, function)| {
            let [instructions, first, last] = events.of(&function?)?;
            let each = |count: u64| count as f64 / node.packets as f64;
            Some(ModelledCost {
                instructions: each(instructions),
                first_level_misses: each(first),
                last_level_misses: each(last),
                packets: node.packets,
                calls: node.calls,
                node: node.node,
            })
        })
        .collect();
    Ok(ModelledRecord { subject, nodes })
}

/// What a file of callgrind's says: instructions, first-level and last-level misses by function,
/// with all that it called.
pub fn events(text: &str) -> BTreeMap<String, [u64; 3]> {
    Events::parse(text).0
}

/// See `events`.
struct Events(BTreeMap<String, [u64; 3]>);

impl Events {
    /// The text of a file of callgrind's: the names of the events, then under each function lines
    /// of counts, its own and, after `calls=`, those of what it called.
    fn parse(text: &str) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut functions = BTreeMap::new();
        let mut sums: Option<&mut [u64; 3]> = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("events:") {
                names = rest.split_whitespace().collect();
            } else if let Some(function) = line.strip_prefix("fn=") {
                sums = Some(functions.entry(function.to_owned()).or_insert([0; 3]));
            } else if line.starts_with(|first: char| first.is_ascii_digit())
                && let Some(sums) = &mut sums
            {
                // The first number is that of the line; zeros at the end are left out.
                for (name, count) in names.iter().zip(line.split_whitespace().skip(1)) {
                    let count = count.parse::<u64>().unwrap_or(0);
                    let at = match *name {
                        "Ir" => 0,
                        "I1mr" | "D1mr" | "D1mw" => 1,
                        "ILmr" | "DLmr" | "DLmw" => 2,
                        _ => continue,
                    };
                    sums[at] = sums[at].saturating_add(count);
                }
            }
        }
        Self(functions)
    }

    /// Those of the function whose name has the one and ends with the other; none where there is no
    /// such function.
    fn of(&self, [first, last]: &[String; 2]) -> Option<[u64; 3]> {
        let mut these = self.0.iter();
        these.find(|(name, _)| name.contains(first) && name.ends_with(last)).map(|(_, &it)| it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "positions: line\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\nsummary: 999 1 1\n\n\
        fl=node.rs\nfn=<nodes::ip::ip4_lookup::Ip4Lookup as graph::node::Node>::process\n10 100 40 20 1 3 2 0 1 1\n\
        fi=frame.rs\n12 50\nfe=node.rs\ncfi=fib.rs\ncfn=fib::lookup\ncalls=7 30\n13 25 1 0 0 1\n\n\
        fl=fib.rs\nfn=fib::lookup\n31 25 1 0 0 1\n";

    fn process(node: &str) -> [String; 2] {
        [format!("::{node}::"), "::process".into()]
    }

    #[test]
    fn a_function_is_charged_with_what_it_does_and_what_it_calls() {
        let events = Events::parse(TEXT);
        assert_eq!(events.of(&process("ip4_lookup")), Some([175, 7, 2]));
        assert_eq!(events.of(&["fib::".into(), "lookup".into()]), Some([25, 1, 0]));
        assert_eq!(events.of(&process("ip6_lookup")), None);
    }

    #[test]
    fn a_file_that_is_cut_short_or_none_tells_what_it_has() {
        for end in 0..TEXT.len() {
            let told = Events::parse(&TEXT[..end]).of(&process("ip4_lookup"));
            assert!(told.is_none_or(|[instructions, ..]| instructions <= 175));
        }
        assert_eq!(
            Events::parse("9 9 9\nevents:\nfn=a\n5 x y").of(&["a".into(), String::new()]),
            Some([0; 3])
        );
    }

    #[test]
    fn counts_too_large_to_be_added_stay_at_the_largest() {
        let most = u64::MAX;
        let told = events(&format!("events: Ir I1mr D1mr\nfn=a\n1 {most} {most} 1\n2 1 0 0\n"));
        assert_eq!(told["a"], [most, most, 0]);
    }
}
