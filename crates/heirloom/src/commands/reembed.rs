//! `heirloom reembed`.

use crate::embedder;
use crate::store_access::CliSession;
use heirloom_engine::{Engine, ReembedMode, ReembedReport};
use heirloom_model::Fault;
use heirloom_model::text::counted;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::time::{Duration, Instant};

/// Compute the missing vectors of the sentence transformer or of the configured embedder
///
/// Continues where it was stopped; each batch is stored separately. With `recall.transformer = false` and without a
/// configured embedder it removes the vectors of both: those of the built-in table always exist.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Recompute all vectors
    #[arg(long)]
    anew: bool,
}

/// Interval of progress lines if no bar can be shown.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Added to the nice value, so that agents and their recalls come first. Not the lowest priority, because a process that
/// holds the write lock must be scheduled.
const NICENESS: i32 = 10;

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    // A refusal is ignored: at the usual priority the vectors are the same.
    crate::platform::lower_priority(NICENESS);
    let found = session.find_project()?;
    let engine = session.engine(&found)?;
    let engine = match embedder::from_config(&found.config, &session.env)? {
        Some(embedder) => engine.with_embedder(embedder),
        None => engine,
    };
    let keep = if args.anew {
        ReembedMode::FromScratch
    } else {
        ReembedMode::Incremental
    };
    let done = if session.out.shows_progress() {
        reembed_with_bar(&engine, keep)
    } else {
        reembed_with_lines(&engine, keep, session)
    }?;
    if session.out.json {
        session.out.value(&json!({
            "model": done.model,
            "texts": done.texts,
            "embedded": done.embedded,
            "missing": done.missing,
            "replaced": done.replaced.map(|(model, vectors)| json!({"model": model, "vectors": vectors})),
        }));
        return Ok(0);
    }
    if let Some((model, vectors)) = &done.replaced {
        let removed = format!(
            "removed {} of {model}",
            counted(*vectors, "vector", "vectors")
        );
        session.out.line(&removed);
    }
    session.out.line(&format!(
        "{} vectors computed; {} of {} texts have one of {}",
        done.embedded,
        done.texts - done.missing,
        done.texts,
        done.model
    ));
    Ok(0)
}

fn reembed_with_bar(engine: &Engine, keep: ReembedMode) -> Result<ReembedReport, Fault> {
    let bar = ProgressBar::new(0);
    // The template is a constant; if it were invalid, the default style would be used.
    if let Ok(style) = ProgressStyle::with_template("embedding {bar:30} {pos}/{len}, {eta} left") {
        bar.set_style(style);
    }
    let done = engine.maintenance().reembed(keep, &mut |done, texts| {
        bar.set_length(texts);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    done
}

fn reembed_with_lines(
    engine: &Engine,
    keep: ReembedMode,
    session: &mut CliSession,
) -> Result<ReembedReport, Fault> {
    let mut last: Option<Instant> = None;
    engine.maintenance().reembed(keep, &mut |done, texts| {
        if last.is_none_or(|last| last.elapsed() >= LINE_INTERVAL) {
            last = Some(Instant::now());
            session
                .out
                .talk(&format!("embedding: {done} of {texts} texts"));
        }
    })
}

/// Embeds what a command has just written, within limits. A failure is only reported: the records are already stored.
pub(crate) fn embed_pending(engine: &Engine, session: &mut CliSession) {
    match engine.maintenance().embed_backlog() {
        Ok(None) => {}
        Ok(Some(done)) if done.missing == 0 => {}
        Ok(Some(done)) => session.out.talk(&format!(
            "heirloom: {} texts have no vector of `{}` yet: `heirloom reembed` computes them",
            done.missing, done.model
        )),
        Err(fault) => session.out.talk(&format!(
            "heirloom: not everything is embedded: {}; `heirloom reembed` continues",
            fault.message
        )),
    }
}
