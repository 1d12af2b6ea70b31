//! Tests ranks on several hosts: network namespaces, each with its own name and ssh server.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fsdyno_results::{JobRecord, Study};
use testkit::{Running, TestDirectory, is_root, shell, skip, wait_until, word};

use crate::launcher::{hosts_are_found, launcher, program, with_mpich};
use crate::one_record::record;

/// A way to start the program on hosts with one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The program's own `--hosts`.
    Hosts,
    /// The call of the MPI library's launcher.
    Launcher,
    /// The launcher stands for srun.
    Srun,
}

impl Way {
    /// The option before the hosts.
    fn option(self) -> &'static str {
        match self {
            Way::Hosts => "--hosts",
            Way::Launcher | Way::Srun if with_mpich().is_some() => "-hosts",
            Way::Launcher | Way::Srun => "--host",
        }
    }
}

/// Hosts `node1`, `node2` … on their own network.
struct Hosts {
    /// The prefix of the names of everything that is made.
    mark: String,
    /// The third number of their addresses.
    network: u32,
    servers: Vec<Child>,
    place: TestDirectory,
}

impl Hosts {
    /// Sets up this number of hosts; `None`: it is not possible here, which is printed.
    fn set_up(count: u32, network: u32) -> Option<Hosts> {
        if !is_root("a network namespace for each host") {
            return None;
        }
        for tool in ["ip", "sshd", "ssh-keygen"] {
            let there = Command::new("sh").args(["-c", &format!("PATH=$PATH:/usr/sbin command -v {tool}")]).output();
            if !there.is_ok_and(|ran| ran.status.success()) {
                skip(&format!("{tool} is not installed (iproute2, openssh-server)"));
                return None;
            }
        }
        let mark = format!("fs{}{network}", std::process::id() % 100_000);
        let mut hosts = Hosts { mark, network, servers: Vec::new(), place: TestDirectory::with(&["data"]) };
        let Hosts { mark, place, .. } = &hosts;
        let folder = place.word("");
        shell(&format!(
            "cd {folder} && mkdir -p /run/sshd && ssh-keygen -q -N '' -t ed25519 -f key && ssh-keygen -q -N '' -t \
             ed25519 -f host && cp key.pub authorized && ip link add {mark}b type bridge && ip addr add \
             198.18.{network}.254/24 dev {mark}b && ip link set {mark}b up"
        ));
        place.write(
            "sshd.conf",
            format!(
                "HostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\nStrictModes no\nPermitRootLogin \
                 prohibit-password\nUsePAM no\nPidFile none\n"
            ),
        );
        place.write(
            "ssh.conf",
            format!(
                "Host *\n IdentityFile {folder}/key\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n \
                 LogLevel ERROR\n Port 2222\n"
            ),
        );
        // MPICH's launcher gives each host the name of this machine, and ranks find each other by theirs.
        let named = (1..=count).map(|host| format!("198.18.{network}.{host} node{host}\n")).collect::<String>();
        let own = testkit::text(&Command::new("hostname").output().expect("hostname is there").stdout);
        place.write("hosts", format!("127.0.0.1 localhost\n198.18.{network}.254 {own}{named}"));
        place.write("ssh", format!("#!/bin/sh\nexec ssh -F {folder}/ssh.conf \"$@\"\n"));
        shell(&format!("chmod 755 {folder}/ssh"));
        for host in 1..=count {
            let server = hosts.begin(host);
            hosts.servers.push(server);
        }
        for host in 1..=count {
            let address = format!("198.18.{network}.{host}:2222");
            wait_until(&format!("ssh server at {address}"), || TcpStream::connect(&address).is_ok());
        }
        Some(hosts)
    }

    fn begin(&self, host: u32) -> Child {
        let Hosts { mark, network, place, .. } = self;
        let folder = place.word("");
        shell(&format!(
            "ip netns add {mark}h{host} && ip link add {mark}v{host} type veth peer name eth0 netns {mark}h{host} && ip \
             link set {mark}v{host} master {mark}b up && ip -n {mark}h{host} addr add 198.18.{network}.{host}/24 dev \
             eth0 && ip -n {mark}h{host} link set eth0 up && ip -n {mark}h{host} link set lo up"
        ));
        let serve = format!(
            "hostname node{host}; mount --bind {folder}/hosts /etc/hosts; exec /usr/sbin/sshd -D -f {folder}/sshd.conf -o \
             ListenAddress=198.18.{network}.{host} -o Port=2222"
        );
        let name = format!("{mark}h{host}");
        let words = ["netns", "exec", &name, "unshare", "--uts", "bash", "-c", &serve];
        Command::new("ip").args(words).stderr(Stdio::null()).spawn().expect("ip is there")
    }

