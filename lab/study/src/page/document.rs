//! The report as documentation: Markdown with its drawings beside it, small enough for a repository
//! and its book.
//!
//! ```text
//! FOLDER/schedulers.md ─▶ schedulers/figure-11.svg, schedulers/figure-11-2.svg … schedulers/cells.csv
//! ```
//! It is written anew each time, but for what a person wrote between two marks. Points of curves
//! are in the cells alone; raw lines stay where they were measured.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Form, Page, head, sections};
use crate::table;

/// What a person writes stands behind this.
const BEGIN: &str = "<!-- written by hand: begin -->";
/// … and before this.
const END: &str = "<!-- written by hand: end -->";

/// A report as files.
pub struct Document {
    /// The page.
    pub text: String,
    /// Files beside it, in a folder called as the study is.
    pub files: Vec<(String, String)>,
}

/// The report. `before` is the page that there was: what was written by hand in it is kept.
pub fn document(page: Page<'_>, before: &str) -> Document {
    let page = Page { form: Form::Document, ..page };
    let name = page.study.name.clone();
    let mut made = Making { folder: &name, item: "drawing".into(), ..Making::default() };
    let _ = writeln!(
        made.text,
        "<!-- Made by `volley-lab study {name} --render --out … --docs …`: what is to stay is written between the marks. -->\n\n\
         # {}\n\n{}\n\nEvery place of every table and figure, with the source's number and ours, or why it is missing: \
         [cells.csv]({name}/cells.csv). [How studies are made](../studies.md).\n\n{BEGIN}\n{}{END}",
        page.study.title,
        head(&page).trim_end(),
        by_hand(before)
    );
    for (title, body) in sections(&page) {
        let _ = writeln!(made.text, "\n## {title}\n");
        made.add(&body);
    }
    let mut files: Vec<(String, String)> = made.drawings;
    // Bars are those of their tables.
    let bars = |id: &str| page.study.chapters.iter().flat_map(|it| &it.bars).any(|it| it.id == id);
    let places: Vec<_> = page.places.iter().filter(|it| !bars(&it.item)).cloned().collect();
    files.push(("cells.csv".into(), table::csv(&places)));
    Document { text: made.text, files }
}

/// What stands between the marks of a page.
fn by_hand(page: &str) -> &str {
    let behind = page.split_once(BEGIN).map_or("", |(_, rest)| rest);
    let kept = behind.split_once(END).map_or("", |(kept, _)| kept);
    kept.strip_prefix('\n').unwrap_or(kept)
}

#[derive(Default)]
struct Making<'a> {
    folder: &'a str,
    /// Of what the next drawing is.
    item: String,
    text: String,
    drawings: Vec<(String, String)>,
    /// Drawings of an item so far.
    count: BTreeMap<String, usize>,
}

impl Making<'_> {
    /// Adds markup: headings and drawings as Markdown has them, all else as it is.
    fn add(&mut self, markup: &str) {
        let mut rest = markup;
        while let Some((before, behind)) = rest.split_once("<figure>\n") {
            self.plain(before);
            let Some((figure, behind)) = behind.split_once("</figure>") else { return };
            self.figure(figure);
            rest = behind;
        }
        self.plain(rest);
    }

    fn plain(&mut self, markup: &str) {
        let mut hidden = false;
        for line in markup.lines().filter(|line| !line.trim().is_empty()) {
            hidden |= line.starts_with("<details");
            if !hidden {
                match heading(line) {
                    Some((item, title)) => {
                        self.item = item.to_owned();
                        let _ = writeln!(self.text, "\n### {title}\n");
                    }
                    None => {
                        let _ = writeln!(self.text, "{line}");
                    }
                }
            }
            hidden &= !line.ends_with("</details>");
        }
    }

    fn figure(&mut self, markup: &str) {
        let Some((svg, behind)) = markup.split_once("</svg>\n") else { return };
        let caption = behind.trim().trim_start_matches("<figcaption>");
        let caption = caption.trim_end_matches("</figcaption>");
        let count = self.count.entry(self.item.clone()).or_default();
        *count += 1;
        let mut file = slug(&self.item);
        if *count > 1 {
            let _ = write!(file, "-{count}");
        }
        file += ".svg";
        let alt = caption.replace(['[', ']'], "");
        let _ =
            writeln!(self.text, "\n![{alt}]({}/{file})\n\n<small>{caption}</small>\n", self.folder);
        self.drawings.push((file, format!("{svg}</svg>\n")));
    }
}

/// Item and title of a heading of the third level.
fn heading(line: &str) -> Option<(&str, &str)> {
    let (item, title) = line.strip_prefix("<h3")?.split_once('>')?;
    let item = item.trim().strip_prefix("data-item=\"").and_then(|it| it.strip_suffix('"'));
    Some((item.unwrap_or("drawing"), title.strip_suffix("</h3>")?))
}

/// A name that a file can have anywhere.
fn slug(item: &str) -> String {
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() || letter == '.' => letter.to_ascii_lowercase(),
        _ => '-',
    };
    let text: String = item.chars().map(plain).collect();
    let parts: Vec<&str> = text.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_are_files_named_by_their_item_and_headings_are_markdown() {
        let mut made = Making { folder: "s", item: "drawing".into(), ..Making::default() };
        let svg = "<svg>\n<text>a</text>\n</svg>\n";
        let figure = format!("<figure>\n{svg}<figcaption>A [b].</figcaption>\n</figure>\n");
        made.add(&format!(
            "<p>one</p>\n<h3 data-item=\"figure 6.1\">Title <span>· x</span></h3>\n{figure}{figure}\
             <details><summary>points</summary>\n<p>2</p>\n</details>\n<p>two</p>\n"
        ));
        let files: Vec<&str> = made.drawings.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(files, ["figure-6.1.svg", "figure-6.1-2.svg"]);
        assert!(made.drawings.iter().all(|(_, text)| text == svg));
        assert!(made.text.contains("\n### Title <span>· x</span>\n"), "{}", made.text);
        assert!(made.text.contains("\n\n![A b.](s/figure-6.1.svg)\n\n<small>A [b].</small>\n\n"));
        assert!(made.text.contains("<p>one</p>") && made.text.ends_with("<p>two</p>\n"));
        assert!(!made.text.contains("points") && !made.text.contains("<p>2</p>"));
    }

    #[test]
    fn what_a_person_wrote_is_kept() {
        let page = format!("# x\n{BEGIN}\nOf a quiet night.\n{END}\n## y");
        assert_eq!(by_hand(&page), "Of a quiet night.\n");
        assert_eq!([by_hand(""), by_hand(BEGIN), by_hand("# x")], ["", "", ""]);
        assert_eq!(slug("graph, worker-thread=1"), "graph-worker-thread-1");
    }
}
