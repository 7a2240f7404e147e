//! Creation of the configured language model, and its spending limits.

use crate::config::{Config, Environment};
use crate::embedder;
use heirloom_engine::{SpendLedger, Summariser};
use heirloom_model::spend_meter::{DailyLimits, Price, PriceRow};
use heirloom_model::{Fault, Writer};
use heirloom_services::language_model::{Protocol, WriterClient, WriterClientConfig};

/// File name of the spend ledger in the user's data folder: one budget for all projects.
const LEDGER_FILE: &str = "writer.json";

/// Creates the configured writer with its spend ledger; `None` if summaries are made without a model. Makes no
/// request yet.
///
/// Errors: as for [`from_config`]; `Failed` if there is no data folder for the spend ledger.
pub(crate) fn summariser(config: &Config, env: &Environment) -> Result<Option<Summariser>, Fault> {
    let Some(writer) = from_config(config, env)? else {
        return Ok(None);
    };
    let spend_ledger = spend_ledger(config, env).ok_or_else(|| {
        Fault::failed("there is no folder for the spend ledger").hint("set HOME or XDG_DATA_HOME")
    })?;
    Ok(Some(Summariser {
        writer,
        ledger: spend_ledger,
        max_output_tokens: max_output_tokens(config),
    }))
}

/// Returns today's spend ledger; `None` without a data folder.
pub(crate) fn spend_ledger(config: &Config, env: &Environment) -> Option<SpendLedger> {
    Some(SpendLedger {
        file: env.data_dir()?.join(LEDGER_FILE),
        limits: daily_limits(config),
        price: price(config),
    })
}

/// Returns true if a model is configured to write summaries.
pub(crate) fn is_on(config: &Config) -> bool {
    config.text("writer.kind") != "none"
}

/// Creates the configured writer; `None` if summaries are made without a model. Makes no request yet.
///
/// Errors: `Usage` for settings that do not fit together, `NotFound` for a missing variable.
fn from_config(config: &Config, env: &Environment) -> Result<Option<Box<dyn Writer>>, Fault> {
    let protocol = match config.text("writer.kind") {
        "anthropic" => Protocol::Anthropic,
        "openai" => Protocol::OpenAi,
        _ => return Ok(None),
    };
    let service = WriterClient::new(WriterClientConfig {
        protocol,
        url: config.text("writer.url").to_owned(),
        model: config.text("writer.model").to_owned(),
        key: embedder::read_key("writer", config, env)?,
        timeout_ms: config.int("writer.timeout_s") * 1_000,
    })?;
    let service = service.with_temperature(config.number("writer.temperature"));
    Ok(Some(Box::new(service)))
}

/// Returns the maximum number of tokens of a summary.
fn max_output_tokens(config: &Config) -> u64 {
    config.int("writer.max_output_tokens")
}

/// Returns the spending limits of a day.
fn daily_limits(config: &Config) -> DailyLimits {
    DailyLimits {
        tokens: config.int("writer.daily_tokens"),
        cents: config.int("writer.daily_cents"),
    }
}

/// Returns the price of the configured model; `None` if it is unknown, and then cost is not counted.
fn price(config: &Config) -> Option<Price> {
    let rows = config.texts("writer.prices");
    let rows = rows.iter().filter_map(|row| PriceRow::parse(row).ok());
    let model = config.text("writer.model");
    let mut rows = rows.filter(|row| row.matches_model(model));
    rows.next().map(|row| row.price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{KEYS, Layer, Origin};
    use heirloom_model::{ErrorKind, limits};

    const USER_CONFIG: &str =
        "[writer]\nkind = \"anthropic\"\nmodel = \"claude-haiku-4-5-20251001\"\n";

    fn config(user: &str, project: &str, flags: &[&str]) -> Result<Config, Fault> {
        let layers = [(Layer::User, user), (Layer::Project, project)];
        let texts = layers.map(|(layer, text)| {
            let place = layer.as_str().to_owned();
            (Origin { layer, place }, text.to_owned())
        });
        let flags: Vec<_> = flags.iter().map(ToString::to_string).collect();
        Config::from_texts(&texts, &Environment::default(), &flags)
    }

    #[test]
    fn from_config_default_has_no_writer() {
        let config = Config::defaults().unwrap();
        assert!(
            from_config(&config, &Environment::default())
                .unwrap()
                .is_none()
        );
        assert!(max_output_tokens(&config) > 0);
        let limits = daily_limits(&config);
        assert!(limits.tokens > 0 && limits.cents > 0, "{limits:?}");
        assert_eq!(price(&config), None);
    }

    #[test]
    fn project_file_cannot_enable_writer() {
        let env = Environment::default();
        let keys: Vec<_> = KEYS
            .iter()
            .filter(|key| key.name.starts_with("writer."))
            .collect();
        assert_eq!(keys.len(), 11);
        for key in keys {
            assert!(key.trusted_only.is_some(), "{}", key.name);
        }
        let project_only = config("", USER_CONFIG, &[]).unwrap();
        assert!(from_config(&project_only, &env).unwrap().is_none());
        assert_eq!(
            project_only.warnings.len(),
            2,
            "{:?}",
            project_only.warnings
        );
        let user_only = config(
            USER_CONFIG,
            "[writer]\nmodel = \"other\"\nurl = \"https://x\"\ndaily_cents = 0",
            &[],
        );
        let user_only = user_only.unwrap();
        let writer = from_config(&user_only, &env).unwrap().unwrap();
        assert_eq!(writer.model(), "claude-haiku-4-5-20251001");
        assert_eq!(
            (user_only.text("writer.url"), daily_limits(&user_only).cents),
            ("", 100)
        );
        let flags = [
            "writer.kind=openai",
            "writer.model=m",
            "writer.url=http://localhost:1/v1",
        ];
        let from_flags = config("", "", &flags).unwrap();
        assert_eq!(
            from_config(&from_flags, &env).unwrap().unwrap().model(),
            "m"
        );
    }

    #[test]
    fn price_is_found_by_model_name() {
        let found = price(&config(USER_CONFIG, "", &[]).unwrap()).unwrap();
        assert_eq!(
            (found.input_micros, found.output_micros),
            (1_000_000, 5_000_000)
        );
        let other = config(USER_CONFIG, "", &["writer.prices=[\"gpt-x 1 2 3\"]"]).unwrap();
        assert_eq!(price(&other), None);
    }

    #[test]
    fn invalid_settings_are_reported() {
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
            let result = config("", "", &[&format!("writer.{key}={bad}")]);
            assert_eq!(
                result.map(drop).unwrap_err().kind,
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
                "not the name of a variable",
            ),
            (
                "writer.key_variable=NOBODY_SETS_THIS_ONE",
                ErrorKind::NotFound,
                "NOBODY_SETS_THIS_ONE",
            ),
            ("writer.url=ftp://x", ErrorKind::Usage, "`writer.url`"),
            ("writer.model=", ErrorKind::Usage, "no model"),
        ] {
            let fault = from_config(&config(USER_CONFIG, "", &[more]).unwrap(), &env)
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
