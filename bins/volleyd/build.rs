//! Exports the program's own `setsockopt`, so that DPDK's drivers call it instead of the C
//! library's: see `dpdk::packet_sockets`.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=setsockopt");
    println!("cargo:rerun-if-changed=build.rs");
}
