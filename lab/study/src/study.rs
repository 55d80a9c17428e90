//! A study as its file has it: sources, runs, chapters. Data alone.
//!
//! ```text
//! study ─┬─ [[source]]     whose numbers, and where they were measured
//!        ├─ [[run]]        a campaign: a scenario of scenarios/, and what is changed in it
//!        └─ [[chapter]] ─┬─ [[chapter.table]]   rows × columns, theirs beside ours
//!                        ├─ [[chapter.figure]]  curves over an axis, what the source says of them, a model
//!                        └─ [[chapter.note]]    what nobody could measure again, with the reason
//! ```
//! Rows, columns, curves and tables may each `pick` part of what a number is; the inner overrides
//! the outer.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::Error;
use crate::what::What;

/// A study.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name: of the file, of the command line.
    pub name: String,
    /// Title of its report.
    pub title: String,
    /// What it is to find out.
    pub about: String,
    /// Kind of the links, where a run does not say.
    pub link: String,
    /// Devices that it is made with unless others are named.
    pub devices: Vec<String>,
    /// What is changed in every scenario.
    #[serde(default)]
    pub change: Table,
    /// What `--quick` changes in every scenario beyond that.
    #[serde(default)]
    pub quick: Table,
    /// Whose numbers stand beside ours.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    /// The campaigns.
    #[serde(rename = "run")]
    pub runs: Vec<Run>,
    /// The parts of its report.
    #[serde(rename = "chapter")]
    pub chapters: Vec<Chapter>,
}

/// A publication.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What the rest of the file calls it.
    pub id: String,
    /// Author, title, year.
    pub title: String,
    /// What was measured there, and on what.
    pub measured: String,
}

/// A campaign.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Its name, and that of its folder.
    pub id: String,
    /// Title of its own report.
    pub title: String,
    /// The scenario's name.
    pub scenario: String,
    /// Kind of the links.
    #[serde(default)]
    pub link: Option<String>,
    /// Devices that it measures beyond those that the study is made with.
    #[serde(default)]
    pub also: Vec<String>,
    /// Devices that it measures in place of those that the study is made with, each by the name of
    /// the one that it stands for: of all others it measures none.
    #[serde(default)]
    pub instead: BTreeMap<String, String>,
    /// What is changed in the scenario.
    #[serde(default)]
    pub change: Table,
    /// What `--quick` changes beyond that.
    #[serde(default)]
    pub quick: Table,
}

/// A part of the report.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// Its title.
    pub title: String,
    /// What it asks.
    pub about: String,
    /// Tables.
    #[serde(default, rename = "table")]
    pub tables: Vec<TableOf>,
    /// Figures.
    #[serde(default, rename = "figure")]
    pub figures: Vec<FigureOf>,
    /// Figures that are a table of the study, drawn.
    #[serde(default)]
    pub bars: Vec<BarsOf>,
    /// What has no measurement in it.
    #[serde(default, rename = "note")]
    pub notes: Vec<Note>,
}

/// Which number: what is not said is left to the outer one, or is as it comes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pick {
    /// Runs that may have it: the first that was to measure it counts.
    pub runs: Vec<String>,
    /// The function, by its name in results.
    pub function: Option<String>,
    /// Name of the number.
    pub metric: Option<String>,
    /// Values of axes.
    pub axes: BTreeMap<String, String>,
}

impl Pick {
    /// This one, with what another says instead.
    pub fn with(&self, inner: &Self) -> Self {
        let runs = if inner.runs.is_empty() { &self.runs } else { &inner.runs };
        let mut axes = self.axes.clone();
        axes.extend(inner.axes.clone());
        Self {
            runs: runs.clone(),
            function: inner.function.clone().or_else(|| self.function.clone()),
            metric: inner.metric.clone().or_else(|| self.metric.clone()),
            axes,
        }
    }
}

