//! Parses the names of the figures that a requirement can be about, and the units that vendors use.

use std::fmt;

/// The I/Os that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoDirection {
    Read,
    Write,
    Total,
}

/// The kind of latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// clat: from submission to completion.
    Completion,
    /// lat: from the start of the submission to completion.
    Whole,
    /// Response time: from the intended start to completion, of a paced job.
    Response,
    /// From the sent request to the first byte of its answer, of an object store; percentiles alone are known.
    FirstByte,
}

/// The statistic of a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Statistic {
    Mean,
    /// Above 0, below 100.
    Percentile(f64),
}

/// A figure of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Metric {
    /// I/Os per second.
    Iops(IoDirection),
    /// Bytes per second.
    Bandwidth(IoDirection),
    Latency(IoDirection, Span, Statistic),
    /// Latency of fsync and fdatasync.
    Sync(Statistic),
    /// A figure of a phase of small files, or of requests that no job makes.
    Phase(JoblessPhase, PhaseFigure),
}

/// A phase of small files, or of requests that no job makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoblessPhase {
    Write,
    Read,
    Requests,
}

impl JoblessPhase {
    /// Its name in the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            JoblessPhase::Write => "write",
            JoblessPhase::Read => "read",
            JoblessPhase::Requests => fsdyno_guide::object_check::PlainRequests::PHASE,
        }
    }
}

/// The figures of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PhaseFigure {
    /// Wall time.
    Elapsed,
    /// Operations per second.
    Rate,
    Latency(Statistic),
}

/// The dimension of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// Base unit: ns.
    Time,
    /// Base unit: 1/s.
    Rate,
    /// Base unit: B/s.
    Bandwidth,
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dimension::Time => "a time",
            Dimension::Rate => "a rate of operations",
            Dimension::Bandwidth => "a rate of bytes",
        })
    }
}

/// The unit of what is done with objects, of which one request may list many.
pub(crate) const OBJECTS_PER_S: &str = "objects/s";

/// The units that vendors use: name, dimension, and size in the base unit.
const UNITS: &[(&str, Dimension, f64)] = &[
    ("ns", Dimension::Time, 1.0),
    ("us", Dimension::Time, 1e3),
    ("ms", Dimension::Time, 1e6),
    ("s", Dimension::Time, 1e9),
    ("IOPS", Dimension::Rate, 1.0),
    ("files/s", Dimension::Rate, 1.0),
    ("ops/s", Dimension::Rate, 1.0),
    (OBJECTS_PER_S, Dimension::Rate, 1.0),
    ("KiB/s", Dimension::Bandwidth, 1024.0),
    ("MB/s", Dimension::Bandwidth, 1e6),
    ("MiB/s", Dimension::Bandwidth, 1_048_576.0),
    ("GB/s", Dimension::Bandwidth, 1e9),
    ("GiB/s", Dimension::Bandwidth, 1_073_741_824.0),
    ("GB/h", Dimension::Bandwidth, 1e9 / 3600.0),
];

/// A unit's dimension and its size in the base unit.
///
/// # Errors
/// The known units, for an unknown one.
pub(crate) fn unit(name: &str) -> Result<(Dimension, f64), String> {
    let found = UNITS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, dimension, size)| (*dimension, *size)).ok_or_else(|| {
        let known: Vec<&str> = UNITS.iter().map(|(known, ..)| *known).collect();
        format!("unit `{name}` is none of {}", known.join(", "))
    })
}

/// All names, for the message about a wrong one.
const NAMES: &str = "read|write|total followed by .iops, .bytes_per_s, .clat.X, .lat.X, .response.X or .first_byte.p50; sync.lat.X; \
                     small-write|small-read|requests followed by .elapsed, .per_s or .lat.X. X is mean or p and a \
                     percentage, such as p99";

impl Metric {
    /// Whether it is a percentile.
    pub(crate) fn is_percentile(self) -> bool {
        let statistic = match self {
            Metric::Latency(_, _, statistic) | Metric::Sync(statistic) => Some(statistic),
            Metric::Phase(_, PhaseFigure::Latency(statistic)) => Some(statistic),
            Metric::Iops(_) | Metric::Bandwidth(_) | Metric::Phase(..) => None,
        };
        matches!(statistic, Some(Statistic::Percentile(_)))
    }

    /// Whether it is a time to the first byte of an answer.
    pub(crate) fn is_of_first_byte(self) -> bool {
        matches!(self, Metric::Latency(_, Span::FirstByte, _))
    }

    /// Parses a name such as `read.iops` or `sync.lat.p99`.
    ///
    /// # Errors
    /// When there is no such figure.
    pub(crate) fn parse(name: &str) -> Result<Metric, String> {
        Metric::known(name).ok_or_else(|| format!("there is no figure `{name}`: it is {NAMES}"))
    }

