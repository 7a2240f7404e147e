use super::*;

/// Decodes the escape at the start of a text.
fn read(text: &str) -> Option<(usize, Option<char>)> {
    let (at, escape) = next(text.as_bytes(), 0, false)?;
    (at == 0).then_some((escape.length, escape.read_as))
}

#[test]
fn escape_is_read_as_its_character() {
    for (text, length, read_as) in [
        ("\\nx", 2, '\n'),
        ("\\\"x", 2, '"'),
        ("\\\\x", 2, '\\'),
        ("\\_x", 2, '_'),
        ("\\u0022x", 6, '"'),
        ("\\u{3d}x", 6, '='),
        ("\\U0000003dx", 10, '='),
        ("\\x1bx", 4, '\x1b'),
        ("\\033x", 4, '\x1b'),
        ("%3Dx", 3, '='),
        ("%u003dx", 6, '='),
        ("%C3%A9x", 6, 'é'),
        ("%E2%80%8Bx", 9, '\u{200b}'),
        ("=3Dx", 3, '='),
        ("=20x", 3, ' '),
        ("=0Ax", 3, '\n'),
        ("&quot;x", 6, '"'),
        ("&#61;x", 5, '='),
        ("&#x3D;x", 6, '='),
    ] {
        assert_eq!(read(text), Some((length, Some(read_as))), "{text:?}");
    }
}

#[test]
fn control_sequence_is_invisible() {
    for (text, length) in [
        ("\x1b[31mx", 5),
        ("\x1b[1;38;5;200mx", 13),
        ("\x1b[Kx", 3),
        ("\x1b]8;;https://example.org\x07x", 25),
        ("\x1b]8;;\x1b\\x", 7),
        ("\x1bghp", 1),
        ("\\x1b[31mx", 8),
        ("\\u001b[1;31mx", 12),
        ("%1B[0mx", 6),
        ("[31mx", 4),
        ("^[[31mx", 6),
        ("\u{241b}[31mx", 7),
        ("\u{9b}31mx", 5),
        ("\u{ad}x", 2),
        ("\u{200b}x", 3),
        ("&shy;x", 5),
    ] {
        assert_eq!(read(text), Some((length, None)), "{text:?}");
    }
    assert_eq!(
        next(b"ab\\\n  cd", 0, false).map(|(at, e)| (at, e.length)),
        Some((2, 4))
    );
    assert_eq!(
        next(b"ab \\\n  cd", 0, false).map(|(at, e)| (at, e.length)),
        Some((3, 2))
    );
}

#[test]
fn ordinary_text_has_no_escape() {
    for text in [
        "",
        "%",
        "100% of",
        "%zz",
        "%C3",
        "%C3a",
        "a && b",
        "&self",
        "&unknown;",
        "a[0] [12]",
        "x = 3",
        "\\d+\\s\\w",
        "\\1",
        "\\ud800",
        "\\u12",
        "\\xff",
        "\u{2014} \u{201c}",
    ] {
        assert_eq!(next(text.as_bytes(), 0, false), None, "{text:?}");
    }
    let long = "x".repeat(10_000) + "\\n";
    assert_eq!(
        next(long.as_bytes(), 3, false).map(|(at, _)| at),
        Some(10_000)
    );
}

#[test]
fn equals_sign_joins_lines_of_mail_only() {
    let first = |text: &str| next(text.as_bytes(), 0, false).map(|(at, e)| (at, e.length));
    let wrapped = |sign: &str| format!("{}={sign}{}={sign}end", "a".repeat(75), "b".repeat(75));
    for (text, found) in [
        (
            "Content-Transfer-Encoding: quoted-printable\n\na long line=\nof it".to_owned(),
            (56, 2),
        ),
        (
            "the same line=\r\nof a mail, x=3Dy and more".to_owned(),
            (13, 3),
        ),
        (
            "the same line=\nin a caf=C3=A9, and more".to_owned(),
            (13, 2),
        ),
        (wrapped("\n"), (75, 2)),
        (wrapped("\r\n"), (75, 3)),
    ] {
        assert_eq!(first(&text), Some(found), "{text:?}");
    }
    for text in [
        "A_KEY=Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg=\nDEBUG=1\nPORT=80\n",
        "Authorization: Basic YXBpOmh1bnRlcjJYcTl6UA==\nHost: example.com\n",
        "export A_TOKEN=Zm9vYmFyMTIzNDU2Nzg5MA==\nexport PATH=/usr/bin\n",
        &format!("{}=\nB=1\n", "a".repeat(75)),
    ] {
        assert_eq!(first(text), None, "{text:?}");
    }
}
