//! A device that scripts of the user's own drive: one folder, one program a step.
//!
//! ```text
//! version    what it is, in a line                                        may be missing
//! prepare    sets it up; ends with 3 where it cannot do the job           may be missing
//! start      the device itself: stays until it is ended                   may be missing (the kernel is no process)
//! ready      ends well once it forwards                                   may be missing
//! counters   lines: received N · sent N · drop N WHERE AND WHY            may be missing: the kernel's of its ends
//! stop       takes away what prepare made                                 may be missing
//! ```
//! Each is told the job by its environment (`LAB_FUNCTION`, `LAB_ENTRIES`, `LAB_WORKERS`,
//! `LAB_CORES`, `LAB_LINK`, `LAB_MTU`, `LAB_PORT0` and `LAB_PORT1`, `LAB_AXIS_…`), and works in a
//! folder and in a network namespace of the device's.

use std::path::{Path, PathBuf};

use lab_record::Counters;

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::device::{Device, Job, kernel_counters};
use crate::link::{DEVICE_DEVICES, DeviceEnd};
use crate::place::{Place, output};

/// As the list has it.
pub(super) const ADAPTER: Adapter = Adapter {
    of_folder: Some(|folder| Box::new(Script { folder: Some(folder.into()), counts: false })),
    read: Some(|text| Some(counters(text))),
    ..Adapter::new(
        "script",
        || Box::new(Script { folder: None, counts: false }),
        "a folder of your own: docs/testbed.md",
    )
};

/// See the module.
struct Script {
    folder: Option<PathBuf>,
    counts: bool,
}

/// A step that ends with this cannot do the job, ever.
const REFUSES: &str = "exit status: 3)";

impl Script {
    /// A step, if there is a program for it.
    fn step(&self, name: &str) -> Option<PathBuf> {
        let path = std::path::absolute(self.folder.as_ref()?.join(name)).ok()?;
        path.exists().then_some(path)
    }
}

impl Device for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn version(&self) -> Result<String, Error> {
        let refused = |reason: String| {
            Err(Error::Refused { device: "script".into(), job: "any job".into(), reason })
        };
        let Some(folder) = &self.folder else {
            return refused("it needs a folder of scripts: script=FOLDER".into());
        };
        if ["prepare", "start"].iter().all(|step| self.step(step).is_none()) {
            return refused(format!("{} has neither prepare nor start", folder.display()));
        }
        match self.step("version") {
            None => Ok(format!("scripts of {}", folder.display())),
            Some(step) => output(&[&step.display().to_string()])
                .map_err(|reason| Error::Command { line: step.display().to_string(), reason }),
        }
    }

    fn check_settings(&self, _: &Job, _: &str) -> Result<(), Error> {
        // It is the scripts that know, and refuse.
        Ok(())
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        let told = environment(job, place);
        let folder = quoted(place.folder());
        let line = |step: &Path| format!("cd {folder} && {told} {}", quoted(step));
        if let Some(step) = self.step("stop") {
            let line = line(&step);
            place.at_end(line);
        }
        if let Some(step) = self.step("prepare") {
            let line = line(&step);
            place.run(&line).map_err(|error| match &error {
                Error::Command { reason, .. } if reason.ends_with(REFUSES) => {
                    let words = reason.rsplit_once(" (").map_or(reason.as_str(), |it| it.0);
                    self.refuse(job, words)
                }
                _ => error,
            })?;
        }
        if let Some(step) = self.step("start") {
            place.spawn("start", &format!("env {told} {}", quoted(&step)))?;
        }
        if let Some(step) = self.step("ready") {
            let line = line(&step);
            place.wait_for_start("the script says that it is ready", |place| {
                place.quietly(&line).is_ok()
            })?;
        }
        self.counts = self.step("counters").is_some();
        Ok(())
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        match self.step("counters") {
            Some(step) => Ok(counters(&place.quietly(&quoted(&step))?)),
            None => Ok(kernel_counters(&place.network_devices()?, &DEVICE_DEVICES)),
        }
    }
}

/// The job, as words of a shell.
fn environment(job: &Job, place: &Place) -> String {
    let ends = job.ends.each_ref().map(|end| match end {
        DeviceEnd::Kernel(name) | DeviceEnd::Pci(name) => name.clone(),
        DeviceEnd::Memif(socket) | DeviceEnd::Vhost(socket) => socket.display().to_string(),
        DeviceEnd::Pcap { rx, .. } => rx.display().to_string(),
    });
    let mut words = vec![
        ("FUNCTION".to_owned(), job.function.kind.name().to_owned()),
        ("ENTRIES".to_owned(), job.entries.to_string()),
        ("WORKERS".to_owned(), job.workers.to_string()),
        ("CORES".to_owned(), place.cores().to_owned()),
        ("LINK".to_owned(), job.link.to_string()),
        ("MTU".to_owned(), job.mtu.to_string()),
        ("PORT0".to_owned(), ends[0].clone()),
        ("PORT1".to_owned(), ends[1].clone()),
    ];
    let axes = job.settings.texts().into_iter();
    words.extend(axes.map(|(name, value)| (format!("AXIS_{}", name.to_uppercase()), value)));
    let word =
        |(name, value): (String, String)| format!("LAB_{name}={}", quoted(Path::new(&value)));
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A word that a shell leaves as it is.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// `received 7`, `sent 6`, `drop 1 of what there was no route for`.
fn counters(text: &str) -> Counters {
    let mut counters = Counters::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(what), Some(Ok(count))) = (words.next(), words.next().map(str::parse::<u64>))
        else {
            continue;
        };
        match what {
            "received" => counters.receive(count),
            "sent" => counters.send(count),
            "drop" => counters.drop(words.collect::<Vec<_>>().join(" "), count),
            _ => {}
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_s_counters_are_lines() {
        let told = counters("received 7\nsent 6\ndrop 1 no route\nhello\ndrop x y\nsent -1\n");
        assert_eq!((told.received, told.sent), (7, 6));
        assert_eq!(told.drops, [("no route".to_owned(), 1)].into());
    }

    #[test]
    fn a_folder_without_scripts_is_no_device() {
        let refused = |folder: Option<&str>| {
            let script = Script { folder: folder.map(Into::into), counts: false };
            script.version().unwrap_err().to_string()
        };
        assert!(refused(None).contains("script=FOLDER"));
        assert!(refused(Some("/nowhere")).contains("/nowhere has neither prepare nor start"));
    }

    #[test]
    fn words_of_a_shell_stay_as_they_are() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
