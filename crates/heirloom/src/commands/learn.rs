//! `heirloom learn`.

mod model_verdicts;

use super::import::find_session_transcript;
use crate::store_access::CliSession;
use heirloom_capture::{LearnAllReport, LearnedChange, Learning, SessionLessons};
use heirloom_engine::{Engine, LessonEffect, LessonsReport};
use heirloom_lessons::{Candidate, DropReason, Lesson, LessonContent, Verdict};
use heirloom_model::text::counted;
use heirloom_model::{Fault, Session, text};
use indicatif::{ProgressBar, ProgressStyle};
use model_verdicts::{judge, judged_line, judged_value, opinion_line, opinion_value};
use serde::Serialize;
use serde_json::{Value, json};

/// Characters of a lesson and of a line of its source in a listing.
const LINE_CHARS: usize = 160;
/// Explanation of a run that stored only what was reverted.
const LACKS_TRANSCRIPT: &str = "the transcript that this session was learned from is not found: its lessons stay as they are, \
                                and only those that were reverted are stored again";

/// Take the lessons of a stored conversation: rules by people, errors with what resolved them, commands that work
///
/// Hooks and imports do this by themselves. Lessons are taken from the transcript of the agent program if its file is
/// found, otherwise from the stored turns, which lack the contents of edits. Lessons that were reverted with `heirloom undo` are stored again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    session: Option<String>,
    /// Read every stored conversation again, as one batch: lessons that a conversation does not support any more are
    /// retired. Each change is listed
    #[arg(long)]
    all: bool,
    /// Only show the lessons, without storing them
    #[arg(long)]
    dry_run: bool,
    /// Also show the candidates that are no lessons, with the reason (limit, share of the source, low worth, duplicate),
    /// and for each its worth, the lines from which it was taken and the verdict of a model
    #[arg(long, conflicts_with = "all")]
    explain: bool,
    /// Let the model of `[writer]` judge the candidates: keep, drop, wrong, the same as or replaced by another one; it may
    /// add sentences of a person, word for word. Within the daily limits, and only if there is something new to judge.
    /// Words of people are never dropped. With `writer.lessons` this happens after each session
    #[arg(long, conflicts_with_all = ["all", "dry_run"])]
    judge: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let mut engine = session.open()?;
    if args.judge {
        let found = session.find_project()?;
        engine = session.with_summariser(engine, &found.config);
    }
    let learning = Learning::new(&engine);
    let Some(id) = &args.session else {
        let report = learn_all(&learning, &engine, args.dry_run, session)?;
        print_all(&report, args.dry_run, session);
        return Ok(0);
    };
    let stored = engine.sessions().find(id)?;
    let program = stored.and_then(|stored| stored.agent?.parse().ok());
    let transcript = program
        .and_then(|program| find_session_transcript(program, id, engine.root(), &session.env));
    let transcript = transcript.as_deref();
    let judged = match args.judge {
        true => judge(&learning, id, transcript, session)?,
        false => None,
    };
    let learned = match args.judge {
        true => learning.apply_judgement(id, transcript)?,
        false => learning.learn_session(id, transcript, args.dry_run)?,
    };
    if session.out.json {
        let mut value = session_value(&learned, &args);
        value["judged"] = judged.as_ref().map(judged_value).into();
        session.out.value(&value);
        return Ok(0);
    }
    print_session(&learned, &args, session);
    if let Some(judged) = &judged {
        session.out.talk(&judged_line(judged));
    }
    Ok(0)
}

