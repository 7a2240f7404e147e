//! Folders in which agent programs keep settings and conversations.

use std::path::{Path, PathBuf};

/// A folder of a program, below the home folder or a folder that a variable names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramFolder {
    /// Variable that names another folder than the one below the home folder.
    pub variable: Option<&'static str>,
    /// The default folder, relative to the home folder.
    pub below_home: &'static str,
    /// Path inside either of them.
    pub inside: &'static str,
}

impl ProgramFolder {
    /// Returns the folder for this environment; `None` without a home folder.
    pub fn resolve<'e>(&self, env: impl Fn(&str) -> Option<&'e str>) -> Option<PathBuf> {
        let own = self.variable.and_then(&env).map(PathBuf::from);
        let base = own.or_else(|| Some(join(Path::new(env("HOME")?), self.below_home)))?;
        Some(join(&base, self.inside))
    }
}

/// Joins two paths; an empty one adds no separator.
fn join(base: &Path, more: &str) -> PathBuf {
    match more {
        "" => base.to_owned(),
        more => base.join(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolve_prefers_variable() {
        let folder = ProgramFolder {
            variable: Some("CODEX_HOME"),
            below_home: ".codex",
            inside: "sessions",
        };
        let home = |name: &str| (name == "HOME").then_some("/h");
        assert_eq!(folder.resolve(home), Some("/h/.codex/sessions".into()));
        let both = |name: &str| Some(if name == "HOME" { "/h" } else { "/c" });
        assert_eq!(folder.resolve(both), Some("/c/sessions".into()));
        assert_eq!(folder.resolve(|_| None), None);
    }
}
