//! Measures the IPv4 table by itself: cycles per lookup, cost of a change, bytes.
//!
//! `cargo run --release -p fib --example ip4_probe -- [compact|wide|small|huge|SIZE|FILE]...`
//!
//! A SIZE is a number of random routes whose lengths are spread as the Internet's; a FILE has lines
//! `PREFIX AS`, and may be compressed by zstd. Destinations are uniform over the routes, in batches
//! of 256. Cycles are those of the time-stamp counter. Times of bulk changes are this thread's
//! processor time.

#![allow(unsafe_code)] // Reading the time-stamp counter and the thread's clock.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use fib::ip4::{Ip4Kernel, Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use fib::route_file::{FilePrefix, FileTarget, OnWrong, load_routes};
use fib::{Forward, Ip4Prefix, Prefix};

/// Routes of each length in the real table, /8 first.
const HISTOGRAM: [u32; 25] = [
    8, 6, 31, 95, 257, 493, 1120, 2455, 9332, 6735, 11825, 22075, 33264, 46064, 103676, 103717,
    218667, 1350, 1447, 1595, 141, 164, 53, 3, 7,
];
const BATCH: usize = 256;
const DESTINATIONS: usize = 1 << 20;
/// Lookups that are timed together.
const RUN: usize = 1 << 14;
const SINGLES: usize = 100_000;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, end: usize) -> usize {
        ((u64::from(self.next()) * end as u64) >> 32) as usize
    }
}

type Route = (Ip4Prefix, Forward);

/// Distinct random routes in random order.
fn random_routes(count: usize, random: &mut Random) -> Vec<Route> {
    let lengths: Vec<u8> = (8u8..)
        .zip(HISTOGRAM)
        .flat_map(|(length, share)| std::iter::repeat_n(length, share as usize))
        .collect();
    let mut seen = std::collections::HashSet::with_capacity(count);
    let mut routes = Vec::with_capacity(count);
    let mut tries = 0;
    while routes.len() < count {
        // Where a length is used up, the next longer one takes over.
        let length = (lengths[random.below(lengths.len())] + (tries / 8) as u8).min(32);
        let address = random.next() % 0xdf00_0000 + 0x0100_0000;
        let Ok(prefix) = Prefix::new(address, length) else { continue };
        if seen.insert(prefix) {
            routes.push((prefix, Forward::new(1, 1 + random.below(8192) as u32)));
            tries = 0;
        } else {
            tries += 1;
        }
    }
    routes
}

fn file_routes(path: &str) -> Result<Vec<Route>, Box<dyn Error>> {
    let file = load_routes(Path::new(path), OnWrong::Refuse, &mut |_| {})?;
    let routes = file.routes.iter().filter_map(|route| match (route.prefix, route.target) {
        (FilePrefix::V4(prefix), FileTarget::Number(number)) => {
            Some((prefix, Forward::new(1, number % 8192 + 1)))
        }
        _ => None,
    });
    Ok(routes.collect())
}

fn cycles() -> u64 {
    // SAFETY: every x86-64 has the counter.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Least and median cycles per lookup, kernel by kernel, the kernels taking turns.
fn lookup_cycles(table: &Ip4Table, routes: &[Route], random: &mut Random) {
    let destinations: Vec<u32> = (0..DESTINATIONS)
        .map(|_| {
            let (prefix, _) = routes[random.below(routes.len())];
            prefix.address() | random.next().checked_shr(prefix.length().into()).unwrap_or(0)
        })
        .collect();
    let kernels = [Ip4Kernel::Scalar, Ip4Kernel::Avx2];
    let mut times = [const { Vec::new() }; 2];
    let mut out = [0; BATCH];
    for pass in 0..8 {
        for (turn, run) in destinations.chunks_exact(RUN).enumerate() {
            let which = (pass + turn) % kernels.len();
            let start = cycles();
            for batch in run.chunks_exact(BATCH) {
                table.lookup_bulk_with(kernels[which], std::hint::black_box(batch), &mut out);
                std::hint::black_box(&mut out);
            }
            times[which].push((cycles() - start) as f64 / RUN as f64);
        }
    }
    for (kernel, times) in kernels.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let (least, median) = (times[0], times[times.len() / 2]);
        println!("  lookup, {kernel:?}: {least:.1} least, {median:.1} median cycles");
    }
}

