//! Memory embedded in a program: a record is durable when `remember` returns, and a later start finds it.
//!
//! `cargo run -p heirloom-engine --example remember_and_recall FOLDER`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use heirloom_engine::{ContextRequest, Engine, NewRecord, RecallRequest};
use heirloom_fs::project_fs::{CONFIG_FILE, ProjectPaths};
use heirloom_model::{ProjectName, Settings, SystemClock};
use heirloom_store::SqliteStore;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let store = SqliteStore::create(&root.join("memory.db"))?;
    let place = ProjectPaths {
        config: root.join(CONFIG_FILE),
        folder: root.clone(),
        root,
    };
    let settings = Settings {
        enabled: true,
        ..Settings::default()
    };
    let project = ProjectName::new("shop")?;
    let engine = Engine::new(
        Arc::new(store),
        project,
        place,
        settings,
        Arc::new(SystemClock),
    );
    let engine = engine.map_err(|fault| fault.message)?;

    let new = NewRecord {
        text: "The staging database is read-only on Fridays".to_owned(),
        source: Some("my-agent".to_owned()),
        ..NewRecord::default()
    };
    engine
        .records()
        .remember(new)
        .map_err(|fault| fault.message)?;

    let question = RecallRequest {
        question: "when can I write to staging?".to_owned(),
        ..RecallRequest::default()
    };
    let found = engine
        .recall()
        .search(&question)
        .map_err(|fault| fault.message)?;
    for hit in found.hits {
        println!("{:.2}  {}", hit.breakdown.total, hit.item.text());
    }
    let context = engine.contexts().build(&ContextRequest::default());
    println!("\n{}", context.map_err(|fault| fault.message)?.text);
    Ok(())
}
