//! How many table entries a cache holds, and where a measured curve leaves it.
//!
//! ```text
//! rate │▔▔▔▔▔╲                 entries that fit n octets: n / octets per entry
//!      │      ╲▁▁▁▁▁           L2 16, IPv6 24 (the source prints 8/(128+32); it means 24 octets)
//!      └──────┴───── log entries
//! ```

/// Octets that an L2 entry takes, by the source.
pub const L2_ENTRY_BYTES: f64 = 16.0;
/// Octets that an IPv6 entry takes, by the source.
pub const IP6_ENTRY_BYTES: f64 = 24.0;

/// Entries that a cache of this size holds.
pub fn entries_that_fit(cache_bytes: f64, entry_bytes: f64) -> f64 {
    cache_bytes / entry_bytes
}

/// Where a curve of (entries, rate) breaks: the number of entries that splits it best into two flat
/// parts, on a log scale. None of fewer than four points, or of a curve that does not fall.
pub fn knee(curve: &[(f64, f64)]) -> Option<f64> {
    if curve.len() < 4 {
        return None;
    }
    let mean = |part: &[(f64, f64)]| part.iter().map(|it| it.1).sum::<f64>() / part.len() as f64;
    let within = |part: &[(f64, f64)]| {
        let mean = mean(part);
        part.iter().map(|it| (it.1 - mean).powi(2)).sum::<f64>()
    };
    let cut = (1..curve.len()).min_by(|&a, &b| {
        let of = |cut: usize| within(&curve[..cut]) + within(&curve[cut..]);
        of(a).total_cmp(&of(b))
    })?;
    let falls = mean(&curve[cut..]) < 0.98 * mean(&curve[..cut]);
    falls.then(|| (curve[cut - 1].0 * curve[cut].0).sqrt())
}

/// Octets per entry that explain a knee at a cache of this size.
pub fn bytes_per_entry(cache_bytes: f64, knee_entries: f64) -> f64 {
    cache_bytes / knee_entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_of_a_curve_tells_the_octets_of_an_entry() {
        let cache_bytes = 8.0 * 1024.0 * 1024.0;
        let fit = entries_that_fit(cache_bytes, L2_ENTRY_BYTES);
        let curve: Vec<(f64, f64)> = (0..48)
            .map(|step| 1.4f64.powi(step))
            .map(|entries| (entries, if entries < fit { 12.0 } else { 7.0 }))
            .collect();
        let found = bytes_per_entry(cache_bytes, knee(&curve).unwrap());
        assert!((found / L2_ENTRY_BYTES - 1.0).abs() < 0.2, "{found}");
    }

    #[test]
    fn a_flat_or_rising_curve_has_no_knee() {
        assert_eq!(knee(&[(1.0, 5.0); 8]), None);
        assert_eq!(knee(&[(1.0, 5.0), (2.0, 6.0), (3.0, 7.0), (4.0, 8.0)]), None);
        assert_eq!(knee(&[(1.0, 5.0)]), None);
    }
}
