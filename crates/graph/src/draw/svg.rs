//! The graph as a picture, drawn without any other program: the same graph gives the same bytes.
//!
//! ```text
//!  picture: boxes and ways ─▶ plan: columns and order ─▶ place: coordinates ─▶ here: lines, tooltips
//! ```

use super::picture::{Drawn, Group, Note, Picture};
use super::place::{Measures, Place, place};
use super::plan::{Line, Plan};
use crate::layout::Layout;
use std::collections::HashMap;
use std::fmt::Write;

/// Width of a letter of the fixed-width font at its size.
const LETTER: f64 = 7.8;
/// Of a box; the narrowest still holds its count of drop reasons.
const HEIGHT: f64 = 42.0;
const NARROWEST: f64 = 112.0;
const MARGIN: f64 = 20.0;
const LEGEND: f64 = 34.0;
/// Most that two lines at the same side of a box are apart.
const SPREAD: f64 = 9.0;

/// Light unless the reader's system asks for dark.
const STYLE: &str = include_str!("svg.css");

/// The picture of a graph.
pub fn draw_svg<S>(layout: &Layout<S>) -> String {
    draw(&Picture::whole(layout), 56.0)
}

/// The picture of one part of a graph, and of the parts around it; `of` says each node's part.
pub fn draw_part<S>(layout: &Layout<S>, part: &str, of: impl Fn(&str) -> String) -> String {
    draw(&Picture::part(layout, part, of), 40.0)
}

/// The picture of a graph from afar: a box a group, in the order that packets pass them.
pub fn draw_overview<S>(layout: &Layout<S>, title: &str, groups: &[Group<'_>]) -> String {
    draw(&Picture::overview(layout, title, groups), 32.0)
}

fn draw(picture: &Picture, column_gap: f64) -> String {
    let plan = Plan::new(picture);
    let width = |cell: usize| {
        let letters = plan.cells[cell].drawn.map_or(0, |drawn| picture.boxes[drawn].name.len());
        f64::max(letters as f64 * LETTER + 24.0, NARROWEST)
    };
    let places =
        place(&plan, &Measures { width: &width, height: HEIGHT, column_gap, row_gap: 20.0 });
    let canvas = Canvas { picture, plan: &plan, places: &places };
    let right = places.iter().map(Place::right).fold(0.0, f64::max);
    let bottom = places.iter().map(|place| place.y).fold(0.0, f64::max) + HEIGHT / 2.0;
    let (width, height) = (right + 2.0 * MARGIN, bottom + 2.0 * MARGIN + LEGEND);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n<defs>\n",
        escape(&picture.title),
    );
    for class in ["ahead", "back"] {
        // Writing into a String cannot fail.
        let _ = writeln!(
            svg,
            "<marker id=\"{class}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path class=\"tip {class}\" d=\"M0 0.8L8 4L0 7.2z\"/></marker>"
        );
    }
    let _ = writeln!(svg, "</defs>\n<g transform=\"translate({MARGIN} {MARGIN})\">");
    canvas.lines(&mut svg);
    canvas.boxes(&mut svg);
    svg.push_str("</g>\n");
    legend(&mut svg, picture, height - MARGIN);
    svg.push_str("</svg>\n");
    svg
}

struct Canvas<'a> {
    picture: &'a Picture,
    plan: &'a Plan,
    places: &'a [Place],
}

