//! The Linux device behind a port: is it there, is it up, and seeing that we get all its packets.
//!
//! Bound to the network namespace that the opening thread is in, so that any thread may ask later.

use crate::Error;
use crate::interface_request::{ioctl, request, socket};
use crate::offloads::{self, CARDS_ALONE, MERGING, Offload};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A Linux device as it was when its port was opened.
pub(crate) struct LinuxDevice {
    name: String,
    index: i32,
    socket: OwnedFd,
    /// Of a tap: where the kernel tells about our end.
    tap: Option<PathBuf>,
    /// Holds the device in promiscuous mode for as long as it is open; the kernel ends that with
    /// us.
    promiscuous: Option<OwnedFd>,
    /// To be turned on again at the end.
    offloads: Vec<Offload>,
}

/// How the device is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The same device, packets pass.
    Up,
    /// The same device, switched off or without a carrier.
    Down,
    /// It is not there any more.
    Gone,
    /// There is another device of that name.
    Replaced,
    /// A tap of ours that somebody moved into another namespace or renamed: it works on.
    Elsewhere,
}

/// The device's name as the kernel tells it of a tap's file; empty once the device is deleted.
fn tap_name(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix("iff:")?.trim().to_owned()))
}

/// What the kernel tells of the file by which this process holds the tap `name`, if it does.
fn tap_file(name: &str) -> Option<PathBuf> {
    let files = fs::read_dir("/proc/self/fdinfo").ok()?.flatten().map(|file| file.path());
    files.into_iter().find(|file| tap_name(file).as_deref() == Some(name))
}

impl LinuxDevice {
    pub(crate) fn find(name: &str) -> Result<Self, Error> {
        let fail = |source| Error::Device { device: name.to_owned(), action: "find it", source };
        let socket = socket(libc::AF_INET, libc::SOCK_DGRAM).map_err(fail)?;
        let index = index(&socket, name).map_err(fail)?;
        let (name, promiscuous) = (name.to_owned(), None);
        let tap = tap_file(&name);
        Ok(Self { name, index, socket, tap, promiscuous, offloads: Vec::new() })
    }

    /// Has the device give us frames as they were sent; see `offloads`. Those that Linux merged are
    /// welcome where frames of up to 64 KiB are. What is in the way is an error, but packets pass
    /// all the same.
    pub(crate) fn want_frames_as_sent(&mut self, takes_large: bool) -> Result<(), Error> {
        let merging: &[Offload] = if takes_large { &CARDS_ALONE } else { &MERGING };
        self.offloads = offloads::disable(&self.name, merging)?;
        Ok(())
    }

    pub(crate) fn presence(&self) -> Presence {
        let held = || self.tap.as_deref().and_then(tap_name).is_some_and(|name| !name.is_empty());
        match index(&self.socket, &self.name) {
            Ok(index) if index != self.index => Presence::Replaced,
            Err(_) if held() => Presence::Elsewhere,
            Err(_) => Presence::Gone,
            Ok(_) => match flags(&self.socket, &self.name) {
                Ok(flags) if has(flags, libc::IFF_UP | libc::IFF_RUNNING) => Presence::Up,
                _ => Presence::Down,
            },
        }
    }

    /// Switches the device on, as `ip link set up` does.
    pub(crate) fn switch_on(&self) -> io::Result<()> {
        let now = flags(&self.socket, &self.name)?;
        if has(now, libc::IFF_UP) {
            return Ok(());
        }
        let mut request = request(&self.name);
        request.ifr_ifru.ifru_flags = now | libc::IFF_UP as i16;
        // SAFETY: the request is ours and has its flags set.
        unsafe { ioctl(&self.socket, libc::SIOCSIFFLAGS, &mut request) }
    }

    pub(crate) fn mtu(&self) -> io::Result<u16> {
        let mut request = request(&self.name);
        // SAFETY: reads the name only and writes the MTU.
        let mtu = unsafe {
            ioctl(&self.socket, libc::SIOCGIFMTU, &mut request)?;
            request.ifr_ifru.ifru_mtu
        };
        Ok(u16::try_from(mtu).unwrap_or(u16::MAX))
    }

    pub(crate) fn set_mtu(&self, mtu: u16) -> io::Result<()> {
        let mut request = request(&self.name);
        request.ifr_ifru.ifru_mtu = i32::from(mtu);
        // SAFETY: the request is ours and has its MTU set.
        unsafe { ioctl(&self.socket, libc::SIOCSIFMTU, &mut request) }
    }

    pub(crate) fn set_promiscuous(&mut self, on: bool) -> io::Result<()> {
        self.promiscuous = match on {
            false => None,
            true if self.promiscuous.is_some() => return Ok(()),
            true => Some(promiscuous_member(self.index)?),
        };
        Ok(())
    }
}

impl Drop for LinuxDevice {
    fn drop(&mut self) {
        if let Err(error) = offloads::enable(&self.name, &self.offloads) {
            // No fault: the device may be gone.
            tracing::debug!(device = self.name, %error, "a device's offloads stay off");
        }
    }
}

/// A packet socket that receives nothing but makes the device promiscuous.
fn promiscuous_member(index: i32) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_PACKET, libc::SOCK_RAW)?;
    // SAFETY: zeroes are a valid membership request.
    let mut member: libc::packet_mreq = unsafe { core::mem::zeroed() };
    member.mr_ifindex = index;
    member.mr_type = libc::PACKET_MR_PROMISC as u16;
    // SAFETY: the request is of the size given and read only.
    let code = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            (&raw const member).cast(),
            size_of::<libc::packet_mreq>() as u32,
        )
    };
    if code == 0 { Ok(socket) } else { Err(io::Error::last_os_error()) }
}

pub(crate) fn index(socket: &OwnedFd, name: &str) -> io::Result<i32> {
    let mut request = request(name);
    // SAFETY: reads the name only and writes the index.
    unsafe {
        ioctl(socket, libc::SIOCGIFINDEX, &mut request)?;
        Ok(request.ifr_ifru.ifru_ifindex)
    }
}

fn flags(socket: &OwnedFd, name: &str) -> io::Result<i16> {
    let mut request = request(name);
    // SAFETY: reads the name only and writes the flags.
    unsafe {
        ioctl(socket, libc::SIOCGIFFLAGS, &mut request)?;
        Ok(request.ifr_ifru.ifru_flags)
    }
}

fn has(flags: i16, wanted: i32) -> bool {
    i32::from(flags) & wanted == wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_an_error_that_names_it() {
        let error = LinuxDevice::find("no-such-dev").err().unwrap().to_string();
        assert!(error.starts_with("no-such-dev: cannot find it"), "{error}");
    }

    #[test]
    fn a_device_found_under_another_index_was_replaced() {
        let mut device = LinuxDevice::find("lo").unwrap();
        assert!(matches!(device.presence(), Presence::Up | Presence::Down));
        device.index += 1;
        assert_eq!(device.presence(), Presence::Replaced);
        device.name = "no-such-dev".into();
        assert_eq!(device.presence(), Presence::Gone);
    }
}
