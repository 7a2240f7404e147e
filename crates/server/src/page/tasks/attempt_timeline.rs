//! Attempts of a task as bars, whose widths are the durations.

use crate::page::view::chart::put;
use crate::page::view::{Html, Times, duration, escape, plural};
use heirloom_model::Record;
use heirloom_model::kinds::{Episode, result_label};

/// Share of the width that a label takes on a phone, percent.
const NUMBER_WIDTH: f64 = 8.0;
const DURATION_WIDTH: f64 = 10.5;

/// Bar of an attempt, in percent of the width.
struct AttemptBar {
    x: f64,
    wide: f64,
}

/// Draws the attempts as bars, oldest first; `None` for fewer than two.
pub(super) fn timeline_chart(episodes: &[(Record, Episode)], times: &Times) -> Option<Html> {
    let (first, last) = (episodes.first()?, episodes.last()?);
    if episodes.len() < 2 {
        return None;
    }
    let failed = episodes
        .iter()
        .filter(|(_, one)| one.action == "failed")
        .count();
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"64\" role=\"img\" aria-labelledby=\"ts-t\"><title id=\"ts-t\">",
    );
    put(
        &mut svg,
        format_args!(
            "{} from {} to {}, {failed} failed; the width of a bar is the duration.</title>",
            plural(episodes.len(), "attempt", "attempts"),
            times.full(first.0.recorded_at),
            times.full(last.0.recorded_at)
        ),
    );
    let durations: Vec<u64> = episodes
        .iter()
        .map(|(_, one)| one.duration_ms.unwrap_or(0))
        .collect();
    let (mut number_free, mut duration_free) = (0.0, 0.0);
    for (n, (bar, (record, one))) in (1..).zip(bars(&durations).iter().zip(episodes)) {
        let (class, mark) = match one.action.as_str() {
            "completed" => ("f-ok", "✓"),
            "failed" => ("f-bad", "×"),
            _ => ("f-track", "·"),
        };
        let length = one.duration_ms.filter(|ms| *ms > 0).map(duration);
        let mut label = format!("Attempt {n}, {}, ", result_label(&one.action));
        label.push_str(length.as_deref().unwrap_or("duration not recorded"));
        label.push_str(&format!(", {}", times.full(record.recorded_at)));
        let (x, wide) = (bar.x, bar.wide);
        put(
            &mut svg,
            format_args!(
                "<rect x=\"{x:.2}%\" y=\"14\" width=\"{wide:.2}%\" height=\"14\" rx=\"2\" class=\"{class}\"><title>"
            ),
        );
        escape(&label, &mut svg);
        svg.push_str("</title></rect>");
        if x >= number_free && x <= 100.0 - NUMBER_WIDTH {
            put(
                &mut svg,
                format_args!("<text x=\"{x:.2}%\" y=\"9\" class=\"t-strong\">{n} {mark}</text>"),
            );
            number_free = x + NUMBER_WIDTH;
        }
        if let Some(length) = length
            && x >= duration_free
            && x <= 100.0 - DURATION_WIDTH
        {
            put(
                &mut svg,
                format_args!("<text x=\"{x:.2}%\" y=\"41\">{length}</text>"),
            );
            duration_free = x + DURATION_WIDTH;
        }
    }
    put(
        &mut svg,
        format_args!(
            "<text x=\"0\" y=\"59\" class=\"t-faint\">{}</text><text x=\"100%\" y=\"59\" class=\"end t-faint\">{}</text></svg>",
            times.day(first.0.recorded_at),
            times.full(last.0.recorded_at)
        ),
    );
    Some(Html::from_markup(svg))
}

/// Places bars side by side, each with a visible minimum and a share of the rest by duration.
#[expect(clippy::cast_precision_loss, reason = "places on a chart")]
fn bars(durations: &[u64]) -> Vec<AttemptBar> {
    let n = durations.len().max(1) as f64;
    let (gap, least) = ((20.0 / n).min(0.8), (40.0 / n).min(1.6));
    let total: u64 = durations.iter().sum();
    let rest = 100.0 - gap * (n - 1.0) - least * n;
    let mut x = 0.0;
    let mut place = |ms: &u64| {
        let share = match total {
            0 => 1.0 / n,
            total => *ms as f64 / total as f64,
        };
        let bar = AttemptBar {
            x,
            wide: least + rest * share,
        };
        x += bar.wide + gap;
        bar
    };
    durations.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fill_the_width_in_proportion_to_durations() {
        for durations in [&[30, 10, 20][..], &[0, 0], &[5; 60], &[0, 1_000_000]] {
            let bars = bars(durations);
            let end = bars.last().map_or(0.0, |bar| bar.x + bar.wide);
            assert!((end - 100.0).abs() < 1e-6, "{durations:?}: {end}");
            assert!(bars.iter().all(|bar| bar.wide > 0.3), "{durations:?}");
        }
        let bars = bars(&[30, 10, 20]);
        assert!(bars[0].wide > bars[2].wide && bars[2].wide > bars[1].wide);
    }
}
