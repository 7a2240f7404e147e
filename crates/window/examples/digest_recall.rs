//! Recall of summaries: share of the reused identifiers that a summary and the kept messages contain.
//!
//! `digest_recall FOLDER [print FILE MESSAGES]`: each `*.json` or `*.json.gz` of the folder is a conversation
//! (`{"messages": […]}`). It is cut every 30 messages: all but the last 15 are summarised, and each
//! message of the agent up to the next cut is scored by the identifiers it uses that are older than 15
//! messages. Every third file is held out and was not used for tuning.
//! `digest_recall time` measures 20,000 messages.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use heirloom_window::summary::{SummaryBuilder, SummaryMessage, SummaryTask, Verbatim};
use heirloom_window::{ChatMessage, ChatRole, Conversation, MessagePart, WireFormat};
use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const KEEP: usize = 15;
const STEP: usize = 30;
const BUDGET_CHARS: usize = 42_000;
const USERS_CHARS: usize = 32_000;

type Words = HashSet<String>;

fn main() -> Result<(), Box<dyn Error>> {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = options.first() else {
        println!("skipped: no folder of conversations was given");
        return Ok(());
    };
    if folder == "time" {
        return time();
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().contains(".json"))
        .collect();
    files.sort();
    if let [_, print, name, count] = options.as_slice() {
        assert_eq!(print, "print");
        let path = files
            .iter()
            .find(|path| path.to_string_lossy().contains(name.as_str()));
        let talk = read(path.ok_or("no such file")?)?;
        let until = count.parse::<usize>()?.min(talk.messages.len());
        println!("{}", summary(&talk.messages[..until]));
        return Ok(());
    }
    compare(&files)
}

/// One line for each file, and one for each group of files.
fn compare(files: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    println!("recall of old names, and characters: the prototype, this one, this one merged");
    let mut groups = [Vec::new(), Vec::new()];
    for (number, path) in files.iter().enumerate() {
        let talk = read(path)?;
        let held = number % 3 == 2;
        let [before, now] = [prototype, summary]
            .map(|write| measure(&talk.messages, |until| write(&talk.messages[..until])));
        let mut last = (String::new(), 0);
        let again = measure(&talk.messages, |until| {
            last = (merged(&talk, &last, until), until);
            last.0.clone()
        });
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        print!("{name:<46} {:<8}", if held { "held out" } else { "" });
        print!("{:>3} cuts {:>4} names", now.cuts, now.used);
        for found in [&before, &now, &again] {
            print!("  {:>5.1}% {:>6}", found.recall(), found.size());
        }
        println!();
        if now.used > 0 {
            groups[usize::from(held)].push([before.recall(), now.recall(), again.recall()]);
        }
    }
    for (name, group) in ["tuned", "held out"].iter().zip(&groups) {
        print!("{name:<46} {:>26}", "");
        for column in 0..3 {
            #[expect(clippy::cast_precision_loss, reason = "a few files")]
            let mean = group.iter().map(|of| of[column]).sum::<f64>() / group.len().max(1) as f64;
            print!("  {mean:>5.1}% {:>6}", "");
        }
        println!();
    }
    Ok(())
}

fn read(path: &Path) -> Result<Conversation, Box<dyn Error>> {
    let text = if path.extension().is_some_and(|extension| extension == "gz") {
        let out = Command::new("gzip").arg("-dc").arg(path).output()?;
        String::from_utf8(out.stdout)?
    } else {
        std::fs::read_to_string(path)?
    };
    Ok(Conversation::parse(&text, None)?)
}

/// Result of one summariser on one conversation.
#[derive(Debug, Default)]
struct Found {
    cuts: usize,
    chars: usize,
    used: usize,
    shares: Vec<f64>,
}

impl Found {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn recall(&self) -> f64 {
        100.0 * self.shares.iter().sum::<f64>() / (self.shares.len().max(1) as f64)
    }

