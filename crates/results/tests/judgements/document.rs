//! Compares tables with those of docs/measurement.md, one per test, between two marks.

use std::path::Path;
use std::sync::Mutex;

/// One writer at a time.
static WRITER: Mutex<()> = Mutex::new(());

/// Compares a table with the one in the document, or writes it there.
#[track_caller]
pub(crate) fn compare<const COLUMNS: usize>(test: &str, heads: [&str; COLUMNS], rows: &[[String; COLUMNS]]) {
    let _writer = WRITER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let mut made = line(&heads) + &format!("|{}\n", "---|".repeat(COLUMNS));
    rows.iter().for_each(|row| made.push_str(&line(&row.each_ref().map(String::as_str))));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measurement.md");
    let text = std::fs::read_to_string(&path).expect("the document is there");
    let begin = format!("<!-- {test} -->\n");
    let from = text.find(&begin).map(|at| at + begin.len()).expect("the table has a mark where it begins");
    let to = from + text[from..].find("<!-- end -->").expect("the table has an end");
    if std::env::var("FSDYNO_MEASUREMENT").is_ok_and(|word| word == "write") {
        std::fs::write(&path, format!("{}{made}{}", &text[..from], &text[to..])).expect("docs is writable");
        return;
    }
    assert!(
        text[from..to] == made,
        "other than docs/measurement.md says (FSDYNO_MEASUREMENT=write changes it):\n{made}"
    );
}
