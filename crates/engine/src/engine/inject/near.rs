//! What somebody may have meant by a file that is not there.

use crate::places::{Beneath, BeneathProblem, Entry, Visitor};
use heirloom_model::limits::DIRECTIVE_NEAR_ENTRIES_MAX;
use heirloom_model::{Fault, text};

/// Longest path that is compared, characters.
const COMPARED_CHARS: usize = 200;

/// Names of folders in which nobody means a file.
const PASSED_OVER: [&str; 3] = [".git", ".heirloom", "node_modules"];

/// The fault of a file that is not there: names it, and the nearest of those that are.
pub(super) fn missing(folder: &Beneath, name: &str) -> Fault {
    let shown = text::excerpt(name, 120);
    let fault = Fault::not_found(format!("input `{shown}`: there is no such file"));
    let wanted = name.trim_start_matches("./").to_lowercase();
    if wanted.chars().count() > COMPARED_CHARS {
        return fault;
    }
    let mut near = Near {
        wanted_name: last(&wanted).to_owned(),
        wanted,
        twins: Vec::new(),
        best: None,
    };
    match folder.walk("", &(), DIRECTIVE_NEAR_ENTRIES_MAX, &mut near) {
        Ok(()) | Err(BeneathProblem::TooMany(_)) => {}
        Err(_) => return fault,
    }
    match (near.twins.as_slice(), near.best) {
        ([], None) => fault.hint("paths are relative to the project's root"),
        ([], Some((_, path))) => {
            fault.hint(format!("did you mean `{}`?", text::excerpt(&path, 120)))
        }
        (twins, _) => {
            let twins: Vec<String> = (twins.iter().take(3))
                .map(|path| format!("`{}`", text::excerpt(path, 120)))
                .collect();
            fault.hint(format!("capital letters differ: {}", twins.join(", ")))
        }
    }
}

struct Near {
    wanted: String,
    wanted_name: String,
    /// The same but for capital letters.
    twins: Vec<String>,
    /// The nearest by edits, and how far it is.
    best: Option<(usize, String)>,
}

impl Visitor for Near {
    type Place = ();

    fn visit(&mut self, (): &(), path: &str, entry: Entry) -> Option<()> {
        if entry == Entry::Folder {
            return (!PASSED_OVER.contains(&last(path))).then_some(());
        }
        let lower = path.to_lowercase();
        if lower == self.wanted {
            self.twins.push(path.to_owned());
            return None;
        }
        if lower.chars().count() > COMPARED_CHARS {
            return None;
        }
        let far = if last(&lower) == self.wanted_name {
            // The same name in another folder is nearer than any other name.
            1
        } else {
            strsim::osa_distance(&lower, &self.wanted)
        };
        let is_near = far <= (self.wanted.chars().count() / 3).max(2);
        if is_near && self.best.as_ref().is_none_or(|(best, _)| far < *best) {
            self.best = Some((far, path.to_owned()));
        }
        None
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
