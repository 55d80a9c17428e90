//! What others do: DPDK's scheduler and the kernel's, called through the C files in `reference/`.

#![allow(unsafe_code, reason = "every call crosses into C")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::NonNull;

mod c {
    use super::{c_char, c_int, c_void};

    unsafe extern "C" {
        pub(super) fn reference_start() -> c_int;
        pub(super) fn reference_new(classes: u32, queue_packets: u16) -> *mut c_void;
        pub(super) fn reference_run(reference: *mut c_void, packets: u32) -> u64;
        pub(super) fn reference_send(device: *const c_char, classes: u32, packets: u32) -> i64;
    }
}

/// Starts DPDK in this process's own memory.
pub(crate) fn start() -> Result<(), String> {
    // SAFETY: called once, before any other call, from the only thread.
    match unsafe { c::reference_start() } {
        0 => Ok(()),
        status => Err(format!("DPDK does not start: {status}")),
    }
}

/// `rte_sched` under load. It lives until the process ends.
pub(crate) struct RteSched(NonNull<c_void>);

impl RteSched {
    /// A link with so many classes.
    pub(crate) fn new(classes: u32) -> Result<Self, String> {
        // A queue for each class must not overflow, and there are four times as many as classes.
        let queue_packets = if classes < 100 { 512 } else { 64 };
        // SAFETY: DPDK was started; what comes back is checked.
        let made = unsafe { c::reference_new(classes, queue_packets) };
        NonNull::new(made).map(Self).ok_or_else(|| format!("rte_sched refuses {classes} classes"))
    }

    /// Cycles of the time-stamp counter for so many packets in and out.
    pub(crate) fn run(&mut self, packets: u32) -> u64 {
        // SAFETY: it is what `reference_new` made, and nobody else has it.
        unsafe { c::reference_run(self.0.as_ptr(), packets) }
    }
}

/// Nanoseconds of this thread's processor time for so many packets sent by a device of this kernel.
pub(crate) fn send(device: &str, classes: u32, packets: u32) -> Result<i64, String> {
    let name = CString::new(device).map_err(|error| error.to_string())?;
    // SAFETY: the name ends with a zero and outlives the call.
    match unsafe { c::reference_send(name.as_ptr(), classes, packets) } {
        ns @ 0.. => Ok(ns),
        _ => Err(format!("{device} does not send: {}", std::io::Error::last_os_error())),
    }
}
