//! What can be measured for the report, and measuring it.

use super::found::{Found, Latency};
use crate::bench::bound::Rates;
use crate::bench::case::{Form, KeyForm, Setup};
use crate::bench::field;
use crate::bench::report::{Row, Schedule};
use crate::failure::Failure;
use aescomb::{Algorithm, AnyKey, Backend, Comb, Message, Mode, Text};
use aescomb_measure::{Crowd, Mix, Options, Sampler, Workload};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::time::Duration;

/// One measurement, by everything that decides it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ask {
    /// Cycles of a mode.
    Cost(Cost),
    /// How long every message of a mix waits when CBC encrypts so many at a time.
    Latency {
        /// Messages in hand, which are those in flight.
        in_hand: usize,
        /// Messages of the workload.
        messages: usize,
        mix: String,
    },
    /// Ways to multiply and to double in GF(2^128).
    Field,
}

/// Cycles of a mode on a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// Mode with key length: `aes-128-gcm`.
    pub(crate) algorithm: String,
    /// Decrypting, verifying, opening.
    pub(crate) back: bool,
    pub(crate) mix: String,
    pub(crate) messages: usize,
    /// One after the other, combed, or both in turn.
    pub(crate) schedules: Vec<Schedule>,
    /// Messages in flight when combed, if not what suits the CPU.
    pub(crate) lanes: Option<usize>,
    /// The name of a backend, if not the one that suits the CPU.
    pub(crate) backend: Option<String>,
    pub(crate) keys: KeyForm,
    /// Bytes of associated data, in modes that take any.
    pub(crate) data_bytes: usize,
    /// Every tag is wrong.
    pub(crate) forged: bool,
    /// On so many cores at the same time.
    pub(crate) threads: usize,
}

impl Cost {
    /// Both schedules of a mode with AES-128: 256 messages of the mix, one key, no
    /// associated data.
    pub(crate) fn of(mode: Mode, mix: impl Into<String>) -> Cost {
        Cost {
            algorithm: Algorithm {
                mode,
                key_bits: 128,
            }
            .to_string(),
            back: false,
            mix: mix.into(),
            messages: 256,
            schedules: vec![Schedule::Sequential, Schedule::Comb],
            lanes: None,
            backend: None,
            keys: KeyForm::Shared,
            data_bytes: 0,
            forged: false,
            threads: 1,
        }
    }
}

/// Measures with one setting of the sampler.
pub(crate) struct Measurer {
    pub(crate) sampler: Sampler,
    pub(crate) rates: Rates,
    pub(crate) seed: u64,
    pub(crate) core: Option<usize>,
}

impl Measurer {
    pub(crate) fn measure(&self, ask: &Ask) -> Result<Found, Failure> {
        match ask {
            Ask::Cost(cost) => self.cost(cost).map(Found::Rows),
            Ask::Latency {
                in_hand,
                messages,
                mix,
            } => {
                let workload = self.draw(mix, *messages)?;
                self.latency(*in_hand, workload).map(Found::Latency)
            }
            Ask::Field => {
                // Many variants, so less time for each.
                let options = Options {
                    budget: self.sampler.options().budget.map(|budget| budget / 4),
                    ..self.sampler.options().clone()
                };
                let sampler = Sampler::with_clock(self.sampler.clock().clone(), options);
                Ok(Found::Field(field::measure(&sampler, self.core).figures()))
            }
        }
    }

    fn draw(&self, mix: &str, messages: usize) -> Result<Workload, Failure> {
        let mix: Mix = mix.parse().map_err(Failure::misuse)?;
        Ok(mix.open()?.draw(Some(messages), self.seed))
    }