    /// Starts the program with these words on all hosts.
    fn start(&self, way: Way, words: &str) -> Option<Running> {
        let (network, count) = (self.network, self.servers.len());
        let hosts: Vec<String> = (1..=count).map(|host| format!("198.18.{network}.{host}:1")).collect();
        let (hosts, addresses) = (hosts.join(","), format!("198.18.{network}.0/24"));
        let program = program()?;
        let mut command = match way {
            Way::Hosts => Command::new(program),
            Way::Launcher | Way::Srun => launcher(&self.place.path(""), count as u32),
        };
        command.args([way.option(), &hosts]);
        match way {
            Way::Srun => command.args(["sh", "-ec", &as_task_of_srun(program, words)]),
            Way::Launcher => command.arg(program).args(words.split_whitespace()),
            Way::Hosts => command.args(words.split_whitespace()),
        };
        command.current_dir(self.place.path("data")).stdin(Stdio::null());
        command.env("HYDRA_LAUNCHER_EXEC", self.place.path("ssh"));
        command.env("OMPI_MCA_plm_rsh_agent", format!("ssh -F {}", self.place.word("ssh.conf")));
        command.env("OMPI_MCA_btl", "tcp,self");
        command.env("OMPI_MCA_oob_tcp_if_include", &addresses).env("OMPI_MCA_btl_tcp_if_include", &addresses);
        Some(Running::start(&mut command))
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for server in &mut self.servers {
            // It may have ended already.
            let _ = server.kill();
            let _ = server.wait();
        }
        let mark = &self.mark;
        let namespaces = (1..=self.servers.len()).map(|host| format!("ip netns del {mark}h{host}; "));
        let _ =
            Command::new("sh").args(["-c", &format!("{}ip link del {mark}b", namespaces.collect::<String>())]).status();
    }
}

/// Each host is a node with its own clock and counters.
fn on_hosts(count: u32, network: u32) {
    if program().is_none() {
        return;
    }
    let Some(hosts) = Hosts::set_up(count, network) else { return };
    let words = "--name=a --rw=write --size=4m --bs=64k --output-format=json --record=../run.json";
    let Some(running) = hosts.start(Way::Hosts, words) else { return };
    running.finish().good();
    let record = record(&hosts.place);
    let names: Vec<String> = (1..=count).map(|host| format!("node{host}")).collect();
    assert_eq!(record.nodes.iter().map(|node| node.name.clone()).collect::<Vec<_>>(), names);
    assert_eq!(record.ranks_record.as_ref().map(|together| together.ranks), Some(count));
    assert_eq!(record.jobs.iter().map(|job| job.directions.write.bytes).sum::<u64>(), u64::from(count) * (4 << 20));
    let files: Vec<String> = names.iter().map(|name| format!("{name}.a.0.0")).collect();
    assert_eq!(hosts.place.names("data"), files);
}

#[test]
fn small_files_are_asked_for_by_a_host_that_has_not_seen_them() {
    if program().is_none() {
        return;
    }
    let Some(hosts) = Hosts::set_up(2, 23) else { return };
    let Some(running) = hosts.start(Way::Hosts, "smallfiles . --files=20 --quiet --json --no-store") else { return };
    let study: Study = running.finish().good().study();
    let row = study.rows.iter().find(|row| row.pattern == "stat-cold").expect("the phase");
    let phase = row.phase.as_ref().expect("it ran");
    assert_eq!((phase.operations, phase.failures, phase.cache.as_deref()), (40, 0, Some("another node's")));
    let run = row.run.as_ref().expect("a record of each");
    let of_other = |job: &JobRecord| job.plan.files[0].contains("/rank-1/") == (run.nodes[job.node].name == "node1");
    assert!(run.jobs.iter().all(of_other), "{:?}", run.jobs.iter().map(|job| &job.plan.files).collect::<Vec<_>>());
    assert_eq!(hosts.place.names("data"), [""; 0]);
}

#[test]
fn two_hosts_over_ssh_are_two_nodes() {
    on_hosts(2, 21);
}

#[test]
fn four_hosts_over_ssh_are_four_nodes() {
    on_hosts(4, 22);
}

/// The question over four machines by `--hosts`, by the launcher's own call, and as tasks of srun.
#[test]
fn each_way_of_one_command_scales_over_four_hosts() {
    if program().is_none() {
        return;
    }
    let Some(hosts) = Hosts::set_up(4, 24) else { return };
    for way in [Way::Hosts, Way::Launcher, Way::Srun] {
        let words = "scale . --nodes=1,4 --size=4m --runtime=1 --quiet --json --no-store";
        let Some(running) = hosts.start(way, words) else { return };
        let study: Study = running.finish().good().study();
        assert!(study.rows.iter().all(|row| row.first_error().is_none()), "{way:?}: {:?}", study.rows);
        let runs = study.rows.iter().filter(|row| row.pattern.ends_with("-n4")).filter_map(|row| row.run.as_ref());
        let machines: BTreeSet<&str> = runs.flat_map(|run| &run.nodes).map(|node| node.machine()).collect();
        assert_eq!(machines, BTreeSet::from(["node1", "node2", "node3", "node4"]), "{way:?}");
        assert_eq!(hosts.place.names("data"), [""; 0], "{way:?}");
    }
}

