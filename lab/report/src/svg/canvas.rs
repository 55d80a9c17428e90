//! Shapes and text as SVG markup. Numbers have at most two decimals: figures stay small and equal.

use std::fmt::Write;

/// Where a text is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// By its left end.
    Start,
    /// By its middle.
    Middle,
    /// By its right end.
    End,
}

/// A drawing.
#[derive(Debug, Clone)]
pub struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

/// A number with at most two decimals, no trailing zeros.
pub fn number(value: f64) -> String {
    let mut text = format!("{value:.2}");
    if text.contains('.') {
        let end = text.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(end);
    }
    if text == "-0" { "0".into() } else { text }
}

/// Text made safe for markup.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Width of a text of this size, roughly, in a wide sans-serif: what layouts reckon with.
pub fn text_width(text: &str, size: f64) -> f64 {
    let narrow =
        |letter: char| matches!(letter, 'i' | 'l' | 'j' | 't' | 'f' | '.' | ',' | ' ' | '1');
    text.chars().map(|letter| if narrow(letter) { 0.38 } else { 0.63 }).sum::<f64>() * size
}

impl Canvas {
    /// An empty drawing of this size in pixels.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let (x1, y1, x2, y2) = (number(from.0), number(from.1), number(to.0), number(to.1));
        self.push(&format!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {style}/>"#));
    }

    /// A line through points.
    pub fn polyline(&mut self, points: &[(f64, f64)], style: &str) {
        let list: Vec<_> =
            points.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
        self.push(&format!(r#"<polyline points="{}" fill="none" {style}/>"#, list.join(" ")));
    }

    /// A filled shape through points.
    pub fn polygon(&mut self, points: &[(f64, f64)], style: &str) {
        let list: Vec<_> =
            points.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
        self.push(&format!(r#"<polygon points="{}" {style}/>"#, list.join(" ")));
    }

    /// A rectangle by its upper left corner.
    pub fn rect(&mut self, corner: (f64, f64), size: (f64, f64), style: &str) {
        let (x, y) = (number(corner.0), number(corner.1));
        let (width, height) = (number(size.0.max(0.0)), number(size.1.max(0.0)));
        self.push(&format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {style}/>"#));
    }

    /// A circle.
    pub fn circle(&mut self, centre: (f64, f64), radius: f64, style: &str) {
        let (x, y, radius) = (number(centre.0), number(centre.1), number(radius));
        self.push(&format!(r#"<circle cx="{x}" cy="{y}" r="{radius}" {style}/>"#));
    }

    /// A text on its base line.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let (x, y) = (number(at.0), number(at.1));
        self.push_text(&format!(r#"x="{x}" y="{y}""#), anchor, class, text);
    }

    /// A text turned a quarter to the left.
    pub fn text_upright(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let place =
            format!(r#"transform="translate({} {}) rotate(-90)""#, number(at.0), number(at.1));
        self.push_text(&place, anchor, class, text);
    }

    fn push_text(&mut self, place: &str, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        self.push(&format!(
            r#"<text {place} text-anchor="{anchor}" class="{class}">{text}</text>"#
        ));
    }

    fn push(&mut self, markup: &str) {
        self.body.push_str(markup);
        self.body.push('\n');
    }

    /// The whole drawing, with its own style, so that it stands alone as a file too.
    pub fn finish(self, description: &str) -> String {
        let (width, height) = (number(self.width), number(self.height));
        let mut svg = String::with_capacity(self.body.len() + 1_024);
        let _ = writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{}">"#,
            escape(description)
        );
        svg.push_str(STYLE);
        svg.push_str(&self.body);
        svg.push_str("</svg>\n");
        svg
    }
}

const STYLE: &str = "<style>text{font-family:'Helvetica Neue',Helvetica,Arial,'Liberation Sans',sans-serif;\
font-size:12px;fill:#333}.tick{font-size:11px;fill:#555}.label{font-size:12px;fill:#222}\
.strong{font-weight:bold;fill:#222}.note{font-size:10.5px;fill:#777}</style>\n\
<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_minus_zero() {
        assert_eq!([1.0, 1.5, 1.254, -0.001, 100.0].map(number), ["1", "1.5", "1.25", "0", "100"]);
    }

    #[test]
    fn text_cannot_break_out_of_its_element() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.text((1.0, 2.0), Anchor::Middle, "tick", "<script>&\"");
        let svg = canvas.finish("a \"figure\"");
        assert!(svg.contains("&lt;script&gt;&amp;&quot;") && svg.contains("a &quot;figure&quot;"));
        assert!(!svg.contains("<script"));
    }
}
