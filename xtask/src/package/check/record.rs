//! Table of measured times in the document.

use super::install_outcome::{InstallOutcome, table};
use crate::cargo;
use crate::package::archive;
use crate::package::release::read_text;

/// The document.
const DOCUMENT: &str = "docs/install.md";
const BEGIN: &str = "<!-- package check -->";
const END: &str = "<!-- end -->";

/// Replaces the table of the document.
pub(super) fn write(outcomes: &[InstallOutcome]) -> Result<(), String> {
    let text = read_text(DOCUMENT)?;
    let measured = match (cargo::commit_date(), cargo::commit()) {
        (Some(date), Some(commit)) => format!("\nMeasured at commit {commit} of {date}.\n"),
        _ => String::new(),
    };
    let filled = fill(&text, &format!("{}{measured}", table(outcomes)))?;
    archive::write(&cargo::root().join(DOCUMENT), filled.as_bytes())?;
    println!("wrote the table of {DOCUMENT}");
    Ok(())
}

/// Returns the document with other content between the marks.
fn fill(text: &str, content: &str) -> Result<String, String> {
    let missing = || format!("{DOCUMENT} has no {BEGIN} with {END} after it");
    let (before, rest) = text.split_once(BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{BEGIN}\n{content}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_between_the_marks_is_replaced() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(
            fill(&text, "new\n").unwrap(),
            format!("a\n{BEGIN}\nnew\n{END}\nb\n")
        );
        assert!(fill("a\n", "new\n").is_err());
    }

    #[test]
    fn document_has_the_marks() {
        assert!(fill(&read_text(DOCUMENT).unwrap(), "").is_ok());
    }
}
