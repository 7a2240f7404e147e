//! Reference implementation of the model in double precision.

use crate::small_model::{HEADS, LAYERS, Small, WIDTH};

type Rows = Vec<Vec<f64>>;

/// The mean of the tokens' vectors.
pub(crate) fn mean(small: &Small, tokens: &[usize]) -> Vec<f32> {
    let rows = tokens_of(small, tokens);
    let sum = |n: usize| rows.iter().map(|row| row[n]).sum::<f64>();
    (0..WIDTH)
        .map(|n| (sum(n) / rows.len() as f64) as f32)
        .collect()
}

/// The first token's vector.
pub(crate) fn first(small: &Small, tokens: &[usize]) -> Vec<f32> {
    tokens_of(small, tokens)[0]
        .iter()
        .map(|number| *number as f32)
        .collect()
}

fn weight(small: &Small, name: &str) -> Rows {
    let (shape, numbers) = &small.weights[name];
    let width = *shape.last().unwrap();
    let row = |row: &[f32]| row.iter().map(|number| f64::from(*number)).collect();
    numbers.chunks(width).map(row).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn dense(small: &Small, name: &str, rows: &Rows) -> Rows {
    let weights = weight(small, &format!("{name}.weight"));
    let bias = weight(small, &format!("{name}.bias")).concat();
    let one = |row: &Vec<f64>| {
        let out = weights.iter().zip(&bias);
        out.map(|(weights, bias)| dot(row, weights) + bias)
            .collect()
    };
    rows.iter().map(one).collect()
}

fn norm(small: &Small, name: &str, rows: &Rows) -> Rows {
    let gain = weight(small, &format!("{name}.weight")).concat();
    let bias = weight(small, &format!("{name}.bias")).concat();
    let one = |row: &Vec<f64>| {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let variance = row.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / row.len() as f64;
        let scaled = row.iter().map(|n| (n - mean) / (variance + 1e-12).sqrt());
        scaled
            .zip(&gain)
            .zip(&bias)
            .map(|((n, gain), bias)| n * gain + bias)
            .collect()
    };
    rows.iter().map(one).collect()
}

fn add(a: &Rows, b: &Rows) -> Rows {
    let rows = a.iter().zip(b);
    rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect())
        .collect()
}

/// GELU: x/2 (1 + erf(x/√2)), with a series for the error function.
fn gelu(x: f64) -> f64 {
    let z = x / 2_f64.sqrt();
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        let n = f64::from(n);
        term *= -z * z / n;
        sum += term / (2.0 * n + 1.0);
    }
    x / 2.0 * (1.0 + sum * 2.0 / std::f64::consts::PI.sqrt())
}

fn attention(small: &Small, layer: &str, rows: &Rows) -> Rows {
    let [query, key, value] = ["query", "key", "value"]
        .map(|part| dense(small, &format!("{layer}.attention.self.{part}"), rows));
    let wide = WIDTH / HEADS;
    let one = |asked: &Vec<f64>| {
        let head = |head: usize| {
            let part = head * wide..(head + 1) * wide;
            let scores = key
                .iter()
                .map(|key| dot(&asked[part.clone()], &key[part.clone()]) / (wide as f64).sqrt());
            let shares: Vec<f64> = scores.map(f64::exp).collect();
            let all: f64 = shares.iter().sum();
            let number = |n: usize| {
                let shares = shares.iter().zip(&value);
                shares
                    .map(|(share, value)| share / all * value[n])
                    .sum::<f64>()
            };
            part.clone().map(number).collect::<Vec<f64>>()
        };
        (0..HEADS).flat_map(head).collect()
    };
    query.iter().map(one).collect()
}

fn tokens_of(small: &Small, tokens: &[usize]) -> Rows {
    let words = weight(small, "embeddings.word_embeddings.weight");
    let places = weight(small, "embeddings.position_embeddings.weight");
    let types = weight(small, "embeddings.token_type_embeddings.weight");
    let word = |(place, token): (usize, &usize)| {
        (0..WIDTH)
            .map(|n| words[*token][n] + places[place][n] + types[0][n])
            .collect()
    };
    let rows: Rows = tokens.iter().enumerate().map(word).collect();
    let mut rows = norm(small, "embeddings.LayerNorm", &rows);
    for layer in 0..LAYERS {
        let layer = format!("encoder.layer.{layer}");
        let seen = attention(small, &layer, &rows);
        let seen = dense(small, &format!("{layer}.attention.output.dense"), &seen);
        rows = norm(
            small,
            &format!("{layer}.attention.output.LayerNorm"),
            &add(&seen, &rows),
        );
        let mut inner = dense(small, &format!("{layer}.intermediate.dense"), &rows);
        inner.iter_mut().flatten().for_each(|n| *n = gelu(*n));
        let out = dense(small, &format!("{layer}.output.dense"), &inner);
        rows = norm(
            small,
            &format!("{layer}.output.LayerNorm"),
            &add(&out, &rows),
        );
    }
    rows
}
