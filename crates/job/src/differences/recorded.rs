//! Differences in how recorded I/O is written and replayed.

use super::{Difference, GIVEN, difference};

pub(super) const RECORDED: &[Difference] = &[
    difference(
        "read_iolog, a request that is late",
        "moves all later ones by its lateness, and forgets it",
        "is issued at once; later ones keep their recorded times; the lateness is reported",
        "a replay must be the recorded load, or say that it was not",
    ),
    difference(
        "read_iolog, waiting",
        "spins",
        "sleeps, and spins for the last 25 us",
        "a replay must leave the processor to the storage's work",
    ),
    difference(
        "replay_skip, --readonly",
        "remove the time of skipped requests from the log (text), or skip writes without a message",
        "replay_skip keeps all times; --readonly refuses a log that writes",
        GIVEN,
    ),
    difference("replay_skip=sync", "leaves datasync in", "leaves all syncs out", "it is a kind of sync"),
    difference(
        "read_iolog, a line that is wrong, out of order, or cut off",
        "skips it, ends with a signal, or waits for days",
        "error before the first byte, with the line",
        "a log with lines left out is not the recorded load",
    ),
    difference(
        "read_iolog, a file that is not open at a request",
        "ends with a signal",
        "files that were added are open all the time; a file that was never added is an error",
        "logs may be joined and cut",
    ),
    difference(
        "read_iolog, a header in the middle (several clones or runs recorded into one log)",
        "skips it",
        "the times go on behind the last line before it",
        "fio itself writes such logs",
    ),
    difference(
        "read_iolog, sync_file_range lines",
        "skips them with a message, though it writes them",
        "replays them; the writing of the range is begun",
        "recorded requests are replayed",
    ),
    difference(
        "read_iolog with more clones than logs",
        "ends with a signal",
        "begins again with the first log",
        "clones take logs in turn",
    ),
    difference(
        "read_iolog, the first time",
        "is left out when it is 0, and with it the gap behind it",
        "all times count from the first line",
        "a log is a schedule",
    ),
    difference(
        "read_iolog, files that it adds and that have no I/O",
        "are opened, and made where the log writes",
        "are not touched",
        "a replay touches only files with I/O",
    ),
    difference(
        "read_iolog of a log that a job before it writes",
        "replays it",
        "error before the run; replay it in a separate run",
        "logs are examined before anything is written",
    ),
    difference(
        "write_iolog of several clones, or jobs, into one file",
        "their pieces may mix",
        "one part after the other, as they end",
        "a log must be readable",
    ),
    difference(
        "the banner of a replay",
        "says rw=read and the sizes of bs",
        "says which way the log's I/O goes, and its sizes",
        "a report must say what was done",
    ),
];
