//! The source theses' own tables, to fit their formulas to and to print ours beside.
//!
//! VPP v18.10, one worker on a Xeon E3-1230, 64-octet frames; other routers on the same machine.

/// Clocks of the table's columns.
pub const CLOCKS_GHZ: [f64; 3] = [1.6, 3.1, 3.2];

/// Mpps of VPP 18.10 at each of the clocks.
pub const VPP_MPPS: [(&str, [f64; 3]); 8] = [
    ("L2 cross-connect", [7.34, 12.90, 13.20]),
    ("L2 bridge, plain", [6.69, 11.84, 12.18]),
    ("IPv4, 1 route", [6.03, 10.98, 11.28]),
    ("L2 bridge, learning and ageing", [6.05, 10.84, 11.09]),
    ("IPv6, 1 route", [5.38, 9.87, 10.14]),
    ("VXLAN encapsulation", [4.48, 8.15, 8.21]),
    ("IPv4, 255k routes", [4.19, 7.06, 7.25]),
    ("IPv6, 255k routes", [2.34, 3.72, 3.80]),
];

/// Mpps of others, by number of routes.
pub const OTHERS_MPPS: [(&str, &[(u64, f64)]); 5] = [
    ("MoonRoute", &[(1, 14.6), (1 << 20, 14.2), (1 << 24, 11.6)]),
    ("FastClick", &[(1, 10.4), (1 << 20, 10.4)]),
    ("VPP 16.09", &[(1, 9.7), (255_000, 9.2), (1 << 20, 8.5), (1 << 23, 6.5)]),
    ("Click", &[(1, 4.3), (1 << 20, 4.2)]),
    ("Linux", &[(1, 1.5)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_per_packet_follow_from_the_rates_at_the_full_clock() {
        let cycles: Vec<u32> =
            VPP_MPPS.iter().map(|(_, mpps)| (3_200.0 / mpps[2]).round() as u32).collect();
        assert_eq!(cycles, [242, 263, 284, 289, 316, 390, 441, 842]);
    }
}
