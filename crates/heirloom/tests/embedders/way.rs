//! The main way: configured, embedded, asked.

use super::{DIMS, configure, filled, recall, service, vectors_check};
use crate::project::{Project, answer};
use heirloom_model::limits;
use heirloom_testkit::{EmbeddingService, Trouble};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn the_service_s_vectors_find_what_no_word_finds() {
    let project = filled(30);
    let service = service();
    let (without, _) = recall(&project, "florp");
    assert!(!without.contains("zibble"), "{without}");
    assert_eq!(vectors_check(&project), Value::Null);

    configure(&project, &service, "m1", "");
    assert_eq!(vectors_check(&project)["level"], "warn");
    // Nothing is sent before the vectors are there, and the answer says why.
    let (_, notes) = recall(&project, "florp");
    assert!(
        notes.contains("30 of 30 texts have no vector of `m1`"),
        "{notes}"
    );
    assert!(notes.contains("heirloom reembed"), "{notes}");
    assert_eq!(service.requests(), []);

    let done = project.json(&["reembed"]);
    let expected =
        json!({"model": "m1", "texts": 30, "embedded": 30, "missing": 0, "replaced": null});
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

    // Once more there is nothing to do, and nothing is sent.
    let asked = service.requests().len();
    let again = project.ok(&["reembed"]);
    assert!(
        again.stdout.starts_with("0 vectors made; 30 of 30"),
        "{again:?}"
    );
    assert_eq!(service.requests().len(), asked);
    let first = &service.requests()[0];
    assert_eq!(first.line, "POST /v1/embeddings");
    assert_eq!(
        (first.model.as_str(), first.authorization.as_str()),
        ("m1", "")
    );
    assert!(first.texts.len() <= limits::EMBEDDING_BATCH_TEXTS_MAX);
}

#[test]
fn writes_and_contexts_never_ask_the_service() {
    let project = filled(30);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    service.every(Some(Trouble::Hang));
    let asked = service.requests().len();
    project.ok(&["remember", "one thing more"]);
    project.ok(&["context"]);
    project.ok(&["tried", "florp"]);
    project.ok(&["error", "log", "it broke"]);
    project.input(&["observe"], b"HEIRLOOM_MEMORY: KEY_FACT x\n");
    assert_eq!(service.requests().len(), asked);
}

#[test]
fn what_is_written_together_is_embedded_on_the_way_out() {
    let project = filled(30);
    let service = service();
    configure(&project, &service, "m1", "");
    // Not before somebody began with it.
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
    // A service that fails takes nothing back.
    service.every(Some(Trouble::Status(401)));
    let answer = project.input(&["remember", "--stdin"], b"{\"text\": \"kept anyway\"}\n");
    assert_eq!(answer.code, 0);
    assert!(answer.stderr.contains("not all is embedded"), "{answer:?}");
    assert_eq!(vectors_check(&project)["level"], "warn");
}

#[test]
fn a_catch_up_has_an_end() {
    let project = filled(1);
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
fn a_few_may_lack_a_vector_and_are_found_by_their_words() {
    let project = filled(30);
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
fn the_key_is_sent_and_never_shown() {
    let project = filled(3);
    let service = service();
    configure(&project, &service, "m1", "key_variable = \"MY_KEY\"");
    let secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789";
    let run = |args: &[&str]| answer(project.command(args).env("MY_KEY", secret));
    service.next(&[Trouble::Status(401)]);
    let failed = run(&["reembed", "--json"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.stderr.contains("answered 401"), "{failed:?}");
    assert!(
        failed.stderr.contains("embedder.key_variable"),
        "{failed:?}"
    );
    assert!(!format!("{failed:?}").contains("abcdefghij"), "{failed:?}");
    assert_eq!(run(&["reembed"]).code, 0);
    service.next(&[Trouble::Status(403)]);
    let asked = run(&["recall", "florp"]);
    assert_eq!(asked.code, 0);
    assert!(
        asked.stderr.contains("the built-in vectors rank"),
        "{asked:?}"
    );
    assert!(!format!("{asked:?}").contains("abcdefghij"), "{asked:?}");
    for request in service.requests() {
        assert_eq!(request.authorization, format!("Bearer {secret}"));
    }
    // Nor is it in any file of the project or the person.
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
    // A recall goes on without it.
    let asked = project.run(&["recall", "zibble"]);
    assert_eq!(asked.code, 0, "{asked:?}");
    assert!(
        asked.stdout.contains("zibble") && asked.stderr.contains("MY_KEY"),
        "{asked:?}"
    );
}

#[test]
fn a_key_in_the_place_of_its_variable_is_not_repeated() {
    let project = filled(1);
    let service = service();
    configure(&project, &service, "m1", "key_variable = \"sk-abcdefghij\"");
    let answer = project.run(&["reembed"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(!format!("{answer:?}").contains("abcdefghij"), "{answer:?}");
}

#[test]
fn a_project_s_file_sends_nothing_away() {
    let project = filled(3);
    let service = service();
    let mine = format!(
        "[embedder]\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"m1\"\n",
        service.url()
    );
    project.configure(&mine);
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
fn what_is_sent_is_what_is_stored() {
    let project = Project::new();
    let service = service();
    configure(&project, &service, "m1", "");
    let secret = format!("ghp_{}", "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6");
    project.ok(&["remember", &format!("the token is {secret} for the mivlet")]);
    project.ok(&["remember", "?!"]);
    project.ok(&["reembed"]);
    project.ok(&["recall", &format!("quandor {secret}")]);
    let asked = format!("{:?}", service.requests());
    assert!(
        asked.contains("mivlet") && asked.contains("quandor"),
        "{asked}"
    );
    assert!(!asked.contains("Ab3dE6"), "{asked}");
    // What says nothing is not sent, and counts as done.
    assert!(!asked.contains("?!"), "{asked}");
    assert_eq!(vectors_check(&project)["level"], "ok");
}

#[test]
fn dimensions_are_asked_for_and_belong_to_the_model() {
    let project = filled(3);
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
fn a_question_does_not_wait_for_long() {
    let project = filled(30);
    let service = service();
    configure(&project, &service, "m1", "question_ms = 200");
    project.ok(&["reembed"]);
    for trouble in [Trouble::Hang, Trouble::Late(Duration::from_secs(50))] {
        service.next(&[trouble]);
        let answer = project.json(&["recall", "zibble"]);
        assert_eq!(
            answer["hits"][0]["text"],
            "the zibble is kept below the stairs"
        );
        let notes = answer["notes"].to_string();
        assert!(notes.contains("did not answer in time"), "{notes}");
        // Far below any of the other limits.
        assert!(answer["took_us"].as_u64().unwrap() < 20_000_000);
    }
}
