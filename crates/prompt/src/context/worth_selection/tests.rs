use super::*;
use heirloom_model::Timestamp;
use heirloom_model::limits::CONTEXT_SHARES_PERCENT_MAX;
use proptest::prelude::*;

/// A candidate whose text is its own storage.
#[derive(Debug, Clone)]
struct Draft {
    section: usize,
    tier: Tier,
    forms: Vec<usize>,
    relevance: Option<f64>,
    worth: f64,
    text: String,
    requires: Option<usize>,
}

fn draft(section: usize, chars: usize, worth: f64, text: &str) -> Draft {
    Draft {
        section,
        tier: Tier::Competing,
        forms: vec![chars],
        relevance: Some(worth),
        worth,
        text: text.to_owned(),
        requires: None,
    }
}

const PLAIN: SectionFrame = SectionFrame {
    chars: 10,
    share_percent: 0,
    min_chars: 0,
    has_best: true,
};

fn run(sections: &[SectionFrame], drafts: &[Draft], floor: f64, budget: usize) -> Selection {
    let words: Vec<ComparableText> = drafts
        .iter()
        .map(|one| ComparableText::from_text(&one.text))
        .collect();
    let candidates: Vec<Candidate<'_>> = drafts
        .iter()
        .zip(&words)
        .map(|(one, words)| Candidate {
            section: one.section,
            tier: one.tier,
            forms: one.forms.clone(),
            relevance: one.relevance,
            worth: one.worth,
            words: Some(words),
            record: None,
            requires: one.requires,
        })
        .collect();
    let input = SelectionInput {
        sections,
        candidates: &candidates,
        best_floor: floor.max(0.1),
        floor,
        reserved_chars: 20,
    };
    select(&input, budget)
}

fn reasons(selection: &Selection) -> Vec<SelectionReason> {
    selection.verdicts.iter().map(|one| one.reason).collect()
}

#[test]
fn guaranteed_then_best_of_each_source_then_worth() {
    use SelectionReason::{BelowFloor, BestOfSource, ByWorth, DidNotFit, Guaranteed};
    let mut drafts = vec![
        draft(0, 100, 0.9, "alpha one"),
        draft(0, 100, 0.8, "beta two"),
        draft(1, 100, 0.3, "gamma three"),
        draft(1, 100, 0.01, "delta four"),
        draft(0, 100, 0.1, "epsilon five"),
    ];
    drafts[4].tier = Tier::Guaranteed;
    let all = run(&[PLAIN, PLAIN], &drafts, 0.05, 10_000);
    assert_eq!(
        reasons(&all),
        [BestOfSource, ByWorth, BestOfSource, BelowFloor, Guaranteed]
    );
    assert_eq!(all.chars, 20 + 4 * 100 + 2 * 10);
    let some = run(&[PLAIN, PLAIN], &drafts, 0.05, 20 + 3 * 100 + 2 * 10);
    assert_eq!(
        reasons(&some),
        [
            BestOfSource,
            DidNotFit,
            BestOfSource,
            BelowFloor,
            Guaranteed
        ]
    );
    let few = run(&[PLAIN, PLAIN], &drafts, 0.05, 20 + 2 * 100 + 10);
    assert_eq!(
        reasons(&few),
        [BestOfSource, DidNotFit, DidNotFit, BelowFloor, Guaranteed]
    );
    let none = run(&[PLAIN, PLAIN], &drafts, 0.05, 129);
    assert_eq!((none.chars, none.verdicts[4].form), (0, None));
}

#[test]
fn four_hundred_facts_do_not_displace_other_sources() {
    let mut drafts: Vec<Draft> = (0..400)
        .map(|n| draft(0, 90, 0.3, &format!("fact {n} about part{n} and thing{n}")))
        .collect();
    for section in 1..6 {
        drafts.push(draft(
            section,
            300,
            0.2,
            &format!("source {section} zeta{section}"),
        ));
    }
    let all = run(&[PLAIN; 6], &drafts, 0.05, 3_000);
    assert!(all.verdicts[400..].iter().all(|one| one.form.is_some()));
    assert!(
        all.verdicts[..400]
            .iter()
            .filter(|one| one.form.is_some())
            .count()
            > 5
    );
}

