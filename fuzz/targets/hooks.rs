//! Hook events and settings of agent programs: answers are JSON or empty, and adding and removing our entries is
//! lossless.
#![no_main]

use heirloom_agents::AgentProgram;
use heirloom_agents::failures::{Failure, Subject, failure_text, is_deliberate_failure};
use heirloom_agents::hooks::{
    HookAnswer, agent_messages, complete_lines, read_event, render_answer, shorten_texts,
    without_envelopes, wrap_for_hook,
};
use heirloom_agents::settings::{add_hook_entries, installed_events, remove_hook_entries};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for host in AgentProgram::ALL {
        let event = read_event(host, bytes);
        let lines = complete_lines(bytes);
        assert!(lines.is_empty() || lines.ends_with(b"\n"));
        for output in agent_messages(host, lines, false) {
            assert!(!output.contains("<heirloom-memory"));
        }
        if let Some(tool) = &event.tool {
            if let Some(command) = &tool.command {
                is_deliberate_failure(command);
                let failure = Failure::new(command, &text);
                assert!(
                    failure.key().starts_with(&failure.prefix)
                        && !failure_text(&failure).contains('\n')
                );
                assert!(
                    !Subject::Command(command.clone())
                        .display_text()
                        .contains('\n')
                );
            }
            let short = tool
                .response
                .as_ref()
                .and_then(|response| shorten_texts(response, 8, &mut |_| Some("short".to_owned())));
            let answer = HookAnswer {
                context: wrap_for_hook("p", &text, 2_000),
                replacement_output: short,
                ..HookAnswer::default()
            };
            for spec in host.hook_specs() {
                let output = render_answer(host, spec, &answer);
                let is_json = serde_json::from_str::<serde_json::Value>(&output).is_ok();
                assert!(output.is_empty() || is_json, "{output}");
            }
        }
        if let Ok(with) = add_hook_entries(host, &text) {
            assert_eq!(add_hook_entries(host, &with).as_ref(), Ok(&with));
            let other = host.settings().and_then(|format| format.shares_hooks_with);
            let specs = match host.hook_specs() {
                [] => other.map_or(&[][..], AgentProgram::hook_specs),
                own => own,
            };
            assert_eq!(installed_events(host, &with).unwrap().len(), specs.len());
            for original in [None, Some(&*text)] {
                let without = remove_hook_entries(host, &with, original).unwrap();
                assert!(installed_events(host, &without).unwrap().is_empty());
            }
        }
    }
    let output = wrap_for_hook(&text, &text, 4_000);
    assert_eq!(without_envelopes(&output), "");
});
