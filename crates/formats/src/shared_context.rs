//! Shared context in Markdown files: headings give the category and the key, bullets the value.
//!
//! Pure: any text in, entries and diagnostics out.

mod bullets;
mod headings;
mod index_line;
mod outline;

pub use index_line::{IndexLine, index_line};
pub use outline::{OutlineItem, outline};

use bullets::{PageBullet, ParsedPage};
use heirloom_model::signal::Diagnostic;
use heirloom_model::text;
use std::collections::{BTreeMap, HashMap};

/// One entry of a shared context file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedEntry {
    /// Line of its start, from 1.
    pub line: u64,
    /// Category.
    pub category: String,
    /// Key; `None` if the entry is identified by its text.
    pub key: Option<String>,
    /// Text; never empty. Several bullets are several lines.
    pub text: String,
}

/// Parsed shared context file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedPage {
    /// Entries, in the order of the file, with unique categories and keys.
    pub entries: Vec<SharedEntry>,
    /// Diagnostics of skipped blocks.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a shared context file.
///
/// The deepest heading that names a category of Heirloom (`Conventions`, `Decisions`, `Facts`, `Learnings`,
/// `Architecture`) is the category, the headings below it are the key. Without such a heading the last heading is the
/// key and the one above it the category; a single heading is the category. Bullets with one key are one value with
/// several lines; a bullet that begins with a name (`**name**: value`) has that name as its key; bullets without a
/// key are separate values. Other blocks are skipped with a diagnostic.
pub fn parse(text: &str) -> SharedPage {
    let page = ParsedPage::read(text);
    let mut entries: Vec<SharedEntry> = Vec::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for bullet in page.bullets {
        let entry = entry_of_bullet(bullet);
        let Some(key) = entry.key.clone() else {
            entries.push(entry);
            continue;
        };
        match places.entry((entry.category.clone(), key)) {
            std::collections::hash_map::Entry::Occupied(place) => {
                let known = &mut entries[*place.get()].text;
                known.push('\n');
                known.push_str(&entry.text);
            }
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(entries.len());
                entries.push(entry);
            }
        }
    }
    SharedPage {
        entries,
        diagnostics: skipped(page.skipped),
    }
}

/// Renders entries as such a file: a heading for each category, ordered by name, and a bullet for each entry, in
/// their order.
pub fn render(entries: &[SharedEntry]) -> String {
    let mut pages: BTreeMap<&str, String> = BTreeMap::new();
    for entry in entries {
        let page = pages.entry(&entry.category).or_default();
        let lines = text::replace_control_chars(entry.text.trim()).replace('\n', "\n  ");
        page.push_str(&match &entry.key {
            Some(key) => format!("- **{}**: {lines}\n", text::one_line(key).replace("**", "")),
            None => format!("- {lines}\n"),
        });
    }
    let page = |(category, page): (&str, String)| format!("## {category}\n\n{page}\n");
    let pages: String = pages.into_iter().map(page).collect();
    format!("# Project memory\n\n{}\n", pages.trim_end())
}

/// Parses a page whose bullets are independent, such as the rules for agents.
///
/// The category is the deepest heading that names a category of Heirloom, else `about`, else the last heading below the
/// title of the page. A rule without any of them is a convention: in `# My shop` above `- use tabs` the title names the
/// project, not a subject. Other blocks are skipped with a diagnostic.
pub fn parse_rules(text: &str, about: Option<&str>) -> SharedPage {
    let page = ParsedPage::read(text);
    let has_title = page.has_title();
    let entries = page.bullets.into_iter().map(|bullet| SharedEntry {
        line: bullet.line,
        category: headings::category_of_rule(&bullet.path, has_title, about),
        key: None,
        text: bullet.full_text().to_owned(),
    });
    SharedPage {
        entries: entries.collect(),
        diagnostics: skipped(page.skipped),
    }
}

fn skipped(skipped: Option<(u64, u64)>) -> Vec<Diagnostic> {
    let diagnostic = skipped.map(|(line, count)| Diagnostic {
        line,
        message: format!(
            "{count} paragraphs, tables or code blocks outside of lists were left out"
        ),
    });
    diagnostic.into_iter().collect()
}

fn entry_of_bullet(bullet: PageBullet) -> SharedEntry {
    let (category, above) = headings::category_and_key(&bullet.path);
    let line = bullet.line;
    let (name, words) = bullet.split_name();
    let name = name.map(|name| headings::key_part(&name));
    let key: Vec<_> = above
        .into_iter()
        .chain(name.filter(|name| !name.is_empty()))
        .collect();
    let key = Some(key.join(" / ")).filter(|key| !key.is_empty());
    SharedEntry {
        line,
        category,
        key: key.map(|key| text::clip(&key, headings::KEY_CHARS).trim_end().to_owned()),
        text: words,
    }
}

#[cfg(test)]
mod tests;
