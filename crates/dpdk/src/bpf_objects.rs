//! Programs and maps that the af_xdp driver loads for a port and forgets to close (22.11): one of
//! each, and their memory in the kernel, for each time the port is opened.
//!
//! They are told from others by the numbers that the kernel gives them (`/proc/self/fdinfo`), so
//! that nothing is closed but what was there when the port had been opened.

use std::collections::HashSet;
use std::fs;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Descriptors of programs and maps, each with its number: `prog_id 7`.
pub(crate) type BpfObjects = HashSet<(RawFd, String)>;

/// Those that this process has open.
pub(crate) fn all() -> BpfObjects {
    let Ok(folder) = fs::read_dir("/proc/self/fd") else { return HashSet::new() };
    let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(|fd| Some((fd, number(fd)?))).collect()
}

/// Closes those of `objects` that are open still. To be called when their driver has forgotten
/// them.
pub(crate) fn close(objects: BpfObjects) {
    for (fd, number_then) in objects {
        if number(fd).as_ref() == Some(&number_then) {
            // SAFETY: still the driver's object, which the driver has forgotten.
            drop(unsafe { OwnedFd::from_raw_fd(fd) });
        }
    }
}

fn number(fd: RawFd) -> Option<String> {
    let target = fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
    let of_bpf = ["anon_inode:bpf-map", "anon_inode:bpf-prog"];
    of_bpf.iter().find(|sort| target.as_os_str() == **sort)?;
    number_in(&fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).ok()?)
}

fn number_in(info: &str) -> Option<String> {
    info.lines().find_map(|line| {
        let (key, number) = line.split_once(':')?;
        matches!(key, "prog_id" | "map_id").then(|| format!("{key} {}", number.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_known_by_its_sort_and_number() {
        let map = "pos:\t0\nflags:\t02000002\nmap_type:\t17\nmap_id:\t41\nfrozen:\t0\n";
        assert_eq!(number_in(map).as_deref(), Some("map_id 41"));
        assert_eq!(number_in("prog_type:\t6\nprog_id:\t7\n").as_deref(), Some("prog_id 7"));
        assert_eq!(number_in("pos:\t0\n"), None);
    }
}
