//! Compiles what the references need in C.

use std::process::ExitCode;

fn main() -> ExitCode {
    let libraries = ["rte_sched", "rte_mbuf", "rte_mempool", "rte_eal"];
    reference_build::compile("sched_bench", &["rte_sched.c", "kernel.c"], &libraries)
}
