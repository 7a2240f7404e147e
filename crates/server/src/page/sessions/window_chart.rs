//! Window chart: tokens of the conversation and of the window, turn by turn.

use crate::page::view::chart::put;
use crate::page::view::{Html, short_number};
use heirloom_engine::WindowTimeline;
use heirloom_model::Message;

/// Height of the plot in pixels.
const HIGH: f64 = 232.0;

/// Draws the chart; `None` for fewer than three turns.
pub(super) fn render_chart(turns: &[Message], timeline: Option<&WindowTimeline>) -> Option<Html> {
    if turns.len() < 3 {
        return None;
    }
    let last = as_f64(turns.len() as u64);
    let whole = cumulative_tokens(turns, timeline);
    let most = whole.iter().map(|(_, tokens)| *tokens).fold(1.0, f64::max) * 1.08;
    let x = |turn: f64| turn / last * 1000.0;
    let y = |tokens: f64| HIGH - tokens / most * HIGH;
    let line = |points: &[(f64, f64)]| {
        let mut path = String::new();
        for (at, (turn, tokens)) in points.iter().enumerate() {
            let letter = if at == 0 { 'M' } else { 'L' };
            put(
                &mut path,
                format_args!("{letter}{:.1} {:.1}", x(*turn), y(*tokens)),
            );
        }
        path
    };
    let window: Vec<(f64, f64)> = match timeline {
        Some(timeline) => timeline
            .points
            .iter()
            .map(|point| {
                (
                    as_f64(point.messages as u64),
                    as_f64(point.tokens_after as u64),
                )
            })
            .collect(),
        None => whole.clone(),
    };
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"286\" role=\"img\" aria-labelledby=\"w-t w-d\"><title id=\"w-t\">Tokens in the window, turn by turn</title><desc id=\"w-d\">",
    );
    let end = |points: &[(f64, f64)]| points.last().map_or(0, |(_, tokens)| as_u64(*tokens));
    put(
        &mut svg,
        format_args!(
            "{} turns. The conversation grows to {} tokens, its window ends at {}.</desc>",
            turns.len(),
            short_number(end(&whole)),
            short_number(end(&window))
        ),
    );
    svg.push_str("<svg class=\"plot\" y=\"12\" width=\"100%\" height=\"232\" viewBox=\"0 0 1000 232\" preserveAspectRatio=\"none\">");
    let grid = round_to_leading_digit(most / 3.0);
    for n in 1..3 {
        let at = y(grid * f64::from(n));
        put(
            &mut svg,
            format_args!(
                "<line class=\"grid\" x1=\"0\" x2=\"1000\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
            ),
        );
    }
    let path = line(&window);
    let first = window.first().map_or(0.0, |(turn, _)| x(*turn));
    put(
        &mut svg,
        format_args!("<path class=\"area\" d=\"{path}L1000 232L{first:.1} 232Z\"/>"),
    );
    if timeline.is_some() {
        put(
            &mut svg,
            format_args!("<path class=\"ghost\" d=\"{}\"/>", line(&whole)),
        );
    }
    put(
        &mut svg,
        format_args!("<path class=\"stroke\" d=\"{path}\"/>"),
    );
    let threshold = timeline.map_or(0.0, |timeline| as_f64(timeline.threshold_tokens as u64));
    let has_limit = threshold > 0.0 && threshold < most;
    if has_limit {
        let at = y(threshold);
        put(
            &mut svg,
            format_args!(
                "<line class=\"lim\" x1=\"0\" x2=\"1000\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
            ),
        );
    }
    draw_labels(grid, has_limit.then_some(threshold), &y, &mut svg);
    draw_line_ends(timeline, last, (end(&whole), end(&window)), &y, &mut svg);
    put(
        &mut svg,
        format_args!(
            "<text x=\"0\" y=\"276\" class=\"t-faint\">turn 1</text><text x=\"100%\" y=\"276\" class=\"end t-faint\">{}</text></svg>",
            turns.len()
        ),
    );
    Some(Html::from_markup(svg))
}

