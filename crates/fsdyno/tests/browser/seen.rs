//! Tests the sheet as people see it: light and dark, at a desk and on a phone, on paper, without scripts.

use std::path::{Path, PathBuf};

use fsdyno_present::sheet::{SheetOptions, html};
use fsdyno_results::{Question, Study};
use testkit::TestDirectory;

use crate::browser::{self, Look};
use crate::{crowded, fixture, odd};

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
    let desk = (1280, 4_500);
    let comparison = page("comparison", &[fixture::comparison()]);
    let looks = [
        Look { name: "light", size: desk, dark: false, scripts: true },
        Look { name: "dark", size: desk, dark: true, scripts: true },
        Look { name: "without-scripts", size: desk, dark: false, scripts: false },
        Look { name: "phone-light", size: PHONE, dark: false, scripts: true },
    ];
    let pictures = looks.map(|look| taken(&browser, &comparison, &look));
    assert!(pictures[0] != pictures[1] && pictures[0] != pictures[2]);
}

const PHONE: (u32, u32) = (390, 10_000);

/// The picture of a page on which something is drawn.
fn taken(browser: &Path, page: &Path, look: &Look) -> Vec<u8> {
    let picture = browser::screenshot(browser, page, look);
    assert_eq!(size(&picture), look.size);
    let picture = std::fs::read(picture).expect("a picture");
    assert!(picture.len() > 100_000, "something is drawn");
    picture
}

#[test]
fn pictures_of_other_screens_and_pages_are_taken() {
    let Some(browser) = browser::find() else { return };
    let comparison = page("comparison-elsewhere", &[fixture::comparison()]);
    for (name, size, dark) in [("tablet", (768, 6_500), false), ("phone-dark", PHONE, true)] {
        taken(&browser, &comparison, &Look { name, size, dark, scripts: true });
    }
    let others = [
        ("quick", odd::quick()),
        ("small-files", odd::small_files()),
        ("check", odd::check()),
        ("sweep", odd::sweep(Question::Sweep)),
        ("curve", odd::sweep(Question::Curve)),
        ("bare", odd::failed_job()),
        ("long-names", odd::long_names()),
        ("hostile", odd::hostile()),
    ];
    let pages = others.map(|(name, study)| page(name, &[study]));
    let all = browser::gallery("gallery", &pages, (1280, 3000));
    let look = Look { name: "gallery", size: (4 * 1280, 2 * 3000), dark: false, scripts: true };
    let picture = std::fs::read(browser::screenshot(&browser, &all, &look)).expect("a picture");
    assert!(picture.len() > 400_000, "something is drawn: {}", picture.len());
}

/// Set to `write`: the README's pictures are made anew from docs/example-report.html.
const EXAMPLE: &str = "FSDYNO_EXAMPLE";

#[test]
fn the_readme_shows_how_its_report_begins() {
    let Some(browser) = browser::find() else { return };
    let docs = testkit::workspace().join("docs");
    for (name, dark) in [("sheet-light", false), ("sheet-dark", true)] {
        let look = Look { name, size: (1280, 1500), dark, scripts: true };
        let taken = browser::screenshot(&browser, &docs.join("example-report.html"), &look);
        let shown = docs.join(format!("images/{name}.png"));
        if std::env::var(EXAMPLE).is_ok_and(|word| word == "write") {
            std::fs::copy(&taken, &shown).expect("the picture is writable");
        }
        assert_eq!(size(&shown), look.size, "{EXAMPLE}=write takes {name}.png anew");
    }
}

/// axe-core's script: in `FSDYNO_AXE`, or where `npm install` puts it in the build directory.
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

