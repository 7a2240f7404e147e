//! Budget chart: included items by section, and after the limit line the omitted items by reason.

use super::{ReceiptBody, ReceiptItem, series};
use crate::page::view::chart::put;
use crate::page::view::{Html, escape, number};
use std::collections::BTreeMap;

/// Maximum drawn size of the omitted items, in budgets.
const CUT_BUDGETS_MAX: f64 = 1.5;

pub(super) fn render_chart(
    body: &ReceiptBody<'_>,
    sections: &[(String, u64, u64)],
    pieces: &[ReceiptItem],
) -> Html {
    let unit = if body.is_tokens() {
        "tokens"
    } else {
        "characters"
    };
    let budget = as_f64(body.budget().max(1));
    let used = as_f64(body.used());
    let cut: u64 = pieces
        .iter()
        .filter(|piece| !piece.is_in)
        .map(|piece| piece.size)
        .sum();
    let drawn_cut = as_f64(cut).min(budget * CUT_BUDGETS_MAX);
    let inside = budget.max(used);
    let whole = (inside + drawn_cut * 1.04).max(1.0);
    let percent = |size: f64| size / whole * 100.0;
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"104\" role=\"img\" aria-labelledby=\"b-t b-d\"><title id=\"b-t\">",
    );
    let title = format!(
        "The budget: {} of {} {unit}",
        number(body.used()),
        number(body.budget())
    );
    escape(&title, &mut svg);
    svg.push_str("</title><desc id=\"b-d\">");
    escape(&text_alternative(body, sections, cut, unit), &mut svg);
    svg.push_str("</desc>");
    let mut labels = Vec::new();
    let mut x = 0.0;
    let gap = 0.16;
    for (at, (name, chars, _)) in sections.iter().enumerate() {
        let own: Vec<_> = pieces
            .iter()
            .filter(|one| one.section == at && one.is_in)
            .collect();
        if own.is_empty() {
            continue;
        }
        let size = if body.is_tokens() {
            chars.div_ceil(4)
        } else {
            *chars
        };
        let items: u64 = own.iter().map(|one| one.size).sum();
        // Headings and line breaks of a section are distributed over its items.
        let stretch = as_f64(size) / as_f64(items.max(1));
        labels.push((x, name.clone(), size));
        for piece in own {
            let wide = percent(as_f64(piece.size) * stretch);
            let words = format!(
                "{name}: {}, {} {unit}",
                item_name(piece),
                number(piece.size)
            );
            draw_rect(
                &format!("c{}", series(at)),
                x,
                (wide - gap).max(0.15),
                &words,
                &mut svg,
            );
            x += wide;
        }
    }
    let limit = percent(inside);
    if x < limit {
        put(
            &mut svg,
            format_args!(
                "<rect class=\"f-track\" x=\"{x:.2}%\" width=\"{:.2}%\" y=\"24\" height=\"44\"/>",
                limit - x
            ),
        );
    }
    let reasons = draw_omitted(pieces, unit, limit, &percent, &mut svg);
    draw_limit_line(body, cut, unit, limit, &mut svg);
    draw_labels(&labels, limit, &mut svg);
    draw_labels(&reasons, 100.0, &mut svg);
    svg.push_str("</svg>");
    Html::from_markup(svg)
}

