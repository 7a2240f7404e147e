//! Window chart: tokens of the conversation and of the window, turn by turn.

use crate::page::view::chart::put;
use crate::page::view::{Html, number, plural, short_number};
use heirloom_engine::WindowTimeline;
use heirloom_model::Message;

/// Top and height of the plot, pixels.
const TOP: f64 = 12.0;
const HIGH: f64 = 232.0;
/// Width of the plot; the values at the ends of the lines are right of it. Percent.
const WIDE: f64 = 92.0;
/// Least distance of two labels in a row, and of labels in a column: percent of the width, and pixels.
const STEP_WIDTH: f64 = 13.0;
const LINE_HIGH: f64 = 14.0;

/// Lines of the chart: turn and tokens of each point, from the first turn on.
struct ChartLines {
    turns: f64,
    whole: Vec<(f64, f64)>,
    window: Vec<(f64, f64)>,
    /// Tokens at the upper edge.
    most: f64,
}

impl ChartLines {
    /// Computes the lines; `None` for fewer than three turns.
    fn new(turns: &[Message], timeline: Option<&WindowTimeline>) -> Option<Self> {
        if turns.len() < 3 {
            return None;
        }
        let whole = cumulative_tokens(turns, timeline);
        let window = match timeline {
            Some(timeline) => window_tokens(timeline),
            None => whole.clone(),
        };
        let most = whole.iter().map(|(_, tokens)| *tokens).fold(1.0, f64::max) * 1.08;
        Some(Self {
            turns: as_f64(turns.len() as u64),
            whole,
            window,
            most,
        })
    }

    /// Returns the place of a turn in the plot, 0 to 1000.
    fn x(&self, turn: f64) -> f64 {
        turn / self.turns * 1000.0
    }

    /// Returns the place of a turn in the chart, percent.
    fn x_percent(&self, turn: f64) -> f64 {
        turn / self.turns * WIDE
    }

    /// Returns the height of a number of tokens in the plot.
    fn y(&self, tokens: f64) -> f64 {
        HIGH - tokens / self.most * HIGH
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (at, (turn, tokens)) in points.iter().enumerate() {
            let letter = if at == 0 { 'M' } else { 'L' };
            put(
                &mut path,
                format_args!("{letter}{:.1} {:.1}", self.x(*turn), self.y(*tokens)),
            );
        }
        path
    }

    /// Returns the last values of the conversation and of the window.
    fn ends(&self) -> (u64, u64) {
        let end = |points: &[(f64, f64)]| points.last().map_or(0, |(_, tokens)| as_u64(*tokens));
        (end(&self.whole), end(&self.window))
    }
}

/// Draws the chart; `None` for fewer than three turns.
pub(super) fn render_chart(turns: &[Message], timeline: Option<&WindowTimeline>) -> Option<Html> {
    let lines = ChartLines::new(turns, timeline)?;
    let (whole, window) = lines.ends();
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"296\" role=\"img\" aria-labelledby=\"w-t w-d\"><title id=\"w-t\">Tokens in the window, turn by turn</title><desc id=\"w-d\">",
    );
    put(
        &mut svg,
        format_args!(
            "{}. The conversation grows to {} tokens, its window ends at {}.</desc>",
            plural(turns.len(), "turn", "turns"),
            short_number(whole),
            short_number(window)
        ),
    );
    draw_plot(&lines, timeline, &mut svg);
    draw_values(&lines, timeline.is_some(), &mut svg);
    if let Some(timeline) = timeline {
        draw_marks(&lines, timeline, &mut svg);
    }
    put(
        &mut svg,
        format_args!(
            "<text x=\"0\" y=\"290\" class=\"t-faint\">turn 1</text><text x=\"{WIDE}%\" y=\"290\" class=\"end t-faint\">turn {}</text></svg>",
            number(turns.len() as u64)
        ),
    );
    Some(Html::from_markup(svg))
}

/// Returns the names of the lines for the legend: style class of the line, and name with its last value.
pub(super) fn series(
    turns: &[Message],
    timeline: Option<&WindowTimeline>,
) -> Vec<(&'static str, String)> {
    let Some(lines) = ChartLines::new(turns, timeline) else {
        return Vec::new();
    };
    let (whole, window) = lines.ends();
    let Some(timeline) = timeline else {
        return vec![("stroke", format!("conversation, {}", short_number(whole)))];
    };
    let mut series = vec![
        (
            "stroke",
            format!("window, {} at the end", short_number(window)),
        ),
        (
            "ghost",
            format!("whole conversation, {}", short_number(whole)),
        ),
    ];
    let threshold = timeline.threshold_tokens as u64;
    if is_limit_shown(&lines, timeline) {
        let name = format!("summary threshold, {}", short_number(threshold));
        series.push(("lim", name));
    }
    series
}

/// Returns the tokens of the whole conversation, the same number as in the chart.
pub(super) fn conversation_tokens(turns: &[Message], timeline: Option<&WindowTimeline>) -> u64 {
    match timeline.and_then(|timeline| timeline.points.last()) {
        Some(point) => point.tokens_before as u64,
        None => turns.iter().map(|turn| u64::from(turn.tokens)).sum(),
    }
}

