//! A scenario on its way from instance data: TOML, and where each line came from.

/// Lines of TOML, each with its path in the document that it came from.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) text: String,
    places: Vec<String>,
}

impl Document {
    pub(super) fn line(&mut self, line: &str, at: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.places.push(at.to_owned());
    }

    /// The path behind a line, counted from 1.
    pub(super) fn place(&self, line: usize) -> String {
        let place = self.places.get(line.saturating_sub(1)).or(self.places.last());
        place.cloned().unwrap_or_default()
    }
}