fn learn_all(
    learning: &Learning<'_>,
    engine: &Engine,
    dry_run: bool,
    session: &CliSession,
) -> Result<LearnAllReport, Fault> {
    let mut transcript = |stored: &Session| {
        let program = stored.agent.as_deref()?.parse().ok()?;
        find_session_transcript(program, &stored.id, engine.root(), &session.env)
    };
    if !session.out.shows_progress() {
        return learning.learn_all(dry_run, &mut transcript, &mut |_, _| {});
    }
    session.out.end_progress();
    let bar = ProgressBar::new(0);
    // The template is a constant; if it were invalid, the default style would be used.
    if let Ok(style) = ProgressStyle::with_template("reading {bar:30} {pos}/{len} conversations") {
        bar.set_style(style);
    }
    let report = learning.learn_all(dry_run, &mut transcript, &mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    report
}

fn print_all(report: &LearnAllReport, dry_run: bool, session: &mut CliSession) {
    if session.out.json {
        let mut value = counts(&report.report, dry_run);
        value["sessions"] = json!(report.sessions);
        value["lacking"] = json!(report.lacking);
        value["lessons"] = json!(report.lessons);
        value["changes"] = report.changes.iter().map(change_value).collect();
        return session.out.value(&value);
    }
    let (sessions, lessons) = (report.sessions, report.lessons);
    session.out.line(&format!(
        "{} of {}",
        counted(lessons, "lesson", "lessons"),
        counted(sessions, "conversation", "conversations")
    ));
    for change in &report.changes {
        session.out.line(&change_line(change, dry_run));
    }
    if report.lacking > 0 {
        let message = format!(
            "{} as before: the transcripts are not found",
            counted(report.lacking, "conversation stays", "conversations stay")
        );
        session.out.talk(&message);
    }
    print_counts(&report.report, dry_run, session);
}

/// Returns the line of a change; that of a retirement ends with how it is undone.
fn change_line(change: &LearnedChange, dry_run: bool) -> String {
    let (verb, label, words) = change_words(change);
    let words = text::excerpt(&words, LINE_CHARS);
    let hint = match change {
        LearnedChange::Retire(record) if !dry_run => format!("  heirloom undo {}", record.id),
        LearnedChange::Add(_) | LearnedChange::Change(..) | LearnedChange::Retire(_) => {
            String::new()
        }
    };
    format!("{verb:8} {label}: {words}{hint}")
}

fn change_value(change: &LearnedChange) -> Value {
    let (verb, label, words) = change_words(change);
    let record = match change {
        LearnedChange::Add(_) => None,
        LearnedChange::Change(id, _) => Some(id.to_string()),
        LearnedChange::Retire(record) => Some(record.id.to_string()),
    };
    json!({"effect": verb, "what": label, "text": words, "record": record})
}

/// Returns the verb of a change, the kind of the lesson, and its words.
fn change_words(change: &LearnedChange) -> (&'static str, String, String) {
    let of_lesson = |lesson: &Lesson| {
        let (label, words) = label_and_words(&lesson.candidate);
        (label.to_owned(), words)
    };
    let (verb, (label, words)) = match change {
        LearnedChange::Add(lesson) => ("new", of_lesson(lesson)),
        LearnedChange::Change(_, lesson) => ("changes", of_lesson(lesson)),
        LearnedChange::Retire(record) => {
            let label = record.category().unwrap_or(record.kind.as_str());
            ("retires", (label.to_owned(), record.text.clone()))
        }
    };
    (verb, label, words)
}

fn print_session(learned: &SessionLessons, args: &Args, session: &mut CliSession) {
    let effects = learned.effects.iter().copied();
    for (lesson, effect) in learned.lessons.iter().zip(effects) {
        let is_kept = lesson.verdict == Verdict::Kept;
        if !is_kept && !args.explain {
            continue;
        }
        let candidate = &lesson.candidate;
        let source = name_of(&candidate.source).replace('_', " ");
        let (label, words) = label_and_words(candidate);
        let words = text::excerpt(&words, LINE_CHARS);
        let out = &mut session.out;
        out.line(&format!("{:16} {label}: {words}", outcome(lesson, effect)));
        if args.explain {
            out.line(&format!("  {source}, worth {:.2}", candidate.worth));
            if let Some(opinion) = &lesson.opinion {
                out.line(&format!("  model: {}", opinion_line(opinion, learned)));
            }
            for evidence in &candidate.evidence {
                let line = text::excerpt(&evidence.line, LINE_CHARS);
                out.line(&format!("  | {line}"));
            }
        }
    }
    let kept = (learned.lessons.iter())
        .filter(|lesson| lesson.verdict == Verdict::Kept)
        .count();
    for record in &learned.retired {
        let change = LearnedChange::Retire(Box::new(record.clone()));
        session.out.line(&change_line(&change, args.dry_run));
    }
    if kept == 0 {
        session.out.talk("no lessons");
    }
    let left_out = (learned.lessons.len() - kept) as u64;
    if left_out > 0 && !args.explain {
        let id = &learned.session;
        session.out.talk(&format!(
            "{} left out: heirloom learn {id} --dry-run --explain",
            counted(left_out, "candidate was", "candidates were")
        ));
    }
    if learned.lacks_transcript {
        session.out.talk(LACKS_TRANSCRIPT);
    }
    print_counts(&learned.report, args.dry_run, session);
}

fn print_counts(report: &LessonsReport, dry_run: bool, session: &mut CliSession) {
    if dry_run {
        return session.out.talk("nothing was stored: a dry run");
    }
    let LessonsReport {
        created,
        changed,
        confirmed,
        retired,
        ..
    } = report;
    session.out.talk(&format!(
        "{} new, {changed} changed, {confirmed} confirmed, {retired} retired",
        counted(*created, "record", "records")
    ));
    if let Some(batch) = report.batch {
        session
            .out
            .talk(&format!("  heirloom undo {batch}   undoes it"));
    }
}

/// Returns the decision on a lesson, or its effect on the store if it was kept.
fn outcome(lesson: &Lesson, effect: LessonEffect) -> &'static str {
    match (lesson.verdict, effect) {
        (Verdict::Dropped(reason), _) => match reason {
            DropReason::Duplicate => "duplicate",
            DropReason::Limit => "beyond limit",
            DropReason::SourceShare => "beyond share",
            DropReason::LowWorth => "low worth",
            DropReason::Withdrawn => "withdrawn",
            DropReason::NotSelfContained => "unclear alone",
            DropReason::Useless => "no use",
            DropReason::Wrong => "wrong",
            DropReason::Replaced => "replaced",
        },
        (Verdict::Kept, LessonEffect::Create) => "new",
        (Verdict::Kept, LessonEffect::Change(_)) => "changes",
        (Verdict::Kept, LessonEffect::Confirm(_)) => "confirms",
        (Verdict::Kept, LessonEffect::Unchanged) => "known",
        (Verdict::Kept, LessonEffect::Declined) => "taken back",
    }
}

