//! The layers, laid over each other.

use super::{Environment, KEYS, Key};
use heirloom_engine::redact::Redactor;
use heirloom_model::settings::{RedactSettings, RetentionSettings, RunSettings};
use heirloom_model::{Budget, Fault, Settings, limits};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use toml::{Table, Value};

const DEFAULTS: &str = include_str!("defaults.toml");

/// A layer; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// Compiled in.
    Default,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// A variable.
    Environment,
    /// `--set`, `--project`.
    Flag,
}

impl Layer {
    /// Its name at the terminal and in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The layer.
    pub(crate) layer: Layer,
    /// The file, variable or flag.
    pub(crate) place: String,
}

/// A value that was not taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    /// The file, variable or flag.
    pub(crate) place: String,
    /// What is wrong, and what to do.
    pub(crate) message: String,
}

/// Every key with its value and origin.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    values: BTreeMap<&'static str, (Value, Origin)>,
    /// Values that were not taken.
    pub(crate) warnings: Vec<Warning>,
}

impl Config {
    /// The built-in defaults.
    pub(crate) fn defaults() -> Result<Self, Fault> {
        let mut config = Self {
            values: BTreeMap::new(),
            warnings: Vec::new(),
        };
        let origin = Origin {
            layer: Layer::Default,
            place: "built in".to_owned(),
        };
        config.lay_text(DEFAULTS, &origin)?;
        Ok(config)
    }

    /// Every layer: defaults, the user's file, the project's file, the environment, flags (`key=value`).
    ///
    /// Errors: `Usage` for a file that is no TOML (with its line) or a flag that fits no key. A wrong or
    /// unknown key in a file or variable is a warning: a typo must not lock anybody out.
    pub(crate) fn load(
        env: &Environment,
        project: Option<&Path>,
        flags: &[String],
    ) -> Result<Self, Fault> {
        let mut texts = Vec::new();
        if let Some(path) = env.user_config() {
            texts.extend(read(&path, Layer::User)?);
        }
        if let Some(path) = project {
            texts.extend(read(path, Layer::Project)?);
        }
        Self::of(&texts, env, flags)
    }

    /// As [`Config::load`], of files that were read.
    pub(crate) fn of(
        texts: &[(Origin, String)],
        env: &Environment,
        flags: &[String],
    ) -> Result<Self, Fault> {
        let mut config = Self::defaults()?;
        for (origin, text) in texts {
            config.lay_text(text, origin)?;
        }
        config.lay_environment(env);
        if flags.len() > limits::SET_FLAGS_MAX {
            let most = limits::SET_FLAGS_MAX;
            return Err(Fault::usage(format!(
                "{} settings with --set; at most {most} are taken",
                flags.len()
            ))
            .hint("write them into the config file"));
        }
        for flag in flags {
            config.lay_flag(flag)?;
        }
        Ok(config)
    }

    /// The value of a key and where it came from.
    pub(crate) fn get(&self, key: &Key) -> Option<(&Value, &Origin)> {
        self.values
            .get(key.name)
            .map(|(value, origin)| (value, origin))
    }

