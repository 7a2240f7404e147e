//! `heirloom status`.

use crate::config::Config;
use crate::embedder;
use crate::hook_installation::HookStatus;
use crate::language_model_setup;
use crate::store_access::{CliSession, project_identity};
use heirloom_engine::{Engine, IdentityState, SentenceCoverage, SpendLedger, count_inbox_files};
use heirloom_model::spend_meter::{DailySpend, format_dollars};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, Timestamp};
use serde_json::{Map, Value, json};

/// Columns of the labels.
const LABEL_WIDTH: usize = 12;

/// Show a summary of this memory, on one screen
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let found = session.find_project()?;
    let engine = session.engine(&found)?;
    session.ingest_pending(&engine);
    let store = engine.maintenance().describe_store()?;
    let counts = engine.records().counts()?;
    let last_write = engine.records().last_write()?.map(|time| time.to_string());
    let findings = engine.maintenance().check_store()?;
    let health = if findings.is_empty() { "ok" } else { "damaged" };
    let version = env!("CARGO_PKG_VERSION");
    let hooks = HookStatus::load(&session.env, &session.start_folder()?, &found.place.folder);
    let state = session.identity_state(&found.place);
    let vectors = SentenceVectors::load(&engine, &found.config)?;
    let waiting = count_inbox_files(engine.folder())?;
    let meter = writer_usage(&found.config, session, engine.now());
    if session.out.json {
        let counts: Map<_, _> = counts
            .iter()
            .map(|(kind, n)| (kind.to_string(), json!(n)))
            .collect();
        session.out.value(&json!({
            "project": engine.project().as_str(),
            "name": engine.display_name(),
            "copy_of": state.copied_from,
            "others": other_projects(&state),
            "store": store.location,
            "schema_version": store.schema_version,
            "version": version,
            "enabled": engine.settings().enabled,
            "root": engine.root().to_string_lossy().into_owned(),
            "counts": counts,
            "size_bytes": store.size_bytes,
            "last_write": last_write,
            "health": health,
            "findings": findings,
            "hooks": hooks.value(),
            "inbox_waiting": waiting,
            "sentence_vectors": vectors.to_json(),
            "writer": meter.as_ref().map(WriterUsage::to_json),
        }));
        return Ok(u8::from(!findings.is_empty()));
    }
    let mut row = |label: &str, value: &str| {
        let label = format!("{label:LABEL_WIDTH$}");
        session.out.labelled_line(&label, LABEL_WIDTH, value);
    };
    row("project", &engine.display_name());
    if let Some(from) = &state.copied_from {
        row(
            "",
            &format!("a copy of {from}: {}", project_identity::DECIDES),
        );
    }
    for offer in project_identity::offers(&state) {
        row("", &offer);
    }
    row("root", &engine.root().to_escaped());
    let is_on = engine.settings().enabled;
    row("memory", if is_on { "on" } else { "off" });
    let (kilobytes, schema) = (store.size_bytes / 1024, store.schema_version);
    let location = &store.location;
    row(
        "store",
        &format!("{location} ({kilobytes} KB, schema {schema})"),
    );
    let kinds = counts.iter().map(|(kind, n)| format!("{n} {kind}"));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    row(
        "remembers",
        if kinds.is_empty() {
            "nothing yet"
        } else {
            &kinds
        },
    );
    row("last write", last_write.as_deref().unwrap_or("never"));
    row("hooks", &hooks.summary());
    if waiting > 0 {
        row(
            "inbox",
            &format!("{waiting} files wait: `heirloom watch` takes them in"),
        );
    }
    row("sentences", &vectors.line());
    if let Some(meter) = &meter {
        row("writer", &meter.line());
    }
    row("health", health);
    for finding in &findings {
        row("", finding);
    }
    row("version", version);
    Ok(u8::from(!findings.is_empty()))
}

/// State of the sentence transformer.
enum SentenceVectors {
    /// The settings switch it off, or name an external embedder.
    Off,
    /// The processor has no instructions that make it fast.
    Unsupported,
    /// It is used; some texts may wait for a vector.
    On(SentenceCoverage),
}

impl SentenceVectors {
    fn load(engine: &Engine, config: &Config) -> Result<Self, Fault> {
        Ok(match engine.maintenance().sentence_coverage()? {
            Some(coverage) => Self::On(coverage),
            None if embedder::wants_sentence_model(config) => Self::Unsupported,
            None => Self::Off,
        })
    }

    fn line(&self) -> String {
        match self {
            Self::Off => "off".to_owned(),
            Self::Unsupported => {
                "off: this processor has neither AVX2 nor NEON; words and the built-in vectors rank"
                    .to_owned()
            }
            Self::On(SentenceCoverage { texts: 0, .. }) => "on".to_owned(),
            Self::On(SentenceCoverage { texts, missing: 0 }) => {
                format!("on, all {texts} texts have a vector")
            }
            Self::On(SentenceCoverage { texts, missing }) => format!(
                "on, {missing} of {texts} texts wait for a vector: `heirloom reembed` computes them"
            ),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Off | Self::Unsupported => Value::Null,
            Self::On(SentenceCoverage { texts, missing }) => {
                json!({"texts": texts, "missing": missing})
            }
        }
    }
}

fn other_projects(state: &IdentityState) -> Value {
    let others = state.others.iter();
    let others = others.map(|one| json!({"project": one.name.as_str(), "records": one.records}));
    others.collect()
}

/// Usage of the model that writes summaries.
struct WriterUsage {
    model: String,
    purse: SpendLedger,
    today: DailySpend,
    problem: Option<String>,
}

/// Returns today's usage; `None` if no model is configured.
fn writer_usage(config: &Config, session: &CliSession, now: Timestamp) -> Option<WriterUsage> {
    let purse = language_model_setup::spend_ledger(config, &session.env)
        .filter(|_| language_model_setup::is_on(config))?;
    let (today, problem) = match purse.meter() {
        Ok(meter) => (meter.spend_on_day(now), None),
        Err(fault) => (DailySpend::default(), Some(fault.message)),
    };
    Some(WriterUsage {
        model: config.text("writer.model").to_owned(),
        purse,
        today,
        problem,
    })
}

impl WriterUsage {
    fn to_json(&self) -> Value {
        let (today, limits) = (&self.today, self.purse.limits);
        json!({
            "model": self.model,
            "day": today.day.map(|day| day.to_string()),
            "calls": today.calls,
            "failures": today.failures,
            "input_tokens": today.input_tokens,
            "cached_tokens": today.cached_tokens,
            "output_tokens": today.output_tokens,
            "cost_micros": self.purse.price.map(|_| today.cost_micros),
            "daily_tokens": limits.tokens,
            "daily_cents": limits.cents,
            "problem": self.problem,
        })
    }

    fn line(&self) -> String {
        if let Some(problem) = &self.problem {
            return format!("{}: {problem}", self.model);
        }
        let (today, limits) = (&self.today, self.purse.limits);
        let of = |limit: u64, maximum: String| match limit {
            0 => String::new(),
            _ => format!(" of {maximum}"),
        };
        let tokens = of(limits.tokens, limits.tokens.to_string());
        let cost = match self.purse.price {
            None => "unknown cost".to_owned(),
            Some(_) => {
                let most = format_dollars(limits.cents.saturating_mul(10_000));
                format!(
                    "{}{}",
                    format_dollars(today.cost_micros),
                    of(limits.cents, most)
                )
            }
        };
        let (calls, failures) = (today.calls, today.failures);
        let used = today.tokens();
        format!(
            "{}: {calls} summaries and {failures} failures today, {used}{tokens} tokens, {cost}",
            self.model
        )
    }
}
