//! Aligned columns: numbers to the right, words to the left.

use crate::output::Style;

/// Rows under a heading.
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(heading: &[&'static str]) -> Self {
        Self { heading: heading.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; as many cells as the heading has.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Leaves a column out in which every row says the same as `nothing`.
    pub(crate) fn hide_where_all(&mut self, heading: &str, nothing: &str) {
        let Some(column) = self.heading.iter().position(|name| *name == heading) else { return };
        if self.rows.iter().all(|row| row.get(column).is_none_or(|cell| cell == nothing)) {
            self.heading.remove(column);
            for row in self.rows.iter_mut().filter(|row| row.len() > column) {
                row.remove(column);
            }
        }
    }

    /// The text, a line a row.
    pub(crate) fn render(&self, style: Style) -> String {
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
            table.render(Style::plain()),
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
            table.hide_where_all("vrf", "default");
            table.render(Style::plain())
        };
        assert_eq!(table(["default"; 2]), "port   mtu\np0    1500\np0    1500\n");
        let shown = "port  vrf       mtu\np0    default  1500\np0    red      1500\n";
        assert_eq!(table(["default", "red"]), shown);
    }
}
