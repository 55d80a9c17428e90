//! Compiles the calls into DPDK's tables.

use std::process::ExitCode;

fn main() -> ExitCode {
    let libraries = ["rte_fib", "rte_lpm", "rte_hash", "rte_eal"];
    reference_build::compile("fib_bench", &["reference.c"], &libraries)
}
