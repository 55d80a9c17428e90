//! Words one after the other, and what is told of one that does not fit.

use super::WordsError;
use std::str::FromStr;

/// What is left of a text.
pub(super) struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Words of a text; a slash between two layers may touch them.
    pub(super) fn of(text: &'a str) -> Self {
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            let mut rest = word;
            while let Some(at) = rest.find('/') {
                words.extend([&rest[..at], "/"].into_iter().filter(|word| !word.is_empty()));
                rest = &rest[at + 1..];
            }
            words.extend(Some(rest).filter(|word| !word.is_empty()));
        }
        Self { words, at: 0 }
    }

    /// Whether the next word is this one.
    pub(super) fn is_next(&self, word: &str) -> bool {
        self.words.get(self.at) == Some(&word)
    }

    /// Whether this word comes behind the next one.
    pub(super) fn is_behind(&self, word: &str) -> bool {
        self.words.get(self.at + 1) == Some(&word)
    }

    /// The next word, whatever it is.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    /// The next word, if it is of this layer still.
    pub(super) fn field(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied().filter(|word| *word != "/")?;
        self.at += 1;
        Some(word)
    }

    /// Whether another layer follows; nothing else may.
    pub(super) fn goes_on(&mut self) -> Result<bool, WordsError> {
        match self.next() {
            None => Ok(false),
            Some("/") => Ok(true),
            Some(word) => Err(WordsError(format!("`{word}`: expected `/` and another layer"))),
        }
    }

    /// The value of a field.
    pub(super) fn value<T: FromStr>(
        &mut self,
        field: &str,
        expected: &str,
    ) -> Result<T, WordsError> {
        let Some(word) = self.field() else {
            return Err(WordsError(format!("`{field}` has no value: expected {expected}")));
        };
        word.parse().map_err(|_| unfit(field, word, expected))
    }

    /// A number, decimal or hexadecimal, up to `most`.
    pub(super) fn number<T: TryFrom<u64>>(
        &mut self,
        field: &str,
        most: u64,
    ) -> Result<T, WordsError> {
        let expected = format!("a number, 0 to {most}");
        let word: String = self.value(field, &expected)?;
        let read = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        let fitting = read.ok().filter(|number| *number <= most);
        let fitting = fitting.and_then(|number| T::try_from(number).ok());
        fitting.ok_or_else(|| unfit(field, &word, &expected))
    }

    /// All words of this layer that are left, as octets in hexadecimal.
    pub(super) fn octets(&mut self) -> Result<Vec<u8>, WordsError> {
        let mut digits = Vec::new();
        while let Some(word) = self.field() {
            let plain = word.strip_prefix("0x").unwrap_or(word);
            for letter in plain.chars().filter(|letter| !matches!(letter, ':' | '-' | ',')) {
                let digit = letter
                    .to_digit(16)
                    .ok_or_else(|| unfit("hex", word, "octets in hexadecimal"))?;
                digits.push(digit as u8);
            }
        }
        match digits.as_chunks::<2>() {
            ([], []) => {
                Err(WordsError("`hex` has no value: expected octets in hexadecimal".into()))
            }
            (pairs, []) => Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect()),
            _ => Err(WordsError(format!("hex: {} digits are no whole octets", digits.len()))),
        }
    }
}

/// A value that does not fit its field.
fn unfit(field: &str, word: &str, expected: &str) -> WordsError {
    WordsError(format!("{field} `{word}`: expected {expected}"))
}

/// A word that names no field of a layer.
pub(super) fn no_field(layer: &str, word: &str, fields: &str) -> WordsError {
    WordsError(format!("`{word}` is no field of {layer}: expected {fields}, or `/`"))
}
