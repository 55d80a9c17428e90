//! `police_in`, `police_out`, `mark_dscp` and `mark_pcp` of a port: what it holds its frames to,
//! and writes into those that it receives.

use super::policer::{Mark, PolicerName};
use crate::config::edit::Words;
use crate::config::field::Field;
use crate::config::read::TableReader;
use crate::config::report::Problem;
use crate::config::write::Fields;

/// What a port holds its frames to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Policing {
    /// The policer of what it receives.
    pub input: Option<PolicerName>,
    /// The policer of what it sends.
    pub output: Option<PolicerName>,
    /// What is written into what it receives, where its policer writes nothing else.
    pub mark: Mark,
}

/// What `port set` sets of it.
pub(super) const SETTINGS: [&str; 4] = ["police_in", "police_out", "mark_dscp", "mark_pcp"];

impl Policing {
    /// None if it asks for nothing.
    pub(super) fn read(table: &mut TableReader<'_>) -> Option<Box<Self>> {
        let [police_in, police_out, mark_dscp, mark_pcp] = SETTINGS;
        let (input, output) = (table.optional(police_in), table.optional(police_out));
        let mark = Mark { dscp: table.optional(mark_dscp), pcp: table.optional(mark_pcp) };
        Self { input, output, mark }.unless_nothing()
    }

    fn unless_nothing(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }

    pub(super) fn fields(policing: Option<&Self>, fields: Fields) -> Fields {
        let Some(own) = policing else { return fields };
        let [police_in, police_out, mark_dscp, mark_pcp] = SETTINGS;
        let fields = fields.maybe(police_in, &own.input).maybe(police_out, &own.output);
        fields.maybe(mark_dscp, &own.mark.dscp).maybe(mark_pcp, &own.mark.pcp)
    }

    /// Reads one of [`SETTINGS`] with its value, or `off`; none if the next word is none of them.
    pub(super) fn set(
        policing: &mut Option<Box<Self>>,
        words: &mut Words<'_>,
    ) -> Result<bool, Problem> {
        let mut own = policing.take().map_or_else(Self::default, |own| *own);
        let [police_in, police_out, mark_dscp, mark_pcp] = SETTINGS;
        let known = if words.take(police_in) {
            own.input = or_off(words)?;
            true
        } else if words.take(police_out) {
            own.output = or_off(words)?;
            true
        } else if words.take(mark_dscp) {
            own.mark.dscp = or_off(words)?;
            true
        } else if words.take(mark_pcp) {
            own.mark.pcp = or_off(words)?;
            true
        } else {
            false
        };
        *policing = own.unless_nothing();
        Ok(known)
    }
}

fn or_off<T: Field>(words: &mut Words<'_>) -> Result<Option<T>, Problem> {
    if words.take("off") { Ok(None) } else { words.next(T::EXPECTED).map(Some) }
}
