//! What the ends of both links are called: fixed, so that traffic and devices agree on them.

use wire::MacAddr;

/// Addresses of the lab's ends.
pub const LAB_MACS: [MacAddr; 2] = [MacAddr([2, 0x4c, 0, 0, 0, 1]), MacAddr([2, 0x4c, 0, 0, 0, 2])];
/// Addresses of the device's ends, where they can be set.
pub const DEVICE_MACS: [MacAddr; 2] =
    [MacAddr([2, 0x44, 0, 0, 0, 1]), MacAddr([2, 0x44, 0, 0, 0, 2])];
/// Kernel devices at the lab's ends.
pub const LAB_DEVICES: [&str; 2] = ["g0", "g1"];
/// Kernel devices at the device's ends.
pub const DEVICE_DEVICES: [&str; 2] = ["d0", "d1"];
