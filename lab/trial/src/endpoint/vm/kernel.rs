//! The kernel that guests boot, with the drivers that they need.
//!
//! ```text
//! $VOLLEY_GUEST_KERNEL, or what scripts/guest-kernel unpacked, or the host's own:
//!   boot/vmlinuz-RELEASE, lib/modules/RELEASE/kernel/…/virtio_net.ko[.xz|.zst|.gz]
//!                                                      └ "depends=net_failover" ─▶ which come before it
//! ```
//! What a module stands on is read from the module itself: a kernel that was unpacked and never
//! installed has no `modules.dep`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

/// Names a folder of a kernel, before all others.
pub(super) const CHOSEN: &str = "VOLLEY_GUEST_KERNEL";
/// What guests cannot do without.
const NEEDED: [&str; 3] = ["virtio_pci", "virtio_console", "virtio_net"];
/// What they have where the kernel has it: wires that are slow.
const WANTED: [&str; 1] = ["sch_tbf"];
/// What a guest has at hand that is a device itself: bridges, and schedulers.
const AT_HAND: [&str; 7] =
    ["bridge", "sch_tbf", "sch_sfq", "sch_codel", "sch_fq_codel", "sch_htb", "sch_hfsc"];
/// In front of the names of other modules.
const DEPENDS: &[u8] = b"depends=";

/// A kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kernel {
    /// Its image.
    pub(super) image: PathBuf,
    /// Its version, as its files are called by.
    pub(super) release: String,
    modules: PathBuf,
}

/// A module, ready to be loaded.
pub(super) struct Module {
    pub(super) name: String,
    pub(super) octets: Vec<u8>,
}

impl Kernel {
    /// The one to boot; else why there is none.
    pub(super) fn find() -> Result<Self, String> {
        if let Some(folder) = std::env::var_os(CHOSEN) {
            let folder = PathBuf::from(folder);
            let none = || format!("there is no boot/vmlinuz-* in {CHOSEN}={}", folder.display());
            return Self::newest_of(&folder).ok_or_else(none);
        }
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let fetched = cache.into_iter().chain(home).map(|it| it.join("volley/guest-kernel"));
        let found = fetched.into_iter().find_map(|folder| Self::newest_of(&folder));
        found.or_else(|| Self::newest_of(Path::new("/"))).ok_or_else(|| {
            format!(
                "there is no kernel for the guests: neither /boot/vmlinuz-* with its modules, nor one that \
                 scripts/guest-kernel fetched, nor {CHOSEN}"
            )
        })
    }

    /// The newest in a folder that has its modules, too.
    fn newest_of(root: &Path) -> Option<Self> {
        let images = std::fs::read_dir(root.join("boot")).ok()?.filter_map(Result::ok);
        let mut found: Vec<Self> = images
            .filter_map(|image| {
                let release = image.file_name().to_str()?.strip_prefix("vmlinuz-")?.to_owned();
                let modules = root.join("lib/modules").join(&release);
                Some(Self { image: image.path(), release, modules })
            })
            .filter(|kernel| kernel.modules.is_dir())
            .collect();
        found.sort_by_key(|kernel| numbers(&kernel.release));
        found.pop()
    }

    /// The modules that guests need, each behind those that it stands on; how many of them all load
    /// when they boot. The rest is at hand.
    pub(super) fn modules(&self) -> Result<(Vec<Module>, usize), Error> {
        let mut files = BTreeMap::new();
        collect(&self.modules.join("kernel"), &mut files);
        let builtin =
            std::fs::read_to_string(self.modules.join("modules.builtin")).unwrap_or_default();
        let mut found = Vec::new();
        for name in NEEDED {
            let is_built_in = || {
                let names = builtin.lines().filter_map(|line| plain(line.rsplit('/').next()?));
                names.into_iter().any(|it| it == name)
            };
            if !files.contains_key(name) && !is_built_in() {
                let reason = format!("Linux {} has no {name}", self.release);
                return Err(Error::Command { line: "the guest's kernel".into(), reason });
            }
        }
        for name in NEEDED.into_iter().chain(WANTED) {
            add(name, &files, &mut found)?;
        }
        let early = found.len();
        for name in AT_HAND {
            add(name, &files, &mut found)?;
        }
        Ok((found, early))
    }
}

/// Adds a module, what it stands on first; what has no file is part of the kernel.
fn add(
    name: &str,
    files: &BTreeMap<String, PathBuf>,
    found: &mut Vec<Module>,
) -> Result<(), Error> {
    let Some(path) = files.get(name) else { return Ok(()) };
    if found.iter().any(|it| it.name == name) {
        return Ok(());
    }
    let octets = unpacked(path)?;
    for below in depends(&octets) {
        // One that stood on itself would never end.
        if below != name {
            add(&below, files, found)?;
        }
    }
    found.push(Module { name: name.to_owned(), octets });
    Ok(())
}

