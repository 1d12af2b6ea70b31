//! Runs headless Chromium: screenshots, printing, and scripts that examine a page.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

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

fn command(browser: &Path, profile: &str) -> Command {
    let mut command = Command::new(browser);
    command.args(["--headless=new", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]);
    // As root there is no sandbox; the page is our own.
    command.args(["--no-sandbox", "--no-first-run", "--virtual-time-budget=4000", "--enable-logging=stderr"]);
    // A profile can be used by one process only, and tests run in parallel.
    command.arg(format!("--user-data-dir={}", folder().join(format!("profile-{profile}-{}", serial())).display()));
    command
}

/// A new number each time.
fn serial() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn run(mut command: Command) -> Output {
    let output = command.output().expect("the browser starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What the page wrote to the console: errors, and what its policy refused.
fn console(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect()
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
    let mut command = command(browser, look.name);
    command.arg(format!("--window-size={},{}", look.size.0, look.size.1));
    // Blink's values: 0 is dark, 1 is light.
    let scheme = if look.dark { 0 } else { 1 };
    command.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
    command.arg(format!("--screenshot={}", picture.display()));
    command.arg(format!("file://{}", page.display()));
    let output = run(command);
    if look.scripts {
        assert_eq!(console(&output), [""; 0], "{}", look.name);
    } else {
        assert!(
            console(&output).iter().any(|line| line.contains("Content Security Policy")),
            "what is forbidden is seen"
        );
    }
    picture
}

/// Prints the page, and returns for each sheet of paper the share of its height that is used. `None`: nothing here
/// renders PDF, which is printed.
pub(crate) fn paper(browser: &Path, page: &Path) -> Option<Vec<f64>> {
    let name = page.file_stem().expect("a name").to_string_lossy().into_owned();
    let pdf = folder().join(format!("{name}.pdf"));
    let mut command = command(browser, &format!("print-{name}"));
    command.args(["--no-pdf-header-footer".into(), format!("--print-to-pdf={}", pdf.display())]);
    command.arg(format!("file://{}", page.display()));
    run(command);
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
    framed(name, "", &pages.iter().map(frame).collect::<String>())
}

/// Writes a page of frames.
fn framed(name: &str, script: &str, frames: &str) -> PathBuf {
    let page = folder().join(format!("{name}.html"));
    let text = format!("<!DOCTYPE html><body style='margin:0'><script>{script}</script>{frames}");
    std::fs::write(&page, text).expect("the page is written");
    page
}

/// Runs a script in copies of the page that allow it, in frames of these sizes, as a window cannot be as narrow as a
/// phone; returns what it passes to `done` in each.
pub(crate) fn ask(
    browser: &Path,
    page: &Path,
    sizes: &[(u32, u32)],
    dark: bool,
    script: &str,
) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(page).expect("the page");
    let policy = text.find("<meta http-equiv").expect("a policy");
    let end = policy + text[policy..].find('>').expect("its end") + 1;
    let name = format!("ask-{}-{}", if dark { "dark" } else { "light" }, serial());
    let frames = sizes.iter().enumerate().map(|(number, (width, height))| {
        let done = format!("const done = (said) => parent.postMessage(JSON.stringify([{number}, said]), '*');");
        let asking = format!("{}{}<script>{done}{script}</script>", &text[..policy], &text[end..]);
        let copy = format!("{name}-{number}.html");
        std::fs::write(folder().join(&copy), asking).expect("the copy is written");
        format!("<iframe src='{copy}' style='border:0' width={width} height={height}></iframe>")
    });
    let hear = "addEventListener('message', (event) => { const all = document.createElement('pre'); all.id = 'said'; \
                all.textContent = event.data; document.body.append(all); });";
    let page = framed(&name, hear, &frames.collect::<String>());
    let mut command = command(browser, &name);
    command.arg("--window-size=1400,1200");
    command.arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }));
    command.arg("--dump-dom").arg(format!("file://{}", page.display()));
    let output = run(command);
    let document = String::from_utf8_lossy(&output.stdout);
    let answers = document.split("<pre id=\"said\">").skip(1).map(|rest| {
        let answer = rest.split("</pre>").next().unwrap_or_default();
        let answer = answer.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str::<(usize, serde_json::Value)>(&answer).expect("JSON")
    });
    let mut answers: Vec<(usize, serde_json::Value)> = answers.collect();
    assert_eq!(answers.len(), sizes.len(), "each frame answers: {:?}", console(&output));
    answers.sort_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
