//! A tap: a device of Linux's whose other end are files of ours, one for each queue.
//!
//! ```text
//!  file ─ readv ─▶ │ what Linux says of it │ an ordinary buffer │ the rest: a large one, or beside │
//!  file ◀─ writev ─ │ what Linux is to know │ the packet's bytes │
//! ```
//! Linux has no call for many packets of a tap. What makes it fast is that a frame of up to 64 KiB
//! is one of them (`IFF_VNET_HDR`, `TUNSETOFFLOAD`). How long a frame is nobody knows before it is
//! read: its first octets are copied once more where it is long.

use crate::counts::{Counters, Counts, add};
use crate::taking::{Fate, LEAST_BYTES, Taking};
use crate::transmit::{ORDINARY, header_of};
use crate::virtio::{HEADER_BYTES, Header, take_in};
use packet::{Burst, PacketBuf, PacketCache, RxQueue, TxQueue, Wakes};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Queues that a tap may have (`MAX_TAP_QUEUES` of Linux).
pub const MOST_QUEUES: u16 = 256;

/// `TUNSETVNETHDRSZ` and `TUNSETCARRIER` (`linux/if_tun.h`), which the C library does not name.
const SET_HEADER_BYTES: libc::Ioctl = 0x4004_54d8;
const SET_CARRIER: libc::Ioctl = 0x4004_54e2;
/// What Linux may leave to us: checksums; cutting TCP, with marks of congestion as well; cutting
/// UDP, which Linux has since 6.2.
const SUMS: libc::c_ulong = 0x01;
const CUT_TCP: libc::c_ulong = 0x02 | 0x04 | 0x08;
const CUT_UDP: libc::c_ulong = 0x20 | 0x40;

/// Buffers fetched at once.
const BATCH: usize = 32;

/// One file of a tap.
struct Queue {
    fd: OwnedFd,
    /// Large frames are not cut as they come.
    keeps_whole: AtomicBool,
    received: Counts,
    sent: Counts,
}

/// A tap.
pub struct Tap {
    queues: Vec<Arc<Queue>>,
}

impl Tap {
    /// Makes the device, or opens one of that name that Linux keeps, in this thread's network
    /// namespace. It is gone with the last of its files, if Linux does not keep it.
    pub fn open(name: &str, queues: u16) -> io::Result<Self> {
        let queues = queues.clamp(1, MOST_QUEUES);
        let open = |_| Queue::open(name, queues > 1).map(Arc::new);
        let tap = Self { queues: (0..queues).map(open).collect::<io::Result<_>>()? };
        tap.set_carrier(false);
        Ok(tap)
    }

    /// Receives what comes from here on.
    pub fn start(&self) {
        self.queues.iter().for_each(|queue| queue.empty());
        self.set_carrier(true);
    }

    /// Receives nothing more. No worker is in a queue.
    pub fn stop(&self) {
        self.set_carrier(false);
    }

    /// Linux's own end sees whether packets pass. Kernels before 5.0 do not know it.
    fn set_carrier(&self, on: bool) {
        if let Some(queue) = self.queues.first() {
            let mut on = i32::from(on);
            // SAFETY: reads a number of ours.
            _ = unsafe { libc::ioctl(queue.fd.as_raw_fd(), SET_CARRIER, &raw mut on) };
        }
    }

    /// Has large frames go on as they are, or Linux cut them before they come. At any time.
    pub fn keep_whole(&self, keep: bool) {
        for queue in &self.queues {
            // What waits already is cut here.
            queue.keeps_whole.store(keep, Ordering::Relaxed);
            queue.offer(keep);
        }
    }

    /// Queues, each a pair.
    pub fn queues(&self) -> u16 {
        self.queues.len() as u16
    }

    /// Asks, or tells, the device something that any of its files answers.
    ///
    /// # Safety
    /// The request's union holds what `number` reads.
    pub unsafe fn ask(&self, number: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
        let queue = self.queues.first().ok_or(io::ErrorKind::NotConnected)?;
        // SAFETY: the request is ours to be written to; the caller filled it.
        match unsafe { libc::ioctl(queue.fd.as_raw_fd(), number, request as *mut libc::ifreq) } {
            0.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// A receive queue, which has one user. Large frames stay whole in buffers of `large`; without
    /// it they are cut.
    pub fn receiver(&self, queue: u16, large: Option<Box<dyn PacketCache>>) -> Option<TapReceiver> {
        let queue = Arc::clone(self.queues.get(usize::from(queue))?);
        Some(TapReceiver { queue, taking: Taking::new(large, None) })
    }

    /// A transmit queue, which has one user.
    pub fn sender(&self, queue: u16) -> Option<TapSender> {
        Some(TapSender { queue: Arc::clone(self.queues.get(usize::from(queue))?) })
    }

    /// What each receive queue did.
    pub fn received(&self) -> impl Iterator<Item = Counters> + Clone + '_ {
        self.queues.iter().map(|queue| queue.received.told())
    }

    /// What each transmit queue did.
    pub fn sent(&self) -> impl Iterator<Item = Counters> + Clone + '_ {
        self.queues.iter().map(|queue| queue.sent.told())
    }
}

