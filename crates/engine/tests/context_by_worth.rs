//! Contexts by worth through the engine: reaching the prompt, budgets, receipts, standing text.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test writes files directly, and a helper of a test may fail it"
)]

use heirloom_engine::{ContextRequest, Engine, NewEpisode, NewRecord, NewTurn};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::context::{Context, InclusionReason, ReceiptItem};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::limits::CONTEXT_NEWEST;
use heirloom_model::settings::ContextSelection;
use heirloom_model::{Budget, FixedClock, ProjectName, Role, Scope, Settings, text};
use heirloom_store::SqliteStore;
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn engine_with(root: &Path, settings: Settings) -> Engine {
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root: root.to_owned(),
    };
    Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        settings,
        Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap())),
    )
    .unwrap()
}

fn engine(root: &Path) -> Engine {
    engine_with(root, Settings::default())
}

fn remember(engine: &Engine, text: &str, category: &str) {
    let mut new = NewRecord {
        text: text.to_owned(),
        source: Some("user".to_owned()),
        ..NewRecord::default()
    };
    new.category = Some(category.to_owned());
    engine.records().remember(new).unwrap();
}

/// Subjects that have no word in common.
const SUBJECTS: [&str; 20] = [
    "parser",
    "gateway",
    "printer",
    "calendar",
    "invoice",
    "firewall",
    "translator",
    "scheduler",
    "thumbnail",
    "ledger",
    "compass",
    "turbine",
    "reactor",
    "satellite",
    "harbour",
    "orchard",
    "glacier",
    "lantern",
    "violin",
    "kitchen",
];

fn fill(engine: &Engine, facts: usize) {
    for n in 0..facts {
        let subject = SUBJECTS[n % SUBJECTS.len()];
        let text = format!("The {subject} of unit{n} reads batch{n} from shelf{n} before step{n}.");
        remember(engine, &text, "fact");
    }
}

fn ask(engine: &Engine, query: &str, chars: usize) -> Context {
    let request = ContextRequest {
        query: Some(query.to_owned()),
        budget: Some(Budget::Chars(chars)),
        ..ContextRequest::default()
    };
    engine.contexts().build(&request).unwrap()
}

fn items(context: &Context) -> impl Iterator<Item = &ReceiptItem> {
    context.sections.iter().flat_map(|section| &section.items)
}

const QUESTION: &str = "which port does the tile server listen on?";
const ANSWER: &str = "The tile server listens on port 8791 inside the cluster.";

#[test]
fn old_relevant_fact_reaches_context_before_newer_ones() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    remember(&engine, ANSWER, "fact");
    fill(&engine, 300);
    let context = ask(&engine, QUESTION, 1_000);
    assert!(context.text.contains(ANSWER), "{}", context.text);
    let priority = Settings {
        context_selection: ContextSelection::Priority,
        ..Settings::default()
    };
    let other = tempfile::tempdir().unwrap();
    let before = engine_with(other.path(), priority);
    remember(&before, ANSWER, "fact");
    fill(&before, 300);
    assert!(!ask(&before, QUESTION, 1_000).text.contains(ANSWER));
}

/// Facts do not displace persona, SOUL.md, a learning, a failed attempt and the history.
#[test]
fn four_hundred_facts_leave_room_for_other_sources_at_6000() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let group = folder.path().join(".heirloom/groups/crew");
    let workspace = folder.path().join(".heirloom/workspace");
    fs::create_dir_all(&group).unwrap();
    fs::create_dir_all(&workspace).unwrap();
    fs::write(group.join("CLAUDE.md"), "You are a careful shipwright.\n").unwrap();
    fs::write(
        workspace.join("SOUL.md"),
        "# Soul\n\nNever push on a Friday.\n",
    )
    .unwrap();
    remember(
        &engine,
        "A rebase of the lockfile loses checksums; regenerate it instead.",
        "learning",
    );
    let mut tried = NewEpisode::new("7", EpisodeAction::Failed);
    tried.approach = Some("patch the linker script by hand".to_owned());
    tried.outcome = Some("the image did not boot".to_owned());
    tried.source = Some("codex".to_owned());
    tried.scope = Scope::of_task("7");
    engine.tasks().log_episode(tried).unwrap();
    for (role, said) in [
        (Role::User, "please mend the boot image"),
        (Role::Assistant, "the boot image is mended"),
    ] {
        let turn = NewTurn {
            machine: false,
            role,
            sender: None,
            task: None,
            agent: None,
            text: said.to_owned(),
        };
        engine.sessions().add_turn("s1", &turn).unwrap();
    }
    fill(&engine, 400);
    for query in [
        None,
        Some("how do we regenerate the lockfile after a rebase?".to_owned()),
    ] {
        let request = ContextRequest {
            task: Some("7".to_owned()),
            group: Some("crew".to_owned()),
            session: Some("s1".to_owned()),
            query,
            budget: Some(Budget::Chars(6_000)),
            ..ContextRequest::default()
        };
        let context = engine.contexts().build(&request).unwrap();
        for needle in [
            "careful shipwright",
            "Never push on a Friday",
            "regenerate it instead",
            "patch the linker script by hand",
            "the boot image is mended",
            "please mend the boot image",
        ] {
            assert!(context.text.contains(needle), "{needle}: {}", context.text);
        }
        assert!(text::chars(&context.text) <= 6_000);
    }
}

