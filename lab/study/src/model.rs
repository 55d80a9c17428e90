//! The source's formulas, fitted to our points: constants of both, how well each describes them.
//!
//! ```text
//! clock    a row of a table over its columns      knee, lookup   curves over entries
//! workers  a curve over workers                   latency        a curve over the load's share
//! ```

use lab_search::model::clock::{OneTerm, TwoTerm};
use lab_search::model::fit::Model;
use lab_search::model::latency::LatencyCurve;
use lab_search::model::lookup::LookupShare;
use lab_search::model::workers::Workers;
use lab_search::model::{Fit, cache};

use crate::study::ModelKind;

/// What came of a fit: of which points, and what was found; or why nothing was.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Whose points: a device, or the source.
    pub whose: String,
    /// What of.
    pub of: String,
    /// Found, or why not.
    pub found: Result<Found, String>,
}

/// What a fit says.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Parameters of a formula.
    Formula(Fit),
    /// Entries at which a curve breaks.
    Knee(f64),
}

/// Fits a formula, all forms that it has, to points. `max_x` is the largest value that the axis
/// can have.
pub fn fit(kind: ModelKind, points: &[(f64, f64)], max_x: f64) -> Vec<Result<Found, String>> {
    let told = |fit: Result<Fit, lab_record::Error>| {
        fit.map(Found::Formula).map_err(|error| error.to_string())
    };
    let apart = |least: usize| {
        let mut xs: Vec<f64> = points.iter().map(|point| point.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let count = xs.len();
        (count < least).then(|| format!("{count} of the {least} points, or more, that it takes"))
    };
    let least = match kind {
        ModelKind::Clock | ModelKind::Workers | ModelKind::Lookup => 2,
        ModelKind::Latency | ModelKind::Knee => 4,
    };
    if let Some(few) = apart(least) {
        return vec![Err(few)];
    }
    match kind {
        ModelKind::Clock => {
            vec![told(OneTerm { max_ghz: max_x }.fit(points)), told(TwoTerm.fit(points))]
        }
        ModelKind::Workers => {
            // No line is full here: the highest point is not taken for one.
            let line_rate = points.iter().map(|point| point.1).fold(0.0, f64::max) * 1.03;
            vec![told(Workers { line_rate }.fit(points))]
        }
        ModelKind::Lookup => vec![told(LookupShare.fit(points))],
        ModelKind::Latency => vec![told(LatencyCurve.fit(points))],
        ModelKind::Knee => {
            let none = || "the curve does not fall by 2 %".to_owned();
            vec![cache::knee(points).map(Found::Knee).ok_or_else(none)]
        }
    }
}

/// The curve of a fitted latency, for a figure.
pub fn latency_curve(fit: &Fit) -> Vec<(f64, f64)> {
    let [a, b, k] = [0, 1, 2].map(|at| fit.parameters.get(at).map_or(0.0, |it| it.1));
    let at = |step: u32| f64::from(step) / 100.0;
    (2..=100).map(|step| (at(step), LatencyCurve.value(&[a, b, k], at(step)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_one_clock_has_no_fit_and_says_so_and_the_sources_three_have_two() {
        let one = fit(ModelKind::Clock, &[(3.2, 13.2)], 3.2);
        assert!(matches!(&one[..], [Err(why)] if why.starts_with("1 of the 2 points")));
        let three = fit(ModelKind::Clock, &[(1.6, 7.34), (3.1, 12.9), (3.2, 13.2)], 3.2);
        let [Ok(Found::Formula(line)), Ok(Found::Formula(terms))] = &three[..] else { panic!() };
        assert!(line.quality.r2 > 0.99 && terms.quality.r2 > 0.99);
    }

    #[test]
    fn a_flat_curve_has_no_knee_and_says_so() {
        let flat: Vec<(f64, f64)> = (1..6).map(|x| (f64::from(x), 1.0)).collect();
        let told = fit(ModelKind::Knee, &flat, 0.0);
        assert!(matches!(&told[..], [Err(why)] if why.contains("does not fall")));
    }
}
