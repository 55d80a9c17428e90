//! When a port received each packet, by a clock of the port's: where packets carry it, and what
//! that clock says now.
//!
//! ```text
//!  cards      the driver writes into the packet      rte_eth_read_clock, or else the card's IEEE 1588 clock
//!  af_packet  the kernel's, by crate `sockets`       CLOCK_REALTIME
//! ```

use packet::PacketBuf;

use crate::ffi;

/// Where packets carry the time at which their port received them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveTimes {
    offset: usize,
    flag: u64,
}

/// Who takes a port's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortClock {
    /// The kernel, by CLOCK_REALTIME.
    Realtime,
    /// The device, by a counter that it lets be read.
    Counter,
    /// The device, by its IEEE 1588 clock.
    Ieee1588,
}

impl ReceiveTimes {
    /// Has DPDK set room in its packets aside; none without any left.
    pub(crate) fn register() -> Option<Self> {
        let (mut offset, mut flag) = (0, 0);
        // SAFETY: DPDK runs; both results are ours. Who registers it again gets the same.
        let code = unsafe { ffi::rte_mbuf_dyn_rx_timestamp_register(&mut offset, &mut flag) };
        let offset = usize::try_from(offset).ok()?;
        let inside = offset.is_multiple_of(8) && offset + 8 <= packet::MBUF_HEADER_BYTES;
        (code == 0 && inside).then_some(Self { offset, flag })
    }

    /// When the port received this packet, in ticks of its clock; none if it did not say.
    #[inline]
    pub fn of(&self, packet: &PacketBuf) -> Option<u64> {
        let stamped = packet.mbuf().ol_flags & self.flag != 0;
        // SAFETY: `offset` is one that DPDK set aside in the header, aligned and inside (see
        // `register`).
        stamped.then(|| unsafe { packet.as_ptr().byte_add(self.offset).cast::<u64>().read() })
    }

    pub(crate) fn put(&self, packet: &mut PacketBuf, time: u64) {
        if packet.is_shared() {
            return;
        }
        // SAFETY: as in `of`; nobody else holds the packet, and neither field says where its frame
        // is.
        unsafe {
            packet.mbuf_mut().ol_flags |= self.flag;
            packet.as_ptr().byte_add(self.offset).cast::<u64>().write(time);
        }
    }
}

impl PortClock {
    /// The clock by which port `number` of a card stamps, if it can be read.
    pub(crate) fn of_card(number: u16) -> Option<Self> {
        if Self::Counter.read(number).is_ok() {
            return Some(Self::Counter);
        }
        // SAFETY: an open port; drivers without such a clock refuse.
        let enabled = unsafe { ffi::rte_eth_timesync_enable(number) } == 0;
        (enabled && Self::Ieee1588.read(number).is_ok()).then_some(Self::Ieee1588)
    }

    /// Its time in ticks: nanoseconds but for counters, whose rate only comparing tells. Or an
    /// error number.
    #[inline]
    pub(crate) fn read(self, number: u16) -> Result<u64, i32> {
        if self == Self::Counter {
            let mut ticks = 0;
            // SAFETY: an open port; the result is ours.
            let code = unsafe { ffi::rte_eth_read_clock(number, &mut ticks) };
            return if code == 0 { Ok(ticks) } else { Err(code) };
        }
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: an open port, or a clock that every Linux has; the result is ours.
        let code = unsafe {
            match self {
                Self::Realtime => libc::clock_gettime(libc::CLOCK_REALTIME, &mut time),
                _ => ffi::rte_eth_timesync_read_time(number, &mut time),
            }
        };
        let ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
        if code == 0 { Ok(ns) } else { Err(code) }
    }
}
