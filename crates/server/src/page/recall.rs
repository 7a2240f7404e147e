//! Recall page: the hits that an agent would get for the same query, with explanations.

mod explanation;

use super::request_context::times;
use super::view::recall::{HitRow, RecallView, ScorePart};
use super::view::{Html, escape, number, plural, render_text};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::extract::{Query, State};
use axum::response::Response;
use explanation::{SERIES, series};
use heirloom_engine::{Engine, RecallReport, RecallRequest};
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::{ErrorKind, Fault, Permission, limits, mark, text};
use heirloom_search::recall::{ParsedQuery, Ranked, RecallItem};
use heirloom_search::relevance::Grade;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashSet;

/// Initial and maximum number of hits.
const FIRST: usize = 8;
const MOST: usize = 50;
/// Number of recently changed records offered as queries.
const SUGGESTED: usize = 5;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct RecallPageParams {
    q: String,
    k: Option<usize>,
    /// Shows weak hits too if it is not empty.
    all: String,
}

/// Shows the hits of a query.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(question): Query<RecallPageParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| load(engine, &context, &question));
    render(&view.await?)
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    question: &RecallPageParams,
) -> Result<RecallView, Fault> {
    let mut shell = Shell::load(engine, context, "recall", "Recall")?;
    let q = text::clip(question.q.trim(), limits::RECALL_QUERY_BYTES_MAX / 4);
    shell.question = text::replace_control_chars(q);
    let k = question.k.unwrap_or(FIRST).clamp(1, MOST);
    let request = RecallRequest {
        question: q.to_owned(),
        k: Some(k + 1),
        min_relevance: (!question.all.is_empty()).then_some(0.0),
        ..RecallRequest::default()
    };
    let (recalled, problem) = match q.is_empty() {
        true => (None, None),
        false => match engine.recall().search(&request) {
            Ok(recalled) => (Some(recalled), None),
            Err(fault) if fault.kind == ErrorKind::Usage => (None, Some(fault)),
            Err(fault) => return Err(fault),
        },
    };
    let parsed = ParsedQuery::parse(q, engine.now());
    let records: u64 = engine.records().counts()?.iter().map(|(_, n)| n).sum();
    let (mut hits, weak, notes, took_us) = match recalled {
        Some(RecallReport {
            hits,
            weak,
            notes,
            took_us,
        }) => (hits, weak, notes, took_us),
        None => (Vec::new(), 0, Vec::new(), 0),
    };
    let has_more = hits.len() > k && k < MOST;
    hits.truncate(k);
    let words = query_words(&parsed.text);
    let best = hits.first().map_or(1.0, |hit| hit.breakdown.total);
    let rows: Vec<HitRow> = (1..)
        .zip(&hits)
        .map(|(rank, hit)| hit_row(engine, rank, hit, &words, best))
        .collect();
    let found = match (has_more, rows.len()) {
        (true, n) => format!("The best {n} hits"),
        (false, n) => plural(n, "hit", "hits"),
    };
    let mut notes: Vec<_> = notes
        .iter()
        .map(|note| text::replace_control_chars(note))
        .collect();
    notes.extend(problem.map(|fault| match fault.hint {
        Some(hint) => format!("{}: {hint}", fault.message),
        None => fault.message,
    }));
    Ok(RecallView {
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
                format_ms(took_us)
            ),
        },
        sub: "These are the records an agent would get for the same words.".to_owned(),
        question: text::replace_control_chars(q),
        reads_as: words.join(", "),
        chips: filter_chips(&parsed),
        notes,
        legend: SERIES
            .iter()
            .enumerate()
            .map(|(at, name)| (at + 1, *name))
            .collect(),
        suggestions: suggestions(engine, q, rows.is_empty())?,
        hits: rows,
        more: match has_more {
            true => link(q, (k * 2).min(MOST), !question.all.is_empty()),
            false => String::new(),
        },
        weak: (weak > 0).then(|| {
            let label = format!("Show {}", plural(weak, "weak hit", "weak hits"));
            (label, link(q, k, true))
        }),
        is_blank: q.is_empty(),
        shell,
    })
}

/// Returns the address of the page for a query.
fn link(q: &str, k: usize, all: bool) -> String {
    let all = if all { "&all=1" } else { "" };
    format!("/recall?q={}&k={k}{all}", record_label::percent_encode(q))
}

fn format_ms(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
}

/// Returns the distinct words of a query.
fn query_words(question: &str) -> Vec<String> {
    let mut known = HashSet::new();
    let words = question
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':')));
    let words = words.map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    });
    let words = words.filter(|word| !word.is_empty() && known.insert(word.clone()));
    words
        .map(|word| text::replace_control_chars(&word))
        .take(24)
        .collect()
}

fn filter_chips(parsed: &ParsedQuery) -> Vec<(String, String)> {
    let filters = &parsed.filters;
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
            chips.push((name.to_owned(), text::replace_control_chars(value)));
        }
    }
    let named = [
        ("category", &filters.category),
        ("source", &filters.source),
        ("key", &filters.key),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            chips.push((name.to_owned(), text::replace_control_chars(value)));
        }
    }
    for (name, value) in [("after", filters.after), ("before", filters.before)] {
        if let Some(at) = value {
            chips.push((name.to_owned(), at.to_string()));
        }
    }
    for phrase in &parsed.phrases {
        chips.push(("phrase".to_owned(), text::replace_control_chars(phrase)));
    }
    chips
}

