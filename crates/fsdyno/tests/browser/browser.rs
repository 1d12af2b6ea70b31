//! Runs headless Chromium: screenshots, printing, and scripts that examine a page.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::devtools::Window;

/// The folder of the pages and pictures, which are kept for inspection.
pub(crate) fn folder() -> PathBuf {
    let folder = testkit::workspace().join("target/tmp/sheet");
    std::fs::create_dir_all(&folder).expect("the build directory is writable");
    folder
}

/// The browser: `FSDYNO_CHROMIUM`, or one of the usual names. `None`: there is none, which is printed.
pub(crate) fn find() -> Option<PathBuf> {
    let named = std::env::var_os("FSDYNO_CHROMIUM").map(PathBuf::from);
    let usual = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).flat_map(|folder| usual.map(|name| folder.join(name)));
    let found = named.into_iter().chain(in_path).find(|program| program.is_file());
    if found.is_none() {
        testkit::skip("there is no Chromium (apt-get install chromium, or FSDYNO_CHROMIUM=PROGRAM)");
    }
    found
}

/// How a page is displayed.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) name: &'static str,
    pub(crate) size: (u32, u32),
    pub(crate) dark: bool,
    pub(crate) scripts: bool,
}

/// A copy of the page whose policy also forbids its own script, for readers without scripts.
fn without_scripts(page: &Path) -> PathBuf {
    let text = std::fs::read_to_string(page).expect("the page");
    let start = text.find("script-src '").expect("a policy") + "script-src '".len();
    let end = start + text[start..].find('\'').expect("its end");
    let copy = page.with_extension("without-scripts.html");
    std::fs::write(&copy, format!("{}none{}", &text[..start], &text[end..])).expect("the copy is written");
    copy
}

/// Takes a screenshot; returns the file. Any console output is a failure.
pub(crate) fn screenshot(browser: &Path, page: &Path, look: &Look) -> PathBuf {
    let picture = folder().join(format!("{}.png", look.name));
    let page = if look.scripts { page.to_owned() } else { without_scripts(page) };
    let window = Window::open(browser, &page, look.size, look.dark);
    std::fs::write(&picture, window.picture()).expect("the build directory is writable");
    let console = window.console();
    if look.scripts {
        assert_eq!(console, [""; 0], "{}", look.name);
    } else {
        assert!(console.iter().any(|line| line.contains("Content Security Policy")), "what is forbidden is seen");
    }
    picture
}

/// Prints the page, and returns for each sheet of paper the share of its height that is used. `None`: nothing here
/// renders PDF, which is printed.
pub(crate) fn paper(browser: &Path, page: &Path) -> Option<Vec<f64>> {
    let name = page.file_stem().expect("a name").to_string_lossy().into_owned();
    let pdf = folder().join(format!("{name}.pdf"));
    let printed = Window::open(browser, page, (1280, 1000), false).paper();
    std::fs::write(&pdf, printed).expect("the build directory is writable");
    let pictures = folder().join(format!("{name}-paper"));
    let _ = std::fs::remove_dir_all(&pictures);
    std::fs::create_dir(&pictures).expect("the build directory is writable");
    let drawn = Command::new("pdftoppm").args(["-r", "60", "-gray"]).arg(&pdf).arg(pictures.join("page")).status();
    match drawn {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            testkit::skip(&format!("no pictures of the paper: no pdftoppm ({error}; apt-get install poppler-utils)"));
            return None;
        }
    }
    let mut files: Vec<PathBuf> =
        pictures.read_dir().expect("pictures").map(|file| file.expect("a file").path()).collect();
    files.sort();
    Some(files.iter().map(|file| used(&std::fs::read(file).expect("a picture"))).collect())
}

/// The share of a picture's height (a binary PGM) down to its last row that is not white.
fn used(picture: &[u8]) -> f64 {
    let mut header = picture.split(|byte| byte.is_ascii_whitespace());
    let mut word = || std::str::from_utf8(header.next().expect("a header")).expect("ASCII");
    assert_eq!(word(), "P5");
    let (width, height): (usize, usize) = (word().parse().expect("a width"), word().parse().expect("a height"));
    let rows = &picture[picture.len() - width * height..];
    let last = rows.chunks(width).rposition(|row| row.iter().any(|grey| *grey < 200));
    last.map_or(0.0, |row| (row + 1) as f64 / height as f64)
}

/// Makes a page that shows other pages side by side in frames of this size.
pub(crate) fn gallery(name: &str, pages: &[PathBuf], size: (u32, u32)) -> PathBuf {
    let frame = |page: &PathBuf| {
        let (file, (width, height)) = (page.file_name().expect("a name").to_string_lossy(), size);
        format!("<iframe src='{file}' style='border:0' width={width} height={height}></iframe>")
    };
    let frames: String = pages.iter().map(frame).collect();
    let page = folder().join(format!("{name}.html"));
    std::fs::write(&page, format!("<!DOCTYPE html><body style='margin:0'>{frames}")).expect("the page is written");
    page
}

/// Runs a script in the page, on one screen that has these sizes one after the other; returns what it passes to `done` at
/// each. Any console output is a failure.
pub(crate) fn ask(
    browser: &Path,
    page: &Path,
    sizes: &[(u32, u32)],
    dark: bool,
    script: &str,
) -> Vec<serde_json::Value> {
    let asked = format!("new Promise((done) => {{ {script} }})");
    let window = Window::open(browser, page, sizes[0], dark);
    let answers = sizes.iter().map(|size| {
        window.resize(*size);
        let answer = window.evaluate(&asked);
        assert_eq!(window.console(), [""; 0], "{size:?}");
        answer
    });
    answers.collect()
}
