//! Outline of a page: its bullets with the headings above them.

use super::bullets::ParsedPage;

/// A bullet with its nested content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// Line of its start, from 1.
    pub line: u64,
    /// Headings above it, the outermost first.
    pub path: Vec<String>,
    /// Text; never empty.
    pub text: String,
}

/// Returns the bullets of a page in the order of their lines. A heading is no item: it has no meaning alone, and the
/// bullets below it have it in their path.
pub fn outline(text: &str) -> Vec<OutlineItem> {
    let bullets = ParsedPage::read(text).bullets.into_iter();
    let item = bullets.map(|bullet| OutlineItem {
        line: bullet.line,
        text: bullet.full_text().to_owned(),
        path: bullet.path,
    });
    item.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bullets_have_their_lines_and_headings_are_no_items() {
        let page = "# Facts\n\ntext\n\n## Ports\n- **db**: 5432\n  - nested\n- web\n\n# Empty\n";
        let items = outline(page);
        let rendered =
            |item: &OutlineItem| format!("{} {} {:?}", item.line, item.path.join("/"), item.text);
        let rendered: Vec<_> = items.iter().map(rendered).collect();
        assert_eq!(
            rendered,
            [
                "6 Facts/Ports \"db: 5432\\n- nested\"",
                "8 Facts/Ports \"web\"",
            ]
        );
        assert_eq!(outline("# Facts\n\n<!-- nothing -->\n"), []);
    }
}
