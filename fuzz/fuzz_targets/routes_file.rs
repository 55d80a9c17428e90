//! The route file reader, on any bytes: it never panics, and refusing and skipping agree.
#![no_main]

use fib::route_file::{FileRoutes, OnWrong, Rules, read_routes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    agree(bytes, false);
    agree(bytes, true);
});

fn agree(bytes: &[u8], bare_prefixes: bool) {
    let read = |on_wrong| -> Option<FileRoutes> {
        let rules = Rules { on_wrong, most_routes: usize::MAX, bare_prefixes };
        read_routes(bytes, rules, &mut |_| {}).ok()
    };
    let (strict, kept) = (read(OnWrong::Refuse), read(OnWrong::Skip));
    match (strict, kept) {
        // A file without a wrong line: both read the same.
        (Some(strict), Some(kept)) => {
            assert_eq!((strict.routes, kept.wrong_count), (kept.routes, 0));
        }
        // One wrong line refuses the file, and is told of by who keeps the good ones.
        (None, Some(kept)) => assert!(kept.wrong_count > 0 && !kept.wrong.is_empty()),
        (None, None) => {}
        (Some(_), None) => panic!("the strict reader took what the lenient one could not read"),
    }
}
