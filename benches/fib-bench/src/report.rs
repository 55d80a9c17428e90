//! The rows as a Markdown table and as a drawing.

use std::fmt::Write;

use serde_json::Value;

/// Pixels of a row of the drawing, and of its bars at the scale's end.
const ROW_PIXELS: usize = 16;
const BAR_PIXELS: f64 = 480.0;
const LEFT_PIXELS: usize = 230;
/// Cycles at the scale's end; longer bars are cut and say so by their number.
const SCALE_CYCLES: f64 = 300.0;

fn rows(result: &Value) -> impl Iterator<Item = &Value> {
    result["rows"].as_array().into_iter().flatten()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

fn number(value: &Value, digits: usize) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), |number| format!("{number:.digits$}"))
}

/// A line for each row.
pub(crate) fn markdown(result: &Value) -> String {
    let mut page = String::from("# Forwarding tables, measured\n\n");
    let machine = text(result, "machine");
    let unit = text(result, "unit");
    page += &format!(
        "Made by `make bench-fib` on {machine}: {unit}, the median over interleaved rounds of 131072 \
         lookups in batches of 256, 4096 of them timed together, with the quartiles for uniform \
         destinations. \
         Destinations are uniform over the routes, Zipf (exponent 1), or one flow. \
         Bytes are all that a table takes, its record of routes among them. Adds and deletes are \
         processor time, one route at a time; p99 is the time that passes in the longest of 100 single \
         adds into the full table, but one.\n\n"
    );
    page += "| table | pages | structure | uniform | quartiles | Zipf | one flow | bytes/route | add ns | p99 | delete ns | |\n";
    page += "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for row in rows(result) {
        let uniform = &row["uniform"];
        let quartiles = match uniform["first_quartile"].as_f64() {
            Some(_) => {
                let (first, third) = (&uniform["first_quartile"], &uniform["third_quartile"]);
                format!("{}–{}", number(first, 1), number(third, 1))
            }
            None => "–".to_owned(),
        };
        let cells = [
            text(row, "case").to_owned(),
            text(row, "pages").to_owned(),
            text(row, "contestant").to_owned(),
            number(&uniform["median"], 1),
            quartiles,
            number(&row["zipf"]["median"], 1),
            number(&row["one"]["median"], 1),
            number(&row["bytes_per_route"], 1),
            number(&row["add_ns"], 0),
            number(&row["add_p99_ns"], 0),
            number(&row["delete_ns"], 0),
            text(row, "note").to_owned(),
        ];
        page += &format!("| {} |\n", cells.join(" | "));
    }
    page + "\n## Where another one is faster\n\n" + &faster(result) + WHY
}

/// Why that is.
const WHY: &str = "
One route, or one flow: everything is in the first-level cache, and instructions are all that count. `rte_fib` \
with AVX-512 does nothing but gather sixteen words of one table; ours looks for the default route in a word of \
its own, so that changing it costs one store and not 16 million, and for words that lead on. One flow of IPv6: \
`rte_fib6` walks a table of 8 bits a step, which one address leaves in the first-level cache; ours keeps lists \
of who is at a node and who at a bucket, which pays as soon as addresses differ. Zipf lies between: its few busy \
routes stay in the caches, and what is left is those instructions. The real IPv6 table on 4K pages is a tie but for \
noise (rows on huge pages, the rule, have ours ahead): `rte_fib6` takes 34 times the memory for it.
";

/// How much slower than another structure ours may be without being called so: less is noise.
const TIE: f64 = 1.05;

/// Each column in which another structure is faster than ours.
fn faster(result: &Value) -> String {
    let mut lines =
        String::from("| table | pages | destinations | volley | faster |\n|---|---|---|---|---|\n");
    for ours in rows(result).filter(|row| text(row, "contestant") == "volley") {
        let alike = |row: &&Value| ["case", "pages"].iter().all(|key| row[*key] == ours[*key]);
        for kind in ["uniform", "zipf", "one"] {
            let cycles = |row: &Value| row[kind]["median"].as_f64().unwrap_or(f64::MAX);
            let best = rows(result).filter(alike).min_by(|a, b| cycles(a).total_cmp(&cycles(b)));
            let Some(best) = best.filter(|best| cycles(best) * TIE < cycles(ours)) else {
                continue;
            };
            let (case, pages) = (text(ours, "case"), text(ours, "pages"));
            let (name, theirs, mine) = (text(best, "contestant"), cycles(best), cycles(ours));
            // Writing to a string does not fail.
            let _ =
                writeln!(lines, "| {case} | {pages} | {kind} | {mine:.1} | {name} {theirs:.1} |");
        }
    }
    lines
}

/// Bars of the uniform medians on huge pages, ours dark.
pub(crate) fn svg(result: &Value) -> String {
    let shown =
        |row: &&Value| text(row, "pages") == "huge" && row["uniform"]["median"].as_f64().is_some();
    let mut body = String::new();
    let (mut y, mut last) = (30, "");
    for row in rows(result).filter(shown) {
        let (case, name) = (text(row, "case"), text(row, "contestant"));
        if case != last {
            y += 8;
            line(&mut body, 8, y, "700", case);
            last = case;
        }
        let cycles = row["uniform"]["median"].as_f64().unwrap_or_default();
        let width = (cycles / SCALE_CYCLES).min(1.0) * BAR_PIXELS;
        let colour = if name == "volley" { "#1a5fb4" } else { "#b8c4d0" };
        let top = y - 11;
        line(&mut body, 90, y, "400", name);
        // Writing to a string does not fail.
        let _ = writeln!(
            body,
            r#"<rect x="{LEFT_PIXELS}" y="{top}" width="{width:.1}" height="12" fill="{colour}"/>"#
        );
        line(&mut body, LEFT_PIXELS + 6 + width as usize, y, "400", &format!("{cycles:.0}"));
        y += ROW_PIXELS;
    }
    let (width, height) = (LEFT_PIXELS + BAR_PIXELS as usize + 60, y + 10);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"8\" y=\"18\" font-weight=\"700\">Cycles a lookup, uniform destinations, huge pages: \
         shorter is better</text>\n{body}</svg>\n"
    )
}

fn line(body: &mut String, x: usize, y: usize, weight: &str, text: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(body, r#"<text x="{x}" y="{y}" font-weight="{weight}">{text}</text>"#);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_row_has_a_line_and_every_measured_one_a_bar() {
        let spread = json!({ "median": 5.0, "first_quartile": 4.5, "third_quartile": 6.0 });
        let result = json!({ "machine": "a machine", "unit": "cycles", "rows": [
            { "case": "ip4-1", "pages": "huge", "contestant": "volley", "uniform": spread },
            { "case": "ip4-1", "pages": "huge", "contestant": "rte_lpm", "note": "refused" },
            { "case": "ip4-1", "pages": "4k", "contestant": "volley", "zipf": spread },
            { "case": "ip4-1", "pages": "4k", "contestant": "poptrie", "zipf": { "median": 4.0 } },
        ]});
        let page = markdown(&result);
        assert!(page.contains("| ip4-1 | huge | volley | 5.0 | 4.5–6.0 |"), "{page}");
        assert!(page.contains("refused"));
        assert!(page.contains("| ip4-1 | 4k | zipf | 5.0 | poptrie 4.0 |"), "{page}");
        assert!(!page.contains("| ip4-1 | huge | uniform |"), "{page}");
        assert_eq!(svg(&result).matches("#1a5fb4").count(), 1);
    }
}
