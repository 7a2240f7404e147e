//! Parsing and validation of embeddings responses.

use heirloom_model::limits::EMBEDDING_DIMS_MAX;
use heirloom_model::text::counted;
use serde::Deserialize;

#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    /// Services without an index keep the order of the texts.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Parses the vectors of a response, in the order of the texts; errors describe the problem.
pub(crate) fn parse_vectors(
    bytes: &[u8],
    texts: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Vec<f32>>, String> {
    let answer: EmbeddingsResponse = serde_json::from_slice(bytes)
        .map_err(|error| format!("the answer is no list of embeddings: {error}"))?;
    if answer.data.len() != texts {
        return Err(format!(
            "{} for {}",
            counted(answer.data.len(), "vector", "vectors"),
            counted(texts, "text", "texts")
        ));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (place, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(place);
        match vectors.get_mut(index) {
            Some(slot @ None) => *slot = Some(item.embedding),
            Some(Some(_)) => return Err(format!("two vectors for text {index}")),
            None => return Err(format!("a vector for text {index}, and there are {texts}")),
        }
    }
    let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
    let dims = dimensions.or_else(|| vectors.first().map(Vec::len));
    for vector in &vectors {
        check_vector(vector, dims.unwrap_or(0))?;
    }
    Ok(vectors)
}

fn check_vector(vector: &[f32], dims: usize) -> Result<(), String> {
    let found = vector.len();
    if found == 0 {
        return Err("a vector without numbers".to_owned());
    }
    if found > EMBEDDING_DIMS_MAX {
        return Err(format!(
            "vectors of {found} numbers; at most {EMBEDDING_DIMS_MAX} are taken"
        ));
    }
    if found != dims {
        return Err(format!("a vector of {found} numbers; {dims} were expected"));
    }
    if vector.iter().any(|number| !number.is_finite()) {
        return Err("a vector with values that are not numbers".to_owned());
    }
    if vector.iter().all(|number| *number == 0.0) {
        return Err("a vector of nothing but zeros".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, texts: usize, dims: Option<usize>, part: &str) {
        let problem = parse_vectors(answer.as_bytes(), texts, dims).unwrap_err();
        assert!(problem.contains(part), "{answer}: {problem}");
    }

    #[test]
    fn vectors_are_ordered_by_index() {
        let answer =
            r#"{"data": [{"index": 1, "embedding": [2, 0]}, {"index": 0, "embedding": [1, 0]}]}"#;
        let found = parse_vectors(answer.as_bytes(), 2, Some(2)).unwrap();
        assert_eq!(found, [[1.0, 0.0], [2.0, 0.0]]);
        let without = r#"{"data": [{"embedding": [1]}, {"embedding": [2]}], "model": "m"}"#;
        let found = parse_vectors(without.as_bytes(), 2, None).unwrap();
        assert_eq!(found, [[1.0], [2.0]]);
    }

    #[test]
    fn invalid_response_error_names_problem() {
        for (answer, texts, dims, part) in [
            ("", 1, None, "no list of embeddings"),
            ("<html>", 1, None, "no list of embeddings"),
            ("{}", 1, None, "no list of embeddings"),
            (
                r#"{"data": [{"embedding": "AAAA"}]}"#,
                1,
                None,
                "no list of embeddings",
            ),
            (
                r#"{"data": [{"embedding": [NaN]}]}"#,
                1,
                None,
                "no list of embeddings",
            ),
            (
                r#"{"data": [{"embedding": [1, null]}]}"#,
                1,
                None,
                "no list of embeddings",
            ),
            (r#"{"data": []}"#, 1, None, "0 vectors for 1 text"),
            (
                r#"{"data": [{"embedding": [1]}, {"embedding": [1]}]}"#,
                1,
                None,
                "2 vectors for 1",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#,
                2,
                None,
                "two vectors for text 0",
            ),
            (
                r#"{"data": [{"index": 7, "embedding": [1]}]}"#,
                1,
                None,
                "a vector for text 7",
            ),
            (
                r#"{"data": [{"embedding": []}]}"#,
                1,
                None,
                "without numbers",
            ),
            (
                r#"{"data": [{"embedding": [1, 2]}]}"#,
                1,
                Some(3),
                "2 numbers; 3 were expected",
            ),
            (
                r#"{"data": [{"embedding": [1, 2]}, {"embedding": [1]}]}"#,
                2,
                None,
                "1 numbers; 2 were",
            ),
            (
                r#"{"data": [{"embedding": [0, 0.0]}]}"#,
                1,
                None,
                "nothing but zeros",
            ),
            (
                r#"{"data": [{"embedding": [1e39, 1]}]}"#,
                1,
                None,
                "number out of range",
            ),
        ] {
            check(answer, texts, dims, part);
        }
        let of = |dims: usize| format!(r#"{{"data": [{{"embedding": {:?}}}]}}"#, vec![1; dims]);
        check(
            &of(EMBEDDING_DIMS_MAX + 1),
            1,
            None,
            "at most 4096 are taken",
        );
        assert!(parse_vectors(of(EMBEDDING_DIMS_MAX).as_bytes(), 1, None).is_ok());
    }
}
