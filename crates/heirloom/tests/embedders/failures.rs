//! Everything that a service can do wrong: said clearly, and nothing is lost.

use super::{DIMS, configure, filled, recall, service};
use heirloom_model::limits;
use heirloom_testkit::Trouble;
use std::time::{Duration, Instant};

#[test]
fn wrong_answers_are_named_and_nothing_of_them_is_kept() {
    let project = filled(30);
    let service = service();
    configure(&project, &service, "m1", "");
    let vector = |number: &str| {
        let numbers = vec![number; DIMS].join(",");
        let item = format!("{{\"embedding\":[{numbers}]}}");
        Trouble::Body(format!("{{\"data\":[{}]}}", vec![item; 30].join(",")))
    };
    let too_long = limits::EMBEDDING_PAUSE_MS_MAX / 1_000 + 1;
    let huge = usize::try_from(limits::EMBEDDING_ANSWER_BYTES_MAX).unwrap() + 1;
    for (trouble, part) in [
        (Trouble::OneLess, "29 vectors for 30 texts"),
        (Trouble::Body("<html>".to_owned()), "no list of embeddings"),
        (Trouble::Body(String::new()), "no list of embeddings"),
        (vector("NaN"), "no list of embeddings"),
        (vector("1e39"), "number out of range"),
        (vector("null"), "no list of embeddings"),
        (Trouble::Zeros, "nothing but zeros"),
        (
            Trouble::Dims(limits::EMBEDDING_DIMS_MAX + 1),
            "at most 4096",
        ),
        (Trouble::Huge(huge), "more than 33554432 bytes"),
        (Trouble::Status(301), "redirects are not followed"),
        (Trouble::Status(400), "answered 400: refused"),
        (Trouble::Status(404), "embedder.url"),
        (
            Trouble::RetryAfter(429, too_long.to_string()),
            "answered 429",
        ),
    ] {
        let before = service.requests().len();
        service.next(std::slice::from_ref(&trouble));
        let answer = project.run(&["reembed"]);
        assert_eq!(answer.code, 1, "{trouble:?}: {answer:?}");
        assert!(answer.stderr.contains(part), "{part}: {answer:?}");
        assert_eq!(service.requests().len(), before + 1, "{part}");
    }
    let done = project.json(&["reembed"]);
    assert_eq!(done["embedded"], 30, "{done}");
}

#[test]
fn questions_are_answered_whatever_the_service_says() {
    let project = filled(30);
    let service = service();
    configure(&project, &service, "m1", "question_ms = 30000");
    project.ok(&["reembed"]);
    for (trouble, part) in [
        (Trouble::OneLess, "0 vectors for 1 texts"),
        (Trouble::Body("no".to_owned()), "no list of embeddings"),
        (Trouble::Zeros, "nothing but zeros"),
        (Trouble::Dims(5), "vectors of 5 numbers"),
        (Trouble::Cut, "the built-in vectors rank"),
        (Trouble::Status(500), "answered 500"),
        (Trouble::Status(429), "answered 429"),
    ] {
        let before = service.requests().len();
        service.next(&[trouble]);
        let (found, notes) = recall(&project, "zibble");
        assert_eq!(found, "the zibble is kept below the stairs");
        assert!(notes.contains(part), "{part}: {notes}");
        // Nobody waits for a second try.
        assert_eq!(service.requests().len(), before + 1, "{part}");
    }
    drop(service);
    let (found, notes) = recall(&project, "zibble");
    assert_eq!(found, "the zibble is kept below the stairs");
    assert!(notes.contains("the built-in vectors rank"), "{notes}");
}

#[test]
fn what_passes_is_tried_again() {
    let project = filled(3);
    let service = service();
    configure(&project, &service, "m1", "");
    service.next(&[
        Trouble::Status(429),
        Trouble::RetryAfter(503, "0".to_owned()),
        Trouble::Cut,
    ]);
    let began = Instant::now();
    let done = project.json(&["reembed"]);
    assert_eq!(done["embedded"], 3);
    // Each pause is twice the one before.
    let pauses = Duration::from_millis(7 * limits::EMBEDDING_PAUSE_MS);
    assert!(began.elapsed() >= pauses);
    assert_eq!(service.requests().len(), 4);
    // Not for ever.
    service.every(Some(Trouble::Status(500)));
    let answer = project.run(&["reembed", "--anew"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let tries = usize::try_from(limits::EMBEDDING_TRIES_MAX).unwrap();
    assert_eq!(service.requests().len(), 4 + tries);
}

#[test]
fn another_model_behind_the_same_name_is_noticed() {
    let project = filled(30);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    project.ok(&["remember", "one thing more"]);
    service.every(Some(Trouble::Dims(200)));
    let answer = project.run(&["reembed"]);
    assert_eq!(answer.code, 1);
    assert!(
        answer
            .stderr
            .contains("has 200 numbers; those that are kept have 384"),
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
fn settings_that_cannot_be_used_are_named() {
    let project = filled(3);
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

#[cfg(not(feature = "minilm"))]
#[test]
fn a_program_without_the_feature_says_so() {
    let project = filled(3);
    let folder = ["--set", "embedder.kind=folder"];
    let answer = project.run(&[&["reembed"][..], &folder].concat());
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("--features minilm"), "{answer:?}");
    let answer = project.run(&[&["recall", "zibble"][..], &folder].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.stdout.contains("zibble"), "{answer:?}");
    assert!(answer.stderr.contains("was built without"), "{answer:?}");
}
