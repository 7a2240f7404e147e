//! Sources of a context through the engine: how many are considered.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::places::Place;
use heirloom_engine::{ContextRequest, Engine, NewRecord};
use heirloom_model::limits::CONTEXT_TEAM_MAX;
use heirloom_model::{Budget, FixedClock, ProjectName, Settings, Timestamp};
use heirloom_store::SqliteStore;
use std::path::Path;
use std::sync::Arc;

fn engine(root: &Path) -> Engine {
    let place = Place {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root: root.to_owned(),
    };
    let now: Timestamp = "2026-05-01T10:00:00Z".parse().unwrap();
    Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        Settings::default(),
        Arc::new(FixedClock(now)),
    )
    .unwrap()
}

#[test]
fn so_many_entries_of_a_team_are_considered() {
    for count in [CONTEXT_TEAM_MAX, CONTEXT_TEAM_MAX + 1] {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        for n in 0..count {
            let new = NewRecord {
                text: format!("entry {n} of the team"),
                source: Some("team".to_owned()),
                ..NewRecord::default()
            };
            engine.remember(new).unwrap();
        }
        let request = ContextRequest {
            budget: Some(Budget::Chars(1_000)),
            ..ContextRequest::default()
        };
        let context = engine.context(&request).unwrap();
        let of = |name: &str| {
            let section = context.sections.iter().find(|one| one.name == name);
            section.map_or(&[][..], |section| &section.items)
        };
        let said = of("Key Facts").iter().filter(|item| item.included());
        assert_eq!(said.count() + of("team").len(), CONTEXT_TEAM_MAX, "{count}");
    }
}
