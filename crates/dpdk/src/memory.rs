//! Which memory DPDK gets: hugepages where enough are free, ordinary pages else.
//!
//! ```text
//!  hugepages  --in-memory -m N               anonymous, no file in hugetlbfs
//!  ordinary   --no-huge --no-shconf -m N      fixed size, works as any user
//! ```

use crate::Error;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

const MIB: usize = 1 << 20;

/// Whether packets live on hugepages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryChoice {
    /// On hugepages if enough are free.
    Auto,
    /// On hugepages, or do not start.
    Hugepages,
    /// On ordinary pages.
    Ordinary,
}

/// The memory DPDK gets, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// How much.
    pub memory_mib: usize,
    /// On hugepages.
    pub hugepages: bool,
    /// Hugepage memory that was free at the time.
    pub free_hugepages_mib: usize,
}

impl MemoryPlan {
    pub(crate) fn arguments(&self) -> Vec<String> {
        let size = self.memory_mib.to_string();
        let list: &[&str] = if self.hugepages {
            &["--in-memory", "-m", &size]
        } else {
            &["--no-huge", "--no-shconf", "-m", &size]
        };
        list.iter().map(|&text| text.to_owned()).collect()
    }
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.hugepages { "on hugepages" } else { "without hugepages" };
        write!(f, "{} MiB {kind} ({} MiB free)", self.memory_mib, self.free_hugepages_mib)
    }
}

pub(crate) fn plan(choice: MemoryChoice, memory_mib: usize) -> Result<MemoryPlan, Error> {
    let available_mib = available_mib();
    choose(
        choice,
        memory_mib,
        free_hugepages_mib(Path::new("/sys/kernel/mm/hugepages")),
        available_mib,
    )
}

fn choose(
    choice: MemoryChoice,
    memory_mib: usize,
    free_hugepages_mib: usize,
    available_mib: usize,
) -> Result<MemoryPlan, Error> {
    let enough = free_hugepages_mib >= memory_mib;
    let hugepages = match choice {
        MemoryChoice::Auto => enough,
        MemoryChoice::Hugepages => true,
        MemoryChoice::Ordinary => false,
    };
    if hugepages && !enough {
        return Err(Error::Hugepages { wanted_mib: memory_mib, free_mib: free_hugepages_mib });
    }
    if !hugepages && memory_mib > available_mib {
        return Err(Error::Memory { wanted_mib: memory_mib, available_mib });
    }
    Ok(MemoryPlan { memory_mib, hugepages, free_hugepages_mib })
}

/// `folder` holds one folder a page size: `hugepages-2048kB/free_hugepages`.
fn free_hugepages_mib(folder: &Path) -> usize {
    let Ok(sizes) = fs::read_dir(folder) else { return 0 };
    let bytes = sizes.flatten().filter_map(|size| {
        let name = size.file_name().into_string().ok()?;
        let kib: usize = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let free: usize =
            fs::read_to_string(size.path().join("free_hugepages")).ok()?.trim().parse().ok()?;
        Some(kib * 1024 * free)
    });
    bytes.sum::<usize>() / MIB
}

fn available_mib() -> usize {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kib.map_or(usize::MAX, |kib| kib / 1024)
}

/// DPDK makes a folder for sockets and locks but, as we start it, puts nothing there. Removed right
/// after the start, so that not even a kill leaves it.
pub(crate) fn remove_runtime_folder(prefix: &str) {
    for base in runtime_bases() {
        // Only ever removes empty folders: another process may use the same prefix.
        if fs::remove_dir(base.join(prefix)).is_ok() {
            let _ = fs::remove_dir(&base);
        }
    }
}

fn runtime_bases() -> Vec<PathBuf> {
    let session = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let all = [Some("/var/run".into()), session, Some("/tmp".into())];
    all.into_iter().flatten().map(|base| base.join("dpdk")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_hugepages_only_if_enough_are_free() {
        assert!(choose(MemoryChoice::Auto, 256, 256, 4096).unwrap().hugepages);
        assert!(!choose(MemoryChoice::Auto, 256, 255, 4096).unwrap().hugepages);
        assert!(!choose(MemoryChoice::Ordinary, 256, 9999, 4096).unwrap().hugepages);
    }

    #[test]
    fn more_memory_than_there_is_is_refused() {
        let error = choose(MemoryChoice::Hugepages, 256, 255, 4096).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the configuration requires hugepages: 256 MiB of them, and 255 MiB are free; \
             `volley doctor` tells how to have more"
        );
        assert!(choose(MemoryChoice::Ordinary, 8192, 0, 4096).is_err());
    }

    #[test]
    fn free_hugepages_of_all_sizes_are_added() {
        let folder = env::temp_dir().join(format!("hugepages-{}", std::process::id()));
        for (name, free) in [("hugepages-2048kB", "3\n"), ("hugepages-1048576kB", "1\n")] {
            fs::create_dir_all(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("free_hugepages"), free).unwrap();
        }
        let found = free_hugepages_mib(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, 1030);
    }
}
