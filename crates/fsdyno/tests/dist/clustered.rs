//! Tests the image for many nodes as the MPI operator starts it: a worker with a waiting sshd, and a launcher that
//! reaches it by name, with the job's pair of keys. Nobody is root, and nobody has capabilities.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::{RunResult, is_root, skip, wait_until};

use crate::contained::{runtime, seccomp, unpack};
use crate::{have, release, run};

/// The operator mounts the keys as root's files, readable for all.
const KEYS: &str = "/var/mpi/.ssh";

/// Containers of one image on their own network.
struct Pods {
    place: tempfile::TempDir,
    runtime: &'static str,
    network: String,
    worker: Option<Child>,
}

/// `None`: they are not available here, which was printed.
fn pods() -> Option<Pods> {
    if !is_root("a container of runc") || !have(&["umoci", "mmdebstrap"]) {
        return None;
    }
    // These programs have no --version.
    for (tool, package) in [("ssh-keygen", "openssh-client"), ("ip", "iproute2")] {
        let there = Command::new("sh").args(["-c", &format!("PATH=$PATH:/usr/sbin command -v {tool}")]).output();
        if !there.is_ok_and(|ran| ran.status.success()) {
            skip(&format!("{tool} is not installed ({package})"));
            return None;
        }
    }
    let Some(program) = std::env::var_os("FSDYNO_MPI") else {
        skip("no program with MPI is built: cargo xtask test dist builds it where mpicc is installed");
        return None;
    };
    let runtime = runtime()?;
    let program = PathBuf::from(program);
    let words = ["--bare", "--mpi-image", "--mpi-program", testkit::word(&program)];
    let release = release::make("dist-tested-mpi", &words).map_err(|reason| skip(&reason)).ok()?;
    let image = release.file("fsdyno-VERSION-mpi-image.oci.tar", "mpi-image")?;
    let place = testkit::directory();
    unpack(&image, env!("CARGO_PKG_VERSION"), place.path());
    let network = format!("fsdyno{}", std::process::id());
    let pods = Pods { place, runtime, network, worker: None };
    for folder in ["keys", "volume"] {
        std::fs::create_dir(pods.path(folder)).unwrap();
    }
    run(Command::new("chown").arg("1000:1000").arg(pods.path("volume"))).good();
    run(Command::new("ssh-keygen").args(["-q", "-N", "", "-t", "ecdsa", "-f"]).arg(pods.path("keys/id_rsa"))).good();
    std::fs::copy(pods.path("keys/id_rsa.pub"), pods.path("keys/authorized_keys")).unwrap();
    run(Command::new("chmod").arg("-R").arg("a+rX").arg(pods.path("keys"))).good();
    std::fs::write(pods.path("hosts"), "127.0.0.1 launcher\n127.0.0.2 worker-0\n").unwrap();
    run(Command::new("ip").args(["netns", "add", &pods.network])).good();
    run(Command::new("ip").args(["-n", &pods.network, "link", "set", "lo", "up"])).good();
    Some(pods)
}

impl Pods {
    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// A container with this name and these words.
    fn command(&self, name: &str, words: &[&str]) -> Command {
        let image = self.path("bundle");
        let bundle = self.path(name);
        let mut config: Value =
            serde_json::from_str(&std::fs::read_to_string(image.join("config.json")).unwrap()).unwrap();
        assert_eq!(config["process"]["user"]["uid"], 1000, "the image names another user");
        config["process"]["args"] = json!(words);
        config["process"]["terminal"] = false.into();
        config["process"]["noNewPrivileges"] = true.into();
        config["process"]["capabilities"] = json!({});
        config["hostname"] = name.into();
        // Each container has its own root, like a pod: what one writes the others do not see.
        let root = bundle.join("rootfs");
        if !root.exists() {
            std::fs::create_dir(&bundle).unwrap();
            run(Command::new("cp").arg("-al").arg(image.join("rootfs")).arg(&root)).good();
        }
        config["root"] = json!({"path": "rootfs", "readonly": false});
        let mounts = config["mounts"].as_array_mut().unwrap();
        let mut mount = |source: &Path, destination: &str, mode: &str| {
            mounts
                .push(json!({"destination": destination, "type": "bind", "source": source, "options": ["bind", mode]}))
        };
        mount(&self.path("keys"), KEYS, "ro");
        mount(&self.path("hosts"), "/etc/hosts", "ro");
        mount(&self.path("volume"), "/volume", "rw");
        config["linux"]["seccomp"] = seccomp();
        config["linux"].as_object_mut().unwrap().remove("resources");
        for namespace in config["linux"]["namespaces"].as_array_mut().unwrap() {
            if namespace["type"] == "network" {
                namespace["path"] = format!("/run/netns/{}", self.network).into();
            }
        }
        std::fs::write(bundle.join("config.json"), config.to_string()).unwrap();
        let mut command = Command::new(self.runtime);
        command.args(["run", "--bundle"]).arg(&bundle).arg(format!("{}-{name}", self.network));
        command
    }

    fn launch(&self, words: &[&str]) -> RunResult {
        run(&mut self.command("launcher", words))
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        let worker = format!("{}-worker-0", self.network);
        // It may have ended already.
        let _ = Command::new(self.runtime).args(["delete", "--force", &worker]).output();
        if let Some(mut worker) = self.worker.take() {
            let _ = worker.wait();
        }
        let _ = Command::new("ip").args(["netns", "del", &self.network]).output();
    }
}

#[test]
fn ranks_of_a_worker_are_started_by_a_launcher() {
    let Some(mut pods) = pods() else { return };
    let started = pods.launch(&["fsdyno", "--version"]);
    if started.status != Some(0) {
        return skip(&format!("{} starts no container here: {}", pods.runtime, started.stderr.trim()));
    }
    // As in the manifest.
    let serve = ["/usr/sbin/sshd", "-De", "-f", "/var/mpi/sshd_config"];
    let said = std::fs::File::create(pods.path("sshd.log")).unwrap();
    let mut worker = pods.command("worker-0", &serve);
    pods.worker = Some(worker.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn().unwrap());
    let log = || std::fs::read_to_string(pods.path("sshd.log")).unwrap();
    wait_until("sshd", || log().contains("listening on"));
    let line = "mpirun -n 2 --host worker-0:2 fsdyno --name=a --directory=/volume --rw=write --bs=64k --size=1m \
                --output-format=json";
    let ran = pods.launch(&line.split_whitespace().collect::<Vec<_>>());
    let document = ran.good().document();
    let both = document["client_stats"].as_array().and_then(|all| all.last()).expect("what both ranks did");
    assert_eq!((&both["jobname"], &both["error"]), (&"All clients".into(), &0.into()), "{both}");
    assert_eq!(both["write"]["total_ios"], 32, "{both}");
    assert!(log().contains("Accepted publickey for mpi"), "{}", log());

    // A host with another key is not a worker of this job.
    let words = ["ssh", "-o", "KnownHostsCommand=/bin/true", "worker-0", "true"];
    let refused = pods.launch(&words);
    assert!(refused.status != Some(0) && refused.stderr.contains("verification failed"), "{}", refused.stderr);
    assert!(run(&mut pods.command("launcher", &["ssh", "worker-0", "true"])).status == Some(0), "{}", log());
}