/// Every module below a folder, by its name.
fn collect(folder: &Path, files: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&path, files);
        } else if let Some(name) = entry.file_name().to_str().and_then(plain) {
            files.insert(name, path);
        }
    }
}

/// The name of a module out of that of its file: the kernel knows no hyphens.
fn plain(file: &str) -> Option<String> {
    let (name, rest) = file.split_once(".ko")?;
    ["", ".xz", ".zst", ".gz"].contains(&rest).then(|| name.replace('-', "_"))
}

fn unpacked(path: &Path) -> Result<Vec<u8>, Error> {
    let by = match path.extension().and_then(|it| it.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return std::fs::read(path).map_err(Error::file(path)),
    };
    let told = Command::new(by).arg("-dc").arg(path).output().map_err(Error::file(by))?;
    match told.status.success() {
        true => Ok(told.stdout),
        false => Err(Error::Command {
            line: format!("{by} -dc {}", path.display()),
            reason: String::from_utf8_lossy(&told.stderr).trim().to_owned(),
        }),
    }
}

/// What a module says that it stands on.
fn depends(octets: &[u8]) -> Vec<String> {
    // In its section of strings each begins behind a zero.
    let mut strings = octets.split(|octet| *octet == 0);
    let names = strings.find_map(|text| text.strip_prefix(DEPENDS)).unwrap_or_default();
    let names = String::from_utf8_lossy(names);
    names.split(',').filter(|name| !name.is_empty()).map(|name| name.replace('-', "_")).collect()
}

/// The numbers of a version, to be put in order by.
fn numbers(release: &str) -> Vec<u64> {
    release
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|it| it.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("lab-kernel-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        root
    }

    /// A kernel of these modules, each with what it depends on.
    fn kernel(root: &Path, release: &str, modules: &[(&str, &str)]) {
        let drivers = root.join("lib/modules").join(release).join("kernel/drivers");
        std::fs::create_dir_all(&drivers).unwrap();
        std::fs::create_dir_all(root.join("boot")).unwrap();
        std::fs::write(root.join(format!("boot/vmlinuz-{release}")), "").unwrap();
        for (name, depends) in modules {
            let octets = format!("\x7fELF\0license=GPL\0depends={depends}\0retpoline=Y\0");
            std::fs::write(drivers.join(format!("{name}.ko")), octets).unwrap();
        }
    }

    #[test]
    fn the_newest_kernel_that_has_modules_is_taken() {
        let root = folder("newest");
        kernel(&root, "6.1.9-amd64", &[]);
        kernel(&root, "6.1.10-amd64", &[]);
        std::fs::write(root.join("boot/vmlinuz-7.0.0"), "").unwrap();
        let found = Kernel::newest_of(&root).unwrap();
        assert_eq!(found.release, "6.1.10-amd64");
        assert_eq!(found.image, root.join("boot/vmlinuz-6.1.10-amd64"));
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(Kernel::newest_of(&root), None);
    }

    #[test]
    fn modules_come_behind_what_they_stand_on_and_a_driver_that_is_nowhere_is_told() {
        let root = folder("order");
        let modules = [
            ("virtio_net", "net_failover,virtio"),
            ("net_failover", "failover"),
            ("failover", ""),
            ("virtio", ""),
            ("virtio-pci", "virtio"),
            ("sch_tbf", "sch_tbf"),
            ("bridge", "stp"),
            ("stp", ""),
            ("sch-sfq", ""),
        ];
        kernel(&root, "6.1.0", &modules);
        let kernel = Kernel::newest_of(&root).unwrap();
        let told = kernel.modules().map(drop).unwrap_err().to_string();
        assert_eq!(told, "the guest's kernel: Linux 6.1.0 has no virtio_console");
        let builtin = root.join("lib/modules/6.1.0/modules.builtin");
        std::fs::write(builtin, "kernel/drivers/char/virtio_console.ko\n").unwrap();
        let (found, early) = kernel.modules().unwrap();
        let found: Vec<String> = found.into_iter().map(|it| it.name).collect();
        let order = ["virtio", "virtio_pci", "failover", "net_failover", "virtio_net", "sch_tbf"];
        assert_eq!(found[..early], order);
        // What only a guest that is a device loads.
        assert_eq!(found[early..], ["stp", "bridge", "sch_sfq"]);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_module_that_is_cut_off_or_bent_depends_on_something_or_nothing() {
        let octets = b"\x7fELF\0\0depends=a-b,c\0vermagic=6\0";
        assert_eq!(depends(octets), ["a_b", "c"]);
        for length in 0..octets.len() {
            let _ = depends(&octets[..length]);
        }
        assert!(depends(b"nodepends=x\0").is_empty() && depends(b"").is_empty());
        assert_eq!(plain("virtio-rng.ko.xz").as_deref(), Some("virtio_rng"));
        assert_eq!([plain("virtio.kox"), plain("modules.dep")], [None, None]);
    }
}
