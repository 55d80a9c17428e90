//! Files and sockets of ports: opened, or looked at, by us before DPDK has their paths, as it opens
//! whatever a path leads to.
//!
//! ```text
//!  /var/lib/volley/a.pcap ─▶ Folders ─▶ a plain file, open ─▶ DPDK: /proc/self/fd/9
//! ```

use control::config::objects::port_kind::{Device, Pcap, PortKind};
use rights::{Folders, path_of};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The kind by the paths that DPDK is to open, and the files that must stay open while it has them.
pub(crate) fn opened(kind: &PortKind, folders: &Folders) -> Result<(PortKind, Vec<File>), String> {
    let mut files = Vec::new();
    let socket = |path: &PathBuf| {
        folders.check_socket(path).map_err(|error| fault(path, &error))?;
        Ok::<_, String>(kind.clone())
    };
    let kind = match kind.device() {
        Some(Device::Pcap(it)) => {
            let mut keep = |path: &PathBuf, open: fn(&Folders, &Path) -> io::Result<File>| {
                let file = open(folders, path).map_err(|error| fault(path, &error))?;
                let by = path_of(&file);
                files.push(file);
                Ok::<_, String>(by)
            };
            let rx = it.rx.as_ref().map(|path| keep(path, Folders::read)).transpose()?;
            let tx = it.tx.as_ref().map(|path| keep(path, Folders::record)).transpose()?;
            PortKind::Pcap(Pcap { rx, tx, ..it.clone() })
        }
        Some(Device::Memif(it)) => socket(&it.socket)?,
        Some(Device::Vhost(it)) => socket(&it.socket)?,
        Some(Device::VirtioUser(it)) => socket(&it.socket)?,
        Some(
            Device::Pci(_)
            | Device::AfPacket(_)
            | Device::AfXdp(_)
            | Device::Tap(_)
            | Device::Memory(_),
        )
        | None => kind.clone(),
    };
    Ok((kind, files))
}

fn fault(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
