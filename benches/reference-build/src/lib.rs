//! What the benches' build scripts share: finds DPDK, compiles the calls into it, names the
//! libraries to link.

use std::process::ExitCode;

/// Compiles `sources`, files of the folder `reference`, into `NAME_reference`; links the DPDK
/// `libraries` they call. Where DPDK is missing, cargo says so.
pub fn compile(name: &str, sources: &[&str], libraries: &[&str]) -> ExitCode {
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
    build.files(sources.iter().map(|source| format!("reference/{source}"))).opt_level(3);
    // DPDK's headers are the system's: their warnings are not ours.
    library.include_paths.iter().for_each(|path| _ = build.flag("-isystem").flag(path.as_os_str()));
    // DPDK headers expect their configuration in front of everything, and some calls say that they
    // are not final yet.
    build.flag("-include").flag("rte_config.h").define("ALLOW_EXPERIMENTAL_API", None);
    // DPDK's inline functions need SSE4.2, as its own pkg-config file says.
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
        build.flag("-march=corei7");
    }
    build.compile(&format!("{name}_reference"));
    for path in &library.link_paths {
        println!("cargo::rustc-link-search=native={}", path.display());
    }
    for name in libraries {
        println!("cargo::rustc-link-lib=dylib={name}");
    }
    ExitCode::SUCCESS
}
