//! Verdicts of the model on the candidates of a session: the request for them, and how they are shown.

use super::{LINE_CHARS, label_and_words};
use crate::store_access::CliSession;
use heirloom_capture::{JudgedSession, Learning, SessionLessons};
use heirloom_lessons::{ModelOpinion, ModelVerdict};
use heirloom_model::text::counted;
use heirloom_model::{ErrorKind, Fault, text};
use serde_json::{Value, json};
use std::path::Path;

/// Lets the model judge a session. `None` if nothing is new, or if the service fails: the lessons stay as they are.
pub(super) fn judge(
    learning: &Learning<'_>,
    id: &str,
    transcript: Option<&Path>,
    session: &mut CliSession,
) -> Result<Option<JudgedSession>, Fault> {
    match learning.judge_session(id, transcript) {
        Ok(judged) => {
            if judged.is_none() {
                session.out.talk("nothing new to judge");
            }
            Ok(judged)
        }
        Err(fault) if matches!(fault.kind, ErrorKind::Usage | ErrorKind::NotFound) => Err(fault),
        Err(fault) => {
            let reason = fault.message;
            (session.out).talk(&format!("heirloom: the lessons stay as they are: {reason}"));
            Ok(None)
        }
    }
}

/// Returns the counts of a judgement as JSON.
pub(super) fn judged_value(judged: &JudgedSession) -> Value {
    json!({"model": judged.model, "verdicts": judged.verdicts, "spans": judged.spans})
}

/// Returns the counts of a judgement in words.
pub(super) fn judged_line(judged: &JudgedSession) -> String {
    format!(
        "{} judged {}, and picked {} of a person",
        judged.model,
        counted(judged.verdicts, "candidate", "candidates"),
        counted(judged.spans, "further text", "further texts")
    )
}

/// Returns the verdict of the model, the candidate that it names, and if the decision does not follow it.
pub(super) fn opinion_line(opinion: &ModelOpinion, learned: &SessionLessons) -> String {
    let (verdict, other) = verdict_parts(&opinion.verdict, learned);
    let other = other.map(|words| format!(" \"{}\"", text::excerpt(&words, LINE_CHARS)));
    let note = match opinion.is_followed {
        true => "",
        false => ", not followed",
    };
    let verdict = verdict.replace('_', " ");
    format!("{verdict}{}{note}", other.unwrap_or_default())
}

/// Returns the name of a verdict and the words of the candidate that it names.
fn verdict_parts(
    verdict: &ModelVerdict,
    learned: &SessionLessons,
) -> (&'static str, Option<String>) {
    let words = |identity: &String| {
        let mut candidates = learned.lessons.iter().map(|lesson| &lesson.candidate);
        let other = candidates.find(|candidate| candidate.identity() == *identity)?;
        Some(label_and_words(other).1)
    };
    match verdict {
        ModelVerdict::Keep => ("keep", None),
        ModelVerdict::Drop => ("drop", None),
        ModelVerdict::Wrong => ("wrong", None),
        ModelVerdict::SameAs(other) => ("same_as", words(other)),
        ModelVerdict::ReplacedBy(other) => ("replaced_by", words(other)),
    }
}

/// Returns an opinion as JSON.
pub(super) fn opinion_value(opinion: &ModelOpinion, learned: &SessionLessons) -> Value {
    let (verdict, other) = verdict_parts(&opinion.verdict, learned);
    json!({"verdict": verdict, "other": other, "followed": opinion.is_followed})
}
