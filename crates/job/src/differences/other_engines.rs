//! Differences in what runs beside the jobs that do I/O.

use super::{Difference, GIVEN, difference};

pub(super) const OTHER_ENGINES: &[Difference] = &[
    difference(
        "ioengine=exec, a program that ends",
        "goes on until the runtime is over; without a runtime never ends",
        "the job ends with its program",
        "a job lasts as long as its program",
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
        "has all bytes of its sender; datagrams may get lost",
        "transferred bytes are counted",
    ),
    difference(
        "ioengine=net with protocol=unix",
        "error 106 after the transfer (3.42)",
        "no error; the socket's path is removed",
        "nothing is wrong with it",
    ),
    difference(
        "ioengine=http, a read that finds no object (404)",
        "counts as done, silently",
        "counts as done; a finding, and the row is invalid from 1 % on",
        "a miss is quicker than a read",
    ),
    difference(
        "ioengine=http, a PUT",
        "Expect: 100-continue; hashes each body",
        "no Expect; hashes bodies where TLS does not protect them",
        "neither belongs to the time of the store",
    ),
    difference(
        "ioengine=http, an object of another length than bs",
        "is read up to its end",
        "error of the job",
        "bytes that never came must not be counted",
    ),
    difference(
        "ioengine=http with http_mode=s3 and no key",
        "signs as (null)",
        "takes the key of the environment, of the files in ~/.aws, or of the role of a container or machine, else an error",
        "a secret on a command line is visible to others",
    ),
    difference(
        "ioengine=http with http_user and http_pass",
        "sends them when the server asks, by its method",
        "sends them with each request (Basic)",
        "no request is done twice",
    ),
    difference(
        "ioengine=cpuio with cpumode=qsort",
        "sorts for as long as that takes",
        "sorts for the time of cpuchunks",
        GIVEN,
    ),
];
