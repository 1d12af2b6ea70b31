//! Reports a run on several nodes as fio's client shows its servers: each separately, then all as one row.

use fsdyno_results::{JobRecord, Node, RunRecord};
use serde_json::{Map, Value, json};

use crate::groups::Table;

/// The name of the row of all clients.
const ALL: &str = "All clients";

/// One node of a run on several.
pub(crate) struct Client<'r> {
    pub(crate) node: &'r Node,
    pub(crate) table: Table<'r>,
}

/// The clients, by name; `None`: the run was on one machine.
pub(crate) fn clients(run: &RunRecord) -> Option<Vec<Client<'_>>> {
    let client = |(index, node)| Client { node, table: Table::of_node(run, index) };
    (run.nodes.len() > 1).then(|| run.nodes.iter().enumerate().map(client).collect())
}

/// The sum of all rows of all groups as one row, with the number of the last group; `None`: there is only one row.
pub(crate) fn all<'r>(clients: &[Client<'r>]) -> Option<Table<'r>> {
    let mut rows = clients.iter().flat_map(|client| &client.table.rows);
    let mut all: JobRecord = rows.next()?.clone().into_owned();
    let mut count = 1;
    for row in rows {
        all.merge(row);
        (all.group, count) = (row.group, count + 1);
    }
    (count > 1).then(|| {
        all.name = ALL.to_owned();
        (all.members, all.pid, all.started_ms, all.error) = (count, 0, None, None);
        (all.description, all.steady_state) = (None, None);
        all.options.clear();
        // The sum is no group: it only has the last row's number.
        all.group_reporting = false;
        // A sum has no depth that a search found.
        all.latency_depth = 0;
        Table::of_row(all)
    })
}

/// Adds fio's keys at the end of each entry of a client.
pub(crate) fn name(entry: &mut Value, node: &Node) {
    if let Some(entry) = entry.as_object_mut() {
        entry.extend(origin(node));
    }
}

/// The client in fio's form.
pub(crate) fn origin(node: &Node) -> Map<String, Value> {
    Map::from_iter([("hostname".to_owned(), json!(node.name)), ("port".to_owned(), json!(0))])
}
