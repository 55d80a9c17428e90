//! Compiles the calls into DPDK's access lists.

use std::process::ExitCode;

fn main() -> ExitCode {
    reference_build::compile("acl_bench", &["reference.c"], &["rte_acl", "rte_eal"])
}
