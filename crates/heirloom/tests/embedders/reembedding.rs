//! Main use: configure an embedder, embed, query.

use super::{DIMS, configure, project_with_texts, recall, service, vectors_check};
use crate::project::{Project, answer};
use heirloom_model::limits;
use heirloom_testkit::{EmbeddingFault, EmbeddingService};
use serde_json::json;
use std::time::Duration;

#[test]
fn recall_finds_synonyms_by_service_vectors() {
    let project = project_with_texts(30);
    let service = service();
    let (without, _) = recall(&project, "florp");
    assert!(!without.contains("zibble"), "{without}");
    assert_eq!(vectors_check(&project)["level"], "ok");

    configure(&project, &service, "m1", "");
    assert_eq!(vectors_check(&project)["level"], "warn");
    // Without stored vectors no query is sent, and a note gives the reason.
    let (_, notes) = recall(&project, "florp");
    assert!(
        notes.contains("30 of 30 texts have no vector of `m1`"),
        "{notes}"
    );
    assert!(notes.contains("heirloom reembed"), "{notes}");
    assert_eq!(service.requests(), []);

    let done = project.json(&["reembed"]);
    let replaced = json!({"model": done["replaced"]["model"], "vectors": 30});
    assert!(!done["replaced"]["model"].as_str().unwrap().is_empty());
    let expected =
        json!({"model": "m1", "texts": 30, "embedded": 30, "missing": 0, "replaced": replaced});
    assert_eq!(done, expected);
    let (found, notes) = recall(&project, "florp");
    assert_eq!(
        (found.as_str(), notes.as_str()),
        ("the zibble is kept below the stairs", "null")
    );
    let (found, _) = recall(&project, "quandor");
    assert_eq!(found, "a mivlet hums at night");
    let check = vectors_check(&project);
    assert_eq!(check["message"], "all 30 texts have one of `m1`");

    // A second run has nothing to do, and sends nothing.
    let requests_before = service.requests().len();
    let second_run = project.ok(&["reembed"]);
    assert!(
        second_run
            .stdout
            .starts_with("0 vectors computed; 30 of 30"),
        "{second_run:?}"
    );
    assert_eq!(service.requests().len(), requests_before);
    let first = &service.requests()[0];
    assert_eq!(first.line, "POST /v1/embeddings");
    assert_eq!(
        (first.model.as_str(), first.authorization.as_str()),
        ("m1", "")
    );
    assert!(first.texts.len() <= limits::EMBEDDING_BATCH_TEXTS_MAX);
}

#[test]
fn writes_and_contexts_send_no_request() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    service.fail_every(Some(EmbeddingFault::Hang));
    let requests_before = service.requests().len();
    project.ok(&["remember", "one thing more"]);
    project.ok(&["context"]);
    project.ok(&["tried", "florp"]);
    project.ok(&["error", "log", "it broke"]);
    project.input(&["observe"], b"HEIRLOOM_MEMORY: KEY_FACT x\n");
    assert_eq!(service.requests().len(), requests_before);
}

#[test]
fn batch_write_embeds_its_records() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "");
    // Only after the first `reembed`.
    let lines = b"{\"text\": \"early\"}\n";
    assert_eq!(project.input(&["remember", "--stdin"], lines).code, 0);
    assert_eq!(service.requests(), []);
    project.ok(&["reembed"]);
    let lines = b"{\"text\": \"a second florp\"}\n{\"text\": \"a third\"}\n";
    assert_eq!(project.input(&["remember", "--stdin"], lines).code, 0);
    assert_eq!(
        vectors_check(&project)["message"],
        "all 33 texts have one of `m1`"
    );
    project
        .folder
        .write("shared.md", "# Facts\n\n- key: a value\n")
        .unwrap();
    project.ok(&["import", "shared", "shared.md"]);
    assert_eq!(vectors_check(&project)["level"], "ok");
    // A failing service does not affect the write.
    service.fail_every(Some(EmbeddingFault::Status(401)));
    let answer = project.input(&["remember", "--stdin"], b"{\"text\": \"kept anyway\"}\n");
    assert_eq!(answer.code, 0);
    assert!(
        answer.stderr.contains("not everything is embedded"),
        "{answer:?}"
    );
    assert_eq!(vectors_check(&project)["level"], "warn");
}

#[test]
fn catch_up_after_write_is_limited() {
    let project = project_with_texts(1);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    let many = limits::EMBEDDING_CATCH_UP_MAX + 3 * limits::EMBEDDING_BATCH_TEXTS_MAX;
    let lines: String = (0..many)
        .map(|n| format!("{{\"text\": \"matter {n}\"}}\n"))
        .collect();
    let answer = project.input(&["remember", "--stdin"], lines.as_bytes());
    assert_eq!(answer.code, 0);
    assert!(
        answer.stderr.contains("have no vector of `m1` yet"),
        "{answer:?}"
    );
    let sent: usize = service
        .requests()
        .iter()
        .map(|request| request.texts.len())
        .sum();
    assert!(sent < many, "{sent} of {many}");
}