    fn lay_text(&mut self, text: &str, origin: &Origin) -> Result<(), Fault> {
        let text = text.trim_start_matches('\u{feff}');
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.as_bytes().iter().take(start);
            let line = before.filter(|byte| **byte == b'\n').count() + 1;
            Fault::usage(format!("{}:{line}: {}", origin.place, error.message()))
                .hint("correct the line; `heirloom config` lists every key with its default")
        })?;
        for (section, value) in table {
            match value {
                Value::Table(inner) => {
                    for (key, value) in inner {
                        self.lay(&format!("{section}.{key}"), value, origin);
                    }
                }
                Value::String(_)
                | Value::Integer(_)
                | Value::Float(_)
                | Value::Boolean(_)
                | Value::Datetime(_)
                | Value::Array(_) => self.lay(&section, value, origin),
            }
        }
        Ok(())
    }

    fn lay_environment(&mut self, env: &Environment) {
        for key in KEYS {
            let variable = key.variable();
            let Some(text) = env.get(&variable) else {
                continue;
            };
            let origin = Origin {
                layer: Layer::Environment,
                place: variable,
            };
            match key.parse(text) {
                Ok(value) => self.lay(key.name, value, &origin),
                Err(problem) => self.warn(&origin, format!("{problem}; the value is not used")),
            }
        }
    }

    fn lay_flag(&mut self, flag: &str) -> Result<(), Fault> {
        let Some((name, text)) = flag.split_once('=') else {
            return Err(Fault::usage(format!(
                "--set {flag}: expected section.key=value"
            )));
        };
        let key = Key::named(name.trim()).ok_or_else(|| {
            Fault::usage(format!("--set {flag}: there is no key `{name}`"))
                .hint("`heirloom config` lists every key")
        })?;
        let value = key
            .parse(text)
            .map_err(|problem| Fault::usage(format!("--set {name}: {problem}")))?;
        self.lay(
            key.name,
            value,
            &Origin {
                layer: Layer::Flag,
                place: format!("--set {name}"),
            },
        );
        Ok(())
    }

    fn lay(&mut self, name: &str, value: Value, origin: &Origin) {
        let Some(key) = Key::named(name) else {
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
        match key.check(&value) {
            Ok(()) => {
                let value = self.usable_rules(key, value, origin);
                let value = self.added_up(key, value, origin);
                self.values.insert(key.name, (value, origin.clone()));
            }
            Err(problem) => self.warn(
                origin,
                format!("`{name}`: {problem}; the value is not used"),
            ),
        }
    }

    /// The list without redaction rules that cannot be used; each is said with its place, the rest holds.
    fn usable_rules(&mut self, key: &Key, mut value: Value, origin: &Origin) -> Value {
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
    fn added_up(&mut self, key: &Key, value: Value, origin: &Origin) -> Value {
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

    fn warn(&mut self, origin: &Origin, message: String) {
        self.warnings.push(Warning {
            place: origin.place.clone(),
            message,
        });
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(value, _)| value)
    }

    /// A text; empty if the key has none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.value(name).and_then(Value::as_str).unwrap_or("")
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.value(name).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }

    fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A whole number; 0 if the key has none.
    pub(crate) fn int(&self, name: &str) -> u64 {
        self.value(name)
            .and_then(Value::as_integer)
            .and_then(|n| u64::try_from(n).ok())
            .unwrap_or(0)
    }

    fn size(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).unwrap_or(usize::MAX)
    }

    /// What the engine goes by.
    pub(crate) fn settings(&self) -> Settings {
        let tokens = self.size("memory.context_budget_tokens");
        let small = |name| u32::try_from(self.int(name)).unwrap_or(u32::MAX);
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
            memory_prefixes: self.texts("signals.prefixes"),
            status_prefixes: self.texts("signals.status_prefixes"),
            run: RunSettings {
                iterations: small("run.iterations"),
                stall_limit: small("run.stall_limit"),
                timeout_s: self.int("run.timeout_s"),
                teach_signals: self.flag("run.teach_signals"),
            },
            snapshot_on_shutdown: self.flag("memory.snapshot_on_shutdown"),
            retention: RetentionSettings {
                episodes_days: small("retention.episodes_days"),
                artifacts_days: small("retention.artifacts_days"),
            },
            redact: RedactSettings {
                rules: self
                    .texts("redact.rules")
                    .iter()
                    .map(|rule| redact_rule(rule))
                    .collect(),
                allow: self.texts("redact.allow"),
            },
        }
    }
}

/// A rule as it is written, `kind: regular expression`, in its parts.
fn redact_rule(rule: &str) -> (String, String) {
    let (kind, expression) = rule.split_once(':').unwrap_or(("", rule));
    (kind.trim().to_owned(), expression.trim().to_owned())
}

