//! Server against client: two saved runs of one plan, one on the server's own filesystem and one on a client's mount.

use fsdyno_findings::limits::{Attribution, between};
use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{JobSetup, Row, RunRecord, Study, TestRounds};
use fsdyno_stats::sort;
use fsdyno_text::quantity::latency;

use crate::Problem;

/// The attribution of one pattern that both runs measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributed {
    /// The pattern's name in the record.
    pub pattern: String,
    /// The pattern's name for people.
    pub title: String,
    /// The parts of the client's latency in its median round, or why they cannot be computed.
    pub outcome: Result<Attribution, String>,
}

/// A client whose latency is below this share of the server's did not wait for the server's storage.
const AS_FAST: f64 = 0.7;

/// Attributes the latency of each pattern that both runs have, in the client's order.
///
/// # Errors
/// When a run has several storages, the client's storage is local to its machine, or the two runs share no pattern.
pub fn attribute(server: &Study, client: &Study) -> Result<Vec<Attributed>, Problem> {
    for study in [server, client] {
        if study.targets.len() > 1 {
            return Err(Problem::new(format!("{} has {} targets", study.id, study.targets.len()))
                .with_next("run `fsdyno measure` on the server's filesystem and on the client's mount"));
        }
    }
    if matches!(class(client), StorageClass::Block | StorageClass::Memory | StorageClass::Device) {
        let next = match class(server) {
            StorageClass::Network | StorageClass::Fuse => {
                "give the run on the server first, then the run on the \
                                                           client"
            }
            _ => "run the same command on the client's mount of the server's filesystem",
        };
        let what = format!("{} was measured on local storage: there is no network in between", client.id);
        return Err(Problem::new(what).with_next(next));
    }
    let known = server.tests();
    let common: Vec<&str> = client.tests().into_iter().filter(|pattern| known.contains(pattern)).collect();
    if common.is_empty() {
        return Err(Problem::new(format!("{} and {} have no pattern in common", server.id, client.id))
            .with_next("run the same command on both: server and client need the same plan"));
    }
    Ok(common.into_iter().map(|pattern| of_pattern(server, client, pattern)).collect())
}

/// The class of the storage that a run measured.
fn class(study: &Study) -> StorageClass {
    let of_target = study.targets.first().map(|target| target.storage.class);
    let of_run = || Some(study.rows.first()?.run.as_ref()?.storages().next()?.class);
    of_target.filter(|class| *class != StorageClass::Unknown).or_else(of_run).unwrap_or_default()
}

fn of_pattern(server: &Study, client: &Study, pattern: &str) -> Attributed {
    let title = client.repeats(0, pattern).next().map_or_else(|| pattern.to_string(), |row| row.title.clone());
    let (server, client) = (counted(server, pattern), counted(client, pattern));
    // Round i of the server is paired with round i of the client; pairs with a round that does not count are left out.
    let runs =
        server.iter().zip(&client).filter_map(|(server, client)| Some((server.run.as_ref()?, client.run.as_ref()?)));
    let outcome = runs.map(|(server, client)| of_round(server, client)).collect::<Result<Vec<_>, _>>();
    let outcome = outcome.and_then(|mut rounds| {
        sort::by(&mut rounds, |one, other| one.client_ns.total_cmp(&other.client_ns));
        let middle = rounds.len() / 2;
        rounds.into_iter().nth(middle).ok_or_else(|| "it has no valid run on both sides".to_string())
    });
    Attributed { pattern: pattern.to_string(), title, outcome }
}

/// The rows of a pattern whose figures count.
fn counted<'a>(study: &'a Study, pattern: &'a str) -> Vec<&'a Row> {
    let rounds = TestRounds::of_rows(study.repeats(0, pattern));
    rounds.counted().into_iter().filter(|round| round.counts()).map(|round| round.row).collect()
}

fn of_round(server: &RunRecord, client: &RunRecord) -> Result<Attribution, String> {
    let plan = |run: &RunRecord| run.jobs.first().map(|job| plan_of(&job.setup));
    match (plan(server), plan(client)) {
        (Some(server), Some(client)) if server != client => {
            Err(format!("the plans differ: {server} on the server, {client} on the client"))
        }
        _ => match between(server, client) {
            None => Err("a run has no latencies".to_string()),
            Some(found) if found.client_ns < AS_FAST * found.server_ns => Err(format!(
                "{} on the client, {} on the server: a cache on the client answered, or the server was busy",
                latency(found.client_ns),
                latency(found.server_ns)
            )),
            Some(found) => Ok(found),
        },
    }
}

/// The settings that must be equal on both sides, in words.
fn plan_of(setup: &JobSetup) -> String {
    let JobSetup { access, depth, clones, block_sizes, .. } = setup;
    let (read, write) = (block_sizes.read.0, block_sizes.write.0);
    format!("{access} of {read} and {write} B at depth {depth} in {clones} jobs")
}

#[cfg(test)]
mod tests {
    use fsdyno_results::{Access, JobRecord, Moments, Trust};
    use testkit::draw::{Test, TestWork, cases, number_after, printed, time_after, unexplained};

    use super::*;

    fn study(id: &str, mean_ns: u64, depth: u32) -> Study {
        let mut job = JobRecord::new(
            "read",
            1,
            JobSetup { access: Access::named("randread").unwrap(), depth, clones: 1, ..JobSetup::default() },
        );
        job.directions.read.bytes = 4096;
        job.directions.read.ios = 1;
        let mut moments = Moments::default();
        moments.record(mean_ns);
        job.directions.read.lat.moments = moments;
        let mut run = RunRecord::new("test", 1);
        run.jobs = vec![job];
        Study { id: id.into(), ..Study::of_run(run) }
    }

