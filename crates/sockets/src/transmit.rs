//! Many packets a call.
//!
//! ```text
//!  packets   ▪ ▪ ▪ ▪ ▪        each a message of two parts: what Linux is to know of it │ its bytes
//!            └──┬──┘ └▶ the kernel refused this one: counted, and on with those behind it
//!               └▶ sent: copied, their buffers are free
//! ```

use crate::counts::add;
use crate::large::cut_of;
use crate::socket::Socket;
use crate::virtio::{HEADER_BYTES, Header, told_of};
use packet::{Burst, PacketBuf, PacketCache, TxQueue};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Messages a call.
const BATCH: usize = 64;
/// Of an ordinary packet there is nothing to be known.
pub(crate) const ORDINARY: Header = [0; HEADER_BYTES];

/// One transmit queue.
pub struct Sender {
    socket: Arc<Socket>,
    messages: Box<Messages>,
}

/// What a call is told. The messages point to parts and headers of their own, which stay where they
/// are.
struct Messages {
    messages: [libc::mmsghdr; BATCH],
    parts: [[libc::iovec; 2]; BATCH],
    headers: [Header; BATCH],
    /// Headers that are not those of ordinary packets.
    large: bool,
}

// SAFETY: the pointers lead into the same box, or to packets while a call lasts.
unsafe impl Send for Messages {}

impl Messages {
    fn new() -> Box<Self> {
        // SAFETY: zeroes are valid messages, parts and headers.
        let mut new: Box<Self> = unsafe { Box::new(core::mem::zeroed()) };
        let Self { messages, parts, headers, .. } = &mut *new;
        for ((message, parts), header) in messages.iter_mut().zip(parts).zip(headers) {
            parts[0] = libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: HEADER_BYTES };
            (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (parts.as_mut_ptr(), 2);
        }
        new
    }

    /// Makes a message of each packet; how many large frames there are.
    fn of(&mut self, packets: &[PacketBuf]) -> u64 {
        if core::mem::take(&mut self.large) {
            self.headers.fill(ORDINARY);
        }
        let mut large = 0;
        for (number, packet) in packets.iter().enumerate() {
            let bytes = packet.bytes();
            self.parts[number][1] =
                libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
            if packet.may_be_large()
                && let Some(header) = header_of(packet)
            {
                self.headers[number] = header;
                self.large = true;
                large += 1;
            }
        }
        large
    }
}

/// What is to be known of a packet that is said to be large, and still is.
#[cold]
pub(crate) fn header_of(packet: &PacketBuf) -> Option<Header> {
    let cut = cut_of(packet).filter(|cut| cut.is_plain() && cut.packets() > 1)?;
    Some(told_of(&cut, packet.bytes()))
}

/// What the kernel makes of the first packets.
enum Sent {
    /// So many are on their way.
    Some(usize),
    /// As many are on their way as may be.
    Full,
    /// The first cannot be sent.
    NotThis,
    /// Nothing can be sent.
    Nothing,
}

impl Sender {
    pub(crate) fn new(socket: Arc<Socket>) -> Self {
        Self { socket, messages: Messages::new() }
    }

    fn send_some(&mut self, count: usize) -> Sent {
        let (fd, list) = (self.socket.fd.as_raw_fd(), self.messages.messages.as_mut_ptr());
        loop {
            // SAFETY: so many messages, whose parts are headers of ours and packets that the caller
            // has.
            let sent = unsafe { libc::sendmmsg(fd, list, count as u32, libc::MSG_DONTWAIT) };
            if let Ok(sent @ 1..) = usize::try_from(sent) {
                return Sent::Some(sent);
            }
            return match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => continue,
                Some(libc::EAGAIN) => Sent::Full,
                Some(libc::ENETDOWN | libc::ENODEV | libc::ENXIO) => Sent::Nothing,
                // Among them ENOBUFS: the device's own queue took it and threw it away.
                _ => Sent::NotThis,
            };
        }
    }
}

impl TxQueue for Sender {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        while !packets.is_empty() {
            let batch = &packets[..packets.len().min(BATCH)];
            let (count, large) = (batch.len(), self.messages.of(batch));
            let sent = self.send_some(count);
            let counts = &self.socket.sent;
            match sent {
                Sent::Some(sent) => {
                    let bytes = packets[..sent].iter().map(|it| it.bytes().len() as u64).sum();
                    add(&counts.packets, sent as u64);
                    add(&counts.bytes, bytes);
                    if large != 0 {
                        let went = packets[..sent].iter().filter(|it| it.may_be_large()).count();
                        add(&counts.large, went as u64);
                    }
                    cache.release(packets.take_front(sent));
                }
                Sent::Full => return,
                Sent::NotThis => {
                    add(&counts.wrong, 1);
                    cache.release(packets.take_front(1));
                }
                Sent::Nothing => {
                    add(&counts.wrong, packets.len() as u64);
                    cache.release(packets.take_all());
                }
            }
        }
    }
}
