//! Tests the image in a container as clusters run it: not as root, only a volume writable, no capabilities, and the
//! default seccomp profile, which has no io_uring.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testkit::{RunResult, is_root, skip};

use crate::{have, release, run};

/// The profile of Docker and Podman.
const PROFILE: &str = "/usr/share/containers/seccomp.json";

/// An unpacked image with a volume.
struct Bundle {
    place: tempfile::TempDir,
    runtime: &'static str,
}

/// `None`: there is no image here, which was printed.
fn bundle() -> Option<Bundle> {
    if !is_root("a container of runc") || !have(&["umoci"]) {
        return None;
    }
    let runtime = runtime()?;
    let release = release::release()?;
    let image = release.file("fsdyno-VERSION-image.oci.tar", "image")?;
    let place = testkit::directory();
    let architecture = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" };
    unpack(&image, &format!("{}-{architecture}", env!("CARGO_PKG_VERSION")), place.path());
    let volume = place.path().join("volume");
    std::fs::create_dir(&volume).unwrap();
    run(Command::new("chown").arg("65534:65534").arg(&volume)).good();
    Some(Bundle { place, runtime })
}

/// A runtime that starts containers with the default profile; `None`: there is none here, which was printed.
pub(crate) fn runtime() -> Option<&'static str> {
    let answers = |program: &&&str| Command::new(program).arg("--version").output().is_ok();
    let Some(runtime) = ["runc", "crun"].iter().find(answers) else {
        skip("neither runc nor crun is installed");
        return None;
    };
    if !Path::new(PROFILE).exists() {
        skip(&format!("there is no {PROFILE}"));
        return None;
    }
    Some(runtime)
}

/// Unpacks the image of this tag to `bundle` in a directory.
pub(crate) fn unpack(image: &Path, tag: &str, place: &Path) {
    let layout = place.join("layout");
    std::fs::create_dir(&layout).unwrap();
    run(Command::new("tar").arg("-xf").arg(image).arg("-C").arg(&layout)).good();
    let name = format!("{}:{tag}", layout.display());
    run(Command::new("umoci").args(["unpack", "--image", &name]).arg(place.join("bundle"))).good();
}

impl Bundle {
    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Runs fsdyno with these words in a container.
    fn fsdyno(&self, words: &[&str]) -> RunResult {
        let path = self.path("bundle/config.json");
        let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(config["process"]["user"]["uid"], 65534, "the image names another user");
        let image = config["process"]["args"][0].clone();
        config["process"]["args"] = json!([&[image.as_str().unwrap()], words].concat());
        config["process"]["terminal"] = false.into();
        config["process"]["noNewPrivileges"] = true.into();
        config["process"]["capabilities"] = json!({});
        config["root"]["readonly"] = true.into();
        let mounts = config["mounts"].as_array_mut().unwrap();
        mounts.retain(|mount| mount["destination"] != "/data");
        mounts.push(json!({"destination": "/data", "type": "bind", "source": self.path("volume"),
                           "options": ["bind", "rw"]}));
        config["linux"]["seccomp"] = seccomp();
        // Control groups belong to the machine, and a test may have none.
        config["linux"].as_object_mut().unwrap().remove("resources");
        std::fs::write(&path, config.to_string()).unwrap();
        let name = format!("fsdyno-{}-{}", std::process::id(), words.len());
        run(Command::new(self.runtime).args(["run", "--bundle"]).arg(self.path("bundle")).arg(name))
    }
}

/// The default profile in the runtime's form: without entries for missing capabilities and other CPU architectures.
pub(crate) fn seccomp() -> Value {
    let profile: Value = serde_json::from_str(&std::fs::read_to_string(PROFILE).unwrap()).unwrap();
    let ours = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" };
    let holds = |entry: &&Value| {
        let of_processor = entry["includes"]["arches"].as_array();
        entry["includes"]["caps"].is_null() && of_processor.is_none_or(|all| all.iter().any(|one| one == ours))
    };
    let entries = profile["syscalls"].as_array().unwrap().iter().filter(holds);
    let entry = |entry: &Value| {
        let mut entry = entry.clone();
        let fields = entry.as_object_mut().unwrap();
        for name in ["comment", "includes", "excludes", "errno"] {
            fields.remove(name);
        }
        entry.as_object_mut().unwrap().retain(|_, value| !value.is_null() && value != &json!([]));
        entry
    };
    let rings = profile["syscalls"].as_array().unwrap().iter().flat_map(|entry| entry["names"].as_array().unwrap());
    assert!(!rings.clone().any(|name| name == "io_uring_setup"), "the default profile has io_uring");
    json!({
        "defaultAction": profile["defaultAction"], "defaultErrnoRet": profile["defaultErrnoRet"],
        "architectures": if ours == "arm64" { ["SCMP_ARCH_AARCH64"] } else { ["SCMP_ARCH_X86_64"] },
        "syscalls": entries.map(entry).collect::<Vec<_>>(),
    })
}

#[test]
fn questions_are_answered_with_their_exit_statuses() {
    let Some(bundle) = bundle() else { return };
    let started = bundle.fsdyno(&["--version"]);
    if started.status != Some(0) {
        return skip(&format!("{} starts no container here: {}", bundle.runtime, started.stderr.trim()));
    }
    let words = ["measure", "--quick", "--size=16m", "--runtime=1", "--only=rand-read,seq-write", "--json"];
    let measured = bundle.fsdyno(&[&words[..], &["--store=/data/store"]].concat()).good().document();
    let tests = measured["summary"]["tests"].as_array().unwrap();
    assert!(tests.len() == 2 && tests.iter().all(|test| test["error"].is_null()), "{tests:?}");
    assert!(bundle.path("volume/store").is_dir(), "the record is on the volume");

    // A requirement that nothing meets, and one that everything does.
    for (threshold, status) in [("1000000000", 1), ("1", 0)] {
        std::fs::write(bundle.path("volume/own.toml"), OWN.replace("LEAST", threshold)).unwrap();
        let ran = bundle.fsdyno(&["check", "own", "/data", "--profiles=/data", "--json", "--no-store"]);
        assert_eq!(ran.status, Some(status), "{}\n{}", ran.stdout, ran.stderr);
    }
    let ring = bundle.fsdyno(&["--name=a", "--ioengine=io_uring", "--directory=/data", "--size=1m"]);
    assert!(ring.status != Some(0) && ring.stderr.contains("io_uring"), "{}", ring.stderr);
    // Only the volume can be written.
    let elsewhere = bundle.fsdyno(&["--name=a", "--directory=/", "--size=1m", "--rw=write"]);
    assert!(elsewhere.status != Some(0) && elsewhere.stderr.contains("Read-only"), "{}", elsewhere.stderr);
}

const OWN: &str = "
name = \"own\"
title = \"ours\"
about = \"A limit of the test's own.\"
applies-to = \"the volume\"
source = \"this test\"
read = \"2026-11\"
kind = \"vendor-requirement\"
confidence = \"A\"

[[test]]
id = \"write\"
title = \"durable writes\"
origin = \"ours\"
why = \"to have a figure\"
words = [\"--name=a\", \"--directory={dir}\", \"--rw=write\", \"--bs=4k\", \"--size=8m\", \"--ioengine=psync\",
         \"--direct=1\", \"--end_fsync=1\", \"--runtime=2\", \"--time_based\"]

[[requirement]]
id = \"iops\"
title = \"writes a second\"
test = \"write\"
metric = \"write.iops\"
at-least = LEAST
unit = \"IOPS\"
";
