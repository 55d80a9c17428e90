//! The machine that a number was taken on.

use serde::Serialize;
use std::fs;

/// What a reader must know to judge a number.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Host {
    processor: String,
    cores: usize,
    tsc_mhz: u64,
    splitter: String,
    huge_pages: String,
    kernel: String,
}

pub(crate) fn facts() -> Host {
    let first = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let processor = first("/proc/cpuinfo").lines().find_map(|line| {
        line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name.to_owned())
    });
    Host {
        processor: processor.unwrap_or_else(|| "unknown".to_owned()),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        tsc_mhz: graph::tsc_hz() / 1_000_000,
        splitter: format!("{:?}", packet::Splitter::detect()),
        huge_pages: first("/sys/kernel/mm/transparent_hugepage/enabled"),
        kernel: first("/proc/sys/kernel/osrelease"),
    }
}
