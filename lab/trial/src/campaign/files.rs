//! The part of a campaign whose links are capture files: each case is a start of the device, on
//! files of its own.

use lab_record::DeviceFacts;

use crate::Error;
use crate::campaign::{Group, Running};
use crate::check::captures;

impl Running<'_> {
    /// Every case of a group on one device.
    pub(super) fn files(&mut self, name: &str, group: &Group, run: u32) -> Result<(), Error> {
        let campaign = self.campaign;
        for (number, case) in group.cases.iter().enumerate() {
            let load = campaign.load(case, &group.wish)?;
            let subject = self.subject(name, case, run);
            if self.earlier.is_over(&subject) {
                self.done += 1;
                continue;
            }
            self.tell(&format!("{name}: {}", subject.case()));
            let at_s = self.began.elapsed().as_secs_f64();
            let trial_s = campaign.scenario.measure.trial_s;
            let device = (name, &group.wish);
            let (check, facts) =
                captures::check(campaign.bench, device, &load, trial_s, subject.clone(), at_s)?;
            if run == 0 && number == 0 && !self.is_told(name, group, run) {
                self.recorder.write(DeviceFacts { name: name.to_owned(), ..facts })?;
            }
            self.recorder.write(check)?;
            self.finished(subject)?;
        }
        Ok(())
    }
}
