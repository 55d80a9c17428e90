//! A port's counters as its driver keeps them.

use crate::ffi;
use std::ffi::CStr;

/// What every driver counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Packets that came and were handed to us.
    pub rx_packets: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Lost because we polled too slowly.
    pub rx_missed: u64,
    /// Broken when they came.
    pub rx_errors: u64,
    /// Lost because the pool was empty.
    pub rx_no_buffers: u64,
    /// Packets that the driver sent.
    pub tx_packets: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Not sent.
    pub tx_errors: u64,
}

/// Reads `port`'s counters.
pub(crate) fn read(port: u16) -> Result<PortStats, i32> {
    let mut raw = ffi::Stats::default();
    // SAFETY: the result is ours; a port that is gone is an error number.
    match unsafe { ffi::volley_port_stats(port, &mut raw) } {
        0 => Ok(PortStats {
            rx_packets: raw.rx_packets,
            rx_bytes: raw.rx_bytes,
            rx_missed: raw.rx_missed,
            rx_errors: raw.rx_errors,
            rx_no_buffers: raw.rx_no_buffers,
            tx_packets: raw.tx_packets,
            tx_bytes: raw.tx_bytes,
            tx_errors: raw.tx_errors,
        }),
        error => Err(error),
    }
}

/// Reads all that `port`'s driver counts, by the driver's names.
pub(crate) fn read_extended(port: u16) -> Result<Vec<(String, u64)>, i32> {
    // SAFETY: with no room the call only says how many there are.
    let count = unsafe { ffi::rte_eth_xstats_get_names(port, core::ptr::null_mut(), 0) };
    let size = u32::try_from(count).map_err(|_| count)?;
    let mut names: Vec<ffi::XstatName> = vec![[0; 64]; size as usize];
    let mut values = vec![ffi::Xstat { id: 0, value: 0 }; size as usize];
    // SAFETY: both have room for `size` entries.
    let (named, valued) = unsafe {
        let named = ffi::rte_eth_xstats_get_names(port, names.as_mut_ptr(), size);
        (named, ffi::rte_eth_xstats_get(port, values.as_mut_ptr(), size))
    };
    if named < 0 || valued < 0 {
        return Err(named.min(valued));
    }
    values.truncate(valued as usize);
    let pairs = values.iter().filter_map(|stat| {
        let name = names.get(usize::try_from(stat.id).ok()?)?;
        Some((text(name), stat.value))
    });
    Ok(pairs.collect())
}

/// A C text in an array.
pub(crate) fn text(array: &[core::ffi::c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|&c| c as u8).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}
