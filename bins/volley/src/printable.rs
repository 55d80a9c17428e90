//! Text that cannot do anything to a terminal but be seen: what others named or wrote may hold
//! control characters, and those may move the cursor, or type for whoever reads.

use std::borrow::Cow;

/// The text, its control characters as their pictures (U+2400 on). Lines and tabs stay, and
/// the colours that [`Style`](control::view::Style) gives.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\x1b' if is_colour(&text[at + 1..]) => out.push(c),
            c if is_harmless(c) => out.push(c),
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('?')),
            _ => out.push('\u{2421}'),
        }
    }
    Cow::Owned(out)
}

/// Whether what is behind an escape is numbers of a colour and its end: `[1;31m`.
fn is_colour(behind: &str) -> bool {
    let numbers = behind.strip_prefix('[').and_then(|rest| rest.split_once('m'));
    numbers.is_some_and(|(numbers, _)| {
        numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b';')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_seen_and_colours_and_lines_stay() {
        let harmless = "a\tb\n\x1b[1;31mred\x1b[0m ü";
        assert_eq!(printable(harmless), harmless);
        assert_eq!(printable("p\x1b[2J\x07\r"), "p␛[2J␇␍");
        // The terminal's title, a C1 control sequence, delete.
        assert_eq!(printable("\x1b]0;x\u{9b}31m\x7f"), "␛]0;x␡31m␡");
        assert_eq!(printable("\x1b[31"), "␛[31");
    }
}
