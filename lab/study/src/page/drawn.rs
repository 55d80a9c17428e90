//! What a figure draws: curves that have points, and where the host's caches end.

use super::Page;
use crate::curve::{self, Point};
use crate::study::{Curve, FigureOf};
use crate::what::What;

/// A curve of a device that has points.
pub(super) struct Drawn<'a> {
    pub(super) curve: &'a Curve,
    pub(super) device: &'a str,
    pub(super) points: Vec<Point>,
}

/// Those of a figure.
pub(super) fn drawn<'a>(page: &'a Page<'_>, figure: &'a FigureOf) -> Vec<Drawn<'a>> {
    let mut found = Vec::new();
    for device in &page.state.devices {
        for curve in figure.curves.iter().filter(|it| it.what != What::Histogram) {
            let pick = figure.pick.with(&curve.pick);
            if let Ok(points) = curve::points(page.runs, curve, &pick, &figure.axis, device) {
                found.push(Drawn { curve, device, points });
            }
        }
    }
    found
}

/// Caches of the host, each with its size in octets.
pub(super) fn caches(page: &Page<'_>) -> Vec<(String, f64)> {
    let hosts = page.runs.all().iter().filter_map(|run| run.results.as_ref()?.campaigns.first());
    let told = hosts.filter_map(|campaign| campaign.host.get("caches")).next();
    let one = |words: &str| {
        let mut words = words.split_whitespace();
        let (level, kind, size) = (words.next()?, words.next()?, words.next()?);
        let kilo = size.strip_suffix('K').and_then(|it| it.parse::<f64>().ok())?;
        (kind != "instruction").then(|| (level.to_owned(), kilo * 1024.0))
    };
    told.map_or_else(Vec::new, |all| all.split(", ").filter_map(one).collect())
}
