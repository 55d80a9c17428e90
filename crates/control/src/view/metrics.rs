//! OpenMetrics text, for Prometheus and its kin.

use std::fmt::{Display, Write};

/// A document in the making.
#[derive(Default)]
pub struct Exposition {
    text: String,
}

/// Things with labels, of which families of samples are made.
pub struct Samples<'a, T> {
    out: &'a mut Exposition,
    rows: Vec<(String, T)>,
}

impl Exposition {
    /// Samples of each of `rows`, told apart by their labels.
    pub fn of<T, L: Display, const N: usize>(
        &mut self,
        rows: impl IntoIterator<Item = T>,
        labels: impl Fn(&T) -> [(&'static str, L); N],
    ) -> Samples<'_, T> {
        let written = |row: &T| {
            let label = |(key, value): (_, L)| format!("{key}=\"{}\"", escaped(&value.to_string()));
            format!("{{{}}}", labels(row).map(label).join(","))
        };
        let rows = rows.into_iter().map(|row| (written(&row), row)).collect();
        Samples { out: self, rows }
    }

    /// Samples of something there is one of.
    pub fn one<T>(&mut self, row: T) -> Samples<'_, T> {
        Samples { out: self, rows: vec![(String::new(), row)] }
    }

    /// The whole document.
    pub fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
}

impl<T> Samples<'_, T> {
    /// A family of what only grows.
    pub fn counter<N: Display>(
        &mut self,
        name: &str,
        help: &str,
        value: impl Fn(&T) -> N,
    ) -> &mut Self {
        self.family(name, ["counter", "_total"], help, value)
    }

    /// A family of what comes and goes.
    pub fn gauge<N: Display>(
        &mut self,
        name: &str,
        help: &str,
        value: impl Fn(&T) -> N,
    ) -> &mut Self {
        self.family(name, ["gauge", ""], help, value)
    }

    fn family<N: Display>(
        &mut self,
        name: &str,
        [kind, suffix]: [&str; 2],
        help: &str,
        value: impl Fn(&T) -> N,
    ) -> &mut Self {
        let text = &mut self.out.text;
        // Writing into a string cannot fail.
        let _ = writeln!(text, "# TYPE volley_{name} {kind}\n# HELP volley_{name} {help}");
        for (labels, row) in &self.rows {
            let _ = writeln!(text, "volley_{name}{suffix}{labels} {}", value(row));
        }
        self
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_come_with_their_samples_and_labels_are_escaped() {
        let mut out = Exposition::default();
        out.of([("a\"b", 3_u64)], |row| [("port", row.0)]).counter("x", "Xs.", |row| row.1);
        out.one(0.5).gauge("y", "Ys.", |share| *share);
        assert_eq!(
            out.finish(),
            "# TYPE volley_x counter\n# HELP volley_x Xs.\nvolley_x_total{port=\"a\\\"b\"} 3\n\
             # TYPE volley_y gauge\n# HELP volley_y Ys.\nvolley_y 0.5\n# EOF\n"
        );
    }
}