#[test]
fn exempt_candidate_is_selected_below_floor() {
    let mut drafts = vec![
        draft(0, 50, 0.01, "open error"),
        draft(0, 50, 0.01, "old fact"),
    ];
    drafts[0].tier = Tier::Exempt;
    let all = run(&[PLAIN], &drafts, 0.05, 1_000);
    assert_eq!(
        reasons(&all),
        [SelectionReason::BestOfSource, SelectionReason::BelowFloor]
    );
}

#[test]
fn irrelevant_item_of_a_source_waits_for_room() {
    let drafts = [
        draft(0, 100, 0.9, "alpha"),
        draft(0, 100, 0.5, "beta"),
        draft(1, 100, 0.07, "gamma"),
    ];
    let two = run(&[PLAIN, PLAIN], &drafts, 0.05, 20 + 10 + 200);
    assert_eq!(two.verdicts[2].reason, SelectionReason::DidNotFit);
    let all = run(&[PLAIN, PLAIN], &drafts, 0.05, 1_000);
    assert_eq!(all.verdicts[2].reason, SelectionReason::ByWorth);
}

#[test]
fn repeated_text_is_named_as_duplicate() {
    let drafts = [
        draft(0, 40, 0.9, "Run the tests with nextest."),
        draft(0, 40, 0.8, "run tests with nextest"),
        draft(0, 40, 0.7, "run tests with cargo"),
    ];
    let all = run(&[PLAIN], &drafts, 0.05, 1_000);
    assert_eq!(
        reasons(&all),
        [
            SelectionReason::BestOfSource,
            SelectionReason::DuplicateOf(0),
            SelectionReason::ByWorth
        ]
    );
}

#[test]
fn newest_of_near_duplicates_takes_the_place_of_the_others() {
    let words = [
        "Run the tests with nextest.",
        "Please run the tests with nextest",
    ];
    let words = words.map(ComparableText::from_text);
    let id = |millis| RecordId::from_parts(Timestamp::from_millisecond(millis).unwrap(), &["x"]);
    let one = |place: usize, record, tier| Candidate {
        section: 0,
        tier,
        forms: vec![40],
        relevance: None,
        worth: 1.0 - place as f64 / 10.0,
        words: words.get(place),
        record: Some(record),
        requires: None,
    };
    for (tier, expected) in [
        (
            Tier::Competing,
            [
                SelectionReason::DuplicateOf(1),
                SelectionReason::BestOfSource,
            ],
        ),
        // A pinned record stays.
        (
            Tier::Guaranteed,
            [SelectionReason::Guaranteed, SelectionReason::DuplicateOf(0)],
        ),
    ] {
        let candidates = [one(0, id(1_000), tier), one(1, id(2_000), Tier::Competing)];
        let selection = select(
            &SelectionInput {
                sections: &[PLAIN],
                candidates: &candidates,
                best_floor: 0.1,
                floor: 0.05,
                reserved_chars: 20,
            },
            1_000,
        );
        assert_eq!(reasons(&selection), expected);
    }
}

#[test]
fn similar_text_has_less_worth_than_new_one() {
    let drafts = [
        draft(0, 40, 0.9, "alpha beta gamma delta"),
        draft(0, 40, 0.6, "alpha beta gamma omega"),
        draft(0, 40, 0.5, "one two three four"),
    ];
    let two = run(&[PLAIN], &drafts, 0.05, 20 + 10 + 80);
    assert_eq!(two.verdicts[1].form, None);
    assert_eq!(two.verdicts[2].form, Some(0));
}

