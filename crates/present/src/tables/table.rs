//! One table, two forms: columns on a terminal, or Markdown.

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};
use results::escape;

/// Words longer than this (paths) are broken where the line ends.
const LONGEST_WORD: usize = 20;

/// The form of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// For a terminal.
    Text {
        /// Its width.
        columns: usize,
    },
    /// For a ticket.
    Markdown,
}

impl Form {
    /// A paragraph, wrapped on a terminal.
    pub(crate) fn paragraph(self, sentence: &str) -> String {
        match self {
            Form::Text { columns } => wrapped(sentence, columns, 0),
            Form::Markdown => format!("{}\n\n", escape::markdown_sentence(sentence)),
        }
    }

    /// Lines that stay as they are.
    pub(crate) fn verbatim(self, lines: &str) -> String {
        match self {
            Form::Text { .. } => lines.to_string(),
            Form::Markdown => format!("```text\n{}```\n", escape::markdown_code(lines)),
        }
    }

    /// How wide something may be that cannot be wrapped.
    pub(crate) fn columns(self) -> usize {
        match self {
            Form::Text { columns } => columns,
            Form::Markdown => 72,
        }
    }

    /// An item with its next step and the name under which it is explained.
    pub(crate) fn item(self, sentence: &str, next: Option<&str>, id: &str) -> String {
        match self {
            Form::Text { columns } => {
                let next = next.map(|next| wrapped(&format!("  next: {next} (more: fsdyno explain {id})"), columns, 8));
                format!("{}{}", wrapped(sentence, columns, 2), next.unwrap_or_default())
            }
            Form::Markdown => {
                let next = next.map(|next| format!(" Next: {}", escape::markdown_sentence(next)));
                format!("- {}{}\n", escape::markdown_sentence(sentence), next.unwrap_or_default())
            }
        }
    }
}

/// The sentence in lines of at most so many columns, those after the first indented.
pub(super) fn wrapped(sentence: &str, columns: usize, indent: usize) -> String {
    let mut lines = vec![String::new()];
    let lead: String = sentence.chars().take_while(|letter| *letter == ' ').collect();
    lines[0].push_str(&lead);
    for word in sentence.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let blank = line.trim().is_empty();
        if !blank && line.chars().count() + 1 + word.chars().count() > columns {
            lines.push(format!("{:indent$}{word}", ""));
        } else {
            if !blank {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    format!("{}\n", lines.join("\n"))
}

/// A table: the first column holds names, the others figures unless told otherwise.
pub(crate) struct Table {
    headers: Vec<String>,
    left: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these headers. One that begins with `<` is of a column of words.
    pub(crate) fn new(headers: &[&str]) -> Table {
        let left = headers.iter().enumerate().map(|(index, header)| index == 0 || header.starts_with('<')).collect();
        let headers = headers.iter().map(|header| header.trim_start_matches('<').to_string()).collect();
        Table { headers, left, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns that a column needs: figures keep their units, and words are broken between letters only if they are
    /// long. Headers may be broken.
    fn least_columns(&self, index: usize) -> ColumnConstraint {
        let cells = self.rows.iter().filter_map(|row| row.get(index));
        let columns = |text: &str| text.chars().count();
        let least = if self.left.get(index) == Some(&true) {
            let longest = cells.flat_map(|cell| cell.split_whitespace()).map(columns).max();
            longest.map(|longest| longest.min(LONGEST_WORD))
        } else {
            cells.flat_map(|cell| cell.lines()).map(columns).max()
        };
        let padding = 1;
        ColumnConstraint::LowerBoundary(Width::Fixed(u16::try_from(least.unwrap_or(0) + padding).unwrap_or(u16::MAX)))
    }

    /// The table, ending with a line feed.
    pub(crate) fn shown(&self, form: Form) -> String {
        let mut table = comfy_table::Table::new();
        match form {
            Form::Text { columns } => {
                table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
                table.set_width(u16::try_from(columns).unwrap_or(u16::MAX));
            }
            Form::Markdown => {
                table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        table.set_header(self.headers.iter().map(|header| match form {
            Form::Markdown => escape::markdown(header),
            Form::Text { .. } => escape::line(header).into_owned(),
        }));
        for row in &self.rows {
            let escaped = row.iter().map(|cell| match form {
                Form::Markdown => markdown_cell(cell),
                Form::Text { .. } => escape::terminal(cell).into_owned(),
            });
            table.add_row(escaped);
        }
        for (index, left) in self.left.iter().enumerate() {
            let Some(column) = table.column_mut(index) else { continue };
            if matches!(form, Form::Text { .. }) {
                column.set_padding((0, 1));
            }
            // Names are never broken: they are what people copy.
            let constraint = if index == 0 { ColumnConstraint::ContentWidth } else { self.least_columns(index) };
            column.set_constraint(constraint);
            if !left {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_string()).collect();
        format!("{}\n", lines.join("\n"))
    }
}

/// What stands between two pairs of asterisks is to stand out.
fn markdown_cell(cell: &str) -> String {
    match cell.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")) {
        Some(words) => format!("**{}**", escape::markdown(words)),
        None => escape::markdown_sentence(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = Table::new(&["test", "rate", "<trust"]);
        table.row(vec!["read".into(), "1,234".into(), "ok".into()]);
        table.row(vec!["a|b".into(), "5".into(), "invalid".into()]);
        table
    }

    #[test]
    fn figures_stand_under_each_other() {
        let text = example().shown(Form::Text { columns: 80 });
        assert_eq!(text, "test  rate trust\nread 1,234 ok\na|b      5 invalid\n");
    }

    #[test]
    fn no_figure_and_no_word_is_broken_where_the_terminal_is_too_narrow() {
        let mut table = Table::new(&["test", "p99", "<trust"]);
        table.row(vec!["4k random read".into(), "16.2 ms".into(), "failed: no space left".into()]);
        let text = table.shown(Form::Text { columns: 31 });
        assert_eq!(
            text,
            "test               p99 trust\n4k random read 16.2 ms failed:\n                       no\n                       space\n                       left\n"
        );
    }

    #[test]
    fn markdown_keeps_its_columns() {
        let text = example().shown(Form::Markdown);
        assert!(text.starts_with("| test "), "{text}");
        assert!(text.contains("a\\|b"), "{text}");
    }

    #[test]
    fn sentences_are_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three\n");
        assert_eq!(wrapped("  next: x", 40, 8), "  next: x\n");
    }
}
