//! Charts as inline SVG; positions are percentages, so that text does not scale.

use super::html::{Html, escape};
use std::fmt::Write as _;

/// Draws a sparkline of daily counts; `label` names them for screen readers.
pub(crate) fn spark(label: &str, days: &[u64]) -> Html {
    let most = days.iter().copied().max().unwrap_or(0).max(1);
    let counts: Vec<_> = days.iter().map(ToString::to_string).collect();
    let mut out = String::from("<svg class=\"spark\" role=\"img\" aria-label=\"");
    escape(label, &mut out);
    put(&mut out, format_args!(", by day: {}\">", counts.join(", ")));
    for (at, n) in days.iter().enumerate() {
        let high = (n * 14).div_ceil(most).max(1);
        let none = if *n == 0 { " class=\"z\"" } else { "" };
        put(
            &mut out,
            format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"6\" height=\"{high}\"{none}/>",
                at * 8,
                16 - high
            ),
        );
    }
    out.push_str("</svg>");
    Html::from_markup(out)
}

/// Draws a share as a bar.
pub(crate) fn share(label: &str, percent: u64, class: &str, is_thin: bool) -> Html {
    let (thin, high) = if is_thin { (" thin", 4) } else { ("", 8) };
    let mut out = format!("<svg class=\"bar{thin}\" role=\"img\" aria-label=\"");
    escape(label, &mut out);
    put(
        &mut out,
        format_args!(
            "\"><rect class=\"f-track\" width=\"100%\" height=\"{high}\" rx=\"2\"/><rect class=\"{class}\" width=\"{percent}%\" height=\"{high}\" rx=\"2\"/></svg>"
        ),
    );
    Html::from_markup(out)
}

/// Draws a stacked bar; each part is its series, its size within `whole`, and its label.
pub(crate) fn parts(label: &str, whole: f64, pieces: &[(usize, f64, String)]) -> Html {
    let mut out = String::from("<svg class=\"bar\" role=\"img\" aria-label=\"");
    escape(label, &mut out);
    out.push_str("\"><rect class=\"f-track\" y=\"3.5\" width=\"100%\" height=\"1\"/>");
    let mut x = 0.0;
    for (series, size, words) in pieces {
        let wide = size / whole * 100.0;
        if wide <= 0.0 {
            continue;
        }
        let shown = (wide - 0.5).max(0.4);
        put(
            &mut out,
            format_args!(
                "<rect class=\"c{series}\" x=\"{x:.1}%\" width=\"{shown:.1}%\" height=\"8\"><title>"
            ),
        );
        escape(words, &mut out);
        out.push_str("</title></rect>");
        x += wide;
    }
    out.push_str("</svg>");
    Html::from_markup(out)
}

/// Appends formatted text; writing to a string cannot fail.
pub(crate) fn put(out: &mut String, words: std::fmt::Arguments<'_>) {
    if out.write_fmt(words).is_err() {
        debug_assert!(false, "a string takes every text");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_labels_are_complete_and_escaped() {
        let drawn = spark("<b>, new", &[0, 2, 1]).to_string();
        assert!(
            drawn.contains("aria-label=\"&lt;b&gt;, new, by day: 0, 2, 1\""),
            "{drawn}"
        );
        assert!(drawn.contains("class=\"z\""), "{drawn}");
        let drawn = parts(
            "x",
            1.0,
            &[(1, 0.5, "a".to_owned()), (2, 0.0, "b".to_owned())],
        );
        assert_eq!(drawn.to_string().matches("<title>").count(), 1);
    }
}
