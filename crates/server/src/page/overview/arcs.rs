//! The arcs: who learned a record, and which sessions were told of it.

use super::{DAYS, Week};
use crate::page::told;
use crate::page::view::chart::put;
use crate::page::view::overview::{ArcRow, Arcs};
use crate::page::view::{Html, agent_mark, escape};
use heirloom_engine::{Engine, Filter, ReceiptHead, When};
use heirloom_model::{Fault, Kind, Record, RecordId, Session, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Sessions that the chart shows, the newest.
const SESSIONS: usize = 40;
/// Receipts that are read for it.
const RECEIPTS: usize = 60;
/// Records of each session that are looked at.
const OLDEST: usize = 40;
/// Records that the chart joins, the most used.
const RECORDS: usize = 9;
/// Height of the arcs, pixels.
const HIGH: f64 = 186.0;

/// How many sessions began with what an earlier one had learned.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Inherited {
    pub(super) sessions: usize,
    pub(super) with: usize,
}

impl Inherited {
    /// It as a sentence.
    pub(super) fn headline(self) -> String {
        match (self.sessions, self.with) {
            (0, _) => "No session this week.".to_owned(),
            (1, 0) => "One session this week, with nothing inherited yet.".to_owned(),
            (n, 0) => format!("{n} sessions this week, none with what an earlier one had learned."),
            (n, with) => format!(
                "{with} of {n} sessions this week started with what an earlier one had learned."
            ),
        }
    }
}

/// One record, and the sessions that were told of it.
struct Strand {
    record: Record,
    /// Where on the chart it was learned, 0 to 1.
    from: f64,
    /// Where it was told, by session.
    to: BTreeMap<String, f64>,
}

pub(super) fn load(engine: &Engine, week: &Week) -> Result<(Option<Arcs>, Inherited), Fault> {
    let from = week.times.midnight(DAYS - 1);
    let mut sessions = engine.sessions_of(None, 200)?;
    sessions.retain(|session| session.started_at >= from && session.started_at <= week.times.now());
    let told = told_by_session(engine.receipt_heads(RECEIPTS)?, from);
    // The oldest of each, because those are what another session learned.
    let oldest = told.values().flat_map(|ids| ids.iter().take(OLDEST));
    let ids: BTreeSet<RecordId> = oldest.copied().collect();
    let records = records(engine, ids)?;
    let places: HashMap<&str, f64> = sessions
        .iter()
        .map(|session| {
            (
                session.id.as_str(),
                week.times.place(session.started_at, DAYS),
            )
        })
        .collect();
    let mut with = 0;
    let mut strands: BTreeMap<RecordId, Strand> = BTreeMap::new();
    for session in &sessions {
        let ids = told.get(&session.id).into_iter().flatten();
        let heirs = ids.filter_map(|id| records.get(id));
        let heirs: Vec<_> = heirs
            .filter(|record| is_inherited(record, session))
            .collect();
        with += usize::from(!heirs.is_empty());
        for record in heirs {
            let learned = record.scope.session.as_deref();
            let origin = learned.and_then(|id| places.get(id).copied());
            let from = origin.unwrap_or_else(|| week.times.place(record.recorded_at, DAYS));
            if from < 0.0 {
                continue;
            }
            let strand = strands.entry(record.id).or_insert_with(|| Strand {
                record: record.clone(),
                from,
                to: BTreeMap::new(),
            });
            let to = places.get(session.id.as_str()).copied().unwrap_or(1.0);
            strand.to.insert(session.id.clone(), to);
        }
    }
    let inherited = Inherited {
        sessions: sessions.len(),
        with,
    };
    sessions.truncate(SESSIONS);
    if sessions.is_empty() {
        return Ok((None, inherited));
    }
    let mut strands: Vec<_> = strands.into_values().collect();
    strands.sort_by_key(|one| (std::cmp::Reverse(one.to.len()), one.record.id));
    strands.truncate(RECORDS);
    Ok((Some(drawn(week, &sessions, &strands)), inherited))
}

