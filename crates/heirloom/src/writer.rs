//! From the settings to what writes summaries, and what it may cost.

use crate::config::{Config, Environment};
use crate::embedder;
use heirloom_engine::{Purse, Summariser};
use heirloom_model::meter::{DailyLimits, Price, PriceRow};
use heirloom_model::{Fault, Writer};
use heirloom_services::writer::{Protocol, Service, ServiceConfig};

/// The file of what the day has cost, in the person's data folder: one budget for all projects.
const SPENT: &str = "writer.json";

/// Who writes summaries; nothing where they are made without a model. Nothing is sent yet.
///
/// Errors: as for [`of`]; `Failed` where no home folder can hold what is spent.
pub(crate) fn summariser(config: &Config, env: &Environment) -> Result<Option<Summariser>, Fault> {
    let Some(writer) = of(config, env)? else {
        return Ok(None);
    };
    let purse = purse(config, env).ok_or_else(|| {
        Fault::failed("there is no folder for what the day has cost")
            .hint("set HOME or XDG_DATA_HOME")
    })?;
    Ok(Some(Summariser {
        writer,
        purse,
        max_output_tokens: max_output_tokens(config),
    }))
}

/// The day's budget; nothing without a home folder.
pub(crate) fn purse(config: &Config, env: &Environment) -> Option<Purse> {
    Some(Purse {
        file: env.data_dir()?.join(SPENT),
        limits: daily_limits(config),
        price: price(config),
    })
}

/// Whether the settings want a model to write.
pub(crate) fn is_on(config: &Config) -> bool {
    config.text("writer.kind") != "none"
}

/// What the settings ask for; nothing where summaries are made without a model. Nothing is sent yet.
///
/// Errors: `Usage` for settings that do not go together, `NotFound` for a variable that is not set.
fn of(config: &Config, env: &Environment) -> Result<Option<Box<dyn Writer>>, Fault> {
    let protocol = match config.text("writer.kind") {
        "anthropic" => Protocol::Anthropic,
        "openai" => Protocol::OpenAi,
        _ => return Ok(None),
    };
    let service = Service::new(ServiceConfig {
        protocol,
        url: config.text("writer.url").to_owned(),
        model: config.text("writer.model").to_owned(),
        key: embedder::key("writer", config, env)?,
        timeout_ms: config.int("writer.timeout_s") * 1_000,
    })?;
    Ok(Some(Box::new(service)))
}

/// Most tokens of a summary.
fn max_output_tokens(config: &Config) -> u64 {
    config.int("writer.max_output_tokens")
}

/// What a day may cost.
fn daily_limits(config: &Config) -> DailyLimits {
    DailyLimits {
        tokens: config.int("writer.daily_tokens"),
        cents: config.int("writer.daily_cents"),
    }
}

