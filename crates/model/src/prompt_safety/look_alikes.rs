//! Characters that look like others, and the form in which names are compared.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// Angle brackets that the table of confusable characters does not map to `<`.
const OTHER_OPENERS: &str = "‹〈〈⟨❬❰❮⦑⧼«《⟪≪≺⋖˂ᐸ";
/// Those of `>`.
const OTHER_CLOSERS: &str = "›〉〉⟩❭❱❯⦒⧽»》⟫≫≻⋗˃ᐳ";
/// Square brackets.
const OPENING_BRACKETS: &str = "[［【〔⟦⁅❲";
const CLOSING_BRACKETS: &str = "]］】〕⟧⁆❳";
/// Vertical lines.
const LINES: &str = "|｜∣│┃ǀ¦⎸⏐❘‖";
/// Slashes, and the backslash.
const SLASHES: &str = "/\\／＼⁄∕⧸╱⟋⧵∖﹨";
/// Hyphens and lines at the foot of letters.
const HYPHENS: &str = "-_‐‑‒–—―−﹣－﹘⁃˗‾＿﹍﹎﹏·";
/// Backticks.
const BACKTICKS: &str = "`｀ˋ";

/// Returns true for a symbol that looks like an ASCII one. Letters are not compared, because most texts have only them.
fn is_like(c: char, plain: char) -> bool {
    if c.is_alphanumeric() {
        return false;
    }
    let compatible: String = c.nfkc().collect();
    skeleton(&compatible).eq([plain])
}

pub(super) fn is_opener(c: char) -> bool {
    c == '<' || (!c.is_ascii() && (OTHER_OPENERS.contains(c) || is_like(c, '<')))
}

pub(super) fn is_closer(c: char) -> bool {
    c == '>' || (!c.is_ascii() && (OTHER_CLOSERS.contains(c) || is_like(c, '>')))
}

pub(super) fn is_opening_bracket(c: char) -> bool {
    OPENING_BRACKETS.contains(c)
}

pub(super) fn is_closing_bracket(c: char) -> bool {
    CLOSING_BRACKETS.contains(c)
}

pub(super) fn is_line(c: char) -> bool {
    LINES.contains(c)
}

pub(super) fn is_slash(c: char) -> bool {
    SLASHES.contains(c)
}

pub(super) fn is_hyphen(c: char) -> bool {
    HYPHENS.contains(c)
}

pub(super) fn is_backtick(c: char) -> bool {
    BACKTICKS.contains(c)
}

/// Returns true for a character of a name.
pub(super) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

/// Returns the form in which names are compared: without case, accents, hyphens and differences of characters that look
/// alike.
pub(super) fn comparable(name: &str) -> String {
    let plain: String = (name.nfkd()).filter(|c| !is_combining_mark(*c)).collect();
    let alike: String = skeleton(&plain).collect();
    let alike: String = skeleton(&alike.to_lowercase()).collect();
    let chars = alike.to_lowercase();
    chars
        .chars()
        .filter(|c| c.is_alphanumeric())
        .map(|c| match c {
            'i' | '1' => 'l',
            '0' => 'o',
            c => c,
        })
        .collect()
}