/// The items of a list; none of what is no list.
pub(in crate::page) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The records that each session's contexts held.
fn told_by_session(
    receipts: Vec<ReceiptHead>,
    from: Timestamp,
) -> HashMap<String, BTreeSet<RecordId>> {
    let mut told: HashMap<String, BTreeSet<RecordId>> = HashMap::new();
    for head in receipts.into_iter().filter(|head| head.receipt.at >= from) {
        if let Some(session) = head.session {
            told.entry(session).or_default().extend(head.records);
        }
    }
    told
}

fn records(engine: &Engine, ids: BTreeSet<RecordId>) -> Result<HashMap<RecordId, Record>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let limit = ids.len();
    let filter = Filter {
        when: When::Ever,
        ..Filter::current(&[], engine.now())
    };
    let found = engine.find(&filter.ids(ids.into_iter().collect()).limit(limit))?;
    Ok(found
        .into_iter()
        .map(|record| (record.id, record))
        .collect())
}

/// Whether a session was told what it had not learned itself.
fn is_inherited(record: &Record, session: &Session) -> bool {
    let is_lasting = matches!(
        record.kind,
        Kind::Knowledge | Kind::Error | Kind::Episode | Kind::Summary | Kind::Note
    );
    is_lasting
        && record.scope.session.as_deref() != Some(session.id.as_str())
        && record.recorded_at <= session.started_at
}

/// The agents of these sessions, the busiest first.
fn agents(sessions: &[Session]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions {
        *counts.entry(agent(session)).or_default() += 1;
    }
    let mut agents: Vec<_> = counts.into_iter().collect();
    agents.sort_by_key(|(name, n)| (std::cmp::Reverse(*n), name.clone()));
    agents.into_iter().map(|(name, _)| name).take(3).collect()
}

fn agent(session: &Session) -> String {
    heirloom_model::text::printable(session.agent.as_deref().unwrap_or("unknown agent"))
}

fn drawn(week: &Week, sessions: &[Session], strands: &[Strand]) -> Arcs {
    let agents = agents(sessions);
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"244\" role=\"img\" aria-labelledby=\"arc-t arc-d\"><title id=\"arc-t\">What was learned, and where it was used</title><desc id=\"arc-d\">",
    );
    escape(&described(sessions, strands), &mut svg);
    svg.push_str("</desc><svg class=\"plot\" y=\"0\" width=\"100%\" height=\"186\" viewBox=\"0 0 1000 186\" preserveAspectRatio=\"none\">");
    for (at, strand) in strands.iter().enumerate().rev() {
        arcs(strand, at == 0, &mut svg);
    }
    svg.push_str("<line class=\"ax\" x1=\"0\" x2=\"1000\" y1=\"186\" y2=\"186\"/></svg>");
    axis(week, &mut svg);
    for session in sessions {
        let name = agent(session);
        let mark = agents.iter().position(|one| *one == name).unwrap_or(2);
        let x = week.times.place(session.started_at, DAYS) * 100.0;
        put(
            &mut svg,
            format_args!(
                "<use href=\"#{}\" class=\"mk\" x=\"{x:.2}%\" y=\"193\" width=\"9\" height=\"9\" transform=\"translate(-4.5 0)\"><title>",
                agent_mark(mark)
            ),
        );
        escape(
            &format!("{name}, {}", week.times.full(session.started_at)),
            &mut svg,
        );
        svg.push_str("</title></use>");
    }
    labels(strands, &mut svg);
    svg.push_str("</svg>");
    let mut kinds: Vec<_> = strands.iter().map(|one| one.record.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    Arcs {
        svg: Html::made(svg),
        agents,
        kinds,
        rows: strands.iter().map(|strand| row(week, strand)).collect(),
    }
}

