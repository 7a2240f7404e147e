//! Recall: what an agent would get for the same words, and why.

mod because;

use super::look::times;
use super::view::recall::{Hit, Part, View};
use super::view::{Html, escape, number, plural, said};
use super::{Look, Shell, Wrong, html, told};
use crate::App;
use axum::extract::{Query, State};
use axum::response::Response;
use because::{SERIES, series};
use heirloom_engine::recall::{Asked, Item, Ranked};
use heirloom_engine::{Engine, RecallRequest, Recalled};
use heirloom_model::{Deed, ErrorKind, Fault, limits, mark, text};
use serde::Deserialize;
use std::collections::HashSet;

/// Hits that are shown first, and at most.
const FIRST: usize = 8;
const MOST: usize = 50;
/// Records that were changed last, offered as questions.
const SUGGESTED: usize = 5;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Question {
    q: String,
    k: Option<usize>,
}

/// Answers a question.
pub(super) async fn show(
    State(app): State<App>,
    look: Look,
    Query(question): Query<Question>,
) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| load(engine, &look, &question));
    html(&view.await?)
}

fn load(engine: &Engine, look: &Look, question: &Question) -> Result<View, Fault> {
    let mut shell = Shell::load(engine, look, "recall", "Recall")?;
    let q = text::clip(question.q.trim(), limits::RECALL_QUERY_BYTES_MAX / 4);
    shell.question = text::printable(q);
    let k = question.k.unwrap_or(FIRST).clamp(1, MOST);
    let request = RecallRequest {
        question: q.to_owned(),
        k: Some(k + 1),
        ..RecallRequest::default()
    };
    let (recalled, problem) = match q.is_empty() {
        true => (None, None),
        false => match engine.recall(&request) {
            Ok(recalled) => (Some(recalled), None),
            Err(fault) if fault.kind == ErrorKind::Usage => (None, Some(fault)),
            Err(fault) => return Err(fault),
        },
    };
    let asked = Asked::of(q, engine.now());
    let records: u64 = engine.counts()?.iter().map(|(_, n)| n).sum();
    let (mut hits, notes, took_us) = match recalled {
        Some(Recalled {
            hits,
            notes,
            took_us,
        }) => (hits, notes, took_us),
        None => (Vec::new(), Vec::new(), 0),
    };
    let has_more = hits.len() > k && k < MOST;
    hits.truncate(k);
    let words = stems(&asked.text);
    let best = hits.first().map_or(1.0, |hit| hit.parts.total);
    let rows: Vec<Hit> = (1..)
        .zip(&hits)
        .map(|(rank, hit)| row(engine, rank, hit, &words, best))
        .collect();
    let found = match (has_more, rows.len()) {
        (true, n) => format!("The best {n} hits"),
        (false, n) => plural(n, "hit", "hits"),
    };
    let mut notes: Vec<_> = notes.iter().map(|note| text::printable(note)).collect();
    notes.extend(problem.map(|fault| match fault.hint {
        Some(hint) => format!("{}: {hint}", fault.message),
        None => fault.message,
    }));
    Ok(View {
        headline: match q.is_empty() {
            true => format!(
                "{} to ask.",
                plural(
                    usize::try_from(records).unwrap_or(usize::MAX),
                    "record",
                    "records"
                )
            ),
            false => format!(
                "{found} among {} records, in {}.",
                number(records),
                took(took_us)
            ),
        },
        sub: "These are the records an agent would get for the same words.".to_owned(),
        question: text::printable(q),
        reads_as: words.join(", "),
        chips: chips(&asked),
        notes,
        legend: SERIES
            .iter()
            .enumerate()
            .map(|(at, name)| (at + 1, *name))
            .collect(),
        suggestions: suggestions(engine, q, rows.is_empty())?,
        hits: rows,
        more: match has_more {
            true => format!("/recall?q={}&k={}", told::encoded(q), (k * 2).min(MOST)),
            false => String::new(),
        },
        is_blank: q.is_empty(),
        shell,
    })
}

fn took(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
}

/// The words of a question that are looked for.
fn stems(question: &str) -> Vec<String> {
    let mut known = HashSet::new();
    let words = question
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':')));
    let words = words.map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    });
    let words = words.filter(|word| !word.is_empty() && known.insert(word.clone()));
    words.map(|word| text::printable(&word)).take(24).collect()
}

fn chips(asked: &Asked) -> Vec<(String, String)> {
    let filters = &asked.filters;
    let mut chips = Vec::new();
    let mut kinds: Vec<_> = filters.kinds.iter().map(|kind| kind.as_str()).collect();
    if filters.turns {
        kinds.push("message");
    }
    if !kinds.is_empty() {
        chips.push(("kind".to_owned(), kinds.join(", ")));
    }
    for (name, value) in filters.scope.names() {
        if let Some(value) = value {
            chips.push((name.to_owned(), text::printable(value)));
        }
    }
    let named = [
        ("category", &filters.category),
        ("source", &filters.source),
        ("key", &filters.key),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            chips.push((name.to_owned(), text::printable(value)));
        }
    }
    for (name, value) in [("after", filters.after), ("before", filters.before)] {
        if let Some(at) = value {
            chips.push((name.to_owned(), at.to_string()));
        }
    }
    for phrase in &asked.phrases {
        chips.push(("phrase".to_owned(), text::printable(phrase)));
    }
    chips
}

