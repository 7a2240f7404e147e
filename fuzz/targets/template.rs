//! Templates of commands: any text is read, and what an argument says is never read again.
#![no_main]

use heirloom_engine::commands::{Definition, Step, Template, check_name};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    // A file of a command is foreign bytes as well.
    let (definition, _) = Definition::read(&text);
    assert!(heirloom_model::text::is_one_line(&definition.description));
    drop(check_name(&text));
    let (template, said) = text
        .split_once('\u{1}')
        .unwrap_or((&text, "!{x} @{y} {{arg1}} '"));
    let (read, problems) = Template::parse(template);
    let lines = template.lines().count().max(1) as u32 + 1;
    for problem in problems {
        assert!(problem.at.column >= 1 && (1..=lines).contains(&problem.at.line));
    }
    let said = said.replace('\0', "");
    let marks = ["\u{2}".to_owned(), "\u{3}".to_owned()];
    let args = [said.clone(), said.clone()];
    if template.contains(['\u{2}', '\u{3}']) || said.contains(['\u{2}', '\u{3}']) {
        return;
    }
    let (Ok(marked), Ok(filled)) = (read.prepare(&marks), read.prepare(&args)) else {
        return;
    };
    assert_eq!(marked.len(), filled.len());
    let put = |text: &str| text.replace(['\u{2}', '\u{3}'], &said);
    for (marked, filled) in marked.iter().zip(&filled) {
        match (marked, filled) {
            (Step::Text(marked), Step::Text(filled)) => assert_eq!(&put(marked), filled),
            (Step::Shell { script: marked, .. }, Step::Shell { script: filled, .. }) => {
                assert_eq!(marked, filled, "an argument became a part of a script");
            }
            (Step::File { path: marked, .. }, Step::File { path: filled, .. }) => {
                assert_eq!(put(marked).trim(), filled.trim());
            }
            (marked, filled) => panic!("{marked:?} became {filled:?}"),
        }
    }
});
