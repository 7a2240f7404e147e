//! Failures of the service: each is reported, and nothing is lost.

use super::{DIMS, configure, project_with_texts, recall, service};
use heirloom_model::limits;
use heirloom_testkit::EmbeddingFault;
use std::time::{Duration, Instant};

#[test]
fn reembed_invalid_response_is_reported_and_not_stored() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "");
    let vector = |number: &str| {
        let numbers = vec![number; DIMS].join(",");
        let item = format!("{{\"embedding\":[{numbers}]}}");
        EmbeddingFault::Body(format!("{{\"data\":[{}]}}", vec![item; 30].join(",")))
    };
    let too_long = limits::EMBEDDING_PAUSE_MS_MAX / 1_000 + 1;
    let huge = usize::try_from(limits::EMBEDDING_ANSWER_BYTES_MAX).unwrap() + 1;
    for (trouble, part) in [
        (EmbeddingFault::MissingVector, "29 vectors for 30 texts"),
        (
            EmbeddingFault::Body("<html>".to_owned()),
            "no list of embeddings",
        ),
        (EmbeddingFault::Body(String::new()), "no list of embeddings"),
        (vector("NaN"), "no list of embeddings"),
        (vector("1e39"), "number out of range"),
        (vector("null"), "no list of embeddings"),
        (EmbeddingFault::Zeros, "nothing but zeros"),
        (
            EmbeddingFault::Dims(limits::EMBEDDING_DIMS_MAX + 1),
            "at most 4096",
        ),
        (EmbeddingFault::Huge(huge), "more than 33554432 bytes"),
        (EmbeddingFault::Status(301), "redirects are not followed"),
        (EmbeddingFault::Status(400), "answered 400: refused"),
        (EmbeddingFault::Status(404), "embedder.url"),
        (
            EmbeddingFault::RetryAfter(429, too_long.to_string()),
            "answered 429",
        ),
    ] {
        let before = service.requests().len();
        service.fail_next(std::slice::from_ref(&trouble));
        let answer = project.run(&["reembed"]);
        assert_eq!(answer.code, 1, "{trouble:?}: {answer:?}");
        assert!(answer.stderr.contains(part), "{part}: {answer:?}");
        assert_eq!(service.requests().len(), before + 1, "{part}");
    }
    let done = project.json(&["reembed"]);
    assert_eq!(done["embedded"], 30, "{done}");
}

#[test]
fn recall_invalid_response_falls_back_to_builtin_vectors() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "question_ms = 30000");
    project.ok(&["reembed"]);
    for (trouble, part) in [
        (EmbeddingFault::MissingVector, "0 vectors for 1 text"),
        (
            EmbeddingFault::Body("no".to_owned()),
            "no list of embeddings",
        ),
        (EmbeddingFault::Zeros, "nothing but zeros"),
        (EmbeddingFault::Dims(5), "vectors of 5 numbers"),
        (EmbeddingFault::Cut, "the built-in vectors rank"),
        (EmbeddingFault::Status(500), "answered 500"),
        (EmbeddingFault::Status(429), "answered 429"),
    ] {
        let before = service.requests().len();
        service.fail_next(&[trouble]);
        let (found, notes) = recall(&project, "zibble");
        assert_eq!(found, "the zibble is kept below the stairs");
        assert!(notes.contains(part), "{part}: {notes}");
        // Queries are not retried.
        assert_eq!(service.requests().len(), before + 1, "{part}");
    }
    drop(service);
    let (found, notes) = recall(&project, "zibble");
    assert_eq!(found, "the zibble is kept below the stairs");
    assert!(notes.contains("the built-in vectors rank"), "{notes}");
}

#[test]
fn reembed_retries_transient_failures() {
    let project = project_with_texts(3);
    let service = service();
    configure(&project, &service, "m1", "");
    service.fail_next(&[
        EmbeddingFault::Status(429),
        EmbeddingFault::RetryAfter(503, "0".to_owned()),
        EmbeddingFault::Cut,
    ]);
    let began = Instant::now();
    let done = project.json(&["reembed"]);
    assert_eq!(done["embedded"], 3);
    // Each pause is twice as long as the previous one.
    let pauses = Duration::from_millis(7 * limits::EMBEDDING_PAUSE_MS);
    assert!(began.elapsed() >= pauses);
    assert_eq!(service.requests().len(), 4);
    // The number of attempts is limited.
    service.fail_every(Some(EmbeddingFault::Status(500)));
    let answer = project.run(&["reembed", "--anew"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let tries = usize::try_from(limits::EMBEDDING_TRIES_MAX).unwrap();
    assert_eq!(service.requests().len(), 4 + tries);
}

#[test]
fn reembed_other_dimensions_for_same_model_is_reported() {
    let project = project_with_texts(30);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    project.ok(&["remember", "one thing more"]);
    service.fail_every(Some(EmbeddingFault::Dims(200)));
    let answer = project.run(&["reembed"]);
    assert_eq!(answer.code, 1);
    assert!(
        answer
            .stderr
            .contains("has 200 numbers; the stored ones have 384"),
        "{answer:?}"
    );
    assert!(answer.stderr.contains("reembed --anew"), "{answer:?}");
    let (_, notes) = recall(&project, "florp");
    assert!(notes.contains("reembed --anew"), "{notes}");
    let done = project.json(&["reembed", "--anew"]);
    assert_eq!(done["embedded"], 31);
    let (found, notes) = recall(&project, "florp");
    assert!(
        found.contains("zibble") && notes == "null",
        "{found} {notes}"
    );
}

#[test]
fn invalid_embedder_settings_are_reported() {
    let project = project_with_texts(3);
    let service = service();
    let (dims, wait) = (
        limits::EMBEDDING_DIMS_MAX,
        limits::EMBEDDING_QUESTION_MS_MAX,
    );
    let dims = format!("embedder.dimensions={}", dims + 1);
    let wait = format!("embedder.question_ms={}", wait + 1);
    for (more, code, part) in [
        (&["--set", &wait][..], 2, "outside 1..60000"),
        (&["--set", "embedder.url=ftp://x"], 2, "`embedder.url`"),
        (
            &["--set", "embedder.url=https://me:pw@x"],
            2,
            "a name or a password",
        ),
        (&["--set", "embedder.model="], 2, "no model"),
        (
            &["--set", "embedder.kind=magic"],
            2,
            "builtin or openai or folder",
        ),
        (&["--set", &dims], 2, "outside 0..4096"),
        (&["--set", "embedder.question_ms=0"], 2, "outside 1..60000"),
    ] {
        configure(&project, &service, "m1", "");
        let answer = project.run(&[&["reembed"], more].concat());
        assert_eq!(answer.code, code, "{answer:?}");
        assert!(answer.stderr.contains(part), "{part}: {answer:?}");
    }
    let answer = project.run(&["recall", "zibble", "--set", "embedder.url=ftp://x"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.stdout.contains("zibble"), "{answer:?}");
}

#[test]
fn folder_embedder_is_refused_with_a_hint() {
    let project = project_with_texts(3);
    let folder = ["--set", "embedder.kind=folder"];
    let answer = project.run(&[&["reembed"][..], &folder].concat());
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("transformer = true"), "{answer:?}");
    let answer = project.run(&[&["recall", "zibble"][..], &folder].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.stdout.contains("zibble"), "{answer:?}");
    assert!(answer.stderr.contains("no longer read"), "{answer:?}");
}
