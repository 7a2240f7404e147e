//! `heirloom remember`.

use super::reembed::embed_pending;
use super::session::{join_words, text_or_input};
use crate::acting_agent::require_person;
use crate::json_output;
use crate::shared_options::ScopeArgs;
use crate::store_access::CliSession;
use heirloom_engine::{AppliedChange, Engine, NewRecord, RememberReport, Verdict};
use heirloom_fs::DecodedReader;
use heirloom_model::text::counted;
use heirloom_model::text_decoding::{decode_text, repair_json};
use heirloom_model::{Authority, ConflictPolicy, Fault, Kind, Timestamp, limits, text};
use serde_json::{Value, json};
use std::io::{BufRead, Read};
use std::num::NonZeroU32;

/// Remember something: a fact, a decision, a convention
#[derive(Debug, clap::Args)]
// The further words are hidden, so that one description is enough.
#[command(override_usage = "heirloom remember [OPTIONS] [TEXT]...")]
#[command(after_help = "Examples:
  heirloom remember the tests need a running Redis
  heirloom remember \"Use tabs\" --category convention --key indent
  heirloom remember --user \"I prefer small commits\"    is used in all your projects
  heirloom remember --stdin < facts.jsonl      one {\"text\": …} per line, each acknowledged when durable")]
pub(crate) struct Args {
    /// The text to remember, in one or several words; - reads it from standard input
    #[arg(required_unless_present = "stdin")]
    text: Option<String>,
    /// Further words of the text
    #[arg(value_name = "WORDS", hide = true)]
    words: Vec<String>,
    /// Read JSONL from standard input: {text, kind?, category?, key?, …}
    #[arg(long, conflicts_with = "text")]
    stdin: bool,
    /// The category: fact, decision, convention, learning, or any other word
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// The key: a later value for the same key replaces it
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Confidence of the source, 0 to 1
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    confidence: Option<f64>,
    /// The source: user, orchestrator, or an agent's id
    #[arg(long, alias = "by", value_name = "WHO")]
    source: Option<String>,
    /// The reason, for a decision
    #[arg(long, value_name = "WHY")]
    rationale: Option<String>,
    /// Beginning of the valid time (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = crate::shared_options::time)]
    true_from: Option<Timestamp>,
    /// End of the valid time (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = crate::shared_options::time)]
    true_to: Option<Timestamp>,
    /// Store it in your own memory, which is used in every project and written to none
    #[arg(long)]
    user: bool,
    #[command(flatten)]
    scope: ScopeArgs,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    if let Some(source) = &args.source
        && Authority::of_source(source) != Authority::Agent
    {
        require_person(session, &format!("speak as `{source}`"))?;
    }
    if args.stdin {
        let engine = match args.user {
            true => session.user_engine()?,
            false => session.open_with_embedder()?,
        };
        let code = from_stdin(&engine, session)?;
        embed_pending(&engine, session);
        return Ok(code);
    }
    let engine = match args.user {
        true => session.user_engine()?,
        false => session.open()?,
    };
    let remembered = engine.records().remember(NewRecord {
        text: text_or_input(
            join_words(args.text.unwrap_or_default(), &args.words),
            "a text",
        )?,
        kind: None,
        category: args.category,
        key: args.key,
        confidence: args.confidence,
        source: args.source,
        rationale: args.rationale,
        scope: args.scope.scope(),
        true_from: args.true_from,
        true_to: args.true_to,
        machine: false,
    })?;
    if session.out.json {
        session.out.value(&answer_value(&remembered));
        return Ok(0);
    }
    let line = match remembered.verdict {
        Verdict::Conflict => conflict_reason(&engine, &remembered)?,
        Verdict::Created => "remembered",
        Verdict::Confirmed => "already known; confirmed",
        Verdict::Replaced => "remembered; the earlier value is kept as history",
        Verdict::Unchanged
        | Verdict::Retired
        | Verdict::Restored
        | Verdict::Resolved
        | Verdict::Reopened
        | Verdict::Marked => remembered.verdict.as_str(),
    };
    let id = session.out.id(remembered.id);
    session.out.painted_line(&format!("{id} {line}"));
    if let Some(note) = redaction_note(&remembered) {
        session.out.talk(&note);
    }
    Ok(0)
}

