//! Arc chart: the session in which a record was learned, and the sessions that received it.

use super::{DAYS, Week};
use crate::page::record_label;
use crate::page::view::chart::put;
use crate::page::view::overview::{ArcChart, ArcRow};
use crate::page::view::{Html, agent_mark, escape};
use heirloom_engine::{AsOf, Engine, Filter, ReceiptHead};
use heirloom_model::{Fault, Kind, Record, RecordId, Session, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of sessions in the chart, newest first.
const SESSIONS: usize = 40;
/// Maximum number of receipts that are read.
const RECEIPTS: usize = 60;
/// Maximum number of records that are considered of each session.
const OLDEST: usize = 40;
/// Maximum number of records in the chart, most used first.
const RECORDS: usize = 9;
/// Height of the arcs in pixels.
const HIGH: f64 = 186.0;

/// Number of sessions that received knowledge of earlier sessions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InheritanceCount {
    pub(super) sessions: usize,
    pub(super) with: usize,
}

impl InheritanceCount {
    /// Returns the headline.
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

/// A record, and the sessions that received it.
struct RecordArcs {
    record: Record,
    /// Position on the chart at which it was learned, 0 to 1.
    from: f64,
    /// Positions of the sessions that received it.
    to: BTreeMap<String, f64>,
}

pub(super) fn load(
    engine: &Engine,
    week: &Week,
) -> Result<(Option<ArcChart>, InheritanceCount), Fault> {
    let from = week.times.midnight(DAYS - 1);
    let mut sessions = engine.sessions().sessions_of(None, 200)?;
    sessions.retain(|session| session.started_at >= from && session.started_at <= week.times.now());
    let by_session = records_by_session(engine.contexts().receipt_heads(RECEIPTS)?, from);
    // The oldest records are most likely from another session.
    let oldest = by_session.values().flat_map(|ids| ids.iter().take(OLDEST));
    let ids: BTreeSet<RecordId> = oldest.copied().collect();
    let records = records(engine, ids)?;
    let places: HashMap<&str, f64> = sessions
        .iter()
        .map(|session| {
            (
                session.id.as_str(),
                week.times.position(session.started_at, DAYS),
            )
        })
        .collect();
    let mut with = 0;
    let mut strands: BTreeMap<RecordId, RecordArcs> = BTreeMap::new();
    for session in &sessions {
        let ids = by_session.get(&session.id).into_iter().flatten();
        let heirs = ids.filter_map(|id| records.get(id));
        let heirs: Vec<_> = heirs
            .filter(|record| is_inherited(record, session))
            .collect();
        with += usize::from(!heirs.is_empty());
        for record in heirs {
            let learned = record.scope.session.as_deref();
            let origin = learned.and_then(|id| places.get(id).copied());
            let from = origin.unwrap_or_else(|| week.times.position(record.recorded_at, DAYS));
            if from < 0.0 {
                continue;
            }
            let strand = strands.entry(record.id).or_insert_with(|| RecordArcs {
                record: record.clone(),
                from,
                to: BTreeMap::new(),
            });
            let to = places.get(session.id.as_str()).copied().unwrap_or(1.0);
            strand.to.insert(session.id.clone(), to);
        }
    }
    let inherited = InheritanceCount {
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
    Ok((Some(render_chart(week, &sessions, &strands)), inherited))
}

/// Returns the items of a JSON array; empty for other values.
pub(in crate::page) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Groups the records of contexts by session.
fn records_by_session(
    receipts: Vec<ReceiptHead>,
    from: Timestamp,
) -> HashMap<String, BTreeSet<RecordId>> {
    let mut by_session: HashMap<String, BTreeSet<RecordId>> = HashMap::new();
    for head in receipts.into_iter().filter(|head| head.receipt.at >= from) {
        if let Some(session) = head.session {
            by_session.entry(session).or_default().extend(head.records);
        }
    }
    by_session
}

fn records(engine: &Engine, ids: BTreeSet<RecordId>) -> Result<HashMap<RecordId, Record>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let limit = ids.len();
    let filter = Filter {
        as_of: AsOf::Ever,
        ..Filter::current(&[], engine.now())
    };
    let found = engine
        .records()
        .find(&filter.ids(ids.into_iter().collect()).limit(limit))?;
    Ok(found
        .into_iter()
        .map(|record| (record.id, record))
        .collect())
}

/// Returns true if a session received a record that it did not learn itself.
fn is_inherited(record: &Record, session: &Session) -> bool {
    let is_lasting = matches!(
        record.kind,
        Kind::Knowledge | Kind::Error | Kind::Episode | Kind::Summary | Kind::Note
    );
    is_lasting
        && record.scope.session.as_deref() != Some(session.id.as_str())
        && record.recorded_at <= session.started_at
}

/// Returns the three busiest agents of these sessions.
fn busiest_agents(sessions: &[Session]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions {
        *counts.entry(agent(session)).or_default() += 1;
    }
    let mut agents: Vec<_> = counts.into_iter().collect();
    agents.sort_by_key(|(name, n)| (std::cmp::Reverse(*n), name.clone()));
    agents.into_iter().map(|(name, _)| name).take(3).collect()
}

fn agent(session: &Session) -> String {
    heirloom_model::text::replace_control_chars(session.agent.as_deref().unwrap_or("unknown agent"))
}

fn render_chart(week: &Week, sessions: &[Session], strands: &[RecordArcs]) -> ArcChart {
    let agents = busiest_agents(sessions);
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"244\" role=\"img\" aria-labelledby=\"arc-t arc-d\"><title id=\"arc-t\">Records learned, and sessions that used them</title><desc id=\"arc-d\">",
    );
    escape(&text_alternative(sessions, strands), &mut svg);
    svg.push_str("</desc><svg class=\"plot\" y=\"0\" width=\"100%\" height=\"186\" viewBox=\"0 0 1000 186\" preserveAspectRatio=\"none\">");
    for (at, strand) in strands.iter().enumerate().rev() {
        draw_arcs(strand, at == 0, &mut svg);
    }
    svg.push_str("<line class=\"ax\" x1=\"0\" x2=\"1000\" y1=\"186\" y2=\"186\"/></svg>");
    draw_axis(week, &mut svg);
    for session in sessions {
        let name = agent(session);
        let mark = agents.iter().position(|one| *one == name).unwrap_or(2);
        let x = week.times.position(session.started_at, DAYS) * 100.0;
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
    draw_labels(strands, &mut svg);
    svg.push_str("</svg>");
    let mut kinds: Vec<_> = strands.iter().map(|one| one.record.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    ArcChart {
        svg: Html::from_markup(svg),
        agents,
        kinds,
        rows: strands.iter().map(|strand| row(week, strand)).collect(),
    }
}

fn row(week: &Week, strand: &RecordArcs) -> ArcRow {
    let record = &strand.record;
    ArcRow {
        name: record_label::name(record),
        href: record_label::href(record),
        learned: format!(
            "{}, {}",
            week.times.day(record.recorded_at),
            record_label::source_label(&record.source)
        ),
        sessions: strand.to.len(),
    }
}

/// Returns the chart's text alternative for screen readers.
fn text_alternative(sessions: &[Session], strands: &[RecordArcs]) -> String {
    let mut words = format!(
        "{} sessions over {DAYS} days. Arcs join where a record was learned to each session whose context held it.",
        sessions.len()
    );
    for strand in strands.iter().take(3) {
        words.push_str(&format!(
            " {} reached {} sessions.",
            record_label::name(&strand.record),
            strand.to.len()
        ));
    }
    words
}

/// Returns the height of an arc from half its width.
fn arc_height(half: f64) -> f64 {
    (168.0 * (half / 336.0).max(0.0).powf(0.6)).clamp(12.0, 168.0)
}

fn draw_arcs(strand: &RecordArcs, is_first: bool, svg: &mut String) {
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
                arc_height(half)
            ),
        );
    }
}

fn draw_axis(week: &Week, svg: &mut String) {
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

/// Draws the names of the two records that reached most sessions.
fn draw_labels(strands: &[RecordArcs], svg: &mut String) {
    let mut occupied: Option<(f64, f64)> = None;
    for (at, strand) in strands.iter().take(4).enumerate() {
        let Some(furthest) = strand.to.values().copied().reduce(f64::max) else {
            continue;
        };
        let half = (furthest - strand.from) * 500.0;
        let x = ((strand.from + furthest) * 50.0).clamp(18.0, 82.0);
        let y = (HIGH - arc_height(half) - 4.0).max(14.0);
        let is_near =
            occupied.is_some_and(|(tx, ty)| (tx - x).abs() < 44.0 && (ty - y).abs() < 18.0);
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
        let name = heirloom_model::text::excerpt(&record_label::name(&strand.record), 32);
        escape(&format!("{name}, used {} times", strand.to.len()), svg);
        svg.push_str("</text>");
        if occupied.is_some() {
            break;
        }
        occupied = Some((x, y));
    }
}
