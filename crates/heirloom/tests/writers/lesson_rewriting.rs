//! Rewriting of lessons by a model.

use super::{Project, SECRET, configure, project_with_service};
use crate::project::string;
use heirloom_testkit::{ModelService, Reply, Turn};
use serde_json::{Value, json};

/// Stores a conversation in which the agent explains two things and a person sets a rule.
fn teach(project: &Project) {
    let turns = [
        ("user", "Make the pages build again"),
        (
            "assistant",
            "The root cause is that `pnpm build` needs `SVELTE_ENV` in `config/build.toml`, because the plugin reads it \
             at startup.",
        ),
        ("user", "Always use pnpm, never npm, in this repository."),
        ("assistant", "Understood."),
    ];
    for (role, text) in turns {
        let add = ["session", "add", "--session", "s", "--role", role];
        let added = project.input(&add, text.as_bytes());
        assert!(added.code == 0, "{added:?}");
    }
    project.ok(&["learn", "s"]);
}

fn texts(project: &Project) -> Vec<String> {
    let list = project.list("knowledge");
    list.iter().map(|record| string(&record["text"])).collect()
}

/// Returns the index of the agent's text in the request.
fn number_of(body: &Value, words: &str) -> String {
    let data = string(&body["messages"][0]["content"]);
    let line = data
        .lines()
        .find(|line| line.contains(words) && !line.starts_with('|'));
    line.unwrap().split(':').next().unwrap().to_owned()
}

#[test]
fn model_rewrites_words_of_the_agent_only_and_undo_reverts_it() {
    let answer = "1: `pnpm build` needs `SVELTE_ENV` in `config/build.toml`: the plugin reads it at startup.";
    let (project, service) = project_with_service(vec![Turn::text(answer).into()], "");
    teach(&project);
    let before = texts(&project);
    assert!(
        before.iter().any(|text| text.contains("SVELTE_ENV")),
        "{before:?}"
    );
    let done = project.json(&["learn", "s", "--rewrite"]);
    assert_eq!(done["rewrite"]["rewritten"], 1, "{done}");
    let requests = service.requests();
    assert_eq!(requests.len(), 1);
    let body = requests[0].body.to_string();
    assert!(
        !body.contains("never npm"),
        "words of a person are not sent: {body}"
    );
    assert_eq!(number_of(&requests[0].body, "SVELTE_ENV"), "1");
    let list = project.list("knowledge");
    let rewritten = list
        .iter()
        .find(|record| string(&record["text"]).starts_with("`pnpm build` needs"));
    let id = string(&rewritten.unwrap()["id"]);
    let shown = project.ok(&["show", &id, "--source"]).stdout;
    assert!(shown.contains("rewritten by claude-sonnet-4-5"), "{shown}");
    // The words of the model stay when the conversation is read again.
    let after = texts(&project);
    project.ok(&["learn", "--all"]);
    assert_eq!(texts(&project), after);
    project.ok(&["undo", &string(&done["rewrite"]["batch"])]);
    let mut reverted = texts(&project);
    let mut wanted = before;
    reverted.sort();
    wanted.sort();
    assert_eq!(reverted, wanted);
}

#[test]
fn text_that_adds_something_is_refused() {
    let answer = format!("1: Set `SVELTE_ENV` to {SECRET} in `config/build.toml`.\nAnything else?");
    let (project, _service) = project_with_service(vec![Turn::text(answer).into()], "");
    teach(&project);
    let before = texts(&project);
    let done = project.json(&["learn", "s", "--rewrite"]);
    assert_eq!(
        done["rewrite"],
        json!({"batch": null, "rewritten": 0, "merged": 0, "refused": 2})
    );
    assert_eq!(texts(&project), before);
}

#[test]
fn lessons_keep_their_words_without_a_model_that_answers() {
    let project = Project::new();
    teach(&project);
    let before = texts(&project);
    let refused = project.run(&["learn", "s", "--rewrite"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("[writer]"), "{refused:?}");
    let service = ModelService::start(Vec::<Reply>::new()).unwrap();
    let url = service.base_url();
    drop(service);
    configure(&project, "anthropic", &url, "");
    let kept = project.ok(&["learn", "s", "--rewrite"]);
    assert!(
        kept.stderr.contains("the lessons keep their words"),
        "{kept:?}"
    );
    assert_eq!(texts(&project), before);
}
