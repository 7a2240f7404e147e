//! The last output of an agent in a plan as a file: its name and its form.
//!
//! Pure: bytes in, values and diagnostics out, whatever the bytes are.

mod file;
mod names;

pub use file::{OutputFile, OutputProblem, parse, render};
pub use names::{BadOutputName, agent_of, check_part, file_name};

/// The last `lines` lines of a text, without the line break at its end.
pub fn last_lines(text: &str, lines: usize) -> &str {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let body = body.strip_suffix('\r').unwrap_or(body);
    if lines == 0 {
        return "";
    }
    match body.rmatch_indices('\n').nth(lines - 1) {
        Some((at, _)) => &body[at + 1..],
        None => body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines_are_counted_from_the_end() {
        for (text, lines, expected) in [
            ("a\nb\nc", 2, "b\nc"),
            ("a\nb\nc\n", 2, "b\nc"),
            ("a\nb\r\nc\r\n", 1, "c"),
            ("a\n\n\n", 2, "\n"),
            ("a", 5, "a"),
            ("a\nb", 0, ""),
            ("", 3, ""),
            ("\n", 1, ""),
        ] {
            assert_eq!(last_lines(text, lines), expected, "{text:?} {lines}");
        }
    }
}
