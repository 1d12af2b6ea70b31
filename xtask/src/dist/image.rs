//! Makes an OCI image for each CPU architecture: the static program and its licences, nothing else. `umoci` makes it
//! without a daemon; an index lets each machine find its own image.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::platform::Platform;
use super::release::{Made, Release};
use super::tool::{self, cannot, command, copy, output, sha256, write};
use super::tree;

/// The mount point of a volume: a directory that anybody may write to, as a new volume inherits its mode.
const VOLUME: &str = "data";

/// User and group nobody: a measurement needs no rights.
const USER: &str = "65534:65534";

pub(super) fn make(release: &Release, programs: &[(&Platform, PathBuf)], place: &Path) -> Made {
    let layout = place.join("image");
    output(command("umoci").args(["init", "--layout"]).arg(&layout))?;
    let mut manifests = Vec::new();
    for (platform, program) in programs.iter().filter(|(platform, _)| platform.is_linux()) {
        let root = place.join(platform.name).join("image-root");
        copy(program, &root.join("bin/fsdyno"))?;
        let trees = place.join(platform.name).join(format!("fsdyno-{}-{}", release.version, platform.name));
        for name in ["LICENCES-OF-DEPENDENCIES.txt", "LICENSE-APACHE", "LICENSE-MIT"] {
            copy(&trees.join("share/doc/fsdyno").join(name), &root.join("licences").join(name))?;
        }
        std::fs::create_dir_all(root.join(VOLUME)).map_err(cannot("make", &root))?;
        tree::set_modes_and_time(&root, release.epoch)?;
        output(command("chmod").arg("1777").arg(root.join(VOLUME)))?;
        manifests.push(image(release, platform, &layout, &root)?);
    }
    add_index(release, &layout, &manifests)?;
    Ok(vec![archive(release, &layout, "image")?])
}

/// Packs a layout into the single file that is loaded and copied.
pub(super) fn archive(release: &Release, layout: &Path, name: &str) -> Result<PathBuf, String> {
    let archive = release.output.join(format!("fsdyno-{}-{name}.oci.tar", release.version));
    tool::tar(release.epoch, layout, &archive)?;
    Ok(archive)
}

/// Makes the image of one architecture, with its own tag; returns its entry for an index.
fn image(release: &Release, platform: &Platform, layout: &Path, root: &Path) -> Result<Value, String> {
    let tag = format!("{}-{}", release.version, platform.debian);
    let image = format!("{}:{tag}", layout.display());
    let created = release.time()?;
    let umoci = |words: &[&str]| output(command("umoci").args(words)).map(drop);
    umoci(&["new", "--image", &image])?;
    let root = root.to_str().ok_or("the folder's path is no text")?;
    umoci(&["insert", "--rootless", "--image", &image, "--history.created", &created, root, "/"])?;
    umoci(&[
        "config",
        "--image",
        &image,
        "--no-history",
        "--created",
        &created,
        "--os",
        "linux",
        "--architecture",
        platform.debian,
        "--config.user",
        USER,
        "--config.entrypoint",
        "/bin/fsdyno",
        "--config.workingdir",
        &format!("/{VOLUME}"),
        "--config.volume",
        &format!("/{VOLUME}"),
        "--config.label",
        &format!("org.opencontainers.image.version={}", release.version),
        "--config.label",
        "org.opencontainers.image.licenses=MIT OR Apache-2.0",
        "--config.label",
        "org.opencontainers.image.title=fsdyno",
    ])?;
    umoci(&["gc", "--layout", layout.to_str().ok_or("the folder's path is no text")?])?;
    let index = read(&layout.join("index.json"))?;
    let manifests = index["manifests"].as_array().into_iter().flatten();
    let named = |manifest: &&Value| manifest["annotations"]["org.opencontainers.image.ref.name"] == tag.as_str();
    let found = manifests.into_iter().find(named).ok_or("umoci left no image")?;
    Ok(json!({
        "mediaType": found["mediaType"], "digest": found["digest"], "size": found["size"],
        "platform": {"os": "linux", "architecture": platform.debian},
    }))
}

/// Adds one name for the images of all architectures.
fn add_index(release: &Release, layout: &Path, manifests: &[Value]) -> Result<(), String> {
    let media = "application/vnd.oci.image.index.v1+json";
    let index = json!({"schemaVersion": 2, "mediaType": media, "manifests": manifests}).to_string();
    let draft = layout.with_extension("index");
    write(&draft, &index)?;
    let digest = sha256(std::slice::from_ref(&draft))?.remove(0);
    copy(&draft, &layout.join("blobs/sha256").join(&digest))?;
    let path = layout.join("index.json");
    let mut top = read(&path)?;
    let all = top["manifests"].as_array_mut().ok_or("umoci's index has no list")?;
    all.insert(
        0,
        json!({
            "mediaType": media, "digest": format!("sha256:{digest}"), "size": index.len(),
            "annotations": {"org.opencontainers.image.ref.name": release.version},
        }),
    );
    write(&path, top.to_string())
}

fn read(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(cannot("read", path))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