    #[test]
    fn the_round_of_the_median_speaks_for_all() {
        let mut server = study("server", 1_000, 1);
        let mut client = study("client", 9_000, 1);
        for mean_ns in [2_000, 4_000] {
            server.rows.extend(study("", 1_000, 1).rows);
            client.rows.extend(study("", mean_ns, 1).rows);
        }
        let found = attribute(&server, &client).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].outcome.as_ref().unwrap().client_ns, 4_000.0);
        assert_eq!(found[0].outcome.as_ref().unwrap().added_share, 0.75);
    }

    #[test]
    fn a_faster_client_and_a_client_without_a_network_are_told() {
        let found = attribute(&study("server", 9_000, 1), &study("client", 1_000, 1)).unwrap();
        let reason = found[0].outcome.as_ref().unwrap_err();
        assert!(reason.contains("1.00 µs on the client, 9.00 µs on the server: a cache on the client"), "{reason}");
        assert!(attribute(&study("server", 9_000, 1), &study("client", 8_000, 1)).unwrap()[0].outcome.is_ok());
        let of = |id: &str, class: StorageClass| {
            let mut study = study(id, 1_000, 1);
            study.targets[0].storage.class = class;
            study
        };
        let (disk, mount) = (of("disk", StorageClass::Block), of("mount", StorageClass::Network));
        assert!(attribute(&disk, &mount).is_ok());
        let swapped = attribute(&mount, &disk).unwrap_err();
        assert!(swapped.what.contains("disk was measured on local storage"), "{}", swapped.what);
        assert_eq!(swapped.next.as_deref(), Some("give the run on the server first, then the run on the client"));
    }

    #[test]
    fn different_plans_are_not_compared() {
        let found = attribute(&study("server", 1_000, 1), &study("client", 9_000, 32)).unwrap();
        let reason = found[0].outcome.as_ref().unwrap_err();
        assert_eq!(
            reason,
            "the plans differ: randread of 4096 and 4096 B at depth 1 in 1 jobs on the server, randread of 4096 and 4096 B at depth 32 \
             in 1 jobs on the client"
        );
        let mut other = study("other", 1, 1);
        other.rows[0].pattern = "write".into();
        assert!(attribute(&other, &study("client", 9_000, 1)).unwrap_err().what.contains("no pattern in common"));
        other.targets.push(fsdyno_results::Target::default());
        assert!(attribute(&other, &study("client", 9_000, 1)).unwrap_err().what.contains("2 targets"));
    }

    #[test]
    fn no_sentence_denies_its_runs() {
        for (case, mut draw) in cases(60) {
            let mut sides = [(); 2].map(|()| {
                let mut study = study("drawn", 1, 1);
                let (rounds, per_s) = (draw.one_of(&[1, 2, 3, 5]), draw.one_of(&[900.0, 1000.0, 12_000.0]));
                let test =
                    Test { target: 0, pattern: "a", does: TestWork::Read, depth: 4, block_bytes: 4096, rounds, per_s };
                study.rows = draw.rounds(&test);
                study
            });
            sides[1].targets[0].storage.class = StorageClass::Network;
            let [server, client] = &sides;
            let Ok(found) = attribute(server, client) else { continue };
            let means = |study: &Study| -> Vec<f64> {
                let rows = study.rows.iter().filter(|row| row.trust() < Trust::Invalid && row.first_error().is_none());
                rows.filter_map(|row| row.run.as_ref()?.jobs[0].directions.read.lat.moments.mean()).collect()
            };
            let (servers, clients) = (means(server), means(client));
            let of_medians = |study: &Study| {
                let jobs = study.rows.iter().filter_map(|row| row.run.as_ref()?.jobs.first());
                jobs.filter_map(|job| job.directions.read.lat.shown(50.0)).map(|ns| ns as f64).collect::<Vec<_>>()
            };
            let medians = [of_medians(server), of_medians(client)].concat();
            let text = match &found[0].outcome {
                Ok(found) => &found.sentence,
                Err(reason) => reason,
            };
            let told = || format!("case {case}: {text}\n{servers:?}\n{clients:?}");
            let Some((server_ns, client_ns)) = time_after(text, "takes ").zip(time_after(text, "the server and "))
            else {
                continue;
            };
            assert!(servers.iter().any(|mean| printed(server_ns, *mean)), "{}", told());
            assert!(clients.iter().any(|mean| printed(client_ns, *mean)), "{}", told());
            let pairs = || servers.iter().flat_map(|server| clients.iter().map(move |client| (server, client)));
            let added = pairs().map(|(server, client)| client - server);
            let shares: Vec<f64> = pairs().map(|(server, client)| ((1.0 - server / client) * 100.0).round()).collect();
            let times_ns: Vec<f64> = medians.iter().chain(&servers).chain(&clients).copied().chain(added).collect();
            let strange = unexplained(text, &[], &shares, &times_ns);
            assert!(strange.is_empty(), "{strange:?}: {}", told());
            match time_after(text, "network and protocol add ") {
                Some(added) => {
                    // Each of the three figures is printed with three digits: rounding changes it by 0.5 % at most.
                    let rounding = (client_ns + server_ns + added) * 0.00501;
                    assert!((added - (client_ns - server_ns)).abs() < rounding, "{}", told());
                    let share = number_after(text.split_once("protocol add ").unwrap().1, "(").unwrap();
                    assert!((share - added / client_ns * 100.0).abs() < 1.2, "{}", told());
                }
                None => assert!(text.contains("add nothing") && client_ns <= server_ns * 1.0101, "{}", told()),
            }
        }
    }
}