#[test]
fn record_without_vector_is_found_by_words() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    project.ok(&["remember", "the wardrobe is locked"]);
    let (found, notes) = recall(&project, "florp");
    assert!(found.contains("zibble"), "{found}");
    assert!(
        notes.contains("1 of 31 texts have no vector of `m1` yet"),
        "{notes}"
    );
    let (found, _) = recall(&project, "wardrobe");
    assert_eq!(found, "the wardrobe is locked");
}

#[test]
fn api_key_is_sent_and_never_printed() {
    let project = project_with_texts(3);
    let service = service();
    configure(&project, &service, "m1", "key_variable = \"MY_KEY\"");
    let secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789";
    let run = |args: &[&str]| answer(project.command(args).env("MY_KEY", secret));
    service.fail_next(&[EmbeddingFault::Status(401)]);
    let failed = run(&["reembed", "--json"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.stderr.contains("answered 401"), "{failed:?}");
    assert!(
        failed.stderr.contains("embedder.key_variable"),
        "{failed:?}"
    );
    assert!(!format!("{failed:?}").contains("abcdefghij"), "{failed:?}");
    assert_eq!(run(&["reembed"]).code, 0);
    service.fail_next(&[EmbeddingFault::Status(403)]);
    let recalled = run(&["recall", "florp"]);
    assert_eq!(recalled.code, 0);
    assert!(
        recalled.stderr.contains("the built-in vectors rank"),
        "{recalled:?}"
    );
    assert!(
        !format!("{recalled:?}").contains("abcdefghij"),
        "{recalled:?}"
    );
    for request in service.requests() {
        assert_eq!(request.authorization, format!("Bearer {secret}"));
    }
    // The key is in no file of the project or the user.
    for folder in [project.path(), project.home.path()] {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = std::fs::read(&path).unwrap();
                    let is_in = bytes.windows(10).any(|window| window == b"abcdefghij");
                    assert!(!is_in, "{}", path.display());
                }
            }
        }
    }
    let missing = project.run(&["reembed"]);
    assert_eq!(missing.code, 3, "{missing:?}");
    assert!(missing.stderr.contains("MY_KEY"), "{missing:?}");
    // A recall works without the key.
    let recalled = project.run(&["recall", "zibble"]);
    assert_eq!(recalled.code, 0, "{recalled:?}");
    assert!(
        recalled.stdout.contains("zibble") && recalled.stderr.contains("MY_KEY"),
        "{recalled:?}"
    );
}

#[test]
fn key_as_variable_name_is_not_printed() {
    let project = project_with_texts(1);
    let service = service();
    configure(&project, &service, "m1", "key_variable = \"sk-abcdefghij\"");
    let answer = project.run(&["reembed"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(!format!("{answer:?}").contains("abcdefghij"), "{answer:?}");
}

#[test]
fn project_file_cannot_enable_embedder() {
    let project = project_with_texts(3);
    let service = service();
    let config = format!(
        "[embedder]\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"m1\"\n",
        service.url()
    );
    project.configure(&config);
    let answer = project.run(&["reembed"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(
        answer.stderr.contains("send what is remembered away"),
        "{answer:?}"
    );
    project.ok(&["recall", "florp"]);
    assert_eq!(service.requests(), []);
}

#[test]
fn requests_contain_only_redacted_text() {
    let project = Project::new();
    let service = service();
    configure(&project, &service, "m1", "");
    let secret = format!("ghp_{}", "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6");
    project.ok(&["remember", &format!("the token is {secret} for the mivlet")]);
    project.ok(&["remember", "?!"]);
    project.ok(&["reembed"]);
    project.ok(&["recall", &format!("quandor {secret}")]);
    let sent_requests = format!("{:?}", service.requests());
    assert!(
        sent_requests.contains("mivlet") && sent_requests.contains("quandor"),
        "{sent_requests}"
    );
    assert!(!sent_requests.contains("Ab3dE6"), "{sent_requests}");
    // A text without words is not sent, and counts as embedded.
    assert!(!sent_requests.contains("?!"), "{sent_requests}");
    assert_eq!(vectors_check(&project)["level"], "ok");
}

#[test]
fn dimensions_are_requested_and_part_of_model_name() {
    let project = project_with_texts(3);
    let service = EmbeddingService::start(8, &[]).unwrap();
    configure(&project, &service, "m1", "dimensions = 8");
    let done = project.json(&["reembed"]);
    assert_eq!(done["model"], "m1@8");
    configure(&project, &service, "m1", "dimensions = 9");
    let answer = project.run(&["reembed"]);
    assert_eq!(answer.code, 1);
    assert!(
        answer.stderr.contains("8 numbers; 9 were expected"),
        "{answer:?}"
    );
    assert_eq!(DIMS, 384);
}

#[test]
fn recall_slow_service_times_out() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "question_ms = 200");
    project.ok(&["reembed"]);
    for trouble in [
        EmbeddingFault::Hang,
        EmbeddingFault::Late(Duration::from_secs(50)),
    ] {
        service.fail_next(&[trouble]);
        let answer = project.json(&["recall", "zibble"]);
        assert_eq!(
            answer["hits"][0]["text"],
            "the zibble is kept below the stairs"
        );
        let notes = answer["notes"].to_string();
        assert!(notes.contains("did not answer in time"), "{notes}");
        // Far below all other limits.
        assert!(answer["took_us"].as_u64().unwrap() < 20_000_000);
    }
}
