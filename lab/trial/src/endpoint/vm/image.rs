//! What guests have for a root folder: the host's own programs, with what these are linked with,
//! and the kernel's drivers. It is one file, made once for as long as a guest runs.
//!
//! ```text
//! sh, ip, tc, ethtool, iperf3 … and volley-lab ─▶ ldd ─▶ newc ─▶ -initrd /proc/OURS/fd/N
//! ```
//! The file has no name once it is open: however the lab ends, nothing of it stays.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::cpio::Root;
use super::kernel::{Kernel, Module};
use crate::Error;
use crate::place::{find_program, output};

/// Programs of guests, each with the package that has it.
const PROGRAMS: [(&str, &str); 9] = [
    ("sh", "dash"),
    ("cat", "coreutils"),
    ("mount", "mount"),
    ("insmod", "kmod"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("bridge", "iproute2"),
    ("ethtool", "ethtool"),
    ("iperf3", "iperf3"),
];
/// Where the linker finds what is in no usual folder.
const LINKER_CACHE: &str = "/etc/ld.so.cache";
/// The port to the lab, the first of the first controller.
const PORT: &str = "/dev/vport0p1";

/// Modules that are there and not loaded, by name, in the order in which they can be.
const AT_HAND: &str = "/modules/at-hand";

/// Loads them, as a shell in a guest takes it.
pub(crate) const LOAD_AT_HAND: &str =
    "for name in $(cat /modules/at-hand); do insmod /modules/$name.ko || exit 1; done";

/// The one that guests have, as long as somebody holds it.
static MADE: Mutex<Weak<Image>> = Mutex::new(Weak::new());

/// See the module.
pub(super) struct Image {
    file: File,
    octets: u64,
}

/// The first program that is missing, with its package.
pub(super) fn missing() -> Option<(&'static str, &'static str)> {
    let beside = [("ldd", "libc-bin")];
    PROGRAMS.into_iter().chain(beside).find(|(name, _)| find_program(name).is_none())
}

impl Image {
    /// The one that is there, or a new one.
    pub(super) fn shared(kernel: &Kernel) -> Result<Arc<Self>, Error> {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = made.upgrade() {
            return Ok(image);
        }
        let image = Arc::new(Self::make(kernel)?);
        *made = Arc::downgrade(&image);
        Ok(image)
    }

    fn make(kernel: &Kernel) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("volley-guest-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(Error::file(&path))?;
        std::fs::remove_file(&path).map_err(Error::file(&path))?;
        let mut root = Root::new(BufWriter::new(&file));
        let own = std::env::current_exe().map_err(Error::file("volley-lab"))?;
        let programs =
            PROGRAMS.into_iter().filter_map(|(name, _)| Some((name, find_program(name)?)));
        let programs: Vec<(&str, PathBuf)> = programs.collect();
        let (modules, early) = kernel.modules()?;
        let (early, at_hand) = modules.split_at(early);
        let mut fill = || {
            for folder in ["/proc", "/sys", "/dev", "/tmp", "/run"] {
                root.folder(Path::new(folder))?;
            }
            root.file(Path::new("/init"), init(early, &own).as_bytes())?;
            root.file(Path::new(AT_HAND), names(at_hand).as_bytes())?;
            for Module { name, octets } in &modules {
                root.file(&Path::new("/modules").join(format!("{name}.ko")), octets)?;
            }
            if Path::new(LINKER_CACHE).exists() {
                copy(&mut root, Path::new(LINKER_CACHE))?;
            }
            for (name, path) in &programs {
                let usual = Path::new("/bin").join(name);
                copy(&mut root, path)?;
                if usual != *path {
                    root.link(&usual, &path.canonicalize()?)?;
                }
            }
            copy(&mut root, &own)?;
            let linked = programs.iter().map(|(_, path)| path).chain([&own]);
            linked.flat_map(|path| libraries(path)).try_for_each(|path| copy(&mut root, &path))
        };
        fill().map_err(Error::file("the guest's programs"))?;
        let octets = root.finish().map_err(Error::file(&path))?;
        Ok(Self { file, octets })
    }

    /// Where who is started by us finds it.
    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    /// Memory that a guest needs: it has this twice while it unpacks it.
    pub(super) fn memory_mib(&self) -> u64 {
        192 + 2 * self.octets.div_ceil(1 << 20)
    }
}

/// A file as it is and, where its path has links, a link to it: a library that stood under two
/// names would be there twice.
fn copy(root: &mut Root<impl Write>, path: &Path) -> std::io::Result<()> {
    let real = path.canonicalize()?;
    if !root.has(&real) {
        root.file(&real, &std::fs::read(&real)?)?;
    }
    if real == path { Ok(()) } else { root.link(path, &real) }
}

/// What a program is linked with.
fn libraries(program: &Path) -> Vec<PathBuf> {
    // Of one that is linked with nothing `ldd` fails.
    let told = output(&["ldd", &program.display().to_string()]).unwrap_or_default();
    told.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

/// A line each.
fn names(modules: &[Module]) -> String {
    modules.iter().map(|module| module.name.clone() + "\n").collect()
}

/// The first program of a guest: it makes what others expect, loads the drivers, and is ours then.
fn init(modules: &[Module], own: &Path) -> String {
    let mut text = String::from(
        "#!/bin/sh\nexport PATH=/bin\nmount -t proc proc /proc\nmount -t sysfs sys /sys\n\
         mount -t devtmpfs dev /dev\n",
    );
    for Module { name, .. } in modules {
        text += &format!("insmod /modules/{name}.ko || echo \"volley: no {name}\" >/dev/console\n");
    }
    let own = own.display().to_string().replace('\'', r"'\''");
    text += &format!("exec '{own}' guest {PORT}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_loaded_in_their_order_and_then_it_is_the_labs_program() {
        let module = |name: &str| Module { name: name.into(), octets: Vec::new() };
        let text = init(&[module("virtio"), module("virtio_net")], Path::new("/o'pt/volley-lab"));
        let (first, second) = (text.find("virtio.ko"), text.find("virtio_net.ko"));
        assert!(first.is_some() && first < second, "{text}");
        assert!(text.ends_with("exec '/o'\\''pt/volley-lab' guest /dev/vport0p1\n"), "{text}");
    }

    #[test]
    fn a_program_comes_with_its_linker() {
        let shell = find_program("sh").unwrap();
        let mut octets = Vec::new();
        let mut root = Root::new(&mut octets);
        copy(&mut root, &shell).unwrap();
        for path in libraries(&shell) {
            copy(&mut root, &path).unwrap();
        }
        assert!(root.has(&shell) && root.has(&shell.canonicalize().unwrap()));
        assert!(libraries(&shell).iter().all(|path| root.has(path)));
        assert!(libraries(&shell).iter().any(|path| path.display().to_string().contains("libc")));
    }
}
