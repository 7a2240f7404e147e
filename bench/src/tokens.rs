//! Token counts of OpenAI's models by two independent libraries, compared with the estimate that windows use.

use crate::{Outcome, results};
use flate2::read::MultiGzDecoder;
use heirloom_window::Conversation;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// Counts every text of the conversations in a folder with both libraries.
pub(crate) fn measure(folder: Option<&Path>) -> Outcome<()> {
    let Some(folder) = folder else {
        println!("tokens                                   needs --data FOLDER of conversations");
        return Ok(());
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Outcome<_>>()?;
    files.sort();
    let started = Instant::now();
    let one = tiktoken_rs::o200k_base_singleton();
    let loaded_ms = started.elapsed().as_secs_f64() * 1e3;
    results::value(
        "tokens.load",
        "tokens, loading the vocabulary",
        "ms",
        loaded_ms,
    );
    let other = bpe_openai::o200k_base();
    let (mut texts, mut different) = (0_usize, 0_usize);
    let mut rows = Vec::new();
    let (mut all_tokens, mut all_chars) = (0_usize, 0_usize);
    for file in files {
        let conversation = Conversation::parse(&read(&file)?, None)?;
        let (mut tokens, mut chars) = (0_usize, 0_usize);
        for text in conversation.texts() {
            let counted = one.encode_ordinary(text);
            texts += 1;
            different += usize::from(other.encode(text) != counted);
            tokens += counted.len();
            chars += text.chars().count();
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        rows.push(row(&name, tokens, chars));
        all_tokens += tokens;
        all_chars += chars;
    }
    rows.push(row("all", all_tokens, all_chars));
    let columns = [
        "conversation",
        "tokens",
        "estimate",
        "error, %",
        "characters a token",
    ];
    results::table("tokens", &columns, &rows);
    let name = format!("tokens, texts of {texts} that two programs count differently");
    results::value("tokens.different", &name, "texts", different as f64);
    let name = "tokens, error of the estimate over all texts";
    results::value(
        "tokens.error",
        name,
        "%",
        estimate_error(all_tokens, all_chars),
    );
    if different > 0 {
        return Err("the two programs do not agree".into());
    }
    Ok(())
}

/// Returns the deviation of the estimate from the number of tokens, in percent.
fn estimate_error(tokens: usize, chars: usize) -> f64 {
    (chars.div_ceil(4) as f64 / tokens.max(1) as f64 - 1.0) * 100.0
}

fn row(name: &str, tokens: usize, chars: usize) -> Vec<String> {
    let each = chars as f64 / tokens.max(1) as f64;
    vec![
        name.to_owned(),
        tokens.to_string(),
        chars.div_ceil(4).to_string(),
        format!("{:+.1}", estimate_error(tokens, chars)),
        format!("{each:.2}"),
    ]
}

fn read(path: &Path) -> Outcome<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).read_to_string(&mut text)?;
    } else {
        let mut file = file;
        file.read_to_string(&mut text)?;
    }
    Ok(text)
}