/// Draws the limit line, with labels on both sides.
fn draw_limit_line(body: &ReceiptBody<'_>, cut: u64, unit: &str, limit: f64, svg: &mut String) {
    put(
        svg,
        format_args!(
            "<line class=\"lim\" x1=\"{limit:.2}%\" x2=\"{limit:.2}%\" y1=\"8\" y2=\"74\"/><text x=\"0\" y=\"16\">in: {} {unit}</text>",
            number(body.used())
        ),
    );
    let (at, end) = if limit > 60.0 {
        (limit - 0.6, " end")
    } else {
        (limit + 0.8, "")
    };
    let row = if limit > 60.0 { 16 } else { 18 };
    put(
        svg,
        format_args!(
            "<text x=\"{at:.2}%\" y=\"{row}\" class=\"t-strong{end}\">budget {}</text>",
            number(body.budget())
        ),
    );
    if cut > 0 && limit <= 84.0 && limit > 60.0 {
        put(
            svg,
            format_args!(
                "<text x=\"{:.2}%\" y=\"16\" class=\"hide-s\">cut: {} {unit}</text>",
                limit + 0.8,
                number(cut)
            ),
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "places on a chart")]
fn as_f64(n: u64) -> f64 {
    n as f64
}

fn item_name(piece: &ReceiptItem) -> String {
    let name = piece.file.clone().unwrap_or_else(|| piece.words.clone());
    heirloom_model::text::excerpt(&name, 60)
}

fn draw_rect(class: &str, x: f64, wide: f64, words: &str, svg: &mut String) {
    put(
        svg,
        format_args!(
            "<rect class=\"{class}\" x=\"{x:.2}%\" width=\"{wide:.2}%\" y=\"24\" height=\"44\"><title>"
        ),
    );
    escape(words, svg);
    svg.push_str("</title></rect>");
}

/// Draws the omitted items after the limit line, grouped by reason, and returns the start of each reason.
fn draw_omitted(
    pieces: &[ReceiptItem],
    unit: &str,
    limit: f64,
    percent: &dyn Fn(f64) -> f64,
    svg: &mut String,
) -> Vec<(f64, String, u64)> {
    let mut by_reason: BTreeMap<&str, Vec<&ReceiptItem>> = BTreeMap::new();
    for piece in pieces.iter().filter(|piece| !piece.is_in) {
        by_reason.entry(&piece.reason).or_default().push(piece);
    }
    let mut x = limit + 0.3;
    let mut reasons = Vec::new();
    for (reason, pieces) in by_reason {
        let size: u64 = pieces.iter().map(|piece| piece.size).sum();
        reasons.push((x, reason.to_owned(), size));
        for piece in pieces {
            let wide = percent(as_f64(piece.size));
            if x + wide > 100.5 {
                break;
            }
            let words = format!(
                "Cut: {}, {} {unit}, {reason}",
                item_name(piece),
                number(piece.size)
            );
            draw_rect("cutbox", x, (wide - 0.3).max(0.2), &words, svg);
            x += wide;
        }
    }
    reasons
}

/// Draws as many labels below the bar as fit.
fn draw_labels(labels: &[(f64, String, u64)], end: f64, svg: &mut String) {
    let mut free = 0.0;
    for (at, (x, name, size)) in labels.iter().enumerate() {
        let next = labels.get(at + 1).map_or(end, |(next, ..)| *next);
        let name = heirloom_model::text::excerpt(name, 22);
        let wide = f64::from(u32::try_from(name.chars().count()).unwrap_or(0)) * 0.95;
        let fits = next - x > wide.min(7.0) || wide < end - x;
        if *x < free || !fits || x + wide > end.max(96.0) + 2.0 {
            continue;
        }
        free = x + wide + 1.0;
        put(
            svg,
            format_args!("<text x=\"{x:.2}%\" y=\"84\" class=\"t-strong hide-s\">"),
        );
        escape(&name, svg);
        put(
            svg,
            format_args!(
                "</text><text x=\"{x:.2}%\" y=\"98\" class=\"hide-s\">{}</text>",
                number(*size)
            ),
        );
    }
}

fn text_alternative(
    body: &ReceiptBody<'_>,
    sections: &[(String, u64, u64)],
    cut: u64,
    unit: &str,
) -> String {
    let mut words = String::new();
    for (name, chars, _) in sections.iter().filter(|(_, chars, _)| *chars > 0) {
        let size = if body.is_tokens() {
            chars.div_ceil(4)
        } else {
            *chars
        };
        words.push_str(&format!("{name} {} {unit}; ", number(size)));
    }
    let free = body.budget().saturating_sub(body.used());
    words.push_str(&format!(
        "{} free. Past the limit, {} {unit} were cut. The table below lists each item.",
        number(free),
        number(cut)
    ));
    words
}
