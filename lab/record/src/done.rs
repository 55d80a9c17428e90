//! What is over: a case of one start that will not be measured again.

use serde::{Deserialize, Serialize};

use crate::{Results, Subject};

/// A case of one start, measured to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneRecord {
    /// What was measured.
    pub subject: Subject,
}

/// What went wrong before it was measured after all is no failure of it any more.
pub(crate) fn meet(results: &mut Results, done: DoneRecord) {
    results.failures.retain(|failure| failure.refused || failure.subject != done.subject);
    results.done.push(done.subject);
}
