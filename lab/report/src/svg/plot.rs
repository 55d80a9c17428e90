//! The frame of a figure: axes, grid, labels, legend.
//!
//! ```text
//!          ● series one   ■ series two          legend
//! label  ┌─────────────────────────────┐
//!      4 ┤ ·     ·     ·     ·     ·   │         grid behind, ticks outside
//!      2 ┤ ·     ·     ·     ·     ·   │
//!        └──┬─────┬─────┬─────┬────────┘
//!           0     2     4     6    label
//! ```

use super::canvas::{Anchor, Canvas, text_width};
use super::palette;
use super::scale::Scale;

/// Width of every figure.
pub const WIDTH: f64 = 720.0;
/// Width of the column of numbers beside rows.
const NUMBERS: f64 = 148.0;
/// Height of the legend's first line, and from line to line.
const LEGEND_TOP: f64 = 14.0;
const LEGEND_LINE: f64 = 17.0;
/// Room for the note at the right of it.
const NOTE: f64 = 150.0;
const GRID: &str = r##"stroke="#e4e4e4" stroke-width="1""##;
const FINE: &str = r##"stroke="#f2f2f2" stroke-width="1""##;
const AXIS: &str = r##"stroke="#444" stroke-width="1""##;

/// A plot area on a canvas.
#[derive(Debug, Clone)]
pub struct Plot {
    /// What is drawn on.
    pub canvas: Canvas,
    /// Left, top, right, bottom of the area.
    pub area: (f64, f64, f64, f64),
    x: Scale,
    y: Scale,
    /// Where the legend goes on in its next line.
    legend_right: f64,
}

impl Plot {
    /// A plot with numeric axes, of this height in all.
    pub fn new(height: f64, (x, x_label): (Scale, &str), (y, y_label): (Scale, &str)) -> Self {
        let widest = y.ticks().iter().map(|tick| text_width(&tick.1, 11.0)).fold(0.0, f64::max);
        let area = (widest + 34.0, 30.0, WIDTH - 28.0, height - 44.0);
        let mut plot =
            Self { canvas: Canvas::new(WIDTH, height), area, x, y, legend_right: f64::INFINITY };
        plot.grid_y(y_label);
        plot.grid_x(x_label);
        plot
    }

    /// A plot whose x axis is for the figure to label, with room for a legend of as many lines as
    /// these names take.
    pub fn with_categories(height: f64, names: &[String], (y, y_label): (Scale, &str)) -> Self {
        let widest = y.ticks().iter().map(|tick| text_width(&tick.1, 11.0)).fold(0.0, f64::max);
        let (left, legend_right) = (widest + 34.0, WIDTH - NOTE);
        let lines = entries(names, left + 4.0, legend_right);
        let beyond = lines.last().map_or(0.0, |(_, y)| y - LEGEND_TOP);
        let area = (left, 30.0 + beyond, WIDTH - 28.0, height + beyond - 44.0);
        let x = Scale::linear(0.0, 1.0, super::scale::Unit::Plain);
        let canvas = Canvas::new(WIDTH, height + beyond);
        let mut plot = Self { canvas, area, x, y, legend_right };
        plot.grid_y(y_label);
        plot
    }

    /// A plot with rows instead of a y axis: names to the left, as wide as they need, and a column
    /// for numbers to the right.
    pub fn with_rows(rows: &[String], row_height: f64, (x, x_label): (Scale, &str)) -> Self {
        let widest = rows.iter().map(|row| text_width(row, 12.0)).fold(0.0, f64::max);
        let left = (widest + 22.0).min(0.5 * WIDTH);
        let bottom = 30.0 + row_height * rows.len() as f64;
        let area = (left, 30.0, WIDTH - NUMBERS, bottom);
        let y = Scale::linear(0.0, 1.0, super::scale::Unit::Plain);
        let mut plot = Self {
            canvas: Canvas::new(WIDTH, bottom + 44.0),
            area,
            x,
            y,
            legend_right: f64::INFINITY,
        };
        plot.grid_x(x_label);
        for (index, row) in rows.iter().enumerate() {
            let y = plot.row(index, row_height);
            plot.canvas.text((left - 10.0, y + 4.0), Anchor::End, "label", row);
        }
        plot
    }

