use std::collections::BTreeSet;

use super::*;
use crate::metric::Metric;

/// Only the profiles compiled in: a test must not read the developer's own folder.
fn profiles() -> Vec<(String, Profile)> {
    let read = |(file, text): (String, String)| (Profile::read(&file, &text).unwrap(), file);
    compiled_in().into_iter().map(read).map(|(profile, file)| (file, profile)).collect()
}

#[test]
fn every_profile_is_compiled_in_under_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let files: BTreeSet<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let table: BTreeSet<String> = compiled_in().into_iter().map(|(file, _)| file).collect();
    assert_eq!(files, table);
    for (file, profile) in profiles() {
        assert_eq!(file, format!("{}.toml", profile.name));
    }
}

#[test]
fn every_figure_has_a_source_and_a_date() {
    for (file, profile) in profiles() {
        let sources =
            profile.requirements.iter().map(|asked| &asked.source).chain(profile.gates.iter().map(|gate| &gate.source));
        for source in sources {
            assert!(source.title.len() > 10, "{file}: {source:?}");
            let year: u32 = source.read_on[..4].parse().unwrap();
            assert!((2024..2100).contains(&year), "{file}: {source:?}");
        }
        assert!(!profile.about.is_empty() && profile.title.chars().count() <= 66, "{file}");
        for test in &profile.tests {
            assert!(test.sound_for.is_none() || test.why.is_some(), "{file}: {} says not what is weak", test.id);
        }
    }
}

/// Parsing a profile checks its words and figures; this test pins the data for these checks.
#[test]
fn every_figure_resolves() {
    for (_, profile) in profiles() {
        for asked in &profile.requirements {
            assert_eq!(Metric::parse(&asked.metric_name), Ok(asked.metric));
            assert!(profile.test(&asked.test).is_some());
        }
    }
}

#[test]
fn the_named_profiles_are_there() {
    let all = "gitlab-smallfiles gitlab-fio gitaly gitlab-nfs-gate etcd etcd-sizing openshift-etcd \
               google-netapp-volumes azure-netapp-files aws-ebs-gp3 aws-efs gcp-filestore sap-hana tidb cockroachdb \
               vault splunk sql-server red-hat-satellite postgresql-wal prometheus-gate juicefs-bands \
               s3-standard s3-functional juicefs-object";
    let names: BTreeSet<String> = profiles().into_iter().map(|(_, profile)| profile.name).collect();
    let missing: Vec<&str> = all.split_whitespace().filter(|name| !names.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_folder_replaces_and_adds() {
    let folder = tempfile::tempdir().unwrap();
    let etcd = compiled_in().into_iter().find(|(file, _)| file == "etcd.toml").unwrap().1;
    let stricter = etcd.replace("at-most = 10", "at-most = 2");
    fs::write(folder.path().join("strict.toml"), &stricter).unwrap();
    fs::write(folder.path().join("own.toml"), etcd.replace("name = \"etcd\"", "name = \"own\"")).unwrap();
    fs::write(folder.path().join("notes.txt"), "no profile").unwrap();
    let library = Library::load(Some(folder.path())).unwrap();
    let found = library.find("etcd").unwrap();
    assert_eq!(
        (found.text.as_str(), found.path.as_deref()),
        (stricter.as_str(), Some(folder.path().join("strict.toml").as_path()))
    );
    assert!(library.find("own").is_ok() && library.find("vault").is_ok());
}

#[test]
fn a_bad_file_and_a_missing_folder_are_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.toml"), "name = \"bad\"\ntitle = 3\n").unwrap();
    let message = Library::load(Some(folder.path())).unwrap_err().what;
    assert!(message.contains("bad.toml:2: "), "{message}");
    let message = Library::load(Some(&folder.path().join("none"))).unwrap_err().what;
    assert!(message.contains("none: No such file or directory"), "{message}");
}

#[test]
fn a_wrong_name_is_corrected() {
    let problem = Library::load(None).unwrap().find("etdc").unwrap_err();
    assert_eq!(problem.what, "there is no profile `etdc`");
    assert_eq!(problem.next.as_deref(), Some("did you mean `etcd`? `fsdyno check --list` shows all"));
}

#[test]
fn the_example_of_the_documentation_is_a_profile() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/profiles.md");
    let page = fs::read_to_string(path).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let profile = Profile::read("profiles.md", example).unwrap();
    assert_eq!((profile.gates.len(), profile.tests.len(), profile.requirements.len()), (1, 2, 1));
}

/// Of a store no file can be tried: all tests and gates of a profile are about one kind of place.
#[test]
fn a_profile_is_about_directories_or_about_object_stores() {
    use crate::gate::Condition;
    let mut of_objects = Vec::new();
    for (file, profile) in profiles() {
        let tests = profile.tests.iter().map(|test| crate::line::is_of_objects(&test.work.words()));
        let gates = profile.gates.iter().map(|gate| matches!(gate.condition, Condition::Function(_)));
        assert!(tests.chain(gates).all(|is_one| is_one == profile.is_of_objects()), "{file}");
        if profile.is_of_objects() {
            of_objects.push(profile.name.clone());
        }
    }
    assert_eq!(of_objects, ["juicefs-object", "s3-functional", "s3-standard"]);
}
