//! Suggestions for a missing file.

use heirloom_fs::project_fs::{EntryKind, FolderVisitor, SafeFolder, SafeOpenProblem};
use heirloom_model::limits::DIRECTIVE_NEAR_ENTRIES_MAX;
use heirloom_model::{Fault, text};

/// Maximum characters of a compared path.
const COMPARED_CHARS: usize = 200;

/// Directive names: after a comma they look like a file.
const DIRECTIVES: [&str; 4] = ["input", "tail", "recall", "budget"];
/// Folders that are not searched.
const SKIPPED_FOLDERS: [&str; 3] = [".git", ".heirloom", "node_modules"];

/// Returns the fault for a missing file, with the most similar existing path.
pub(super) fn missing_file_fault(folder: &SafeFolder, name: &str) -> Fault {
    let shown = text::excerpt(name, 120);
    let fault = Fault::not_found(format!("input `{shown}`: there is no such file"));
    let wanted = name.trim_start_matches("./").to_lowercase();
    let word = wanted.split(':').next().unwrap_or_default().trim();
    if DIRECTIVES.contains(&word) {
        return fault.hint(format!(
            "`{word}` is a directive of its own: put `;` or `][` before it, as in `coder[input:a.md][tail:50]`"
        ));
    }
    if wanted.chars().count() > COMPARED_CHARS {
        return fault;
    }
    let mut near = NearestSearch {
        wanted_name: last(&wanted).to_owned(),
        wanted,
        twins: Vec::new(),
        best: None,
    };
    match folder.walk("", &(), DIRECTIVE_NEAR_ENTRIES_MAX, &mut near) {
        Ok(()) | Err(SafeOpenProblem::TooMany(_)) => {}
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
            fault.hint(format!("only the case differs: {}", twins.join(", ")))
        }
    }
}

struct NearestSearch {
    wanted: String,
    wanted_name: String,
    /// Paths that differ only in case.
    twins: Vec<String>,
    /// Most similar path and its edit distance.
    best: Option<(usize, String)>,
}

impl FolderVisitor for NearestSearch {
    type State = ();

    fn visit(&mut self, (): &(), path: &str, entry: EntryKind) -> Option<()> {
        if entry == EntryKind::Folder {
            return (!SKIPPED_FOLDERS.contains(&last(path))).then_some(());
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
            // The same name in another folder beats any similar name.
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
