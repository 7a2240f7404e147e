//! Check of each value before a layer sets it, and the warnings about values that are ignored.

use super::{Config, Layer, Origin};
use crate::config::ConfigKey;
use toml::Value;

/// A value that was ignored, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    /// The file, variable or flag.
    pub(crate) place: String,
    /// The problem, and how to fix it.
    pub(crate) message: String,
}

impl Config {
    /// Sets a value of a layer, unless a check rejects it: an unknown key, a key that a project's file may not set, or a
    /// value that does not fit its key. A rejected value becomes a warning.
    pub(super) fn apply_value(&mut self, name: &str, value: Value, origin: &Origin) {
        let Some(key) = ConfigKey::by_name(name) else {
            return self.warn(
                origin,
                format!("there is no key `{name}`; `heirloom config` lists every key"),
            );
        };
        if let Some(danger) = key.trusted_only
            && origin.layer == Layer::Project
        {
            let message = format!(
                "`{name}` is not taken from a project's file, because it can {danger}: set it in the user's config"
            );
            return self.warn(origin, message);
        }
        // Default values are checked by a test.
        let checked = match origin.layer {
            Layer::Default => Ok(()),
            Layer::User | Layer::Project | Layer::Environment | Layer::Flag => key.check(&value),
        };
        let checked = checked.and_then(|()| match key.check_of_project {
            Some(check) if origin.layer == Layer::Project => check(&value).map_err(str::to_owned),
            _ => Ok(()),
        });
        match checked {
            Ok(()) => {
                let value = self.without_unusable_rules(key, value, origin);
                let value = self.accumulate(key, value, origin);
                self.values.insert(key.name, (value, origin.clone()));
            }
            Err(problem) => self.warn(
                origin,
                format!("`{name}`: {problem}; the value is not used"),
            ),
        }
    }

    /// Adds a warning about a value of `origin`.
    pub(super) fn warn(&mut self, origin: &Origin, message: String) {
        self.warnings.push(Warning {
            place: origin.place.clone(),
            message,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::layered;
    use heirloom_model::limits;

    #[test]
    fn project_file_cannot_set_run_command() {
        let config = layered("", "[run]\ncommand = [\"sh\", \"-c\", \"evil\"]", &[]);
        assert_eq!(config.texts("run.command"), Vec::<String>::new());
        assert!(
            config.warnings[0]
                .message
                .contains("not taken from a project's file")
        );
        let config = layered("[run]\ncommand = [\"claude\"]", "", &[]);
        assert_eq!(config.texts("run.command"), ["claude"]);
    }

    #[test]
    fn wrong_values_are_warned_about_and_not_used() {
        let config = layered(
            "[memory]\nmax_entries = \"many\"\ncontext_budget = -1\nbudget = 4",
            "",
            &[],
        );
        let warnings: Vec<_> = config.warnings.iter().map(|w| w.message.as_str()).collect();
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert_eq!(
            config.settings().max_entries,
            limits::MIRROR_ENTRIES_DEFAULT
        );
    }
}
