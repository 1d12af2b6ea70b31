//! Tests packages with the tools that install them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use testkit::{RunResult, is_root, skip, workspace};

use crate::{have, release, run};

/// A minimal Debian as an archive, made once for all tests; the error says why there is none.
fn clean_debian() -> Result<PathBuf, String> {
    static ARCHIVE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    ARCHIVE.get_or_init(make_debian).clone()
}

fn make_debian() -> Result<PathBuf, String> {
    let folder = workspace().join("target/debian");
    let archive = folder.join("debian.tar");
    if !archive.exists() {
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let draft = folder.join(format!("debian-{}.tar", std::process::id()));
        let ran = run(Command::new("mmdebstrap").args(["--quiet", "--variant=essential"]).arg(suite()).arg(&draft));
        if ran.status != Some(0) {
            let _ = std::fs::remove_file(&draft);
            return Err(format!("mmdebstrap cannot make a Debian: {}", ran.stderr.lines().last().unwrap_or_default()));
        }
        std::fs::rename(draft, &archive).map_err(|error| error.to_string())?;
    }
    Ok(archive)
}

/// This machine's own Debian suite, whose archive can be reached.
fn suite() -> String {
    let facts = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = facts.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.unwrap_or("stable").to_owned()
}

/// A minimal Debian with the packages in /packages; `None`: none can be made here, which was printed.
fn debian(packages: &[&Path]) -> Option<tempfile::TempDir> {
    if !is_root("a root of Debian") || !have(&["mmdebstrap", "tar"]) {
        return None;
    }
    let archive = clean_debian().map_err(|reason| skip(&reason)).ok()?;
    let root = testkit::directory();
    // The test needs no devices, and could not make them.
    let words = ["--exclude=./dev/*", "-xf"];
    run(Command::new("tar").args(words).arg(archive).arg("-C").arg(root.path())).good();
    std::fs::create_dir(root.path().join("packages")).unwrap();
    std::fs::write(root.path().join("dev/null"), "").unwrap();
    for package in packages {
        std::fs::copy(package, root.path().join("packages").join(package.file_name().unwrap())).unwrap();
    }
    Some(root)
}

fn within(root: &Path, line: &str) -> RunResult {
    let shell = Command::new("chroot")
        .arg(root)
        .args(["/bin/sh", "-c", line])
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output();
    let shell = shell.expect("chroot is there");
    RunResult {
        status: shell.status.code(),
        stdout: testkit::text(&shell.stdout),
        stderr: testkit::text(&shell.stderr),
    }
}

fn architecture() -> &'static str {
    if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" }
}

fn deb(release: &release::Release, revision: u32) -> Option<PathBuf> {
    release.file(&format!("fsdyno_VERSION-{revision}_{}.deb", architecture()), "deb")
}

/// All files of the machine that dpkg knows, besides those of the package.
fn files(root: &Path) -> String {
    within(root, "find /usr /etc /opt /srv -xdev \\( -type f -o -type l \\) ! -path '*fsdyno*' | sort").good().stdout
}

#[test]
fn a_debian_package_is_installed_run_upgraded_and_removed() {
    let Some(release) = release::release() else { return };
    let Some(first) = deb(release, 1) else { return };
    let next = release::make("dist-tested-next", &["--revision=2"]).expect("the first was made");
    let Some(second) = deb(&next, 2) else { return };
    let Some(root) = debian(&[&first, &second]) else { return };
    let root = root.path();
    let before = files(root);
    within(root, "dpkg -i /packages/fsdyno_*-1_*.deb").good();
    assert!(within(root, "fsdyno --version").good().stdout.starts_with("fsdyno "));
    within(root, "fsdyno --name=a --directory=/tmp --size=1m --rw=randrw --output-format=terse").good();
    // Checksums of all its files, and documents where Debian expects them.
    assert_eq!(within(root, "dpkg --verify fsdyno").good().stdout, "");
    within(root, "test -s /usr/share/doc/fsdyno/copyright && test -s /usr/share/man/man1/fsdyno.1.gz").good();
    within(root, "test -s /usr/share/zsh/vendor-completions/_fsdyno").good();

    // A link called fio is the administrator's choice; an upgrade keeps it.
    within(root, "test ! -e /usr/bin/fio").good();
    within(root, "update-alternatives --install /usr/bin/fio fio /usr/bin/fsdyno 10").good();
    assert!(within(root, "fio --version").good().stdout.starts_with("fio-3."));
    within(root, "dpkg -i /packages/fsdyno_*-2_*.deb").good();
    assert!(within(root, "dpkg -s fsdyno").good().stdout.contains("-2\n"));
    assert!(within(root, "fio --version").good().stdout.starts_with("fio-3."));

    within(root, "dpkg --purge fsdyno").good();
    let changed = ["/usr/bin/fio", "/etc/alternatives/fio"];
    assert!(changed.iter().all(|name| !root.join(&name[1..]).is_symlink()), "the link is left");
    assert_eq!(files(root), before);
    assert_eq!(
        within(root, "find / -xdev -name '*fsdyno*' ! -path '/packages/*' ! -path '/var/log/*'").good().stdout,
        ""
    );
}

