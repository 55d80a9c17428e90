//! Which processors are hyper-threads of one core, and which of them a device gets.
//!
//! ```text
//! core     0        1        2          siblings, 2 workers   0 4
//! threads  0 4      1 5      2 6        cores, 2 workers      0 1
//! ```

use std::path::Path;

use lab_record::axes::Placement;

use crate::dut::settings::core_numbers;

/// Where the kernel tells of its processors.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Of these processors, as `taskset` writes them, those that so many workers get; `beside` more,
/// for what the device keeps beside its workers, come first. Why that cannot be, in words.
pub(crate) fn choose(
    cores: &str,
    placement: Placement,
    workers: u64,
    beside: u64,
) -> Result<String, String> {
    choose_under(Path::new(PROCESSORS), cores, placement, workers, beside)
}

fn choose_under(
    processors: &Path,
    cores: &str,
    placement: Placement,
    workers: u64,
    beside: u64,
) -> Result<String, String> {
    let mut groups: Vec<(String, Vec<u64>)> = Vec::new();
    for processor in core_numbers(cores) {
        let file = processors.join(format!("cpu{processor}/topology/thread_siblings_list"));
        let told = std::fs::read_to_string(&file);
        let siblings = told.map_err(|error| format!("{}: {error}", file.display()))?;
        match groups.iter_mut().find(|it| it.0 == siblings) {
            Some((_, group)) => group.push(processor),
            None => groups.push((siblings, vec![processor])),
        }
    }
    let workers = usize::try_from(workers.max(1)).unwrap_or(usize::MAX);
    let mut chosen: Vec<u64> = match placement {
        Placement::Cores => groups.iter().map(|it| it.1[0]).collect(),
        Placement::Siblings => {
            let pairs = groups.iter().flat_map(|(_, group)| group.chunks_exact(2));
            pairs.flatten().copied().collect()
        }
    };
    match placement {
        Placement::Siblings if workers % 2 == 1 => {
            return Err(format!("of {workers} workers one has no sibling: give it an even number"));
        }
        Placement::Siblings if chosen.is_empty() => {
            return Err(format!(
                "none of the devices' processors, {cores}, is a hyper-thread beside another"
            ));
        }
        _ if chosen.len() < workers => {
            let (there, what) = match placement {
                Placement::Siblings => (chosen.len(), "hyper-threads in pairs"),
                Placement::Cores => (chosen.len(), "cores"),
            };
            return Err(format!("{workers} workers, and devices have {there} {what} (of {cores})"));
        }
        _ => chosen.truncate(workers),
    }
    let rest = core_numbers(cores).into_iter().filter(|it| !chosen.contains(it));
    let mut all: Vec<u64> = rest.take(usize::try_from(beside).unwrap_or(0)).collect();
    if (all.len() as u64) < beside {
        return Err(format!(
            "{workers} workers and {beside} beside them, and devices have {cores}"
        ));
    }
    all.extend(chosen);
    Ok(all.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host of four cores; with hyper-threads processor 4 is the sibling of 0, and so on.
    fn host(name: &str, threads: u64) -> std::path::PathBuf {
        let folder =
            std::env::temp_dir().join(format!("lab-topology-{name}-{}", std::process::id()));
        for processor in 0..4 * threads {
            let topology = folder.join(format!("cpu{processor}/topology"));
            std::fs::create_dir_all(&topology).unwrap();
            let core = processor % 4;
            let list =
                if threads == 2 { format!("{core},{}\n", core + 4) } else { format!("{core}\n") };
            std::fs::write(topology.join("thread_siblings_list"), list).unwrap();
        }
        folder
    }

    #[test]
    fn workers_share_cores_or_have_them() {
        let folder = host("threads", 2);
        let of = |placement, workers, beside| {
            choose_under(&folder, "0-2,4-6", placement, workers, beside)
        };
        let (siblings, cores) = (Placement::Siblings, Placement::Cores);
        assert_eq!(of(siblings, 2, 0), Ok("0,4".into()));
        assert_eq!(of(siblings, 4, 1), Ok("2,0,4,1,5".into()), "the main thread elsewhere, first");
        assert_eq!(of(cores, 2, 0), Ok("0,1".into()));
        assert!(of(cores, 4, 0).unwrap_err().contains("4 workers, and devices have 3 cores"));
        assert!(of(siblings, 1, 0).unwrap_err().contains("no sibling"));
        assert!(of(siblings, 8, 0).unwrap_err().contains("6 hyper-threads in pairs"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_host_without_hyper_threads_has_no_siblings() {
        let folder = host("plain", 1);
        let of = |placement| choose_under(&folder, "0-1", placement, 2, 0);
        assert!(of(Placement::Siblings).unwrap_err().contains("is a hyper-thread beside another"));
        assert_eq!(of(Placement::Cores), Ok("0,1".into()));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(of(Placement::Cores).unwrap_err().contains("thread_siblings_list"));
    }
}
