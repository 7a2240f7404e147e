//! Sources in addition to 400 facts: which of them are in a context of 6,000 characters.

use crate::{Outcome, fixture, results};
use heirloom_engine::{ContextRequest, Engine, NewEpisode, NewRecord, NewTurn};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Budget, Role};
use std::path::Path;

/// Number of facts.
const FACTS: usize = 400;
/// Size of the context in characters.
const CHARS: usize = 6_000;
/// Query of the context.
const QUERY: &str = "how do we regenerate the lockfile after a rebase?";
/// Sources and a text of each.
const SOURCES: [(&str, &str); 5] = [
    ("persona", "You are a careful shipwright."),
    ("SOUL.md", "Never push on a Friday."),
    (
        "learning",
        "A rebase of the lockfile loses checksums; regenerate it instead.",
    ),
    ("failed try", "patch the linker script by hand"),
    ("history", "the boot image is mended"),
];

pub(super) fn measure() -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    fill(&engine, root.path())?;
    let mut rows = Vec::new();
    let mut missing = 0;
    for (name, query) in [("with a query", Some(QUERY)), ("without a query", None)] {
        let context = engine.contexts().build(&ContextRequest {
            task: Some("7".to_owned()),
            group: Some("crew".to_owned()),
            session: Some("s1".to_owned()),
            query: query.map(str::to_owned),
            budget: Some(Budget::Chars(CHARS)),
            ..ContextRequest::default()
        })?;
        let mut row = vec![name.to_owned()];
        for (_, text) in SOURCES {
            let is_in = context.text.contains(text);
            missing += u32::from(!is_in);
            row.push(if is_in { "yes" } else { "no" }.to_owned());
        }
        rows.push(row);
    }
    let title = "context of 6,000 characters, 400 facts";
    let names = SOURCES.iter().map(|(name, _)| *name);
    let columns: Vec<&str> = std::iter::once(title).chain(names).collect();
    results::table("context-facts", &columns, &rows);
    let name = "sources that 400 facts push out of 6,000 characters";
    results::value("context.facts_missing", name, "of 10", f64::from(missing));
    Ok(())
}

fn fill(engine: &Engine, root: &Path) -> Outcome<()> {
    let [persona, soul, learning, tried, history] = SOURCES.map(|(_, text)| text);
    let write = |folder: &str, file: &str, text: &str| -> Outcome<()> {
        let folder = root.join(".heirloom").join(folder);
        heirloom_fs::durable::create_dir_private(&folder)?;
        heirloom_fs::durable::write_atomic(&folder.join(file), format!("{text}\n").as_bytes())?;
        Ok(())
    };
    write("groups/crew", "CLAUDE.md", persona)?;
    write("workspace", "SOUL.md", soul)?;
    engine.records().remember(NewRecord {
        text: learning.to_owned(),
        category: Some("learning".to_owned()),
        ..NewRecord::default()
    })?;
    let mut episode = NewEpisode::new("7", EpisodeAction::Failed);
    episode.approach = Some(tried.to_owned());
    episode.outcome = Some("the image did not boot".to_owned());
    engine.tasks().log_episode(episode)?;
    for (role, said) in [
        (Role::User, "please mend the boot image"),
        (Role::Assistant, history),
    ] {
        let turn = NewTurn {
            machine: false,
            role,
            sender: None,
            task: None,
            agent: None,
            text: said.to_owned(),
        };
        engine.sessions().add_turn("s1", &turn)?;
    }
    let fact = |number: usize| NewRecord {
        text: fixture::text(number),
        ..NewRecord::default()
    };
    engine
        .records()
        .remember_all((0..FACTS).map(fact).collect())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_in_a_context_that_has_room() {
        let root = tempfile::tempdir().unwrap();
        let engine = fixture::engine(root.path()).unwrap();
        fill(&engine, root.path()).unwrap();
        let request = ContextRequest {
            task: Some("7".to_owned()),
            group: Some("crew".to_owned()),
            session: Some("s1".to_owned()),
            query: Some(QUERY.to_owned()),
            budget: Some(Budget::Chars(100_000)),
            ..ContextRequest::default()
        };
        let text = engine.contexts().build(&request).unwrap().text;
        for (name, source) in SOURCES {
            assert!(text.contains(source), "{name}: {text}");
        }
    }
}