#[test]
fn long_item_enters_in_short_form_and_grows() {
    let mut long = draft(0, 100, 0.9, "alpha");
    long.forms = vec![100, 900];
    let drafts = [long, draft(0, 100, 0.5, "beta")];
    assert_eq!(run(&[PLAIN], &drafts, 0.05, 230).verdicts[0].form, Some(0));
    assert_eq!(run(&[PLAIN], &drafts, 0.05, 230).verdicts[1].form, Some(0));
    assert_eq!(
        run(&[PLAIN], &drafts, 0.05, 1_030).verdicts[0].form,
        Some(1)
    );
}

#[test]
fn share_is_a_floor_and_not_a_ceiling() {
    let shared = SectionFrame {
        share_percent: 50,
        ..PLAIN
    };
    let mut drafts: Vec<Draft> = (0..40)
        .map(|n| draft(0, 90, 0.9, &format!("fact{n} part{n} thing{n}")))
        .collect();
    drafts.extend((0..40).map(|n| draft(1, 90, 0.1, &format!("turn{n} said{n} word{n}"))));
    let half = run(&[PLAIN, shared], &drafts, 0.05, 2_000);
    let count = |range: std::ops::Range<usize>| {
        half.verdicts[range]
            .iter()
            .filter(|one| one.form.is_some())
            .count()
    };
    assert!(count(40..80) >= 9, "{} of the share", count(40..80));
    let only = run(&[PLAIN, shared], &drafts[40..], 0.05, 2_000);
    assert!(
        only.verdicts
            .iter()
            .filter(|one| one.form.is_some())
            .count()
            >= 20
    );
}

#[test]
fn shares_beyond_limit_are_scaled_down_to_it() {
    let mut drafts = Vec::new();
    for (section, worth) in [(0, 0.9), (1, 0.1), (2, 0.1)] {
        drafts.extend((0..40).map(|n| {
            let text = format!("word{section}{n} part{section}{n}");
            draft(section, 90, worth, &text)
        }));
    }
    let chosen = |share_percent: u32| -> Vec<bool> {
        let shared = SectionFrame {
            share_percent,
            ..PLAIN
        };
        let selection = run(&[PLAIN, shared, shared], &drafts, 0.05, 2_000);
        selection
            .verdicts
            .iter()
            .map(|one| one.form.is_some())
            .collect()
    };
    let half = CONTEXT_SHARES_PERCENT_MAX / 2;
    assert_eq!(chosen(half), chosen(2 * half));
    assert_ne!(chosen(half), chosen(half / 5));
}

#[test]
fn tail_follows_in_order_and_without_question() {
    let mut drafts = vec![
        draft(0, 50, 0.1, "newest"),
        draft(0, 50, 0.1, "older"),
        draft(0, 50, 9.0, "oldest"),
    ];
    for one in &mut drafts {
        one.relevance = None;
    }
    drafts[1].tier = Tier::Tail;
    drafts[2].tier = Tier::Tail;
    let two = run(&[PLAIN], &drafts, 0.05, 130);
    assert_eq!(
        two.verdicts
            .iter()
            .map(|one| one.form.is_some())
            .collect::<Vec<_>>(),
        [true, true, false]
    );
}

#[test]
fn message_follows_the_newer_one() {
    let mut drafts = vec![
        draft(0, 300, 0.2, "newest message alpha"),
        draft(0, 30, 0.9, "older message beta"),
        draft(0, 30, 0.8, "oldest message gamma"),
    ];
    drafts[1].requires = Some(0);
    drafts[2].requires = Some(1);
    let two = run(&[PLAIN], &drafts, 0.05, 20 + 10 + 330);
    let forms: Vec<_> = two.verdicts.iter().map(|one| one.form).collect();
    assert_eq!(forms, [Some(0), Some(0), None]);
    let none = run(&[PLAIN], &drafts, 0.05, 300);
    assert!(none.verdicts.iter().all(|one| one.form.is_none()));
}

