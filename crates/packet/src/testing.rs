//! How often property tests try: seldom under Miri, which takes a thousand times as long.

use proptest::prelude::ProptestConfig;

pub(crate) fn cases() -> ProptestConfig {
    if cfg!(miri) {
        // Miri shows no file system to write failures to.
        return ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() };
    }
    ProptestConfig::default()
}
