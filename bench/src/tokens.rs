//! What the tokens of OpenAI's models come to: counted by two programs that know nothing of each other, and what the
//! estimate of windows makes of it.

use crate::Outcome;
use flate2::read::MultiGzDecoder;
use heirloom_window::Conversation;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// Counts every text of the conversations in a folder, with both programs.
pub(crate) fn measure(folder: Option<&Path>) -> Outcome<()> {
    let Some(folder) = folder else {
        println!("tokens                                   needs --data FOLDER of conversations");
        return Ok(());
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Outcome<_>>()?;
    files.sort();
    let begun = Instant::now();
    let one = tiktoken_rs::o200k_base_singleton();
    println!(
        "tokens: the first vocabulary is there after {:.0} ms",
        begun.elapsed().as_secs_f64() * 1e3
    );
    let begun = Instant::now();
    let other = bpe_openai::o200k_base();
    println!(
        "tokens: the other one after {:.0} ms",
        begun.elapsed().as_secs_f64() * 1e3
    );
    let (mut texts, mut unlike) = (0_usize, 0_usize);
    let (mut all_tokens, mut all_chars) = (0_usize, 0_usize);
    for file in files {
        let conversation = Conversation::parse(&read(&file)?, None)?;
        let (mut tokens, mut chars) = (0_usize, 0_usize);
        for text in conversation.texts() {
            let counted = one.encode_ordinary(text);
            texts += 1;
            unlike += usize::from(other.encode(text) != counted);
            tokens += counted.len();
            chars += text.chars().count();
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        line(&name, tokens, chars);
        all_tokens += tokens;
        all_chars += chars;
    }
    line("all", all_tokens, all_chars);
    println!("tokens: {texts} texts, {unlike} of them counted otherwise by the other program");
    if unlike > 0 {
        return Err("the two programs do not agree".into());
    }
    Ok(())
}

fn line(name: &str, tokens: usize, chars: usize) {
    let estimate = chars.div_ceil(4);
    let error = (estimate as f64 / tokens.max(1) as f64 - 1.0) * 100.0;
    let each = chars as f64 / tokens.max(1) as f64;
    println!(
        "tokens {name:<48} {tokens:>8} exact {estimate:>8} estimated {error:>+6.1} %  {each:.2} characters a token"
    );
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
