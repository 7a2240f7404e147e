//! Lists whose layers are merged: redaction rules.

use super::value_check::Warning;
use super::{Config, ConfigKey, Origin};
use heirloom_model::limits;
use heirloom_model::settings::RedactSettings;
use heirloom_redact::Redactor;
use toml::Value;

impl Config {
    /// Removes redaction rules that cannot be used, with a warning for each; the others stay.
    pub(super) fn without_unusable_rules(
        &mut self,
        key: &ConfigKey,
        mut value: Value,
        origin: &Origin,
    ) -> Value {
        let Value::Array(list) = &mut value else {
            return value;
        };
        if !key.name.starts_with("redact.") {
            return value;
        }
        list.retain(|one| {
            let text_value = one.as_str().unwrap_or_default();
            let settings = match key.name {
                "redact.allow" => RedactSettings {
                    allow: vec![text_value.to_owned()],
                    ..RedactSettings::default()
                },
                _ => RedactSettings {
                    rules: vec![redact_rule(text_value)],
                    ..RedactSettings::default()
                },
            };
            let Err(bad) = Redactor::new(&settings) else {
                return true;
            };
            self.warnings.push(Warning {
                place: origin.place.clone(),
                message: format!("`{}`: {bad}; the others are used", key.name),
            });
            false
        });
        value
    }

    /// Appends a list to those of earlier layers, for keys whose layers are merged, up to the limit.
    pub(super) fn accumulate(&mut self, key: &ConfigKey, value: Value, origin: &Origin) -> Value {
        let Some((Value::Array(before), _)) = self.values.get(key.name) else {
            return value;
        };
        let (true, Value::Array(mut more)) = (key.is_cumulative, value.clone()) else {
            return value;
        };
        let mut all = before.clone();
        more.retain(|one| !all.contains(one));
        all.extend(more);
        let most = limits::REDACT_RULES_MAX;
        if all.len() > most {
            all.truncate(most);
            self.warn(
                origin,
                format!(
                    "`{}`: more than {most} in all layers; the first ones are used",
                    key.name
                ),
            );
        }
        Value::Array(all)
    }
}

/// Splits a rule, `kind: regular expression`, into its parts.
pub(super) fn redact_rule(rule: &str) -> (String, String) {
    let (kind, expression) = rule.split_once(':').unwrap_or(("", rule));
    (kind.trim().to_owned(), expression.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::tests::layered;

    #[test]
    fn redaction_rules_of_layers_are_merged_and_project_cannot_allow() {
        let config = layered(
            "[redact]\nrules = [\"order: ORD-[0-9]+\"]\nallow = [\"mine\"]",
            "[redact]\nrules = [\"badge: B[0-9]+\", \"bad: (\", \"no kind\"]\nallow = [\".*\"]",
            &["redact.rules=ticket: T-[0-9]+"],
        );
        let settings = config.settings().redact;
        let kinds: Vec<_> = settings
            .rules
            .iter()
            .map(|(kind, _)| kind.as_str())
            .collect();
        assert_eq!(kinds, ["order", "badge", "ticket"]);
        assert_eq!(settings.rules[1].1, "B[0-9]+");
        assert_eq!(settings.allow, ["mine"]);
        let messages: Vec<_> = config
            .warnings
            .iter()
            .map(|warning| format!("{}: {}", warning.place, warning.message))
            .collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
        let allow = messages
            .iter()
            .find(|messages| messages.contains("redact.allow"));
        assert!(
            allow.unwrap().contains("let a secret through"),
            "{messages:?}"
        );
        assert!(
            messages
                .iter()
                .any(|s| s.starts_with("project: `redact.rules`") && s.contains("unclosed group")),
            "{messages:?}"
        );
        assert!(
            messages.iter().any(|s| s.contains("the kind must")),
            "{messages:?}"
        );
    }
}
