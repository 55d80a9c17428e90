//! The flow hash: the packets of one flow take one way, different flows spread evenly.

/// Mixes a flow's addresses, protocol and ports (source port in the upper half). Routers in a row
/// should differ in `seed`, or each would send all flows it gets one way.
#[inline]
pub fn flow_hash(seed: u32, source: u128, destination: u128, protocol: u8, ports: u32) -> u32 {
    // Two mixtures that do not wait for each other: each has the seed, lest what is alike in one
    // be so with every seed.
    let seed = u64::from(seed);
    let marks = mix(seed << 8 | u64::from(protocol), u64::from(ports));
    let source = source as u64 ^ mix((source >> 64) as u64, 1);
    let destination = destination as u64 ^ mix((destination >> 64) as u64, 2);
    let state = marks ^ mix(source ^ seed << 32, destination);
    // Of neighbours among addresses the upper bits, which decide, may differ in too few: with one
    // seed in thirty 16 of them went one of two ways. The lower ones are brought up to them.
    (state.wrapping_mul(GOLDEN) >> 32) as u32
}

/// 2⁶⁴ over the golden ratio: odd, with as many ones as zeros.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// One multiplication whose halves are folded: every input bit reaches every output bit.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    // Odd constants with as many ones as zeros, so that zeros in the input do not annul.
    let product = u128::from(a ^ GOLDEN) * u128::from(b ^ 0xd1b5_4a32_d192_ed03);
    (product >> 64) as u64 ^ product as u64
}
