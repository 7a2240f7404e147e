//! Charts of the analytics page: success rate by week, and tokens by day and agent.

use crate::page::view::chart::put;
use crate::page::view::{Html, Times, escape, short_number, token_series};
use heirloom_engine::analytics::{self, AttemptGroup, EpisodeRow};
use heirloom_model::{Record, text};
use serde_json::Value;
use std::collections::BTreeMap;

/// Number of agents with a colour of their own; the last one may be all others.
pub(super) const AGENTS_DRAWN: usize = 4;
/// Number of drawn periods of seven days.
pub(super) const WEEKS_DRAWN: i32 = 5;

/// Attempts of seven days.
pub(super) struct Week {
    /// First day.
    label: String,
    pub(super) successes: usize,
    /// Number of attempts with a result.
    pub(super) ended: usize,
}

/// Groups episodes into periods of seven days that end today, oldest first.
pub(super) fn rolling_weeks(episodes: &[Record], times: &Times) -> Vec<Week> {
    let period = |back: i32| {
        let (from, to) = (times.midnight(7 * back + 6), times.midnight(7 * back - 1));
        let of_period = episodes
            .iter()
            .filter(|record| record.recorded_at >= from && record.recorded_at < to);
        let rows: Vec<_> = of_period.filter_map(EpisodeRow::from_record).collect();
        let report = analytics::analyse(&rows, &BTreeMap::new());
        let sum = |count: fn(&AttemptGroup) -> usize| report.by_agent.iter().map(count).sum();
        Week {
            label: match back {
                0 => "last 7 days".to_owned(),
                _ => format!("from {}", times.date(from)),
            },
            successes: sum(|group| group.successes),
            ended: sum(|group| group.successes + group.failures),
        }
    };
    (0..WEEKS_DRAWN).rev().map(period).collect()
}

/// Draws the success rate of each period as a line from 0 to 100 %.
#[expect(clippy::cast_precision_loss, reason = "a rate on a chart")]
pub(super) fn weeks(weeks: &[Week]) -> Html {
    let ended = weeks.iter().filter(|week| week.ended > 0);
    let rates: Vec<(&str, f64)> = ended
        .map(|week| {
            let rate = week.successes as f64 / week.ended as f64 * 100.0;
            (week.label.as_str(), rate)
        })
        .collect();
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"192\" role=\"img\" aria-labelledby=\"a-t a-d\"><title id=\"a-t\">Share of attempts that completed, by 7 days</title><desc id=\"a-d\">",
    );
    for (name, rate) in &rates {
        escape(&format!("{name}: {rate:.0} percent; "), &mut svg);
    }
    svg.push_str("</desc><svg class=\"plot\" y=\"14\" width=\"100%\" height=\"150\" viewBox=\"0 0 1000 150\" preserveAspectRatio=\"none\"><line class=\"grid\" x1=\"0\" x2=\"1000\" y1=\"75\" y2=\"75\"/><line class=\"grid\" x1=\"0\" x2=\"1000\" y1=\"0\" y2=\"0\"/>");
    let place = |at: usize| match rates.len() {
        0 | 1 => 525.0,
        n => {
            100.0
                + 850.0 * f64::from(u32::try_from(at).unwrap_or(0))
                    / f64::from(u32::try_from(n - 1).unwrap_or(1))
        }
    };
    let y = |rate: f64| 150.0 - rate * 1.5;
    let mut path = String::new();
    for (at, (_, rate)) in rates.iter().enumerate() {
        let letter = if at == 0 { 'M' } else { 'L' };
        put(
            &mut path,
            format_args!("{letter}{:.1} {:.1}", place(at), y(*rate)),
        );
    }
    if rates.len() > 1 {
        put(
            &mut svg,
            format_args!(
                "<path class=\"area\" d=\"{path}L950 150L100 150Z\"/><path class=\"stroke\" d=\"{path}\"/>"
            ),
        );
    }
    svg.push_str("<line class=\"ax\" x1=\"0\" x2=\"1000\" y1=\"150\" y2=\"150\"/></svg><text x=\"0\" y=\"27\" class=\"t-faint\">100 %</text><text x=\"0\" y=\"102\" class=\"t-faint\">50 %</text>");
    for (at, (name, rate)) in rates.iter().enumerate() {
        let x = place(at) / 10.0;
        let cy = y(*rate) + 14.0;
        let label = if cy < 26.0 { cy + 16.0 } else { cy - 10.0 };
        let strong = if at + 1 == rates.len() {
            "t-accent"
        } else {
            "t-strong"
        };
        put(
            &mut svg,
            format_args!(
                "<circle cx=\"{x:.2}%\" cy=\"{cy:.1}\" r=\"3\" class=\"f-accent\"/><text x=\"{x:.2}%\" y=\"{label:.0}\" class=\"mid {strong} halo\">{rate:.0} %</text><text x=\"{x:.2}%\" y=\"182\" class=\"mid\">"
            ),
        );
        escape(name, &mut svg);
        svg.push_str("</text>");
    }
    svg.push_str("</svg>");
    Html::from_markup(svg)
}

