//! Who stands where in the picture: columns by rank, and an order in each that few lines cross.
//!
//! ```text
//!  column 0    1       2          a line over several columns bends in each:
//!  [rx] ──▶ [input] ─▶ [lookup]   its bends are ordered and placed as nodes are
//!    └─────────•────────▶ ┘
//! ```
//! The method of Sugiyama, Tagawa and Toda (1981): ranks, bends, sweeps of barycentres.

use super::picture::{Picture, Way};

/// Sweeps over all columns; a graph of this size settles in a few.
const SWEEPS: usize = 24;

/// The picture before it has coordinates.
pub(super) struct Plan {
    pub(super) cells: Vec<Cell>,
    /// Cells of each column, from top to bottom.
    pub(super) columns: Vec<Vec<usize>>,
    pub(super) lines: Vec<Line>,
}

/// A box, or the bend of a line.
pub(super) struct Cell {
    /// The number of its box; a bend has none.
    pub(super) drawn: Option<usize>,
    /// Cells that it is connected with in the columns before and after its own.
    pub(super) left: Vec<usize>,
    pub(super) right: Vec<usize>,
}

/// A way as a line.
pub(super) struct Line {
    /// Its number in the picture.
    pub(super) way: usize,
    /// It leads from right to left.
    pub(super) is_back: bool,
    /// From left to right: a box, bends, a box. A line back to its own box has one cell.
    pub(super) cells: Vec<usize>,
}

impl Plan {
    pub(super) fn new(picture: &Picture) -> Self {
        let rank = ranks(picture);
        let mut plan = Self { cells: Vec::new(), columns: Vec::new(), lines: Vec::new() };
        let cell_of: Vec<_> = rank
            .iter()
            .enumerate()
            .map(|(index, &rank)| plan.add_cell(Some(index), rank))
            .collect();
        for (way, &Way { from, to, .. }) in picture.ways.iter().enumerate() {
            let (first, last) = (from.min(to), from.max(to));
            let mut cells = vec![cell_of[first]];
            for column in rank[first] + 1..rank[last] {
                cells.push(plan.add_cell(None, column));
            }
            if first != last {
                cells.push(cell_of[last]);
            }
            for pair in cells.windows(2) {
                plan.cells[pair[0]].right.push(pair[1]);
                plan.cells[pair[1]].left.push(pair[0]);
            }
            plan.lines.push(Line { way, is_back: to < from, cells });
        }
        plan.order();
        plan
    }

    fn add_cell(&mut self, drawn: Option<usize>, column: usize) -> usize {
        self.columns.resize_with(self.columns.len().max(column + 1), Vec::new);
        self.columns[column].push(self.cells.len());
        self.cells.push(Cell { drawn, left: Vec::new(), right: Vec::new() });
        self.cells.len() - 1
    }

    /// Reorders every column; keeps the best order that the sweeps came by.
    fn order(&mut self) {
        let (mut best, mut fewest) = (self.columns.clone(), self.crossings());
        for sweep in 0..SWEEPS {
            let count = self.columns.len();
            for step in 0..count {
                let rightwards = sweep % 2 == 0;
                self.sort_column(if rightwards { step } else { count - 1 - step }, rightwards);
            }
            while self.swap_neighbours() {}
            if self.crossings() < fewest {
                (best, fewest) = (self.columns.clone(), self.crossings());
            }
        }
        self.columns = best;
    }

    fn sort_column(&mut self, column: usize, by_left: bool) {
        let row = self.rows();
        let barycentre = |&cell: &usize| {
            let Cell { left, right, .. } = &self.cells[cell];
            let beside = if by_left { left } else { right };
            if beside.is_empty() {
                return row[cell] as f64;
            }
            beside.iter().map(|&other| row[other] as f64).sum::<f64>() / beside.len() as f64
        };
        let mut sorted = self.columns[column].clone();
        sorted.sort_by(|a, b| barycentre(a).total_cmp(&barycentre(b)));
        self.columns[column] = sorted;
    }

    /// Swaps neighbours in a column where that saves crossings; says whether any were.
    fn swap_neighbours(&mut self) -> bool {
        let mut fewest = self.crossings();
        let before = fewest;
        for column in 0..self.columns.len() {
            for upper in 1..self.columns[column].len() {
                self.columns[column].swap(upper - 1, upper);
                let now = self.crossings();
                if now < fewest {
                    fewest = now;
                } else {
                    self.columns[column].swap(upper - 1, upper);
                }
            }
        }
        fewest < before
    }

    /// Each cell's place in its column.
    fn rows(&self) -> Vec<usize> {
        let mut rows = vec![0; self.cells.len()];
        for column in &self.columns {
            for (row, &cell) in column.iter().enumerate() {
                rows[cell] = row;
            }
        }
        rows
    }

    pub(super) fn crossings(&self) -> usize {
        let row = self.rows();
        let mut count = 0;
        for column in &self.columns {
            let step = |&cell: &usize| {
                let right = self.cells[cell].right.iter();
                right.map(|&to| (row[cell], row[to])).collect::<Vec<_>>()
            };
            let steps: Vec<_> = column.iter().flat_map(step).collect();
            for (index, a) in steps.iter().enumerate() {
                count += steps[index..].iter().filter(|b| (a.0 < b.0) & (a.1 > b.1)).count();
            }
        }
        count
    }
}

/// The length of the longest way to each box; a way to an earlier one closes a loop and counts for
/// nothing. Without a way that leads there, a box stands in the first column.
fn ranks(picture: &Picture) -> Vec<usize> {
    let mut rank = vec![0; picture.boxes.len()];
    for from in 0..rank.len() {
        for way in picture.ways.iter().filter(|way| way.from == from && way.to > from) {
            rank[way.to] = rank[way.to].max(rank[from] + 1);
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::testing::small_graph;

    fn named<'a>(picture: &'a Picture, plan: &Plan, cell: usize) -> &'a str {
        plan.cells[cell].drawn.map_or("bend", |drawn| &picture.boxes[drawn].name)
    }

    #[test]
    fn columns_are_the_longest_ways_and_long_lines_bend() {
        let picture = Picture::whole(&small_graph());
        let plan = Plan::new(&picture);
        let columns: Vec<Vec<_>> = plan
            .columns
            .iter()
            .map(|cells| cells.iter().map(|&cell| named(&picture, &plan, cell)).collect())
            .collect();
        assert_eq!(columns[0], ["source"]);
        assert!(columns[1].contains(&"work") && columns[1].contains(&"bend"));
        assert_eq!(columns[2], ["output"]);
    }

    #[test]
    fn exits_to_one_node_share_a_line_and_loops_lead_back() {
        let picture = Picture::whole(&small_graph());
        let plan = Plan::new(&picture);
        let exits = |line: &Line| picture.ways[line.way].exits.join(" ");
        let exits: Vec<_> = plan.lines.iter().map(exits).collect();
        assert_eq!(exits, ["work", "bypass", "again", "good better", "retry"]);
        let back: Vec<_> = plan.lines.iter().map(|line| line.is_back).collect();
        assert_eq!(back, [false, false, false, false, true]);
    }

    #[test]
    fn lines_that_need_not_cross_do_not() {
        assert_eq!(Plan::new(&Picture::whole(&small_graph())).crossings(), 0);
    }
}
