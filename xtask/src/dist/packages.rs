//! Makes packages for Debian and for RPM distributions, with their own tools from the same tree. Neither contains a
//! file called fio: such a link is the administrator's choice, and would be removed with the package.

use std::path::{Path, PathBuf};

use super::platform::Platform;
use super::release::{Made, Release};
use super::tool::{cannot, command, copy, output, write};
use super::tree;
use crate::workspace::folder;

const SUMMARY: &str = "measures filesystems, and runs the command lines and job files of fio";

const DESCRIPTION: &str = "\
How fast a filesystem really is, whether that is good enough, and whether the
number can be trusted: questions with evidence, and fio's language and reports.";

/// The contact of the packages: the project has no single address.
const MAINTAINER: &str = "fsdyno's authors <fsdyno@localhost>";

/// Removes the alternative called fio when the program is removed; an upgrade keeps it.
const TAKE_BACK: &str = "update-alternatives --remove fio /usr/bin/fsdyno >/dev/null 2>&1 || true";

/// Moves the tree to where packages install it.
fn below_usr(tree: &Path, place: &Path) -> Result<PathBuf, String> {
    std::fs::create_dir_all(place).map_err(cannot("make", place))?;
    output(command("cp").arg("-R").arg(tree).arg(place.join("usr")))?;
    for unit in tree::UNITS {
        copy(&folder().join("deploy/systemd").join(unit), &place.join("usr").join(tree::UNITS_PLACE).join(unit))?;
    }
    // Manual pages of a system are compressed.
    output(command("sh").args(["-c", "gzip -9n \"$1\"/usr/share/man/man1/*.1", "sh"]).arg(place))?;
    Ok(place.join("usr"))
}

pub(super) fn deb(release: &Release, platform: &Platform, tree: &Path) -> Made {
    let root = tree.with_extension("deb");
    let usr = below_usr(tree, &root)?;
    let rename = |from: &str, to: &str| {
        let (from, to) = (usr.join(from), usr.join(to));
        std::fs::rename(&from, &to).map_err(cannot("move", &from))
    };
    rename("share/zsh/site-functions", "share/zsh/vendor-completions")?;
    rename("share/doc/fsdyno/LICENCES-OF-DEPENDENCIES.txt", "share/doc/fsdyno/copyright")?;
    let kibibytes = output(command("du").args(["-sk", "--apparent-size"]).arg(&usr))?;
    let version = format!("{}-{}", release.version, release.revision);
    let control = format!(
        "Package: fsdyno\nVersion: {version}\nArchitecture: {}\nMaintainer: {MAINTAINER}\nInstalled-Size: {}\n\
         Section: admin\nPriority: optional\nDescription: {SUMMARY}\n{}\n",
        platform.debian,
        kibibytes.split_whitespace().next().unwrap_or("0"),
        DESCRIPTION.lines().map(|line| format!(" {line}")).collect::<Vec<_>>().join("\n"),
    );
    write(&root.join("DEBIAN/control"), control)?;
    let sums =
        output(command("sh").args(["-c", "find usr -type f -print0 | sort -z | xargs -0 md5sum"]).current_dir(&root))?;
    write(&root.join("DEBIAN/md5sums"), sums)?;
    tree::settle(&usr, release.epoch)?;
    let script = root.join("DEBIAN/prerm");
    write(&script, format!("#!/bin/sh\nset -e\nif [ \"$1\" = remove ]; then\n    {TAKE_BACK}\nfi\n"))?;
    output(command("chmod").arg("755").arg(&script))?;
    let package = release.output.join(format!("fsdyno_{version}_{}.deb", platform.debian));
    let mut build = command("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&package);
    output(build.env("SOURCE_DATE_EPOCH", release.epoch.to_string()))?;
    Ok(vec![package])
}

pub(super) fn rpm(release: &Release, platform: &Platform, tree: &Path) -> Made {
    let root = tree.with_extension("rpm");
    below_usr(tree, &root)?;
    tree::settle(&root.join("usr"), release.epoch)?;
    let place = root.with_extension("build");
    let specification = place.join("fsdyno.spec");
    write(&specification, specified(release, &root)?)?;
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
    let name = format!("fsdyno-{}-{}.{}.rpm", release.version, release.revision, platform.rust);
    let (made, package) = (place.join("made").join(&name), release.output.join(&name));
    copy(&made, &package)?;
    Ok(vec![package])
}

/// The spec file for rpmbuild. The program is finished, static and stripped: nothing must be searched in it.
fn specified(release: &Release, root: &Path) -> Result<String, String> {
    let listed = output(command("find").args(["usr", "-type", "f"]).current_dir(root))?;
    let mut files: Vec<&str> = listed.lines().collect();
    files.sort_unstable();
    let files: Vec<String> = files.iter().map(|file| format!("\"/{file}\"")).collect();
    Ok(format!(
        "%global __os_install_post %{{nil}}\n%global debug_package %{{nil}}\n%global _build_id_links none\n\
         %global _binary_payload w9.gzdio\n\
         Name: fsdyno\nVersion: {}\nRelease: {}\nSummary: {SUMMARY}\nLicense: MIT OR Apache-2.0\nAutoReqProv: no\n\
         %description\n{DESCRIPTION}\n\
         %install\nmkdir -p %{{buildroot}}\ncp -a '{}/usr' %{{buildroot}}/usr\n\
         %preun\nif [ \"$1\" = 0 ]; then\n    {TAKE_BACK}\nfi\n\
         %files\n%defattr(-,root,root)\n{}\n",
        release.version,
        release.revision,
        root.display(),
        files.join("\n"),
    ))
}
