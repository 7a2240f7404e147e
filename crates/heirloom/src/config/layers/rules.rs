//! Lists whose layers add up: rules of redaction.

use super::{Config, Key, Origin, Warning};
use heirloom_engine::redact::Redactor;
use heirloom_model::limits;
use heirloom_model::settings::RedactSettings;
use toml::Value;

impl Config {
    /// The list without redaction rules that cannot be used; each is said with its place, the rest holds.
    pub(super) fn usable_rules(&mut self, key: &Key, mut value: Value, origin: &Origin) -> Value {
        let Value::Array(list) = &mut value else {
            return value;
        };
        if !key.name.starts_with("redact.") {
            return value;
        }
        list.retain(|one| {
            let said = one.as_str().unwrap_or_default();
            let settings = match key.name {
                "redact.allow" => RedactSettings {
                    allow: vec![said.to_owned()],
                    ..RedactSettings::default()
                },
                _ => RedactSettings {
                    rules: vec![redact_rule(said)],
                    ..RedactSettings::default()
                },
            };
            let Err(bad) = Redactor::new(&settings) else {
                return true;
            };
            self.warnings.push(Warning {
                place: origin.place.clone(),
                message: format!("`{}`: {bad}; the others hold", key.name),
            });
            false
        });
        value
    }

    /// A list behind what earlier layers said, for keys whose layers add up; no more than may be.
    pub(super) fn added_up(&mut self, key: &Key, value: Value, origin: &Origin) -> Value {
        let Some((Value::Array(before), _)) = self.values.get(key.name) else {
            return value;
        };
        let (true, Value::Array(mut more)) = (key.adds_up, value.clone()) else {
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
                    "`{}`: more than {most} of all layers; the first hold",
                    key.name
                ),
            );
        }
        Value::Array(all)
    }
}

/// A rule as it is written, `kind: regular expression`, in its parts.
pub(super) fn redact_rule(rule: &str) -> (String, String) {
    let (kind, expression) = rule.split_once(':').unwrap_or(("", rule));
    (kind.trim().to_owned(), expression.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::tests::layered;

    #[test]
    fn redaction_rules_add_up_and_only_the_person_allows() {
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
        let said: Vec<_> = config
            .warnings
            .iter()
            .map(|warning| format!("{}: {}", warning.place, warning.message))
            .collect();
        assert_eq!(said.len(), 3, "{said:?}");
        let allow = said.iter().find(|said| said.contains("redact.allow"));
        assert!(allow.unwrap().contains("let a secret through"), "{said:?}");
        assert!(
            said.iter()
                .any(|s| s.starts_with("project: `redact.rules`") && s.contains("unclosed group")),
            "{said:?}"
        );
        assert!(said.iter().any(|s| s.contains("the kind must")), "{said:?}");
    }
}
