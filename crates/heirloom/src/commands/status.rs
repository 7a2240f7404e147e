//! `heirloom status`.

use crate::installing::Hooks;
use crate::open::Session;
use heirloom_model::Fault;
use serde_json::{Map, json};

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
    session.out.line(&format!("health      {health}"));
    for finding in &findings {
        session.out.line(&format!("            {finding}"));
    }
    session.out.line(&format!("version     {version}"));
    Ok(u8::from(!findings.is_empty()))
}