/// lintian has no error.
fn lintian(package: &Path) {
    if have(&["lintian"]) {
        run(Command::new("lintian").args(["--fail-on", "error"]).arg(package)).good();
    }
}

#[test]
fn lintian_finds_no_error_in_the_package() {
    let Some(release) = release::release() else { return };
    deb(release, 1).iter().for_each(|package| lintian(package));
}

/// rpmlint's errors but one: the checksums of a release are signed, not each package. A file says what else is on purpose.
fn rpmlint(package: &Path) {
    if !have(&["rpmlint"]) {
        return;
    }
    let filters = workspace().join("deploy/rpm/fsdyno.rpmlintrc");
    let words = ["--ignore-unused-rpmlintrc", "--rpmlintrc"];
    let ran = run(Command::new("rpmlint").args(words).arg(filters).arg(package));
    let errors = ran.stdout.lines().filter(|line| line.contains(": E: ") && !line.contains(": E: no-signature"));
    let errors: Vec<&str> = errors.collect();
    assert!(errors.is_empty() && ran.stdout.contains(" 1 packages "), "{errors:?} {}", ran.stderr);
}

#[test]
fn rpmlint_finds_no_error_in_the_package() {
    let Some(release) = release::release() else { return };
    let name = format!("fsdyno-VERSION-1.{}.rpm", std::env::consts::ARCH);
    release.file(&name, "rpm").iter().for_each(|package| rpmlint(package));
}

/// The packages for one MPI library.
struct ForManyNodes {
    name: &'static str,
    /// The variable with the program that is built with it.
    variable: &'static str,
    launcher: &'static [&'static str],
    /// Parts of the needs of its packages.
    needs_of_deb: [&'static str; 2],
    needs_of_rpm: &'static str,
}

const OPEN_MPI: ForManyNodes = ForManyNodes {
    name: "fsdyno-openmpi",
    variable: "FSDYNO_MPI",
    launcher: &["mpirun", "--allow-run-as-root", "--oversubscribe"],
    needs_of_deb: ["libopenmpi", "openmpi-bin"],
    needs_of_rpm: "(openmpi or openmpi4)\n",
};

const MPICH: ForManyNodes = ForManyNodes {
    name: "fsdyno-mpich",
    variable: "FSDYNO_MPICH",
    launcher: &["mpiexec.hydra"],
    needs_of_deb: ["libmpich12", "mpich"],
    needs_of_rpm: "mpich\n",
};

impl ForManyNodes {
    /// Its packages: the linters have no error, and what was unpacked runs as two ranks.
    fn are_made_and_run(&self) {
        let name = self.name;
        let Some(program) = std::env::var_os(self.variable) else {
            return skip(&format!("{} names no program with MPI: cargo xtask test dist builds it", self.variable));
        };
        let program = program.to_string_lossy();
        // The static program is no part of them: it need not be built.
        let words = ["--bare", "--program", &program, "--mpi-packages", "--mpi-program", &program];
        let release = match release::make(&format!("dist-tested-{name}"), &words) {
            Ok(release) => release,
            Err(reason) => return skip(&reason),
        };
        let deb = format!("{name}_VERSION-1_{}.deb", architecture());
        if let Some(deb) = release.file(&deb, &format!("{name} as deb")) {
            let needs = run(Command::new("dpkg-deb").args(["-f"]).arg(&deb).arg("Depends")).good().stdout;
            assert!(self.needs_of_deb.iter().all(|need| needs.contains(need)), "{needs}");
            self.runs_unpacked(&deb, "dpkg-deb -x \"$1\" .");
            lintian(&deb);
        }
        let rpm = format!("{name}-VERSION-1.{}.rpm", std::env::consts::ARCH);
        if let Some(rpm) = release.file(&rpm, &format!("{name} as rpm")) {
            let needs = run(Command::new("rpm").arg("-qpR").arg(&rpm)).good().stdout;
            assert!(needs.contains(self.needs_of_rpm) && needs.contains("libc.so.6(GLIBC_2."), "{needs}");
            // Debian has MPICH's library under another name than the distributions with RPM.
            let renamed = "cp /usr/lib/*/libmpich.so.12 libmpi.so.12 2>/dev/null || true";
            self.runs_unpacked(&rpm, &format!("rpm2cpio \"$1\" | cpio --quiet -idm; {renamed}"));
            rpmlint(&rpm);
        }
    }

