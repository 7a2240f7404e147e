//! File name and format of the last output of an agent in a plan.
//!
//! Pure: any bytes in, values and diagnostics out.

mod file_names;
mod output_format;

pub use file_names::{InvalidOutputName, agent_of_file_name, check_path_part, file_name};
pub use output_format::{OutputFile, OutputProblem, parse, render};

/// Returns the last `lines` lines of a text, without the line break at its end.
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
    fn last_lines_counts_from_the_end() {
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
