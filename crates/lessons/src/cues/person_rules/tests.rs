use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

const DATA: &str = include_str!("../../../data/person_rules.toml");

#[derive(Deserialize)]
struct Examples {
    name: String,
    weight: f32,
    #[serde(default)]
    phrases: BTreeMap<String, Vec<String>>,
    examples: Vec<String>,
    counter_examples: Vec<String>,
}

#[derive(Deserialize)]
struct ExampleFile {
    cue: Vec<Examples>,
}

fn score(cues: &PersonRuleCues, text: &str) -> SentenceScore {
    cues.score(&normalize(text))
}

#[test]
fn cues_match_their_examples_only() {
    let cues = PersonRuleCues::BUILT_IN;
    let file: ExampleFile = toml::from_str(DATA).unwrap();
    let mut wrong = Vec::new();
    for cue in &file.cue {
        assert!(
            !cue.examples.is_empty() && !cue.counter_examples.is_empty(),
            "{}",
            cue.name
        );
        for text in &cue.examples {
            let score = score(&cues, text);
            let is_rule = cue.weight < cues.threshold || score.total >= cues.threshold;
            if !score.names.contains(&cue.name) || !is_rule {
                wrong.push(format!("{}: not found in {text:?}: {score:?}", cue.name));
            }
        }
        for text in &cue.counter_examples {
            let score = score(&cues, text);
            if score.names.contains(&cue.name) {
                wrong.push(format!("{}: found in {text:?}: {score:?}", cue.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cue_phrases_are_normalized_and_unique() {
    let file: ExampleFile = toml::from_str(DATA).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for cue in &file.cue {
        assert!(seen.insert(cue.name.clone()), "{}", cue.name);
        for phrase in cue.phrases.values().flatten() {
            assert_eq!(*phrase, normalize(phrase), "{}", cue.name);
        }
    }
}

#[test]
fn lead_ins_are_measured() {
    let cues = PersonRuleCues::BUILT_IN;
    for (text, length) in [
        ("no, use it", 4),
        ("no mocks", 0),
        ("ok but use it", 7),
        ("nope", 4),
        ("不对，用", "不对，".len()),
    ] {
        assert_eq!(cues.lead_in_length(text), length, "{text}");
    }
}
