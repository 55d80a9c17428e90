//! Whether the workers' cores are their own.

use control::config::objects::workers::Placement;
use control::config::{Config, parse_cores};

use super::machine::Machine;
use super::{Finding, better, fine};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn check(machine: &Machine, config: &Config) -> Vec<Finding> {
    let Placement::Cores(wanted) = &config.workers.placement else {
        return vec![fine("cores: the kernel places the workers")];
    };
    let isolated = cores(machine.text(&format!("{CPUS}/isolated")));
    let mut findings = Vec::new();
    let shared: Vec<String> =
        wanted.iter().filter(|core| !isolated.contains(core)).map(ToString::to_string).collect();
    if shared.is_empty() {
        findings.push(fine("cores: the workers' are kept for them"));
    } else {
        let list = shared.join(",");
        findings.push(better(
            format!("cores: the kernel runs other programs on {list}, where workers are"),
            format!("boot with isolcpus={list} nohz_full={list}"),
        ));
    }
    for (number, core) in wanted.iter().enumerate() {
        let path = format!("{CPUS}/cpu{core}/topology/thread_siblings_list");
        let siblings = cores(machine.text(&path));
        let other = siblings.iter().find(|other| wanted[number + 1..].contains(other));
        if let Some(other) = other {
            findings.push(better(
                format!("cores: {core} and {other} are one core's hyper-threads, which share it"),
                "give workers one thread of each core",
            ));
        }
    }
    findings
}

/// A list of the kernel's; none where there is no such list.
fn cores(list: Option<String>) -> Vec<u16> {
    list.and_then(|list| parse_cores(&list)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::testing::{Pretended, config, told};
    use super::*;

    #[test]
    fn workers_on_cores_that_others_use_or_that_are_one_are_told() {
        let pretended = Pretended::new("cores");
        for core in [2, 3] {
            pretended.says(&format!("{CPUS}/cpu{core}/topology/thread_siblings_list"), "2-3");
        }
        pretended.says(&format!("{CPUS}/isolated"), "3");
        let config = config("[workers]\ncores = [2, 3]\n");
        assert_eq!(
            told(&check(&pretended.machine, &config)),
            [
                (State::Better, "cores: the kernel runs other programs on 2, where workers are"),
                (State::Better, "cores: 2 and 3 are one core's hyper-threads, which share it"),
            ]
        );
        pretended.says(&format!("{CPUS}/isolated"), "1-3");
        assert_eq!(check(&pretended.machine, &config)[0].state, State::Fine);
    }
}
