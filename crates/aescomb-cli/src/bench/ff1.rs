//! `bench --ff1`: format-preserving encryption, values of several lengths on all backends.

use crate::failure::Failure;
use crate::machine::Machine;
use crate::table::{figure, table, text};
use aescomb::ff1::{Ff1, Numeral, Values};
use aescomb::{Backend, Layout};
use aescomb_measure::{Measurement, Sampler};
use serde::Serialize;
use std::io::Write;

/// Values of a batch: what is computed of them fits the caches.
const VALUES: usize = 1024;
const KEY: [u8; 16] = [0x2b; 16];
const TWEAK: &[u8] = b"column";

/// What values are.
#[derive(Clone, Copy, Debug)]
struct Shape {
    name: &'static str,
    alphabet: Option<&'static str>,
    radix: u32,
    len: usize,
}

const DIGITS: &str = "0123456789";
const LETTERS_AND_DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyz";

/// Text: halves of 32 and 64 bits and of several words, and two runs of characters; numerals.
const SHAPES: [Shape; 7] = [
    Shape::text("digits", DIGITS, 9),
    Shape::text("digits", DIGITS, 16),
    Shape::text("digits", DIGITS, 19),
    Shape::text("digits", DIGITS, 40),
    Shape::text("digits", DIGITS, 200),
    Shape::text("a to z, 0 to 9", LETTERS_AND_DIGITS, 12),
    Shape {
        name: "numerals of radix 65536",
        alphabet: None,
        radix: 65_536,
        len: 6,
    },
];

impl Shape {
    const fn text(name: &'static str, alphabet: &'static str, len: usize) -> Self {
        Shape {
            name,
            alphabet: Some(alphabet),
            radix: alphabet.len() as u32,
            len,
        }
    }

    fn ff1(self, backend: Backend) -> Result<Ff1, Failure> {
        let made = match self.alphabet {
            Some(alphabet) => Ff1::with_alphabet(alphabet, &KEY),
            None => Ff1::new(self.radix, &KEY),
        };
        Ok(made?.with_backend(backend)?)
    }

    /// Calls that encrypt and decrypt a batch, by text or by numerals.
    fn calls(self, backend: Backend) -> Result<[Box<dyn FnMut()>; 2], Failure> {
        // Any value is as good as another.
        let numeral = |i: usize| (i * i + 7 * i) % self.radix as usize;
        let numerals = (0..VALUES * self.len).map(numeral);
        Ok(match self.alphabet {
            Some(alphabet) => {
                let values: Vec<u8> = numerals.map(|x| alphabet.as_bytes()[x]).collect();
                [
                    self.call(self.ff1(backend)?, values.clone(), true),
                    self.call(self.ff1(backend)?, values, false),
                ]
            }
            None => {
                let values: Vec<u16> = numerals.map(|x| x as u16).collect();
                [
                    self.call(self.ff1(backend)?, values.clone(), true),
                    self.call(self.ff1(backend)?, values, false),
                ]
            }
        })
    }

    /// In place: what one call makes, the next takes.
    fn call<T: Numeral + 'static>(
        self,
        ff1: Ff1,
        mut values: Vec<T>,
        encrypts: bool,
    ) -> Box<dyn FnMut()> {
        let offsets: Vec<u32> = (0..=VALUES).map(|i| (i * self.len) as u32).collect();
        Box::new(move || {
            let values = Values::in_place(&mut values, Layout::Offsets(&offsets)).tweak(TWEAK);
            let done = match encrypts {
                true => ff1.encrypt(values),
                false => ff1.decrypt(values),
            };
            done.expect("good values");
        })
    }
}

/// Everything.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    values: usize,
    rows: Vec<Row>,
}

/// One shape on one backend. Costs are core cycles a value, medians.
#[derive(Debug, Serialize)]
struct Row {
    shape: &'static str,
    radix: u32,
    length: usize,
    backend: &'static str,
    encrypt: f64,
    decrypt: f64,
    samples: usize,
    /// Why the figures had better be taken again.
    warning: Option<String>,
}

fn backends() -> Vec<Backend> {
    // One that only serial modes gain from is another here.
    Backend::available()
        .filter(|backend| *backend != Backend::Vaes256Vl)
        .collect()
}

/// How many figures there are to take.
pub(crate) fn figures() -> usize {
    2 * SHAPES.len() * backends().len()
}

/// Measures all shapes, the backends of one taking turns.
pub(crate) fn measure(sampler: &Sampler, core: Option<usize>) -> Result<Report, Failure> {
    let machine = Machine::look(sampler.clock(), core);
    let backends = backends();
    let mut rows = Vec::new();
    for shape in SHAPES {
        let calls = backends.iter().map(|backend| shape.calls(*backend));
        let mut calls: Vec<_> = calls.collect::<Result<Vec<_>, _>>()?;
        let mut competitors: Vec<&mut dyn FnMut()> = calls
            .iter_mut()
            .flatten()
            .map(|call| &mut **call as &mut dyn FnMut())
            .collect();
        let results = sampler.run(&mut competitors);
        for (backend, pair) in backends.iter().zip(results.chunks(2)) {
            let cycles = |m: &Measurement| m.per(VALUES as f64);
            rows.push(Row {
                shape: shape.name,
                radix: shape.radix,
                length: shape.len,
                backend: backend.name(),
                encrypt: cycles(&pair[0]),
                decrypt: cycles(&pair[1]),
                samples: pair[0].kept,
                warning: pair.iter().find_map(|m| m.noise().warning()),
            });
        }
    }
    Ok(Report {
        machine,
        values: VALUES,
        rows,
    })
}

impl Report {
    /// Rows whose figures had better be taken again.
    pub(crate) fn noisy(&self) -> usize {
        self.rows.iter().filter(|row| row.warning.is_some()).count()
    }

    /// One JSON document.
    pub(crate) fn json(&self, out: &mut dyn Write) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut *out, self).map_err(std::io::Error::from)?;
        Ok(writeln!(out)?)
    }

    /// A table for people.
    pub(crate) fn tables(&self, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out, "{}", self.machine.cpu)?;
        writeln!(out, "{}", self.machine.frequency_line())?;
        writeln!(
            out,
            "FF1, AES-128, {} values of one length, one tweak; core cycles a value, medians\n",
            self.values
        )?;
        let header = ["values", "length", "backend", "encrypt", "decrypt"];
        let mut costs = table(&header, &[0, 2]);
        for row in &self.rows {
            costs.add_row([
                row.shape.to_owned(),
                row.length.to_string(),
                row.backend.to_owned(),
                figure(Some(row.encrypt), 0),
                figure(Some(row.decrypt), 0),
            ]);
        }
        write!(out, "{}", text(&costs))?;
        Ok(())
    }
}
