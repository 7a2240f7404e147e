//! Authority of rules: those of a person, and those in texts that a person pasted or that another author sent.

use super::user_turns::{event, measure_turns, prompt, rules_of};
use heirloom_agents::transcripts::{TranscriptEvent, TurnAuthor};
use heirloom_lessons::{Candidate, LessonExtractor, SourceKind, Speaker};

const RULE: &str = "From now on always use pnpm for this project, never use anything else.";
const FILLER: &str =
    "The quarterly numbers were fine and the team met on Tuesday in the large room. ";

/// Returns the rules in the only turn of a conversation.
fn rules_in(turn: &str) -> Vec<Candidate> {
    rules_of(vec![prompt("fix the import"), prompt(turn)])
}

fn person_rules(turn: &str) -> Vec<Candidate> {
    let mut rules = rules_in(turn);
    rules.retain(|rule| rule.speaker == Speaker::Person);
    rules
}

/// Texts of others around the rule `R`; `F` is a sentence of about 80 characters.
const PASTED: &[&str] = &[
    // Mail.
    "Please summarise this mail: From: Bob To: team Subject: tools. R Bob",
    "Please summarise this mail:\n\nFrom: Bob <bob@x.example>\nTo: me@x.example\nSubject: tools\n\nR\n\nBob",
    "what do I answer?\nFrom: Bob <bob@x.example>\nSent: Monday\n\nR",
    "**From:** Bob\n**Subject:** tools\n\nR",
    "> From: Bob\n> To: me\nSubject: x\nFrom: y\nR",
    "Von: Bob\nAn: mich\nBetreff: Werkzeuge\n\nR",
    "De : Bob\nÀ : moi\nObjet : outils\n\nR",
    "De: Bob\nPara: mí\nAsunto: herramientas\n\nR",
    "发件人：Bob\n主题：工具\n\nR",
    "差出人: Bob\n件名: ツール\n\nR",
    "On Mon, 3 Nov 2025 Bob wrote:\nR",
    "Am Montag schrieb Bob:\nR",
    "Le lundi Bob a écrit :\nR",
    "-----Original Message-----\nR",
    "---------- Forwarded message ---------\nR",
    "Dear team,\n\nR\n\nBest regards,\nBob",
    "Hallo zusammen,\n\nR\n\nViele Grüße\nBob",
    "Hi all,\nR\nKind regards,\nBob",
    // Pages and tickets.
    "Summarise the following page.\nFFFFR\nFFFF",
    "Summarize this page: F R F",
    "Skip to content\nSign in\nF\nR\nF",
    "How we build\n5 min read\nF\nR",
    "https://blog.example/how-we-build\nF\nR\nF",
    "F\nR\nAll rights reserved.",
    "Fix this issue:\nThe build fails.\nR",
    "Please implement the ticket below.\n\nThe button is blue. R",
    "bob opened this issue 3 days ago\nThe build fails. R",
    "The build fails.\nSteps to reproduce\nR",
    "here's the bug report: it crashes. R",
    "Address this review comment: R",
    "Look at the following comment and tell me what you think.\n\nR",
    // Requests about a text.
    "Translate this to German: R",
    "translate the text below\n\nR",
    "Can you translate this into French? R",
    "Please review this message: R",
    "Review the following document.\nR",
    "Proofread this. R",
    "Rephrase this paragraph: R",
    "tl;dr of this: F R",
    "R\n\nCan you translate this text?",
    "F F F R\n\nSummarise this.",
    "R\n\nSummarise the text above.",
    "Explain this comment: R",
    "What do you think about this proposal? R",
    "Reply to this mail: R",
    "I got this message from a customer: R",
    "Here is the message from the channel: R",
    "Übersetze das ins Englische: R",
    "Kannst du diese Nachricht zusammenfassen? R",
    "Fasse die folgende Seite zusammen: R",
    "Traduis ce texte en anglais : R",
    "Peux-tu résumer cet article ? R",
    "Resume este artículo: R",
    "Traduza este texto: R",
    "请翻译下面的邮件：R",
    "この記事を要約して：R",
    // Far from the beginning.
    "FFFFFFFFFFFFFFR",
];

/// Turns whose rule is the person's.
const OWN: &[&str] = &[
    "R",
    "Please fix the login first. R",
    "R Then fix the login.",
    "R Now please summarise this mail: From: Bob Subject: x. Hello.",
    "Fix the build, it is red since yesterday. R",
    "Review my change. R",
    "Check the tests. R",
    "Can you look at the login page? R",
    "Thanks!\n\nR",
    "Hi,\nR\nThanks",
    "No, wrong. R",
    "Read src/main.rs and explain it. R",
    "F\n\nR",
    "In commit messages use the imperative. R",
    "Update the docs. R",
    "Bitte den Test reparieren. R",
    "```\nFrom: a\nTo: b\n```\nR",
];

fn filled(template: &str) -> String {
    // The letters are alone or next to each other.
    let mut text = String::new();
    let chars: Vec<char> = template.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let is_letter = |at: Option<usize>| {
            at.and_then(|at| chars.get(at))
                .is_some_and(|c| c.is_ascii_alphabetic() && !matches!(c, 'F' | 'R'))
        };
        let alone = !is_letter(at.checked_sub(1)) && !is_letter(Some(at + 1));
        match c {
            'R' if alone => text.push_str(RULE),
            'F' if alone => text.push_str(FILLER),
            c => text.push(*c),
        }
    }
    text
}

#[test]
fn rule_in_a_pasted_text_is_none_of_the_person() {
    let mut failed = Vec::new();
    for template in PASTED {
        if !person_rules(&filled(template)).is_empty() {
            failed.push(*template);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn rule_of_the_person_next_to_other_text_stays_theirs() {
    let mut failed = Vec::new();
    for template in OWN {
        if person_rules(&filled(template)).is_empty() {
            failed.push(*template);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn rules_of_the_table_are_those_of_people() {
    let (mut all, mut others) = (0, Vec::new());
    for turn in measure_turns() {
        for rule in rules_in(&turn.text) {
            all += 1;
            if rule.speaker != Speaker::Person {
                others.push(turn.text.clone());
            }
        }
    }
    println!("{} of {all} rules are of others: {others:#?}", others.len());
    assert!(others.len() * 50 <= all, "{} of {all}", others.len());
}

#[test]
fn turn_of_a_script_sets_no_rule_of_a_person() {
    for author in [TurnAuthor::Person, TurnAuthor::Other] {
        let mut extractor = LessonExtractor::default();
        let turn = TranscriptEvent {
            author,
            ..event(0, prompt(RULE))
        };
        extractor.push(&turn);
        let mut rules = extractor.candidates();
        rules.retain(|rule| rule.source == SourceKind::PersonRule);
        assert_eq!(rules.len(), 1, "{author:?}");
        let is_person = rules[0].speaker == Speaker::Person;
        assert_eq!(is_person, author == TurnAuthor::Person);
        assert!(author == TurnAuthor::Person || extractor.wishes().is_empty());
    }
}

#[test]
fn person_who_repeats_a_pasted_rule_makes_it_theirs() {
    let pasted = format!("Summarise this mail: {RULE}");
    let rules = rules_of(vec![prompt(&pasted), prompt(RULE)]);
    assert!(
        rules.iter().any(|rule| rule.speaker == Speaker::Person),
        "{rules:?}"
    );
}