/// Examines a page of these studies on screens of these sizes.
#[track_caller]
fn axe_finds_nothing_in(name: &str, studies: &[Study], size: (u32, u32), dark: bool) {
    let (Some(browser), Some(axe)) = (browser::find(), axe()) else { return };
    let script = format!(
        "{}; axe.run().then((found) => done(found.violations.map((one) => [one.id, one.nodes.map((node) => \
         node.html.slice(0, 200) + ' ' + node.failureSummary)])));",
        axe.replace("</script", "<\\/script")
    );
    let found = &browser::ask(&browser, &page(name, studies), &[size], dark, &script)[0];
    assert_eq!(*found, serde_json::json!([]), "{size:?}, dark {dark}");
}

fn of_all_kinds() -> [Study; 6] {
    [
        fixture::comparison(),
        odd::quick(),
        odd::small_files(),
        odd::check(),
        odd::sweep(Question::Sweep),
        odd::failed_job(),
    ]
}

#[test]
fn axe_finds_nothing() {
    axe_finds_nothing_in("axe", &of_all_kinds(), (1280, 1000), false);
}

#[test]
fn axe_finds_nothing_on_other_screens() {
    axe_finds_nothing_in("axe-phones", &of_all_kinds(), (390, 800), false);
    axe_finds_nothing_in("axe-darkness", &of_all_kinds(), (1280, 1000), true);
}

#[test]
fn no_column_is_cut_on_any_screen() {
    let Some(browser) = browser::find() else { return };
    // Names without a break, and the numbers to copy, scroll by themselves.
    let script = "const cut = [...document.querySelectorAll('main *')].filter((one) => !one.closest('pre, svg, .unseen') && \
                  (one.getBoundingClientRect().right > innerWidth + 1 || one.matches('td, th') && one.scrollWidth > \
                  one.clientWidth + 1)).map((one) => one.tagName + '.' + one.className + ' ' + one.textContent.slice(0, 40)); \
                  done({inner: innerWidth, cut, page: document.documentElement.scrollWidth});";
    let studies = [
        fixture::comparison(),
        odd::quick(),
        odd::small_files(),
        odd::check(),
        odd::long_names(),
        odd::hostile(),
        odd::sweep(Question::Curve),
        odd::sweep(Question::Sweep),
        odd::sweep(Question::Scale),
        odd::timed(),
    ];
    let all = page("narrow", &studies);
    let widths = [1280, 768, 390];
    let answers = browser::ask(&browser, &all, &widths.map(|width| (width, 800)), false, script);
    for (width, answer) in widths.into_iter().zip(answers) {
        assert_eq!(answer["cut"], serde_json::json!([]), "{width}: {answer}");
        assert_eq!((&answer["page"], &answer["inner"]), (&width.into(), &width.into()), "the page scrolls sideways");
    }
}

#[test]
fn charts_are_read_and_enlarged_and_the_theme_switches() {
    let Some(browser) = browser::find() else { return };
    let script = "const chart = document.querySelector('[data-axes]'), svg = chart.querySelector('svg'); \
                  const fire = (type, share) => { const box = svg.getBoundingClientRect(); svg.dispatchEvent(new \
                  PointerEvent(type, {clientX: box.left + share * box.width, clientY: box.top + 50})); }; \
                  const text = (where) => document.querySelector(where).textContent; \
                  const width = () => svg.getBoundingClientRect().width; \
                  const said = {before: text('.readout'), small: width()}; \
                  fire('pointermove', 0.4); said.read = text('.readout'); fire('pointerleave', 0.4); said.after = text('.readout'); \
                  const enlarge = chart.closest('.panel').querySelector('.enlarge'); \
                  enlarge.click(); said.large = width(); enlarge.click(); said.again = width(); \
                  said.button = text('.theme'); document.querySelector('.theme').click(); \
                  said.theme = document.documentElement.dataset.theme; said.back = text('.theme'); \
                  said.copies = document.querySelectorAll('.copied button').length; done(said);";
    let answer = &browser::ask(&browser, &page("used", &[fixture::comparison()]), &[(1000, 800)], false, script)[0];
    assert_eq!((&answer["before"], &answer["after"]), (&"".into(), &"".into()));
    let read = answer["read"].as_str().unwrap_or_default();
    for part in ["14.7 s", "local 126,", "nfs 26,", "s3 104,", " IOPS"] {
        assert!(read.contains(part), "{part}: {read}");
    }
    let width = |name: &str| answer[name].as_f64().expect("a width");
    assert!(width("large") > 2.0 * width("small") && width("again") == width("small"), "{answer}");
    assert_eq!(answer["button"], "Dark theme");
    assert_eq!((&answer["theme"], &answer["back"]), (&"dark".into(), &"Light theme".into()));
    assert!(answer["copies"].as_u64().is_some_and(|copies| copies > 15), "{answer}");
}