    fn known(name: &str) -> Option<Metric> {
        let (whose, what) = name.split_once('.')?;
        let of_latency = |what: &str| what.strip_prefix("lat.").and_then(Statistic::parse);
        let io_direction = match whose {
            "read" => IoDirection::Read,
            "write" => IoDirection::Write,
            "total" => IoDirection::Total,
            "sync" => return of_latency(what).map(Metric::Sync),
            "small-write" | "small-read" | "requests" => {
                let phase = match whose {
                    "small-write" => JoblessPhase::Write,
                    "small-read" => JoblessPhase::Read,
                    _ => JoblessPhase::Requests,
                };
                let figure = match what {
                    "elapsed" => Some(PhaseFigure::Elapsed),
                    "per_s" => Some(PhaseFigure::Rate),
                    _ => of_latency(what).map(PhaseFigure::Latency),
                };
                return figure.map(|figure| Metric::Phase(phase, figure));
            }
            _ => return None,
        };
        match what.split_once('.') {
            None if what == "iops" => Some(Metric::Iops(io_direction)),
            None if what == "bytes_per_s" => Some(Metric::Bandwidth(io_direction)),
            None => None,
            Some((span, statistic)) => {
                let span = match span {
                    "clat" => Span::Completion,
                    "lat" => Span::Whole,
                    "response" => Span::Response,
                    "first_byte" => Span::FirstByte,
                    _ => return None,
                };
                let known = Statistic::parse(statistic)
                    .filter(|statistic| span != Span::FirstByte || *statistic != Statistic::Mean)?;
                Some(Metric::Latency(io_direction, span, known))
            }
        }
    }

    /// The metric's dimension.
    pub(crate) fn dimension(self) -> Dimension {
        match self {
            Metric::Iops(_) | Metric::Phase(_, PhaseFigure::Rate) => Dimension::Rate,
            Metric::Bandwidth(_) => Dimension::Bandwidth,
            Metric::Latency(..) | Metric::Sync(_) | Metric::Phase(..) => Dimension::Time,
        }
    }

    /// Why this job cannot give the metric; `None`: it can.
    pub(crate) fn missing_in(self, job: &fsdyno_job::Job) -> Option<&'static str> {
        let access = job.pattern.access;
        let io_direction = match self {
            Metric::Iops(io_direction) | Metric::Bandwidth(io_direction) | Metric::Latency(io_direction, ..) => {
                io_direction
            }
            Metric::Sync(_) => {
                let syncs = job.durability.fsync_every > 0 || job.durability.fdatasync_every > 0;
                return (!syncs || !access.writes).then_some("its test syncs nothing (fsync= or fdatasync=)");
            }
            Metric::Phase(JoblessPhase::Requests, _) => return Some("its test is a fio job and not one of requests"),
            Metric::Phase(..) => return Some("its test is a fio job and not one of small files"),
        };
        let paced = job.pacing.has_rate();
        match (io_direction, self) {
            (IoDirection::Read, _) if !access.reads => Some("its test reads nothing"),
            (IoDirection::Write, _) if !access.writes => Some("its test writes nothing"),
            (_, Metric::Latency(_, Span::Response, _)) if !paced => Some("its test is not paced (rate_iops=)"),
            _ => None,
        }
    }
}

impl Statistic {
    fn parse(name: &str) -> Option<Statistic> {
        if name == "mean" {
            return Some(Statistic::Mean);
        }
        let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
        (percent > 0.0 && percent < 100.0).then_some(Statistic::Percentile(percent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        let parse = |name| Metric::parse(name).unwrap();
        assert_eq!(parse("read.iops"), Metric::Iops(IoDirection::Read));
        assert_eq!(parse("total.bytes_per_s"), Metric::Bandwidth(IoDirection::Total));
        assert_eq!(parse("sync.lat.p99"), Metric::Sync(Statistic::Percentile(99.0)));
        assert_eq!(
            parse("write.clat.p99.9"),
            Metric::Latency(IoDirection::Write, Span::Completion, Statistic::Percentile(99.9))
        );
        assert_eq!(parse("read.response.mean"), Metric::Latency(IoDirection::Read, Span::Response, Statistic::Mean));
        assert_eq!(parse("small-write.elapsed"), Metric::Phase(JoblessPhase::Write, PhaseFigure::Elapsed));
        assert_eq!(
            parse("small-read.lat.mean"),
            Metric::Phase(JoblessPhase::Read, PhaseFigure::Latency(Statistic::Mean))
        );
    }

    #[test]
    fn a_wrong_name_is_an_error_that_lists_the_right_ones() {
        for name in [
            "",
            "read",
            "read.iop",
            "reads.iops",
            "read.clat",
            "read.clat.99",
            "sync.iops",
            "sync.lat.p100",
            "small-write.p",
        ] {
            let error = Metric::parse(name).unwrap_err();
            assert!(error.contains(name) && error.contains("sync.lat.X"), "{error}");
        }
    }

    #[test]
    fn units_keep_decimal_and_binary_apart() {
        assert_eq!(unit("MB/s"), Ok((Dimension::Bandwidth, 1e6)));
        assert_eq!(unit("MiB/s"), Ok((Dimension::Bandwidth, 1_048_576.0)));
        assert_eq!(unit("ms"), Ok((Dimension::Time, 1e6)));
        assert!(unit("mb/s").unwrap_err().contains("MB/s"));
    }
}
