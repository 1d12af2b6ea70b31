//! Lays out a table in two forms: columns on a terminal, or Markdown.

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};
use fsdyno_text::escape;

use crate::headline::Step;
use crate::quantity::{NOT_SETTLED, NOT_SETTLED_MEANS};

/// Blanks after each column; after the last one they are cut off.
const PADDING: usize = 1;

/// The form of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// For a terminal.
    Text {
        /// The terminal's width, columns.
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

    /// Short lines with labels; a line without a label continues the one before.
    pub(crate) fn labelled(self, lines: &[(&str, String)]) -> String {
        let label_columns = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0) + 2;
        let line = |(label, words): &(&str, String)| match self {
            // After so wide a label, no readable column is left.
            Form::Text { columns }
                if label_columns * 2 > columns && label_columns + words.chars().count() > columns =>
            {
                format!("{}\n{}", label.trim_end(), wrapped(&format!("  {words}"), columns, 2))
            }
            Form::Text { columns } => {
                // Underscores stand for the label while wrapping, as its blanks would be lost.
                let held = "_".repeat(label_columns);
                let lines = wrapped(&format!("{held}{words}"), columns, label_columns);
                lines.replacen(&held, &format!("{label:<label_columns$}"), 1)
            }
            Form::Markdown if label.is_empty() => format!("- {}\n", escape::markdown_sentence(words)),
            Form::Markdown => format!("- **{label}** {}\n", escape::markdown_sentence(words)),
        };
        lines.iter().map(line).collect()
    }

    /// Lines that are not wrapped.
    pub(crate) fn verbatim(self, lines: &str) -> String {
        match self {
            Form::Text { .. } => lines.to_string(),
            Form::Markdown => format!("```text\n{}```\n", escape::markdown_code(lines)),
        }
    }

    /// The width for things that cannot be wrapped.
    pub(crate) fn columns(self) -> usize {
        match self {
            Form::Text { columns } => columns,
            Form::Markdown => 72,
        }
    }

    /// A sentence with its next step, and the id under which it is explained.
    pub(crate) fn item(self, sentence: &str, next: &str, id: &str) -> String {
        match self {
            Form::Text { columns } => {
                let explained = format!("fsdyno explain {id}");
                let next = if next == explained { "why" } else { next };
                let next = wrapped(&format!("  next: {next}"), columns, 4);
                format!("{}{next}{COMMAND}{explained}\n", wrapped(sentence, columns, 2))
            }
            Form::Markdown => {
                let (sentence, next) = (sentence.trim_end_matches('.'), escape::markdown_sentence(next));
                format!("- {}. Next: {next}\n", escape::markdown_sentence(sentence))
            }
        }
    }

    /// A step: its purpose, and on a line of its own, never broken, the command to copy.
    pub(crate) fn step(self, step: &Step) -> String {
        let Form::Text { columns } = self else {
            let command = step.command.as_ref().map(|command| format!(": {command}")).unwrap_or_default();
            return format!("- **next** {}\n", escape::markdown_sentence(&format!("{}{command}", step.what)));
        };
        let command = step.command.as_ref().map(|command| {
            let command = escape::line(command);
            // The terminal would break it.
            let is_long = COMMAND.len() + command.chars().count() > columns;
            format!("{}{command}\n", if is_long { "" } else { COMMAND })
        });
        format!("{}{}", wrapped(&format!("next: {}", step.what), columns, 2), command.unwrap_or_default())
    }
}

/// Indentation of a command.
const COMMAND: &str = "    ";

