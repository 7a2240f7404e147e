use super::*;
use crate::index::tokenizer::QueryTerms;
use proptest::prelude::*;

fn question(text: &str) -> Question {
    let terms = QueryTerms::of(text).terms;
    let dfs = vec![1; terms.len()];
    Question::new(text, &terms, &dfs, 60)
}

fn candidate(text: &str) -> CandidateText<'_> {
    CandidateText {
        text,
        key: None,
        kind: Some(Kind::Knowledge),
        category: Some("fact"),
        cosine: 0.3,
        ..CandidateText::default()
    }
}

fn feature(features: &Features, name: &str) -> f64 {
    let at = FEATURE_NAMES.iter().position(|one| *one == name).unwrap();
    features.values()[at]
}

#[test]
fn right_record_is_more_relevant_than_unrelated_one() {
    let asked = question("which port does the tile server listen on?");
    let right = candidate("The tile server listens on port 8791 inside the cluster.");
    let wrong = CandidateText {
        cosine: 0.02,
        behind: 3.0,
        rank: 7,
        ..candidate("Decided to keep the colour of the logo.")
    };
    assert!(asked.relevance(&right) > 5.0 * asked.relevance(&wrong));
    assert!(Grade::of(asked.relevance(&wrong)) == Grade::Weak);
}

#[test]
fn pasted_error_matches_recorded_one() {
    let pasted = "job failed\nTypeError: Cannot read properties of undefined (reading 'taux')\n at calculTva (/app/tva.ts:31)\n";
    let recorded = CandidateText {
        kind: Some(Kind::Error),
        category: None,
        cosine: 0.7,
        ..candidate("TypeError: Cannot read properties of undefined (reading 'taux') at calculTva")
    };
    let asked = question(pasted);
    assert!(feature(&asked.features(&recorded), "pasted_error") > 1.0);
    assert!(Grade::of(asked.relevance(&recorded)) == Grade::Strong);
}

#[test]
fn common_words_are_less_evidence_than_rare_ones() {
    let asked = question("talk about uplink");
    let common = asked.features(&candidate("we talk about the weather"));
    let rare = asked.features(&candidate("the uplink is slow"));
    assert!(feature(&rare, "rarest") > feature(&common, "rarest"));
}

#[test]
fn similar_words_are_aligned() {
    let asked = question("buy a picture");
    let near = feature(
        &asked.features(&candidate("purchase photos")),
        "aligned_share",
    );
    let far = feature(
        &asked.features(&candidate("granite mountain")),
        "aligned_share",
    );
    assert!(near > far, "{near} {far}");
    let same = feature(
        &asked.features(&candidate("buy a picture")),
        "aligned_share",
    );
    assert!((same - 1.0).abs() < 1e-9);
}