/// Mean, p99 and worst of single calls.
fn singles(routes: &[Route], mut call: impl FnMut(Route)) -> String {
    if routes.is_empty() {
        return "-".to_owned();
    }
    let mut times: Vec<Duration> = routes
        .iter()
        .map(|route| {
            let start = Instant::now();
            call(*route);
            start.elapsed()
        })
        .collect();
    let mean = times.iter().sum::<Duration>() / times.len() as u32;
    times.sort_unstable();
    let (p99, worst) = (times[times.len() * 99 / 100], times[times.len() - 1]);
    format!("mean {mean:.2?} p99 {p99:.2?} worst {worst:.2?}")
}

/// What this thread has had of a processor: on a busy machine less than has passed.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn each(since: Duration, count: usize) -> f64 {
    (processor_time() - since).as_nanos() as f64 / count as f64
}

fn resident_bytes() -> Result<usize, Box<dyn Error>> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    Ok(statm.split(' ').nth(1).ok_or("statm has a second field")?.parse::<usize>()? * 4096)
}

fn measure(name: &str, options: Ip4Options) -> Result<(), Box<dyn Error>> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let routes = match name.parse::<usize>() {
        Ok(count) => random_routes(count, &mut random),
        Err(_) => file_routes(name)?,
    };
    let prefixes: Vec<Ip4Prefix> = routes.iter().map(|(prefix, _)| *prefix).collect();
    println!("{name}: {} routes, {:?} {:?}", routes.len(), options.layout, options.page_size);

    let before = resident_bytes()?;
    let readers = Quiescence::new();
    let nodes = Ip4Nodes::new(16 << 20, options.page_size, &readers)?;
    let table = Ip4Table::new(&nodes, options)?;
    let start = processor_time();
    table.insert_bulk(&routes).map_err(|(_, error)| error)?;
    let first = each(start, routes.len());
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let (memory, resident) = (table.memory(), resident_bytes()?);
    println!(
        "  MiB: {:.1} = root {:.1} + {} nodes {:.1} + record {:.1}; the process grew by {:.1}",
        mib(memory.root_bytes + nodes.bytes() + memory.record_bytes),
        mib(memory.root_bytes),
        nodes.used(),
        mib(nodes.bytes()),
        mib(memory.record_bytes),
        mib(resident.saturating_sub(before)),
    );
    let start = processor_time();
    table.remove_bulk(&prefixes);
    let removed = each(start, routes.len());
    let start = processor_time();
    table.insert_bulk(&routes).map_err(|(_, error)| error)?;
    let second = each(start, routes.len());
    println!("  bulk: insert {first:.0} ns, remove {removed:.0}, insert again {second:.0}");

    let held = &routes[routes.len() - SINGLES.min(routes.len() / 2)..];
    let remove = |(prefix, _)| {
        table.remove(prefix);
    };
    println!("  single: remove {}", singles(held, remove));
    let mut failure = None;
    let insert = |(prefix, to)| failure = table.insert(prefix, to).err().or(failure.take());
    println!("  single: insert {}", singles(held, insert));
    lookup_cycles(&table, &routes, &mut random);
    failure.map_or(Ok(()), |error| Err(error.into()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Ip4Options::default();
    for argument in std::env::args().skip(1) {
        match &argument[..] {
            "compact" => options.layout = Ip4Layout::Compact,
            "wide" => options.layout = Ip4Layout::Wide,
            "small" => options.page_size = PageSize::Small,
            "huge" => options.page_size = PageSize::Huge,
            name => measure(name, options)?,
        }
    }
    Ok(())
}
