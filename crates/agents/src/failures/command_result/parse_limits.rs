//! Limits of what the parser is given: it recurses, and a deeply nested line would exhaust the stack.

use heirloom_model::limits::COMMAND_LINE_BYTES_MAX;

/// Nested brackets or control structures. In a debug build with 1 MiB of stack, 24 are parsed and 40 overflow.
const NESTING_MAX: usize = 16;
/// Operators in a line with arithmetic or `[[ … ]]`, which the parser reads by recursion as well.
const OPERATORS_MAX: usize = 200;

/// Words that open a control structure.
const OPENERS: [&str; 6] = ["if", "while", "until", "for", "case", "select"];
/// Words that close a control structure.
const CLOSERS: [&str; 3] = ["fi", "done", "esac"];
/// Words after which a command begins.
const LEADS: [&str; 8] = ["if", "then", "else", "elif", "while", "until", "do", "!"];

/// Returns true for a line that can be parsed within the limits. Quotes are not regarded, so that a long text with many
/// open brackets is refused as well.
pub(super) fn is_within_limits(line: &str) -> bool {
    line.len() <= COMMAND_LINE_BYTES_MAX
        && bracket_depth(line) <= NESTING_MAX
        && structure_depth(line) <= NESTING_MAX
        && (!line.contains("((") && !line.contains("[[") || operators(line) <= OPERATORS_MAX)
}

fn bracket_depth(line: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in line.bytes() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// Returns the greatest number of control structures or function heads within each other.
fn structure_depth(line: &str) -> usize {
    let (mut depth, mut most, mut heads) = (0_usize, 0, 0_usize);
    for text in line.lines() {
        let mut begins = true;
        for token in text.split_ascii_whitespace() {
            let word = token.trim_matches([';', '(', ')', '{', '}', '&', '|']);
            if begins && OPENERS.contains(&word) {
                depth += 1;
            } else if CLOSERS.contains(&word) {
                depth = depth.saturating_sub(1);
            }
            heads = match token.ends_with("()") {
                true => heads + 1,
                false => 0,
            };
            most = most.max(depth).max(heads);
            begins = LEADS.contains(&word) || token.ends_with([';', '(', ')', '{', '&', '|']);
        }
    }
    most
}

fn operators(line: &str) -> usize {
    let is_operator = |byte: &u8| matches!(byte, b'-' | b'+' | b'!' | b'~' | b'*' | b'?');
    line.bytes().filter(|byte| is_operator(byte)).count()
}
