//! Building blocks of templates: icons, numbers, times, and escaped text.

pub(crate) mod activity;
pub(crate) mod analytics;
pub(crate) mod chart;
pub(crate) mod command_palette;
pub(crate) mod files;
pub(crate) mod filters;
mod html;
pub(crate) mod inbox;
pub(crate) mod knowledge;
pub(crate) mod marks;
pub(crate) mod overview;
pub(crate) mod recall;
pub(crate) mod receipts;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod shell;
pub(crate) mod tasks;
mod times;

pub(crate) use html::{Html, diff, escape, line_diff, render_text, split_words};
pub(crate) use times::Times;

/// Returns an icon; the text next to it has the same meaning.
pub(crate) fn icon(name: &str) -> Html {
    Html::from_markup(format!(
        "<svg class=\"i\" aria-hidden=\"true\"><use href=\"#i-{name}\"/></svg>"
    ))
}

/// Returns an icon in a colour class.
pub(crate) fn icon_in(class: &str, name: &str) -> Html {
    Html::from_markup(format!(
        "<svg class=\"i {class}\" aria-hidden=\"true\"><use href=\"#i-{name}\"/></svg>"
    ))
}

/// Returns the coloured icon and name of a kind.
pub(crate) fn kind(kind: &str) -> Html {
    Html::from_markup(format!(
        "<span class=\"kind k-{kind}\">{}{kind}</span>",
        icon(kind)
    ))
}

/// Returns the shape of an agent, the same on every page; agents without their own shape have the diamond.
pub(crate) fn agent_mark(agent: &str) -> &'static str {
    match agent {
        "claude-code" => "m-circle",
        "codex" => "m-square",
        "gemini" | "gemini-cli" => "m-triangle",
        "aider" => "m-cross",
        _ => "m-diamond",
    }
}

/// Returns the legend swatch of a series.
pub(crate) fn swatch(series: impl std::borrow::Borrow<usize>) -> Html {
    Html::from_markup(format!(
        "<svg class=\"sw\" aria-hidden=\"true\"><rect class=\"c{}\" width=\"9\" height=\"9\" rx=\"2\"/></svg>",
        (*series.borrow()).clamp(1, 7)
    ))
}

/// Returns the shape of an agent for texts.
pub(crate) fn agent_swatch(agent: &str) -> Html {
    Html::from_markup(format!(
        "<svg class=\"sw\" aria-hidden=\"true\"><use href=\"#{}\" class=\"mk\" width=\"9\" height=\"9\"/></svg>",
        agent_mark(agent)
    ))
}

/// Returns the series of an agent's tokens, by its position.
pub(crate) fn token_series(place: &usize) -> usize {
    [1, 3, 4, 7][(*place).min(3)]
}

/// Formats a number with thousands separators.
pub(crate) fn number(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number of tokens: 310k, 1.20 M.
pub(crate) fn short_number(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..10_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", n / 1_000),
        _ => format!("{}.{:02} M", n / 1_000_000, n % 1_000_000 / 10_000),
    }
}

/// Formats a count with its noun: `1 record`, `2 records`.
pub(crate) fn plural(n: usize, one: &str, many: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{} {many}", number(n as u64)),
    }
}

/// Formats a size on disk.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} bytes"),
        1_000..1_000_000 => format!("{}.{} KB", n / 1_000, n % 1_000 / 100),
        _ => format!("{}.{} MB", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

/// Formats a duration in a suitable unit.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000..7_200_000 => format!("{} min", ms / 60_000),
        _ => format!("{}.{} h", ms / 3_600_000, ms % 3_600_000 / 360_000),
    }
}

/// Returns a share in percent, rounded; 0 if the whole is 0.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    (part.saturating_mul(200) / whole).div_ceil(2).min(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_formats_are_readable() {
        assert_eq!(number(0_u64), "0");
        assert_eq!(number(999_u64), "999");
        assert_eq!(number(1_395_u64), "1,395");
        assert_eq!(number(1_000_000_u64), "1,000,000");
        assert_eq!(short_number(999), "999");
        assert_eq!(short_number(1_340), "1.3k");
        assert_eq!(short_number(310_400), "310k");
        assert_eq!(short_number(1_204_000), "1.20 M");
        assert_eq!(plural(1, "entry", "entries"), "1 entry");
        assert_eq!(plural(0, "entry", "entries"), "0 entries");
        assert_eq!(bytes(11_260), "11.2 KB");
        assert_eq!(duration(38 * 60_000), "38 min");
        assert_eq!(percent(34, 48), 71);
        assert_eq!(percent(1, 0), 0);
    }
}
