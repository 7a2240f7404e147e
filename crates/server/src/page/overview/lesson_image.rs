//! Image of a lesson: a self-contained SVG for copying, without styles, links and scripts.

use super::lesson_outcomes::{LessonOutcome, Then, Told};
use super::lesson_section::{cost_text, result_text};
use super::{DAYS, lesson_chart};
use crate::page::record_label;
use crate::page::view::chart::put;
use crate::page::view::{Times, escape};
use heirloom_model::text;

/// Width of the image.
const WIDE: f64 = 760.0;
/// Left edge and width of the chart.
const CHART: (f64, f64) = (32.0, 696.0);
/// Height of the chart's base line.
const BASE: f64 = 250.0;
/// Maximum number of characters in one line of text.
const LINE_CHARS: usize = 88;
/// Maximum number of lines of the lesson's text.
const LINES: usize = 3;

/// Draws the image of a lesson.
pub(super) fn draw(lesson: &LessonOutcome, times: &Times, project: &str) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDE}\" height=\"330\" viewBox=\"0 0 {WIDE} 330\" font-family=\"system-ui, sans-serif\" font-size=\"14\" fill=\"#1a1d19\"><rect width=\"100%\" height=\"100%\" fill=\"#fbfbf9\"/>"
    );
    put_text(
        &mut svg,
        32.0,
        40.0,
        "font-size=\"18\" font-weight=\"600\"",
        &record_label::name(&lesson.record),
    );
    let mut y = 64.0;
    for line in wrap(&text::replace_control_chars(&lesson.record.text)) {
        put_text(&mut svg, 32.0, y, "", &line);
        y += 19.0;
    }
    put_text(
        &mut svg,
        32.0,
        y + 2.0,
        "fill=\"#555a52\" font-size=\"13\"",
        &cost_text(lesson, times),
    );
    draw_arcs(lesson, times, &mut svg);
    let colour = if lesson.repeated() > 0 {
        "#b0342a"
    } else {
        "#2a7036"
    };
    put_text(
        &mut svg,
        32.0,
        302.0,
        &format!("font-weight=\"600\" fill=\"{colour}\""),
        &result_text(lesson),
    );
    put_text(
        &mut svg,
        WIDE - 32.0,
        302.0,
        "text-anchor=\"end\" fill=\"#646961\" font-size=\"12\"",
        &format!("{project}, Heirloom"),
    );
    svg.push_str("</svg>");
    svg
}

fn draw_arcs(lesson: &LessonOutcome, times: &Times, svg: &mut String) {
    let place = |at: f64| CHART.0 + at.clamp(0.0, 1.0) * CHART.1;
    let from = place(times.position(lesson.record.recorded_at, DAYS));
    put(
        svg,
        format_args!(
            "<path d=\"M{} {BASE}H{}\" stroke=\"#80857c\"/><circle cx=\"{from:.0}\" cy=\"{BASE}\" r=\"5\" fill=\"#0b5f6f\"/>",
            CHART.0,
            CHART.0 + CHART.1
        ),
    );
    for delivery in &lesson.deliveries {
        let to = place(times.position(delivery.session.started_at, DAYS));
        let half = ((to - from) / 2.0).max(3.0);
        let high = (110.0 * (half / 348.0).powf(0.6)).clamp(10.0, 110.0);
        let (colour, dash) = match (&delivery.then, delivery.told) {
            (Then::Repeated(..), _) => ("#b0342a", ""),
            (Then::Completed(_), Told::Yes) => ("#2a7036", ""),
            (_, Told::Yes) => ("#0b5f6f", ""),
            (_, Told::Cut | Told::NoContext) => ("#80857c", " stroke-dasharray=\"4 3\""),
        };
        put(
            svg,
            format_args!(
                "<path d=\"M{from:.0} {BASE}A{half:.0} {high:.0} 0 0 1 {:.0} {BASE}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/><circle cx=\"{:.0}\" cy=\"{BASE}\" r=\"4\" fill=\"{colour}\"/>",
                from + 2.0 * half,
                from + 2.0 * half
            ),
        );
        let name = lesson_chart::agent(&delivery.session);
        put_text(
            svg,
            from + 2.0 * half,
            BASE + 20.0,
            "text-anchor=\"middle\" font-size=\"11\" fill=\"#555a52\"",
            &text::excerpt(&name, 14),
        );
    }
}

/// Appends a text element with escaped text.
fn put_text(svg: &mut String, x: f64, y: f64, attributes: &str, words: &str) {
    put(
        svg,
        format_args!("<text x=\"{x:.0}\" y=\"{y:.0}\" {attributes}>"),
    );
    escape(words, svg);
    svg.push_str("</text>");
}

/// Breaks a text into at most [`LINES`] lines.
fn wrap(words: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text::excerpt(words, LINES * LINE_CHARS - 20).split_whitespace() {
        let word = text::excerpt(word, LINE_CHARS);
        match lines.last_mut() {
            Some(line) if text::chars(line) + text::chars(&word) < LINE_CHARS => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) | None => lines.push(word),
        }
    }
    lines.truncate(LINES);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_into_three_lines() {
        let lines = wrap(&"word ".repeat(400));
        assert_eq!(lines.len(), LINES);
        assert!(lines.iter().all(|line| text::chars(line) <= LINE_CHARS));
        assert_eq!(wrap(&"x".repeat(1_000)).len(), 1);
    }
}
