//! What `deploy/` brings: each file is one that its reader accepts, and each command line in it runs.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use testkit::{Place, has, names, text, workspace};

use crate::run;

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = workspace().join("deploy").join(folder);
    names(&folder).iter().filter(|name| name.ends_with(ending)).map(|name| folder.join(name)).collect()
}

/// Documents of YAML as JSON; `None`: nothing here reads YAML, which has been said.
fn documents(file: &std::path::Path) -> Option<Vec<Value>> {
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
    // It finds what it should.
    let place = Place::new();
    let good = std::fs::read_to_string(&all[0]).unwrap();
    place.write("bad.yaml", good.replace("restartPolicy", "restart"));
    assert_ne!(run(Command::new(&tool).arg("--strict").arg(place.path("bad.yaml"))).status, Some(0));
}

/// The MPIJob's own schema is in a cluster that has the operator: its pods are checked as pods, the rest against the names
/// and kinds of the published one (kubeflow.org/v2beta1).
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
    // This program has one node, and says how to start more: the words were understood.
    let place = Place::with(&["volume"]);
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

/// Pods run with the least that clusters ask of them, and their words are ones that the program runs.
#[test]
fn pods_are_restricted_and_their_commands_run() {
    let place = Place::with(&["data", "history", "volumes/standard", "volumes/fast"]);
    let mut ran = 0;
    // In this order: a baseline is a run that there is.
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
                    // The baseline is what somebody named once: here the run before.
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

/// What the page lets people type names manifests and jobs that there are.
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
    let place = Place::new();
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

/// The words of the unit, as systemd fills them in.
#[test]
fn the_commands_of_the_unit_run() {
    let unit = std::fs::read_to_string(workspace().join("deploy/systemd/fsdyno-check@.service")).unwrap();
    let place = Place::with(&["data"]);
    for (key, more) in [("ExecStart=", &["--quick"][..]), ("ExecStopPost=-", &[])] {
        let line = unit.lines().find_map(|line| line.strip_prefix(key)).expect(key);
        let line = line.replace("$FSDYNO_PROFILES", "gitlab-fio").replace("%f", &place.word("data"));
        let line = line.replace("%S/fsdyno/%i", &place.word("state")).replace("%i", "data");
        let line = line.replace("/var/lib/prometheus/node-exporter", &place.word(""));
        let mut words: Vec<&str> = line.split(' ').skip(1).collect();
        words.extend(more);
        let ran = place.run(&words);
        // What this disk is worth is no matter here.
        assert!(matches!(ran.status, Some(0 | 1 | 3)), "{words:?}: {ran:?}");
    }
    let exported = place.read("fsdyno-data.prom");
    assert!(exported.contains("# TYPE fsdyno_") && exported.ends_with("# EOF\n"), "{exported}");
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
    let place = Place::new();
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
