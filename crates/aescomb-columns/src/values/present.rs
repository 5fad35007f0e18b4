//! Which rows of a batch have a message.

use std::ops::{Deref, Range};

/// Rows, wherever they are.
type Rows = dyn Deref<Target = [usize]> + Send + Sync;

/// The rows that have a message; the others are null.
pub struct Present {
    /// In ascending order; `None` if it is all of them.
    rows: Option<Box<Rows>>,
    /// Rows, null or not.
    of: usize,
}

impl Present {
    /// All of so many rows.
    pub fn all(of: usize) -> Self {
        Present { rows: None, of }
    }

    /// These of so many rows, in ascending order.
    pub fn these(rows: impl Deref<Target = [usize]> + Send + Sync + 'static, of: usize) -> Self {
        let rows = (rows.len() < of).then(|| Box::new(rows) as Box<Rows>);
        Present { rows, of }
    }

    /// Those that are none of `others`.
    pub fn without(&self, others: Chosen<'_>) -> Vec<usize> {
        let mut others = others.rows().peekable();
        let other = |row: &usize| {
            while others.next_if(|other| other < row).is_some() {}
            others.peek() != Some(row)
        };
        self.whole().rows().filter(other).collect()
    }

    /// Those of the whole batch.
    pub fn whole(&self) -> Chosen<'_> {
        Chosen {
            rows: self.rows.as_deref().map(|rows| &**rows),
            start: 0,
            end: self.of,
        }
    }
}

/// The rows of a stretch of a batch that have a message.
#[derive(Clone, Copy)]
pub struct Chosen<'a> {
    rows: Option<&'a [usize]>,
    start: usize,
    end: usize,
}

impl<'a> Chosen<'a> {
    /// Those of a shorter stretch.
    pub fn within(self, stretch: Range<usize>) -> Chosen<'a> {
        let Range { start, end } = stretch;
        let rows = self.rows.map(|rows| {
            let place = |limit| rows.partition_point(|row| *row < limit);
            &rows[place(start)..place(end)]
        });
        Chosen { rows, start, end }
    }

    /// How many before this row have a message.
    pub fn before(self, row: usize) -> usize {
        match self.rows {
            Some(rows) => rows.partition_point(|other| *other < row),
            None => row - self.start,
        }
    }

    /// All rows of the stretch, null or not.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// How many have a message.
    pub fn count(self) -> usize {
        self.rows.map_or(self.end - self.start, <[_]>::len)
    }

    /// Whether all rows of the stretch have one.
    pub fn are_all(self) -> bool {
        self.rows
            .is_none_or(|rows| rows.len() == self.range().len())
    }

    /// The row of message `i` of the stretch.
    pub fn row(self, i: usize) -> usize {
        self.rows.map_or(self.start + i, |rows| rows[i])
    }

    /// The rows that have a message.
    pub fn rows(self) -> impl Iterator<Item = usize> + 'a {
        let all = match self.rows {
            Some(_) => 0..0,
            None => self.range(),
        };
        self.rows.unwrap_or_default().iter().copied().chain(all)
    }

    /// The rows, counted from the beginning of the stretch.
    pub fn places(self) -> impl Iterator<Item = usize> + 'a {
        self.rows().map(move |row| row - self.start)
    }
}
