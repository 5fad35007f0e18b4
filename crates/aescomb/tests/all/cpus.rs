//! What is done another way on some CPUs, with the same results: each is a process of its own, as what CPU this is
//! holds for all of a process.
#![cfg(all(feature = "measure", target_arch = "x86_64"))]

use crate::{common, differential};
use aescomb::{Backend, Cpu};
use std::env;
use std::io::{self, Write};
use std::process::Command;

/// Every CPU for which something is chosen, with the widest backend that it has or is used with.
const CPUS: [(Cpu, Backend); 9] = [
    (Cpu::Other, Backend::Vaes512),
    (Cpu::IceLake, Backend::Vaes512),
    (Cpu::Zen5, Backend::Vaes512),
    (Cpu::Zen1To4, Backend::Vaes512),
    (Cpu::Other, Backend::Vaes256),
    (Cpu::Zen5, Backend::Vaes256),
    (Cpu::Zen1To4, Backend::Vaes256),
    (Cpu::Other, Backend::Aesni),
    (Cpu::Zen1To4, Backend::Aesni),
];

#[test]
fn ways_of_all_cpus() {
    if let Ok(place) = env::var(common::TEST_CPU) {
        let place: usize = place.parse().expect("a place in the list");
        return batches_as_on(CPUS[place]);
    }
    for (i, (cpu, widest)) in CPUS.into_iter().enumerate() {
        if !widest.is_available() {
            // Not captured, as `println!` would be.
            let _ = writeln!(io::stderr(), "SKIPPED: as on {cpu:?}, {widest}");
            continue;
        }
        let run = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "cpus::ways_of_all_cpus"])
            .env(common::TEST_CPU, i.to_string())
            .output()
            .expect("a process");
        let [said, why] = [&run.stdout, &run.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(
            run.status.success() && said.contains(" 1 passed"),
            "as on {cpu:?}, {widest}: {}\n{said}\n{why}",
            run.status
        );
    }
}

fn batches_as_on((cpu, widest): (Cpu, Backend)) {
    cpu.pretend(widest);
    differential::the_library_s_own_choice();
    differential::mixed_lengths_at(|b| vec![b.default_lanes(), b.max_lanes()]);
    differential::large_batches_of_serial_modes();
    differential::many_long_texts();
    differential::texts_at_the_same_place(4);
    differential::full_groups_at_the_same_place_of_a_page();
    differential::new_keys_among_those_used_before();
    if matches!(cpu, Cpu::Zen1To4 | Cpu::Zen5) {
        differential::batches_larger_than_the_caches();
    }
}
