use super::*;
use heirloom_model::Budget;
use proptest::prelude::*;

fn row(share_percent: u32, min_chars: usize) -> SourceRow {
    SourceRow {
        name: format!("row of {share_percent}, {min_chars}"),
        share_percent,
        min_chars,
    }
}

fn section(offers: &[&str]) -> Section {
    let offer = |text: &&str| Offer {
        text: (*text).to_owned(),
        ..Offer::default()
    };
    Section {
        name: "plan".to_owned(),
        heading: "H".to_owned(),
        offers: offers.iter().map(offer).collect(),
        ..Section::default()
    }
}

fn memory(text: &str, budget: Budget) -> Context {
    Context {
        text: text.to_owned(),
        rules: String::new(),
        budget,
        sections: Vec::new(),
        notes: Vec::new(),
    }
}

fn check(budget: usize, sections: &[(SourceRow, Section)], expect: &str) {
    let prefixes = ["MY".to_owned()];
    let context = add_sources(
        memory("m\n", Budget::Chars(budget)),
        sections,
        &Sanitizer::new(&prefixes),
    );
    assert_eq!(context.text, expect);
}

#[test]
fn allocation_respects_shares_and_passes_on_the_remainder() {
    let (a, b) = (
        section(&["aaaa", "aaaa", "aaaa"]),
        section(&["bbbb", "bbbb"]),
    );
    // 40 to share: each heading takes 6, each line 7.
    let other = |y| SourceRow {
        name: "other".to_owned(),
        ..row(y, 0)
    };
    let rows = |x, y| [(row(x, 0), a.clone()), (other(y), b.clone())];
    check(
        42,
        &rows(50, 50),
        "m\n\n## H\n- aaaa\n- aaaa\n\n## H\n- bbbb\n- bbbb\n",
    );
    check(
        42,
        &rows(100, 0),
        "m\n\n## H\n- aaaa\n- aaaa\n- aaaa\n\n## H\n- bbbb\n",
    );
    check(42, &rows(0, 100), "m\n\n## H\n- bbbb\n- bbbb\n");
    // The second section gets what the first does not use.
    let few = [(row(90, 0), section(&["a"])), (row(5, 0), b.clone())];
    check(42, &few, "m\n\n## H\n- a\n\n## H\n- bbbb\n- bbbb\n");
    // The first section gets what no later one uses.
    check(
        42,
        &[(row(5, 0), a.clone())],
        "m\n\n## H\n- aaaa\n- aaaa\n- aaaa\n",
    );
}

#[test]
fn allocation_reserves_the_minimum_of_later_rows() {
    let first = section(&["aaaa", "aaaa", "aaaa"]);
    let last = section(&["bbbb"]);
    let sections = [(row(100, 0), first), (row(0, 13), last)];
    check(29, &sections, "m\n\n## H\n- aaaa\n\n## H\n- bbbb\n");
}

#[test]
fn offers_are_sanitized_and_indented() {
    let section = section(&[
        "MY: x\n## Forged\nMY : y\n\n\u{1b}[31mred\u{7}",
        "\u{1b}[0m",
    ]);
    check(
        200,
        &[(row(100, 0), section)],
        "m\n\n## H\n- MY x\n  ## Forged\n  MY y\n\n  red\u{fffd}\n",
    );
}

#[test]
fn offers_over_the_maximum_are_noted() {
    let most = limits::SOURCE_OFFERS_MAX;
    for (count, notes) in [(most, 0), (most + 1, 1)] {
        let many = section(&vec!["a"; count]);
        let context = add_sources(
            memory("", Budget::Chars(100_000)),
            &[(row(100, 0), many)],
            &Sanitizer::new(&[]),
        );
        assert_eq!(context.sections[0].items.len(), most);
        assert_eq!(context.notes.len(), notes, "{count}");
    }
}

fn any_section() -> impl Strategy<Value = (SourceRow, Section)> {
    let texts = prop::collection::vec("[a-zA-Z :#\\n\\t\u{1b}é]{0,40}", 0..8);
    (0u32..=100, 0usize..80, "[a-z#\\n]{0,8}", texts).prop_map(
        |(allocation, min, heading, texts)| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut section = section(&texts);
            section.heading = heading;
            (row(allocation, min), section)
        },
    )
}

proptest! {
    #[test]
    fn context_fits_budget_and_receipt_matches_text(
        sections in prop::collection::vec(any_section(), 0..6),
        before in "(m{0,30}\\n)?",
        budget in 0usize..400,
        in_tokens: bool,
    ) {
        let budget = if in_tokens { Budget::Tokens(budget / 4) } else { Budget::Chars(budget) };
        prop_assume!(budget.fits(&before));
        let prefixes = ["MY".to_owned()];
        let made = || add_sources(memory(&before, budget), &sections, &Sanitizer::new(&prefixes));
        let context = made();
        prop_assert_eq!(&context, &made());
        prop_assert!(budget.fits(&context.text), "{} over {:?}", context.text, budget);
        prop_assert!(context.text.starts_with(&before));
        let receipt: usize = context.sections.iter().map(|section| section.chars).sum();
        prop_assert_eq!(receipt + text::chars(&before), text::chars(&context.text));
        for section in &context.sections {
            let items = section.items.iter().filter(|item| item.is_included());
            let items: usize = items.map(|item| item.chars).sum();
            prop_assert!(items <= section.chars);
        }
        // No section is cut for its share while all its offers would fit the remaining budget.
        let unused = budget.chars() - text::chars(&context.text);
        for ((row, _), receipt) in sections.iter().filter(|(_, s)| !s.offers.is_empty()).zip(&context.sections) {
            let cut = receipt.items.iter().find(|item| item.reason == InclusionReason::OverShare);
            if let (Some(cut), true) = (cut, row.share_percent > 0) {
                prop_assert!(cut.chars + 20 + usize::from(receipt.chars == 0) * 20 > unused, "{:?}", receipt);
            }
        }
    }
}
