//! Differences in what runs beside the jobs that do I/O.

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
        "ioengine=net, the end of a receiver",
        "may miss the last requests (248 of 256 KiB)",
        "has all that its sender sent; datagrams may get lost",
        "what was transferred is counted",
    ),
    difference(
        "ioengine=net with protocol=unix",
        "error 106 after the transfer (3.42)",
        "no error; the socket's path is removed",
        "nothing is wrong with it",
    ),
    difference(
        "ioengine=cpuio with cpumode=qsort",
        "sorts for as long as that takes",
        "sorts for the time of cpuchunks",
        GIVEN,
    ),
];
