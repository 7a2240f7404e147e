//! Properties of redaction for every text: no panic, idempotent, marks and clean text stay.

use heirloom_redact::Redactor;
use proptest::prelude::*;
use std::borrow::Cow;

/// Texts of relevant fragments, so that they often meet.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "password", "PASSWORD", "DB_PASSWORD", "token", "api_key", "secret", "Authorization", "Cookie", "Set-Cookie", "Bearer ",
            "=", ": ", " = ", ":", "=>", "\"", "'", "`", "\\\"", "\\n", "\n", " ", ";", ",", "&", "(", ")", "{", "}", "]", "[", "<", ">",
            "hunter2", "hunter2horse!", "postgres://", "user", "@host", "://", "a:b1c2@", "sid=abc123def", "export ", "--", " is ",
            "[redacted:password]", "[redacted:", "[redacted:x]", "redacted", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----",
            "MIIEpAIBAAKCAQEA7b3Xk2Qw9Zr4Tn8Vb3Wc6Yd1Fe5Gh0J", "Private-Lines: 3\n", "curl -u ", "mysql -pab1 ", "sshpass -p ",
            "eyJhbGciOiJIUzI1NiJ9", ".", "k3yAb9Cd8Ef7Gh6Ij5Kl4Mn3Op2", "identified by ", "value=", "${", "}", "$", "***", "é", "\u{2026}",
            "\\", "\\n", "\\u0022", "\\u003d", "%22", "%3D", "&quot;", "&#61;", "=\n", "\\\n", "\x1b[31m", "\x1b[0m", "[0m", "\u{200b}", "\\\\",
            "machine x login y password ", "<password>", "</password>", "Digest ", "Basic ", "dXNlcjpwYXNz", "0123456789abcdef", "AKIA", "gl", "pat-",
        ]).prop_map(str::to_owned),
        1 => "[A-Za-z0-9_-]{1,40}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn redact_is_idempotent(text in text()) {
        let redactor = Redactor::default();
        let once = redactor.redact(&text).into_owned();
        let twice = redactor.redact(&once);
        prop_assert!(matches!(twice, Cow::Borrowed(_)), "{text:?} became {once:?} became {twice:?}");
    }

    #[test]
    fn redact_long_text_is_idempotent(texts in prop::collection::vec(text(), 1..8), filler in 4..12_usize) {
        let redactor = Redactor::default();
        let filler = "a line of words without anything in it, as most lines are\n".repeat(filler * 10);
        let text = texts.join(&format!("\n{filler}"));
        let once = redactor.redact(&text).into_owned();
        prop_assert!(redactor.is_clean(&once), "{:?} is left in {once:?}", redactor.find(&once));
    }

    #[test]
    fn redact_findings_are_disjoint_sorted_and_at_char_boundaries(text in text()) {
        let redactor = Redactor::default();
        let mut from = 0;
        for one in redactor.find(&text) {
            prop_assert!(from <= one.start && one.start < one.end);
            prop_assert!(text.is_char_boundary(one.start) && text.is_char_boundary(one.end));
            from = one.end;
        }
    }

    #[test]
    fn redact_leaves_only_original_text(text in text()) {
        let clean = Redactor::default().redact(&text).into_owned();
        let mut rest = text.as_str();
        for part in parts(&clean) {
            let at = rest.find(part);
            prop_assert!(at.is_some(), "{part:?} of {clean:?} is not in {text:?}");
            rest = &rest[at.unwrap_or(0) + part.len()..];
        }
    }

    #[test]
    fn redact_marks_stay(kind in "[a-z][a-z0-9-]{0,39}", before in "[a-z =:\"']{0,12}", after in "[a-z =:\"',;]{0,12}") {
        let text = format!("{before} [redacted:{kind}] {after}");
        prop_assert!(Redactor::default().redact(&text).contains(&format!("[redacted:{kind}]")), "{text}");
    }

    #[test]
    fn redact_any_text_terminates(text in any::<String>()) {
        drop(Redactor::default().redact(&text).into_owned());
    }
}

/// An encoding that readers decode to the same text.
type Encoder = fn(&str) -> String;

/// Escapes each ASCII character that `plain` does not accept.
fn escaped(text: &str, plain: impl Fn(u8) -> bool, escape: impl Fn(u8) -> String) -> String {
    let one = |c: char| match u8::try_from(c).ok().filter(u8::is_ascii) {
        Some(byte) if !plain(byte) => escape(byte),
        Some(_) | None => c.to_string(),
    };
    text.chars().map(one).collect()
}

