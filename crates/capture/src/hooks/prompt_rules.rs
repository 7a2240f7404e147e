//! Rules in a prompt, stored when it is typed: a session that is killed has no end at which its transcript is read.

use super::HookRequest;
use super::session_state::HookSessionState;
use crate::Hooks;
use crate::lessons::{LearningState, extractor_input};
use heirloom_agents::transcripts::{EventBody, TranscriptEvent};
use heirloom_engine::{Coverage, LearnedConversation, LessonBatch, TASK_MAIN};
use heirloom_lessons::{LessonExtractor, SourceKind, Verdict};
use heirloom_model::Fault;

/// Stores the rules that a prompt sets by ithooks. What it means after the turns before it is read at the end of the
/// turn, which also retires a rule that the conversation does not support.
pub(super) fn record_prompt_rules(
    hooks: &Hooks<'_>,
    request: &HookRequest<'_>,
) -> Result<(), Fault> {
    let Some(prompt) = request.prompt_of_person() else {
        return Ok(());
    };
    if !hooks.engine.settings().learns {
        return Ok(());
    }
    let now = hooks.engine.now();
    let event = TranscriptEvent {
        id: String::new(),
        at: Some(now),
        agent: None,
        author: request.prompt_author(),
        body: EventBody::Prompt(prompt.into_owned()),
    };
    let Some(event) = extractor_input(hooks.engine, request.host, &event) else {
        return Ok(());
    };
    let folder = hooks.engine.root().to_string_lossy();
    let mut extractor = LessonExtractor::default().with_project_folder(&folder);
    extractor.push(&event);
    let mut lessons = extractor.lessons();
    lessons.retain(|lesson| {
        lesson.candidate.source == SourceKind::PersonRule && lesson.verdict == Verdict::Kept
    });
    if lessons.is_empty() {
        return Ok(());
    }
    let id = request.event.session.as_deref();
    // The end of a turn writes the same session.
    let (_, _lock) = HookSessionState::load(hooks.engine.folder(), request.host, id);
    let Some((mut session, _)) = hooks.session_of_event(request)? else {
        return Ok(());
    };
    let mut state = LearningState::of_session(&session);
    let conversation = LearnedConversation {
        session: &session.id,
        source: request.host.as_str(),
        task: session.task.as_deref().unwrap_or(TASK_MAIN),
        began_at: session.started_at,
        ended_at: now,
        coverage: Coverage::StoredTurns,
    };
    let service = hooks.engine.sessions().lessons();
    let batch = LessonBatch::OfSession;
    service.reconcile(&conversation, &lessons, &mut state.ledger, &batch)?;
    state.put(&mut session.attrs);
    hooks.engine.sessions().put_session(&session)
}
