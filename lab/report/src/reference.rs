//! Verified numbers over all starts: what most of them say of the reference.

use lab_record::{Reference, Results, Subject, Verdict};

use crate::summary::Row;
use crate::words;

/// What most starts of a row say, in words; none where nothing was verified. Without a majority
/// nobody can tell.
pub fn verified(results: &Results, row: &Row) -> Option<(Reference, String)> {
    let mine = results.answers.iter().filter(|it| {
        it.metric == row.metric && Subject { run: 0, ..it.subject.clone() } == row.subject
    });
    let told: Vec<(Reference, &Verdict)> = mine
        .flat_map(|it| &it.verdicts)
        .filter_map(|verdict| match verdict {
            Verdict::AgainstReference { finding, .. } => Some((*finding, verdict)),
            _ => None,
        })
        .collect();
    let count = |finding: Reference| told.iter().filter(|it| it.0 == finding).count();
    let most = [Reference::Holds, Reference::Lower, Reference::Higher, Reference::Undecided]
        .into_iter()
        .max_by_key(|it| count(*it))?;
    let starts = told.len();
    let (_, verdict) = told.iter().find(|it| it.0 == most)?;
    match 2 * count(most) > starts {
        true => {
            let told = format!("{}, {} of {starts} starts", words::verdict(verdict), count(most));
            Some((most, told))
        }
        false => {
            Some((Reference::Undecided, format!("undecided: its {starts} starts say otherwise")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{self, Worst};
    use crate::summary::rows;
    use lab_record::AnswerRecord;

    fn results(findings: &[Reference]) -> Results {
        let answer = |(run, &finding): (usize, &Reference)| AnswerRecord {
            subject: Subject { device: "volley".into(), run: run as u32, ..Subject::default() },
            metric: "ref-NDR".into(),
            low_pps: 9e6,
            high_pps: 9.1e6,
            verdicts: vec![Verdict::AgainstReference { finding, low_pps: 9e6, high_pps: None }],
            ..AnswerRecord::default()
        };
        let answers = findings.iter().enumerate().map(answer).collect();
        Results { answers, ..Results::default() }
    }

    #[test]
    fn most_starts_decide_and_what_is_lower_fails() {
        use Reference::{Higher, Holds, Lower, Undecided};
        for (findings, wanted, worst) in [
            (&[Holds, Lower, Holds][..], Holds, Worst::Passed),
            (&[Lower, Lower, Holds], Lower, Worst::Failed),
            (&[Higher], Higher, Worst::Passed),
            (&[Holds, Lower], Undecided, Worst::Missing),
            (&[Undecided, Undecided, Lower], Undecided, Worst::Missing),
        ] {
            let results = results(findings);
            let (found, told) = verified(&results, &rows(&results)[0]).unwrap();
            assert_eq!(found, wanted, "{findings:?}: {told}");
            assert_eq!(gate::of(&results, 0.0).worst(), worst, "{findings:?}");
        }
        let plain = Results {
            answers: vec![AnswerRecord { metric: "NDR".into(), ..AnswerRecord::default() }],
            ..Results::default()
        };
        assert_eq!(verified(&plain, &rows(&plain)[0]), None);
    }
}
