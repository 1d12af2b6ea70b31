//! Writes the facts as a JSON document, for programs.
//!
//! A value that is not visible is the text `not visible: ...` in place of a number; a limit that is not set is the text
//! `no limit`.

use fsdyno_probe::Fact;
use serde_json::{Value, json};

use super::findings::{EngineFinding, Findings, Floor};
use super::judgement;

/// The document.
pub(super) fn document(findings: &Findings) -> String {
    let Findings {
        version,
        debug_build,
        kernel,
        processors_online,
        processors_usable,
        memory_bytes,
        floors,
        clock,
        engines,
        io_uring_features,
        limits,
    } = findings;
    let rest = json!({
        "version": version,
        "build": if *debug_build { "debug" } else { "release" },
        "machine": {
            "kernel": shown(kernel),
            "processors_online": shown(processors_online),
            "processors_usable": shown(processors_usable),
            "memory_bytes": shown(memory_bytes),
        },
        "generator_floor": floors.iter().map(floor).collect::<Vec<_>>(),
        "clock": {
            "source": clock.source,
            "cost_ns": tenths(clock.cost_ns),
            "frequency_hz": clock.frequency_hz,
            "fallback_reason": clock.fallback_reason,
        },
        "engines": engines.iter().map(engine).collect::<Vec<_>>(),
        "io_uring_features": io_uring_features.as_ref().map_or_else(|reason| json!(reason), |names| json!(names)),
        "limits": {
            "aio_max_requests": shown(&limits.aio_max_requests),
            "aio_reserved_requests": shown(&limits.aio_reserved_requests),
            "open_files": limit(&limits.open_files),
            "open_files_hard": limit(&limits.open_files_hard),
            "locked_memory_bytes": limit(&limits.locked_memory_bytes),
            "io_uring_disabled": shown(&limits.io_uring_disabled),
            "cgroup_memory_bytes": limit(&limits.cgroup_memory_bytes),
        },
        "fitness": judgement::Fitness::of(findings).word(),
        "verdict": judgement::verdict(findings),
        "capacity": judgement::capacity(findings),
        "warnings": judgement::warnings(findings),
    });
    fsdyno_present::document(judgement::verdict(findings), rest)
}

fn shown<T: Clone + Into<Value>>(fact: &Fact<T>) -> Value {
    fact.clone().map_or_else(|reason| json!(reason.to_string()), Into::into)
}

fn limit(fact: &Fact<Option<u64>>) -> Value {
    match fact {
        Ok(None) => json!("no limit"),
        Ok(Some(value)) => json!(value),
        Err(reason) => json!(reason.to_string()),
    }
}

fn floor(floor: &Floor) -> Value {
    json!({
        "iodepth": floor.iodepth,
        "gtod_reduce": floor.gtod_reduce,
        "cpu_ns_per_io": shown(&floor.cpu_ns.clone().map(tenths)),
    })
}

/// Rounded to a tenth of a ns: more digits would be noise.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

fn engine(engine: &EngineFinding) -> Value {
    json!({
        "name": engine.name.name(),
        "available": engine.available.is_ok(),
        "reason": engine.available.as_ref().err(),
    })
}
