//! T46: what a server does with data that it has acknowledged.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;

pub(crate) const ID: &str = "server-durability";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T46",
    title: "Not visible: whether the server had stored the data",
    happens: "A sync on a network filesystem is over when the server says that the data are stored. An NFS server that \
              exports with async says so when it has them in memory; so do some appliances that have a battery. Such a \
              server is faster, and may lose synced data.",
    seen: "Writes with a sync on a network mount. No counter of the client shows what the server does, so that this is \
           reported each time, as information.",
    advice: "Look on the server: exportfs -v shows async. Compare with a server that exports with sync.",
    documented: "exports(5), sync and async; RFC 8881, COMMIT",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let synced = |row: &JobInStage<'_>| row.class() == StorageClass::Network && row.synced() && row.ended_well();
    let said = evidence.rows().filter(|(_, row)| synced(row)).map(|(_, row)| {
        let cause =
            "not visible whether the server had stored the data when it said so: it may export with async".to_owned();
        Report::new(ID, Severity::Info, row.name).says(cause, "exportfs -v on the server shows sync or async")
    });
    said.collect()
}
