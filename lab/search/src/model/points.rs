//! Measured points as text: a line each, `x,y`.

use std::path::Path;

use crate::Error;

/// The points of a file's text, of which `path` is told where a line is none. A first line of words
/// is a header; what stands behind the second number is not looked at.
pub fn parse(text: &str, path: &Path) -> Result<Vec<(f64, f64)>, Error> {
    let mut points = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut fields = line.split(',').map(|field| field.trim().parse::<f64>());
        match (fields.next(), fields.next()) {
            (Some(Ok(x)), Some(Ok(y))) if x.is_finite() && y.is_finite() => points.push((x, y)),
            _ if index == 0 => {}
            _ => {
                let reason = format!("{line:?} is not x,y");
                return Err(Error::Record { path: path.into(), line: index + 1, reason });
            }
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_passed_over_and_a_word_elsewhere_is_refused_by_its_line() {
        let path = Path::new("points.csv");
        let read = parse("GHz, Mpps\n1.2, 5.5\n\n2.4,10,more\n", path).unwrap();
        assert_eq!(read, [(1.2, 5.5), (2.4, 10.0)]);
        for text in ["1,2\n3\n", "1,2\nx,3\n", "1,2\n1e999,3\n"] {
            let error = parse(text, path).unwrap_err().to_string();
            assert!(error.contains("points.csv:2"), "{error}");
        }
    }
}
