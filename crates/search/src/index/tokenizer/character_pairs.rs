//! Character pairs: terms of scripts without spaces between words.

/// Passes the overlapping pairs of characters with their offsets to `push`; a single character is a word.
pub(super) fn character_pairs(run: &str, mut push: impl FnMut(&str, usize)) {
    let mut before: Option<(usize, char)> = None;
    let mut pair = String::new();
    for (at, char) in run.char_indices() {
        if let Some((start, first)) = before {
            pair.clear();
            pair.extend([first, char]);
            push(&pair, start);
        }
        before = Some((at, char));
    }
    if run.chars().nth(1).is_none() {
        push(run, 0);
    }
}
