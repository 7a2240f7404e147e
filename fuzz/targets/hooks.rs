//! Events of agent programs and their settings: whatever is in them, an answer is JSON or nothing, and of settings nothing
//! is lost.
#![no_main]

use heirloom_engine::failures::{Failure, Subject, asks_only, failure_text};
use heirloom_engine::hooks::{
    Answer, Host, fenced, installed, read_event, render, said_in, shortened, whole_lines,
    with_entries, without_entries, without_fences,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for host in Host::ALL {
        let event = read_event(host, bytes);
        let lines = whole_lines(bytes);
        assert!(lines.is_empty() || lines.ends_with(b"\n"));
        for said in said_in(host, lines, false) {
            assert!(!said.contains("<heirloom-memory"));
        }
        if let Some(tool) = &event.tool {
            if let Some(command) = &tool.command {
                asks_only(command);
                let failure = Failure::new(command, &text);
                assert!(
                    failure.key().starts_with(&failure.prefix)
                        && !failure_text(&failure).contains('\n')
                );
                assert!(!Subject::Command(command.clone()).shown().contains('\n'));
            }
            let short = tool
                .response
                .as_ref()
                .and_then(|response| shortened(response, 8, &mut |_| Some("short".to_owned())));
            let answer = Answer {
                context: fenced("p", &text, 2_000),
                output: short,
            };
            for wanted in host.wanted() {
                let said = render(host, wanted, &answer);
                let is_json = serde_json::from_str::<serde_json::Value>(&said).is_ok();
                assert!(said.is_empty() || is_json, "{said}");
            }
        }
        if let Ok(with) = with_entries(host, &text) {
            assert_eq!(with_entries(host, &with).as_ref(), Ok(&with));
            assert_eq!(installed(host, &with).unwrap().len(), host.wanted().len());
            let without = without_entries(host, &with).unwrap();
            assert!(installed(host, &without).unwrap().is_empty());
        }
    }
    let said = fenced(&text, &text, 4_000);
    assert_eq!(without_fences(&said), "");
});
