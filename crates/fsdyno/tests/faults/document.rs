//! Reads and writes the tables of docs/reliability.md, one per test, between two marks.

use std::sync::Mutex;

/// A fault and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// What went wrong, and when.
    pub(crate) fault: String,
    /// The command.
    pub(crate) asked: String,
    /// The exit status.
    pub(crate) status: String,
    /// The message.
    pub(crate) message: String,
    /// The content of the record.
    pub(crate) kept: String,
    /// What was left on the storage.
    pub(crate) left: String,
}

const HEAD: &str = "| fault | command | status | message | record | left on the storage |\n|---|---|---|---|---|---|\n";

impl Row {
    fn fields(&self) -> [&str; 6] {
        [&self.fault, &self.asked, &self.status, &self.message, &self.kept, &self.left]
    }

    /// The row as a line, for passing it out of a stack.
    pub(crate) fn to_line(&self) -> String {
        self.fields().join("\x02").replace('\n', "\x03")
    }

    /// The row of such a line.
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

/// Held by the one writer.
static WRITER: Mutex<()> = Mutex::new(());

/// Compares the rows with the document's, or writes them there.
#[track_caller]
pub(crate) fn compare(test: &str, rows: Vec<Row>) {
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