/// What else could be asked: without the filters, or what was changed last.
fn suggestions(engine: &Engine, q: &str, is_empty: bool) -> Result<Vec<(String, String)>, Fault> {
    let asked = Asked::of(q, engine.now());
    let link = |question: &str| format!("/recall?q={}", told::encoded(question));
    if !is_empty {
        return Ok(Vec::new());
    }
    if !q.is_empty() {
        let mut offers = Vec::new();
        if !asked.filters.is_empty() && !asked.text.trim().is_empty() {
            let words = asked.text.trim();
            offers.push(("The same without filters".to_owned(), link(words)));
        }
        return Ok(offers);
    }
    let filter = heirloom_engine::Filter::current(&[], engine.now()).limit(SUGGESTED);
    let newest = engine.find(&filter)?;
    let offer = |record: &heirloom_model::Record| {
        let words = text::excerpt(&text::printable(&record.text), 60);
        (words.clone(), link(&words))
    };
    Ok(newest.iter().map(offer).collect())
}

fn row(engine: &Engine, rank: usize, hit: &Ranked, words: &[String], best: f64) -> Hit {
    let times = times(engine);
    let (kind, key, href, mut meta, is_pinned, useful) = match &hit.item {
        Item::Record(record) => {
            let mut meta = Vec::new();
            if let Some(task) = &record.scope.task {
                meta.push(told::task(task));
            }
            (
                record.kind.as_str(),
                text::printable(told::key(record)),
                told::href(record),
                meta,
                mark::is_pinned(&record.attrs),
                mark::useful(&record.attrs),
            )
        }
        Item::Turn { session, message } => (
            "turn",
            String::new(),
            format!("{}#t-{}", told::session_href(session), message.seq),
            vec![format!("session {}", told::short_id(session))],
            false,
            0,
        ),
    };
    meta.push(told::who(hit.item.source()));
    meta.push(times.brief(hit.item.recorded_at()));
    let pieces: Vec<(usize, f64, String)> = series(&hit.parts)
        .into_iter()
        .filter(|(_, value)| *value > 0.004)
        .map(|(at, value)| (at, value, format!("{} {value:.2}", SERIES[at - 1])))
        .collect();
    let whole = best.max(hit.parts.total).max(BAR_LEAST);
    let label: Vec<_> = pieces.iter().map(|(_, _, words)| words.as_str()).collect();
    let label = format!("Score {:.2}: {}", hit.parts.total, label.join(", "));
    Hit {
        id: hit.item.id().to_string(),
        rank,
        kind,
        key,
        href,
        meta,
        is_pinned,
        words: marked(hit.item.text(), words),
        why: because::sentence(hit, words, useful),
        parts: because::parts(hit)
            .into_iter()
            .map(|(series, name, raw, adds)| Part {
                series,
                name,
                raw,
                adds,
            })
            .collect(),
        score: format!("{:.2}", hit.parts.total),
        bar: super::view::chart::parts(&label, whole, &pieces),
        folded: match hit.folded.len() {
            0 => String::new(),
            n => format!(
                "{} stand behind it.",
                plural(n, "near-duplicate", "near-duplicates")
            ),
        },
        is_record: matches!(hit.item, Item::Record(_)),
        is_useful: useful > 0,
        is_open: rank == 1,
    }
}

/// The least score that fills a bar; else the best hit's does.
const BAR_LEAST: f64 = 1.0;

/// A text with the words of the question marked.
fn marked(said_text: &str, words: &[String]) -> Html {
    let shown = text::excerpt(said_text, 420);
    if words.is_empty() {
        return said(&shown);
    }
    let shown = text::printable(&shown);
    let mut out = String::new();
    let mut word = String::new();
    let close = |word: &mut String, out: &mut String| {
        if word.is_empty() {
            return;
        }
        let lower = word.to_lowercase();
        let is_hit = words.iter().any(|one| is_same(one, &lower));
        if is_hit {
            out.push_str("<mark>");
        }
        escape(word, out);
        if is_hit {
            out.push_str("</mark>");
        }
        word.clear();
    };
    for c in shown.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            close(&mut word, &mut out);
            if c != '`' {
                escape(c.encode_utf8(&mut [0; 4]), &mut out);
            }
        }
    }
    close(&mut word, &mut out);
    Html::made(out)
}

/// Whether two words are forms of one: they begin alike, up to a short ending.
fn is_same(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short.chars().count() >= 4
        && long.starts_with(short.trim_end_matches(['e', 's', 'd']))
        && long.len() - short.len() <= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_question_are_marked_and_nothing_is_markup() {
        let words = stems("deliver <b>");
        let out = marked("It was delivered <b>once</b>", &words).to_string();
        assert_eq!(
            out,
            "It was <mark>delivered</mark> &lt;<mark>b</mark>&gt;once&lt;/<mark>b</mark>&gt;"
        );
    }
}