/// The sentence in lines of at most this number of columns; lines after the first are indented.
pub(super) fn wrapped(sentence: &str, columns: usize, indent: usize) -> String {
    let mut lines = vec![String::new()];
    let lead: String = sentence.chars().take_while(|letter| *letter == ' ').collect();
    lines[0].push_str(&lead);
    for word in unbroken(sentence) {
        let line = lines.last_mut().expect("there is always a line");
        let blank = line.trim().is_empty();
        if !blank && line.chars().count() + 1 + word.chars().count() > columns {
            lines.push(format!("{:indent$}{word}", ""));
        } else {
            if !blank {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    format!("{}\n", lines.join("\n"))
}

/// Units that stay on a line with their numbers.
const UNITS: [&str; 14] = ["%", "ns", "µs", "ms", "s", "min", "IOPS", "MB/s", "MiB/s", "B", "KiB", "MiB", "GiB", "TiB"];

/// The words of a sentence; a unit and its number are one word.
fn unbroken(sentence: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in sentence.split_whitespace() {
        let plain = word.trim_end_matches(|letter: char| !letter.is_alphanumeric() && letter != '%');
        match words.last_mut() {
            Some(number) if UNITS.contains(&plain) && number.ends_with(|end: char| end.is_ascii_digit()) => {
                number.push_str(&format!(" {word}"));
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// The sentence for forms that break lines themselves: a unit stays with its number.
pub(crate) fn with_joined_units(sentence: &str) -> String {
    unbroken(sentence).iter().map(|word| word.replace(' ', "\u{a0}")).collect::<Vec<_>>().join(" ")
}

/// Whether columns of these widths fit beside each other.
fn fit(least: &[usize], columns: usize) -> bool {
    least.iter().map(|least| least + PADDING).sum::<usize>() <= columns + PADDING
}

/// A table: the first column holds names, the others figures unless a header says otherwise.
pub(crate) struct Table {
    headers: Vec<String>,
    left: Vec<bool>,
    rows: Vec<Vec<String>>,
    /// The columns that a narrow terminal leaves out.
    spare: Vec<String>,
}

impl Table {
    /// A table with these headers. A `<` in front of a header marks a column of words.
    pub(crate) fn new(headers: &[&str]) -> Table {
        let left = headers.iter().enumerate().map(|(index, header)| index == 0 || header.starts_with('<')).collect();
        let headers = headers.iter().map(|header| header.trim_start_matches('<').to_string()).collect();
        Table { headers, left, rows: Vec::new(), spare: Vec::new() }
    }

    /// Sets the columns that are left out, in this order, until the table fits. Columns joined by `|` are left out
    /// together.
    pub(crate) fn sparing(mut self, headers: &[&str]) -> Table {
        self.spare = headers.iter().map(|header| (*header).to_string()).collect();
        self
    }

    /// The table without the spare columns that must go for it to fit; `None`: it does not fit even without all of
    /// them.
    fn narrower(&self, form: Form) -> Option<Table> {
        let without = |spared: usize| {
            let is_spare =
                |header: &String| self.spare[..spared].iter().any(|of| of.split('|').any(|one| one == header));
            let is_kept = |index: &usize| !is_spare(&self.headers[*index]);
            self.part(&(0..self.headers.len()).filter(is_kept).collect::<Vec<_>>())
        };
        (1..=self.spare.len()).map(without).find(|table| table.fits(form))
    }

    /// The table with only these columns.
    fn part(&self, keep: &[usize]) -> Table {
        let of = |cells: &[String]| keep.iter().filter_map(|index| cells.get(*index).cloned()).collect();
        let left = keep.iter().map(|index| self.left[*index]).collect();
        let rows = self.rows.iter().map(|row| of(row)).collect();
        Table { headers: of(&self.headers), left, rows, spare: Vec::new() }
    }

    /// The table without the columns of this header.
    pub(crate) fn without(&self, header: &str) -> Table {
        self.part(&(0..self.headers.len()).filter(|index| self.headers[*index] != header).collect::<Vec<_>>())
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The least width of a column: figures keep their units, and no word is broken.
    fn least_columns(&self, index: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(index)).map(String::as_str);
        let columns = |text: &str| text.chars().count();
        // A no-break space does not end a word.
        let words = |text| str::split_ascii_whitespace(text).map(columns).max();
        let least = match index {
            _ if self.left.get(index) == Some(&true) => cells.filter_map(words).max(),
            _ => cells.flat_map(str::lines).map(columns).max(),
        };
        least.max(self.headers.get(index).and_then(|header| words(header))).unwrap_or(0)
    }

    /// The width of the longest name.
    fn name_columns(&self) -> usize {
        let names = self.rows.iter().filter_map(|row| row.first()).chain(self.headers.first());
        names.map(|name| name.chars().count()).max().unwrap_or(0)
    }

    /// The form for a terminal that is too narrow for the table: each row becomes a block of lines.
    fn stacked(&self, columns: usize) -> String {
        let widest = self.headers.iter().skip(1).map(|header| header.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape::terminal(cell).into_owned()).collect();
            text.push_str(&wrapped(cells.first().map_or("", String::as_str).trim_end(), columns, 4));
            for (header, cell) in self.headers.iter().zip(&cells).skip(1).filter(|(_, cell)| !cell.trim().is_empty()) {
                let header = escape::line(header);
                text.push_str(&format!("  {header:<widest$}  "));
                text.push_str(
                    wrapped(cell.trim(), columns.saturating_sub(widest + 4), 0)
                        .replace('\n', &format!("\n{:1$}", "", widest + 4))
                        .trim_end(),
                );
                text.push('\n');
            }
        }
        text
    }

    fn least(&self) -> Vec<usize> {
        (0..self.headers.len()).map(|index| self.least_columns(index)).collect()
    }

    /// The number of columns from `from` on that fit between the first and the last, with each row on one line.
    pub(crate) fn fitting(&self, from: usize, form: Form) -> usize {
        let last = self.headers.len() - 1;
        let Form::Text { columns } = form else { return last - from };
        let least = self.least();
        let fits = |to: &usize| {
            let between = &least[from..*to];
            fit(&[&[self.name_columns(), least[last]], between].concat(), columns)
        };
        (from..=last).rev().find(fits).map_or(0, |to| to - from)
    }

    /// The table with the first, the last and only these columns between them.
    pub(crate) fn with_columns(&self, kept: std::ops::Range<usize>) -> Table {
        let last = self.headers.len() - 1;
        self.part(&[0].into_iter().chain(kept).chain([last]).collect::<Vec<_>>())
    }

    /// Replaces the cells of the last column, below the row of units.
    pub(crate) fn set_last(&mut self, cells: impl Iterator<Item = String>) {
        for (row, cell) in self.rows.iter_mut().skip(1).zip(cells) {
            row.last_mut().into_iter().for_each(|last| last.clone_from(&cell));
        }
    }

    /// Whether each row fits on one line, with its name whole.
    pub(crate) fn fits(&self, form: Form) -> bool {
        let Form::Text { columns } = form else { return true };
        let mut least = self.least();
        least[0] = self.name_columns();
        fit(&least, columns)
    }

    /// Whether each row has a line of its own, and no cell is broken.
    pub(crate) fn is_even(&self, form: Form) -> bool {
        let Form::Text { columns } = form else { return true };
        let mut widest: Vec<usize> = vec![0; self.headers.len()];
        for row in self.rows.iter().chain([&self.headers]) {
            widest.iter_mut().zip(row).for_each(|(widest, cell)| *widest = cell.chars().count().max(*widest));
        }
        fit(&widest, columns)
    }

    /// The table in parts below each other: the names with as many of the other columns as have room.
    pub(crate) fn in_parts(&self, form: Form) -> String {
        let part = |from: usize, to: usize| self.part(&[0].into_iter().chain(from..to).collect::<Vec<_>>());
        let (mut text, mut from, end) = (String::new(), 1, self.headers.len());
        while from < end {
            let to = (from + 1..=end).rev().find(|to| part(from, *to).is_even(form)).unwrap_or(from + 1);
            text.push_str(&part(from, to).shown(form));
            from = to;
        }
        text
    }

    /// The table, with an explanation below of the words that stand in place of an interval.
    pub(crate) fn explained(&self, form: Form) -> String {
        let text = self.shown(form);
        if !self.rows.iter().flatten().any(|cell| cell.ends_with(NOT_SETTLED)) {
            return text;
        }
        // Markdown needs an empty line: else it is part of the table.
        let gap = if matches!(form, Form::Markdown) { "\n" } else { "" };
        format!("{text}{gap}{}", form.paragraph(NOT_SETTLED_MEANS))
    }

    /// The table, ending with a line feed.
    pub(crate) fn shown(&self, form: Form) -> String {
        let mut least = self.least();
        if let Form::Text { columns } = form {
            if !fit(&least, columns) {
                return self.narrower(form).map_or_else(|| self.stacked(columns), |table| table.shown(form));
            }
            // Names are kept whole where there is room: people copy them.
            let wrapped_names = std::mem::replace(&mut least[0], self.name_columns());
            if !fit(&least, columns) {
                least[0] = wrapped_names;
            }
        }
        let mut table = comfy_table::Table::new();
        match form {
            Form::Text { columns } => {
                table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
                table.set_width(u16::try_from(columns + PADDING).unwrap_or(u16::MAX));
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
            let least = u16::try_from(least[index] + PADDING).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
            if !left {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        // After wrapping, no-break spaces become plain blanks, which people search for.
        let plain = |line: &str| match form {
            Form::Text { .. } => line.replace('\u{a0}', " ").trim_end().to_owned(),
            Form::Markdown => line.trim_end().to_owned(),
        };
        let lines: Vec<String> = table.to_string().lines().map(plain).collect();
        format!("{}\n", lines.join("\n"))
    }
}

/// Escapes a cell; text between two pairs of asterisks stays bold.
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
            "test               p99 trust\n4k random read 16.2 ms failed:\n                       no space\n                       left\n"
        );
    }

    #[test]
    fn a_table_that_no_terminal_of_that_width_can_hold_is_stacked() {
        let mut table = Table::new(&["run", "when (UTC)", "<of", "<trust"]);
        let id = "20261122-043100-measure-1a2b";
        table.row(vec![id.into(), "2026-11-22 04:31".into(), "/srv/a/long/path".into(), "no interval yet".into()]);
        assert!(table.shown(Form::Text { columns: 80 }).lines().all(|line| line.chars().count() <= 80));
        assert_eq!(
            table.shown(Form::Text { columns: 40 }),
            format!(
                "{id}\n  when (UTC)  2026-11-22 04:31\n  of          /srv/a/long/path\n  trust       no interval yet\n"
            )
        );
    }

    #[test]
    fn a_narrow_terminal_goes_without_one_column_after_the_other() {
        let mut table = Table::new(&["test", "min", "max", "<", "<trust"]).sparing(&["", "min|max"]);
        table.row(["read", "1", "2", "#####", "ok"].map(str::to_owned).to_vec());
        let head = |columns| table.shown(Form::Text { columns }).lines().next().unwrap_or_default().to_owned();
        assert_eq!([head(24), head(18), head(10)], ["test min max       trust", "test min max trust", "test trust"]);
    }

    #[test]
    fn parts_of_a_table_have_the_names_and_all_other_columns() {
        let mut table = Table::new(&["test", "a", "b", "c"]);
        table.row(["read", "111", "222", "333"].map(str::to_owned).to_vec());
        let form = |columns| Form::Text { columns };
        assert!(table.is_even(form(16)) && !table.is_even(form(15)));
        assert_eq!(table.in_parts(form(15)), "test   a   b\nread 111 222\ntest   c\nread 333\n");
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
        assert_eq!(wrapped("of 95 %: 3", 7, 0), "of\n95 %: 3\n");
        assert_eq!(wrapped("a mean of 1.42 ms)", 15, 0), "a mean of\n1.42 ms)\n");
        assert_eq!(wrapped("of all 2 s and of s", 9, 0), "of all\n2 s and\nof s\n");
        assert_eq!(with_joined_units("mean 224 µs), of 9 tests"), "mean 224\u{a0}µs), of 9 tests");
    }
}
