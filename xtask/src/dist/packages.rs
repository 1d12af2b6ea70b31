//! Makes packages for Debian and for RPM distributions, with their own tools from the same tree. Neither contains a
//! file called fio: such a link is the administrator's choice, and would be removed with the package.

use std::path::{Path, PathBuf};

use super::platform::Platform;
use super::release::{Made, Release, home};
use super::tool::{cannot, command, copy, output, write};
use super::tree;
use crate::workspace::folder;

const SUMMARY: &str = "measures filesystems, and runs the command lines and job files of fio";

const DESCRIPTION: &str = "\
How fast a filesystem really is, whether that is good enough, and whether the
number can be trusted: questions with evidence, and fio's language and reports.";

/// The contact of the packages, unless FSDYNO_MAINTAINER names one: the project has no single address.
const MAINTAINER: &str = "fsdyno's authors <fsdyno@localhost>";

pub(super) fn maintainer() -> String {
    std::env::var("FSDYNO_MAINTAINER").unwrap_or_else(|_| MAINTAINER.to_owned())
}

/// Debian's file on the licence. Its own rules want no full text of a licence that each Debian has.
const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: fsdyno
Comment: LICENCES-OF-DEPENDENCIES.txt in this directory has the licences of the packages that are compiled into the program.

Files: *
Copyright: fsdyno's authors
License: Expat or Apache-2.0

License: Apache-2.0
 On Debian systems, the text of this license is in /usr/share/common-licenses/Apache-2.0.

License: Expat
";

/// Writes Debian's files on licence and changes, and removes what repeats a licence.
fn debian_documents(release: &Release, name: &str, version: &str, documents: &Path) -> Result<(), String> {
    let licence = folder().join("LICENSE-MIT");
    let text = std::fs::read_to_string(&licence).map_err(cannot("read", &licence))?;
    let indented = text.lines().map(|line| if line.is_empty() { " .\n".into() } else { format!(" {line}\n") });
    write(&documents.join("copyright"), format!("{COPYRIGHT}{}", indented.collect::<String>()))?;
    for repeated in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let file = documents.join(repeated);
        std::fs::remove_file(&file).map_err(cannot("remove", &file))?;
    }
    let date = output(command("date").args(["-u", "-R", &format!("-d@{}", release.epoch)]))?;
    let changes = documents.join("changelog.Debian");
    let entry = format!("{name} ({version}) unstable; urgency=medium\n\n  * Release {}.\n\n", release.version);
    write(&changes, format!("{entry} -- {}  {date}", maintainer()))?;
    output(command("gzip").arg("-9n").arg(&changes)).map(drop)
}

/// Removes the alternative called fio when the program is removed; an upgrade keeps it.
const TAKE_BACK: &str = "update-alternatives --remove fio /usr/bin/fsdyno >/dev/null 2>&1 || true";

/// What is different in the packages of a release.
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// The packages that it needs, separated by commas; "": none.
    pub(super) needs: String,
    /// Whether it brings the units, and takes the alternative called fio back.
    pub(super) is_whole: bool,
}

impl Package {
    /// The static program with all that belongs to it.
    pub(super) fn whole() -> Package {
        Package { name: "fsdyno", summary: SUMMARY, needs: String::new(), is_whole: true }
    }
}

/// Moves the tree to where packages install it.
fn below_usr(package: &Package, tree: &Path, place: &Path) -> Result<PathBuf, String> {
    std::fs::create_dir_all(place).map_err(cannot("make", place))?;
    output(command("cp").arg("-R").arg(tree).arg(place.join("usr")))?;
    if !package.is_whole {
        return Ok(place.join("usr"));
    }
    for unit in tree::UNITS {
        copy(&folder().join("deploy/systemd").join(unit), &place.join("usr").join(tree::UNITS_PLACE).join(unit))?;
    }
    // Manual pages of a system are compressed.
    output(command("sh").args(["-c", "gzip -9n \"$1\"/usr/share/man/man1/*.1", "sh"]).arg(place))?;
    Ok(place.join("usr"))
}

