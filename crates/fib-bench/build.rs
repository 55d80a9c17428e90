//! Finds DPDK, compiles the calls into its tables, names the libraries to link.

use std::process::ExitCode;

const LIBRARIES: [&str; 4] = ["rte_fib", "rte_lpm", "rte_hash", "rte_eal"];

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
    build.file("reference/reference.c").includes(&library.include_paths).opt_level(3);
    // DPDK headers expect their configuration in front of everything.
    build.flag("-include").flag("rte_config.h");
    // DPDK's inline functions need SSE4.2, as its own pkg-config file says.
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
        build.flag("-march=corei7");
    }
    build.compile("fib_bench_reference");
    for path in &library.link_paths {
        println!("cargo::rustc-link-search=native={}", path.display());
    }
    for name in LIBRARIES {
        println!("cargo::rustc-link-lib=dylib={name}");
    }
    ExitCode::SUCCESS
}