    fn size(&self) -> usize {
        self.chars / self.cuts.max(1)
    }
}

fn measure(messages: &[ChatMessage], mut write: impl FnMut(usize) -> String) -> Found {
    let words: Vec<Words> = messages
        .iter()
        .map(|message| tokens(&full_text(message)))
        .collect();
    let union = |range: std::ops::Range<usize>| -> Words {
        words[range].iter().flatten().cloned().collect()
    };
    let mut found = Found::default();
    let mut cut = KEEP + STEP;
    while cut + 5 < messages.len() {
        let text = write(cut - KEEP);
        found.cuts += 1;
        found.chars += text.chars().count();
        let mut have = tokens(&text);
        have.extend(union(cut - KEEP..cut));
        let mut before = union(0..cut);
        for (index, message) in messages.iter().enumerate().skip(cut).take(STEP) {
            if message.role == ChatRole::Assistant {
                let near = union(index.saturating_sub(KEEP)..index);
                let used: Vec<&String> = words[index]
                    .iter()
                    .filter(|word| before.contains(*word) && !near.contains(*word))
                    .collect();
                if !used.is_empty() {
                    let kept = used.iter().filter(|word| have.contains(**word)).count();
                    found.used += used.len();
                    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                    found.shares.push(kept as f64 / used.len() as f64);
                }
            }
            have.extend(words[index].iter().cloned());
            before.extend(words[index].iter().cloned());
        }
        cut += STEP;
    }
    found
}

/// Returns the text of a message as the model sees it.
fn full_text(message: &ChatMessage) -> String {
    let mut text = message.text();
    for output in message.outputs() {
        text.push_str(&output.text);
    }
    for call in message.calls() {
        text.push_str(&format!("\n{} {}", call.name, call.arguments));
    }
    text
}

/// `[A-Za-z_][\w./-]{5,}`
fn tokens(text: &str) -> Words {
    let mut out = Words::new();
    let more = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        rest = &rest[start..];
        let end = rest.find(|c| !more(c)).unwrap_or(rest.len());
        if rest[..end].chars().count() > 5 {
            out.insert(rest[..end].to_owned());
        }
        rest = &rest[end..];
    }
    out
}

/// The last message of a user.
fn goal(messages: &[ChatMessage]) -> String {
    let asked = messages
        .iter()
        .rev()
        .filter(|message| message.role == ChatRole::User);
    let mut texts = asked.map(ChatMessage::text);
    let first = || {
        messages
            .iter()
            .find(|message| message.role == ChatRole::User)
            .map(ChatMessage::text)
    };
    texts
        .find(|text| text.len() >= 40)
        .or_else(first)
        .unwrap_or_default()
}

/// Simulates a caller that keeps only its input: the previous summary and the messages since.
fn merged(talk: &Conversation, last: &(String, usize), until: usize) -> String {
    let since = &talk.messages[last.1..until];
    if last.1 == 0 {
        return summary(since);
    }
    let mut first = Conversation::new(WireFormat::Openai);
    let message = format!(
        r#"{{"role":"user","content":{}}}"#,
        serde_json::json!(format!("[CONVERSATION SUMMARY — Heirloom]\n{}", last.0))
    );
    if first.push(&message).is_err() {
        return String::new();
    }
    let mut messages = first.messages;
    messages.extend_from_slice(since);
    for output in messages.iter_mut().flat_map(|message| &mut message.parts) {
        if let MessagePart::Output(output) = output {
            output.call = output
                .call
                .and_then(|(index, part)| Some(((index + 1).checked_sub(last.1)?, part)));
        }
    }
    written(&messages, &goal(&talk.messages[..until]))
}

fn summary(messages: &[ChatMessage]) -> String {
    written(messages, &goal(messages))
}

fn written(messages: &[ChatMessage], goal: &str) -> String {
    let task = SummaryTask {
        goal,
        earlier: None,
        earlier_covers_all: false,
        retained: &[],
        budget_chars: BUDGET_CHARS,
        user_text_chars: USERS_CHARS,
    };
    heirloom_window::summary::summarise(&SummaryMessage::from_messages(messages, &Verbatim), &task)
}