/// What a table's numbers are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Millions of packets a second.
    Mpps,
    /// Entries of a table.
    Entries,
    /// A share of one, told in percent.
    Percent,
    /// Seconds.
    Seconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Millions of bits a second.
    Mbps,
    /// A share of one, of packets that were as they had to be.
    Right,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableOf {
    /// Its number in the source; of a table that the source has not, a name of ours.
    pub id: String,
    /// The source; none of a table of ours.
    #[serde(default)]
    pub source: Option<String>,
    /// Where it stands there.
    #[serde(default)]
    pub place: String,
    /// What it shows.
    pub title: String,
    /// What its numbers are.
    pub unit: Unit,
    /// What all of its numbers have in common.
    #[serde(default)]
    pub pick: Pick,
    /// Its columns of numbers.
    #[serde(rename = "column")]
    pub columns: Vec<Column>,
    /// Its rows.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
    /// What is fitted to each row, over its columns.
    #[serde(default)]
    pub model: Option<ModelOf>,
    /// What a reader must know.
    #[serde(default)]
    pub remark: String,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// What stands above it.
    pub name: String,
    /// What its numbers have in common.
    #[serde(default)]
    pub pick: Pick,
    /// Clock of the source's processor there, in GHz: cycles a packet follow from it.
    #[serde(default)]
    pub ghz: Option<f64>,
    /// Which of our devices stand in it, by their plain names; all unless said.
    #[serde(default)]
    pub devices: Option<Vec<String>>,
    /// Its numbers were not measured by us, and why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What stands before it.
    pub name: String,
    /// The source's number in each column, `nan` where it has none; empty for a row of ours.
    #[serde(default)]
    pub theirs: Vec<f64>,
    /// What its numbers have in common.
    #[serde(default)]
    pub pick: Pick,
    /// Which of our devices stand beside it, by their plain names; all unless said.
    #[serde(default)]
    pub devices: Option<Vec<String>>,
    /// It was not measured by us, and why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureOf {
    /// Its number in the source, or a name of ours.
    pub id: String,
    /// The source; none of a figure of ours.
    #[serde(default)]
    pub source: Option<String>,
    /// Where it stands there.
    #[serde(default)]
    pub place: String,
    /// What it shows.
    pub title: String,
    /// The axis that its curves run over; a histogram has none.
    #[serde(default)]
    pub axis: String,
    /// Whether each step of the axis is a factor.
    #[serde(default)]
    pub log: bool,
    /// What all of its curves have in common.
    #[serde(default)]
    pub pick: Pick,
    /// Its curves.
    #[serde(rename = "curve")]
    pub curves: Vec<Curve>,
    /// What the source says of it in words and numbers.
    #[serde(default)]
    pub says: Vec<Said>,
    /// Octets of a table's entry, by the source: where it would leave each cache of this host is
    /// marked.
    #[serde(default)]
    pub entry_bytes: Option<f64>,
    /// What is fitted to its curves.
    #[serde(default)]
    pub model: Option<ModelOf>,
    /// What a reader must know.
    #[serde(default)]
    pub remark: String,
}

/// A figure of grouped bars: a group for each row of a table, a bar for each of its columns.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarsOf {
    /// Its number in the source, or a name of ours.
    pub id: String,
    /// The source; none of a figure of ours.
    #[serde(default)]
    pub source: Option<String>,
    /// Where it stands there.
    #[serde(default)]
    pub place: String,
    /// What it shows.
    pub title: String,
    /// The table, by its id.
    pub of: String,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Its name in the source.
    pub name: String,
    /// What it is made of.
    pub what: What,
    /// Which percentile.
    #[serde(default)]
    pub percent: f64,
    /// What the names of nodes, or of events, have in them.
    #[serde(default)]
    pub names: Vec<String>,
    /// What it has beyond its figure.
    #[serde(default)]
    pub pick: Pick,
    /// It was not measured by us, and why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What a source says in words.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// What of.
    pub of: String,
    /// What it says.
    pub theirs: String,
    /// Where.
    pub place: String,
}

/// Something of a source in which nothing is measured, or nothing that could be measured again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Its number in the source.
    pub id: String,
    /// The source.
    pub source: String,
    /// Where it stands there.
    pub place: String,
    /// What it shows.
    pub title: String,
    /// Why there is nothing of ours beside it.
    pub reason: String,
}

/// A formula that is fitted.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOf {
    /// Which.
    pub kind: ModelKind,
    /// The source's formula, with its constants.
    pub theirs: String,
    /// Where it stands.
    pub place: String,
}

/// The formulas that can be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Rate against clock, by one term and by two.
    Clock,
    /// Rate against workers.
    Workers,
    /// Rate against the lookup's share of the time.
    Lookup,
    /// Latency against load.
    Latency,
    /// Entries at which a table leaves a cache.
    Knee,
}