fn label_and_words(candidate: &Candidate) -> (&str, String) {
    match &candidate.content {
        LessonContent::Knowledge {
            category,
            text,
            rationale,
            ..
        } => {
            let why = rationale.as_ref().map(|why| format!(" (because {why})"));
            (category, format!("{text}{}", why.unwrap_or_default()))
        }
        LessonContent::Error {
            text, resolution, ..
        } => {
            let how = resolution.as_ref().map(|how| format!(" → fixed by: {how}"));
            ("error", format!("{text}{}", how.unwrap_or_default()))
        }
        LessonContent::Attempt {
            approach, reason, ..
        } => ("attempt", format!("{approach}: {reason}")),
        LessonContent::Case { case, .. } => ("episode", case.text()),
        LessonContent::Steps(steps) => {
            let done = steps.iter().filter(|step| step.is_done).count();
            ("steps", format!("{done} of {} done", steps.len()))
        }
    }
}

/// Returns the name of a value that JSON represents as text; empty for another value, of which no caller has one.
fn name_of<T: Serialize>(value: &T) -> String {
    let name = serde_json::to_value(value).ok();
    let name = name.as_ref().and_then(Value::as_str);
    name.unwrap_or_default().to_owned()
}

fn session_value(learned: &SessionLessons, args: &Args) -> Value {
    let effects = learned.effects.iter().copied();
    let shown = (learned.lessons.iter().zip(effects))
        .filter(|(lesson, _)| args.explain || lesson.verdict == Verdict::Kept);
    let lessons: Vec<Value> = shown
        .map(|(lesson, effect)| {
            let opinion = lesson.opinion.as_ref();
            let mut value = lesson_value(lesson, effect);
            value["opinion"] = opinion.map(|one| opinion_value(one, learned)).into();
            value
        })
        .collect();
    let mut value = counts(&learned.report, args.dry_run);
    value["session"] = json!(learned.session);
    value["lessons"] = json!(lessons);
    let retired = learned.retired.iter().cloned().map(Box::new);
    value["retirements"] = retired
        .map(|record| change_value(&LearnedChange::Retire(record)))
        .collect();
    value["lacks_transcript"] = json!(learned.lacks_transcript);
    value
}

fn lesson_value(lesson: &Lesson, effect: LessonEffect) -> Value {
    let candidate = &lesson.candidate;
    let (label, words) = label_and_words(candidate);
    let reason = match lesson.verdict {
        Verdict::Kept => None,
        Verdict::Dropped(reason) => Some(name_of(&reason)),
    };
    let record = match effect {
        LessonEffect::Change(id) | LessonEffect::Confirm(id) => Some(id.to_string()),
        LessonEffect::Create | LessonEffect::Unchanged | LessonEffect::Declined => None,
    };
    let evidence = candidate
        .evidence
        .iter()
        .map(|evidence| json!({"message": evidence.event, "line": evidence.line}));
    json!({
        "kept": reason.is_none(),
        "outcome": outcome(lesson, effect),
        "reason": reason,
        "record": record,
        "source": name_of(&candidate.source),
        "speaker": name_of(&candidate.speaker),
        "worth": f64::from(candidate.worth),
        "what": label,
        "text": words,
        "evidence": evidence.collect::<Vec<_>>(),
    })
}

fn counts(report: &LessonsReport, dry_run: bool) -> Value {
    json!({
        "dry_run": dry_run,
        "batch": report.batch.map(|batch| batch.to_string()),
        "created": report.created,
        "changed": report.changed,
        "confirmed": report.confirmed,
        "retired": report.retired,
    })
}
