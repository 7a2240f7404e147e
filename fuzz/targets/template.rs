//! Command templates: every text parses, and arguments are never interpreted as template syntax.
#![no_main]

use heirloom_prompt::custom_commands::{CommandDefinition, RenderStep, Template, check_name};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    // Command files are untrusted input too.
    let (definition, _) = CommandDefinition::parse(&text);
    assert!(heirloom_model::text::is_one_line(&definition.description));
    drop(check_name(&text));
    let (template, argument) = text
        .split_once('\u{1}')
        .unwrap_or((&text, "!{x} @{y} {{arg1}} '"));
    let (read, problems) = Template::parse(template);
    let lines = template.lines().count().max(1) as u32 + 1;
    for problem in problems {
        assert!(problem.at.column >= 1 && (1..=lines).contains(&problem.at.line));
    }
    let argument = argument.replace('\0', "");
    let marks = ["\u{2}".to_owned(), "\u{3}".to_owned()];
    let args = [argument.clone(), argument.clone()];
    if template.contains(['\u{2}', '\u{3}']) || argument.contains(['\u{2}', '\u{3}']) {
        return;
    }
    let (Ok(marked), Ok(filled)) = (read.prepare(&marks), read.prepare(&args)) else {
        return;
    };
    assert_eq!(marked.len(), filled.len());
    let put = |text: &str| text.replace(['\u{2}', '\u{3}'], &argument);
    for (marked, filled) in marked.iter().zip(&filled) {
        match (marked, filled) {
            (RenderStep::Text(marked), RenderStep::Text(filled)) => {
                assert_eq!(&put(marked), filled)
            }
            (
                RenderStep::Shell { script: marked, .. },
                RenderStep::Shell { script: filled, .. },
            ) => {
                assert_eq!(marked, filled, "an argument became a part of a script");
            }
            (RenderStep::File { path: marked, .. }, RenderStep::File { path: filled, .. }) => {
                assert_eq!(put(marked).trim(), filled.trim());
            }
            (marked, filled) => panic!("{marked:?} became {filled:?}"),
        }
    }
});
