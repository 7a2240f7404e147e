//! The window over time: tokens of the conversation and of what is sent, turn by turn.

use crate::page::view::chart::put;
use crate::page::view::{Html, short};
use heirloom_engine::WindowStory;
use heirloom_model::Message;

/// Height of the plot.
const HIGH: f64 = 232.0;

/// The chart; nothing for fewer than three turns.
pub(super) fn drawn(turns: &[Message], story: Option<&WindowStory>) -> Option<Html> {
    if turns.len() < 3 {
        return None;
    }
    let last = as_f64(turns.len() as u64);
    let whole = cumulated(turns, story);
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
    let window: Vec<(f64, f64)> = match story {
        Some(story) => story
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
            short(end(&whole)),
            short(end(&window))
        ),
    );
    svg.push_str("<svg class=\"plot\" y=\"12\" width=\"100%\" height=\"232\" viewBox=\"0 0 1000 232\" preserveAspectRatio=\"none\">");
    let grid = nice(most / 3.0);
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
    if story.is_some() {
        put(
            &mut svg,
            format_args!("<path class=\"ghost\" d=\"{}\"/>", line(&whole)),
        );
    }
    put(
        &mut svg,
        format_args!("<path class=\"stroke\" d=\"{path}\"/>"),
    );
    let threshold = story.map_or(0.0, |story| as_f64(story.threshold_tokens as u64));
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
    labels(grid, has_limit.then_some(threshold), &y, &mut svg);
    ends(story, last, (end(&whole), end(&window)), &y, &mut svg);
    put(
        &mut svg,
        format_args!(
            "<text x=\"0\" y=\"276\" class=\"t-faint\">turn 1</text><text x=\"100%\" y=\"276\" class=\"end t-faint\">{}</text></svg>",
            turns.len()
        ),
    );
    Some(Html::made(svg))
}

/// The numbers at the lines.
fn labels(grid: f64, limit: Option<f64>, y: &dyn Fn(f64) -> f64, svg: &mut String) {
    svg.push_str("<line class=\"ax\" x1=\"0\" x2=\"1000\" y1=\"232\" y2=\"232\"/></svg>");
    for n in 1..3 {
        let tokens = grid * f64::from(n);
        put(
            svg,
            format_args!(
                "<text x=\"0\" y=\"{:.0}\" class=\"t-faint halo\">{}</text>",
                y(tokens) + 27.0,
                short(as_u64(tokens))
            ),
        );
    }
    if let Some(threshold) = limit {
        put(
            svg,
            format_args!(
                "<text x=\"0\" y=\"{:.0}\" class=\"halo hide-s\">summary threshold {}</text>",
                y(threshold) + 7.0,
                short(as_u64(threshold))
            ),
        );
    }
}

/// Steps, reminders, and what the lines end at.
fn ends(
    story: Option<&WindowStory>,
    last: f64,
    (whole, window): (u64, u64),
    y: &dyn Fn(f64) -> f64,
    svg: &mut String,
) {
    if let Some(story) = story {
        marks(story, last, y, svg);
        let (ghost, own) = (y(as_f64(whole)), y(as_f64(window)));
        if own - ghost > 24.0 {
            put(
                svg,
                format_args!(
                    "<text x=\"92%\" y=\"{:.0}\" class=\"end halo\">whole conversation, {}</text>",
                    ghost + 18.0,
                    short(whole)
                ),
            );
        }
        put(
            svg,
            format_args!(
                "<text x=\"99.5%\" y=\"{:.0}\" class=\"end t-accent halo\"><tspan class=\"hide-s\">window, </tspan>{}</text>",
                (own + 34.0).min(236.0),
                short(window)
            ),
        );
    }
}

/// Steps by number, and where the goal was said again.
fn marks(story: &WindowStory, last: f64, y: &dyn Fn(f64) -> f64, svg: &mut String) {
    let mut steps = 0;
    for pair in story.points.windows(2) {
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

/// Tokens so far after each turn, at most some hundred points.
fn cumulated(turns: &[Message], story: Option<&WindowStory>) -> Vec<(f64, f64)> {
    if let Some(story) = story {
        let points = story.points.iter();
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

/// A round number near to this one.
fn nice(n: f64) -> f64 {
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
