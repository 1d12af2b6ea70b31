//! Writes CSV (RFC 4180): a line for each round and direction. Unknown values are empty.

use fsdyno_results::{DirectionRecord, Lane, Latency, Metric, Repeat, Study};
use fsdyno_text::escape;

use crate::headline::{Headline, NodesOfTest, rounded};
use crate::quantity::plain_seconds;
use crate::summary::{Grid, PatternLine};

/// The columns; a name ends with its unit.
const HEADER: &str = "study,target,path,pattern,round,direction,trust,findings,error,workers,depth,bytes,operations,\
    runtime_s,mb_per_s,iops,latency_us_count,latency_us_min,latency_us_mean,latency_us_p50,latency_us_p90,\
    latency_us_p99,latency_us_p99_9,latency_us_p99_99,latency_us_max,last_sync_s,cpu_user_s,cpu_system_s,cpu_percent,\
    nodes,node_iops_least,node_iops_median,node_iops_most,node_iops_imbalance";

/// The study as CSV: a header, then a line for each round of each cell and direction.
pub fn csv(study: &Study) -> String {
    let grid = Grid::of(study);
    let headline = Headline::of_grid(&grid);
    let mut text = format!("{HEADER}\n");
    for (line, target, cell) in grid.cells() {
        let path = study.targets.get(target).map_or("", |target| target.path.as_str());
        for repeat in &cell.repeats {
            for figures in directions(line, repeat) {
                let mut fields =
                    vec![study.id.clone(), grid.targets[target].clone(), path.to_owned(), line.pattern.clone()];
                fields.extend(of_repeat(repeat, figures.name));
                fields.extend(figures.fields());
                fields.extend(cpu(repeat));
                fields.extend(nodes(&headline, &line.pattern, &grid.targets[target]));
                let fields: Vec<String> = fields.iter().map(|field| escape::csv(field)).collect();
                text.push_str(&fields.join(","));
                text.push('\n');
            }
        }
    }
    text
}

/// The figures of one direction of a round.
struct Figures<'a> {
    name: &'static str,
    bytes: Option<u64>,
    operations: u64,
    runtime_s: f64,
    /// Megabytes per second; of durable writes where places are compared by these.
    mb_per_s: Option<f64>,
    /// Requests per second; of durable writes like `mb_per_s`.
    iops: Option<f64>,
    latency: Option<std::borrow::Cow<'a, Latency>>,
}

impl Figures<'_> {
    fn fields(&self) -> Vec<String> {
        let micros = |ns: f64| rounded(ns / 1e3).to_string();
        let latency = self.latency.as_ref().filter(|latency| latency.moments.count > 0);
        let of = |figure: &dyn Fn(&Latency) -> Option<String>| latency.and_then(|latency| figure(latency));
        let at = |percent: f64| of(&|latency| latency.shown(percent).map(|ns| micros(ns as f64)));
        [
            self.bytes.map(|bytes| bytes.to_string()),
            Some(self.operations.to_string()),
            Some(plain_seconds(self.runtime_s)),
            self.mb_per_s.map(|rate| rounded(rate).to_string()),
            self.iops.map(|rate| rounded(rate).to_string()),
            of(&|latency| Some(latency.moments.count.to_string())),
            of(&|latency| latency.moments.min().map(|ns| micros(ns as f64))),
            of(&|latency| latency.moments.mean().map(micros)),
            at(50.0),
            at(90.0),
            at(99.0),
            at(99.9),
            at(99.99),
            of(&|latency| latency.moments.max().map(|ns| micros(ns as f64))),
        ]
        .into_iter()
        .map(Option::unwrap_or_default)
        .collect()
    }
}

