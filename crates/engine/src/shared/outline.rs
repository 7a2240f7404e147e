//! A page as its headings and bullets, each by itself, in order.

use super::bullets::Page;

/// A heading, or a bullet with what is nested in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// The headings above it, the outermost first.
    pub path: Vec<String>,
    /// What it says; never empty.
    pub text: String,
    /// Whether it is a heading.
    pub is_heading: bool,
}

/// The headings and bullets of a page in the order of their lines. A page without a bullet says nothing: its headings
/// are a form that nobody has filled in.
pub fn outline(text: &str) -> Vec<OutlineItem> {
    let page = Page::read(text);
    if page.bullets.is_empty() {
        return Vec::new();
    }
    let bullets = page.bullets.iter().map(|bullet| OutlineItem {
        line: bullet.line,
        path: bullet.path.clone(),
        text: bullet.whole().to_owned(),
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
        let said =
            |item: &OutlineItem| format!("{} {} {:?}", item.line, item.path.join("/"), item.text);
        let said: Vec<_> = items.iter().map(said).collect();
        assert_eq!(
            said,
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