#[test]
fn larger_context_contains_smaller_one() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    remember(&engine, ANSWER, "fact");
    fill(&engine, 120);
    let lines = |context: &Context| -> Vec<String> {
        let shown = items(context).filter(|item| item.is_included());
        shown
            .filter_map(|item| item.id.map(|id| id.to_string()))
            .collect()
    };
    for query in [
        QUESTION,
        "what reads batch7 of the parser and the gateway?",
        "",
    ] {
        let mut before: Vec<String> = Vec::new();
        for chars in (0..6_000).step_by(97) {
            let context = ask(&engine, query, chars);
            assert!(text::chars(&context.text) <= chars, "{chars}");
            let now = lines(&context);
            assert!(before.iter().all(|id| now.contains(id)), "{query} {chars}");
            before = now;
        }
        assert!(!before.is_empty(), "{query}");
    }
}

#[test]
fn same_memory_and_question_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    remember(&engine, ANSWER, "fact");
    fill(&engine, 60);
    let first = ask(&engine, QUESTION, 2_000);
    let request = ContextRequest::default();
    engine
        .contexts()
        .store_receipt(&request, &first, None)
        .unwrap();
    assert_eq!(first, ask(&engine, QUESTION, 2_000));
}

#[test]
fn every_candidate_is_on_receipt_with_worth_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    remember(&engine, ANSWER, "fact");
    remember(
        &engine,
        "the tile server listens on port 8791 inside a cluster",
        "convention",
    );
    fill(&engine, 80);
    let context = ask(&engine, QUESTION, 700);
    let chars: usize = context.sections.iter().map(|section| section.chars).sum();
    assert_eq!(chars, text::chars(&context.text));
    let reasons: Vec<InclusionReason> = items(&context).map(|item| item.reason).collect();
    assert!(
        reasons.contains(&InclusionReason::BestOfSource),
        "{reasons:?}"
    );
    assert!(
        reasons.contains(&InclusionReason::BelowFloor),
        "{reasons:?}"
    );
    assert!(
        reasons
            .iter()
            .any(|one| matches!(one, InclusionReason::DuplicateOf(Some(_)))),
        "{reasons:?}"
    );
    for item in items(&context) {
        assert!(item.worth.is_some() && item.relevance.is_some(), "{item:?}");
        assert_eq!(
            item.is_included(),
            context.text.contains(&item.excerpt),
            "{item:?}"
        );
    }
    assert!(items(&context).count() > CONTEXT_NEWEST);
}

/// The newest records compete; older ones that are no hits are considered only without a question.
#[test]
fn newest_records_compete_up_to_their_limit() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    fill(&engine, CONTEXT_NEWEST + 1);
    let context = ask(&engine, "zeppelin", 10_000);
    let facts = context
        .sections
        .iter()
        .find(|one| one.name == "Key Facts")
        .unwrap();
    assert_eq!(facts.items.len(), CONTEXT_NEWEST);
    let request = ContextRequest::default();
    let all = engine.contexts().build(&request).unwrap();
    let facts = all
        .sections
        .iter()
        .find(|one| one.name == "Key Facts")
        .unwrap();
    assert_eq!(facts.items.len(), CONTEXT_NEWEST + 1);
}

#[test]
fn omissions_are_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    remember(&engine, ANSWER, "fact");
    fill(&engine, 80);
    let context = ask(&engine, QUESTION, 600);
    let lines: Vec<&str> = context
        .text
        .lines()
        .filter(|line| line.starts_with('…'))
        .collect();
    assert_eq!(lines.len(), 1, "{}", context.text);
    assert!(lines[0].contains("are not relevant") && lines[0].ends_with(": heirloom recall"));
    let all = tempfile::tempdir().unwrap();
    let small = self::engine(all.path());
    remember(&small, ANSWER, "fact");
    assert!(!ask(&small, QUESTION, 600).text.contains('…'));
}

