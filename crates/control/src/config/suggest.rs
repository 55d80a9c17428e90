//! "Did you mean": the nearest known word by edit distance.

/// The candidate nearest to `word`, when it is near enough to be a slip of the fingers.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Any two words of two letters are near; that says nothing.
    let limit = match word.chars().count() {
        0..=2 => 0,
        3 => 1,
        letters => letters / 3 + 1,
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits between two words, where swapping neighbours is one edit (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (fold(a), fold(b));
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Case and the choice between `-` and `_` are no distance at all.
fn fold(word: &str) -> Vec<char> {
    word.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_a_slip_and_a_missing_letter_are_one_edit() {
        assert_eq!(distance("mtu", "mut"), 1);
        assert_eq!(distance("route", "rouce"), 1);
        assert_eq!(distance("adress", "address"), 1);
        assert_eq!(distance("af-packet", "AF_PACKET"), 0);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn a_word_far_from_all_others_suggests_nothing() {
        let keys = ["kind", "device", "mtu", "addresses"];
        assert_eq!(nearest("adresses", keys), Some("addresses"));
        assert_eq!(nearest("mut", keys), Some("mtu"));
        assert_eq!(nearest("quality", keys), None);
    }
}
