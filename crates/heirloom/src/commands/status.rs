//! `heirloom status`.

use crate::config::Config;
use crate::installing::Hooks;
use crate::open::Session;
use crate::writer;
use heirloom_engine::Purse;
use heirloom_model::meter::{Spent, dollars};
use heirloom_model::{Fault, Timestamp};
use serde_json::{Map, Value, json};

/// Show what is remembered here, on one screen
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, session: &mut Session) -> Result<u8, Fault> {
    let found = session.find()?;
    let engine = session.engine(&found)?;
    session.take_in(&engine);
    let store = engine.describe_store()?;
    let counts = engine.counts()?;
    let last_write = engine.last_write()?.map(|time| time.to_string());
    let findings = engine.check_store()?;
    let health = if findings.is_empty() { "ok" } else { "damaged" };
    let version = env!("CARGO_PKG_VERSION");
    let hooks = Hooks::of(&session.env, &session.start()?, &found.place.folder);
    let meter = meter(&found.config, session, engine.now());
    if session.out.json {
        let counts: Map<_, _> = counts
            .iter()
            .map(|(kind, n)| (kind.to_string(), json!(n)))
            .collect();
        session.out.value(&json!({
            "project": engine.project().as_str(),
            "store": store.location,
            "schema_version": store.schema_version,
            "version": version,
            "enabled": engine.settings().enabled,
            "root": engine.root().display().to_string(),
            "counts": counts,
            "size_bytes": store.size_bytes,
            "last_write": last_write,
            "health": health,
            "findings": findings,
            "hooks": hooks.value(),
            "writer": meter.as_ref().map(Metered::json),
        }));
        return Ok(u8::from(!findings.is_empty()));
    }
    session
        .out
        .line(&format!("project     {}", engine.project()));
    session
        .out
        .line(&format!("root        {}", engine.root().display()));
    session.out.line(&format!(
        "memory      {}",
        if engine.settings().enabled {
            "on"
        } else {
            "off"
        }
    ));
    session.out.line(&format!(
        "store       {} ({} KB, schema {})",
        store.location,
        store.size_bytes / 1024,
        store.schema_version
    ));
    let kinds: Vec<_> = counts
        .iter()
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect();
    session.out.line(&format!(
        "remembers   {}",
        if kinds.is_empty() {
            "nothing yet".to_owned()
        } else {
            kinds.join(", ")
        }
    ));
    session.out.line(&format!(
        "last write  {}",
        last_write.as_deref().unwrap_or("never")
    ));
    session.out.line(&format!("hooks       {}", hooks.shown()));
    if let Some(meter) = &meter {
        session.out.line(&format!("writer      {}", meter.line()));
    }
    session.out.line(&format!("health      {health}"));
    for finding in &findings {
        session.out.line(&format!("            {finding}"));
    }
    session.out.line(&format!("version     {version}"));
    Ok(u8::from(!findings.is_empty()))
}

/// What the model that writes summaries costs.
struct Metered {
    model: String,
    purse: Purse,
    today: Spent,
    problem: Option<String>,
}

/// The meter of today; nothing where no model writes.
fn meter(config: &Config, session: &Session, now: Timestamp) -> Option<Metered> {
    let purse = writer::purse(config, &session.env).filter(|_| writer::is_on(config))?;
    let (today, problem) = match purse.meter() {
        Ok(meter) => (meter.today(now), None),
        Err(fault) => (Spent::default(), Some(fault.message)),
    };
    Some(Metered {
        model: config.text("writer.model").to_owned(),
        purse,
        today,
        problem,
    })
}

impl Metered {
    fn json(&self) -> Value {
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
        let of = |limit: u64, shown: String| match limit {
            0 => String::new(),
            _ => format!(" of {shown}"),
        };
        let tokens = of(limits.tokens, limits.tokens.to_string());
        let cost = match self.purse.price {
            None => "a price that is not known".to_owned(),
            Some(_) => {
                let most = dollars(limits.cents.saturating_mul(10_000));
                format!("{}{}", dollars(today.cost_micros), of(limits.cents, most))
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