/// Suggests queries: without filters if there are no hits, or recent records.
fn suggestions(engine: &Engine, q: &str, is_empty: bool) -> Result<Vec<(String, String)>, Fault> {
    let parsed = ParsedQuery::parse(q, engine.now());
    let link = |question: &str| format!("/recall?q={}", record_label::percent_encode(question));
    if !is_empty {
        return Ok(Vec::new());
    }
    if !q.is_empty() {
        let mut offers = Vec::new();
        if !parsed.filters.is_empty() && !parsed.text.trim().is_empty() {
            let words = parsed.text.trim();
            offers.push(("The same without filters".to_owned(), link(words)));
        }
        return Ok(offers);
    }
    let filter = heirloom_engine::Filter::current(&[], engine.now()).limit(SUGGESTED);
    let newest = engine.records().find(&filter)?;
    let offer = |record: &heirloom_model::Record| {
        let words = text::excerpt(&text::replace_control_chars(&record.text), 60);
        (words.clone(), link(&words))
    };
    Ok(newest.iter().map(offer).collect())
}

fn hit_row(engine: &Engine, rank: usize, hit: &Ranked, words: &[String], best: f64) -> HitRow {
    let times = times(engine);
    let (kind, key, href, mut meta, is_pinned, useful) = match &hit.item {
        RecallItem::Record(record) => {
            let mut meta = Vec::new();
            if let Some(task) = &record.scope.task {
                meta.push(record_label::task_label(task));
            }
            (
                record.kind.as_str(),
                text::replace_control_chars(record_label::given_key(record)),
                record_label::href(record),
                meta,
                mark::is_pinned(&record.attrs),
                mark::useful_count(&record.attrs),
            )
        }
        RecallItem::Turn { session, message } => (
            "turn",
            String::new(),
            format!("{}#t-{}", record_label::session_href(session), message.seq),
            vec![format!("session {}", record_label::short_id(session))],
            false,
            0,
        ),
    };
    meta.push(record_label::source_label(hit.item.source()));
    meta.push(times.brief(hit.item.recorded_at()));
    let pieces: Vec<(usize, f64, String)> = series(&hit.breakdown)
        .into_iter()
        .filter(|(_, value)| *value > 0.004)
        .map(|(at, value)| (at, value, format!("{} {value:.2}", SERIES[at - 1])))
        .collect();
    let whole = best.max(hit.breakdown.total).max(BAR_LEAST);
    let label: Vec<_> = pieces.iter().map(|(_, _, words)| words.as_str()).collect();
    let label = format!("Score {:.2}: {}", hit.breakdown.total, label.join(", "));
    HitRow {
        id: hit.item.id().to_string(),
        rank,
        kind,
        key,
        href,
        meta,
        is_pinned,
        words: highlight(&meaning(&hit.item), words),
        why: explanation::sentence(hit, words, useful),
        parts: explanation::parts(hit)
            .into_iter()
            .map(|(series, name, raw, adds)| ScorePart {
                series,
                name,
                raw,
                adds,
            })
            .collect(),
        relevance: hit.relevance.map_or_else(String::new, text::percent),
        grade: hit.grade().map_or("", Grade::as_str),
        bar: super::view::chart::parts(&label, whole, &pieces),
        folded: match hit.duplicates.len() {
            0 => String::new(),
            n => format!(
                "{} grouped under it.",
                plural(n, "near-duplicate", "near-duplicates")
            ),
        },
        is_record: matches!(hit.item, RecallItem::Record(_)),
        is_useful: useful > 0,
        is_open: rank == 1,
    }
}

/// Returns the meaning of a record, or the text of a turn.
fn meaning(item: &RecallItem) -> Cow<'_, str> {
    match item {
        RecallItem::Record(record) => record_meaning(record),
        RecallItem::Turn { message, .. } => Cow::Borrowed(&message.text),
    }
}

/// Minimum score of a full bar; otherwise the best hit's score fills it.
const BAR_LEAST: f64 = 1.0;

/// Renders a text with the words of the query marked.
fn highlight(said_text: &str, words: &[String]) -> Html {
    let shown = text::excerpt(said_text, 420);
    if words.is_empty() {
        return render_text(&shown);
    }
    let shown = text::replace_control_chars(&shown);
    let mut out = String::new();
    let mut word = String::new();
    let close = |word: &mut String, out: &mut String| {
        if word.is_empty() {
            return;
        }
        let lower = word.to_lowercase();
        let is_hit = words.iter().any(|one| is_same_stem(one, &lower));
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
    Html::from_markup(out)
}

/// Returns true if two words differ only by a short ending.
fn is_same_stem(a: &str, b: &str) -> bool {
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
    fn highlight_marks_query_words_and_escapes_markup() {
        let words = query_words("deliver <b>");
        let out = highlight("It was delivered <b>once</b>", &words).to_string();
        assert_eq!(
            out,
            "It was <mark>delivered</mark> &lt;<mark>b</mark>&gt;once&lt;/<mark>b</mark>&gt;"
        );
    }
}