#[test]
fn a_dry_run_shows_the_call_of_the_launcher() {
    let Some(program) = program() else { return };
    let ran =
        Running::start(Command::new(program).args(["--hosts", "a,b:2", "--dry-run", "measure", "/mnt/x y"])).finish();
    let shown = ran.good().stdout;
    let (launcher, hosts) =
        if with_mpich().is_some() { ("mpiexec.hydra ", " -hosts a,b:2 ") } else { ("mpirun ", " --host a,b:2 ") };
    assert!(shown.starts_with(launcher) && shown.contains(hosts), "{shown}");
    assert!(shown.trim_end().ends_with(" measure '/mnt/x y'"), "{shown}");
}

#[test]
fn a_host_that_cannot_be_reached_ends_it_before_anything_runs() {
    let Some(program) = program() else { return };
    if !hosts_are_found() {
        return;
    }
    if !Command::new("ssh").arg("-V").output().is_ok_and(|ran| ran.status.success()) {
        return skip("ssh is not installed (openssh-client)");
    }
    let place = TestDirectory::new();
    let words = ["--hosts", "localhost,nobody.invalid", "--name=a", "--rw=write", "--size=1m", "--record=run.json"];
    let ran =
        Running::start(Command::new(program).args(words).current_dir(place.path("")).stdin(Stdio::null())).finish();
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("hostname nobody") && ran.stderr.contains("cannot start a rank on each"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.names(""), [""; 0]);
}

#[test]
fn what_fails_under_the_launcher_is_the_status_of_the_call() {
    let Some(program) = program() else { return };
    let place = TestDirectory::new();
    let words = "--hosts localhost:2 --name=a --ioengine=sim --sim_channels=8 --sim_service=100us --bs=4k --rw=write \
                 --size=1m --sim_faults=error:EIO@6 --record=run.json";
    let mut command = Command::new(program);
    let ran = Running::start(command.args(words.split_whitespace()).current_dir(place.path(""))).finish();
    assert_eq!(ran.status, Some(2), "one for each failed job: {}", ran.stderr);
    assert_eq!(record(&place).jobs.iter().filter(|job| job.error.is_some()).count(), 2);
}

/// The script of a task of srun, which has its variables and those of its PMI: the launcher stands for it, and its own
/// variables for the number of ranks are taken away.
fn as_task_of_srun(program: &Path, words: &str) -> String {
    let of_pmi = if with_mpich().is_some() {
        ["PMI_SIZE", "PMI_RANK"]
    } else {
        ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"]
    };
    // MPICH's library reads the variables of PMI itself.
    let taken = if with_mpich().is_some() { String::new() } else { format!("unset {};", of_pmi.join(" ")) };
    format!(
        "export SLURM_STEP_NUM_TASKS=${} SLURM_PROCID=${}; {taken} exec {} {words}",
        of_pmi[0],
        of_pmi[1],
        word(program)
    )
}

#[test]
fn tasks_of_srun_are_ranks_of_one_question() {
    let Some(program) = program() else { return };
    let place = TestDirectory::with(&["data"]);
    let words = "scale data --nodes=1,4 --size=4m --runtime=1 --quiet --json --no-store";
    let mut tasks = launcher(&place.path(""), 4);
    let study: Study =
        Running::start(tasks.args(["sh", "-ec", &as_task_of_srun(program, words)])).finish().good().study();
    let nodes = |row: &fsdyno_results::Row| row.run.as_ref().map_or(0, |run| run.nodes.len());
    assert_eq!(study.rows.iter().map(nodes).max(), Some(4), "{:?}", study.sentences);
    assert!(study.rows.iter().all(|row| row.first_error().is_none()), "{:?}", study.rows);
    assert_eq!(place.names("data"), [""; 0]);

    // Without a PMI that the library knows, each task would be alone: it says so, and nothing is run.
    let mut alone = Command::new(program);
    alone.args(words.split_whitespace()).env("SLURM_STEP_NUM_TASKS", "4").env("SLURM_PROCID", "0");
    let ran = Running::start(alone.current_dir(place.path("")).stdin(Stdio::null())).finish();
    assert!(ran.status == Some(2) && ran.stderr.contains("Slurm's srun has started 4 ranks"), "{}", ran.stderr);
}