/// Baseline summary of the first measurements: 4,000 characters of heads and tails.
fn prototype(messages: &[ChatMessage]) -> String {
    let clip = |text: &str, most: usize| text.chars().take(most).collect::<String>();
    let mut out = vec![format!("[SUMMARY] Goal: {}", clip(&goal(messages), 600))];
    let (mut said, mut did, mut errors, mut paths) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for message in messages {
        let text = message.text();
        if message.role == ChatRole::User {
            out.push(format!("User: {}", clip(&text, 200)));
        }
        if message.role == ChatRole::Assistant {
            if !text.is_empty() {
                said.push(clip(text.split(". ").next().unwrap_or(""), 160));
            }
            let mut words: Vec<String> = tokens(&full_text(message))
                .into_iter()
                .filter(|word| word.contains('/'))
                .collect();
            words.sort();
            words.retain(|word| !paths.contains(word));
            paths.append(&mut words);
        }
        did.extend(
            message
                .calls()
                .map(|call| format!("{} {}", call.name, clip(&call.arguments, 120))),
        );
        for output in message.outputs() {
            let wrong = |line: &&str| {
                ["rror", "xception", "raceback", "ailed", "anic", "atal"]
                    .iter()
                    .any(|word| line.contains(word))
            };
            errors.extend(
                output
                    .text
                    .lines()
                    .find(wrong)
                    .map(|line| clip(line.trim(), 160)),
            );
        }
    }
    let last = |list: &[String], count: usize| list[list.len().saturating_sub(count)..].join(" | ");
    out.push(format!("Files: {}", last(&paths, 40)));
    out.push(format!(
        "Said: {}\nErrors: {}\nDid: {}",
        last(&said, 8),
        last(&errors, 6),
        last(&did, 12)
    ));
    clip(&out.join("\n"), 4_000)
}

/// Measures a builder and its summaries on 20,000 messages of 16 million characters.
fn time() -> Result<(), Box<dyn Error>> {
    let mut talk = Conversation::parse(
        r#"[{"role":"user","content":"Make all of the tests in the folder pass again."}]"#,
        None,
    )?;
    for n in 0..10_000 {
        let arguments = format!(
            r#"{{\"command\":\"sed -n 1,80p src/part{}/file_{n}.rs && cargo test case_{}\"}}"#,
            n % 40,
            n % 700
        );
        talk.push(&format!(r#"{{"role":"assistant","content":"Now I look at part {n} because the case fails.","tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"bash","arguments":"{arguments}"}}}}]}}"#))?;
        let line = format!(
            "pub fn case_{n}(input: &str) -> Result<usize, ParseError> {{ walk_tree(input, {n}) }}\\n"
        );
        talk.push(&format!(
            r#"{{"role":"tool","tool_call_id":"c{n}","content":"{}"}}"#,
            line.repeat(18)
        ))?;
    }
    let goal = goal(&talk.messages);
    let task = SummaryTask {
        goal: &goal,
        earlier: None,
        earlier_covers_all: false,
        retained: &[],
        budget_chars: BUDGET_CHARS,
        user_text_chars: USERS_CHARS,
    };
    for _ in 0..3 {
        let start = Instant::now();
        let mut digest = SummaryBuilder::default();
        let messages = SummaryMessage::from_messages(&talk.messages, &Verbatim);
        digest.extend(&messages);
        let pushed = start.elapsed();
        let start = Instant::now();
        for _ in 0..19 {
            assert!(!digest.write(&messages, &task).is_empty());
        }
        let text = digest.write(&messages, &task);
        println!(
            "push {} messages: {pushed:?}; write {} characters: {:?}",
            digest.len(),
            text.chars().count(),
            start.elapsed() / 20
        );
    }
    Ok(())
}
