//! Capabilities of the terminal: colours, hyperlinks, rewriting of lines, width.

use crate::platform;
use std::io::{self, IsTerminal};

/// Width of lines that no terminal limits, columns.
const DEFAULT_WIDTH: usize = 100;

/// Values of `TERM_PROGRAM` whose terminals show hyperlinks (OSC 8).
const LINKING_PROGRAMS: [&str; 7] = [
    "Hyper",
    "WarpTerminal",
    "WezTerm",
    "ghostty",
    "iTerm.app",
    "rio",
    "vscode",
];

/// Variables that are only set by terminals which show hyperlinks.
const LINKING_VARIABLES: [&str; 4] = [
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "WT_SESSION",
    "DOMTERM",
];

/// First version of the VTE library that shows hyperlinks without defects: 0.50.
const VTE_VERSION_MIN: u32 = 5000;

/// Capabilities of the terminals of this process, decided from the environment in one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TerminalFeatures {
    /// True if standard output gets colours.
    pub(crate) has_colors: bool,
    /// True if standard error gets colours.
    pub(crate) has_error_colors: bool,
    /// True if standard output shows hyperlinks.
    pub(crate) has_links: bool,
    /// True if a line of standard error can be rewritten.
    pub(crate) can_rewrite_line: bool,
}

impl TerminalFeatures {
    /// Decides from the environment of the process and its standard streams.
    pub(crate) fn detect<'e>(variable: impl Fn(&str) -> Option<&'e str>) -> Self {
        let (out, error) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self::decide(variable, out, error)
    }

    fn decide<'e>(
        variable: impl Fn(&str) -> Option<&'e str>,
        out_is_terminal: bool,
        error_is_terminal: bool,
    ) -> Self {
        let is_capable = variable("TERM").is_some_and(|term| term != "dumb");
        let is_watched = is_capable && variable("CI").is_none();
        Self {
            has_colors: allows_colors(&variable, out_is_terminal && is_capable),
            has_error_colors: allows_colors(&variable, error_is_terminal && is_capable),
            has_links: out_is_terminal && is_watched && shows_links(&variable),
            can_rewrite_line: error_is_terminal && is_watched,
        }
    }
}

/// Applies the rules of `NO_COLOR`, `CLICOLOR_FORCE` and `CLICOLOR`, in this order.
fn allows_colors<'e>(variable: impl Fn(&str) -> Option<&'e str>, is_terminal: bool) -> bool {
    if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return false;
    }
    match (variable("CLICOLOR_FORCE"), variable("CLICOLOR")) {
        (Some(force), _) if !force.is_empty() && force != "0" => true,
        (_, Some("0")) => false,
        _ => is_terminal,
    }
}

fn shows_links<'e>(variable: impl Fn(&str) -> Option<&'e str>) -> bool {
    // Multiplexers pass hyperlinks on only in new versions and by configuration.
    if variable("TMUX").is_some() || variable("STY").is_some() {
        return false;
    }
    let program = variable("TERM_PROGRAM").unwrap_or_default();
    let vte = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    LINKING_PROGRAMS.contains(&program)
        || LINKING_VARIABLES
            .iter()
            .any(|name| variable(name).is_some())
        || vte.is_some_and(|version| version >= VTE_VERSION_MIN)
}

/// Returns the width of the terminal of standard output; `None` if it is no terminal.
pub(crate) fn screen_width() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let columns = platform::terminal_columns(&out);
    // A terminal without a size reports 0 columns.
    Some(if columns == 0 { 80 } else { columns })
}

/// Returns the width for help texts.
pub(crate) fn help_width() -> usize {
    screen_width().unwrap_or(DEFAULT_WIDTH).min(DEFAULT_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn decide(variables: &[(&'static str, &'static str)], is_terminal: bool) -> TerminalFeatures {
        let variables: HashMap<_, _> = variables.iter().copied().collect();
        TerminalFeatures::decide(
            |name| variables.get(name).copied(),
            is_terminal,
            is_terminal,
        )
    }

    const TERM: (&str, &str) = ("TERM", "xterm-256color");

    #[test]
    fn terminal_has_colors_and_rewrites_lines() {
        let plain = decide(&[TERM], true);
        assert!(plain.has_colors && plain.has_error_colors && plain.can_rewrite_line);
        assert!(!plain.has_links, "an unknown terminal gets no links");
        assert_eq!(decide(&[TERM], false), TerminalFeatures::default());
        assert_eq!(
            decide(&[("TERM", "dumb")], true),
            TerminalFeatures::default()
        );
        assert_eq!(decide(&[], true), TerminalFeatures::default());
    }

    #[test]
    fn color_variables_apply_in_order() {
        let has_colors = |variables: &[_], is_terminal| {
            decide(&[&[TERM], variables].concat(), is_terminal).has_colors
        };
        assert!(!has_colors(&[("NO_COLOR", "1")], true));
        assert!(has_colors(&[("NO_COLOR", "")], true));
        assert!(!has_colors(&[("CLICOLOR", "0")], true));
        assert!(has_colors(&[("CLICOLOR", "1")], true));
        assert!(!has_colors(&[("CLICOLOR", "1")], false));
        assert!(has_colors(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!has_colors(&[("CLICOLOR_FORCE", "0")], false));
        assert!(has_colors(
            &[("CLICOLOR_FORCE", "1"), ("CLICOLOR", "0")],
            false
        ));
        assert!(!has_colors(
            &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
            true
        ));
    }

    #[test]
    fn only_known_terminals_have_links() {
        let has_links = |variables: &[_], is_terminal| {
            decide(&[&[TERM], variables].concat(), is_terminal).has_links
        };
        assert!(has_links(&[("TERM_PROGRAM", "iTerm.app")], true));
        assert!(has_links(&[("VTE_VERSION", "7600")], true));
        assert!(has_links(&[("WT_SESSION", "x")], true));
        assert!(!has_links(&[("VTE_VERSION", "4900")], true));
        assert!(!has_links(&[("TERM_PROGRAM", "Apple_Terminal")], true));
        assert!(!has_links(&[("TERM_PROGRAM", "iTerm.app")], false));
        assert!(!has_links(&[("VTE_VERSION", "7600"), ("CI", "true")], true));
        assert!(!has_links(&[("VTE_VERSION", "7600"), ("TMUX", "x")], true));
    }
}
