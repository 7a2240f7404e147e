//! Tests of context sources through the engine: their limits.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::{ContextRequest, Engine, NewRecord};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::limits::CONTEXT_TEAM_MAX;
use heirloom_model::settings::ContextSelection;
use heirloom_model::{Budget, FixedClock, ProjectName, Settings, Timestamp};
use heirloom_store::SqliteStore;
use std::path::Path;
use std::sync::Arc;

fn engine(root: &Path) -> Engine {
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root: root.to_owned(),
    };
    let now: Timestamp = "2026-05-01T10:00:00Z".parse().unwrap();
    Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        Settings {
            context_selection: ContextSelection::Priority,
            ..Settings::default()
        },
        Arc::new(FixedClock(now)),
    )
    .unwrap()
}

#[test]
fn context_team_entry_limit() {
    for count in [CONTEXT_TEAM_MAX, CONTEXT_TEAM_MAX + 1] {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        for n in 0..count {
            let new = NewRecord {
                text: format!("entry {n} of the team"),
                source: Some("team".to_owned()),
                ..NewRecord::default()
            };
            engine.records().remember(new).unwrap();
        }
        let request = ContextRequest {
            budget: Some(Budget::Chars(1_000)),
            ..ContextRequest::default()
        };
        let context = engine.contexts().build(&request).unwrap();
        let of = |name: &str| {
            let section = context.sections.iter().find(|one| one.name == name);
            section.map_or(&[][..], |section| &section.items)
        };
        let output = of("Key Facts").iter().filter(|item| item.is_included());
        assert_eq!(
            output.count() + of("team").len(),
            CONTEXT_TEAM_MAX,
            "{count}"
        );
    }
}
