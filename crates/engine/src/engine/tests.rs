use super::*;

/// Returns the number of attempts, and the result, if the first `conflicts` attempts fail with a stale record.
fn attempts_with_conflicts(conflicts: usize) -> (usize, Result<(), Fault>) {
    let mut attempts = 0;
    let done = retry_while_stale(|| {
        attempts += 1;
        Ok(if attempts > conflicts {
            Ok(())
        } else {
            Err(StoreError::Stale {
                id: heirloom_model::RecordId::MIN,
                problem: "is already retired".to_owned(),
            })
        })
    });
    (attempts, done)
}

#[test]
fn stale_write_is_retried_up_to_limit() {
    let most = limits::MERGE_RETRIES_MAX;
    assert_eq!(attempts_with_conflicts(0), (1, Ok(())));
    assert_eq!(attempts_with_conflicts(most - 1), (most, Ok(())));
    let (attempts, done) = attempts_with_conflicts(most);
    assert_eq!(attempts, most);
    let fault = done.unwrap_err();
    assert!(fault.message.contains("already retired"), "{fault}");
    assert!(fault.hint.is_some());
}
