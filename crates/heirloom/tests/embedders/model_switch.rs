//! Model changes, also with a kill in between: vectors of two models are never mixed.

use super::{configure, project_with_texts, recall, service, vectors_check};
use heirloom_testkit::EmbeddingFault;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[test]
fn killed_reembed_resumes() {
    let texts = 300;
    let project = project_with_texts(texts);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    let requests_before = service.requests().len();

    configure(&project, &service, "m2", "");
    // The third batch of the next model hangs.
    let late = EmbeddingFault::Late(Duration::ZERO);
    service.fail_next(&[late.clone(), late, EmbeddingFault::Hang]);
    let mut child = project.command(&["reembed"]).spawn().unwrap();
    let began = Instant::now();
    while service.requests().len() < requests_before + 3 {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not ask");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    // A part of the new model and nothing of the old one: neither is used, and the service gets no request.
    let requests_before = service.requests().len();
    let check = vectors_check(&project)["message"].to_string();
    assert!(
        check.contains("172 of 300 texts have none of `m2`"),
        "{check}"
    );
    for model in ["m1", "m2"] {
        configure(&project, &service, model, "");
        let (found, notes) = recall(&project, "florp");
        assert!(!found.contains("zibble"), "{found}");
        assert!(notes.contains("the built-in vectors rank"), "{notes}");
    }
    assert_eq!(service.requests().len(), requests_before);

    let done = project.json(&["reembed"]);
    assert_eq!(
        (&done["embedded"], &done["missing"]),
        (&172.into(), &0.into())
    );
    let (found, notes) = recall(&project, "florp");
    assert!(
        found.contains("zibble") && notes == "null",
        "{found} {notes}"
    );
    // Each text is sent once, except for the batch in flight at the kill.
    let mut sent: BTreeMap<String, usize> = BTreeMap::new();
    for request in service
        .requests()
        .into_iter()
        .filter(|one| one.model == "m2")
    {
        for text in request.texts {
            *sent.entry(text).or_default() += 1;
        }
    }
    let twice = sent.values().filter(|count| **count == 2).count();
    assert_eq!(
        (sent.len(), twice),
        (texts + 1, 64),
        "the question is the one more"
    );
    project.ok(&["doctor"]);
}

#[test]
fn concurrent_reembeds_complete() {
    let project = project_with_texts(200);
    let service = service();
    configure(&project, &service, "m1", "");
    let both = [(); 2].map(|()| project.command(&["reembed", "--json"]).spawn().unwrap());
    for child in both {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let check = vectors_check(&project);
    assert_eq!(check["message"], "all 200 texts have one of `m1`");
    assert!(recall(&project, "florp").0.contains("zibble"));
}

#[test]
fn removing_embedder_config_restores_builtin_vectors() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    project
        .home
        .write(".config/heirloom/config.toml", "")
        .unwrap();
    let check = vectors_check(&project);
    assert_eq!(check["message"], "30 are of `m1`, which is not configured");
    let (found, notes) = recall(&project, "florp");
    assert!(
        !found.contains("zibble") && !notes.contains("m1"),
        "{found} {notes}"
    );
    let done = project.json(&["reembed"]);
    assert_eq!(done["replaced"]["vectors"], 30);
    assert_eq!(vectors_check(&project)["level"], "ok");
    let second_run = project.json(&["reembed"]);
    assert!(second_run["replaced"].is_null());
}

#[test]
fn reembed_skips_forgotten_record_and_embeds_restored_one() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "");
    let id = project.remember("a secret of the house", &[]);
    project.ok(&["forget", &id]);
    project.ok(&["reembed"]);
    let sent = |text: &str| format!("{:?}", service.requests()).contains(text);
    assert!(!sent("a secret of the house"));
    project.ok(&["undo", &id]);
    let done = project.json(&["reembed"]);
    assert_eq!(done["embedded"], 1);
    assert!(sent("a secret of the house"));
}
