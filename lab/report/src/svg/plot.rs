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
}

impl Plot {
    /// A plot with numeric axes, of this height in all.
    pub fn new(height: f64, (x, x_label): (Scale, &str), (y, y_label): (Scale, &str)) -> Self {
        let widest = y.ticks().iter().map(|tick| text_width(&tick.1, 11.0)).fold(0.0, f64::max);
        let area = (widest + 34.0, 30.0, WIDTH - 28.0, height - 44.0);
        let mut plot = Self { canvas: Canvas::new(WIDTH, height), area, x, y };
        plot.grid_y(y_label);
        plot.grid_x(x_label);
        plot
    }

    /// A plot whose x axis is for the figure to label.
    pub fn with_categories(height: f64, (y, y_label): (Scale, &str)) -> Self {
        let widest = y.ticks().iter().map(|tick| text_width(&tick.1, 11.0)).fold(0.0, f64::max);
        let area = (widest + 34.0, 30.0, WIDTH - 28.0, height - 44.0);
        let x = Scale::linear(0.0, 1.0, super::scale::Unit::Plain);
        let mut plot = Self { canvas: Canvas::new(WIDTH, height), area, x, y };
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
        let mut plot = Self { canvas: Canvas::new(WIDTH, bottom + 44.0), area, x, y };
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
        let mut x = self.area.0 + 4.0;
        for (index, name) in names.iter().enumerate() {
            palette::marker(&mut self.canvas, (x + 4.0, 14.0), index);
            self.canvas.text((x + 13.0, 18.0), Anchor::Start, "label", name);
            x += 13.0 + text_width(name, 12.0) + 20.0;
        }
    }

    /// A grey note at the upper right.
    pub fn note(&mut self, text: &str) {
        self.canvas.text((WIDTH - 12.0, 18.0), Anchor::End, "note", text);
    }
}
