//! Shared context in Markdown files: headings say the category and the key, bullets the value.
//!
//! Pure: text in, entries and diagnostics out, whatever the text is.

mod bullets;
mod headings;
mod index;
mod outline;

pub use index::{IndexLine, index_line};
pub use outline::{OutlineItem, outline};

use bullets::{Bullet, Page};
use heirloom_model::signal::Diagnostic;
use heirloom_model::text;
use std::collections::HashMap;

/// Something that a file of shared context says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedEntry {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// Its category: a name.
    pub category: String,
    /// Its key; `None` if it is known by its text.
    pub key: Option<String>,
    /// What is said; never empty. Several bullets are several lines.
    pub text: String,
}

/// What a file of shared context says, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedPage {
    /// Its entries; no two have the same category and key.
    pub entries: Vec<SharedEntry>,
    /// What was left out.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a file of shared context.
///
/// The deepest heading that names a category of Heirloom's (`Conventions`, `Decisions`, `Facts`, `Learnings`,
/// `Architecture`) is the category, the headings below it are the key. Without such a heading the last one is the
/// key and the one above it the category; a lone one is the category. Bullets of one key are one value, in so many
/// lines; a bullet that begins with a name (`**name**: value`) has that as its key; bullets without a key are
/// values of their own. What is no bullet is left out, which is told.
pub fn parse(text: &str) -> SharedPage {
    let page = Page::read(text);
    let mut entries: Vec<SharedEntry> = Vec::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for bullet in page.bullets {
        let entry = entry(bullet);
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
        diagnostics: left_out(page.left_out),
    }
}

/// Reads a page whose bullets each say something by themselves, such as the rules that agents are given.
///
/// The deepest heading that names a category of Heirloom's is the category, else `about`, else the last heading. What
/// is no bullet is left out, which is told.
pub fn rules(text: &str, about: Option<&str>) -> SharedPage {
    let page = Page::read(text);
    let entries = page.bullets.into_iter().map(|bullet| SharedEntry {
        line: bullet.line,
        category: headings::category_below(&bullet.path, about),
        key: None,
        text: bullet.whole().to_owned(),
    });
    SharedPage {
        entries: entries.collect(),
        diagnostics: left_out(page.left_out),
    }
}

fn left_out(left_out: Option<(u64, u64)>) -> Vec<Diagnostic> {
    let told = left_out.map(|(line, count)| Diagnostic {
        line,
        message: format!(
            "{count} paragraphs, tables or code blocks outside of lists were left out"
        ),
    });
    told.into_iter().collect()
}

fn entry(bullet: Bullet) -> SharedEntry {
    let (category, above) = headings::place(&bullet.path);
    let line = bullet.line;
    let (name, words) = bullet.named();
    let name = name.map(|name| headings::key_word(&name));
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
