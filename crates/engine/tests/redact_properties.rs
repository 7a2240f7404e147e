//! What holds for every text: no panic, no second redaction, marks and clean text stay.

use heirloom_engine::redact::Redactor;
use proptest::prelude::*;
use std::borrow::Cow;

/// Texts made of the pieces that matter, so that they often meet.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "password", "PASSWORD", "DB_PASSWORD", "token", "api_key", "secret", "Authorization", "Cookie", "Set-Cookie", "Bearer ",
            "=", ": ", " = ", ":", "=>", "\"", "'", "`", "\\\"", "\\n", "\n", " ", ";", ",", "&", "(", ")", "{", "}", "]", "[", "<", ">",
            "hunter2", "hunter2horse!", "postgres://", "user", "@host", "://", "a:b1c2@", "sid=abc123def", "export ", "--", " is ",
            "[redacted:password]", "[redacted:", "[redacted:x]", "redacted", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----",
            "MIIEpAIBAAKCAQEA7b3Xk2Qw9Zr4Tn8Vb3Wc6Yd1Fe5Gh0J", "Private-Lines: 3\n", "curl -u ", "mysql -pab1 ", "sshpass -p ",
            "eyJhbGciOiJIUzI1NiJ9", ".", "k3yAb9Cd8Ef7Gh6Ij5Kl4Mn3Op2", "identified by ", "value=", "${", "}", "$", "***", "é", "\u{2026}",
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
    fn redacting_twice_is_redacting_once(text in text()) {
        let redactor = Redactor::default();
        let once = redactor.redact(&text).into_owned();
        let twice = redactor.redact(&once);
        prop_assert!(matches!(twice, Cow::Borrowed(_)), "{text:?} became {once:?} became {twice:?}");
    }

    #[test]
    fn a_long_text_is_redacted_once_as_well(texts in prop::collection::vec(text(), 1..8), filler in 4..12_usize) {
        let redactor = Redactor::default();
        let filler = "a line of words without anything in it, as most lines are\n".repeat(filler * 10);
        let text = texts.join(&format!("\n{filler}"));
        let once = redactor.redact(&text).into_owned();
        prop_assert!(redactor.is_clean(&once), "{:?} is left in {once:?}", redactor.find(&once));
    }

    #[test]
    fn findings_are_apart_in_order_and_whole_characters(text in text()) {
        let redactor = Redactor::default();
        let mut from = 0;
        for one in redactor.find(&text) {
            prop_assert!(from <= one.start && one.start < one.end);
            prop_assert!(text.is_char_boundary(one.start) && text.is_char_boundary(one.end));
            from = one.end;
        }
    }

    #[test]
    fn what_is_left_was_there_before(text in text()) {
        let clean = Redactor::default().redact(&text).into_owned();
        let mut rest = text.as_str();
        for part in parts(&clean) {
            let at = rest.find(part);
            prop_assert!(at.is_some(), "{part:?} of {clean:?} is not in {text:?}");
            rest = &rest[at.unwrap_or(0) + part.len()..];
        }
    }

    #[test]
    fn marks_stay(kind in "[a-z][a-z0-9-]{0,39}", before in "[a-z =:\"']{0,12}", after in "[a-z =:\"',;]{0,12}") {
        let text = format!("{before} [redacted:{kind}] {after}");
        prop_assert!(Redactor::default().redact(&text).contains(&format!("[redacted:{kind}]")), "{text}");
    }

    #[test]
    fn any_text_comes_back(text in any::<String>()) {
        drop(Redactor::default().redact(&text).into_owned());
    }
}

/// What stands between the marks of a text.
fn parts(clean: &str) -> impl Iterator<Item = &str> {
    clean
        .split("[redacted:")
        .enumerate()
        .map(|(n, part)| match part.split_once(']') {
            Some((_, rest)) if n > 0 => rest,
            Some(_) | None => part,
        })
}

/// The work is linear: ten times the text are about ten times the looks, whatever it is made of.
///
/// Counted by what it finds, not by the clock: a quadratic pass over these texts would not end.
#[test]
fn texts_that_repeat_an_anchor_come_back() {
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
    ] {
        let text = unit.repeat((1 << 18) / unit.len());
        let clean = redactor.redact(&text).into_owned();
        assert!(clean.len() <= 20 * text.len(), "{unit}");
    }
}