#[test]
fn minimum_of_section_precedes_worth() {
    let reserved = SectionFrame {
        min_chars: 100,
        has_best: false,
        ..PLAIN
    };
    let mut drafts: Vec<Draft> = (0..20)
        .map(|n| draft(0, 90, 0.9, &format!("fact{n} part{n} thing{n}")))
        .collect();
    drafts.push(draft(1, 90, 0.06, "about the person"));
    let small = run(&[PLAIN, reserved], &drafts, 0.05, 20 + 3 * 100);
    assert!(small.verdicts[20].form.is_some());
}

fn drafts() -> impl Strategy<Value = (Vec<SectionFrame>, Vec<Draft>)> {
    let frame =
        (0_usize..60, 0_u32..=100, any::<bool>()).prop_map(|(chars, share_percent, has_best)| {
            SectionFrame {
                chars,
                share_percent,
                min_chars: chars % 7 * 30,
                has_best,
            }
        });
    let sections = prop::collection::vec(frame, 1..5);
    sections.prop_flat_map(|sections| {
        let tier = prop_oneof![
            1 => Just(Tier::Guaranteed),
            1 => Just(Tier::Exempt),
            6 => Just(Tier::Competing),
            2 => Just(Tier::Tail)
        ];
        let words = prop::collection::vec("(alpha|beta|gamma|delta|[a-z]{3,5})", 0..6);
        let one = (
            0..sections.len(),
            tier,
            prop::collection::vec(1_usize..400, 0..4),
            prop::option::of(0.0..1.0_f64),
            0.0..1.0_f64,
            words,
        )
            .prop_map(|(section, tier, mut forms, relevance, worth, words)| {
                forms.sort_unstable();
                Draft {
                    section,
                    tier,
                    forms,
                    relevance,
                    worth,
                    text: words.join(" "),
                    requires: None,
                }
            });
        (Just(sections), prop::collection::vec(one, 0..40))
    })
}

proptest! {
    #[test]
    fn selection_never_exceeds_budget((sections, drafts) in drafts(), budget in 0_usize..6_000) {
        let found = run(&sections, &drafts, 0.2, budget);
        prop_assert!(found.chars <= budget);
        let mut counted = 0;
        let mut open = vec![false; sections.len()];
        for (verdict, one) in found.verdicts.iter().zip(&drafts) {
            prop_assert_eq!(verdict.form.is_some(), verdict.reason.is_selected());
            if let Some(form) = verdict.form {
                counted += one.forms[form];
                open[one.section] = true;
            }
        }
        let frames: usize = sections.iter().zip(&open).filter(|(_, open)| **open).map(|(one, _)| one.chars).sum();
        let reserved = if counted > 0 { 20 } else { 0 };
        prop_assert_eq!(found.chars, counted + frames + reserved);
    }

    #[test]
    fn larger_budget_never_loses_an_item((sections, drafts) in drafts(), budget in 0_usize..6_000, more in 1_usize..2_000) {
        let small = run(&sections, &drafts, 0.2, budget);
        let large = run(&sections, &drafts, 0.2, budget + more);
        for (before, after) in small.verdicts.iter().zip(&large.verdicts) {
            prop_assert!(before.form <= after.form, "{:?} {:?}", before, after);
        }
        prop_assert!(small.chars <= large.chars);
    }

    #[test]
    fn same_input_gives_same_selection((sections, drafts) in drafts(), budget in 0_usize..6_000) {
        prop_assert_eq!(run(&sections, &drafts, 0.2, budget), run(&sections, &drafts, 0.2, budget));
    }

    #[test]
    fn unlimited_budget_selects_everything_relevant((sections, drafts) in drafts()) {
        let all = run(&sections, &drafts, 0.2, usize::MAX);
        for verdict in &all.verdicts {
            prop_assert_ne!(verdict.reason, SelectionReason::DidNotFit);
        }
    }
}
