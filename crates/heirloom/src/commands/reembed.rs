//! `heirloom reembed`.

use crate::embedder;
use crate::open::Session;
use heirloom_engine::{Embedded, Engine, Keep};
use heirloom_model::Fault;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::time::{Duration, Instant};

/// Make the vectors of the configured embedder for what is remembered and has none of it
///
/// Goes on where it was stopped; each batch is kept by itself. Without a configured embedder it removes the vectors
/// of others: the built-in ones are always there.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Make all of them anew
    #[arg(long)]
    anew: bool,
}

/// How often a progress line is printed where no bar can be shown.
const LINE_EVERY: Duration = Duration::from_secs(5);

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let found = session.find()?;
    let engine = session.engine(&found)?;
    let engine = match embedder::of(&found.config, &session.env)? {
        Some(embedder) => engine.with_embedder(embedder),
        None => engine,
    };
    let keep = if args.anew {
        Keep::Nothing
    } else {
        Keep::Known
    };
    let done = if session.out.shows_progress() {
        with_bar(&engine, keep)
    } else {
        with_lines(&engine, keep, session)
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
        let gone = format!("removed {vectors} vectors of {model}");
        session.out.line(&gone);
    }
    session.out.line(&format!(
        "{} vectors made; {} of {} texts have one of {}",
        done.embedded,
        done.texts - done.missing,
        done.texts,
        done.model
    ));
    Ok(0)
}

fn with_bar(engine: &Engine, keep: Keep) -> Result<Embedded, Fault> {
    let bar = ProgressBar::new(0);
    // The template is ours; a bar without it is still a bar.
    if let Ok(style) = ProgressStyle::with_template("embedding {bar:30} {pos}/{len}, {eta} left") {
        bar.set_style(style);
    }
    let done = engine.reembed(keep, &mut |done, texts| {
        bar.set_length(texts);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    done
}

fn with_lines(engine: &Engine, keep: Keep, session: &mut Session) -> Result<Embedded, Fault> {
    let mut last: Option<Instant> = None;
    engine.reembed(keep, &mut |done, texts| {
        if last.is_none_or(|last| last.elapsed() >= LINE_EVERY) {
            last = Some(Instant::now());
            session
                .out
                .talk(&format!("embedding: {done} of {texts} texts"));
        }
    })
}

/// Embeds what a command has just written, within bounds. It is written whatever comes of this: a failure is told.
pub(crate) fn catch_up(engine: &Engine, session: &mut Session) {
    match engine.catch_up() {
        Ok(None) => {}
        Ok(Some(done)) if done.missing == 0 => {}
        Ok(Some(done)) => session.out.talk(&format!(
            "heirloom: {} texts have no vector of `{}` yet: `heirloom reembed` makes them",
            done.missing, done.model
        )),
        Err(fault) => session.out.talk(&format!(
            "heirloom: not all is embedded: {}; `heirloom reembed` goes on",
            fault.message
        )),
    }
}
