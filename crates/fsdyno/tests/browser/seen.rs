//! The sheet as people see it: light and dark, at a desk and on a telephone, on paper, without scripts.

use std::path::{Path, PathBuf};
use std::process::Command;

use present::sheet::{SheetOptions, html};
use results::{Question, Study};

use crate::browser::{self, Look};
use crate::{fixture, odd};

fn page(name: &str, studies: &[Study]) -> PathBuf {
    let path = browser::folder().join(format!("{name}.html"));
    std::fs::write(&path, html(studies, &SheetOptions::default())).expect("the page is written");
    path
}

/// Width and height of a PNG.
fn size(picture: &Path) -> (u32, u32) {
    let bytes = std::fs::read(picture).expect("a picture");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    (number(16), number(20))
}

#[test]
fn pictures_are_taken_and_the_console_is_silent() {
    let Some(browser) = browser::find() else { return };
    let desk = (1280, 12_500);
    let phone = (360, 20_000);
    let comparison = page("comparison", &[fixture::comparison()]);
    let looks = [
        Look { name: "light", size: desk, dark: false, scripts: true },
        Look { name: "dark", size: desk, dark: true, scripts: true },
        Look { name: "without-scripts", size: desk, dark: false, scripts: false },
        Look { name: "phone-light", size: phone, dark: false, scripts: true },
        Look { name: "phone-dark", size: phone, dark: true, scripts: true },
    ];
    let pictures: Vec<Vec<u8>> = looks
        .iter()
        .map(|look| {
            let picture = browser::screenshot(&browser, &comparison, look);
            assert_eq!(size(&picture), look.size);
            std::fs::read(picture).expect("a picture")
        })
        .collect();
    assert!(pictures.iter().all(|picture| picture.len() > 100_000), "something is drawn");
    assert!(pictures[0] != pictures[1] && pictures[0] != pictures[2] && pictures[3] != pictures[4]);
    let others = [
        ("small-files", odd::small_files()),
        ("check", odd::check()),
        ("sweep", odd::sweep(Question::Sweep)),
        ("curve", odd::sweep(Question::Curve)),
        ("bare", odd::failed_job()),
        ("long-names", odd::long_names()),
        ("hostile", odd::hostile()),
    ];
    for (name, study) in others {
        let page = page(name, &[study]);
        browser::screenshot(&browser, &page, &Look { name, size: (1280, 3000), dark: false, scripts: true });
    }
}

/// axe-core's script: `FSDYNO_AXE`, or where `npm install` in the build directory puts it.
fn axe() -> Option<String> {
    let named = std::env::var_os("FSDYNO_AXE").map(PathBuf::from);
    let path = named.unwrap_or_else(|| testkit::workspace().join("target/tools/node_modules/axe-core/axe.min.js"));
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        testkit::skip(&format!(
            "there is no axe-core at {} (npm install --prefix target/tools axe-core, or FSDYNO_AXE=axe.min.js)",
            path.display()
        ));
    }
    text
}

#[test]
fn axe_finds_nothing_serious() {
    let (Some(browser), Some(axe)) = (browser::find(), axe()) else { return };
    let script = format!(
        "{}; axe.run().then((found) => done(found.violations.filter((one) => ['serious', 'critical', \
         'moderate'].includes(one.impact)).map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 200) + ' ' + \
         node.failureSummary)])));",
        axe.replace("</script", "<\\/script")
    );
    let studies =
        [fixture::comparison(), odd::small_files(), odd::check(), odd::sweep(Question::Sweep), odd::failed_job()];
    let all = page("axe", &studies);
    for (size, dark) in [((1280, 1000), false), ((1280, 1000), true), ((360, 800), false)] {
        let found = browser::ask(&browser, &all, size, dark, &script);
        assert_eq!(found, serde_json::json!([]), "{size:?}, dark {dark}");
    }
}

#[test]
fn nothing_is_wider_than_a_telephone() {
    let Some(browser) = browser::find() else { return };
    let script = "const wide = [...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll, pre, svg') && \
                  one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.tagName + '.' + one.className); \
                  done({inner: innerWidth, wide, page: document.documentElement.scrollWidth, \
                  charts: document.querySelectorAll('.uplot canvas').length});";
    let studies = [
        fixture::comparison(),
        odd::small_files(),
        odd::check(),
        odd::long_names(),
        odd::hostile(),
        odd::sweep(Question::Curve),
    ];
    let answer = browser::ask(&browser, &page("narrow", &studies), (360, 800), false, script);
    assert_eq!(answer["wide"], serde_json::json!([]), "{answer}");
    assert_eq!(answer["page"], answer["inner"], "the page does not scroll sideways");
    assert_eq!(answer["inner"], 360);
    assert!(answer["charts"].as_u64().is_some_and(|charts| charts >= 15), "scripts draw charts: {answer}");
}

#[test]
fn charts_are_read_and_zoomed_and_the_theme_switches() {
    let Some(browser) = browser::find() else { return };
    let script = "const over = document.querySelector('.uplot .u-over'), box = over.getBoundingClientRect(); \
                  const fire = (on, type, x) => on.dispatchEvent(new MouseEvent(type, {bubbles: true, button: 0, movementX: 9, \
                  clientX: box.left + x * box.width, clientY: box.top + 50})); \
                  const wait = () => new Promise((go) => setTimeout(go, 100)); \
                  const text = (where) => document.querySelector(where).textContent; \
                  const whole = document.querySelector('.live button'); \
                  (async () => { const said = {before: text('.readout'), whole: whole.hidden}; \
                  fire(over, 'mousemove', 0.5); await wait(); said.read = text('.readout'); \
                  fire(over, 'mousedown', 0.25); fire(over, 'mousemove', 0.75); fire(document, 'mouseup', 0.75); await wait(); \
                  said.zoomed = whole.hidden; whole.click(); await wait(); said.again = whole.hidden; \
                  said.button = text('.theme'); document.querySelector('.theme').click(); \
                  said.theme = document.documentElement.dataset.theme; said.back = text('.theme'); \
                  said.copies = document.querySelectorAll('.copied button').length; done(said); })();";
    let answer = browser::ask(&browser, &page("used", &[fixture::comparison()]), (1000, 800), false, script);
    assert_eq!(answer["before"], "Point at the chart to read it, drag to zoom.");
    let read = answer["read"].as_str().unwrap_or_default();
    for part in ["15.0 s", "local ", "nfs ", "s3 (invalid) ", " MB/s"] {
        assert!(read.contains(part), "{part}: {read}");
    }
    assert_eq!([&answer["whole"], &answer["zoomed"], &answer["again"]], [true, false, true], "{answer}");
    assert_eq!(answer["button"], "Dark theme");
    assert_eq!((&answer["theme"], &answer["back"]), (&"dark".into(), &"Light theme".into()));
    assert!(answer["copies"].as_u64().is_some_and(|copies| copies > 15), "{answer}");
}

#[test]
fn it_prints() {
    let Some(browser) = browser::find() else { return };
    let pdf = browser::paper(&browser, &page("paper", &[fixture::comparison()]));
    let bytes = std::fs::read(&pdf).expect("a PDF");
    assert!(bytes.starts_with(b"%PDF") && bytes.len() > 50_000);
    let pages = browser::folder().join("print");
    match Command::new("pdftoppm").args(["-r", "60", "-png"]).arg(&pdf).arg(&pages).status() {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            testkit::skip(&format!("no pictures of the paper: no pdftoppm ({error}; apt-get install poppler-utils)"))
        }
    }
}
