//! Keys of messages, and messages that are forged.

use super::*;
use crate::bench::case::KeyForm;

fn with_keys(mode: Mode, keys: KeyForm) -> Cost {
    Cost {
        keys,
        schedules: vec![Schedule::Comb],
        data_bytes: 12,
        ..Cost::of(mode, "internet")
    }
}

pub(super) const FORMS: Part = Part {
    id: "keys",
    title: "One key, many keys, cold keys, new keys",
    asks: |_| {
        let forms = [KeyForm::Distinct, KeyForm::Cold, KeyForm::Fresh];
        asks(modes().flat_map(|mode| {
            let shared = efficiency::work(mode, false);
            std::iter::once(shared).chain(forms.map(|keys| with_keys(mode, keys)))
        }))
    },
    show: |view| {
        let cost = |mode, keys| view.comb(&with_keys(mode, keys));
        let shared = |mode| view.comb(&efficiency::work(mode, false));
        let rows = modes().map(|mode| {
            let over = |keys| times(ratio(cost(mode, keys), shared(mode)));
            vec![
                cell(name(mode)),
                figure(shared(mode)),
                figure(cost(mode, KeyForm::Distinct)),
                over(KeyForm::Distinct),
                figure(cost(mode, KeyForm::Cold)),
                over(KeyForm::Cold),
                figure(cost(mode, KeyForm::Fresh)),
                over(KeyForm::Fresh),
            ]
        });
        let middle = |keys| {
            let ratios: Vec<f64> = modes()
                .filter_map(|mode| ratio(cost(mode, keys), shared(mode)))
                .collect();
            aescomb_measure::stats::median(&ratios).map_or("–".into(), number)
        };
        html! {
            p { "256 messages of the realistic mix: cycles per byte, and how many times those with one key for all. A key for each message: expanded before, and used again in the next call, so that it may still be in a cache; cold, one of so many keys (64 MiB in all, taken in turn) that none is; new, expanded inside the timing." }
            (table(&["mode", "one key", "a key each", "", "cold", "", "new", ""], rows))
            (seen(format!("in the middle over all modes a key for each message costs {} times as much as one key, a cold one {} times, a new one {} times.", middle(KeyForm::Distinct), middle(KeyForm::Cold), middle(KeyForm::Fresh))))
        }
    },
};

fn opened(mode: Mode, forged: bool) -> Cost {
    Cost {
        forged,
        ..efficiency::work(mode, true)
    }
}

pub(super) const FORGED: Part = Part {
    id: "forged",
    title: "Opening forged messages",
    asks: |_| {
        asks(
            authenticated()
                .into_iter()
                .flat_map(|mode| [opened(mode, false), opened(mode, true)]),
        )
    },
    show: |view| {
        let both = |mode, schedule| {
            let cost = |forged| view.results.cpb(&opened(mode, forged), schedule);
            [cost(false), cost(true)]
        };
        let rows = authenticated().into_iter().map(|mode| {
            let mut cells = vec![cell(name(mode))];
            for schedule in [Schedule::Sequential, Schedule::Comb] {
                let [good, bad] = both(mode, schedule);
                cells.extend([figure(good), figure(bad), times(ratio(bad, good))]);
            }
            cells
        });
        let dearest = authenticated()
            .into_iter()
            .filter_map(|mode| {
                let [good, bad] = both(mode, Schedule::Comb);
                Some((mode, ratio(bad, good)?))
            })
            .max_by(|a, b| a.1.total_cmp(&b.1));
        html! {
            p { "Opening 256 messages of which every tag is right, and the same with every tag wrong, from one place to another: cycles per byte. A message that fails has been decrypted like any other by then; what was written of it is wiped, which is what it costs more." }
            (table(&["mode", "one by one: good", "forged", "", "combed: good", "forged", ""], rows))
            @if let Some((mode, times)) = dearest {
                (seen(format!("forged messages cost at most {} times what good ones do ({}), so a flood of them keeps a receiver at most that much busier than a flood of good ones.", number(times), name(mode))))
            }
        }
    },
};