#[test]
fn context_without_question_says_newest() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    fill(&engine, 80);
    let request = ContextRequest {
        budget: Some(Budget::Chars(700)),
        ..ContextRequest::default()
    };
    let context = engine.contexts().build(&request).unwrap();
    assert!(
        context
            .notes
            .iter()
            .any(|note| note == "newest, nothing was asked")
    );
    assert!(
        context.text.contains("(newest, nothing was asked)"),
        "{}",
        context.text
    );
    assert!(context.text.contains("unit79"), "{}", context.text);
    assert!(
        !ask(&engine, "what reads batch7?", 700)
            .text
            .contains("nothing was asked")
    );
}

#[test]
fn too_small_budget_uses_order_of_priority() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    engine
        .errors()
        .log(
            "the tile server refuses connections",
            Scope::of_task("7"),
            "codex",
        )
        .unwrap();
    remember(&engine, "Keep the tile server on port 8791", "decision");
    remember(&engine, ANSWER, "fact");
    let at = |chars: usize| {
        let request = ContextRequest {
            task: Some("7".to_owned()),
            query: Some(QUESTION.to_owned()),
            budget: Some(Budget::Chars(chars)),
            ..ContextRequest::default()
        };
        engine.contexts().build(&request).unwrap().text
    };
    let first = |needle: &str| {
        (0..2_000)
            .find(|chars| at(*chars).contains(needle))
            .unwrap()
    };
    let (task, error) = (first("### Task"), first("refuses connections"));
    let (decision, fact) = (first("Keep the tile server"), first(ANSWER));
    assert!(
        task <= error && error < decision && decision < fact,
        "{task} {error} {decision} {fact}"
    );
}

#[test]
fn selection_priority_keeps_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with(
        folder.path(),
        Settings {
            context_selection: ContextSelection::Priority,
            ..Settings::default()
        },
    );
    for n in 1..=3 {
        remember(&engine, &format!("fact number {n}"), "fact");
    }
    let context = engine.contexts().build(&ContextRequest::default()).unwrap();
    assert_eq!(
        context.text,
        "## Session Memory\n\n### Key Facts\n- fact number 3\n- fact number 2\n- fact number 1\n"
    );
    assert!(items(&context).all(|item| item.reason == InclusionReason::Included));
}

#[test]
fn standing_text_is_cut_at_end_of_least_important_file() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join(".heirloom/workspace");
    fs::create_dir_all(&workspace).unwrap();
    let rules: String = (0..10)
        .map(|n| format!("Soul rule {n} is kept.\n"))
        .collect();
    let memory: String = (0..90)
        .map(|n| format!("Memory line {n} of the file.\n"))
        .collect();
    fs::write(workspace.join("SOUL.md"), &rules).unwrap();
    fs::write(workspace.join("MEMORY.md"), &memory).unwrap();
    let engine = engine(folder.path());
    remember(&engine, ANSWER, "fact");
    let context = ask(&engine, QUESTION, 2_000);
    assert!(
        context.text.contains("Soul rule 9 is kept."),
        "{}",
        context.text
    );
    assert!(context.text.contains("Memory line 0 of the file."));
    assert!(!context.text.contains("Memory line 89 of the file."));
    assert!(context.text.contains(ANSWER));
    assert!(text::chars(&context.text) <= 2_000);
    let line = context
        .text
        .lines()
        .find(|line| line.starts_with('…'))
        .unwrap();
    assert!(
        line.contains("more lines of") && line.contains("MEMORY.md did not fit"),
        "{line}"
    );
    let note = context
        .notes
        .iter()
        .find(|note| note.contains("MEMORY.md"))
        .unwrap();
    assert!(note.contains("lines did not fit"), "{note}");
    // Without an explicit budget the standing text is added to it.
    let request = ContextRequest {
        query: Some(QUESTION.to_owned()),
        ..ContextRequest::default()
    };
    let whole = engine.contexts().build(&request).unwrap();
    assert!(whole.text.contains("Memory line 89 of the file."));
    assert!(whole.budget.fits(&whole.text));
}

