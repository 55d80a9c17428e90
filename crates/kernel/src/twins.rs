//! All twins, and the thread that carries their packets.
//!
//! ```text
//!  control thread: orders ──▶ ┌────────┐ ──▶ twins that are gone: control thread
//!  workers: packets, bounded ▶│ thread │ ──▶ taps
//!  taps: frames ─────────────▶└────────┘ ──▶ injected, bounded: the first worker
//! ```
//! The thread alone has the taps' files: a twin is there for as long as its file is.

use crate::twin::{Twin, TwinState, TwinTraffic};
use crate::{KernelError, Namespace, Waker};
use nodes::tables::{Injected, Injector, ToTwin};
use packet::{PacketBuf, PacketCache, Pool};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use wire::cut::Cut;

/// Frames read of one tap before it is the next one's turn.
const BURST: usize = 64;
/// The longest frame: 64 KiB and a link header.
const LONGEST: usize = (64 << 10) + 18;

enum Order {
    Add {
        interface: u16,
        tap: OwnedFd,
        traffic: Arc<TwinTraffic>,
    },
    /// Tells when the tap is closed.
    Remove {
        interface: u16,
        done: Sender<()>,
    },
}

/// The control thread's hold on all twins. Dropped, it ends them.
pub struct Twins {
    twins: BTreeMap<u16, (Twin, Arc<TwinTraffic>)>,
    /// None when the thread is to end.
    orders: Option<Sender<Order>>,
    gone: Receiver<u16>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Twins {
    /// Starts the thread. `packets` are what workers hand over, who then call `waker`; `told` is
    /// called when frames were injected or a twin is gone.
    pub fn start(
        pool: &Arc<dyn Pool>,
        injector: Injector,
        packets: Receiver<ToTwin>,
        waker: Waker,
        told: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self, KernelError> {
        let (orders, orders_for_it) = channel();
        let (gone_of_it, gone) = channel();
        let carrier = Carrier {
            taps: HashMap::new(),
            orders: orders_for_it,
            packets,
            gone: gone_of_it,
            injector,
            cache: pool.cache(),
            waker: waker.clone(),
            told,
            frame: vec![0; LONGEST],
        };
        let thread = std::thread::Builder::new().name("twins".into()).spawn(|| carrier.run());
        let thread = Some(thread.map_err(KernelError::Thread)?);
        Ok(Self { twins: BTreeMap::new(), orders: Some(orders), gone, waker, thread })
    }

    /// Makes the twin of an interface that has none.
    pub fn add(
        &mut self,
        interface: u16,
        name: &str,
        namespace: &Namespace,
        state: &TwinState,
    ) -> Result<(), KernelError> {
        let (mut twin, tap) = Twin::make(name, namespace)?;
        twin.set(state)?;
        let traffic = Arc::new(TwinTraffic::default());
        self.order(Order::Add { interface, tap, traffic: Arc::clone(&traffic) });
        self.twins.insert(interface, (twin, traffic));
        Ok(())
    }

    /// Makes the twin of an interface look as it should, if it has one.
    pub fn set(&mut self, interface: u16, state: &TwinState) -> Result<(), KernelError> {
        let twin = self.twins.get_mut(&interface);
        twin.map_or(Ok(()), |(twin, _)| twin.set(state))
    }

    /// Ends the twin of an interface.
    pub fn remove(&mut self, interface: u16) {
        if self.twins.remove(&interface).is_some() {
            let (done, ended) = channel();
            self.order(Order::Remove { interface, done });
            // A thread that ended has closed it, too.
            let _closed = ended.recv();
        }
    }

    /// An interface whose twin was taken away by somebody else.
    pub fn next_gone(&mut self) -> Option<u16> {
        let interface = self.gone.try_recv().ok()?;
        self.twins.remove(&interface);
        Some(interface)
    }

    /// Whether an interface has a twin.
    pub fn has(&self, interface: u16) -> bool {
        self.twins.contains_key(&interface)
    }

    /// The kernel's number of the twin of an interface.
    pub fn index_of(&self, interface: u16) -> Option<u32> {
        self.twins.get(&interface).map(|(twin, _)| twin.index)
    }

    /// Packets of the twin of an interface.
    pub fn traffic(&self, interface: u16) -> Option<&TwinTraffic> {
        self.twins.get(&interface).map(|(_, traffic)| &**traffic)
    }

    fn order(&self, order: Order) {
        if self.orders.as_ref().is_some_and(|orders| orders.send(order).is_err()) {
            tracing::error!(fault = "twins-ended", "the thread of the kernel's twins has ended");
        }
        self.waker.wake();
    }
}

impl Drop for Twins {
    fn drop(&mut self) {
        self.orders = None;
        self.waker.wake();
        // One that panicked has told so.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

/// The thread.
struct Carrier {
    taps: HashMap<u16, (OwnedFd, Arc<TwinTraffic>)>,
    orders: Receiver<Order>,
    packets: Receiver<ToTwin>,
    gone: Sender<u16>,
    injector: Injector,
    cache: Box<dyn PacketCache>,
    waker: Waker,
    told: Arc<dyn Fn() + Send + Sync>,
    frame: Vec<u8>,
}

impl Carrier {
    fn run(mut self) {
        loop {
            let ready = match self.wait() {
                Ok(ready) => ready,
                Err(error) => {
                    tracing::error!(fault = "twins-ended", %error, "twins carry packets no more");
                    break;
                }
            };
            self.waker.answer();
            if !self.obey() {
                break;
            }
            self.write();
            for interface in ready {
                self.read(interface);
            }
        }
        while let Ok(ToTwin { packet, .. }) = self.packets.try_recv() {
            self.cache.release_one(packet);
        }
    }

    /// Waits until there is something to do; says which taps have something to read, or are gone.
    fn wait(&self) -> io::Result<Vec<u16>> {
        let mut waiting = vec![PollFd::new(&self.waker, PollFlags::IN)];
        let mut interfaces = Vec::with_capacity(self.taps.len());
        for (interface, (tap, _)) in &self.taps {
            interfaces.push(*interface);
            waiting.push(PollFd::new(tap, PollFlags::IN));
        }
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = interfaces.into_iter().zip(&waiting[1..]);
        Ok(ready.filter(|(_, it)| !it.revents().is_empty()).map(|(id, _)| id).collect())
    }

    /// Carries out orders; false when no more will come.
    fn obey(&mut self) -> bool {
        use std::sync::mpsc::TryRecvError::{Disconnected, Empty};
        loop {
            match self.orders.try_recv() {
                Ok(Order::Add { interface, tap, traffic }) => {
                    self.taps.insert(interface, (tap, traffic));
                }
                Ok(Order::Remove { interface, done }) => {
                    self.taps.remove(&interface);
                    let _nobody_waits = done.send(());
                }
                Err(Empty) => return true,
                Err(Disconnected) => return false,
            }
        }
    }

    /// Gives the kernel what workers handed over.
    fn write(&mut self) {
        while let Ok(ToTwin { interface, packet }) = self.packets.try_recv() {
            if let Some((tap, traffic)) = self.taps.get(&interface) {
                let give = |frame: &[u8]| {
                    let written = rustix::io::write(tap, frame);
                    let refused = written.is_err();
                    let counter = if refused { &traffic.refused } else { &traffic.to_kernel };
                    counter.fetch_add(1, Ordering::Relaxed);
                    if let Err(error) = written {
                        let fault = "twin-refused";
                        let what = "the kernel refused a twin's packet";
                        tracing::warn!(fault, interface, %error, "{what}");
                    }
                };
                for_each_piece(&packet, give);
            }
            self.cache.release_one(packet);
        }
    }

    /// Sends what the kernel sends.
    fn read(&mut self, interface: u16) {
        for _ in 0..BURST {
            let Some((tap, traffic)) = self.taps.get(&interface) else { return };
            let length = match rustix::io::read(tap, &mut self.frame[..]) {
                Ok(length) => length,
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(error) => {
                    self.taps.remove(&interface);
                    tracing::debug!(interface, %error, "a twin cannot be read any more");
                    // Nobody asks when all twins end.
                    let _nobody_asks = self.gone.send(interface);
                    break;
                }
            };
            let copy = self.cache.copy_of(&self.frame[..length]);
            let sent = copy.is_some_and(|packet| {
                let sent = self.injector.send(Injected::Frame { interface, packet });
                let back = sent.err().and_then(Injected::into_packet);
                back.map(|packet| self.cache.release_one(packet)).is_none()
            });
            let counter = if sent { &traffic.from_kernel } else { &traffic.lost };
            counter.fetch_add(1, Ordering::Relaxed);
        }
        (self.told)();
    }
}

/// What the kernel is to get of a packet: itself, or what it is cut into where it is a large one,
/// of which a tap without offloads knows nothing.
fn for_each_piece(packet: &PacketBuf, mut give: impl FnMut(&[u8])) {
    let cut = packet.large().and_then(|large| {
        Cut::new(packet.bytes(), Some(large.transport.into()), large.size.into())
    });
    let Some(cut) = cut else { return give(packet.bytes()) };
    let mut piece = vec![0; cut.longest()];
    for number in 0..cut.packets() {
        if let Some(length) = cut.write(packet.bytes(), number, &mut piece) {
            give(&piece[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{HeapPool, Large};
    use wire::craft;

    #[test]
    fn a_large_frame_reaches_a_twin_in_packets_of_its_link() {
        let frame = craft::ethernet([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2])
            .tcp(1, 22)
            .payload(&[7; 3000])
            .build();
        let pool = HeapPool::new(1, 9000).unwrap();
        let mut cache = pool.cache();
        let mut packet = cache.copy_of(&frame).unwrap();
        let lengths = |packet: &PacketBuf| {
            let mut lengths = Vec::new();
            for_each_piece(packet, |piece| lengths.push(piece.len()));
            lengths
        };
        assert_eq!(lengths(&packet), [3054]);
        assert!(packet.set_large(Some(Large { transport: 34, payload: 54, size: 1400 })));
        assert_eq!(lengths(&packet), [1454, 1454, 254]);
        cache.release_one(packet);
    }
}
