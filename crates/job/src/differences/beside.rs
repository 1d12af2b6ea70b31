//! What runs beside the jobs that do I/O, and is done otherwise.

use super::{Difference, GIVEN, difference};

pub(super) const BESIDE: &[Difference] = &[
    difference(
        "ioengine=exec, a program that ends",
        "goes on until the runtime is over; without a runtime never ends",
        "the job ends with its program",
        "a job lasts as long as what it does",
    ),
    difference(
        "ioengine=exec, a program that fails or cannot be started",
        "status 0",
        "error of the job",
        "a failed job must not look like a good one",
    ),
    difference(
        "ioengine=exec with std_redirect=0",
        "the program prints among the report",
        "it prints on standard error",
        "JSON on standard output is always one valid document",
    ),
    difference(
        "ioengine=cpuio with cpumode=qsort",
        "sorts for as long as that takes",
        "sorts for the time of cpuchunks",
        GIVEN,
    ),
];