fn directions<'b>(line: &PatternLine<'_>, repeat: &'b Repeat<'_>) -> Vec<Figures<'b>> {
    if let Some(phase) = repeat.phase {
        let runtime_s = phase.elapsed_ns as f64 / 1e9;
        let latency = repeat.latency(Lane::Operation);
        return vec![Figures {
            name: "operation",
            bytes: phase.bytes,
            operations: phase.operations,
            runtime_s,
            mb_per_s: Metric::Throughput.of(repeat).map(|rate| rate / 1e6),
            iops: per_second(phase.operations, runtime_s),
            latency,
        }];
    }
    let Some(merged) = &repeat.merged else { return vec![Figures::nothing()] };
    let durable = (line.headline() == Metric::Durable).then(|| Metric::Durable.of(repeat)).flatten();
    let figures = |name: &'static str, direction: &DirectionRecord, latency| {
        let runtime_s = direction.runtime_ms as f64 / 1e3;
        let (bytes, operations) = (direction.bytes, direction.ios);
        let until_durable_s = durable.filter(|_| name == "write").map(|rate| direction.bytes as f64 / rate);
        let lasted_s = until_durable_s.unwrap_or(runtime_s);
        let mb_per_s = per_second(bytes, lasted_s).map(|rate| rate / 1e6);
        let iops = per_second(operations, lasted_s);
        Figures { name, bytes: Some(bytes), operations, runtime_s, mb_per_s, iops, latency }
    };
    let all = [
        figures("read", &merged.directions.read, repeat.latency(Lane::Read)),
        figures("write", &merged.directions.write, repeat.latency(Lane::Write)),
        figures("trim", &merged.directions.trim, None),
    ];
    let mut busy: Vec<Figures<'_>> = all.into_iter().filter(|figures| figures.operations > 0).collect();
    if merged.sync.lat.moments.count > 0 {
        let operations = merged.sync.lat.moments.count;
        let runtime_s = merged.directions.write.runtime_ms as f64 / 1e3;
        let (iops, latency) = (per_second(operations, runtime_s), repeat.latency(Lane::Sync));
        busy.push(Figures { name: "sync", bytes: None, operations, runtime_s, mb_per_s: None, iops, latency });
    }
    if busy.is_empty() { vec![Figures::nothing()] } else { busy }
}

impl Figures<'_> {
    /// The figures of a row that did nothing: its line still says why.
    fn nothing() -> Figures<'static> {
        Figures { name: "none", bytes: None, operations: 0, runtime_s: 0.0, mb_per_s: None, iops: None, latency: None }
    }
}

fn per_second(amount: u64, lasted_s: f64) -> Option<f64> {
    (lasted_s > 0.0).then(|| amount as f64 / lasted_s)
}

fn of_repeat(repeat: &Repeat<'_>, direction: &str) -> Vec<String> {
    let mut ids: Vec<&str> = Vec::new();
    for finding in repeat.findings() {
        if !ids.contains(&finding.id.as_str()) {
            ids.push(&finding.id);
        }
    }
    let merged = repeat.merged.as_ref();
    let workers = merged.map(|merged| merged.members).or(repeat.phase.map(|phase| phase.threads));
    vec![
        (repeat.row.round + 1).to_string(),
        direction.to_owned(),
        repeat.trust().word().to_owned(),
        ids.join(" "),
        repeat.error().unwrap_or_default(),
        workers.map(|workers| workers.to_string()).unwrap_or_default(),
        merged.map(|merged| merged.setup.depth.to_string()).unwrap_or_default(),
    ]
}

/// The nodes of a test over all of its rounds; empty on one machine.
fn nodes(headline: &Headline, test: &str, target: &str) -> Vec<String> {
    let of_test = headline.nodes.iter().find(|nodes| nodes.test == test && nodes.target == target);
    let Some(NodesOfTest { nodes, iops, .. }) = of_test else { return vec![String::new(); 5] };
    let imbalance = iops.imbalance.map(|imbalance| imbalance.to_string()).unwrap_or_default();
    let figures = [iops.least, iops.median, iops.most].map(|value| value.to_string());
    std::iter::once(nodes.len().to_string()).chain(figures).chain([imbalance]).collect()
}

fn cpu(repeat: &Repeat<'_>) -> [String; 4] {
    let percent = Metric::Cpu.of(repeat).map(|percent| rounded(percent).to_string()).unwrap_or_default();
    let seconds = |ns: u64| plain_seconds(ns as f64 / 1e9);
    match (&repeat.merged, repeat.phase) {
        (Some(merged), _) => {
            let last_sync = merged.final_sync_ns.map(seconds).unwrap_or_default();
            [last_sync, seconds(merged.user_ns), seconds(merged.system_ns), percent]
        }
        // A phase does not separate user from system time.
        _ => [String::new(), String::new(), String::new(), percent],
    }
}