#[test]
fn separate_rules_are_not_in_text() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join(".heirloom/workspace");
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("SOUL.md"), "Never push on a Friday.\n").unwrap();
    fs::write(workspace.join("MEMORY.md"), "The harbour opens at nine.\n").unwrap();
    let engine = engine(folder.path());
    let request = ContextRequest {
        separate_rules: true,
        ..ContextRequest::default()
    };
    let context = engine.contexts().build(&request).unwrap();
    assert!(
        context.rules.contains("Never push on a Friday."),
        "{context:?}"
    );
    assert!(!context.text.contains("Friday") && context.text.contains("harbour opens"));
}

/// Ten exchanges are in a context that is large enough, whatever the share of the history is; 0 tokens is no limit.
#[test]
fn ten_exchanges_are_in_context_with_unlimited_history_budget() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.history.budget_tokens = 0;
    let engine = engine_with(folder.path(), settings);
    let say = |role: Role, said: String| {
        let turn = NewTurn {
            machine: false,
            role,
            sender: None,
            task: None,
            agent: None,
            text: said,
        };
        engine.sessions().add_turn("s1", &turn).unwrap();
    };
    for n in 0..12 {
        say(
            Role::User,
            format!("request{n} {}", "about the harbour ".repeat(100)),
        );
        say(
            Role::Assistant,
            format!("answer{n} {}", "with many words ".repeat(150)),
        );
    }
    fill(&engine, 100);
    let at = |chars: usize| {
        let request = ContextRequest {
            session: Some("s1".to_owned()),
            budget: Some(Budget::Chars(chars)),
            ..ContextRequest::default()
        };
        engine.contexts().build(&request).unwrap().text
    };
    let all = at(100_000);
    for n in 2..12 {
        assert!(
            all.contains(&format!("request{n} ")) && all.contains(&format!("answer{n} ")),
            "{n}"
        );
    }
    assert!(!all.contains("request1 ") && !all.contains("answer0 "));
    // A small context has the newest ones without a gap.
    let few = at(4_000);
    let first = (0..12)
        .find(|n| few.contains(&format!("answer{n} ")))
        .unwrap();
    assert!(
        (first + 1..12).all(|n| few.contains(&format!("request{n} "))),
        "{few}"
    );
}

/// A fact of an earlier iteration of the task is in the next context, even if it shares no word with the prompt.
#[test]
fn record_of_task_itself_is_never_below_floor() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    fill(&engine, 60);
    for (task, text) in [
        ("7", "config.ini needs a section first"),
        ("8", "zebras have stripes"),
    ] {
        let new = NewRecord {
            text: text.to_owned(),
            scope: Scope::of_task(task),
            ..NewRecord::default()
        };
        engine.records().remember(new).unwrap();
    }
    fill(&engine, 90);
    let request = ContextRequest {
        task: Some("7".to_owned()),
        query: Some("please finish the login".to_owned()),
        budget: Some(Budget::Chars(2_000)),
        ..ContextRequest::default()
    };
    let text = engine.contexts().build(&request).unwrap().text;
    assert!(text.contains("config.ini needs a section first"), "{text}");
    assert!(!text.contains("zebras"), "{text}");
}

/// No question asks for a standing rule, and it holds nevertheless.
#[test]
fn standing_rule_of_person_follows_relevant_items_while_budget_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    remember(
        &engine,
        "Never push to main without a review.",
        "preference",
    );
    remember(&engine, "Indent with tabs.", "convention");
    remember(&engine, ANSWER, "fact");
    let rule = |text: &str, source: &str, task: Option<&str>| NewRecord {
        text: text.to_owned(),
        category: Some("convention".to_owned()),
        source: Some(source.to_owned()),
        scope: task.map(Scope::of_task).unwrap_or_default(),
        ..NewRecord::default()
    };
    for new in [
        rule("Zebras are drawn in grey.", "codex", None),
        rule("Giraffes are drawn in yellow.", "user", Some("8")),
    ] {
        engine.records().remember(new).unwrap();
    }
    fill(&engine, 90);
    let wide = ask(&engine, QUESTION, 2_000).text;
    for text in ["Never push to main", "Indent with tabs", ANSWER] {
        assert!(wide.contains(text), "{text}: {wide}");
    }
    for text in ["Zebras", "Giraffes", "unit5 "] {
        assert!(!wide.contains(text), "{text}: {wide}");
    }
    let narrow = ask(&engine, QUESTION, ANSWER.len() + 90).text;
    assert!(narrow.contains(ANSWER), "{narrow}");
    assert!(!narrow.contains("Never push"), "{narrow}");
}
