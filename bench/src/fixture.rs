//! Fixtures of all measurements: projects with records, and the bare cost of a synced write.

use crate::Outcome;
use heirloom_engine::{Engine, NewRecord, ReembedMode};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{Clock, Kind, ProjectName, Role, Scope, Settings, SystemClock};
use heirloom_store::SqliteStore;
use heirloom_transformer::SentenceEmbedder;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Creates an engine with a new store in `root/.heirloom`, as `heirloom init` does.
pub(crate) fn engine(root: &Path) -> Outcome<Engine> {
    let folder = root.join(".heirloom");
    heirloom_fs::durable::create_dir_private(&folder)?;
    let config = b"[project]\nname = \"bench\"\n\n[memory]\nenabled = true\n";
    heirloom_fs::durable::write_atomic(&folder.join("config.toml"), config)?;
    let store = SqliteStore::create(&folder.join("heirloom.db"))?;
    project(Arc::new(store), root, "bench")
}

/// Opens the engine of a project whose store exists.
pub(crate) fn reopen(root: &Path) -> Outcome<Engine> {
    let store = SqliteStore::open(&root.join(".heirloom/heirloom.db"))?;
    project(Arc::new(store), root, "bench")
}

/// Creates an engine for one of the projects in a store.
pub(crate) fn project(store: Arc<SqliteStore>, root: &Path, name: &str) -> Outcome<Engine> {
    project_at(
        store,
        root,
        name,
        Settings::default(),
        Arc::new(SystemClock),
    )
}

/// Creates an engine for one of the projects in a store, with settings and a clock.
pub(crate) fn project_at(
    store: Arc<SqliteStore>,
    root: &Path,
    name: &str,
    settings: Settings,
    clock: Arc<dyn Clock>,
) -> Outcome<Engine> {
    let folder = root.join(".heirloom");
    let place = ProjectPaths {
        root: root.to_owned(),
        config: folder.join("config.toml"),
        folder,
    };
    let engine = Engine::new(store, ProjectName::new(name)?, place, settings, clock);
    engine.map_err(|fault| fault.to_string().into())
}

/// Returns an engine over the same store with the sentence transformer, after it has embedded all texts.
pub(crate) fn with_sentences(engine: &Engine) -> Outcome<Engine> {
    let model =
        SentenceEmbedder::new().ok_or("this processor has no instructions for the transformer")?;
    let engine = engine.shared().with_sentence_model(Arc::new(model));
    (engine.maintenance()).reembed(ReembedMode::Incremental, &mut |_, _| {})?;
    Ok(engine)
}

/// Returns the end of a metric's id for a number of records: `10k`, `1m`.
pub(crate) fn size_suffix(records: usize) -> String {
    match records {
        0..1_000 => records.to_string(),
        1_000..1_000_000 => format!("{}k", records / 1_000),
        _ => format!("{}m", records / 1_000_000),
    }
}

/// Returns a text of about 120 characters, different for each number.
pub(crate) fn text(number: usize) -> String {
    let subjects = [
        "the parser",
        "the cache",
        "the login form",
        "the migration",
        "the retry loop",
        "the worker pool",
    ];
    let verbs = [
        "rejects",
        "doubles",
        "forgets",
        "reorders",
        "truncates",
        "normalises",
    ];
    let subject = subjects[number % subjects.len()];
    let verb = verbs[number / subjects.len() % verbs.len()];
    format!(
        "{subject} {verb} entry {number} of module {} when the input has more than {} lines, see src/part_{}.rs",
        number % 97,
        number % 1009,
        number % 389
    )
}

/// Returns the `number`th record of a simulated run: of several kinds, in 50 tasks.
pub(crate) fn record(number: usize, text: String) -> NewRecord {
    let (kind, category) = match number % 20 {
        0 => (Kind::Error, None),
        1..=3 => (Kind::Step, None),
        4 => (Kind::Artifact, None),
        5..=8 => (Kind::Knowledge, Some("decision".to_owned())),
        _ => (Kind::Knowledge, None),
    };
    NewRecord {
        text,
        kind: Some(kind),
        category,
        scope: Scope::of_task(&format!("{}", number % 50)),
        ..NewRecord::default()
    }
}

/// Fills a project with `count` records.
pub(crate) fn fill(engine: &Engine, count: usize) -> Outcome<()> {
    fill_with(engine, 0, count, &mut text)
}

/// Adds the records from one number to another, with these texts.
pub(crate) fn fill_with(
    engine: &Engine,
    from: usize,
    to: usize,
    text: &mut dyn FnMut(usize) -> String,
) -> Outcome<()> {
    for start in (from..to).step_by(1_000) {
        let numbers = start..to.min(start + 1_000);
        let batch = numbers.map(|number| record(number, text(number))).collect();
        engine.records().remember_all(batch)?;
    }
    Ok(())
}

/// Adds turns to a project, in conversations of 1,000.
pub(crate) fn add_turns(
    engine: &Engine,
    count: usize,
    text: &mut dyn FnMut() -> String,
) -> Outcome<()> {
    for start in (0..count).step_by(1_000) {
        let session = engine.sessions().new_session(None, None, 1);
        engine.sessions().put_session(&session)?;
        let turns = start..count.min(start + 1_000);
        let texts: Vec<String> = turns.map(|_| text()).collect();
        let roles = [Role::User, Role::Assistant].into_iter().cycle();
        let turns: Vec<(Role, &str)> = roles.zip(texts.iter().map(String::as_str)).collect();
        engine.sessions().append_turns(&session, &turns)?;
    }
    Ok(())
}

/// Returns the times of `runs` bare writes of 4 KB with a sync each, to a file in `folder`.
pub(crate) fn bare_syncs(folder: &Path, runs: usize) -> Outcome<Vec<Duration>> {
    let mut file = File::options()
        .create(true)
        .write(true)
        .truncate(true)
        .open(folder.join("probe"))?;
    file.write_all(&vec![0; 4 << 20])?;
    file.sync_all()?;
    let mut times = Vec::with_capacity(runs);
    for run in 0..runs {
        let start = Instant::now();
        file.seek(SeekFrom::Start((run as u64 % 1_000) * 4_096))?;
        file.write_all(&[run as u8; 4_096])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(times)
}