/// Percent-encodes a text for a URL.
fn percent(text: &str, plain: impl Fn(u8) -> bool) -> String {
    let one = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// Inserts `part` after every fifth character, except after the start of an escape.
fn insert_every_fifth(text: &str, part: &str) -> String {
    let mut made = String::new();
    for (n, c) in text.chars().enumerate() {
        if n % 5 == 4 && !made.ends_with(['\\', '=', '\n']) {
            made.push_str(part);
        }
        made.push(c);
    }
    made
}

/// Inserts soft line breaks, unless the text has some: nested kinds are not decoded.
fn soft_wrap(text: &str, part: &str) -> String {
    match text.contains('\n') {
        true => text.to_owned(),
        false => insert_every_fifth(text, part),
    }
}

/// Encoders of ASCII text.
const ENCODERS: &[Encoder] = &[
    // JSON, as `serde_json` writes it and with every character escaped.
    |text| serde_json::Value::from(text).to_string(),
    |text| format!("a\\n{}\\t", serde_json::Value::from(text)),
    |text| escaped(text, |_| false, |byte| format!("\\u{byte:04x}")),
    |text| {
        escaped(
            text,
            |b| b.is_ascii_alphanumeric(),
            |byte| format!("\\x{byte:02x}"),
        )
    },
    |text| {
        escaped(
            text,
            |b| b.is_ascii_alphanumeric(),
            |byte| format!("\\{byte:03o}"),
        )
    },
    // URLs.
    |text| percent(text, |byte| byte.is_ascii_alphanumeric()),
    |text| percent(text, |_| false),
    |text| format!("a=b%20{text}%26c"),
    // HTML.
    |text| {
        escaped(
            text,
            |b| b.is_ascii_alphanumeric() || b == b'_',
            |byte| format!("&#{byte};"),
        )
    },
    |text| escaped(text, |b| b.is_ascii_digit(), |byte| format!("&#x{byte:X};")),
    |text| {
        text.replace('&', "&amp;")
            .replace('"', "&quot;")
            .replace('<', "&lt;")
    },
    // Terminals.
    |text| format!("\x1b[1;31m{text}\x1b[0m"),
    |text| insert_every_fifth(text, "\x1b[0m\x1b[32m"),
    |text| insert_every_fifth(text, "\u{200b}"),
    // Soft line breaks, of mail and of a shell.
    |text| format!("x=3Dy {}", soft_wrap(text, "=\n")),
    |text| soft_wrap(text, "\\\n"),
];

/// Secrets with a format and with a name, and the part that must not remain.
const SECRETS: &[(&[&str], &str)] = &[
    (&["gh", "p_"], "q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4Pa"),
    (&["glp", "at-"], "q7Zr2Kx9Lm4Tn8Vb3Wc6"),
    (&["AK", "IA"], "Q7ZK2M3N4P5R6S7T"),
    (&["password", "=\""], "hunter2Xq9zPw8\""),
    (
        &["{\"api_key\"", ": \""],
        "k3yAb9Cd8Ef7Gh6Ij5Kl4Mn3Op2\", \"n\": 1}",
    ),
    (&["API_TOKEN", "="], "k3yAb9Cd8Ef7Gh6Ij5Kl4Mn3Op2"),
];

/// Decodes a text repeatedly with all decodings that the test knows, in any order.
fn decode_fully(text: &str) -> String {
    let escape = regex::Regex::new(concat!(
        r"\\u(?<a>[0-9a-fA-F]{4})|\\x(?<b>[0-9a-fA-F]{2})|%(?<c>[0-9a-fA-F]{2})|&#x(?<d>[0-9A-F]+);",
        r"|&#(?<e>\d+);|\\(?<f>[0-7]{3})|=\n|=3D|\\\n|\x1b\[[0-9;]*m|\u{200b}",
        r#"|(?<g>\\["\\/])|(?<h>\\[nt])|(?<i>&amp;)|(?<j>&quot;)"#,
    ));
    let escape = escape.unwrap_or_else(|error| panic!("{error}"));
    let mut text = text.to_owned();
    for _ in 0..8 {
        text = escape
            .replace_all(&text, |found: &regex::Captures<'_>| {
                let number = |name: &str, radix| {
                    let digits = found.name(name)?.as_str();
                    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
                };
                let coded = ["a", "b", "c", "d"]
                    .iter()
                    .find_map(|name| number(name, 16));
                let coded = coded.or_else(|| number("e", 10)).or_else(|| number("f", 8));
                let last = found[0]
                    .chars()
                    .last()
                    .filter(|_| found.name("g").is_some());
                let other = [("h", ' '), ("i", '&'), ("j", '"')];
                let other = other.iter().find(|(name, _)| found.name(name).is_some());
                let read = coded.or(last).or(other.map(|(_, c)| *c));
                read.map(String::from).unwrap_or_default()
            })
            .into_owned();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn redact_encoded_secret_keeps_surroundings(
        secret in prop::sample::select(SECRETS),
        encoders in prop::collection::vec(prop::sample::select(ENCODERS), 1..=3),
        before in "[a-z]{1,8}( [a-z]{1,8}){0,3}",
        after in "[a-z]{1,8}( [a-z]{1,8}){0,3}",
    ) {
        let (prefix, rest) = secret;
        let mut encoded = format!("{}{rest}", prefix.concat());
        for encoder in &encoders {
            encoded = encoder(&encoded);
        }
        let text = format!("{before}\n{encoded}\n{after}");
        let redactor = Redactor::default();
        let clean = redactor.redact(&text).into_owned();
        prop_assert!(clean.contains("[redacted:"), "nothing found in {text:?}");
        let read = decode_fully(&clean);
        let end = rest.find('"').unwrap_or(rest.len());
        for part in [&rest[..end.min(8)], &rest[end - 8..end]] {
            prop_assert!(!read.contains(part), "{part} is left in {clean:?} of {text:?}");
        }
        prop_assert!(clean.starts_with(&format!("{before}\n")), "{clean:?}");
        prop_assert!(clean.ends_with(&format!("\n{after}")), "{clean:?}");
        prop_assert!(redactor.is_clean(&clean), "{:?} is left in {clean:?}", redactor.find(&clean));
    }

    #[test]
    fn redact_json_stays_valid(
        secret in prop::sample::select(SECRETS),
        depth in 1..=3_usize,
        before in "[a-z \n\t\"\\\\]{0,12}",
        after in "[a-z \n\t\"\\\\]{0,12}",
    ) {
        let (prefix, rest) = secret;
        let mut text = format!("{before}\n{}{rest}\n{after}", prefix.concat());
        for _ in 0..depth {
            text = serde_json::json!({"text": text, "n": [1, "x"]}).to_string();
        }
        let clean = Redactor::default().redact(&text).into_owned();
        prop_assert!(clean.contains("[redacted:"), "nothing found in {text:?}");
        let mut value = serde_json::Value::from(clean.clone());
        for _ in 0..depth {
            let inner = value.as_str().map(str::to_owned).unwrap_or_default();
            let parsed = serde_json::from_str::<serde_json::Value>(&inner);
            prop_assert!(parsed.is_ok(), "{clean:?} of {text:?}");
            value = parsed.map(|mut value| value["text"].take()).unwrap_or_default();
        }
    }
}

/// Returns the text between the marks.
fn parts(clean: &str) -> impl Iterator<Item = &str> {
    clean
        .split("[redacted:")
        .enumerate()
        .map(|(n, part)| match part.split_once(']') {
            Some((_, rest)) if n > 0 => rest,
            Some(_) | None => part,
        })
}

/// The work is linear: a text ten times as long needs about ten times the work.
///
/// Checked by termination and results, not by a clock: a quadratic pass over these texts would not end.
#[test]
fn redact_repeated_prefilter_match_is_linear() {
    let redactor = Redactor::default();
    for unit in [
        "eyJ-",
        "eyJ",
        "glpat-",
        "password=",
        "password: \"",
        "token='",
        "-----BEGIN RSA PRIVATE KEY-----",
        "://a:b",
        "Cookie: a",
        "Authorization: ",
        "curl -u ",
        "key",
        "[redacted:",
        "Private-Lines: 9",
        "sk-ant-",
        "a:@",
        "\\\"",
        "mysql -p",
        "password is ",
        "xoxo-1-",
        "github_pat_",
        "'password",
        "Set-Cookie: a=",
        "identified by '",
        "----",
        "\\",
        "\\n",
        "\\\\n",
        "%25",
        "%2525",
        "&amp;",
        "&amp;amp;",
        "\x1b]",
        "\x1b[",
        "\x1b[31mpassword=",
        "=\n",
        "\\\n ",
        "&#",
        "[1;",
        "<token>",
        "token: |\n ",
        "token string = ",
        "seed: a ",
        "curl -u \"a",
    ] {
        let text = unit.repeat((1 << 18) / unit.len());
        let clean = redactor.redact(&text).into_owned();
        assert!(clean.len() <= 20 * text.len(), "{unit}");
    }
}