/// The text of a config file, and where it came from; `None` if there is no such file.
fn read(path: &Path, layer: Layer) -> Result<Option<(Origin, String)>, Fault> {
    let place = path.display().to_string();
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Fault::failed(format!("cannot read {place}: {error}"))),
        Ok(meta) if meta.len() > limits::CONFIG_BYTES_MAX => {
            let most = limits::CONFIG_BYTES_MAX;
            return Err(Fault::usage(format!(
                "{place} has {} bytes; at most {most} are read",
                meta.len()
            )));
        }
        Ok(_) => {}
    }
    let bytes =
        fs::read(path).map_err(|error| Fault::failed(format!("cannot read {place}: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::usage(format!("{place} is not UTF-8 at byte {at}")).hint("save the file as UTF-8")
    })?;
    Ok(Some((Origin { layer, place }, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layered(user: &str, project: &str, flags: &[&str]) -> Config {
        let text = |layer, place: &str, text: &str| {
            let place = place.to_owned();
            (Origin { layer, place }, text.to_owned())
        };
        let texts = [
            text(Layer::User, "user", user),
            text(Layer::Project, "project", project),
        ];
        let flags: Vec<_> = flags.iter().map(ToString::to_string).collect();
        Config::of(&texts, &Environment::default(), &flags).unwrap()
    }

    #[test]
    fn every_key_has_a_default_of_its_type_and_the_defaults_equal_the_library_s() {
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
        assert_eq!(settings.run.iterations, limits::ITERATIONS_DEFAULT);
        assert_eq!(settings.run.stall_limit, limits::STALL_LIMIT_DEFAULT);
        assert_eq!(settings.run.timeout_s, limits::ITERATION_TIMEOUT_S_DEFAULT);
        let waits_ms = config.int("embedder.question_ms");
        assert_eq!(waits_ms, limits::EMBEDDING_QUESTION_MS_DEFAULT);
    }

    #[test]
    fn later_layers_win_and_say_where_from() {
        let config = layered(
            "memory.max_entries = 7\nmemory.enabled = true",
            "[memory]\nmax_entries = 9",
            &["run.iterations=3"],
        );
        let origin = |name| config.get(Key::named(name).unwrap()).unwrap().1.layer;
        assert_eq!(config.settings().max_entries, 9);
        assert_eq!(origin("memory.max_entries"), Layer::Project);
        assert_eq!(origin("memory.enabled"), Layer::User);
        assert_eq!(origin("run.iterations"), Layer::Flag);
        assert_eq!(origin("run.stall_limit"), Layer::Default);
    }

    #[test]
    fn a_project_cannot_say_what_is_run() {
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

    #[test]
    fn wrong_values_are_said_and_not_used() {
        let config = layered(
            "[memory]\nmax_entries = \"many\"\ncontext_budget = -1\nbudget = 4",
            "",
            &[],
        );
        let said: Vec<_> = config.warnings.iter().map(|w| w.message.as_str()).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert_eq!(
            config.settings().max_entries,
            limits::MIRROR_ENTRIES_DEFAULT
        );
    }

    /// Behind a byte order mark the place of the error was looked for in another text: a panic, found by fuzzing.
    #[test]
    fn a_syntax_error_names_its_line() {
        for (text, line) in [
            ("[memory]\nenabled = = 3\n", 2),
            ("\u{feff}[memory]\nenabled = = 3\n", 2),
            ("\u{feff}[é]]\n", 1),
            ("\u{feff}\n[memo\u{fffd}\u{fffd}ry]\n", 2),
            ("\n\nx = \"", 3),
        ] {
            let mut config = Config::defaults().unwrap();
            let origin = Origin {
                layer: Layer::User,
                place: "config.toml".to_owned(),
            };
            let fault = config.lay_text(text, &origin).unwrap_err();
            let expected = format!("config.toml:{line}:");
            assert!(fault.message.starts_with(&expected), "{text:?}: {fault}");
        }
    }
}