impl Study {
    /// Reads a study; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let path = path.display().to_string();
        let study: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Error::in_text(text, &path, at, error.message())
        })?;
        match study.fault() {
            Some(fault) => Err(Error::in_text(text, &path, 0, &fault)),
            None => Ok(study),
        }
    }

    /// The run of a name.
    pub fn run(&self, id: &str) -> Option<&Run> {
        self.runs.iter().find(|run| run.id == id)
    }

    /// The table of an id.
    pub fn table(&self, id: &str) -> Option<&TableOf> {
        self.chapters.iter().flat_map(|chapter| &chapter.tables).find(|table| table.id == id)
    }

    /// What is wrong beyond the grammar, if anything.
    fn fault(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        for (index, run) in self.runs.iter().enumerate() {
            if run.id.is_empty() || !run.id.chars().all(plain) {
                return Some(format!("run id {:?} is not of a-z, 0-9 and -", run.id));
            }
            if self.runs[..index].iter().any(|other| other.id == run.id) {
                return Some(format!("two runs are called {:?}", run.id));
            }
        }
        let source = |id: &Option<String>| {
            id.as_ref().filter(|id| self.sources.iter().all(|source| source.id != **id)).cloned()
        };
        for chapter in &self.chapters {
            for table in &chapter.tables {
                if let Some(id) = source(&table.source) {
                    return Some(format!("{}: there is no source {id:?}", table.id));
                }
                if let Some(fault) = self.fault_of_table(table) {
                    return Some(format!("{}: {fault}", table.id));
                }
            }
            for figure in &chapter.figures {
                if let Some(id) = source(&figure.source) {
                    return Some(format!("{}: there is no source {id:?}", figure.id));
                }
                let picks = figure.curves.iter().filter(|curve| curve.reason.is_none());
                let mut picks = picks.map(|curve| (&curve.name, figure.pick.with(&curve.pick)));
                if let Some(fault) = picks.find_map(|(name, pick)| self.fault_of(name, &pick)) {
                    return Some(format!("{}: {fault}", figure.id));
                }
            }
            for bars in &chapter.bars {
                if let Some(id) = source(&bars.source) {
                    return Some(format!("{}: there is no source {id:?}", bars.id));
                }
                if self.table(&bars.of).is_none() {
                    return Some(format!("{}: there is no table {:?}", bars.id, bars.of));
                }
            }
            for note in &chapter.notes {
                if let Some(id) = source(&Some(note.source.clone())) {
                    return Some(format!("{}: there is no source {id:?}", note.id));
                }
            }
        }
        None
    }

    fn fault_of_table(&self, table: &TableOf) -> Option<String> {
        for row in &table.rows {
            let (have, need) = (row.theirs.len(), table.columns.len());
            if have > 0 && have != need {
                return Some(format!("{} has {have} numbers for {need} columns", row.name));
            }
            for column in &table.columns {
                if row.reason.is_some() || column.reason.is_some() {
                    continue;
                }
                let pick = table.pick.with(&column.pick).with(&row.pick);
                if let Some(fault) = self.fault_of(&row.name, &pick) {
                    return Some(fault);
                }
            }
        }
        None
    }

    fn fault_of(&self, name: &str, pick: &Pick) -> Option<String> {
        if pick.runs.is_empty() {
            return Some(format!("{name} names no run and gives no reason"));
        }
        let unknown = pick.runs.iter().find(|id| self.run(id).is_none())?;
        Some(format!("{name}: there is no run {unknown:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "name = 's'\ntitle = 'S'\nabout = 'a'\nlink = 'memif'\ndevices = ['volley']\n\
        [[source]]\nid = 't'\ntitle = 'T'\nmeasured = 'm'\n\
        [[run]]\nid = 'r'\ntitle = 'R'\nscenario = 'x'\n\
        [[chapter]]\ntitle = 'C'\nabout = 'a'\n\
        [[chapter.table]]\nid = 'table 1'\nsource = 't'\ntitle = 'One'\nunit = 'mpps'\n\
        column = [{ name = 'a' }, { name = 'b' }]\n";

    fn with_row(row: &str) -> Result<Study, String> {
        let text = format!("{SMALL}row = [{row}]\n");
        Study::parse(&text, Path::new("s.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_row_names_a_run_or_gives_its_reason() {
        let good = "{ name = 'one', theirs = [1.0, nan], pick = { runs = ['r'] } }";
        assert_eq!(with_row(good).unwrap().chapters[0].tables[0].rows.len(), 1);
        assert!(with_row("{ name = 'one', reason = 'nobody has it' }").is_ok());
        let told = with_row("{ name = 'one' }").unwrap_err();
        assert!(told.contains("one names no run and gives no reason"), "{told}");
        let told = with_row("{ name = 'one', pick = { runs = ['q'] } }").unwrap_err();
        assert!(told.contains("there is no run \"q\""), "{told}");
        let told = with_row("{ name = 'one', theirs = [1.0], reason = 'r' }").unwrap_err();
        assert!(told.contains("1 numbers for 2 columns"), "{told}");
    }

    #[test]
    fn bars_are_of_a_table_that_there_is() {
        let row = "row = [{ name = 'one', reason = 'r' }]\n";
        let with = |of: &str| {
            let bars = format!(
                "[[chapter.bars]]\nid = 'figure 1'\nsource = 't'\ntitle = 'F'\nof = '{of}'\n"
            );
            Study::parse(&format!("{SMALL}{row}{bars}"), Path::new("s.toml"))
        };
        assert_eq!(with("table 1").unwrap().chapters[0].bars.len(), 1);
        let told = with("table 2").unwrap_err().to_string();
        assert!(told.contains("figure 1: there is no table \"table 2\""), "{told}");
    }

    #[test]
    fn the_inner_pick_overrides_the_outer() {
        let pick = |runs: &[&str], metric: Option<&str>, axis: &str| Pick {
            runs: runs.iter().map(|&run| run.to_owned()).collect(),
            metric: metric.map(str::to_owned),
            axes: [(axis.to_owned(), "1".to_owned())].into(),
            ..Pick::default()
        };
        let joined = pick(&["a"], Some("NDR"), "x").with(&pick(&[], None, "y"));
        assert_eq!((joined.runs, joined.metric), (vec!["a".to_owned()], Some("NDR".to_owned())));
        assert_eq!(joined.axes.len(), 2);
    }
}
