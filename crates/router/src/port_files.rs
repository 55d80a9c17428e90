//! Files and sockets of ports: opened, or looked at, by us before DPDK has their paths, as it opens
//! whatever a path leads to.
//!
//! ```text
//!  /var/lib/volley/a.pcap ─▶ Folders ─▶ a plain file, open ─▶ DPDK: /proc/self/fd/9
//! ```

use control::config::objects::port_kind::PortKind;
use dpdk::PortSpec;
use dpdk::kinds::Pcap;
use rights::{Folders, path_of};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// What DPDK is to open for a port, and the files that must stay open while it has them.
pub(crate) fn opened(
    kind: &PortKind,
    spec: PortSpec,
    folders: &Folders,
) -> Result<(PortSpec, Vec<File>), String> {
    match kind {
        PortKind::Pcap(it) => {
            let mut files = Vec::new();
            let mut keep =
                |path: Option<&PathBuf>, open: fn(&Folders, &Path) -> io::Result<File>| {
                    let Some(path) = path else { return Ok(None) };
                    let file = open(folders, path).map_err(|error| fault(path, &error))?;
                    let by = path_of(&file);
                    files.push(file);
                    Ok::<_, String>(Some(by))
                };
            let (rx, tx) =
                (keep(it.rx.as_ref(), Folders::read)?, keep(it.tx.as_ref(), Folders::record)?);
            let repeat = it.repeat == control::config::objects::port_kind::Repeat::Forever;
            Ok((Pcap { rx, tx, repeat }.into(), files))
        }
        PortKind::Memif(it) => sockets(&it.socket, spec, folders),
        PortKind::Vhost(it) => sockets(&it.socket, spec, folders),
        PortKind::VirtioUser(it) => sockets(&it.socket, spec, folders),
        PortKind::Pci(_)
        | PortKind::AfPacket(_)
        | PortKind::AfXdp(_)
        | PortKind::Tap(_)
        | PortKind::Memory(_)
        | PortKind::Vlan(_)
        | PortKind::Bvi
        | PortKind::Vxlan(_)
        | PortKind::Gre(_) => Ok((spec, Vec::new())),
    }
}

fn sockets(
    path: &Path,
    spec: PortSpec,
    folders: &Folders,
) -> Result<(PortSpec, Vec<File>), String> {
    folders.check_socket(path).map_err(|error| fault(path, &error))?;
    Ok((spec, Vec::new()))
}

fn fault(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
