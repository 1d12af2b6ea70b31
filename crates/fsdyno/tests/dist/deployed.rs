//! Tests `deploy/`: each file is accepted by its reader, and each command line in it runs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::{TestDirectory, has, names, text, workspace};

use crate::run;

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = workspace().join("deploy").join(folder);
    names(&folder).iter().filter(|name| name.ends_with(ending)).map(|name| folder.join(name)).collect()
}

/// YAML documents as JSON; `None`: nothing here reads YAML, which was printed.
fn documents(file: &Path) -> Option<Vec<Value>> {
    let python = testkit::python("python3")?;
    let script = "import json, sys
try:
    from ruamel.yaml import YAML
except ImportError:
    sys.exit('absent')
print(json.dumps(list(YAML(typ='safe').load_all(open(sys.argv[1])))))";
    let ran = run(Command::new(python).args(["-c", script]).arg(file));
    if ran.stderr.contains("absent") {
        testkit::skip("ruamel.yaml is not installed; .ci/run installs it");
        return None;
    }
    Some(ran.good().document().as_array().expect("a list").clone())
}

#[test]
fn manifests_keep_the_schemas_of_kubernetes() {
    let Some(tool) = testkit::python("kubernetes-validate") else { return };
    let all = files("kubernetes", ".yaml");
    assert_eq!(all.len(), 5);
    for file in all.iter().filter(|file| !file.ends_with("kustomization.yaml")) {
        run(Command::new(&tool).arg("--strict").arg(file)).good();
    }
    // The check itself finds errors.
    let place = TestDirectory::new();
    let good = std::fs::read_to_string(&all[0]).unwrap();
    place.write("bad.yaml", good.replace("restartPolicy", "restart"));
    assert_ne!(run(Command::new(&tool).arg("--strict").arg(place.path("bad.yaml"))).status, Some(0));
}