/// Returns the reason that a new value is not current.
fn conflict_reason(engine: &Engine, remembered: &RememberReport) -> Result<&'static str, Fault> {
    let authority = |id| Ok::<_, Fault>(Authority::of_record(&engine.records().get(id)?));
    let winner = match remembered.winner {
        Some(winner) => authority(winner)?,
        None => Authority::Agent,
    };
    let is_lower = authority(remembered.id)? < winner;
    Ok(match (is_lower, winner) {
        (true, Authority::Person) => "lost against the value of a person; kept as history",
        (true, _) => "lost against the value of the orchestrator or the team; kept as history",
        (false, _) if engine.settings().conflict_policy == ConflictPolicy::Ask => {
            "disputed: neither value is used until `heirloom resolve` decides"
        }
        (false, _) => "lost against a value of higher confidence; kept as history",
    })
}

fn answer_value(remembered: &RememberReport) -> Value {
    let mut answer = json_output::applied(&AppliedChange {
        id: remembered.id,
        verdict: remembered.verdict,
        other: remembered.winner,
    });
    if !remembered.redacted.is_empty() {
        answer["redacted"] = json!(remembered.redacted);
    }
    answer
}

/// Returns a message about removed secrets; `None` if there were none.
fn redaction_note(remembered: &RememberReport) -> Option<String> {
    let kinds = &remembered.redacted;
    let secrets = match kinds.len() {
        0 => return None,
        1 => "1 secret".to_owned(),
        many => format!("{many} secrets"),
    };
    Some(format!("stored without {secrets}: {}", kinds.join(", ")))
}

/// Reads JSONL and answers with JSONL: a line is answered once it is durable. Lines that are available together share
/// one sync. An invalid line is answered with its error, and the rest is still processed.
fn from_stdin(engine: &Engine, session: &mut CliSession) -> Result<u8, Fault> {
    let input = std::io::BufReader::with_capacity(1 << 20, std::io::stdin());
    let mut input = DecodedReader::new(input);
    let mut failed = 0u64;
    let mut number = 0u64;
    while let Some(first) = next_line(&mut input)? {
        let mut lines = vec![first];
        // Only lines that have already arrived join the batch: waiting for more would delay their acknowledgement.
        while lines.len() < limits::BATCH_RECORDS && input.buffer().contains(&b'\n') {
            lines.extend(next_line(&mut input)?);
        }
        let mut batch = Vec::with_capacity(lines.len());
        for line in &lines {
            number += 1;
            if !line.trim().is_empty() {
                batch.push((number, parse(line)));
            }
        }
        failed += store_batch(engine, session, batch)?;
        session.out.flush();
        if input.buffer().is_empty() {
            // Update the mirror before blocking on input; an error is reported at the end of the command.
            drop(engine.mirror().refresh_throttled());
        }
    }
    if failed > 0 {
        session.out.talk(&format!(
            "heirloom: {failed} of {} not stored",
            counted(number, "line was", "lines were")
        ));
    }
    Ok(u8::from(failed > 0))
}

fn store_batch(
    engine: &Engine,
    session: &mut CliSession,
    batch: Vec<(u64, Result<NewRecord, String>)>,
) -> Result<u64, Fault> {
    let good: Vec<_> = batch
        .iter()
        .filter_map(|(_, one)| one.as_ref().ok().cloned())
        .collect();
    let together = engine.records().remember_all(good);
    let mut answers = match together {
        Ok(answers) => answers.into_iter().map(Ok).collect::<Vec<_>>(),
        // Retry one by one, so that the invalid record is reported and the others are stored.
        Err(fault) if fault.kind == heirloom_model::ErrorKind::Usage => batch
            .iter()
            .filter_map(|(_, one)| one.as_ref().ok())
            .map(|one| {
                engine
                    .records()
                    .remember(one.clone())
                    .map_err(|f| f.message)
            })
            .collect(),
        Err(fault) => return Err(fault),
    }
    .into_iter();
    let mut failed = 0;
    for (number, one) in &batch {
        let answered = match one {
            Ok(_) => answers
                .next()
                .unwrap_or_else(|| Err("the store did not answer".to_owned())),
            Err(problem) => Err(problem.clone()),
        };
        match answered {
            Ok(remembered) => session.out.value(&answer_value(&remembered)),
            Err(problem) => {
                failed += 1;
                let problem = format!("line {number}: {problem}");
                session.out.value(&json!({ "error": problem }));
            }
        }
    }
    Ok(failed)
}

