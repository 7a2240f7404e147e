//! Timeline of the attempts of a task, as a chart.

use crate::page::view::chart::put;
use crate::page::view::{Html, Times, plural};
use heirloom_model::Record;
use heirloom_model::kinds::Episode;

/// Draws the attempts on a time axis.
#[expect(clippy::cast_precision_loss, reason = "places on a chart")]
pub(super) fn timeline_chart(episodes: &[(Record, Episode)], times: &Times) -> Option<Html> {
    let (first, last) = (episodes.first()?, episodes.last()?);
    if episodes.len() < 2 {
        return None;
    }
    let begin = |(record, one): &(Record, Episode)| {
        let ms = i64::try_from(one.duration_ms.unwrap_or(0)).unwrap_or(0);
        record.recorded_at.as_millisecond() - ms
    };
    let from = begin(first) as f64;
    let span = (last.0.recorded_at.as_millisecond() as f64 - from).max(60_000.0);
    let failed = episodes
        .iter()
        .filter(|(_, one)| one.action == "failed")
        .count();
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"52\" role=\"img\" aria-labelledby=\"ts-t\"><title id=\"ts-t\">",
    );
    put(
        &mut svg,
        format_args!(
            "{} from {} to {}: {failed} failed.</title><rect class=\"f-track\" x=\"0\" y=\"20.5\" width=\"100%\" height=\"1\"/>",
            plural(episodes.len(), "try", "tries"),
            times.full(first.0.recorded_at),
            times.full(last.0.recorded_at)
        ),
    );
    let mut label_free = -1.0;
    for (n, one) in (1..).zip(episodes) {
        let end = one.0.recorded_at.as_millisecond() as f64;
        let x = (begin(one) as f64 - from) / span * 97.0;
        let wide = ((end - begin(one) as f64) / span * 97.0).max(1.6);
        let (class, mark) = match one.1.action.as_str() {
            "completed" => ("f-ok", "✓"),
            "failed" => ("f-bad", "×"),
            _ => ("f-track", "·"),
        };
        put(
            &mut svg,
            format_args!(
                "<rect x=\"{x:.1}%\" y=\"14\" width=\"{wide:.1}%\" height=\"14\" rx=\"2\" class=\"{class}\"/>"
            ),
        );
        if x > label_free {
            put(
                &mut svg,
                format_args!("<text x=\"{x:.1}%\" y=\"9\" class=\"t-strong\">{n} {mark}</text>"),
            );
            label_free = x + 5.0;
        }
    }
    put(
        &mut svg,
        format_args!(
            "<text x=\"0\" y=\"47\" class=\"t-faint\">{}</text><text x=\"100%\" y=\"47\" class=\"end t-faint\">{}</text></svg>",
            times.day(first.0.recorded_at),
            times.full(last.0.recorded_at)
        ),
    );
    Some(Html::from_markup(svg))
}