    fn cost(&self, cost: &Cost) -> Result<Vec<Row>, Failure> {
        let algorithm: Algorithm = cost.algorithm.parse().map_err(Failure::misuse)?;
        let backend: Option<Backend> = match &cost.backend {
            Some(name) => Some(name.parse().map_err(Failure::misuse)?),
            None => None,
        };
        let setup = Setup {
            backend,
            lanes: cost.lanes,
            keys: cost.keys,
            form: Form::Messages,
            back: cost.back,
            data_bytes: cost.data_bytes,
            seed: self.seed,
            forged: cost.forged,
        };
        let workload = self.draw(&cost.mix, cost.messages)?;
        let one = |sampler: &Sampler, crowd: Option<&Crowd>, schedule| {
            setup.measure(
                &|competitors| match (crowd, competitors) {
                    (Some(crowd), [one]) => vec![crowd.run_one(sampler, one)],
                    (_, competitors) => sampler.run(competitors),
                },
                &self.rates,
                algorithm,
                &cost.mix,
                &workload,
                [schedule],
            )
        };
        match cost.schedules[..] {
            [a, b] if cost.threads == 1 => Ok(setup
                .measure(
                    &|competitors| self.sampler.run(competitors),
                    &self.rates,
                    algorithm,
                    &cost.mix,
                    &workload,
                    [a, b],
                )?
                .into()),
            _ => {
                let mut rows = Vec::new();
                for schedule in &cost.schedules {
                    // Alone first: if it cannot be measured, no thread waits for another.
                    let [alone] = one(&self.sampler, None, *schedule)?;
                    if cost.threads == 1 {
                        rows.push(alone);
                        continue;
                    }
                    let crowd = Crowd::new(cost.threads);
                    let each: Vec<Result<[Row; 1], Failure>> = std::thread::scope(|scope| {
                        let cores = aescomb_measure::pin::available();
                        let threads: Vec<_> = cores
                            .iter()
                            .rev()
                            .take(cost.threads)
                            .map(|core| {
                                let (crowd, one) = (&crowd, &one);
                                scope.spawn(move || {
                                    let _ = aescomb_measure::pin::pin(*core);
                                    let sampler = Sampler::new(self.sampler.options().clone());
                                    one(&sampler, Some(crowd), *schedule)
                                })
                            })
                            .collect();
                        threads
                            .into_iter()
                            .map(|thread| match thread.join() {
                                Ok(result) => result,
                                Err(panic) => std::panic::resume_unwind(panic),
                            })
                            .collect()
                    });
                    let each: Vec<Row> = each
                        .into_iter()
                        .map(|result| result.map(|[row]| row))
                        .collect::<Result<_, _>>()?;
                    rows.push(together(alone, &each));
                }
                Ok(rows)
            }
        }
    }

    /// Every call encrypts `in_hand` messages, in the order in which they come, and a
    /// message is done when its call is.
    fn latency(&self, in_hand: usize, mut workload: Workload) -> Result<Latency, Failure> {
        workload.round_up(16);
        let mut ring = workload.ring(self.seed)?;
        let key = AnyKey::for_mode(Mode::Cbc, &[7; 16])?;
        let nonces: Vec<[u8; 16]> = (0..workload.lengths.len() as u128)
            .map(u128::to_be_bytes)
            .collect();
        let mut messages = ring
            .split_mut()
            .into_iter()
            .zip(&nonces)
            .map(|(text, nonce)| Message::new(Text::in_place(text)).nonce(nonce))
            .collect::<Vec<_>>();
        let comb = RefCell::new(Comb::new());
        comb.borrow_mut().set_lanes(in_hand)?;
        let mut calls: Vec<_> = messages
            .chunks_mut(in_hand)
            .map(|some| {
                let (comb, key) = (&comb, &key);
                move || {
                    let _ = comb.borrow_mut().encrypt(key, some);
                }
            })
            .collect();
        let mut competitors: Vec<&mut dyn FnMut()> = calls
            .iter_mut()
            .map(|call| call as &mut dyn FnMut())
            .collect();
        let options = Options {
            samples: self.sampler.options().samples.div_ceil(10),
            warmup: Duration::from_micros(200),
            ..self.sampler.options().clone()
        };
        let sampler = Sampler::with_clock(self.sampler.clock().clone(), options);
        let measured = sampler.run(&mut competitors);
        Ok(Latency {
            calls: measured.iter().map(|call| call.median).collect(),
        })
    }
}

/// One row for cores that work at the same time: what all of them do in a cycle.
fn together(alone: Row, each: &[Row]) -> Row {
    let speed = |cost: fn(&Row) -> Option<f64>| {
        let speeds: Option<f64> = each.iter().map(|row| cost(row).map(f64::recip)).sum();
        speeds.map(f64::recip)
    };
    Row {
        cpb: speed(|row| row.cpb),
        cpb_min: speed(|row| row.cpb_min),
        cpb_lower_quartile: speed(|row| row.cpb_lower_quartile),
        cpb_upper_quartile: speed(|row| row.cpb_upper_quartile),
        bound_cpb: alone.bound_cpb.map(|bound| bound / each.len() as f64),
        efficiency: None,
        cycles_per_message: speed(|row| Some(row.cycles_per_message)).unwrap_or(f64::NAN),
        samples: each.iter().map(|row| row.samples).min().unwrap_or(0),
        discarded: each.iter().map(|row| row.discarded).sum(),
        warning: each.iter().find_map(|row| row.warning.clone()),
        ..alone
    }
}
