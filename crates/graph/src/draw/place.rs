//! Coordinates for a plan: each column as wide as its widest box, each cell near what it is
//! connected with, none over another.

use super::plan::Plan;

/// Rounds of moving every column to where its neighbours want it.
const ROUNDS: usize = 400;

/// Where a cell is: its middle, and its column's width, which all cells of a column have.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) wide: f64,
}

impl Place {
    pub(super) fn left(&self) -> f64 {
        self.x - self.wide / 2.0
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.wide / 2.0
    }
}

/// The measures that a picture is placed by.
pub(super) struct Measures<'a> {
    /// Width that a cell needs.
    pub(super) width: &'a dyn Fn(usize) -> f64,
    /// Height of a node's box; a bend has none.
    pub(super) height: f64,
    /// Between columns.
    pub(super) column_gap: f64,
    /// Between a box and whatever is above or below it; half of that between two bends.
    pub(super) row_gap: f64,
}

/// Every cell's place; the top left corner of all boxes is the origin.
pub(super) fn place(plan: &Plan, measures: &Measures<'_>) -> Vec<Place> {
    let mut places = vec![Place::default(); plan.cells.len()];
    let mut left = 0.0;
    for column in &plan.columns {
        let wide = column.iter().map(|&cell| (measures.width)(cell)).fold(0.0, f64::max);
        for &cell in column {
            (places[cell].x, places[cell].wide) = (left + wide / 2.0, wide);
        }
        left += wide + measures.column_gap;
    }
    let mut bends: Vec<&[usize]> = vec![&[]; plan.cells.len()];
    for line in plan.lines.iter().filter(|line| line.cells.len() > 2) {
        let between = &line.cells[1..line.cells.len() - 1];
        between.iter().for_each(|&bend| bends[bend] = between);
    }
    for round in 0..ROUNDS {
        for step in 0..plan.columns.len() {
            let index = if round % 2 == 0 { step } else { plan.columns.len() - 1 - step };
            let column = &plan.columns[index];
            let wanted: Vec<_> =
                column.iter().map(|&cell| wish(plan, &places, bends[cell], cell)).collect();
            let apart: Vec<_> = column.windows(2).map(|two| gap(plan, measures, two)).collect();
            for (&cell, y) in column.iter().zip(settle(&wanted, &apart)) {
                places[cell].y = y;
            }
        }
    }
    let top = |cell: usize| places[cell].y - height(plan, measures, cell) / 2.0;
    let highest = (0..places.len()).map(top).fold(f64::INFINITY, f64::min);
    for place in &mut places {
        place.y -= highest;
    }
    places
}

/// The height that a cell is pulled to, and how hard: a node to what it is connected with; a bend
/// mostly to the other bends of its line, so that long lines are level.
fn wish(plan: &Plan, places: &[Place], bends: &[usize], cell: usize) -> (f64, f64) {
    let is_node = |other: &&usize| plan.cells[**other].drawn.is_some();
    let beside = plan.cells[cell].left.iter().chain(&plan.cells[cell].right);
    let (mut sum, mut weight) = (0.0, 0.0);
    let mut pull = |other: usize, strength: f64| {
        sum += strength * places[other].y;
        weight += strength;
    };
    if plan.cells[cell].drawn.is_some() {
        beside.for_each(|&other| pull(other, 1.0));
    } else {
        beside.filter(is_node).for_each(|&node| pull(node, 1.0));
        bends.iter().filter(|&&other| other != cell).for_each(|&bend| pull(bend, 30.0));
    }
    if weight == 0.0 { (places[cell].y, 0.1) } else { (sum / weight, weight) }
}

/// Least distance of the middles of two neighbours in a column.
fn gap(plan: &Plan, measures: &Measures<'_>, two: &[usize]) -> f64 {
    let heights: f64 = two.iter().map(|&cell| height(plan, measures, cell)).sum();
    let bends = two.iter().all(|&cell| plan.cells[cell].drawn.is_none());
    heights / 2.0 + if bends { measures.row_gap / 2.0 } else { measures.row_gap }
}

fn height(plan: &Plan, measures: &Measures<'_>, cell: usize) -> f64 {
    if plan.cells[cell].drawn.is_some() { measures.height } else { 0.0 }
}

/// The positions nearest to the wanted ones (by weighted squares) that keep order and distances:
/// neighbours that would come too close form a block, and a block stands at its mean.
fn settle(wanted: &[(f64, f64)], apart: &[f64]) -> Vec<f64> {
    let mut offsets = vec![0.0; wanted.len()];
    for (index, distance) in apart.iter().enumerate() {
        offsets[index + 1] = offsets[index] + distance;
    }
    // Weighted sum, weight, members.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (&(y, weight), offset) in wanted.iter().zip(&offsets) {
        let mut block = ((y - offset) * weight, weight, 1);
        while let Some(above) = blocks.pop_if(|above| above.0 / above.1 >= block.0 / block.1) {
            block = (above.0 + block.0, above.1 + block.1, above.2 + block.2);
        }
        blocks.push(block);
    }
    let starts = blocks
        .iter()
        .flat_map(|&(sum, weight, members)| std::iter::repeat_n(sum / weight, members));
    starts.zip(&offsets).map(|(start, offset)| start + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::picture::Picture;
    use crate::draw::testing::small_graph;

    #[test]
    fn what_has_room_stands_where_it_wants() {
        assert_eq!(settle(&[(1.0, 1.0), (50.0, 1.0)], &[10.0]), [1.0, 50.0]);
    }

    #[test]
    fn what_comes_too_close_makes_room_by_weight() {
        assert_eq!(settle(&[(20.0, 1.0), (20.0, 1.0)], &[10.0]), [15.0, 25.0]);
        assert_eq!(settle(&[(20.0, 3.0), (20.0, 1.0)], &[8.0]), [18.0, 26.0]);
        assert_eq!(settle(&[(30.0, 1.0), (0.0, 1.0), (0.0, 1.0)], &[6.0, 6.0]), [4.0, 10.0, 16.0]);
    }

    #[test]
    fn no_two_boxes_overlap() {
        let plan = Plan::new(&Picture::whole(&small_graph()));
        let measures = Measures { width: &|_| 80.0, height: 30.0, column_gap: 40.0, row_gap: 10.0 };
        let places = place(&plan, &measures);
        for column in &plan.columns {
            for two in column.windows(2) {
                // Half a box, the gap, and a bend or half another box.
                assert!(places[two[1]].y - places[two[0]].y >= 24.99);
            }
        }
        assert!(places.iter().all(|place| place.x >= 40.0 && place.y >= 14.99));
    }
}
