//! Aligned columns, numbers to the right, words to the left; colour where it is wanted.

/// Whether text is coloured.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    coloured: bool,
}

impl Style {
    /// With or without colour.
    pub fn new(coloured: bool) -> Self {
        Self { coloured }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// As headings are printed.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Less important.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// A step: removals red, additions green, the rest yellow.
    pub fn step(self, text: &str) -> String {
        let code = match text.as_bytes().first() {
            Some(b'-') => "31",
            Some(b'+') => "32",
            _ => "33",
        };
        self.paint(code, text)
    }
}

/// What stands in a table for what is not there.
pub(super) const NOTHING: &str = "-";

/// What can stand in a cell.
pub(super) trait Cell {
    /// As text.
    fn cell(&self) -> String;
}

macro_rules! cells {
    ($($kind:ty)*) => {
        $(impl Cell for $kind {
            fn cell(&self) -> String {
                self.to_string()
            }
        })*
    };
}

cells! { u16 u32 u64 usize str String }

impl<T: Cell + ?Sized> Cell for &T {
    fn cell(&self) -> String {
        (**self).cell()
    }
}

impl<T: Cell> Cell for Option<T> {
    fn cell(&self) -> String {
        self.as_ref().map_or_else(|| NOTHING.to_owned(), Cell::cell)
    }
}

impl Cell for Vec<String> {
    fn cell(&self) -> String {
        self.join(" ")
    }
}

/// A table: a row for each of `rows`, and its columns, each with its heading.
macro_rules! table {
    ($rows:expr, $row:pat => { $($heading:literal: $cell:expr),+ $(,)? }) => {{
        let mut table = $crate::view::table::Table::new(&[$($heading),+]);
        for $row in $rows {
            table.row([$($crate::view::table::Cell::cell(&$cell)),+]);
        }
        table
    }};
}

pub(super) use table;

/// A line that says so where not all is shown.
pub(super) fn shortened(shown: usize, total: usize, what: &str, style: Style) -> String {
    if shown == total {
        return String::new();
    }
    style.dim(&format!("{shown} of {total} {what}")) + "\n"
}

/// Rows under a heading.
pub struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(heading: &[&'static str]) -> Self {
        Self { heading: heading.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; as many cells as the heading has.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Leaves a column out in which every row says the same as `nothing`.
    pub fn hide_where_all(mut self, heading: &str, nothing: &str) -> Self {
        let column = self.heading.iter().position(|name| *name == heading);
        if let Some(column) = column
            && self.rows.iter().all(|row| row.get(column).is_none_or(|cell| cell == nothing))
        {
            self.heading.remove(column);
            for row in self.rows.iter_mut().filter(|row| row.len() > column) {
                row.remove(column);
            }
        }
        self
    }

    /// The text, a line a row.
    pub fn render(&self, style: Style) -> String {
        let columns = self.heading.len();
        let cell = |row: &'_ [String], column: usize| row.get(column).cloned().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().map(|row| cell(row, column).chars().count());
                cells.max().unwrap_or(0).max(self.heading[column].chars().count())
            })
            .collect();
        let right: Vec<bool> = (0..columns)
            .map(|column| {
                let mut cells = self.rows.iter().map(|row| cell(row, column));
                !self.rows.is_empty() && cells.all(|cell| is_number(&cell))
            })
            .collect();
        let line = |cells: &[String]| {
            let padded: Vec<String> = (0..columns)
                .map(|column| {
                    let (text, width) = (cell(cells, column), widths[column]);
                    if right[column] {
                        format!("{text:>width$}")
                    } else {
                        format!("{text:<width$}")
                    }
                })
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        let heading: Vec<String> = self.heading.iter().map(|name| (*name).to_owned()).collect();
        let mut text = style.bold(&line(&heading));
        text.push('\n');
        for row in &self.rows {
            text.push_str(&line(row));
            text.push('\n');
        }
        text
    }
}

fn is_number(cell: &str) -> bool {
    let cell = cell.trim_end_matches('%');
    cell == "-" || (!cell.is_empty() && cell.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_words_left() {
        let mut table = Table::new(&["port", "packets", "exits"]);
        table.row(["p0".to_owned(), "12".to_owned(), "ip4".to_owned()]);
        table.row(["uplink".to_owned(), "1000".to_owned(), String::new()]);
        assert_eq!(
            table.render(Style::new(false)),
            "port    packets  exits\np0           12  ip4\nuplink     1000\n"
        );
    }

    #[test]
    fn a_column_that_says_nothing_is_left_out() {
        let table = |vrfs: [&str; 2]| {
            let mut table = Table::new(&["port", "vrf", "mtu"]);
            for vrf in vrfs {
                table.row(["p0", vrf, "1500"].map(str::to_owned));
            }
            let table = table.hide_where_all("vrf", "default");
            table.render(Style::new(false))
        };
        assert_eq!(table(["default"; 2]), "port   mtu\np0    1500\np0    1500\n");
        let shown = "port  vrf       mtu\np0    default  1500\np0    red      1500\n";
        assert_eq!(table(["default", "red"]), shown);
    }
}