    fn grid_y(&mut self, label: &str) {
        let (left, top, right, bottom) = self.area;
        for (place, text) in self.y.ticks() {
            let y = bottom - place * (bottom - top);
            let style = if text.is_empty() { FINE } else { GRID };
            self.canvas.line((left, y), (right, y), style);
            self.canvas.text((left - 7.0, y + 4.0), Anchor::End, "tick", &text);
        }
        self.canvas.line((left, top), (left, bottom), AXIS);
        let middle = f64::midpoint(top, bottom);
        self.canvas.text_upright((14.0, middle), Anchor::Middle, "label", label);
    }

    fn grid_x(&mut self, label: &str) {
        let (left, top, right, bottom) = self.area;
        for (place, text) in self.x.ticks() {
            let x = left + place * (right - left);
            let style = if text.is_empty() { FINE } else { GRID };
            self.canvas.line((x, top), (x, bottom), style);
            if !text.is_empty() {
                self.canvas.line((x, bottom), (x, bottom + 4.0), AXIS);
                self.canvas.text((x, bottom + 17.0), Anchor::Middle, "tick", &text);
            }
        }
        self.canvas.line((left, bottom), (right, bottom), AXIS);
        let middle = f64::midpoint(left, right);
        self.canvas.text((middle, bottom + 36.0), Anchor::Middle, "label", label);
    }

    /// Horizontal place of a value.
    pub fn x(&self, value: f64) -> f64 {
        self.area.0 + self.x.place(value) * (self.area.2 - self.area.0)
    }

    /// Vertical place of a value.
    pub fn y(&self, value: f64) -> f64 {
        self.area.3 - self.y.place(value) * (self.area.3 - self.area.1)
    }

    /// A number beside a row, at this height.
    pub fn number(&mut self, y: f64, text: &str) {
        let x = self.area.2 + 12.0;
        self.canvas.text((x, y + 4.0), Anchor::Start, "note", text);
    }

    /// Vertical middle of a row.
    pub fn row(&self, index: usize, row_height: f64) -> f64 {
        self.area.1 + row_height * (index as f64 + 0.5)
    }

    /// The names of the series above the area; none for a single one.
    pub fn legend(&mut self, names: &[String]) {
        if names.len() < 2 {
            return;
        }
        let places = entries(names, self.area.0 + 4.0, self.legend_right);
        for (index, (name, (x, y))) in names.iter().zip(places).enumerate() {
            palette::marker(&mut self.canvas, (x + 4.0, y), index);
            self.canvas.text((x + 13.0, y + 4.0), Anchor::Start, "label", name);
        }
    }

    /// A grey note at the upper right.
    pub fn note(&mut self, text: &str) {
        self.canvas.text((WIDTH - 12.0, 18.0), Anchor::End, "note", text);
    }
}

/// Where the entries of a legend begin, from left to right and line by line.
fn entries(names: &[String], left: f64, right: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (left, LEGEND_TOP);
    let mut places = Vec::new();
    for name in names {
        let width = 13.0 + text_width(name, 12.0);
        if x > left && x + width > right {
            (x, y) = (left, y + LEGEND_LINE);
        }
        places.push((x, y));
        x += width + 20.0;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_goes_on_in_the_next_line_where_it_has_no_room() {
        let names = ["DOCKER-LINUX", "DOCKER-OVS", "VM-LINUX"].map(str::to_owned);
        let places = entries(&names, 10.0, 250.0);
        assert_eq!((places[0], places[1].1), ((10.0, LEGEND_TOP), LEGEND_TOP));
        assert_eq!(places[2], (10.0, LEGEND_TOP + LEGEND_LINE));
        let scale = Scale::linear(0.0, 1.0, crate::svg::scale::Unit::Plain);
        let top = |names: &[String]| Plot::with_categories(360.0, names, (scale, "y")).area.1;
        let many = vec!["DOCKER-LINUX (linux-bridge)".to_owned(); 6];
        assert!(top(&names) == 30.0 && top(&many) > 50.0, "{} {}", top(&names), top(&many));
    }
}