fn is_limit_shown(lines: &ChartLines, timeline: &WindowTimeline) -> bool {
    let threshold = as_f64(timeline.threshold_tokens as u64);
    threshold > 0.0 && threshold < lines.most
}

/// Draws the lines on the grid.
fn draw_plot(lines: &ChartLines, timeline: Option<&WindowTimeline>, svg: &mut String) {
    put(
        svg,
        format_args!(
            "<svg class=\"plot\" y=\"{TOP}\" width=\"{WIDE}%\" height=\"{HIGH}\" viewBox=\"0 0 1000 {HIGH}\" preserveAspectRatio=\"none\">"
        ),
    );
    let mut level = |class: &str, tokens: f64| {
        let at = lines.y(tokens);
        put(
            svg,
            format_args!(
                "<line class=\"{class}\" x1=\"0\" x2=\"1000\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
            ),
        );
    };
    for tokens in grid(lines) {
        level("grid", tokens);
    }
    if let Some(timeline) = timeline.filter(|timeline| is_limit_shown(lines, timeline)) {
        level("lim", as_f64(timeline.threshold_tokens as u64));
    }
    level("ax", 0.0);
    let path = lines.path(&lines.window);
    put(
        svg,
        format_args!("<path class=\"area\" d=\"{path}L1000 {HIGH}L0 {HIGH}Z\"/>"),
    );
    if timeline.is_some() {
        let ghost = lines.path(&lines.whole);
        put(svg, format_args!("<path class=\"ghost\" d=\"{ghost}\"/>"));
    }
    put(
        svg,
        format_args!("<path class=\"stroke\" d=\"{path}\"/></svg>"),
    );
}

/// Returns the tokens of the grid lines.
fn grid(lines: &ChartLines) -> [f64; 2] {
    let unit = round_to_leading_digit(lines.most / 3.0);
    [unit, unit * 2.0]
}

/// Draws the values of the grid lines at the left, and those of the lines' ends right of the plot.
fn draw_values(lines: &ChartLines, has_window: bool, svg: &mut String) {
    for tokens in grid(lines) {
        let at = lines.y(tokens) + TOP - 4.0;
        put(
            svg,
            format_args!(
                "<text x=\"0\" y=\"{at:.0}\" class=\"t-faint halo\">{}</text>",
                short_number(as_u64(tokens))
            ),
        );
    }
    let (whole, window) = lines.ends();
    let place = |tokens: u64| lines.y(as_f64(tokens)) + TOP + 4.0;
    let x = WIDE + 1.0;
    put(
        svg,
        format_args!(
            "<text x=\"{x}%\" y=\"{:.0}\" class=\"t-accent\">{}</text>",
            place(window),
            short_number(window)
        ),
    );
    if has_window && place(window) - place(whole) > LINE_HIGH {
        put(
            svg,
            format_args!(
                "<text x=\"{x}%\" y=\"{:.0}\">{}</text>",
                place(whole),
                short_number(whole)
            ),
        );
    }
}

/// Draws the compaction steps below the plot, and marks where the goal was repeated.
fn draw_marks(lines: &ChartLines, timeline: &WindowTimeline, svg: &mut String) {
    let (mut step, mut free) = (0, 0.0);
    for pair in timeline.points.windows(2) {
        let x = lines.x_percent(as_f64(pair[1].messages as u64));
        if pair[1].has_anchor {
            put(
                svg,
                format_args!(
                    "<line class=\"cut\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"247\" y2=\"254\"/>"
                ),
            );
        }
        if pair[1].tokens_after >= pair[0].tokens_after {
            continue;
        }
        step += 1;
        let (from, to) = (
            short_number(pair[0].tokens_after as u64),
            short_number(pair[1].tokens_after as u64),
        );
        put(
            svg,
            format_args!(
                "<line class=\"ghost\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{TOP}\" y2=\"257\"><title>Step {step} at turn {}: {from} to {to}</title></line>",
                pair[1].messages
            ),
        );
        let is_inside = (STEP_WIDTH / 2.0..=WIDE - STEP_WIDTH / 2.0).contains(&x);
        if x >= free && is_inside {
            put(
                svg,
                format_args!(
                    "<text x=\"{x:.2}%\" y=\"270\" class=\"t-accent mid\">step {step}</text>"
                ),
            );
            free = x + STEP_WIDTH;
        }
    }
}

/// Returns the tokens of the window after each turn of the timeline, from the first turn on.
fn window_tokens(timeline: &WindowTimeline) -> Vec<(f64, f64)> {
    let points = timeline.points.iter().map(|point| {
        (
            as_f64(point.messages as u64),
            as_f64(point.tokens_after as u64),
        )
    });
    std::iter::once((0.0, 0.0)).chain(points).collect()
}

/// Returns the cumulative tokens from the first turn on, at most about 200 points.
fn cumulative_tokens(turns: &[Message], timeline: Option<&WindowTimeline>) -> Vec<(f64, f64)> {
    let start = std::iter::once((0.0, 0.0));
    if let Some(timeline) = timeline {
        let points = timeline.points.iter();
        let points = points.map(|point| {
            (
                as_f64(point.messages as u64),
                as_f64(point.tokens_before as u64),
            )
        });
        return start.chain(points).collect();
    }
    let step = turns.len().div_ceil(200);
    let mut sum = 0_u64;
    let mut points: Vec<_> = start.collect();
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
