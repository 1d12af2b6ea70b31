//! Differences on zoned devices.

use super::{Difference, GIVEN, difference};

pub(super) const ZONES: &[Difference] = &[
    difference(
        "zonemode=zbd, jobs of a stage that use the same zones, of which one writes, with different ranges or verify",
        "share the zones under locks",
        "error before the run; jobs of one range without verify share them",
        "a job would find blocks that are no longer there",
    ),
    difference(
        "zonemode=zbd, max_open_zones or the device's limit, with several writers of a device",
        "whoever comes first opens a zone",
        "each writer has an equal share, jobs of one range have one; error before the run if there are more writers than \
         zones",
        "no writer waits for another",
    ),
    difference(
        "zonemode=zbd on several devices with different limits of open zones",
        "error before the run",
        "the least limit holds on each of them",
        "no device has more open zones than it takes",
    ),
    difference(
        "zonemode=zbd with zonesize on a file that is missing or too short",
        "error before the run",
        "the file is laid out as for other jobs",
        "the size is given",
    ),
    difference(
        "zonemode=zbd, a block that the rest of a zone does not take (bs=320k in zones of 3 MiB)",
        "goes back to earlier zones and writes them again (3.33)",
        "finishes the zone and goes on in the next one",
        GIVEN,
    ),
    difference(
        "zonemode=zbd, size smaller than a zone",
        "read: ends with a failed assertion (3.33)",
        "error before the run, with the size of a zone",
        "an error says what to do",
    ),
];