    fn runs_unpacked(&self, package: &Path, script: &str) {
        let (name, place) = (self.name, testkit::directory());
        let place = place.path();
        run(Command::new("sh").args(["-ec", script, "sh"]).arg(package).current_dir(place)).good();
        let ranks = |words: &str| {
            let mut ranks = Command::new(self.launcher[0]);
            ranks.args(&self.launcher[1..]).args(["-n", "2"]).arg(place.join("usr/bin").join(name));
            ranks.args(words.split_whitespace()).current_dir(place).env("HOME", place).env("LD_LIBRARY_PATH", place);
            run(&mut ranks).good()
        };
        let line = ranks("--name=a --ioengine=null --size=1m --output-format=json");
        assert_eq!(line.document()["client_stats"].as_array().map(Vec::len), Some(3), "two ranks and all");
        let scaled = ranks("scale . --nodes=1,2 --size=4m --runtime=1 --quiet --json --no-store").study();
        assert!(scaled.rows.iter().any(|row| row.pattern.ends_with("-n2")), "{:?}", scaled.sentences);
        assert!(scaled.rows.iter().all(|row| row.first_error().is_none()), "{:?}", scaled.rows);
        let list = std::fs::read_to_string(place.join("usr/share/doc").join(name).join("fsdyno.cdx.json")).unwrap();
        let is_in = |crate_name: &str| list.contains(&format!("\"name\": \"{crate_name}\""));
        assert!(list.contains("\"urn:uuid:") && ["mpi", "mpi-sys", "glibc"].into_iter().all(is_in), "{list}");
        assert!(!list.contains("example.org"), "a placeholder is no address: {list}");
    }
}

#[test]
fn packages_for_open_mpi_need_it_and_run() {
    OPEN_MPI.are_made_and_run();
}

#[test]
fn packages_for_mpich_need_it_and_run() {
    MPICH.are_made_and_run();
}

#[test]
fn an_installed_fio_is_left_alone() {
    let Some(release) = release::release() else { return };
    let Some(package) = deb(release, 1) else { return };
    let Some(root) = debian(&[&package]) else { return };
    let root = root.path();
    std::fs::write(root.join("usr/bin/fio"), "#!/bin/sh\necho theirs\n").unwrap();
    within(root, "chmod 755 /usr/bin/fio; dpkg -i /packages/*.deb").good();
    let _ = within(root, "update-alternatives --install /usr/bin/fio fio /usr/bin/fsdyno 10");
    assert_eq!(within(root, "fio").good().stdout, "theirs\n");
    within(root, "dpkg --purge fsdyno").good();
    assert_eq!(within(root, "fio").good().stdout, "theirs\n");
}

#[test]
fn an_rpm_is_whole_and_unpacks() {
    let Some(release) = release::release() else { return };
    let Some(package) = release.file(&format!("fsdyno-VERSION-1.{}.rpm", std::env::consts::ARCH), "rpm") else {
        return;
    };
    // rpm2cpio is a part of rpm, and has no --version.
    if !have(&["rpm", "cpio"]) {
        return;
    }
    let rpm = |words: &[&str]| run(Command::new("rpm").args(words).arg(&package)).good().stdout;
    assert!(rpm(&["-K", "--nosignature"]).contains("digests OK"));
    assert_eq!(
        rpm(&["-qp", "--qf", "%{NAME} %{LICENSE} %{ARCH}"]),
        format!("fsdyno MIT OR Apache-2.0 {}", std::env::consts::ARCH)
    );
    let files = rpm(&["-qpl"]);
    assert!(files.contains("/usr/bin/fsdyno\n") && !files.contains("/usr/bin/fio"), "{files}");
    // Static: it needs no library.
    let asks = rpm(&["-qpR"]);
    assert!(asks.lines().all(|line| line.starts_with("rpmlib(") || line == "/bin/sh"), "{asks}");
    let place = testkit::directory();
    let unpack = format!("rpm2cpio '{}' | cpio --quiet -idm", package.display());
    run(Command::new("sh").args(["-c", &unpack]).current_dir(place.path())).good();
    let said = run(Command::new(place.path().join("usr/bin/fsdyno")).arg("--version")).good().stdout;
    assert!(said.starts_with("fsdyno "), "{said}");
}
