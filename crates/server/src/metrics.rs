//! Prometheus metrics.

use crate::{Access, App, Problem};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use heirloom_engine::SharedStoreStatus;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Upper bounds of the histogram buckets, in microseconds.
const BUCKETS_US: [u64; 10] = [
    500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 200_000, 1_000_000, 10_000_000,
];

/// Counters of requests and their durations.
pub(crate) struct Metrics {
    began: Instant,
    by_status_class: [AtomicU64; 6],
    durations: [AtomicU64; BUCKETS_US.len()],
    micros: AtomicU64,
    in_flight: AtomicI64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            by_status_class: Default::default(),
            durations: Default::default(),
            micros: AtomicU64::new(0),
            in_flight: AtomicI64::new(0),
        }
    }
}

/// Guard that counts a request as in flight until it is dropped, also when its client disconnects.
pub(crate) struct InFlight<'a> {
    metrics: &'a Metrics,
    began: Instant,
}

impl InFlight<'_> {
    /// Records status and duration of a finished request, and returns the duration.
    pub(crate) fn finish(self, status: StatusCode) -> Duration {
        let metrics = self.metrics;
        let class = usize::from(status.as_u16() / 100).min(metrics.by_status_class.len() - 1);
        metrics.by_status_class[class].fetch_add(1, Relaxed);
        let took = self.began.elapsed();
        let micros = total_micros(took);
        metrics.micros.fetch_add(micros, Relaxed);
        for (end, count) in BUCKETS_US.iter().zip(&metrics.durations) {
            if micros <= *end {
                count.fetch_add(1, Relaxed);
            }
        }
        took
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.metrics.in_flight.fetch_sub(1, Relaxed);
    }
}

impl Metrics {
    /// Counts a request as in flight.
    pub(crate) fn begin(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Relaxed);
        InFlight {
            metrics: self,
            began: Instant::now(),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |line: std::fmt::Arguments<'_>| {
            text.push_str(&format!("{line}\n"));
        };
        let of = |n: &AtomicU64| n.load(Relaxed);
        line(format_args!("# TYPE heirloom_requests_total counter"));
        for (class, count) in self.by_status_class.iter().enumerate().skip(1) {
            let count = of(count);
            line(format_args!(
                "heirloom_requests_total{{status=\"{class}xx\"}} {count}"
            ));
        }
        line(format_args!("# TYPE heirloom_request_seconds histogram"));
        for (end, count) in BUCKETS_US.iter().zip(&self.durations) {
            let (end, count) = (seconds(*end), of(count));
            line(format_args!(
                "heirloom_request_seconds_bucket{{le=\"{end}\"}} {count}"
            ));
        }
        let all: u64 = self.by_status_class.iter().map(of).sum();
        let sum = seconds(of(&self.micros));
        line(format_args!(
            "heirloom_request_seconds_bucket{{le=\"+Inf\"}} {all}"
        ));
        line(format_args!("heirloom_request_seconds_sum {sum}"));
        line(format_args!("heirloom_request_seconds_count {all}"));
        let in_flight = self.in_flight.load(Relaxed);
        let uptime = self.began.elapsed().as_secs();
        line(format_args!("# TYPE heirloom_requests_in_flight gauge"));
        line(format_args!("heirloom_requests_in_flight {in_flight}"));
        line(format_args!("# TYPE heirloom_uptime_seconds gauge"));
        line(format_args!("heirloom_uptime_seconds {uptime}"));
        text
    }
}

fn total_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}

/// Returns the name, the type and the value of each metric of a store on a database server.
fn shared_values(shared: &SharedStoreStatus) -> [(&'static str, &'static str, String); 8] {
    [
        (
            "latency_seconds",
            "gauge",
            shared.latency.as_secs_f64().to_string(),
        ),
        (
            "connections_open",
            "gauge",
            shared.connections_open.to_string(),
        ),
        (
            "connections_in_use",
            "gauge",
            shared.connections_in_use.to_string(),
        ),
        (
            "connections_max",
            "gauge",
            shared.connections_max.to_string(),
        ),
        (
            "round_trips_total",
            "counter",
            shared.round_trips.to_string(),
        ),
        ("cache_hits_total", "counter", shared.cache_hits.to_string()),
        (
            "cache_misses_total",
            "counter",
            shared.cache_misses.to_string(),
        ),
        ("cache_bytes", "gauge", shared.cache_bytes.to_string()),
    ]
}

/// Handles `/metrics`: counters of the server and record counts of the served project.
pub(crate) async fn show(State(app): State<App>, access: Access) -> Result<Response, Problem> {
    let project = access.resolve_project(None)?;
    let found = app.with_engine(project, |engine| {
        Ok((
            engine.records().counts()?,
            engine.maintenance().describe_store()?.size_bytes,
            engine.maintenance().shared_status()?,
        ))
    });
    let (counts, size_bytes, shared) = found.await?;
    let mut text = app.metrics().text();
    let mut line = |line: std::fmt::Arguments<'_>| text.push_str(&format!("{line}\n"));
    line(format_args!("# TYPE heirloom_records gauge"));
    for (kind, count) in counts {
        line(format_args!(
            "heirloom_records{{kind=\"{}\"}} {count}",
            kind.as_str()
        ));
    }
    line(format_args!("# TYPE heirloom_store_bytes gauge"));
    line(format_args!("heirloom_store_bytes {size_bytes}"));
    line(format_args!("# TYPE heirloom_store_info gauge"));
    let kind = if shared.is_some() {
        "postgres"
    } else {
        "sqlite"
    };
    line(format_args!("heirloom_store_info{{kind=\"{kind}\"}} 1"));
    if let Some(shared) = &shared {
        for (name, sort, value) in shared_values(shared) {
            line(format_args!("# TYPE heirloom_store_{name} {sort}"));
            line(format_args!("heirloom_store_{name} {value}"));
        }
    }
    let sort = (header::CONTENT_TYPE, "text/plain; version=0.0.4");
    Ok(([sort], text).into_response())
}
