//! How much tests try: little under Miri, which takes a thousand times as long.

use proptest::prelude::ProptestConfig;

/// So many cases of a property.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    ProptestConfig::with_cases(few(usual, 2))
}

/// `usual`, or what there is time for under Miri.
pub(crate) fn few<N>(usual: N, under_miri: N) -> N {
    if cfg!(miri) { under_miri } else { usual }
}
