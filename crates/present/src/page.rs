//! Lays out pages for people: labels and values in columns under headings, wrapped between words.

use std::fmt::Display;

/// Blanks in front of a label.
const INDENT: usize = 2;

/// A page that grows line by line.
#[derive(Debug)]
pub struct Page {
    text: String,
    label_columns: usize,
    line_columns: usize,
}

impl Page {
    /// A page with a first line. Values begin at column `label_columns`; lines are at most `line_columns` long.
    pub fn new(first_line: impl Display, label_columns: usize, line_columns: usize) -> Page {
        let mut page = Page { text: String::new(), label_columns, line_columns };
        page.paragraph("", &first_line.to_string());
        page
    }

    /// Adds a blank line and a heading.
    pub fn heading(&mut self, text: impl Display) {
        self.text.push('\n');
        self.paragraph("", &text.to_string());
    }

    /// Adds a label and its value.
    pub fn line(&mut self, label: &str, value: &str) {
        self.branch(label, "", value);
    }

    /// Adds a line of a tree: its value follows the branch that leads to it.
    pub fn branch(&mut self, label: &str, branch: &str, value: &str) {
        let width = self.label_columns.saturating_sub(INDENT);
        self.paragraph(&format!("{:INDENT$}{label:<width$}{branch}", ""), value);
    }

    /// Adds words, wrapped with the indentation of the first line.
    pub fn paragraph(&mut self, label: &str, words: &str) {
        let indent = label.chars().count();
        self.text.push_str(label);
        let mut column = indent;
        for word in words.split_whitespace() {
            let fits = indent + word.chars().count() <= self.line_columns;
            // A list without blanks that does not fit may break after its commas.
            let pieces: Vec<&str> = if fits { vec![word] } else { word.split_inclusive(',').collect() };
            for (index, piece) in pieces.into_iter().enumerate() {
                let gap = usize::from(index == 0 && column > indent);
                let width = piece.chars().count();
                if column > indent && column + gap + width > self.line_columns {
                    self.text.push_str(&format!("\n{blank:indent$}", blank = ""));
                    column = indent;
                } else {
                    self.text.push_str(&" ".repeat(gap));
                    column += gap;
                }
                self.text.push_str(piece);
                column += width;
            }
        }
        self.text.push('\n');
    }

    /// Adds a blank line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// The text of the page.
    pub fn into_text(self) -> String {
        fsdyno_text::escape::terminal(&self.text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_under_each_other_and_lines_end_in_time() {
        let mut page = Page::new("first", 8, 20);
        page.heading("Heading");
        page.line("one", "a value of many words");
        page.line("two", "awordlongerthanaline x");
        page.line("list", "x a=1,b=22,c=333,d=4444 y");
        page.gap();
        page.paragraph("- ", "an item");
        let expected = "\
first

Heading
  one   a value of
        many words
  two   awordlongerthanaline
        x
  list  x a=1,b=22,
        c=333,d=4444
        y

- an item
";
        assert_eq!(page.into_text(), expected);
    }
}
