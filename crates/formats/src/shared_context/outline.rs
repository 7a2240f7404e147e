//! Outline of a page: its headings and bullets in order.

use super::bullets::ParsedPage;

/// A heading, or a bullet with its nested content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// Line of its start, from 1.
    pub line: u64,
    /// Headings above it, the outermost first.
    pub path: Vec<String>,
    /// Text; never empty.
    pub text: String,
    /// True for a heading.
    pub is_heading: bool,
}

/// Returns the headings and bullets of a page in the order of their lines. A page without bullets is an empty
/// template and has no outline.
pub fn outline(text: &str) -> Vec<OutlineItem> {
    let page = ParsedPage::read(text);
    if page.bullets.is_empty() {
        return Vec::new();
    }
    let bullets = page.bullets.iter().map(|bullet| OutlineItem {
        line: bullet.line,
        path: bullet.path.clone(),
        text: bullet.full_text().to_owned(),
        is_heading: false,
    });
    let mut items: Vec<_> = bullets.collect();
    for (line, mut path) in page.headings {
        let Some(text) = path.pop().filter(|text| !text.is_empty()) else {
            continue;
        };
        let is_heading = true;
        items.push(OutlineItem {
            line,
            path,
            text,
            is_heading,
        });
    }
    items.sort_by_key(|item| item.line);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_bullets_have_their_lines() {
        let page = "# Facts\n\ntext\n\n## Ports\n- **db**: 5432\n  - nested\n- web\n\n# Empty\n";
        let items = outline(page);
        let rendered =
            |item: &OutlineItem| format!("{} {} {:?}", item.line, item.path.join("/"), item.text);
        let rendered: Vec<_> = items.iter().map(rendered).collect();
        assert_eq!(
            rendered,
            [
                "1  \"Facts\"",
                "5 Facts \"Ports\"",
                "6 Facts/Ports \"db: 5432\\n- nested\"",
                "8 Facts/Ports \"web\"",
                "10  \"Empty\"",
            ]
        );
        assert_eq!(outline("# Facts\n\n<!-- nothing -->\n"), []);
    }
}
