//! Builds the page's tables. A column without any value is left out; on a narrow screen each row becomes a block with
//! the names of its values, so that no column is cut off.

use maud::{Markup, html};

/// A table; rows are added one by one.
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<TableRow>,
}

struct Column {
    head: String,
    is_number: bool,
}

/// A row of a table.
pub(super) struct TableRow {
    /// Whether it begins a group of rows.
    pub(super) begins: bool,
    /// Whether its figures do not count.
    pub(super) is_void: bool,
    /// One cell for each column; `None`: the row has no such value.
    pub(super) cells: Vec<Option<Markup>>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { columns: Vec::new(), rows: Vec::new() }
    }

    /// Adds a column of words.
    pub(super) fn words(mut self, head: &str) -> Table {
        self.columns.push(Column { head: head.to_owned(), is_number: false });
        self
    }

    /// Adds a column of numbers.
    pub(super) fn numbers(mut self, head: &str) -> Table {
        self.columns.push(Column { head: head.to_owned(), is_number: true });
        self
    }

    pub(super) fn row(&mut self, row: TableRow) {
        self.rows.push(row);
    }

    /// The table; empty without rows.
    pub(super) fn shown(&self, class: &str, caption: &str) -> Markup {
        let has_value = |index: usize| self.rows.iter().any(|row| row.cells.get(index).is_some_and(Option::is_some));
        let used: Vec<(usize, &Column)> =
            self.columns.iter().enumerate().filter(|(index, _)| has_value(*index)).collect();
        if self.rows.is_empty() {
            return html! {};
        }
        html! {
            // A `caption` element could be printed on the page before the table's.
            @if !caption.is_empty() { p.caption { (caption) } }
            table class=(class) {
                thead { tr { @for (_, column) in &used { th.num[column.is_number] scope="col" { (column.head) } } } }
                tbody { @for row in &self.rows {
                    tr.begins[row.begins].void[row.is_void] {
                        @for (place, (index, column)) in used.iter().enumerate() { (cell(row, place, *index, column)) }
                    }
                } }
            }
        }
    }
}

fn cell(row: &TableRow, place: usize, index: usize, column: &Column) -> Markup {
    let content = row.cells.get(index).and_then(Option::as_ref);
    html! {
        @if place == 0 {
            th scope="row" { @if let Some(content) = content { (content) } }
        } @else {
            td.num[column.is_number].none[content.is_none()] data-label=(column.head) {
                @match content { Some(content) => (content), None => "–" }
            }
        }
    }
}