impl Queue {
    fn open(name: &str, of_several: bool) -> io::Result<Self> {
        let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NONBLOCK;
        // SAFETY: a fresh descriptor, owned at once.
        let fd = unsafe {
            match libc::open(c"/dev/net/tun".as_ptr(), flags) {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        let attached = attach(&fd, name, of_several);
        // One that Linux keeps may have been made for several.
        attached.or_else(|error| match error.raw_os_error() {
            Some(libc::EINVAL) if !of_several => attach(&fd, name, true),
            _ => Err(error),
        })?;
        let mut bytes = HEADER_BYTES as i32;
        // SAFETY: reads a number of ours.
        if unsafe { libc::ioctl(fd.as_raw_fd(), SET_HEADER_BYTES, &raw mut bytes) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let keeps_whole = AtomicBool::new(true);
        let queue = Self { fd, keeps_whole, received: Counts::default(), sent: Counts::default() };
        queue.offer(true);
        Ok(queue)
    }

    /// Has Linux leave us what we can do.
    fn offer(&self, whole: bool) {
        let offers: &[libc::c_ulong] =
            if whole { &[SUMS | CUT_TCP | CUT_UDP, SUMS | CUT_TCP] } else { &[SUMS] };
        for offer in offers {
            // SAFETY: the number itself is what is told.
            if unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::TUNSETOFFLOAD, *offer) } == 0 {
                return;
            }
        }
    }

    /// Throws away what came.
    fn empty(&self) {
        let (mut header, mut byte) = (ORDINARY, [0]);
        while self.read(&mut header, &mut byte, &mut []).is_ok_and(|read| read != 0) {}
    }

    /// The next frame: its first octets, and the rest; how many there were in all.
    fn read(&self, header: &mut Header, first: &mut [u8], rest: &mut [u8]) -> io::Result<usize> {
        let parts = [part(header), part(first), part(rest)];
        // SAFETY: three parts of ours, written as far as they go.
        let read = unsafe { libc::readv(self.fd.as_raw_fd(), parts.as_ptr(), 3) };
        match usize::try_from(read) {
            Ok(read) => Ok(read.saturating_sub(HEADER_BYTES)),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }
}

fn part(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}

/// Makes a file one of the device's.
fn attach(fd: &OwnedFd, name: &str, of_several: bool) -> io::Result<()> {
    if name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    // SAFETY: zeroes are a valid request.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let more = if of_several { libc::IFF_MULTI_QUEUE } else { 0 };
    let flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR | more;
    request.ifr_ifru.ifru_flags = flags as i16;
    // SAFETY: reads the name and the flags, and writes the name.
    match unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// One receive queue of a tap.
pub struct TapReceiver {
    queue: Arc<Queue>,
    taking: Taking,
}

impl TapReceiver {
    /// The next frame; none where there is none.
    fn take(&mut self, packet: PacketBuf) -> Option<Fate> {
        let queue = Arc::clone(&self.queue);
        let counts = &queue.received;
        let keeps_whole = self.taking.large.is_some() && queue.keeps_whole.load(Ordering::Relaxed);
        let large = self.taking.large.as_mut().filter(|_| keeps_whole);
        match large.and_then(|large| large.allocate_one()) {
            Some(large) => self.take_or_whole(packet, large, counts),
            None => self.take_or_beside(packet, (keeps_whole, counts)),
        }
    }

    /// What fits no ordinary buffer goes on in the large one.
    fn take_or_whole(
        &mut self,
        mut packet: PacketBuf,
        mut large: PacketBuf,
        counts: &Counts,
    ) -> Option<Fate> {
        let (mut header, mut read) = (ORDINARY, None);
        let room_of_packet = packet.capacity_bytes();
        let filled = large.fill_by(|whole| {
            let first = room_of_packet.min(whole.len());
            packet.fill_by(|room| {
                read = self.queue.read(&mut header, &mut room[..first], &mut whole[first..]).ok();
                read.unwrap_or(0)
            });
            match read {
                Some(length) if length > first => {
                    whole[..first].copy_from_slice(packet.bytes());
                    length
                }
                _ => 0,
            }
        });
        if filled && !large.bytes().is_empty() {
            self.taking.fresh.push(packet);
            let take = |frame: &mut [u8]| take_in(&header, frame, 0);
            return Some(self.taking.settle_large(large, take, counts));
        }
        if let Some(cache) = &mut self.taking.large {
            cache.release_one(large);
        }
        self.settle(packet, read, header, (true, counts))
    }

    /// What fits no ordinary buffer lies beside.
    fn take_or_beside(&mut self, mut packet: PacketBuf, kept: (bool, &Counts)) -> Option<Fate> {
        let (mut header, mut read) = (ORDINARY, None);
        let room_of_packet = packet.capacity_bytes();
        let beside = self.taking.room_beside();
        packet.fill_by(|room| {
            let rest = beside.get_mut(room.len()..).unwrap_or_default();
            read = self.queue.read(&mut header, room, rest).ok();
            read.unwrap_or(0)
        });
        match read {
            Some(length) if length > room_of_packet => {
                beside[..room_of_packet].copy_from_slice(packet.bytes());
                self.taking.fresh.push(packet);
                let take = |frame: &mut [u8]| take_in(&header, frame, 0);
                Some(self.taking.settle_beside(length, take, 0))
            }
            _ => self.settle(packet, read, header, kept),
        }
    }

    /// What came of a frame that fits an ordinary buffer.
    fn settle(
        &mut self,
        mut packet: PacketBuf,
        read: Option<usize>,
        header: Header,
        kept: (bool, &Counts),
    ) -> Option<Fate> {
        let Some(length) = read.filter(|length| *length != 0) else {
            self.taking.fresh.push(packet);
            return None;
        };
        if length < LEAST_BYTES {
            self.taking.fresh.push(packet);
            return Some(Fate::Wrong);
        }
        let told = take_in(&header, packet.bytes_mut(), 0);
        Some(self.taking.settle(packet, told, 0, kept))
    }
}

impl RxQueue for TapReceiver {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let queue = Arc::clone(&self.queue);
        let (counts, first) = (&queue.received, into.len());
        loop {
            let left = most - (into.len() - first);
            self.taking.go_on_cutting(counts, cache, left, into);
            let left = most - (into.len() - first);
            if left == 0 || self.taking.rest.is_some() {
                break;
            }
            let packet = match self.taking.fresh.pop() {
                Some(packet) => Some(packet),
                None => {
                    // Mostly nothing waits: one buffer is enough to see that.
                    let mut wanted = if into.len() == first { 1 } else { left.min(BATCH) };
                    while wanted != 0 && !cache.allocate(wanted, &mut self.taking.fresh) {
                        wanted /= 2;
                    }
                    self.taking.fresh.pop()
                }
            };
            // Without a buffer what waits is Linux's to keep, or to drop and count.
            let Some(packet) = packet else {
                add(&counts.no_buffers, 1);
                break;
            };
            match self.take(packet) {
                None => break,
                Some(fate) => self.taking.keep(fate, counts, into),
            }
        }
        self.taking.give_back(cache);
    }

    fn before_rest(&mut self) -> Wakes {
        match self.taking.rest {
            Some(_) => Wakes::Unseen,
            None => Wakes::Readable(self.queue.fd.as_raw_fd()),
        }
    }
}

/// One transmit queue of a tap.
pub struct TapSender {
    queue: Arc<Queue>,
}

impl TapSender {
    fn write(&self, header: &mut Header, bytes: &[u8]) -> io::Result<()> {
        let body = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let parts = [part(header), body];
        loop {
            // SAFETY: two parts, read only.
            if unsafe { libc::writev(self.queue.fd.as_raw_fd(), parts.as_ptr(), 2) } >= 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

impl TxQueue for TapSender {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let counts = &self.queue.sent;
        while let Some(packet) = packets.first() {
            let large = packet.may_be_large().then(|| header_of(packet)).flatten();
            let mut header = large.unwrap_or(ORDINARY);
            match self.write(&mut header, packet.bytes()) {
                Ok(()) => {
                    add(&counts.packets, 1);
                    add(&counts.bytes, packet.bytes().len() as u64);
                    add(&counts.large, u64::from(large.is_some()));
                    cache.release(packets.take_front(1));
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => return,
                    // Linux's end is switched off, or gone: nothing passes.
                    Some(libc::EIO | libc::EBADFD) => {
                        add(&counts.wrong, packets.len() as u64);
                        cache.release(packets.take_all());
                    }
                    _ => {
                        add(&counts.wrong, 1);
                        cache.release(packets.take_front(1));
                    }
                },
            }
        }
    }
}
