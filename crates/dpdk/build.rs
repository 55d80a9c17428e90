//! Finds DPDK, compiles the shim, names the libraries to link.

use std::env;
use std::process::ExitCode;

/// Every 22.11 release lays out `rte_mbuf` as `packet::Mbuf`; the shim asserts it for later ones.
const OLDEST: &str = "22.11";

/// What we call ourselves. Drivers are loaded by DPDK at run time from its own folder.
const SHARED: [&str; 5] = ["rte_ethdev", "rte_mbuf", "rte_mempool", "rte_ring", "rte_eal"];

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=shim");
    let probe = pkg_config::Config::new()
        .atleast_version(OLDEST)
        .cargo_metadata(false)
        .env_metadata(true)
        .probe("libdpdk");
    let library = match probe {
        Ok(library) => library,
        Err(error) => {
            println!("cargo::error=DPDK {OLDEST} or later is needed to build this crate.");
            println!(
                "cargo::error=Debian or Ubuntu: apt-get install libdpdk-dev dpdk pkg-config gcc libpcap-dev"
            );
            println!("cargo::error={}", error.to_string().replace('\n', " | "));
            return ExitCode::FAILURE;
        }
    };
    // DPDK's inline functions need SSE4.2, as its own pkg-config file says.
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
        cc_build(&library).flag("-march=corei7").compile("volley_dpdk_shim");
    } else {
        cc_build(&library).compile("volley_dpdk_shim");
    }
    for path in &library.link_paths {
        println!("cargo::rustc-link-search=native={}", path.display());
    }
    for name in SHARED {
        println!("cargo::rustc-link-lib=dylib={name}");
    }
    ExitCode::SUCCESS
}

fn cc_build(library: &pkg_config::Library) -> cc::Build {
    let mut build = cc::Build::new();
    build.file("shim/shim.c").includes(&library.include_paths).opt_level(3);
    // DPDK headers expect their configuration in front of everything.
    build.flag("-include").flag("rte_config.h").flag("-Wno-deprecated-declarations");
    build
}
