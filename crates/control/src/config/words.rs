//! The words of a command, taken from the left.

use std::ops::Range;

use super::report::Problem;
use super::suggest::nearest;

/// A word of a command line, quotes removed.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// The words after noun and verb, taken from the left.
#[derive(Clone)]
pub struct Words<'a> {
    words: &'a [Word],
    end: Range<usize>,
}

impl Words<'_> {
    /// All words of a command.
    pub(super) fn of(words: &[Word]) -> Words<'_> {
        let end = words.last().map_or(0..0, |word| word.span.end..word.span.end);
        Words { words, end }
    }

    /// Takes the next word, of which `expected` tells more; `what` names it in the complaint, as in
    /// `a port name`.
    pub(super) fn next_word(&mut self, what: &str, expected: &str) -> Result<&Word, Problem> {
        let (word, rest) = self.words.split_first().ok_or_else(|| {
            let problem = Problem::new("", format!("{what} is missing"));
            problem.expected(expected).at(self.end.clone())
        })?;
        self.words = rest;
        Ok(word)
    }

    /// The next word.
    pub fn peek(&self) -> Option<&str> {
        self.words.first().map(|word| word.text.as_str())
    }

    /// Where those words stand that were taken since `start`.
    pub fn since(&self, start: &Self) -> Range<usize> {
        let taken = &start.words[..start.words.len() - self.words.len()];
        match (taken.first(), taken.last()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => self.end.clone(),
        }
    }

    /// Takes the next word if it is this one.
    pub fn take(&mut self, keyword: &str) -> bool {
        match self.words.split_first() {
            Some((word, rest)) if word.text == keyword => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }

    /// Whether the next word is this one.
    pub fn sees(&self, keyword: &str) -> bool {
        self.words.first().is_some_and(|word| word.text == keyword)
    }

    /// Takes the next word, which must be this one.
    pub fn must(&mut self, keyword: &str) -> Result<(), Problem> {
        if self.take(keyword) { Ok(()) } else { Err(self.unexpected(&[keyword])) }
    }

    /// Whether words are left.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The complaint that the next word is none of `keywords`.
    pub fn unexpected(&self, keywords: &[&str]) -> Problem {
        let expected = match keywords {
            [] => "the end of the command".to_owned(),
            [one] => format!("`{one}`"),
            many => format!("one of {}", many.join(", ")),
        };
        let Some(word) = self.words.first() else {
            return Problem::new("", "the command ends too early")
                .expected(expected)
                .at(self.end.clone());
        };
        let problem = Problem::new("", format!("unexpected `{}`", word.text))
            .expected(expected)
            .at(word.span.clone());
        match nearest(&word.text, keywords.iter().copied()) {
            Some(word) => problem.help(format!("did you mean `{word}`?")),
            None => problem,
        }
    }
}

/// Has the words of a text read that nobody typed.
pub(crate) fn with_words<T>(
    text: &str,
    read: impl FnOnce(&mut Words<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let words = words_of(text, 0)?;
    let end = text.len()..text.len();
    read(&mut Words { words: &words, end })
}

/// Splits a line into words; double quotes keep blanks, `#` at the start of a word ends the line.
pub(super) fn words_of(line: &str, offset: usize) -> Result<Vec<Word>, Problem> {
    let mut words: Vec<Word> = Vec::new();
    let mut word: Option<Word> = None;
    let mut quoted_from = None;
    for (at, c) in line.char_indices() {
        let at = offset + at;
        match c {
            '"' => {
                quoted_from = if quoted_from.is_some() { None } else { Some(at) };
                word.get_or_insert_with(|| Word { text: String::new(), span: at..at }).span.end =
                    at + 1;
            }
            '#' if word.is_none() => break,
            c if c.is_whitespace() && quoted_from.is_none() => words.extend(word.take()),
            c => {
                let word = word.get_or_insert_with(|| Word { text: String::new(), span: at..at });
                word.text.push(c);
                word.span.end = at + c.len_utf8();
            }
        }
    }
    words.extend(word);
    match quoted_from {
        Some(at) => Err(Problem::new("", "a quote is never closed").at(at..at + 1)),
        None => Ok(words),
    }
}
