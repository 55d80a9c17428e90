//! One twin: a tap that looks as our interface does.

use crate::rtnetlink::Conversation;
use crate::{KernelError, Namespace, tap};
use netlink::Request;
use netlink::link::{self, LinkState};
use netlink::vrf;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;

/// EBUSY, EEXIST: another link has the name. EINVAL: and it is no tap.
const TAKEN: [i32; 3] = [16, 17, 22];
/// EADDRNOTAVAIL: the address is gone already.
const NO_ADDRESS: i32 = 99;

/// What a twin is to look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwinState {
    /// Its MAC address.
    pub mac: [u8; 6],
    /// Longest packet.
    pub mtu: u16,
    /// Administratively up.
    pub up: bool,
    /// Packets can pass.
    pub carrier: bool,
    /// The kernel's number of the VRF that it is in, if that is not the default one.
    pub vrf: Option<u32>,
    /// Its addresses with the lengths of their prefixes.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// Packets of one twin.
#[derive(Debug, Default)]
pub struct TwinTraffic {
    /// Given to the kernel.
    pub to_kernel: AtomicU64,
    /// Not taken by the kernel: the twin is down, or its queue full.
    pub refused: AtomicU64,
    /// Sent by the kernel.
    pub from_kernel: AtomicU64,
    /// Sent by the kernel, and lost here: no buffer, or too many at once.
    pub lost: AtomicU64,
}

/// The control thread's hold on a twin.
pub(crate) struct Twin {
    name: String,
    pub(crate) index: u32,
    conversation: Conversation,
    state: Option<TwinState>,
    /// The VRF that it was put into.
    vrf: Option<u32>,
}

/// Routing protocols hear what routers on the link advertise, but the kernel is not to follow it:
/// whoever is on the link could give the twin an address, and zebra a default route.
fn keep_to_itself(name: &str) -> io::Result<()> {
    match fs::write(format!("/proc/sys/net/ipv6/conf/{name}/accept_ra"), "0") {
        // A kernel without IPv6 follows nobody.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

impl Twin {
    /// Makes a twin; the file is the end that packets go through.
    pub(crate) fn make(name: &str, namespace: &Namespace) -> Result<(Self, OwnedFd), KernelError> {
        let made = namespace.run(|| {
            let file = tap::open(name)?;
            keep_to_itself(name)?;
            let mut conversation = Conversation::open()?;
            let index = conversation.index_of(name)?;
            Ok::<_, io::Error>((file, conversation, index))
        })?;
        let (file, mut conversation, index) = made.map_err(|why| match why.raw_os_error() {
            Some(code) if TAKEN.contains(&code) => KernelError::Taken(name.to_owned()),
            _ => KernelError::Tap { name: name.to_owned(), why },
        })?;
        // A kernel without IPv6 has no such setting, and makes no address either.
        let _no_ip6 = conversation.ask(link::no_own_ip6(index));
        Ok((Self { name: name.to_owned(), index, conversation, state: None, vrf: None }, file))
    }

    /// Makes it look as it should. What the kernel refuses of it does not keep it from the rest.
    pub(crate) fn set(&mut self, wanted: &TwinState) -> Result<(), KernelError> {
        if self.state.as_ref() == Some(wanted) {
            return Ok(());
        }
        let had = self.state.take();
        let other_mac = had.as_ref().is_none_or(|had| had.mac != wanted.mac);
        let had = had.map_or_else(Vec::new, |state| state.addresses);
        let TwinState { mac, mtu, up, carrier, vrf, ref addresses } = *wanted;
        let state = LinkState { mac: other_mac.then_some(mac), mtu, up, carrier };
        // First: a link that goes into a VRF goes down for a moment, its IPv6 addresses with it.
        let mut outcome = self.put(vrf);
        let set = self.ask("set MAC, MTU or state", link::set(self.index, &state));
        outcome = outcome.and(set);
        for &(address, length) in had.iter().filter(|own| !addresses.contains(own)) {
            let gone = self.ask_about(address, length, false);
            outcome = outcome.and(gone.or_else(|error| match &error {
                KernelError::Refused { why, .. } if why.raw_os_error() == Some(NO_ADDRESS) => {
                    Ok(())
                }
                _ => Err(error),
            }));
        }
        // The kernel forgets some when others go, or the link goes down: all are given again.
        for &(address, length) in addresses {
            outcome = outcome.and(self.ask_about(address, length, true));
        }
        // After a refusal it is tried again with the next change.
        self.state = outcome.is_ok().then(|| wanted.clone());
        outcome
    }

    fn put(&mut self, into: Option<u32>) -> Result<(), KernelError> {
        if self.vrf != into {
            self.ask("set the VRF", vrf::put(self.index, into))?;
            self.vrf = into;
        }
        Ok(())
    }

    fn ask_about(&mut self, address: IpAddr, length: u8, wanted: bool) -> Result<(), KernelError> {
        let verb = if wanted { "add" } else { "remove" };
        let request = link::address(self.index, (address, length), wanted);
        self.ask(&format!("{verb} the address {address}/{length}"), request)
    }

    fn ask(&mut self, what: &str, request: Request) -> Result<(), KernelError> {
        let refused =
            |why| KernelError::Refused { what: what.to_owned(), name: self.name.clone(), why };
        self.conversation.ask(request).map(drop).map_err(refused)
    }
}
