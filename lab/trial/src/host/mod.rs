//! The host that was measured on: what it is, and how much of it was taken away meanwhile.

pub mod clock;
pub(crate) mod topology;

use std::collections::BTreeMap;
use std::path::Path;

/// Facts, by name. What cannot be read is left out.
pub fn facts() -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.split(':').next().map(str::trim) == Some(name));
        line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()))
    };
    let cores = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    add("processor", field("model name"));
    add("cores", Some(cores.to_string()));
    add("clock, MHz", field("cpu MHz"));
    let hypervisor =
        field("flags").is_some_and(|flags| flags.split(' ').any(|it| it == "hypervisor"));
    add("virtual machine", Some(if hypervisor { "yes" } else { "no" }.into()));
    let cache = |index: u32| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let level = read(&format!("{folder}/level"))?;
        let kind = read(&format!("{folder}/type"))?;
        Some(format!("L{level} {} {}", kind.to_lowercase(), read(&format!("{folder}/size"))?))
    };
    let caches: Vec<String> = (0..5).filter_map(cache).collect();
    add("caches", Some(caches.join(", ")));
    add("clock source", read("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    add("governor", read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    add("isolated cores", read("/sys/devices/system/cpu/isolated"));
    add("kernel", read("/proc/sys/kernel/osrelease"));
    add("kernel options", read("/proc/cmdline"));
    let memory = read("/proc/meminfo").unwrap_or_default();
    let amount = |name: &str| {
        let line = memory.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    add("memory", amount("MemTotal"));
    add("hugepages free", amount("HugePages_Free"));
    add("load average", read("/proc/loadavg"));
    facts
}

/// What names a host in the cache of self-tests: processor, cores, kernel.
pub fn fingerprint() -> String {
    lab_record::host::fingerprint(&facts())
}

/// Seconds that the hypervisor took away from all cores since they started.
pub fn stolen_s() -> f64 {
    let stat = read("/proc/stat").unwrap_or_default();
    let line = stat.lines().find(|line| line.starts_with("cpu ")).unwrap_or_default();
    // user nice system idle iowait irq softirq steal, in hundredths of a second.
    let steal = line.split_whitespace().nth(8).and_then(|ticks| ticks.parse::<f64>().ok());
    steal.unwrap_or(0.0) / 100.0
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(Path::new(path)).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_described() {
        let facts = facts();
        assert!(facts["cores"].parse::<u32>().unwrap() >= 1);
        assert!(facts.contains_key("kernel") && facts.contains_key("memory"));
        assert!(fingerprint().contains(&facts["kernel"]));
        assert!(stolen_s() >= 0.0);
    }
}