impl Canvas<'_> {
    fn boxes(&self, svg: &mut String) {
        for (cell, place) in self.places.iter().enumerate() {
            let Some(drawn) = self.plan.cells[cell].drawn else { continue };
            let Drawn { name, about, class, note } = &self.picture.boxes[drawn];
            let (x, y, wide) = (place.left(), place.y - HEIGHT / 2.0, place.wide);
            // Writing into a String cannot fail.
            let _ = writeln!(
                svg,
                "<g class=\"node {class}\"><title>{}</title>\
                 <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{HEIGHT}\" rx=\"8\"/>",
                escape(about)
            );
            let base = if note.is_some() { place.y - 3.5 } else { place.y + 4.5 };
            let name = escape(name);
            let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{base:.1}\">{name}</text></g>", place.x);
            if let Some(Note { class, text, about }) = note {
                let (x, y, about) = (place.x, place.y + 13.0, escape(about));
                let _ = writeln!(
                    svg,
                    "<g class=\"{class}\"><title>{about}</title>\
                     <text x=\"{x:.1}\" y=\"{y:.1}\">{text}</text></g>",
                );
            }
        }
    }

    fn lines(&self, svg: &mut String) {
        let ends = self.line_ends();
        for (index, line) in self.plan.lines.iter().enumerate() {
            let way = &self.picture.ways[line.way];
            let [from, to] = [way.from, way.to].map(|drawn| &self.picture.boxes[drawn].name);
            let class = if line.is_back || line.cells.len() == 1 { "back" } else { "ahead" };
            let path = match line.cells[..] {
                [own] => self.ring(own),
                _ => self.curve(line, [ends[&(index, false)], ends[&(index, true)]]),
            };
            // The wide, unseen twin makes the tooltip easy to hit.
            let _ = writeln!(
                svg,
                "<g class=\"line {class}\"><title>{} → {}: {}</title>\
                 <path class=\"hit\" d=\"{path}\"/><path d=\"{path}\" marker-end=\"url(#{class})\"/></g>",
                escape(from),
                escape(to),
                escape(&way.exits.join(", ")),
            );
        }
    }

    /// The heights at which each line leaves its left box (false) and meets its right one (true):
    /// spread over the box in the order of where the lines go, so that they do not cross there.
    fn line_ends(&self) -> HashMap<(usize, bool), f64> {
        let mut at_side: HashMap<(usize, bool), Vec<(usize, f64)>> = HashMap::new();
        for (index, line) in self.plan.lines.iter().enumerate() {
            if let [first, second, ..] = line.cells[..] {
                at_side.entry((first, false)).or_default().push((index, self.places[second].y));
            }
            if let [.., second, last] = line.cells[..] {
                at_side.entry((last, true)).or_default().push((index, self.places[second].y));
            }
        }
        let mut ends = HashMap::new();
        for ((cell, right), mut lines) in at_side {
            lines.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            let steps = lines.len() as f64 - 1.0;
            let apart = f64::min(SPREAD, (HEIGHT - 8.0) / steps.max(1.0));
            for (place, (line, _)) in lines.into_iter().enumerate() {
                let y = self.places[cell].y + (place as f64 - steps / 2.0) * apart;
                ends.insert((line, right), y);
            }
        }
        ends
    }

    /// A smooth way through a line's bends, level wherever it meets or crosses a column.
    fn curve(&self, line: &Line, [left_y, right_y]: [f64; 2]) -> String {
        let mut points = Vec::new();
        let last = line.cells.len() - 1;
        for (index, &cell) in line.cells.iter().enumerate() {
            let place = self.places[cell];
            match index {
                0 => points.push((place.right(), left_y)),
                _ if index == last => points.push((place.left(), right_y)),
                _ => points.extend([(place.left(), place.y), (place.right(), place.y)]),
            }
        }
        if line.is_back {
            points.reverse();
        }
        let mut path = format!("M{:.1} {:.1}", points[0].0, points[0].1);
        for (index, two) in points.windows(2).enumerate() {
            let ((x, y), (to_x, to_y)) = (two[0], two[1]);
            let middle = f64::midpoint(x, to_x);
            // Between columns and across them, in turns. Writing into a String cannot fail.
            let _ = if index % 2 == 0 {
                write!(path, "C{middle:.1} {y:.1} {middle:.1} {to_y:.1} {to_x:.1} {to_y:.1}")
            } else {
                write!(path, "H{to_x:.1}")
            };
        }
        path
    }

    /// From a box back into itself, over its upper edge.
    fn ring(&self, cell: usize) -> String {
        let Place { x, y, .. } = self.places[cell];
        let top = y - HEIGHT / 2.0;
        let (from, to) = (x + 12.0, x - 12.0);
        format!(
            "M{from:.1} {top:.1}C{:.1} {:.1} {:.1} {:.1} {to:.1} {top:.1}",
            from + 6.0,
            top - 22.0,
            to - 6.0,
            top - 22.0
        )
    }
}

