//! Grows inputs of a target by what they come through, without libFuzzer: changes of its seeds, and
//! of those changes that came through something new. What is come through is what `scripts/fuzz
//! coverage` counts, so that one build serves both (`scripts/fuzz grow`).
//!
//! ```text
//!  seeds ─▶ changed ─▶ the target ─▶ counters ─┬─ new ──▶ changed, too
//!                                              ├─ panic ▶ a finding, in fuzz/artifacts
//!                                              └─ in the end: the few that reach most, in fuzz/kept
//! ```
#![allow(unsafe_code, reason = "the compiler's counters are memory of the program")]

use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Inputs that are kept of a target, and the longest of them.
const MOST: usize = 32;
const MOST_BYTES: usize = 1024;
/// Findings after which there is enough to look into.
const MOST_FINDINGS: usize = 20;

unsafe extern "C" {
    /// Of LLVM's profile, which `-C instrument-coverage` links.
    fn __llvm_profile_begin_counters() -> *mut u64;
    fn __llvm_profile_end_counters() -> *mut u64;
}

/// An input, and what it came through.
struct Grown {
    bytes: Vec<u8>,
    reached: Vec<u32>,
}

/// Grows inputs of a target for as many seconds as `FUZZ_GROW` says; does nothing else.
pub fn grow(fuzz: &Path, target: &str, run: fn(&[u8])) {
    let Some(seconds) = said("FUZZ_GROW") else { return };
    let most = said("FUZZ_KEEP_FILES").map_or(MOST, |most| most as usize);
    let kept = fuzz.join("kept").join(target);
    let mut all = files(&fuzz.join("seeds").join(target));
    all.extend(files(&kept));
    // What a process does once is no input's.
    let _ = reached(run, &all[0]);
    let (mut known, mut grown) = (HashSet::<u32>::new(), Vec::new());
    for bytes in all.iter().cloned() {
        let reached = reached(run, &bytes).expect("seeds find nothing");
        known.extend(&reached);
        grown.extend((bytes.len() <= MOST_BYTES).then_some(Grown { bytes, reached }));
    }
    let (by_seeds, begun) = (known.len(), Instant::now());
    let (mut runs, mut findings) = (0, 0);
    while begun.elapsed() < Duration::from_secs(seconds) && findings < MOST_FINDINGS {
        runs += 1;
        // By turns one of all and one of the latest.
        let turn = runs as usize / 2;
        let at = match runs % 2 {
            0 => turn % all.len(),
            _ => all.len() - 1 - turn % all.len().min(64),
        };
        let mut bytes = crate::change::changed(&all[at], &all, runs);
        bytes.truncate(MOST_BYTES);
        let Some(reached) = reached(run, &bytes) else {
            findings += 1;
            write(&fuzz.join("artifacts").join(target), &bytes);
            continue;
        };
        if reached.iter().any(|place| !known.contains(place)) {
            known.extend(&reached);
            all.push(bytes.clone());
            grown.push(Grown { bytes, reached });
        }
    }
    let chosen = few(grown, most);
    let _none_yet = fs::remove_dir_all(&kept);
    chosen.iter().for_each(|bytes| write(&kept, bytes));
    println!(
        "── {target}: {runs} inputs in {} s, {findings} findings; {by_seeds} places and counts \
        before, {} now; {} inputs kept, {} bytes",
        begun.elapsed().as_secs(),
        known.len(),
        chosen.len(),
        chosen.iter().map(Vec::len).sum::<usize>()
    );
    assert_eq!(findings, 0, "see fuzz/artifacts/{target}");
}

fn said(name: &str) -> Option<u64> {
    let said = std::env::var(name).ok()?;
    Some(said.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// All files of a folder, if there is one, in order.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file")).collect()
}

/// Writes an input into a folder, named by its content.
fn write(folder: &Path, bytes: &[u8]) {
    // FNV-1a.
    let name = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join(format!("{name:016x}")), bytes).expect("a file");
}

/// What an input comes through, and about how often; none if it panics.
fn reached(run: fn(&[u8]), bytes: &[u8]) -> Option<Vec<u32>> {
    // SAFETY: both ends are of one array that lives as long as the program; while nothing runs but
    // this, nobody else looks into it.
    let counters = unsafe {
        let (begin, end) = (__llvm_profile_begin_counters(), __llvm_profile_end_counters());
        std::slice::from_raw_parts_mut(begin, end.offset_from(begin) as usize)
    };
    counters.fill(0);
    let went = catch_unwind(AssertUnwindSafe(|| run(bytes)));
    let places = (0_u32..).zip(counters.iter()).filter(|(_, times)| **times != 0);
    let reached = places.map(|(place, times)| place << 3 | about(*times)).collect();
    went.ok().map(|()| reached)
}

/// Once, twice, three times, or about how often.
fn about(times: u64) -> u32 {
    match times {
        0..=3 => times as u32,
        4..=7 => 4,
        8..=31 => 5,
        32..=127 => 6,
        _ => 7,
    }
}

/// Whichever adds most, until none adds anything or there are enough; of equals the shortest.
fn few(mut grown: Vec<Grown>, most: usize) -> Vec<Vec<u8>> {
    let (mut known, mut chosen) = (HashSet::<u32>::new(), Vec::new());
    while chosen.len() < most {
        let adds = |it: &Grown| {
            let new = it.reached.iter().filter(|place| !known.contains(*place));
            (new.count(), usize::MAX - it.bytes.len())
        };
        let best = (0..grown.len()).max_by_key(|at| adds(&grown[*at]));
        let Some(best) = best.filter(|at| adds(&grown[*at]).0 != 0) else { break };
        let Grown { bytes, reached } = grown.swap_remove(best);
        known.extend(reached);
        chosen.push(bytes);
    }
    chosen
}
