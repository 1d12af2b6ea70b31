//! The tables of docs/reliability.md, one per test, between two marks.

use std::sync::Mutex;

/// One fault and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// What went wrong, and when.
    pub(crate) fault: String,
    /// What was asked for.
    pub(crate) asked: String,
    /// Exit status.
    pub(crate) status: String,
    /// The message.
    pub(crate) message: String,
    /// What the record holds.
    pub(crate) kept: String,
    /// What stayed on the storage.
    pub(crate) left: String,
}

const HEAD: &str = "| fault | command | status | message | record | left on the storage |\n|---|---|---|---|---|---|\n";

impl Row {
    fn fields(&self) -> [&str; 6] {
        [&self.fault, &self.asked, &self.status, &self.message, &self.kept, &self.left]
    }

    /// For the way out of a stack.
    pub(crate) fn to_line(&self) -> String {
        self.fields().join("\x02").replace('\n', "\x03")
    }

    /// The way back.
    pub(crate) fn from_line(line: &str) -> Row {
        let mut fields = line.split('\x02').map(|field| field.replace('\x03', "\n"));
        let mut field = || fields.next().unwrap_or_default();
        let (fault, asked, status, message, kept, left) = (field(), field(), field(), field(), field(), field());
        Row { fault, asked, status, message, kept, left }
    }

    fn markdown(&self) -> String {
        format!("| {} |\n", self.fields().map(|field| field.replace('|', "\\|").replace('\n', "<br>")).join(" | "))
    }
}

/// One writer at a time.
static WRITER: Mutex<()> = Mutex::new(());

/// Holds the rows against those in the document, or puts them there.
#[track_caller]
pub(crate) fn hold(test: &str, rows: Vec<Row>) {
    assert!(!rows.is_empty(), "{test} made no row");
    let _writer = WRITER.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let made: String = rows.iter().map(Row::markdown).collect();
    let draft = format!("{}/reliability-{}.md", env!("CARGO_TARGET_TMPDIR"), test.replace("::", "-"));
    std::fs::write(&draft, format!("{HEAD}{made}")).expect("the build directory is writable");
    let path = testkit::workspace().join("docs/reliability.md");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let begin = format!("<!-- {test} -->\n");
    let Some(from) = text.find(&begin).map(|at| at + begin.len()) else {
        panic!("docs/reliability.md has no table {test}: write `{begin}<!-- end -->` where it is to stand");
    };
    let to = from + text[from..].find("<!-- end -->").expect("the table has an end");
    let wanted = format!("{HEAD}{made}");
    if std::env::var("FSDYNO_RELIABILITY").is_ok_and(|word| word == "write") {
        std::fs::write(&path, format!("{}{wanted}{}", &text[..from], &text[to..])).expect("docs is writable");
        return;
    }
    let differences: Vec<&str> =
        wanted.lines().filter(|line| !text[from..to].lines().any(|old| old == *line)).collect();
    assert!(
        differences.is_empty() && text[from..to].lines().count() == wanted.lines().count(),
        "other than docs/reliability.md says ({draft}; FSDYNO_RELIABILITY=write changes it):\n{}",
        differences.join("\n")
    );
}
