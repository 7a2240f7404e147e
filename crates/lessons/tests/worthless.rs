//! Sentences of the kinds that readers judged useless or wrong: none becomes a record.

#[path = "support/conversation.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod conversation;

use conversation::Conversation;
use heirloom_agents::transcripts::EventBody;
use heirloom_lessons::{Lesson, LessonContent, Verdict};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    prompts: Vec<String>,
    answers: Vec<String>,
    summaries: Vec<String>,
    commits: Vec<String>,
    findings: Vec<[String; 2]>,
}

fn begun() -> Conversation {
    Conversation::default()
        .prompt("fix the import in the loader")
        .answer("I look at the loader.")
        .run("ls src", "loader.py")
}

/// Returns the records of a conversation, without the case, which quotes its request.
fn records(conversation: &Conversation) -> Vec<String> {
    let is_record = |lesson: &Lesson| {
        lesson.verdict == Verdict::Kept
            && !matches!(lesson.candidate.content, LessonContent::Case { .. })
    };
    let lessons = conversation.lessons().into_iter();
    lessons
        .filter(is_record)
        .map(|lesson| {
            format!(
                "{:?} {:.2}: {}",
                lesson.candidate.source,
                lesson.candidate.worth,
                lesson.candidate.full_text()
            )
        })
        .collect()
}

#[test]
fn worthless_sentences_become_no_records() {
    let table: Table = toml::from_str(include_str!("data/worthless.toml")).unwrap();
    let mut wrong: Vec<(String, Vec<String>)> = Vec::new();
    let mut check = |what: &str, conversation: Conversation| {
        let found = records(&conversation);
        if !found.is_empty() {
            wrong.push((what.to_owned(), found));
        }
    };
    for prompt in &table.prompts {
        check(
            prompt,
            begun()
                .prompt(prompt)
                .run("ls", "src")
                .answer("I look at it."),
        );
        let first = Conversation::default()
            .prompt(prompt)
            .run("ls", "src")
            .answer("I look at it.");
        check(prompt, first);
    }
    for answer in &table.answers {
        check(answer, begun().edit("src/loader.py").answer(answer));
        check(answer, begun().answer(answer).prompt("go on"));
    }
    for summary in &table.summaries {
        check(
            summary,
            begun()
                .push(EventBody::Summary(summary.clone()))
                .prompt("go on"),
        );
    }
    for message in &table.commits {
        let command = format!("git commit -m \"{message}\"");
        check(
            message,
            begun()
                .edit("src/loader.py")
                .run(&command, "[main 1a2b3c4] x\n 1 file changed"),
        );
    }
    for [command, output] in &table.findings {
        let fixed = begun()
            .fail(command, output)
            .edit("src/loader.py")
            .run(command, "All checks passed!");
        check(output, fixed.answer("It passes."));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