fn read_error(error: std::io::Error) -> Fault {
    Fault::failed(format!("cannot read standard input: {error}"))
}

/// Reads the next line, lossily decoded; only the beginning of a line that is too long, which [`parse`] refuses.
fn next_line(input: &mut impl BufRead) -> Result<Option<String>, Fault> {
    // One byte over the limit shows that the line is too long; the other one is the line break.
    let most = limits::STDIN_LINE_BYTES_MAX as u64 + 2;
    let mut line = Vec::new();
    let read = input
        .by_ref()
        .take(most)
        .read_until(b'\n', &mut line)
        .map_err(read_error)?;
    if read == 0 {
        return Ok(None);
    }
    if read as u64 == most && line.last() != Some(&b'\n') {
        input.skip_until(b'\n').map_err(read_error)?;
    }
    Ok(Some(decode_text(&line).into_owned()))
}

/// Parses one line of standard input.
pub(crate) fn parse(line: &str) -> Result<NewRecord, String> {
    let most = limits::STDIN_LINE_BYTES_MAX;
    if line.trim_end_matches(['\r', '\n']).len() > most {
        return Err(format!("the line has more than {most} bytes"));
    }
    let value: Value =
        serde_json::from_str(&repair_json(line)).map_err(|error| format!("no JSON: {error}"))?;
    let Value::Object(map) = value else {
        return Err("expected an object such as {\"text\": \"…\"}".to_owned());
    };
    let mut new = NewRecord::default();
    for (name, value) in map {
        set_field(&mut new, &name, value)?;
    }
    if new.text.trim().is_empty() {
        return Err("`text` is missing or empty".to_owned());
    }
    Ok(new)
}

fn set_field(new: &mut NewRecord, name: &str, value: Value) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    let number = value.as_f64();
    let text_value = match value {
        Value::String(text_value) => text_value,
        Value::Number(n) => n.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err(format!(
                "`{}`: expected a text or a number",
                text::excerpt(name, 40)
            ));
        }
    };
    let slot = match name {
        "text" | "value" => {
            new.text = text_value;
            return Ok(());
        }
        "kind" => {
            new.kind = Some(text_value.parse::<Kind>().map_err(|e| e.to_string())?);
            return Ok(());
        }
        "confidence" => {
            new.confidence = Some(number.ok_or("`confidence`: expected a number from 0 to 1")?);
            return Ok(());
        }
        "iteration" => {
            new.scope.iteration = Some(
                text_value
                    .parse::<NonZeroU32>()
                    .map_err(|_| "`iteration`: expected a whole number from 1")?
                    .get(),
            );
            return Ok(());
        }
        "true_from" | "true_to" => {
            let time = crate::shared_options::time(&text_value)
                .map_err(|error| format!("`{name}`: {error}"))?;
            *(if name == "true_from" {
                &mut new.true_from
            } else {
                &mut new.true_to
            }) = Some(time);
            return Ok(());
        }
        "category" => &mut new.category,
        "key" => &mut new.key,
        "source" | "by" => &mut new.source,
        "rationale" => &mut new.rationale,
        "plan" => &mut new.scope.plan,
        "group" => &mut new.scope.group,
        "session" | "session_id" => &mut new.scope.session,
        "task" | "task_id" => &mut new.scope.task,
        "agent" | "agent_id" => &mut new.scope.agent,
        "phase" => &mut new.scope.phase,
        other => return Err(format!("there is no field `{}`", text::excerpt(other, 40))),
    };
    *slot = Some(text_value);
    Ok(())
}
