//! Conversion of config values into the engine's settings.

use super::{Config, KEYS, Layer, cumulative_lists};
use heirloom_model::section::SourceRow;
use heirloom_model::settings::{
    ContextSelection, HistorySettings, RedactSettings, RetentionSettings, RunSettings,
    WorkspaceSettings,
};
use heirloom_model::{Budget, Settings};
use toml::Value;

impl Config {
    fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(value, _)| value)
    }

    /// Returns a text value; empty if the key has none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.value(name).and_then(Value::as_str).unwrap_or("")
    }

    /// Returns a list of texts.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.value(name).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }

    /// Returns a number that may be left out; `None` if it is.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        let value = self.value(name)?;
        let whole = value.as_integer().and_then(|n| i32::try_from(n).ok());
        value.as_float().or_else(|| whole.map(f64::from))
    }

    /// Returns the value of a switch.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn int(&self, name: &str) -> u64 {
        self.value(name)
            .and_then(Value::as_integer)
            .and_then(|n| u64::try_from(n).ok())
            .unwrap_or(0)
    }

    /// Returns a small number; 0 if the key has none.
    pub(crate) fn small(&self, name: &str) -> u32 {
        u32::try_from(self.int(name)).unwrap_or(u32::MAX)
    }

    fn size(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).unwrap_or(usize::MAX)
    }

    /// Returns true if a layer above the defaults sets a key.
    fn is_set(&self, name: &str) -> bool {
        let key = KEYS.iter().find(|key| key.name == name);
        let origin = key.and_then(|key| self.get(key));
        origin.is_some_and(|(_, origin)| origin.layer != Layer::Default)
    }

    /// Returns the engine's settings.
    pub(crate) fn settings(&self) -> Settings {
        let tokens = self.size("memory.context_budget_tokens");
        let small = |name| self.small(name);
        Settings {
            enabled: self.flag("memory.enabled"),
            mirror_path: self.text("memory.file_path").to_owned(),
            max_entries: self.size("memory.max_entries"),
            conflict_policy: self
                .text("memory.conflict_policy")
                .parse()
                .unwrap_or_default(),
            context_budget: match tokens {
                0 => Budget::Chars(self.size("memory.context_budget")),
                tokens => Budget::Tokens(tokens),
            },
            has_own_budget: self.is_set("memory.context_budget")
                || self.is_set("memory.context_budget_tokens"),
            context_selection: match self.text("context.selection") {
                word if word == ContextSelection::Priority.as_str() => ContextSelection::Priority,
                _ => ContextSelection::Worth,
            },
            standing_chars: self.size("context.standing_chars"),
            memory_prefixes: self.texts("signals.prefixes"),
            status_prefixes: self.texts("signals.status_prefixes"),
            run: RunSettings {
                iterations: small("run.iterations"),
                stall_limit: small("run.stall_limit"),
                timeout_s: self.int("run.timeout_s"),
                includes_signal_guide: self.flag("run.teach_signals"),
            },
            sources: self
                .texts("context.sources")
                .iter()
                .filter_map(|row| SourceRow::parse(row).ok())
                .collect(),
            architecture_files: self.texts("context.architecture"),
            snapshot_on_shutdown: self.flag("memory.snapshot_on_shutdown"),
            history: HistorySettings {
                live_interactions: self.size("memory.conversation_history_live"),
                budget_tokens: self.size("memory.conversation_history_token_budget"),
            },
            plans_root: self.text("plans.root").to_owned(),
            retention: RetentionSettings {
                episodes_days: small("retention.episodes_days"),
                artifacts_days: small("retention.artifacts_days"),
            },
            redact: RedactSettings {
                rules: self
                    .texts("redact.rules")
                    .iter()
                    .map(|rule| cumulative_lists::redact_rule(rule))
                    .collect(),
                allow: self.texts("redact.allow"),
            },
            workspace: WorkspaceSettings {
                // Set when a memory is opened, because it depends on the home folder.
                user_folder: None,
                file_chars: self.size("workspace.file_chars"),
                days: small("workspace.days"),
            },
            archive_gzip: self.text("archive.compress") == "gzip",
            learns: self.flag("hooks.learn"),
            // Set when a memory is opened.
            home: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::limits;

    #[test]
    fn defaults_fit_their_types_and_equal_library_defaults() {
        let config = Config::defaults().unwrap();
        assert_eq!(config.warnings, []);
        for key in KEYS {
            let (value, _) = config
                .get(key)
                .unwrap_or_else(|| panic!("{} has no default", key.name));
            assert_eq!(key.check(value), Ok(()), "{}", key.name);
        }
        assert_eq!(
            config.settings(),
            Settings {
                enabled: false,
                ..Settings::default()
            }
        );
        let settings = config.settings();
        assert_eq!(settings.max_entries, limits::MIRROR_ENTRIES_DEFAULT);
        let budget = Budget::Chars(limits::CONTEXT_BUDGET_CHARS_DEFAULT);
        assert_eq!(settings.context_budget, budget);
        assert_eq!(
            settings.history.live_interactions,
            limits::HISTORY_LIVE_DEFAULT
        );
        let budget = limits::HISTORY_BUDGET_TOKENS_DEFAULT;
        assert_eq!(settings.history.budget_tokens, budget);
        let waits_ms = config.int("embedder.question_ms");
        assert_eq!(waits_ms, limits::EMBEDDING_QUESTION_MS_DEFAULT);
    }
}