#[test]
fn names_are_words_with_marks_digits_or_capitals() {
    for (text, expected) in [
        ("Tests should have names that say what they test.", &[][..]),
        (
            "Run `make` in src/a.rs with --jobs=4",
            &["make", "src/a.rs", "--jobs=4"],
        ),
        (
            "parseUrl and (a.b) are API names",
            &["parseurl", "a.b", "api"],
        ),
        ("A tile has 64 units.", &["64"]),
        ("", &[]),
    ] {
        assert_eq!(names::names(text).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn names_of_question_are_found_in_text_and_key() {
    let asked = question("why does src/tiles.rs fail with TLS on `uplink`?");
    let shared = |text: &str, key: Option<&str>| {
        let one = CandidateText {
            key,
            ..candidate(text)
        };
        feature(&asked.features(&one), "shared_names")
    };
    assert!(shared("nothing", None).abs() < f64::EPSILON);
    assert!((shared("see src/tiles.rs", None) - 2.0_f64.ln()).abs() < 1e-9);
    assert!((shared("tls and src/tiles.rs: TLS", Some("`uplink`")) - 4.0_f64.ln()).abs() < 1e-9);
}

#[test]
fn key_and_complement_are_evidence() {
    let asked = question("how do we deploy to staging after the outage?");
    let plain = asked.features(&candidate("Push to main."));
    let more = asked.features(&CandidateText {
        key: Some("staging-deploy"),
        complement: "because of the outage in May",
        ..candidate("Push to main.")
    });
    assert!((feature(&more, "key") - 1.0).abs() < 1e-9);
    assert!(feature(&plain, "key").abs() < 1e-9);
    assert!(feature(&more, "complement") > 0.0);
    assert!(feature(&plain, "complement").abs() < 1e-9);
}

#[test]
fn lines_are_those_of_the_given_text() {
    let asked = question("error: no such tile").with_lines_of("error:\nno such\ntile");
    let error = CandidateText {
        kind: Some(Kind::Error),
        ..candidate("no such tile")
    };
    assert!((feature(&asked.features(&error), "lines") - 3.0_f64.ln()).abs() < 1e-9);
    assert!((feature(&asked.features(&error), "pasted_error") - 3.0_f64.ln()).abs() < 1e-9);
}

#[test]
fn lines_of_a_plan_are_no_pasted_error() {
    let plan = "Implement the following plan:\n# Tiles\n## Context\nerror: no such tile\n## Steps\n1. look\n";
    let error = CandidateText {
        kind: Some(Kind::Error),
        ..candidate("no such tile")
    };
    let pasted = |text: &str| {
        let asked = question("no such tile").with_lines_of(text);
        feature(&asked.features(&error), "pasted_error")
    };
    assert!(pasted(plan).abs() < 1e-9);
    assert!(pasted(&plan.replace("## Steps", "# Steps")) > 1.0);
}

#[test]
fn recent_case_is_more_relevant_than_an_old_one() {
    let now: Timestamp = "2026-11-28T12:00:00Z".parse().unwrap();
    let asked = question("which port does the tile server listen on?").asked_at(now);
    let text = "Asked: the tile server listens on the wrong port";
    let of = |at: Option<&str>| {
        let case_at = at.map(|at| at.parse().unwrap());
        let case = CandidateText {
            kind: Some(Kind::Episode),
            category: None,
            case_at,
            ..candidate(text)
        };
        asked.features(&case)
    };
    let recent = of(Some("2026-11-28T11:00:00Z"));
    let old = of(Some("2026-10-28T11:00:00Z"));
    let age = |features: &Features| features.case_values().map(|values| values[0]);
    assert_eq!(age(&recent), Some(2.0_f64.ln()));
    assert!(recent.probability() > 1.5 * old.probability());
    // Its clock may be ahead of ours.
    assert_eq!(age(&of(Some("2027-01-01T00:00:00Z"))), Some(0.0));
    // The age of another record is no evidence.
    assert_eq!(age(&of(None)), None);
}

#[test]
fn grades_are_ordered_by_relevance() {
    assert_eq!(Grade::of(1.0), Grade::Strong);
    assert_eq!(Grade::of(TELL_MIN), Grade::Strong);
    assert_eq!(Grade::of(LIKELY_MIN), Grade::Likely);
    assert_eq!(Grade::of(FLOOR), Grade::Possible);
    assert_eq!(Grade::of(0.0), Grade::Weak);
    assert!(Grade::ALL.is_sorted_by(|a, b| a > b));
    assert_eq!(
        Grade::ALL.map(Grade::as_str),
        ["strong", "likely", "possible", "weak"]
    );
}

#[test]
fn pieces_of_long_texts_are_limited() {
    let long = |words: usize| "photo ".repeat(words);
    let most = limits::RELEVANCE_QUESTION_PIECES_MAX;
    let at_limit = question(&long(most));
    assert_eq!(at_limit.pieces, question(&long(most + 1)).pieces);
    assert_ne!(at_limit.pieces, question(&long(most - 1)).pieces);
    let asked = question("photo");
    let most = limits::RELEVANCE_RECORD_PIECES_MAX;
    let within = asked.features(&candidate(&format!("{}photo", "mail ".repeat(most - 1))));
    let beyond = asked.features(&candidate(&format!("{}photo", "mail ".repeat(most))));
    assert!(feature(&within, "aligned_share") > feature(&beyond, "aligned_share"));
}

proptest! {
    #[test]
    fn relevance_is_a_probability(text in "\\PC{0,80}", record in "\\PC{0,80}", cosine in -1.0..1.0_f64, behind in 0.0..20.0_f64, rank in 0_usize..50) {
        let asked = question(&text);
        let one = CandidateText { cosine, behind, rank, ..candidate(&record) };
        let relevance = asked.relevance(&one);
        prop_assert!((0.0..=1.0).contains(&relevance), "{relevance}");
        prop_assert_eq!(relevance.to_bits(), asked.relevance(&one).to_bits());
    }
}
