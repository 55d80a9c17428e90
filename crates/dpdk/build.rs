//! Finds DPDK, compiles the shim, names the libraries to link.

use std::env;
use std::path::Path;
use std::process::ExitCode;

/// The first release with the `rte_mbuf` of `packet::Mbuf`; the shim asserts it for later ones.
const OLDEST: &str = "22.11";

/// What we call ourselves. Drivers are loaded by DPDK at run time from its own folder.
const SHARED: [&str; 5] = ["rte_ethdev", "rte_mbuf", "rte_mempool", "rte_ring", "rte_eal"];

/// What the libraries of later releases are made of in part: who writes the log (23.11), who reads
/// arguments (24.03). Linked where it is.
const LATER: [&str; 2] = ["rte_log", "rte_argparse"];

/// With the feature `static`: drivers, which nothing refers to but themselves.
const STATIC_DRIVERS: [&str; 19] = [
    "rte_bus_pci",
    "rte_bus_vdev",
    "rte_mempool_ring",
    "rte_net_af_packet",
    "rte_net_af_xdp",
    "rte_net_e1000",
    "rte_net_ena",
    "rte_net_i40e",
    "rte_net_iavf",
    "rte_net_ice",
    "rte_net_igc",
    "rte_net_ixgbe",
    "rte_net_null",
    "rte_net_pcap",
    "rte_net_ring",
    "rte_net_vhost",
    "rte_net_virtio",
    "rte_net_vmxnet3",
    "rte_common_iavf",
];

/// What those and we refer to, users before used.
const STATIC_LIBRARIES: [&str; 19] = [
    "rte_vhost",
    "rte_security",
    "rte_cryptodev",
    "rte_dmadev",
    "rte_gso",
    "rte_ip_frag",
    "rte_hash",
    "rte_pci",
    "rte_ethdev",
    "rte_net",
    "rte_meter",
    "rte_timer",
    "rte_mbuf",
    "rte_mempool",
    "rte_rcu",
    "rte_ring",
    "rte_eal",
    "rte_telemetry",
    "rte_kvargs",
];

/// Others' libraries that do not have to be installed where the program runs.
const STATIC_OTHERS: [&str; 8] = ["pcap", "xdp", "bpf", "elf", "z", "numa", "bsd", "md"];

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=shim");
    let probe = pkg_config::Config::new()
        .atleast_version(OLDEST)
        .cargo_metadata(false)
        .env_metadata(true)
        .probe("libdpdk");
    let library = match probe {
        Ok(library) => library,
        Err(error) => return refuse(&error),
    };
    compile_shim(&library);
    let folder = pkg_config::get_variable("libdpdk", "libdir").unwrap_or_default();
    println!("cargo::rustc-link-search=native={folder}");
    let later = |ending: &str| {
        let is_there =
            |name: &&str| Path::new(&folder).join(format!("lib{name}.{ending}")).exists();
        LATER.into_iter().filter(is_there).collect::<Vec<_>>()
    };
    if env::var_os("CARGO_FEATURE_STATIC").is_some() {
        link("static:+whole-archive,-bundle", &STATIC_DRIVERS);
        link("static:-bundle", &STATIC_LIBRARIES);
        link("static:-bundle", &later("a"));
        link("static:-bundle", &STATIC_OTHERS);
        cc::Build::new().file("shim/no_dbus.c").compile("volley_no_dbus");
    } else {
        link("dylib", &SHARED);
        link("dylib", &later("so"));
    }
    ExitCode::SUCCESS
}

fn refuse(error: &pkg_config::Error) -> ExitCode {
    let packages = "libdpdk-dev dpdk pkg-config gcc libpcap-dev";
    println!("cargo::error=DPDK {OLDEST} or later is needed to build the crate `dpdk`.");
    println!("cargo::error=On Debian or Ubuntu: apt-get install {packages}");
    println!("cargo::error={}", error.to_string().replace('\n', " "));
    ExitCode::FAILURE
}

fn compile_shim(library: &pkg_config::Library) {
    let mut build = cc::Build::new();
    build.files(["shim/shim.c", "shim/taken.c"]).includes(&library.include_paths).opt_level(3);
    // DPDK headers expect their configuration in front of everything.
    build.flag("-include").flag("rte_config.h");
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
        // DPDK's inline functions need SSE4.2; its own pkg-config file says so.
        build.flag("-march=corei7");
    }
    build.compile("volley_dpdk_shim");
}

fn link(kind: &str, names: &[&str]) {
    for name in names {
        println!("cargo::rustc-link-lib={kind}={name}");
    }
}
