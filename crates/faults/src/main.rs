//! Plays seeds of the fault plan: so many, as many as there is time for, or one that is told.
//!
//! ```text
//!  volley-faults --seeds 100 --jobs 2       so many, from --from on
//!  volley-faults --seconds 60 --jobs 2      as many as there is time for
//!  volley-faults --seed 17                  that one again, with a log of what is thrown
//! ```

use faults::{Chance, Finding, Footprint, Played, play};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Seeds after which a process has what it takes for ever: leaks are looked for from there on.
const WARM: u64 = 12;
/// Memory that may come on top of that: allocators keep some.
const SPARE_KIB: u64 = 64 << 10;
const USAGE: &str =
    "usage: volley-faults [--seeds N] [--seconds N] [--jobs N] [--from SEED] | --seed SEED";
/// Seconds, where neither they nor seeds are told.
const USUAL_SECONDS: u64 = 10;

struct Wanted {
    seeds: Option<u64>,
    seconds: Option<u64>,
    jobs: usize,
    from: u64,
    seed: Option<u64>,
}

impl Wanted {
    fn time(&self) -> Duration {
        let usual = if self.seeds.is_some() { u64::MAX } else { USUAL_SECONDS };
        Duration::from_secs(self.seconds.unwrap_or(usual))
    }

    /// The first seed that is not played.
    fn end(&self) -> u64 {
        self.from.saturating_add(self.seeds.unwrap_or(u64::MAX))
    }
}

fn wanted() -> Result<Wanted, String> {
    let mut wanted = Wanted { seeds: None, seconds: None, jobs: 1, from: 1, seed: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} wants a number\n{USAGE}"))?;
        let number: u64 = value.parse().map_err(|_| format!("{word} {value}: not a number"))?;
        match word.as_str() {
            "--seeds" => wanted.seeds = Some(number),
            "--seconds" => wanted.seconds = Some(number),
            "--jobs" => wanted.jobs = (number as usize).clamp(1, 64),
            "--from" => wanted.from = number,
            "--seed" => wanted.seed = Some(number),
            _ => return Err(format!("`{word}` is nothing to ask for\n{USAGE}")),
        }
    }
    Ok(wanted)
}

/// The sum of all runs, so far.
#[derive(Default)]
struct Sum {
    seeds: AtomicU64,
    played: Mutex<Played>,
    warm: Mutex<Option<Footprint>>,
    found: Mutex<Option<(u64, Finding)>>,
    is_over: AtomicBool,
}

impl Sum {
    fn add(&self, one: &Played) {
        if let Ok(mut sum) = self.played.lock() {
            sum.steps += one.steps;
            sum.packets += one.packets;
            sum.arrived += one.arrived;
            sum.starved += one.starved;
            sum.changes += one.changes;
            sum.undone += one.undone;
        }
        if self.seeds.fetch_add(1, Ordering::Relaxed) + 1 == WARM
            && let Ok(mut warm) = self.warm.lock()
        {
            *warm = Some(Footprint::now());
        }
    }

    fn work(&self, wanted: &Wanted, number: u64) {
        let start = Instant::now();
        let mut seed = wanted.from.saturating_add(number);
        while seed < wanted.end()
            && start.elapsed() < wanted.time()
            && !self.is_over.load(Ordering::Relaxed)
        {
            match play(seed, Chance::Seed(seed), false) {
                Ok(played) => self.add(&played),
                Err(finding) => {
                    self.is_over.store(true, Ordering::Relaxed);
                    if let Ok(mut found) = self.found.lock() {
                        found.get_or_insert((seed, finding));
                    }
                }
            }
            seed += wanted.jobs as u64;
        }
    }
}

/// What the process has grown by since it was warm, if that is more than it may.
fn leaked(warm: Footprint, now: Footprint) -> Option<String> {
    let told = format!("after {WARM} seeds {warm:?}, in the end {now:?}");
    let grown = now.resident_kib > warm.resident_kib + SPARE_KIB
        || now.descriptors > warm.descriptors
        || now.threads > warm.threads;
    grown.then_some(told)
}

fn replay(seed: u64) -> ExitCode {
    match play(seed, Chance::Seed(seed), true) {
        Ok(played) => {
            played.log.iter().for_each(|line| println!("{line}"));
            println!("seed {seed}: nothing found");
            ExitCode::SUCCESS
        }
        Err(finding) => {
            finding.log.iter().for_each(|line| println!("{line}"));
            println!("seed {seed}: {}", finding.what);
            ExitCode::FAILURE
        }
    }
}

fn main() -> ExitCode {
    let wanted = match wanted() {
        Ok(wanted) => wanted,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if let Some(seed) = wanted.seed {
        return replay(seed);
    }
    let (start, sum) = (Instant::now(), Sum::default());
    thread::scope(|scope| {
        for number in 0..wanted.jobs as u64 {
            let (sum, wanted) = (&sum, &wanted);
            scope.spawn(move || sum.work(wanted, number));
        }
    });
    if let Some((seed, finding)) = sum.found.into_inner().unwrap_or_default() {
        println!("seed {seed}: {}", finding.what);
        println!("again, with what was thrown: volley-faults --seed {seed}");
        return ExitCode::FAILURE;
    }
    let (now, played) = (Footprint::now(), sum.played.into_inner().unwrap_or_default());
    let Played { steps, packets, arrived, starved, changes, undone, .. } = played;
    println!(
        "{} seeds in {:.0} s: {steps} steps, {packets} packets, {changes} changes made and {undone} taken back; \
         of the flows {arrived} packets arrived, {starved} found no buffer while there were none, 0 lost",
        sum.seeds.into_inner(),
        start.elapsed().as_secs_f64(),
    );
    let warm = sum.warm.into_inner().unwrap_or_default();
    if let Some(told) = warm
        .map(|warm| Footprint { threads: now.threads, ..warm })
        .and_then(|warm| leaked(warm, now))
    {
        println!("it leaks: {told}");
        return ExitCode::FAILURE;
    }
    println!(
        "memory {} KiB, {} descriptors, {} threads: no leak",
        now.resident_kib, now.descriptors, now.threads
    );
    ExitCode::SUCCESS
}
