//! Where one JSON value ends and the next begins: the stream has nothing else between messages.

use crate::fault::{Fault, excerpt};
use serde_json::Value;

/// Longest message: a database of ten thousand interfaces is a third of that. What is read of it
/// takes up to 16 times as much memory.
const MOST_BYTES: usize = 32 << 20;

/// Bytes that came, cut into values. Each byte is looked at once.
#[derive(Debug, Default)]
pub struct Frames {
    held: Vec<u8>,
    /// Bytes of `held` that were looked at.
    seen: usize,
    depth: usize,
    is_text: bool,
    is_escaped: bool,
}

impl Frames {
    /// Puts what came behind what is held.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.held.len() + bytes.len() > MOST_BYTES {
            return Err(Fault::TooLong(MOST_BYTES));
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    /// The next value, if it is there whole.
    pub fn take(&mut self) -> Result<Option<Value>, Fault> {
        while let Some(&byte) = self.held.get(self.seen) {
            self.seen += 1;
            if self.is_text {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_text = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' if self.depth > 0 => self.is_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                b'}' | b']' if self.depth == 1 => {
                    self.depth = 0;
                    let whole: Vec<u8> =
                        self.held.drain(..std::mem::take(&mut self.seen)).collect();
                    let value = serde_json::from_slice(&whole);
                    return value.map(Some).map_err(|error| {
                        let text = excerpt(&String::from_utf8_lossy(&whole));
                        Fault::Malformed(format!("{text}: {error}"))
                    });
                }
                _ if self.depth > 0 || byte.is_ascii_whitespace() => {}
                _ => {
                    let text = String::from_utf8_lossy(&self.held[self.seen - 1..]);
                    return Err(Fault::Malformed(excerpt(&text)));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_cut_wherever_the_bytes_are() {
        let text = br#" {"a":"}\"{[","b":[1,{"c":2}]}
            {"id":null}[3]"#;
        for step in 1..text.len() {
            let (mut frames, mut found) = (Frames::default(), Vec::new());
            for bytes in text.chunks(step) {
                frames.push(bytes).unwrap();
                while let Some(value) = frames.take().unwrap() {
                    found.push(value);
                }
            }
            let whole = json!({ "a": "}\"{[", "b": [1, { "c": 2 }] });
            assert_eq!(found, [whole, json!({ "id": null }), json!([3])], "{step}");
        }
    }

    #[test]
    fn what_is_no_value_is_told() {
        for wrong in ["hello", "}", "\"text\"", "{]", "{\"a\":}", "12"] {
            let mut frames = Frames::default();
            frames.push(wrong.as_bytes()).unwrap();
            assert!(matches!(frames.take(), Err(Fault::Malformed(_))), "{wrong}");
        }
        let mut frames = Frames::default();
        frames.push("[".repeat(200).as_bytes()).unwrap();
        frames.push("]".repeat(200).as_bytes()).unwrap();
        assert!(frames.take().unwrap_err().to_string().contains("recursion limit"));
    }
}
