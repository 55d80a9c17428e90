//! `volley-lab fit MODEL [CSV]`: the sources' models, fitted to theirs or to anyone's points.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use lab_record::Error;
use lab_search::model::clock::{OneTerm, TwoTerm};
use lab_search::model::fit::Model;
use lab_search::model::latency::{LatencyCurve, SOURCE};
use lab_search::model::lookup::LookupShare;
use lab_search::model::reference::{CLOCKS_GHZ, VPP_MPPS};
use lab_search::model::workers::Workers;
use lab_search::model::{Fit as Fitted, cache, points};

use crate::say::say;
use crate::{Failure, numbers};

/// Without a CSV, clock fits the sources' own table.
#[derive(Debug, Args)]
pub(crate) struct Fit {
    /// What is fitted
    #[arg(value_enum)]
    model: Kind,
    /// Lines of x,y
    #[arg(required_if_eq_any = [("model", "workers"), ("model", "lookup"), ("model", "latency"),
        ("model", "knee")], value_hint = ValueHint::FilePath)]
    csv: Option<PathBuf>,
    /// The highest clock in GHz, or the line rate; of the points unless said
    #[arg(long, value_name = "X", value_parser = numbers::number)]
    max: Option<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Rate against the processor's clock
    Clock,
    /// Rate against workers
    Workers,
    /// Rate against the share of packets that are looked up
    Lookup,
    /// Latency against load
    Latency,
    /// Entries at which a table leaves a cache
    Knee,
}

/// Fits and prints.
pub(crate) fn run(Fit { model, csv, max }: &Fit) -> Result<(), Failure> {
    let Some(file) = csv else { return source_table() };
    let text = std::fs::read_to_string(file).map_err(Error::file(file))?;
    let points = points::parse(&text, file)?;
    let highest = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(0.0, f64::max);
    match model {
        Kind::Clock => {
            let max_ghz = max.unwrap_or_else(|| highest(|point| point.0));
            print("one term", &OneTerm { max_ghz }.fit(&points)?);
            print("two terms", &TwoTerm.fit(&points)?);
        }
        Kind::Workers => {
            let line_rate = max.unwrap_or_else(|| highest(|point| point.1) * 1.03);
            print("workers", &Workers { line_rate }.fit(&points)?);
        }
        Kind::Lookup => print("lookup share", &LookupShare.fit(&points)?),
        Kind::Latency => {
            print("ours", &LatencyCurve.fit(&points)?);
            let r2 = LatencyCurve.source_quality(&points).r2;
            say!(
                "source       a = {}, b = {}, k = {}, R² = {r2:.4}",
                SOURCE[0],
                SOURCE[1],
                SOURCE[2]
            );
        }
        Kind::Knee => match cache::knee(&points) {
            Some(entries) => say!("knee at {entries:.0} entries"),
            None => say!("no knee: the curve does not fall"),
        },
    }
    Ok(())
}

/// Both clock models on each line of the sources' table.
fn source_table() -> Result<(), Failure> {
    say!("VPP 18.10, one worker, 64 octets: Mpps at {CLOCKS_GHZ:?} GHz");
    say!("{:<32}{:>16}{:>24}{:>12}", "", "one term", "two terms", "held out");
    say!(
        "{:<32}{:>8}{:>8}{:>8}{:>8}{:>8}{:>6}{:>6}",
        "",
        "p_max",
        "R²",
        "cycles",
        "ns",
        "R²",
        "1",
        "2"
    );
    for (name, mpps) in VPP_MPPS {
        let points: Vec<(f64, f64)> = CLOCKS_GHZ.into_iter().zip(mpps).collect();
        let one = OneTerm { max_ghz: 3.2 }.fit(&points)?;
        let two = TwoTerm.fit(&points)?;
        let held =
            |fit: &Fitted| fit.held_out.map_or("-".into(), |it| format!("{:.1}%", 100.0 * it));
        say!(
            "{name:<32}{:>8.2}{:>8.4}{:>8.0}{:>8.1}{:>8.4}{:>6}{:>6}",
            one.parameters[0].1,
            one.quality.r2,
            1e3 * two.parameters[0].1,
            1e3 * two.parameters[1].1,
            two.quality.r2,
            held(&one),
            held(&two)
        );
    }
    Ok(())
}

fn print(name: &str, fit: &Fitted) {
    let parameters: Vec<String> =
        fit.parameters.iter().map(|(name, value)| format!("{name} = {value:.5}")).collect();
    say!("{name:<12} {}", fit.formula);
    say!("{:<12} {}", "", parameters.join(", "));
    let held = fit.held_out.map_or("none".into(), |it| format!("{:.2} %", 100.0 * it));
    say!(
        "{:<12} R² = {:.4}, worst residual {:.2} %, held-out error {held}",
        "",
        fit.quality.r2,
        100.0 * fit.quality.worst
    );
    let residuals: Vec<String> =
        fit.quality.residuals.iter().map(|it| format!("{it:+.4}")).collect();
    say!("{:<12} residuals {}", "", residuals.join(" "));
}