fn legend(svg: &mut String, picture: &Picture, y: f64) {
    let entries = [
        ("input", "packets come in"),
        ("inner", "decides"),
        ("output", "packets leave, or wait"),
        ("outside", "another family"),
    ];
    let is_there = |class: &str| picture.boxes.iter().any(|drawn| drawn.class == class);
    let entries = entries.into_iter().filter(|(class, _)| is_there(class));
    let mut x = MARGIN;
    svg.push_str("<g class=\"legend\">\n");
    for (class, says) in entries {
        let _ = writeln!(
            svg,
            "<g class=\"node {class}\"><rect x=\"{x:.1}\" y=\"{:.1}\" width=\"18\" height=\"12\" rx=\"3\"/></g>\
             <text x=\"{:.1}\" y=\"{y:.1}\">{says}</text>",
            y - 10.0,
            x + 25.0,
        );
        x += 55.0 + 6.2 * says.len() as f64;
    }
    for (class, says) in [("ahead", "exits"), ("back", "exits that lead back")] {
        let _ = writeln!(
            svg,
            "<g class=\"line {class}\"><path d=\"M{x:.1} {:.1}h26\" marker-end=\"url(#{class})\"/></g>\
             <text x=\"{:.1}\" y=\"{y:.1}\">{says}</text>",
            y - 4.0,
            x + 34.0,
        );
        x += 64.0 + 6.2 * says.len() as f64;
    }
    svg.push_str("</g>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::testing::small_graph;

    #[test]
    fn every_node_but_drop_has_a_box_and_every_way_a_line() {
        let svg = draw_svg(&small_graph());
        for name in ["source", "work", "output"] {
            assert!(svg.contains(&format!(">{name}</text>")), "{name}");
        }
        assert!(!svg.contains(">drop</text>"));
        for line in [
            "source → work: work",
            "source → output: bypass",
            "work → work: again",
            "work → output: good, better",
            "output → work: retry",
        ] {
            assert!(svg.contains(&format!("<title>{line}</title>")), "{line}");
        }
    }

    #[test]
    fn drops_are_counted_in_the_box_and_listed_in_its_tooltip() {
        let svg = draw_svg(&small_graph());
        assert!(svg.contains("2 drop reasons</text>") && svg.contains("1 drop reason</text>"));
        assert!(svg.contains("<title>too-short: A length &lt; 20.\ntoo-old: Stale.</title>"));
    }

    #[test]
    fn text_is_escaped() {
        let svg = draw_svg(&small_graph());
        assert!(svg.contains("work: weighs &lt;packets&gt; &amp; \"judges\" them"));
    }

    #[test]
    fn a_part_has_its_nodes_and_one_box_for_each_part_beside_it() {
        let of = |name: &str| if name == "work" { "middle" } else { "ends" }.to_owned();
        let svg = draw_part(&small_graph(), "middle", of);
        assert!(svg.contains(">work</text>") && !svg.contains(">source</text>"));
        assert_eq!(svg.matches("<g class=\"node outside\"><title>another family").count(), 2);
        for line in [
            "ends → work: work of source, retry of output",
            "work → work: again",
            "work → ends: good to output, better to output",
        ] {
            assert!(svg.contains(&format!("<title>{line}</title>")), "{line}");
        }
        assert!(!svg.contains("bypass"));
    }

    #[test]
    fn from_afar_groups_are_boxes_and_their_nodes_edges_are_lines() {
        let group = |name, nodes: &[&'static str]| Group { name, nodes: nodes.to_vec() };
        let groups = [group("before", &["source", "work"]), group("behind", &["output"])];
        let svg = draw_overview(&small_graph(), "From afar", &groups);
        assert!(svg.contains("<title>From afar</title>") && svg.contains(">2 nodes</text>"));
        let line = "before → behind: source to output (bypass), work to output (good), \
                    work to output (better)";
        assert!(svg.contains(&format!("<title>{line}</title>")), "{svg}");
        assert!(svg.contains("<title>behind → before: output to work (retry)</title>"));
        assert!(!svg.contains("again"));
    }

    #[test]
    fn the_same_graph_gives_the_same_bytes() {
        assert_eq!(draw_svg(&small_graph()), draw_svg(&small_graph()));
    }
}