/// The MPIJob's own schema exists only in a cluster with the operator: its pods are checked as pods, the rest against
/// the names and kinds of the published schema (kubeflow.org/v2beta1).
#[test]
fn the_pods_of_an_mpijob_keep_the_schemas_and_its_command_can_be_read() {
    let file = workspace().join("deploy/mpi/mpijob.yaml");
    let Some(documents) = documents(&file) else { return };
    let [job] = &documents[..] else { panic!("{} documents", documents.len()) };
    assert_eq!((&job["apiVersion"], &job["kind"]), (&"kubeflow.org/v2beta1".into(), &"MPIJob".into()));
    let keys = |value: &Value| {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(job), ["apiVersion", "kind", "metadata", "spec"]);
    let spec = &job["spec"];
    assert_eq!(keys(spec), ["mpiReplicaSpecs", "runPolicy", "slotsPerWorker", "sshAuthMountPath"]);
    assert!(keys(&spec["runPolicy"]).iter().all(|key| {
        ["backoffLimit", "cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds"].contains(&key.as_str())
    }));
    let replicas = &spec["mpiReplicaSpecs"];
    assert_eq!(keys(replicas), ["Launcher", "Worker"]);
    let words: Vec<&str> = replicas["Launcher"]["template"]["spec"]["containers"][0]["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    let [before, question] = words.split(|word| *word == "fsdyno").collect::<Vec<_>>()[..] else { panic!("{words:?}") };
    assert_eq!(before, ["-n", &replicas["Worker"]["replicas"].to_string()]);
    // This program has one node, and says how to start more: so it has understood the words.
    let place = TestDirectory::with(&["volume"]);
    let here = question.iter().map(|word| if *word == "/volume" { place.word("volume") } else { (*word).to_owned() });
    let ran = place.run(&here.collect::<Vec<_>>());
    assert!(ran.status == Some(2) && ran.stderr.contains("4 nodes are needed"), "{ran:?}");
    let Some(tool) = testkit::python("kubernetes-validate") else { return };
    for (name, replica) in replicas.as_object().unwrap() {
        assert_eq!(keys(replica), ["replicas", "restartPolicy", "template"]);
        let mut pod = replica["template"].clone();
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
        pod["metadata"]["name"] = name.to_lowercase().into();
        let said = pod.to_string();
        assert!(said.contains("\"runAsNonRoot\":true") && said.contains("RuntimeDefault"), "{name}");
        place.write("pod.yaml", said);
        run(Command::new(&tool).arg("--strict").arg(place.path("pod.yaml"))).good();
    }
}

/// The words of all containers of a pod, in the order in which they run.
fn containers(document: &Value) -> Vec<Vec<String>> {
    let job = if document["kind"] == "CronJob" { &document["spec"]["jobTemplate"] } else { document };
    let pod = &job["spec"]["template"]["spec"];
    let lists = ["initContainers", "containers"].iter().filter_map(|key| pod[key].as_array()).flatten();
    let words = |one: &Value| {
        one["args"].as_array().expect("words").iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    lists.map(words).collect()
}

/// Pods run with the restrictions that clusters require, and with words that the program accepts.
#[test]
fn pods_are_restricted_and_their_commands_run() {
    let place = TestDirectory::with(&["data", "history", "volumes/standard", "volumes/fast"]);
    let mut ran = 0;
    // In this order: a baseline must be an existing run.
    let mut before: Vec<String> = Vec::new();
    for name in ["measure", "compare", "nightly", "baseline"] {
        let file = workspace().join("deploy/kubernetes").join(name).with_extension("yaml");
        let Some(documents) = documents(&file) else { return };
        for document in documents.iter().filter(|one| one["kind"] == "Job" || one["kind"] == "CronJob") {
            let said = document.to_string();
            for word in
                ["\"runAsNonRoot\":true", "\"readOnlyRootFilesystem\":true", "\"drop\":[\"ALL\"]", "RuntimeDefault"]
            {
                assert!(said.contains(word), "{}: {word}", file.display());
            }
            for words in containers(document) {
                let here = |word: &String| match word.find('/') {
                    Some(at) => format!("{}{}", &word[..at], place.word(&word[at + 1..])),
                    None => word.clone(),
                };
                let mut words: Vec<String> = words.iter().map(here).collect();
                match words[0].as_str() {
                    "baseline" => {}
                    // Here the baseline is the previous run.
                    "diff" => {
                        place.run(&["baseline", "set", "nightly", "last", &words[3]]).good();
                        place.run(&before).good();
                    }
                    "compare" => {
                        words.extend(["--rounds=2", "--size=8m", "--runtime=1", "--only=randread"].map(str::to_owned))
                    }
                    _ => words.extend(["--quick", "--size=8m", "--only=rand-read,sync-latency"].map(str::to_owned)),
                }
                let ended = place.run(&words);
                assert_eq!(ended.status, Some(0), "{words:?}: {ended:?}");
                ran += 1;
                before = words;
            }
        }
    }
    assert_eq!(ran, 5);
}

/// The commands in the document name existing manifests and jobs.
#[test]
fn commands_of_the_page_name_what_there_is() {
    let page = std::fs::read_to_string(workspace().join("docs/kubernetes.md")).unwrap();
    let manifests: String =
        files("kubernetes", ".yaml").iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let words: Vec<&str> =
        page.lines().filter(|line| line.starts_with("kubectl ")).flat_map(str::split_whitespace).collect();
    let mut made = vec![];
    let mut count = 0;
    for pair in words.windows(2) {
        if matches!(pair[0], "-f" | "-k") {
            assert!(workspace().join(pair[1]).exists(), "{}", pair[1]);
        } else if pair[0].starts_with("--from=cronjob/") {
            made.push(pair[1]);
        }
        let name = pair[1].strip_prefix("job/").or_else(|| pair[1].strip_prefix("--from=cronjob/"));
        if let Some(name) = name {
            assert!(manifests.contains(&format!("  name: {name}\n")) || made.contains(&name), "{name}");
            count += 1;
        }
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn units_are_understood_and_hardened() {
    if !has("systemd-analyze") {
        return;
    }
    let place = TestDirectory::new();
    for unit in files("systemd", "") {
        let text = std::fs::read_to_string(&unit).unwrap();
        let text = text.replace("/usr/bin/fsdyno", &testkit::program());
        place.write(unit.file_name().unwrap().to_str().unwrap(), text);
    }
    let units = ["fsdyno-check@.service", "fsdyno-check@.timer"].map(|name| place.path(name));
    let verified = run(Command::new("systemd-analyze").args(["verify", "--man=no"]).args(&units));
    assert!(verified.status == Some(0) && verified.stderr.is_empty(), "{}", verified.stderr);
    // 10 is a service that may do anything.
    let judged =
        run(Command::new("systemd-analyze").args(["security", "--offline=true", "--threshold=35"]).arg(&units[0]));
    judged.good();
}

/// Runs what the unit runs for the instance `name`, with systemd's placeholders filled in.
fn run_unit(place: &TestDirectory, name: &str) -> testkit::RunResult {
    let unit = std::fs::read_to_string(workspace().join("deploy/systemd/fsdyno-check@.service")).unwrap();
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
    let line = line.replace("$FSDYNO_PROFILES", "gitlab-fio").replace("%f", &place.word(name));
    let line = line.replace("%S/fsdyno/%i", &place.word(&format!("state-{name}"))).replace("%i", name);
    let line = line.replace("/var/lib/prometheus/node-exporter", &place.word("metrics"));
    let words: Vec<&str> = line.split(' ').skip(1).chain(["--quick"]).collect();
    place.run(&words)
}

/// The user of Prometheus owns the directory of the figures, and may put a link to any other in its place.
#[test]
fn a_unit_follows_no_link_that_the_user_of_prometheus_planted() {
    if !testkit::is_root("what root refuses") {
        return;
    }
    let place = TestDirectory::with(&["data", "secret"]);
    std::os::unix::fs::symlink(place.path("secret"), place.path("metrics")).unwrap();
    std::os::unix::fs::lchown(place.path("metrics"), Some(65534), Some(65534)).unwrap();
    let ran = run_unit(&place, "data");
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("root does not follow it"), "{}", ran.stderr);
    assert!(names(&place.path("secret")).is_empty(), "nothing is written where the link points");
}

/// A program of a package that .ci/run unpacks, so that no service of it runs here.
fn unpacked(package: &str, program: &str) -> Option<PathBuf> {
    let file = workspace().join("target/tools").join(package).join("usr/bin").join(program);
    if !file.is_file() {
        testkit::skip(&format!("{program} is not unpacked; `.ci/run nightly` does it"));
    }
    file.is_file().then_some(file)
}

/// A server on a port of this machine; it ends when it is dropped.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts it where there was a free port. `PORT` in its words is replaced by it.
    fn start(program: &Path, words: &[String]) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let words = words.iter().map(|word| word.replace("PORT", &port.to_string()));
        let process = Command::new(program).args(words).stderr(Stdio::null()).spawn().unwrap();
        Server { process, port }
    }

    /// node_exporter with the files of figures in this directory.
    fn exporter(program: &Path, metrics: &str) -> Server {
        let words = [
            "--collector.disable-defaults".to_owned(),
            "--collector.textfile".to_owned(),
            format!("--collector.textfile.directory={metrics}"),
            "--web.listen-address=127.0.0.1:PORT".to_owned(),
        ];
        Server::start(program, &words)
    }

    /// The answer to GET, when it is there.
    #[track_caller]
    fn answer(&self, path: &str) -> String {
        let asked = || {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
            stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).ok()?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).ok()?;
            Some(answer.split_once("\r\n\r\n")?.1.to_owned())
        };
        let answers = std::iter::repeat_with(|| {
            testkit::pause(20);
            asked()
        });
        answers.take(1_500).flatten().next().expect("it listens")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Two instances of the unit on one machine: node_exporter serves the series of both. In the next night one cannot run,
/// and its older figures are no longer served.
#[test]
fn two_units_beside_each_other_and_one_that_cannot_run() {
    let place = TestDirectory::with(&["data", "more", "metrics"]);
    for name in ["data", "more"] {
        let ran = run_unit(&place, name);
        // The verdict on this disk does not matter here.
        assert!(matches!(ran.status, Some(0 | 1 | 3)), "{ran:?}");
    }
    let of = |name: &str| format!("question=\"check\",place=\"{}\"", place.word(name));
    let (one, two) = (of("data"), of("more"));
    let figures = |text: &str, labels: &str| text.contains(&format!("fsdyno_operations_per_second{{{labels},"));
    let complete = |text: &str, labels: &str| {
        let value = |value| text.contains(&format!("fsdyno_complete{{{labels}}} {value}\n"));
        (value(0), value(1))
    };
    std::fs::remove_dir_all(place.path("more")).unwrap();
    let before = place.read("metrics/fsdyno-more.prom");
    assert!(figures(&before, &two) && complete(&before, &two) == (false, true), "{before}");
    assert_eq!(run_unit(&place, "more").status, Some(2));
    let after = place.read("metrics/fsdyno-more.prom");
    assert!(!figures(&after, &two) && complete(&after, &two) == (true, false), "{after}");
    assert_eq!(complete(&place.read("metrics/fsdyno-data.prom"), &one), (false, true));

    let Some(exporter) = unpacked("prometheus-node-exporter", "prometheus-node-exporter") else { return };
    place.write("metrics/fsdyno-more.prom", before);
    let served = Server::exporter(&exporter, &place.word("metrics")).answer("/metrics");
    assert!(served.contains("node_textfile_scrape_error 0"), "{served}");
    // The exporter sorts labels by name.
    for name in ["data", "more"] {
        let label = format!("place=\"{}\"", place.word(name));
        for family in
            ["fsdyno_complete", "fsdyno_end_timestamp_seconds", "fsdyno_operations_per_second", "fsdyno_trust"]
        {
            assert!(
                served.lines().any(|line| line.starts_with(&format!("{family}{{")) && line.contains(&label)),
                "{family} of {name}: {served}"
            );
        }
    }
}

/// What Prometheus answers to a query; empty, too, while it gets ready.
#[track_caller]
fn queried(prometheus: &Server, query: &str) -> Vec<Value> {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let answer = prometheus.answer(&format!("/api/v1/query?query={encoded}"));
    let Ok(answer) = serde_json::from_str::<Value>(&answer) else { return Vec::new() };
    assert_eq!(answer["status"], "success", "{query}: {answer}");
    answer["data"]["result"].as_array().cloned().unwrap_or_default()
}

/// The figures of real runs go from node_exporter to Prometheus, and each query of the dashboard finds its own, with the
/// labels that a person is shown.
#[test]
fn each_panel_of_the_dashboard_shows_figures_of_runs() {
    let Some(exporter) = unpacked("prometheus-node-exporter", "prometheus-node-exporter") else { return };
    let Some(prometheus) = unpacked("prometheus", "prometheus") else { return };
    let place = TestDirectory::with(&["data", "more", "metrics"]);
    // The verdict on this disk does not matter here. So short a check has too few I/Os for a p99.
    assert!(matches!(run_unit(&place, "data").status, Some(0 | 1 | 3)));
    let words = "--quick --size=8m --only=rand-read --no-store --metrics=metrics/more.prom";
    place.run(&format!("measure {} {words}", place.word("more"))).good();
    let exporter = Server::exporter(&exporter, &place.word("metrics"));
    let targets = format!("[{{targets: ['127.0.0.1:{}']}}]", exporter.port);
    place.write(
        "prometheus.yaml",
        format!("global: {{scrape_interval: 1s}}\nscrape_configs: [{{job_name: node, static_configs: {targets}}}]\n"),
    );
    let words = [
        format!("--config.file={}", place.word("prometheus.yaml")),
        format!("--storage.tsdb.path={}", place.word("series")),
        "--web.listen-address=127.0.0.1:PORT".to_owned(),
    ];
    let prometheus = Server::start(&prometheus, &words);
    testkit::wait_until("figures", || !queried(&prometheus, "fsdyno_complete").is_empty());
    let dashboard = std::fs::read_to_string(workspace().join("deploy/grafana/fsdyno.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut panels = 0;
    for panel in list(&dashboard["panels"]) {
        for target in list(&panel["targets"]) {
            // As Grafana asks where a person has chosen all.
            let query = ["$host", "$place", "$test"]
                .iter()
                .fold(target["expr"].as_str().unwrap().to_owned(), |query, name| query.replace(name, ".*"));
            let found = queried(&prometheus, &query);
            assert!(!found.is_empty(), "{}: {query} finds nothing", panel["title"]);
            for label in target["legendFormat"].as_str().unwrap().split("{{").skip(1) {
                let label = label.split("}}").next().unwrap();
                assert!(found.iter().all(|series| series["metric"][label].is_string()), "{label}: {found:?}");
            }
            panels += 1;
        }
    }
    assert_eq!(panels, 10);
    for variable in list(&dashboard["templating"]["list"]).iter().filter(|variable| variable["type"] == "query") {
        let inside = variable["definition"].as_str().unwrap().trim_start_matches("label_values(").trim_end_matches(')');
        let (series, label) = inside.split_once(", ").unwrap();
        assert!(queried(&prometheus, series).iter().all(|found| found["metric"][label].is_string()), "{inside}");
    }
}

/// Test input of the alerts: days of a series, with the night of the last run.
const ALERTS: &str = r#"rule_files: [RULES]
evaluation_interval: 1h
tests:
  - interval: 1h
    input_series:
      - series: 'fsdyno_end_timestamp_seconds{instance="a",question="check",place="/srv/old"}'
        values: '0x500'
      - series: 'fsdyno_end_timestamp_seconds{instance="a",question="check",place="/srv/new"}'
        values: '0+3600x500'
      - series: 'fsdyno_complete{instance="a",question="check",place="/srv/old"}'
        values: '0x500'
      - series: 'fsdyno_complete{instance="a",question="check",place="/srv/new"}'
        values: '1x500'
      - series: 'fsdyno_verdict{instance="a",question="check",place="/srv/new",profile="p",requirement="r",verdict="fail"}'
        values: '1x500'
      - series: 'fsdyno_verdict{instance="a",question="check",place="/srv/old",profile="p",requirement="r",verdict="pass"}'
        values: '1x500'
      - series: 'fsdyno_operations_per_second{instance="a",question="check",place="/srv/new",target="t",pattern="slow",direction="read"}'
        values: '100x330 60x100'
      - series: 'fsdyno_operations_per_second{instance="a",question="check",place="/srv/new",target="t",pattern="same",direction="read"}'
        values: '100x330 80x100'
      - series: 'fsdyno_operations_per_second{instance="a",question="check",place="/srv/new",target="t",pattern="bad",direction="read"}'
        values: '100x330 60x100'
      - series: 'fsdyno_trust{instance="a",question="check",place="/srv/new",target="t",pattern="bad"}'
        values: '2x500'
      - series: 'fsdyno_trust{instance="a",question="check",place="/srv/new",target="t",pattern="slow"}'
        values: '0x500'
    promql_expr_test:
      - expr: 'count by (alertname, place, pattern) (ALERTS{alertstate="firing"})'
        eval_time: 340h
        exp_samples:
          - {labels: '{alertname="FsdynoNoFreshRun", place="/srv/old"}', value: 1}
          - {labels: '{alertname="FsdynoRunIncomplete", place="/srv/old"}', value: 1}
          - {labels: '{alertname="FsdynoRequirementMissed", place="/srv/new"}', value: 1}
          - {labels: '{alertname="FsdynoBaselineMissed", place="/srv/new", pattern="slow"}', value: 1}
"#;

#[test]
fn alerts_go_off_for_what_they_say_and_for_nothing_else() {
    let Some(promtool) = unpacked("prometheus", "promtool") else { return };
    let rules = workspace().join("deploy/prometheus/fsdyno.rules.yaml");
    run(Command::new(&promtool).args(["check", "rules"]).arg(&rules)).good();
    let place = TestDirectory::new();
    place.write("alerts.yaml", ALERTS.replace("RULES", rules.to_str().unwrap()));
    run(Command::new(&promtool).args(["test", "rules"]).arg(place.path("alerts.yaml"))).good();
}

#[test]
fn the_playbook_and_the_workflow_keep_their_schemas() {
    let Some(tool) = testkit::python("check-jsonschema") else { return };
    let workflow = workspace().join(".github/workflows/release.yml");
    run(Command::new(&tool).args(["--builtin-schema", "vendor.github-workflows"]).arg(&workflow)).good();
    let steps = std::fs::read_to_string(workflow).unwrap();
    assert!(steps.contains("run: cargo xtask ci\n") && steps.contains("run: cargo xtask dist"), "{steps}");
    let Some(plays) = documents(&workspace().join("deploy/ansible/measure.yml")) else { return };
    let measure = &plays[0][0]["tasks"][1]["block"][1]["ansible.builtin.command"]["argv"];
    let words: Vec<&str> = measure.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let place = TestDirectory::new();
    let brief = ["--quick", "--size=8m", "--runtime=1", "--only=rand-read"];
    let ran = place.run(&[&["measure", &place.word("")], &words[3..], &brief].concat());
    assert!(ran.good().document()["summary"]["headline"].is_string());
}

#[test]
fn the_playbook_is_one_that_ansible_takes() {
    let Some(tool) = testkit::python("ansible-playbook") else { return };
    let playbook = workspace().join("deploy/ansible/measure.yml");
    let checked = run(Command::new(tool).args(["--syntax-check", "-i", "localhost,"]).arg(playbook));
    assert_eq!(checked.status, Some(0), "{}", text(checked.stderr.as_bytes()));
}