fn row(week: &Week, strand: &Strand) -> ArcRow {
    let record = &strand.record;
    ArcRow {
        name: told::name(record),
        href: told::href(record),
        learned: format!(
            "{}, {}",
            week.times.day(record.recorded_at),
            told::who(&record.source)
        ),
        sessions: strand.to.len(),
    }
}

/// What somebody hears who does not see it.
fn described(sessions: &[Session], strands: &[Strand]) -> String {
    let mut words = format!(
        "{} sessions over {DAYS} days. Arcs join where a record was learned to each session whose context held it.",
        sessions.len()
    );
    for strand in strands.iter().take(3) {
        words.push_str(&format!(
            " {} reached {} sessions.",
            told::name(&strand.record),
            strand.to.len()
        ));
    }
    words
}

/// How high an arc of this half width is.
fn height(half: f64) -> f64 {
    (168.0 * (half / 336.0).max(0.0).powf(0.6)).clamp(12.0, 168.0)
}

fn arcs(strand: &Strand, is_first: bool, svg: &mut String) {
    let high = if is_first { " hi" } else { "" };
    for to in strand.to.values() {
        let (x1, x2) = (strand.from * 1000.0, to * 1000.0);
        let half = (x2 - x1) / 2.0;
        if half < 2.0 {
            continue;
        }
        put(
            svg,
            format_args!(
                "<path class=\"arc{high} k-{}\" d=\"M{x1:.0} 186A{half:.0} {:.0} 0 0 1 {x2:.0} 186\"/>",
                strand.record.kind,
                height(half)
            ),
        );
    }
}

fn axis(week: &Week, svg: &mut String) {
    let new = week.by_day(None);
    for day in 1..DAYS {
        let x = f64::from(day) / f64::from(DAYS) * 100.0;
        put(
            svg,
            format_args!(
                "<line class=\"grid\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"186\" y2=\"208\"/>"
            ),
        );
    }
    for (day, new) in (0..DAYS).zip(new) {
        let x = (f64::from(day) + 0.5) / f64::from(DAYS) * 100.0;
        let at = week.times.midnight(DAYS - 1 - day);
        let (name, class) = match day == DAYS - 1 {
            true => ("Today".to_owned(), "mid t-strong"),
            false => (week.times.weekday(at), "mid"),
        };
        put(
            svg,
            format_args!("<text x=\"{x:.2}%\" y=\"222\" class=\"{class}\">{name}</text>"),
        );
        if week.is_whole {
            let new = if new == 0 {
                "0".to_owned()
            } else {
                format!("+{new}")
            };
            put(
                svg,
                format_args!("<text x=\"{x:.2}%\" y=\"237\" class=\"mid t-faint\">{new}</text>"),
            );
        }
    }
}

/// The names of the two records that reached most sessions.
fn labels(strands: &[Strand], svg: &mut String) {
    let mut taken: Option<(f64, f64)> = None;
    for (at, strand) in strands.iter().take(4).enumerate() {
        let Some(furthest) = strand.to.values().copied().reduce(f64::max) else {
            continue;
        };
        let half = (furthest - strand.from) * 500.0;
        let x = ((strand.from + furthest) * 50.0).clamp(18.0, 82.0);
        let y = (HIGH - height(half) - 4.0).max(14.0);
        let is_near = taken.is_some_and(|(tx, ty)| (tx - x).abs() < 44.0 && (ty - y).abs() < 18.0);
        if is_near || half < 60.0 {
            continue;
        }
        let class = if at == 0 {
            "mid t-accent halo"
        } else {
            "mid halo hide-s"
        };
        put(
            svg,
            format_args!("<text x=\"{x:.1}%\" y=\"{y:.0}\" class=\"{class}\">"),
        );
        let name = heirloom_model::text::excerpt(&told::name(&strand.record), 32);
        escape(&format!("{name}, used {} times", strand.to.len()), svg);
        svg.push_str("</text>");
        if taken.is_some() {
            break;
        }
        taken = Some((x, y));
    }
}
