//! What a kind of port is to the rest of this crate: what DPDK must be told to open one, what such
//! a port can do, and what goes with it while it is open.
//!
//! ```text
//!  Kind       what is configured: a value      ─▶ driver
//!  Attendant  what goes with one open port     opened ─▶ stopping ─▶ … ─▶ closed
//! ```
//! A kind says what differs from the usual alone; see `kinds` for the list. None of this is on the
//! way of packets: queues get what they need of it when they are taken.

use crate::device::Shape;
use crate::driver::Driver;
use crate::linux::LinuxDevice;
use crate::privilege::Right;
use crate::{DpdkPool, Error};
use packet::Wakes;
use std::fmt;
use std::path::Path;

/// One kind of port and what it needs to know. It is shown by what tells two ports of the kind
/// apart.
pub(crate) trait Kind: fmt::Display {
    /// The kind as a configuration writes it.
    fn name(&self) -> &'static str;

    /// The driver of a port that is not open yet; what it cannot be told is an error.
    fn driver(&self, shape: Shape) -> Result<Box<dyn Driver>, Error>;

    /// The rights that opening one takes.
    fn rights(&self) -> &'static [Right] {
        &[]
    }

    /// The calls of Linux that it takes while it is open, opens and closes, beside those that every
    /// router makes: `rights::filter` has them by name.
    fn calls(&self) -> &'static [&'static str] {
        &[]
    }

    /// The Linux device behind the port, if there is one.
    fn linux_device(&self) -> Option<&str> {
        None
    }

    /// The Linux device comes with the port, and is not there before.
    fn makes_device(&self) -> bool {
        false
    }

    /// Frames of up to 64 KiB pass it whole: those that Linux merges, and those that it has not cut
    /// yet.
    fn takes_large(&self) -> bool {
        false
    }

    /// Each queue is a pair: whoever has a transmit queue must also poll its other half, as the
    /// other end may put packets there.
    fn has_queue_pairs(&self) -> bool {
        false
    }

    /// Linux may hand over frames whose checksums were left to a card.
    fn leaves_out_checksums(&self) -> bool {
        false
    }

    /// Its driver tells a device, or a program, where a packet lies: it must lie in DPDK's memory.
    fn tells_addresses(&self) -> bool {
        false
    }

    /// It is found on the bus of cards, which the environment must have looked at.
    fn is_card(&self) -> bool {
        false
    }

    /// Whose the MAC address is that its driver tells.
    fn address_is_of(&self) -> AddressOf {
        AddressOf::Port
    }

    /// Who is asked for another MTU.
    fn mtu_is_of(&self) -> MtuOf {
        MtuOf::DriverIfAnybody
    }

    /// The socket at which the port will listen.
    fn listens_at(&self) -> Option<&Path> {
        None
    }

    /// Several ports may listen at one socket.
    fn shares_socket(&self) -> bool {
        false
    }

    /// Its driver keeps buffers that it took for a port which it then failed to open.
    fn forgets_buffers(&self) -> bool {
        false
    }

    /// What goes with a port that is about to be opened.
    fn attendant(&self) -> Box<dyn Attendant> {
        Box::new(Nobody)
    }
}

/// Who has the MAC address that a port's driver tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressOf {
    /// The port, and its device must know when it gets another.
    Port,
    /// The port, which brings every frame whoever it is to: shared memory and files.
    PortThatBringsAll,
    /// The kernel, which is the other end of the wire.
    Kernel,
}

/// Who has a port's MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MtuOf {
    /// The Linux device: DPDK's driver is wrong about it.
    Linux,
    /// The driver.
    Driver,
    /// The driver, if it has one: shared memory and files carry whatever fits a buffer.
    DriverIfAnybody,
}

/// What goes with one open port, beside DPDK's part in it.
pub(crate) trait Attendant: Send {
    /// The port is there, whole or as far as its driver came, over the Linux device that it has.
    fn opened(&mut self, _: Option<&LinuxDevice>) {}

    /// The driver is about to stop, and no worker is in a queue.
    fn stopping(&mut self) {}

    /// The driver has closed the port and forgotten it.
    fn closed(&mut self, _: &DpdkPool) {}

    /// How it is to be learned that a receive queue has packets, without asking the driver.
    fn wakes(&self, _queue: u16) -> Wakes {
        Wakes::Unseen
    }
}

/// Nothing goes with most kinds.
struct Nobody;

impl Attendant for Nobody {}