/// Draws the labels of grid lines and threshold.
fn draw_labels(grid: f64, limit: Option<f64>, y: &dyn Fn(f64) -> f64, svg: &mut String) {
    svg.push_str("<line class=\"ax\" x1=\"0\" x2=\"1000\" y1=\"232\" y2=\"232\"/></svg>");
    for n in 1..3 {
        let tokens = grid * f64::from(n);
        put(
            svg,
            format_args!(
                "<text x=\"0\" y=\"{:.0}\" class=\"t-faint halo\">{}</text>",
                y(tokens) + 27.0,
                short_number(as_u64(tokens))
            ),
        );
    }
    if let Some(threshold) = limit {
        put(
            svg,
            format_args!(
                "<text x=\"0\" y=\"{:.0}\" class=\"halo hide-s\">summary threshold {}</text>",
                y(threshold) + 7.0,
                short_number(as_u64(threshold))
            ),
        );
    }
}

/// Draws compaction steps, reminders, and the labels at the ends of the lines.
fn draw_line_ends(
    timeline: Option<&WindowTimeline>,
    last: f64,
    (whole, window): (u64, u64),
    y: &dyn Fn(f64) -> f64,
    svg: &mut String,
) {
    if let Some(timeline) = timeline {
        draw_marks(timeline, last, y, svg);
        let (ghost, own) = (y(as_f64(whole)), y(as_f64(window)));
        if own - ghost > 24.0 {
            put(
                svg,
                format_args!(
                    "<text x=\"92%\" y=\"{:.0}\" class=\"end halo\">whole conversation, {}</text>",
                    ghost + 18.0,
                    short_number(whole)
                ),
            );
        }
        put(
            svg,
            format_args!(
                "<text x=\"99.5%\" y=\"{:.0}\" class=\"end t-accent halo\"><tspan class=\"hide-s\">window, </tspan>{}</text>",
                (own + 34.0).min(236.0),
                short_number(window)
            ),
        );
    }
}

/// Draws the numbers of compaction steps, and marks where the goal was repeated.
fn draw_marks(timeline: &WindowTimeline, last: f64, y: &dyn Fn(f64) -> f64, svg: &mut String) {
    let mut steps = 0;
    for pair in timeline.points.windows(2) {
        let x = as_f64(pair[1].messages as u64) / last * 100.0;
        if pair[1].tokens_after < pair[0].tokens_after {
            steps += 1;
            if steps <= 6 {
                let at = y(as_f64(pair[0].tokens_after as u64)) + 8.0;
                put(
                    svg,
                    format_args!(
                        "<text x=\"{x:.2}%\" y=\"{at:.0}\" class=\"t-accent mid halo\">step {steps}</text>"
                    ),
                );
            }
        }
        if pair[1].has_anchor {
            put(
                svg,
                format_args!(
                    "<line class=\"cut\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"252\" y2=\"259\"/>"
                ),
            );
        }
    }
}

/// Returns the cumulative tokens after each turn, at most about 200 points.
fn cumulative_tokens(turns: &[Message], timeline: Option<&WindowTimeline>) -> Vec<(f64, f64)> {
    if let Some(timeline) = timeline {
        let points = timeline.points.iter();
        return points
            .map(|point| {
                (
                    as_f64(point.messages as u64),
                    as_f64(point.tokens_before as u64),
                )
            })
            .collect();
    }
    let step = turns.len().div_ceil(200);
    let mut sum = 0_u64;
    let mut points = Vec::new();
    for (at, turn) in (1..).zip(turns) {
        sum += u64::from(turn.tokens);
        if at % step == 0 || at == turns.len() {
            points.push((as_f64(at as u64), as_f64(sum)));
        }
    }
    points
}

/// Rounds to one significant digit.
fn round_to_leading_digit(n: f64) -> f64 {
    let unit = 10_f64.powf(n.max(1.0).log10().floor());
    (n / unit).round().max(1.0) * unit
}

#[expect(clippy::cast_precision_loss, reason = "places on a chart")]
fn as_f64(n: u64) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tokens that came from whole numbers"
)]
fn as_u64(n: f64) -> u64 {
    n.round().max(0.0) as u64
}
