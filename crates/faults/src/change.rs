//! Changes of the configuration: made, refused and taken back, confirmed or not, and saved by a
//! slow disk.

use crate::blocks::Drawing;
use crate::play::Run;
use crate::world::config_of;
use control::config::Config;
use control::transaction::TransactionError;
use std::sync::Arc;
use std::time::Duration;

impl Run {
    pub(crate) fn reconfigure(&mut self) -> Result<(), String> {
        let running = Arc::clone(self.transaction.config());
        let known = self.drawn.iter().rev().find(|(config, _)| *config == running);
        let (mut config, mut next) =
            known.cloned().ok_or("a configuration runs that nobody drew")?;
        for _ in 0..1 + self.chance.below(8) {
            let mut more = next.clone();
            more.change(&mut self.chance);
            // What the check refuses is left out: it is the check's to be right.
            if let Ok(stands) = config_of(more.text()) {
                (config, next) = (Arc::new(stands), more);
            }
        }
        let config = Config::clone(&config);
        let within = self.chance.one_in(6).then(|| Duration::from_secs(10));
        let changes = Config::diff(&running, &config);
        self.say(|| {
            let lines: Vec<_> = changes.iter().map(ToString::to_string).collect();
            let within = within.map_or(String::new(), |_| " (to be confirmed)".to_owned());
            format!("apply{within}:\n{:16}{}", "", lines.join("\n                "))
        });
        let now = self.stage.now();
        let armed = self.is_armed();
        match self.transaction.apply(&mut self.stage.router, config, within, "drawn", now) {
            Ok(_) => {
                self.done.changes += 1;
                self.remember(next);
                Ok(())
            }
            Err(TransactionError::Unconfirmed { .. }) => Ok(()),
            Err(TransactionError::Apply(error)) if armed => {
                self.done.undone += 1;
                self.say(|| format!("it is taken back: {error}"));
                if *self.transaction.config() != running {
                    return Err("a change that failed left another configuration".to_owned());
                }
                // Devices that refused are to be had again.
                self.stage.lines.all().for_each(|(_, line)| line.lock().refuses = 0);
                self.compare()
            }
            Err(error) => Err(format!("no device refuses, and the change does: {error}")),
        }
    }

    pub(crate) fn remember(&mut self, drawing: Drawing) {
        if self.drawn.len() > 64 {
            self.drawn.remove(1);
        }
        self.drawn.push((Arc::clone(self.transaction.config()), drawing));
    }

    /// Whether some device would refuse.
    pub(crate) fn is_armed(&self) -> bool {
        self.stage.lines.all().any(|(_, line)| {
            let line = line.lock();
            line.refuses != 0 || !line.there
        })
    }

    /// Somebody confirms, or goes back to an earlier configuration.
    pub(crate) fn confirm_or_not(&mut self) -> Result<(), String> {
        let now = self.stage.now();
        if self.chance.one_in(2) {
            let confirmed = self.transaction.confirm(now).is_ok();
            self.say(|| format!("confirm: {confirmed}"));
            return Ok(());
        }
        let armed = self.is_armed();
        match self.transaction.rollback(&mut self.stage.router, None, now) {
            Ok(applied) => self.say(|| format!("rollback, revision {} now", applied.revision)),
            Err(TransactionError::Apply(error)) if !armed => {
                return Err(format!("no device refuses, and the rollback does: {error}"));
            }
            Err(error) => self.say(|| format!("no rollback: {error}")),
        }
        Ok(())
    }

    /// A disk that is slow: what was to be saved is written while other things run.
    pub(crate) fn save(&mut self) {
        match self.saving.take() {
            None => {
                let config = Arc::clone(self.transaction.config());
                self.saving = Some((self.transaction.revision(), config));
                self.say(|| "a save begins".to_owned());
            }
            Some((revision, config)) => {
                self.transaction.saved(revision, config);
                self.say(|| "the disk has the save".to_owned());
            }
        }
    }
}
