//! Tables of text.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table without lines; columns whose place is in `left` are aligned to the
/// left, the others to the right.
pub(crate) fn table(header: &[&str], left: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, GAP));
        if !left.contains(&i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Columns are this far apart.
const GAP: u16 = 2;
/// Lines are at most this long in tables that are wrapped.
const WIDTH: u16 = 100;

/// Wraps cells where lines would become too long.
pub(crate) fn wrap(table: &mut Table) {
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        // The gap after the last column is trimmed.
        .set_width(WIDTH + GAP);
}

/// The table's text, with a line end.
pub(crate) fn text(table: &Table) -> String {
    table.trim_fmt() + "\n"
}

/// `3.14`, or `-` for what there is not.
pub(crate) fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}
