//! Who can do a case, and by which interface.

use crate::batch::{By, Competitor, Problem, Run};
use crate::case::Case;
use crate::{c, ours, rust};
use aescomb::Mode;

/// Somebody who can do a case.
pub struct Offer {
    pub library: &'static str,
    pub version: String,
    pub interface: &'static str,
    way: Way,
}

enum Way {
    C(&'static c::Way),
    Rust(Run),
}

pub const AESCOMB: &str = "aescomb";

/// Versions of crates, as they were built.
const LOCK: &str = include_str!("../Cargo.lock");

/// `cbc 0.2.1`, of the crate's name.
fn crates(names: &[&str]) -> String {
    let version = |name: &&str| {
        let entry = format!("name = \"{name}\"\nversion = \"");
        let (_, rest) = LOCK.split_once(&entry)?;
        Some(format!("{name} {}", rest.split('"').next()?))
    };
    let mut known: Vec<String> = names.iter().filter_map(version).collect();
    known.dedup();
    known.join(", ")
}

/// Everybody who can do a case with batches of so many messages, aescomb first.
pub fn offers(case: Case, messages: usize, data_bytes: usize) -> Vec<Offer> {
    let rust = |library, crate_names: &[&str], interface, run| Offer {
        library,
        version: crates(crate_names),
        interface,
        way: Way::Rust(run),
    };
    let ours = |interface, run| rust(AESCOMB, &["aescomb"], interface, run);
    let mut offers = vec![
        ours("Comb, packed batch", ours::packed(case)),
        ours("Comb, jobs described once", ours::jobs(case)),
    ];
    // `Key` takes associated data as one component, if empty, which SIV tells from none.
    if messages == 1 && (case.mode != Mode::Siv || data_bytes > 0) {
        offers.push(ours("Key, one message", ours::alone(case)));
    }
    offers.extend(c::ways(case).map(|way| Offer {
        library: way.library.name,
        version: way.library.version(),
        interface: way.interface,
        way: Way::C(way),
    }));
    if let Some((interface, run)) = rust::aws_lc(case) {
        let names = ["aws-lc-rs", "aws-lc-sys"];
        offers.push(rust("AWS-LC", &names, interface, run));
    }
    if let Some((interface, run)) = rust::ring(case) {
        offers.push(rust("ring", &["ring"], interface, run));
    }
    if let Some((name, run)) = rust::rustcrypto(case) {
        offers.push(rust("RustCrypto", &[name, "aes"], name, run));
    }
    offers
}

impl Offer {
    /// `OpenSSL, EVP_CIPHER_CTX kept`.
    pub fn name(&self) -> String {
        format!("{}, {}", self.library, self.interface)
    }

    /// The competitor with messages of its own, if it does them right.
    pub fn start(self, problem: &Problem) -> Result<Box<dyn Competitor>, String> {
        let name = self.name();
        let wrong = |what: String| format!("{}: {name}: {what}", problem.case.name());
        let mut competitor: Box<dyn Competitor> = match self.way {
            Way::C(way) => way.start(problem).map_err(&wrong)?,
            Way::Rust(run) => Box::new(By {
                batch: problem.batch().map_err(|error| wrong(error.to_string()))?,
                run,
            }),
        };
        let done = competitor.run();
        let refused = done.ok_or_else(|| wrong("fails".into()))?;
        problem.judge(competitor.batch(), refused).map_err(&wrong)?;
        Ok(competitor)
    }
}