/// Draws the tokens read on each of the last seven days by agent, and returns their sum.
#[expect(clippy::cast_precision_loss, reason = "heights on a chart")]
pub(super) fn tokens(episodes: &[Record], agents: &[String], times: &Times) -> (Html, u64) {
    let mut days = [[0_u64; AGENTS_DRAWN]; 7];
    let others = agents.len().clamp(1, AGENTS_DRAWN) - 1;
    for record in episodes {
        let Ok(back @ 0..7) = usize::try_from(times.days_ago(record.recorded_at)) else {
            continue;
        };
        let read = record
            .attrs
            .get("tokens_in")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let agent = record.scope.agent.as_deref().unwrap_or_default();
        let at = agents
            .iter()
            .position(|name| name == agent)
            .unwrap_or(others);
        days[6 - back][at.min(others)] += read;
    }
    let most = days
        .iter()
        .map(|day| day.iter().sum::<u64>())
        .max()
        .unwrap_or(0)
        .max(1);
    let all: u64 = days.iter().flatten().sum();
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"168\" role=\"img\" aria-labelledby=\"k-t k-d\"><title id=\"k-t\">Tokens read per day, by agent</title><desc id=\"k-d\">",
    );
    let name = |at: usize| {
        let back = i32::try_from(6 - at).unwrap_or(0);
        match back {
            0 => "Today".to_owned(),
            back => times.weekday(times.midnight(back)),
        }
    };
    for (at, day) in days.iter().enumerate() {
        put(
            &mut svg,
            format_args!("{}: {}; ", name(at), short_number(day.iter().sum())),
        );
    }
    svg.push_str("</desc><line class=\"ax\" x1=\"0\" x2=\"100%\" y1=\"144\" y2=\"144\"/>");
    for (at, day) in days.iter().enumerate() {
        let x = 2.5 + 14.285 * f64::from(u32::try_from(at).unwrap_or(0));
        let mut top = 143.0;
        for (agent, read) in day.iter().enumerate().filter(|(_, read)| **read > 0) {
            let high = (*read as f64 / most as f64 * 116.0).max(1.5);
            top -= high;
            let who = agents.get(agent).map_or("others", String::as_str);
            put(
                &mut svg,
                format_args!(
                    "<rect class=\"c{}\" x=\"{x:.2}%\" width=\"9.2%\" y=\"{top:.1}\" height=\"{:.1}\"><title>",
                    token_series(&agent),
                    (high - 1.0).max(0.5)
                ),
            );
            escape(
                &format!(
                    "{}, {}: {}",
                    name(at),
                    text::replace_control_chars(who),
                    short_number(*read)
                ),
                &mut svg,
            );
            svg.push_str("</title></rect>");
        }
        let middle = x + 4.6;
        put(
            &mut svg,
            format_args!(
                "<text x=\"{middle:.2}%\" y=\"{:.0}\" class=\"mid t-strong\">{}</text><text x=\"{middle:.2}%\" y=\"160\" class=\"mid\">{}</text>",
                top - 5.0,
                short_number(day.iter().sum()),
                name(at)
            ),
        );
    }
    svg.push_str("</svg>");
    (Html::from_markup(svg), all)
}
