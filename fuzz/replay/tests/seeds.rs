//! Every fuzz target, over its seeds and what was kept of its inputs, and changes of those.
#![allow(
    unused_attributes,
    reason = "the targets say no_main, of the programs that libFuzzer makes of them"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// `NAME` is a target and a folder of seeds.
macro_rules! targets {
    ($($file:literal $name:ident,)*) => {
        $(#[path = $file]
        mod $name;)*

        const NAMES: &[&str] = &[$(stringify!($name)),*];

        mod seeds {
            $(#[test]
            fn $name() {
                let folder = super::fuzz().join("seeds").join(stringify!($name));
                libfuzzer_sys::replay(&folder, super::$name::run);
            })*
        }

        #[cfg(counted)]
        mod grown {
            $(#[test]
            fn $name() {
                libfuzzer_sys::grow(&super::fuzz(), stringify!($name), super::$name::run);
            })*
        }

        mod kept {
            $(#[test]
            fn $name() {
                let folder = super::fuzz().join("kept").join(stringify!($name));
                libfuzzer_sys::replay_kept(&folder, super::$name::run);
            })*
        }
    };
}

targets! {
    "../../fuzz_targets/api.rs" api,
    "../../fuzz_targets/classify.rs" classify,
    "../../fuzz_targets/config_parse.rs" config_parse,
    "../../fuzz_targets/conntrack.rs" conntrack,
    "../../fuzz_targets/export.rs" export,
    "../../fuzz_targets/flow_words.rs" flow_words,
    "../../fuzz_targets/fpm.rs" fpm,
    "../../fuzz_targets/graph.rs" graph,
    "../../fuzz_targets/lab_files.rs" lab_files,
    "../../fuzz_targets/lab_frames.rs" lab_frames,
    "../../fuzz_targets/lab_told.rs" lab_told,
    "../../fuzz_targets/lisp.rs" lisp,
    "../../fuzz_targets/listeners.rs" listeners,
    "../../fuzz_targets/memif_control.rs" memif_control,
    "../../fuzz_targets/openflow.rs" openflow,
    "../../fuzz_targets/ovsdb.rs" ovsdb,
    "../../fuzz_targets/reassembly.rs" reassembly,
    "../../fuzz_targets/routes_file.rs" routes_file,
    "../../fuzz_targets/rstp.rs" rstp,
    "../../fuzz_targets/sched_config.rs" sched_config,
    "../../fuzz_targets/state.rs" state,
    "../../fuzz_targets/vhost_control.rs" vhost_control,
    "../../fuzz_targets/virtio_header.rs" virtio_header,
    "../../fuzz_targets/wire_parse.rs" wire_parse,
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_target_is_run() {
    let files = std::fs::read_dir(fuzz().join("fuzz_targets")).expect("the folder of targets");
    let there: BTreeSet<_> = files
        .map(|file| file.expect("a file").path().file_stem().expect("a name").to_owned())
        .collect();
    let alone = ["router"]; // See `router.rs`.
    assert_eq!(there, NAMES.iter().chain(&alone).map(|name| (*name).into()).collect());
}
