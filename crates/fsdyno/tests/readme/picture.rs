//! Makes the README's first picture: the output of a real `measure` on a terminal, as SVG.

use std::fmt::Write;
use std::fs;

use testkit::{TestDirectory, is_root};

const PICTURE: &str = "docs/images/measure.svg";

/// Width of a letter and height of a line, px, in a monospaced font.
const LETTER: f64 = 8.4;
const LINE: usize = 19;
const MARGIN: usize = 16;

/// The text of a terminal, with the question above and what made it below.
fn svg(question: &str, shown: &str, made_by: &str) -> String {
    let asked = format!("\x1b[1m$ {question}\x1b[0m");
    let lines: Vec<&str> = [asked.as_str(), ""].into_iter().chain(shown.lines()).chain(["", made_by]).collect();
    let (width, height) = ((80.0 * LETTER) as usize + 2 * MARGIN, lines.len() * LINE + 2 * MARGIN);
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>text {{ font: 14px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #d6dae0; white-space: pre }} \
         .bold {{ font-weight: bold; fill: #fff }} .ok {{ fill: #7bd88f }} .caution {{ fill: #fccf6a }} \
         .invalid {{ fill: #fc7b7b }}</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1c2128\"/>\n"
    );
    let last = lines.len() - 1;
    for (index, line) in lines.iter().enumerate() {
        let base = MARGIN + index * LINE + LINE * 3 / 4;
        let faint = if index == last { " opacity=\"0.6\"" } else { "" };
        writeln!(picture, "<text x=\"{MARGIN}\" y=\"{base}\"{faint}>{}</text>", spans(line)).unwrap();
    }
    picture + "</svg>\n"
}

/// A line with its colours. Each word has its own position, so that columns stay aligned if blanks are dropped or
/// letters are wider.
fn spans(line: &str) -> String {
    let (mut shown, mut column) = (String::new(), 0);
    for (index, part) in line.split("\x1b[").enumerate() {
        let (code, text) = if index == 0 { ("0", part) } else { part.split_once('m').expect("a colour") };
        let class = match code {
            "0" => "",
            "1" => " class=\"bold\"",
            "32" => " class=\"ok\"",
            "33" => " class=\"caution\"",
            "31" => " class=\"invalid\"",
            _ => panic!("no colour of the picture: {code} in {line}"),
        };
        for (index, word) in text.split(' ').enumerate() {
            if index > 0 {
                shown.push(' ');
                column += 1;
            }
            if !word.is_empty() {
                write!(shown, "<tspan x=\"{:.1}\"{class}>{}</tspan>", place(column), escaped(word)).unwrap();
            }
            column += word.chars().count();
        }
    }
    shown
}

/// The position of a column, px.
fn place(column: usize) -> f64 {
    MARGIN as f64 + column as f64 * LETTER
}

/// Words that are not at their column.
fn misplaced(picture: &str) -> Vec<String> {
    let lines = picture.lines().filter(|line| line.starts_with("<text "));
    let words = lines.flat_map(|line| {
        let spans = line.match_indices("<tspan").map(|(at, _)| (read(&line[..at]).chars().count(), &line[at..]));
        spans
            .filter(|(column, span)| !span.starts_with(&format!("<tspan x=\"{:.1}\"", place(*column))))
            .collect::<Vec<_>>()
    });
    words.map(|(column, span)| format!("{column}: {span}")).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text that a reader of the picture sees.
fn read(picture: &str) -> String {
    let lines = picture.lines().filter(|line| line.starts_with("<text "));
    let plain = |line: &str| line.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect::<String>();
    let text: Vec<String> = lines.map(plain).collect();
    text.join("\n").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// `FSDYNO_EXAMPLE=write` runs a complete `measure`, and replaces the picture.
#[test]
fn a_real_measure_is_drawn() {
    if !is_root("its directory is mounted under a short name") || !testkit::has("script") {
        return;
    }
    let written = std::env::var("FSDYNO_EXAMPLE").is_ok_and(|word| word == "write");
    let brief = if written { "" } else { " --only=read-latency --size=16m --runtime=1" };
    let place = TestDirectory::with(&["data"]);
    let line = format!(
        "mount --bind {} /mnt && {program} measure /mnt{brief} > /dev/null 2>&1 && exec script --quiet --return --command \
         'stty cols 80; exec {program} show last --color=always' /dev/null",
        place.word("data"),
        program = testkit::program()
    );
    let ran = place.program("unshare", &["--mount", "sh", "-c", &line]).output().unwrap();
    assert!(ran.status.success(), "{}", testkit::text(&ran.stderr));
    let printed = testkit::text(&ran.stdout).replace('\r', "");
    let shown = printed.trim_end();
    let study = place.studies("home/fsdyno").pop().expect("a saved run");
    let took_s = (study.ended_ms - study.started_ms) / 1000;
    let kernel = study.host.kernel.as_deref().unwrap_or("a kernel without a name");
    let cpus = study.host.cpus.map_or("unknown".to_string(), |cpus| cpus.to_string());
    let made_by = format!("{}; {kernel}, CPUs: {cpus}; {took_s} s", study.version);
    let picture = svg("fsdyno measure /mnt", shown, &made_by);
    let reads = read(&picture);
    let colours = ["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];
    let expected = colours.iter().fold(shown.to_string(), |text, colour| text.replace(colour, ""));
    assert_eq!(reads, format!("$ fsdyno measure /mnt\n\n{expected}\n\n{made_by}"));
    assert!(reads.contains("takes a median of") && reads.contains("--wide"), "{reads}");
    if written {
        fs::write(testkit::workspace().join(PICTURE), &picture).unwrap();
    }
    let kept = fs::read_to_string(testkit::workspace().join(PICTURE)).expect("the picture");
    for picture in [&picture, &kept] {
        assert!(picture.starts_with("<svg ") && picture.contains(" xml:space=\"preserve\""), "its columns");
        assert_eq!(misplaced(picture), [""; 0]);
    }
}
