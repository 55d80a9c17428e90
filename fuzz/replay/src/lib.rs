//! Stands in for libFuzzer: runs a fuzz target over its seeds and over changes of them, always the
//! same, so that what it finds in CI is the change's. `make fuzz` looks for new ones, with
//! sanitizers and for as long as it is given.
//!
//! ```text
//!  fuzz/seeds/TARGET/* ─▶ as it is ─┐
//!  fuzz/kept/TARGET/*  ─▶ changed ──┴─▶ the target ─▶ a panic names the file, and prints the bytes
//! ```
//! `FUZZ_CHANGES` says otherwise how often each is changed: 0 where it is counted what the files
//! themselves come through (`scripts/fuzz coverage`, which builds with `--cfg counted`).

use std::fmt::Write;
use std::path::Path;

mod change;
#[cfg(counted)]
mod grow;

#[cfg(counted)]
pub use grow::grow;

/// How often each seed is changed, and each input that was kept of those that fuzzing found.
const CHANGES: u64 = 512;
const KEPT_CHANGES: u64 = 16;

/// What a target makes of bytes as they come; text that is none is left out, as libFuzzer does.
pub trait Input<'a>: Sized {
    /// The bytes as that, if they are.
    fn of(bytes: &'a [u8]) -> Option<Self>;
}

impl<'a> Input<'a> for &'a [u8] {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        Some(bytes)
    }
}

impl<'a> Input<'a> for &'a str {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok()
    }
}

/// As libFuzzer's macro of this name, but for the program that it would make.
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: $kind:ty| $body:expr) => {
        pub(crate) fn run(bytes: &[u8]) {
            if let Some($input) = <$kind as $crate::Input<'_>>::of(bytes) {
                $body
            }
        }
    };
}

/// Runs a target over the seeds of a folder and their changes; none there is a fault, too.
pub fn replay(folder: &Path, run: impl Fn(&[u8])) {
    replay_with(CHANGES, folder, run);
}

/// The same of inputs that were kept of those that fuzzing found, if any were.
pub fn replay_kept(folder: &Path, run: impl Fn(&[u8])) {
    if folder.is_dir() {
        replay_with(KEPT_CHANGES, folder, run);
    }
}

/// The same with so many changes of each seed, where one takes long.
pub fn replay_with(usual: u64, folder: &Path, run: impl Fn(&[u8])) {
    let said = std::env::var("FUZZ_CHANGES").ok();
    let changes = said.map_or(usual, |said| said.parse().expect("FUZZ_CHANGES is a number"));
    let mut seeds: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{}: no seeds", folder.display());
    let read = |path: &_| std::fs::read(path).expect("a seed can be read");
    let all: Vec<_> = seeds.iter().map(read).collect();
    for (path, seed) in seeds.iter().zip(&all) {
        let _told = Told { path, number: 0, bytes: seed };
        run(seed);
        for number in 1..=changes {
            let bytes = change::changed(seed, &all, number);
            let _told = Told { path, number, bytes: &bytes };
            run(&bytes);
        }
    }
}

/// Says what was run when it panicked.
struct Told<'a> {
    path: &'a Path,
    number: u64,
    bytes: &'a [u8],
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut hex = String::new();
            for byte in self.bytes {
                let _ = write!(hex, "{byte:02x}");
            }
            eprintln!("by {}, change {}:\n{hex}", self.path.display(), self.number);
        }
    }
}