pub(super) fn deb(release: &Release, package: &Package, platform: &Platform, tree: &Path) -> Made {
    let Package { name, summary, needs, is_whole } = package;
    let root = tree.with_extension("deb");
    let usr = below_usr(package, tree, &root)?;
    let rename = |from: &str, to: &str| {
        let (from, to) = (usr.join(from), usr.join(to));
        std::fs::rename(&from, &to).map_err(cannot("move", &from))
    };
    if *is_whole {
        rename("share/zsh/site-functions", "share/zsh/vendor-completions")?;
    }
    let version = format!("{}-{}", release.version, release.revision);
    debian_documents(release, name, &version, &usr.join("share/doc").join(name))?;
    let kibibytes = output(command("du").args(["-sk", "--apparent-size"]).arg(&usr))?;
    let depends = if needs.is_empty() { String::new() } else { format!("Depends: {needs}\n") };
    let address = home().map_or(String::new(), |home| format!("Homepage: {home}\n"));
    let control = format!(
        "Package: {name}\nVersion: {version}\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {}\n\
         {depends}{address}Section: admin\nPriority: optional\nDescription: {summary}\n{}\n",
        platform.debian,
        maintainer(),
        kibibytes.split_whitespace().next().unwrap_or("0"),
        DESCRIPTION.lines().map(|line| format!(" {line}")).collect::<Vec<_>>().join("\n"),
    );
    write(&root.join("DEBIAN/control"), control)?;
    let sums =
        output(command("sh").args(["-c", "find usr -type f -print0 | sort -z | xargs -0 md5sum"]).current_dir(&root))?;
    write(&root.join("DEBIAN/md5sums"), sums)?;
    tree::set_modes_and_time(&usr, release.epoch)?;
    if *is_whole {
        let script = root.join("DEBIAN/prerm");
        write(&script, format!("#!/bin/sh\nset -e\nif [ \"$1\" = remove ]; then\n    {TAKE_BACK}\nfi\n"))?;
        output(command("chmod").arg("755").arg(&script))?;
    }
    let package = release.output.join(format!("{name}_{version}_{}.deb", platform.debian));
    let mut build = command("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&package);
    output(build.env("SOURCE_DATE_EPOCH", release.epoch.to_string()))?;
    Ok(vec![package])
}

pub(super) fn rpm(release: &Release, package: &Package, platform: &Platform, tree: &Path) -> Made {
    let root = tree.with_extension("rpm");
    below_usr(package, tree, &root)?;
    tree::set_modes_and_time(&root.join("usr"), release.epoch)?;
    let place = root.with_extension("build");
    let specification = place.join("fsdyno.spec");
    write(&specification, specified(release, package, &root)?)?;
    let mut build = command("rpmbuild");
    build.args(["-bb", "--quiet", "--target", &format!("{}-linux", platform.rust)]);
    for (name, value) in [
        ("_topdir", place.display().to_string()),
        ("_rpmdir", place.join("made").display().to_string()),
        ("_rpmfilename", "%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm".to_owned()),
        ("_buildhost", "localhost".to_owned()),
        ("use_source_date_epoch_as_buildtime", "1".to_owned()),
        ("clamp_mtime_to_source_date_epoch", "1".to_owned()),
    ] {
        build.arg("--define").arg(format!("{name} {value}"));
    }
    output(build.arg(&specification).env("SOURCE_DATE_EPOCH", release.epoch.to_string()))?;
    let name = format!("{}-{}-{}.{}.rpm", package.name, release.version, release.revision, platform.rust);
    let (made, file) = (place.join("made").join(&name), release.output.join(&name));
    copy(&made, &file)?;
    Ok(vec![file])
}

/// The spec file for rpmbuild. The program is finished, static and stripped: nothing must be searched in it.
fn specified(release: &Release, package: &Package, root: &Path) -> Result<String, String> {
    let listed = output(command("find").args(["usr", "-type", "f"]).current_dir(root))?;
    let mut files: Vec<&str> = listed.lines().collect();
    files.sort_unstable();
    let files: Vec<String> = files.iter().map(|file| format!("\"/{file}\"")).collect();
    let Package { name, summary, needs, is_whole } = package;
    let needs = if needs.is_empty() { String::new() } else { format!("Requires: {needs}\n") };
    let address = home().map_or(String::new(), |home| format!("URL: {home}\n"));
    let capital = format!("{}{}", summary[..1].to_uppercase(), &summary[1..]);
    let date = output(command("date").args(["-u", "+%a %b %d %Y", &format!("-d@{}", release.epoch)]))?;
    let (version, revision, packager) = (&release.version, release.revision, maintainer());
    let end = if *is_whole { format!("%preun\nif [ \"$1\" = 0 ]; then\n    {TAKE_BACK}\nfi\n") } else { String::new() };
    Ok(format!(
        "%global __os_install_post %{{nil}}\n%global debug_package %{{nil}}\n%global _build_id_links none\n\
         %global _binary_payload w9.gzdio\n\
         Name: {name}\nVersion: {version}\nRelease: {revision}\nSummary: {capital}\nLicense: MIT OR Apache-2.0\n{needs}{address}\
         Group: System/Benchmark\nPackager: {packager}\n\
         AutoReqProv: no\n\
         %description\n{DESCRIPTION}\n\
         %install\nmkdir -p %{{buildroot}}\ncp -a '{}/usr' %{{buildroot}}/usr\n\
         {end}\
         %files\n%defattr(-,root,root)\n{}\n\
         %changelog\n* {} {packager} - {version}-{revision}\n- Release {version}.\n",
        root.display(),
        files.join("\n"),
        date.trim(),
    ))
}