#[test]
fn a_quick_run_takes_two_sheets_of_paper_and_three_places_four() {
    let Some(browser) = browser::find() else { return };
    takes_at_most(&browser, 2, "paper-quick", odd::quick());
    takes_at_most(&browser, 4, "paper-comparison", fixture::comparison());
}

#[test]
fn what_a_busy_machine_adds_fits_on_the_same_sheets() {
    let Some(browser) = browser::find() else { return };
    let bare = |mut study: Study| {
        study.rows.iter_mut().for_each(|row| row.findings.clear());
        (study.sentences, study.notes) = (Vec::new(), Vec::new());
        study
    };
    let odd = [(2, "quick", odd::quick()), (4, "comparison", fixture::comparison())].map(|(most, name, study)| {
        let crowded = [0, 5, 12].map(|kinds| (format!("paper-{name}-{kinds}"), crowded::crowded(study.clone(), kinds)));
        (most, [vec![(format!("paper-{name}-bare"), bare(study))], crowded.into()].concat())
    });
    let wrong = odd.into_iter().flat_map(|(most, studies)| {
        let browser = &browser;
        studies.into_iter().filter_map(move |(name, study)| wasted(browser, most, &name, study))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn real_runs_take_as_few_sheets_of_paper() {
    let Some(browser) = browser::find() else { return };
    let place = TestDirectory::with(&["data", "a", "b", "c"]);
    let quick = "measure --quick --size=32m --no-store --json data";
    let compare = "compare first=a second=b third=c --rounds=2 --runtime=1 --size=8m --no-store --json";
    // In parallel: each disturbs the other, so that both have more findings.
    let (quick, compared) = std::thread::scope(|scope| {
        let quick = scope.spawn(|| place.run(quick).good().study());
        let compared = place.run(compare).good().study();
        (quick.join().expect("the run ends well"), compared)
    });
    takes_at_most(&browser, 2, "paper-real-quick", quick);
    takes_at_most(&browser, 4, "paper-real-comparison", compared);
}

#[track_caller]
fn takes_at_most(browser: &Path, most: usize, name: &str, study: Study) {
    assert_eq!(wasted(browser, most, name, study), None);
}

/// What is wrong with a study's sheets of paper: too many, or one before the last less than half full.
fn wasted(browser: &Path, most: usize, name: &str, study: Study) -> Option<String> {
    let used = browser::paper(browser, &page(name, &[study]))?;
    let is_wasted = used.is_empty() || used.len() > most || used[..used.len() - 1].iter().any(|share| *share <= 0.5);
    is_wasted.then(|| format!("{name}: at most {most} sheets, full to {used:.2?}"))
}

#[test]
fn paper_shows_every_finding() {
    let Some(browser) = browser::find() else { return };
    let page = page("paper-findings", &[fixture::comparison()]);
    if browser::paper(&browser, &page).is_none() {
        return;
    }
    let said =
        std::process::Command::new("pdftotext").arg(browser::folder().join("paper-findings.pdf")).arg("-").output();
    let Ok(said) = said else { return testkit::skip("there is no pdftotext (apt-get install poppler-utils)") };
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    for finding in ["speed-drop", "at-link-speed", "fuse-cache", "writes-in-cache"] {
        assert!(said.contains(finding), "{finding}");
    }
    assert!(!said.contains("Each round as CSV"), "what can only be copied stays on the screen");
}
