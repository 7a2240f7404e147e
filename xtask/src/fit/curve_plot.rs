//! Plots of the reliability of relevance, and of the trade-off between told and falsely told prompts.

use super::held_out::HeldOutQuestion;
use super::relevance_report::reliability;
use super::thresholds::{Thresholds, rates};
use std::fmt::Write;

/// Side of a plot, pixels.
const SIDE: f64 = 320.0;
/// Space around a plot, pixels.
const MARGIN: f64 = 56.0;
/// Right end of the horizontal axis of the trade-off.
const FALSE_SHARE_SHOWN: f64 = 0.2;

/// Returns the plot of the share of relevant records by their chance.
pub(crate) fn reliability_svg(questions: &[HeldOutQuestion]) -> String {
    let mut svg = begin("Relevance: share of records that are relevant, by their chance");
    frame(&mut svg, "relevance", "share that is relevant", 1.0);
    line(&mut svg, &[(0.0, 0.0), (1.0, 1.0)], "#bbb");
    let bins = reliability(questions, 10);
    let points: Vec<(f64, f64)> = bins
        .iter()
        .map(|(chance, share, _)| (*chance, *share))
        .collect();
    line(&mut svg, &points, "#06c");
    for (x, y) in &points {
        dot(&mut svg, *x, *y, "#06c");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Returns the plot of prompts that are told a right record against those that are told something without one.
pub(crate) fn tradeoff_svg(questions: &[HeldOutQuestion], thresholds: &Thresholds) -> String {
    let mut svg = begin("Prompts that are told a record, right and without an answer");
    frame(
        &mut svg,
        "unanswered prompts that are told something",
        "answered prompts told a right record",
        FALSE_SHARE_SHOWN,
    );
    let curve: Vec<(f64, f64)> = (1..=200)
        .map(|step| f64::from(step) / 200.0)
        .map(|strong| rates(questions, strong, strong.min(thresholds.more)))
        .filter(|found| found.falsely <= FALSE_SHARE_SHOWN)
        .map(|found| (found.falsely / FALSE_SHARE_SHOWN, found.told))
        .collect();
    line(&mut svg, &curve, "#06c");
    let chosen = thresholds.rates;
    dot(
        &mut svg,
        chosen.falsely / FALSE_SHARE_SHOWN,
        chosen.told,
        "#c30",
    );
    svg.push_str("</svg>\n");
    svg
}

fn begin(title: &str) -> String {
    let side = SIDE + 2.0 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    )
}

fn frame(svg: &mut String, below: &str, beside: &str, right_end: f64) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"#888\"/>"
    );
    for step in 0..=4 {
        let share = f64::from(step) / 4.0;
        let (x, y) = (MARGIN + share * SIDE, MARGIN + SIDE - share * SIDE);
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{:.0} %</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.0} %</text>",
            MARGIN + SIDE + 16.0,
            100.0 * share * right_end,
            MARGIN - 6.0,
            y + 4.0,
            100.0 * share
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{below}</text><text x=\"{MARGIN}\" y=\"{}\">{beside}</text>",
        MARGIN + SIDE / 2.0,
        MARGIN + SIDE + 36.0,
        MARGIN - 10.0
    );
}

fn line(svg: &mut String, points: &[(f64, f64)], colour: &str) {
    let list: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{:.1},{:.1}", MARGIN + x * SIDE, MARGIN + SIDE - y * SIDE))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
        list.join(" ")
    );
}

fn dot(svg: &mut String, x: f64, y: f64, colour: &str) {
    let _ = writeln!(
        svg,
        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>",
        MARGIN + x * SIDE,
        MARGIN + SIDE - y * SIDE
    );
}
