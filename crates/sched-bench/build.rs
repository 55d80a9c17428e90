//! Finds DPDK, compiles what the references need in C, names the libraries to link.

use std::process::ExitCode;

const LIBRARIES: [&str; 4] = ["rte_sched", "rte_mbuf", "rte_mempool", "rte_eal"];

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=reference");
    let probe = pkg_config::Config::new().cargo_metadata(false).probe("libdpdk");
    let library = match probe {
        Ok(library) => library,
        Err(error) => {
            println!("cargo::error=DPDK is needed to build this crate.");
            println!("cargo::error={}", error.to_string().replace('\n', " | "));
            return ExitCode::FAILURE;
        }
    };
    let mut build = cc::Build::new();
    build.files(["reference/rte_sched.c", "reference/kernel.c"]).opt_level(3);
    // DPDK's headers are the system's: their warnings are not ours.
    library.include_paths.iter().for_each(|path| _ = build.flag("-isystem").flag(path.as_os_str()));
    // DPDK headers expect their configuration in front of everything, and its scheduler's some that is not final yet.
    build.flag("-include").flag("rte_config.h").define("ALLOW_EXPERIMENTAL_API", None);
    // DPDK's inline functions need SSE4.2, as its own pkg-config file says.
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
        build.flag("-march=corei7");
    }
    build.compile("sched_bench_reference");
    for path in &library.link_paths {
        println!("cargo::rustc-link-search=native={}", path.display());
    }
    for name in LIBRARIES {
        println!("cargo::rustc-link-lib=dylib={name}");
    }
    ExitCode::SUCCESS
}