/// What the configured model costs; none if nobody said so: then money is not counted.
fn price(config: &Config) -> Option<Price> {
    let rows = config.texts("writer.prices");
    let rows = rows.iter().filter_map(|row| PriceRow::parse(row).ok());
    let model = config.text("writer.model");
    let mut rows = rows.filter(|row| row.is_of(model));
    rows.next().map(|row| row.price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{KEYS, Layer, Origin};
    use heirloom_model::{ErrorKind, limits};

    const MINE: &str = "[writer]\nkind = \"anthropic\"\nmodel = \"claude-haiku-4-5-20251001\"\n";

    fn config(user: &str, project: &str, flags: &[&str]) -> Result<Config, Fault> {
        let layers = [(Layer::User, user), (Layer::Project, project)];
        let texts = layers.map(|(layer, text)| {
            let place = layer.as_str().to_owned();
            (Origin { layer, place }, text.to_owned())
        });
        let flags: Vec<_> = flags.iter().map(ToString::to_string).collect();
        Config::of(&texts, &Environment::default(), &flags)
    }

    #[test]
    fn nothing_is_asked_when_nothing_is_said() {
        let config = Config::defaults().unwrap();
        assert!(of(&config, &Environment::default()).unwrap().is_none());
        assert!(max_output_tokens(&config) > 0);
        let limits = daily_limits(&config);
        assert!(limits.tokens > 0 && limits.cents > 0, "{limits:?}");
        assert_eq!(price(&config), None);
    }

    #[test]
    fn a_project_s_file_switches_nothing_on() {
        let env = Environment::default();
        let keys: Vec<_> = KEYS
            .iter()
            .filter(|key| key.name.starts_with("writer."))
            .collect();
        assert_eq!(keys.len(), 9);
        for key in keys {
            assert!(key.trusted_only.is_some(), "{}", key.name);
        }
        let theirs = config("", MINE, &[]).unwrap();
        assert!(of(&theirs, &env).unwrap().is_none());
        assert_eq!(theirs.warnings.len(), 2, "{:?}", theirs.warnings);
        let mine = config(
            MINE,
            "[writer]\nmodel = \"other\"\nurl = \"https://x\"\ndaily_cents = 0",
            &[],
        );
        let mine = mine.unwrap();
        let writer = of(&mine, &env).unwrap().unwrap();
        assert_eq!(writer.model(), "claude-haiku-4-5-20251001");
        assert_eq!(
            (mine.text("writer.url"), daily_limits(&mine).cents),
            ("", 100)
        );
        let flags = [
            "writer.kind=openai",
            "writer.model=m",
            "writer.url=http://localhost:1/v1",
        ];
        let typed = config("", "", &flags).unwrap();
        assert_eq!(of(&typed, &env).unwrap().unwrap().model(), "m");
    }

    #[test]
    fn prices_are_found_by_the_model_s_name() {
        let found = price(&config(MINE, "", &[]).unwrap()).unwrap();
        assert_eq!(
            (found.input_micros, found.output_micros),
            (1_000_000, 5_000_000)
        );
        let other = config(MINE, "", &["writer.prices=[\"gpt-x 1 2 3\"]"]).unwrap();
        assert_eq!(price(&other), None);
    }

    #[test]
    fn settings_that_cannot_be_used_are_named() {
        let env = Environment::default();
        let (seconds, tokens) = (
            limits::WRITER_TIMEOUT_S_MAX,
            limits::WRITER_OUTPUT_TOKENS_MAX,
        );
        let day = limits::WRITER_DAILY_MAX;
        for (key, bad) in [
            ("timeout_s", (seconds + 1).to_string()),
            ("timeout_s", "0".to_owned()),
            ("max_output_tokens", (tokens + 1).to_string()),
            ("daily_tokens", (day + 1).to_string()),
            ("daily_cents", (day + 1).to_string()),
            ("kind", "magic".to_owned()),
            ("prices", "[\"m 1 2\"]".to_owned()),
            ("prices", "[\"m 1 2 3\", \"m 1 2 3\"]".to_owned()),
        ] {
            let said = config("", "", &[&format!("writer.{key}={bad}")]);
            assert_eq!(
                said.map(drop).unwrap_err().kind,
                ErrorKind::Usage,
                "{key} {bad}"
            );
        }
        let at_most = config("", "", &[&format!("writer.timeout_s={seconds}")]).unwrap();
        assert_eq!(at_most.int("writer.timeout_s"), seconds);
        for (more, kind, part) in [
            (
                "writer.key_variable=sk-hunter2",
                ErrorKind::Usage,
                "no name of a variable",
            ),
            (
                "writer.key_variable=NOBODY_SETS_THIS_ONE",
                ErrorKind::NotFound,
                "NOBODY_SETS_THIS_ONE",
            ),
            ("writer.url=ftp://x", ErrorKind::Usage, "`writer.url`"),
            ("writer.model=", ErrorKind::Usage, "no model"),
        ] {
            let fault = of(&config(MINE, "", &[more]).unwrap(), &env)
                .map(drop)
                .unwrap_err();
            assert!(
                fault.kind == kind && fault.message.contains(part),
                "{fault:?}"
            );
            assert!(!format!("{fault:?}").contains("hunter2"), "{fault:?}");
        }
    }
}
