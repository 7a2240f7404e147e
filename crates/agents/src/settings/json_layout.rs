//! Text of JSON values with line breaks, and its indentation.

pub(super) fn member_text(name: &str, value: &str) -> String {
    format!("\"{name}\": {value}")
}

pub(super) fn object_text(members: &[(&str, &str)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| member_text(name, value))
        .collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    block_text('{', '}', &members)
}

pub(super) fn list_text(items: &[&str]) -> String {
    block_text('[', ']', items)
}

fn block_text(opens: char, closes: char, parts: &[&str]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("\n\t{}", part.replace('\n', "\n\t")))
        .collect();
    format!("{opens}{}\n{closes}", parts.join(","))
}

/// Returns the indentation unit of the text, taken from its first indented line.
pub(super) fn indent_unit(text: &str) -> String {
    let indented = text.lines().find_map(|line| {
        let blanks = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        (!blanks.is_empty() && blanks.len() < line.len()).then_some(blanks)
    });
    match indented {
        Some(blanks) if blanks.starts_with('\t') => "\t".to_owned(),
        Some(blanks) if blanks.len() <= 8 => blanks.to_owned(),
        Some(_) | None => "  ".to_owned(),
    }
}
