//! What must hold of the kernels' machine code.
//!
//! A kernel is an instance of one of [`FUNCTIONS`] for an instruction set and a
//! direction of a mode; its body is the `run` of that instruction set.
//! A *hot loop* is an innermost loop with AES instructions.
//!
//! 1. AES instructions stand in bodies of `run` and nowhere else: elsewhere they
//!    are an intrinsic or a helper that was not inlined.
//! 2. Every registered direction has its kernels on every instruction set, serial ones
//!    on [`FOR_SERIAL_MODES`], too. One lane by itself is the same for all.
//! 3. A kernel has hot loops that hold the whole cipher at full width.
//! 4. No hot loop calls anything.
//! 5. No hot loop stores more vectors to the stack than the budget allows.
//! 6. A kernel calls nothing that is generic over instruction sets or modes, but for
//!    what is out of line on purpose.
//! 7. No hot loop is unrolled, but for those that do a line of the cache at a time.
//! 8. No hot loop loads a key for each of several chains, as the operand of their AES
//!    instructions, while it leaves a vector register alone: one load into it would do.

use crate::asm::{Function, Instruction};
use crate::source::{Expected, without_paths};
use std::collections::BTreeSet;
use std::fmt;

/// Vector stores to the stack that a hot loop may have, by what the direction's name
/// begins with: for each of [`TOKENS`]; none where no line says so.
///
/// These are what rustc 1.95 makes of the kernels, not what would be ideal: lower
/// a number when a kernel gets better, raise one only with a measurement that says
/// it costs nothing. With 16 registers and 8 in flight whatever a mode keeps
/// beside the row spills: counters, hashes, offsets, sums. Serial modes on 32 registers
/// have no excuse.
#[rustfmt::skip]
const BUDGETS: &[(&str, [usize; 5])] = &[
    ("cbc::Decrypt", [4, 3, 0, 0, 0]),
    ("cbc::Encrypt", [0, 3, 0, 0, 0]),
    ("ccm::Mac", [2, 5, 0, 0, 0]),
    ("ccm::Stream", [2, 4, 0, 0, 0]),
    ("cfb::Decrypt", [3, 3, 0, 0, 0]),
    ("cfb::Encrypt", [0, 8, 0, 0, 0]),
    ("cloc::Crypt", [133, 136, 76, 1, 15]),
    ("cmac::Mac", [0, 3, 0, 0, 0]),
    ("cobra::Crypt", [148, 179, 0, 50, 0]),
    ("copa::Crypt", [105, 101, 0, 31, 0]),
    ("cpfb::Crypt", [47, 56, 17, 0, 19]),
    ("ctr::Crypt<128>", [1, 1, 0, 0, 0]),
    ("ctr::Crypt<32>", [1, 2, 0, 0, 0]),
    ("eax::Crypt", [136, 146, 106, 44, 121]),
    ("gcm::Crypt", [73, 75, 0, 1, 0]),
    ("gcm_siv::Authenticate", [8, 16, 0, 0, 0]),
    ("gcm_siv::Crypt", [8, 16, 0, 0, 0]),
    ("jambu::Crypt", [17, 33, 27, 0, 4]),
    ("julius::Hash", [2, 6, 0, 4, 0]),
    ("julius::Open", [61, 50, 0, 1, 0]),
    ("julius::Seal", [49, 25, 0, 4, 0]),
    ("mcoe_g::Crypt", [23, 28, 3, 0, 4]),
    ("ocb::Crypt", [30, 37, 0, 1, 0]),
    ("ofb::Crypt", [0, 20, 0, 0, 0]),
    ("otr::Crypt", [156, 148, 0, 43, 0]),
    ("pkcs7::Padded<cbc::Encrypt", [0, 3, 0, 0, 0]),
    ("pmac::Mac", [20, 17, 0, 0, 0]),
    ("pmac_ctr::Authenticate", [19, 23, 0, 0, 0]),
    ("pmac_ctr::Crypt", [9, 10, 0, 0, 0]),
    ("poet::Crypt", [128, 57, 15, 3, 15]),
    ("silc::Crypt", [133, 136, 76, 1, 15]),
    ("silver::Crypt", [39, 38, 0, 1, 0]),
    ("siv::Authenticate", [2, 5, 0, 0, 0]),
    ("siv::Crypt", [2, 10, 0, 0, 0]),
    ("xts::Crypt", [24, 32, 0, 1, 0]),
];
/// Columns of [`BUDGETS`]: instruction sets and registers in flight.
const TOKENS: [(&str, usize); 5] = [
    ("ni", 8),
    ("vaes256", 8),
    ("vaes256vl", 8),
    ("vaes512", 4),
    ("vaes512", 8),
];

/// The same for loops that do a line of the cache at a time, [`LINE`] rows of the registers
/// that hold lines.
#[rustfmt::skip]
const LINE_BUDGETS: &[(&str, usize)] = &[
    ("cbc::Encrypt", 41),
    ("cfb::Encrypt", 62),
    ("cloc::Crypt", 105),
    ("eax::Crypt", 121),
    ("mcoe_g::Crypt", 78),
    ("ofb::Crypt", 52),
    ("pkcs7::Padded<cbc::Encrypt", 40),
    ("poet::Crypt", 99),
    ("silc::Crypt", 105),
    ("silver::Crypt", 92),
];
/// Rows in a line.
const LINE: usize = 4;

/// What is out of line on purpose: long, and done once a message or once a key. It
/// takes wide values by reference and enters again.
const APART: &[&str] = &[
    "cipher::OutOfLine<",
    "group::one_lane",
    "bytes::gather",
    "bytes::scatter",
    "group::Group>",
    "group::Lanes>",
    "rows::neighbours",
    "engine::by_themselves",
    "engine::under_their_own",
    "engine::few_rows_of",
    "engine::n_at_a_time",
    "engine::other_windows",
    "stage::Stage",
    "fetch::Coming",
    "engine::left_over",
    "engine::other_text",
    "engine::with_derived",
    "engine::tables",
    "gcm::hashed",
    "eax::last_of_nonce",
    "expanded::KeyTables",
    "expanded::Expanded>::keep_",
    "places::first_rounds",
    "solo::absorbed_alone",
    "solo::for_once",
    "expanded::FirstRounds",
    "isa::Isa>::lane_keys",
    "isa::Isa>::expand",
    "::invert",
];

/// The functions that have hot loops, with the modules that they are in.
const FUNCTIONS: &[(&str, &str)] = &[
    ("engine", "kernel"),
    ("engine", "kernel_one"),
    ("engine", "left_over"),
    ("engine", "other_text"),
    ("solo", "for_once"),
    ("engine", "by_themselves"),
    ("engine", "under_their_own"),
    ("engine", "with_derived"),
    ("rows", "neighbours"),
];
/// Those of one message, whose blocks may not be side by side.
const ALONE: &[&str] = &["kernel_one", "left_over", "other_text", "for_once"];
/// An instruction set for serial modes alone, which are those that have a kernel with twice
/// as many registers in flight.
const FOR_SERIAL_MODES: &str = "vaes256vl";
/// Those with AVX-512, which have 32 vector registers; others have 16.
const WITH_32_REGISTERS: &[&str] = &["vaes512", "vaes256vl"];
/// Passes whose loops have no AES: their cipher is called once a message.
const WITHOUT_CIPHER: &[&str] = &["gcm::Mac", "gcm_siv::Authenticate", "julius::Hash"];
/// Programs that have no other pass.
const HASHES: &[&str] = &["gcm::Mac", "julius::Hash"];
/// Directions whose rows of neighbouring blocks are of four registers: while the second half of one waits,
/// the first half of the next is done.
const OF_FOUR: &[&str] = &["cobra::", "copa::", "julius::", "otr::"];
/// Directions in which every message has a key of its own, whatever the call's: their
/// loops are in `with_derived`.
const DERIVED_KEYS: &[&str] = &["gcm_siv::", "cpfb::", "silver::"];
/// Calls of AES for a row, in directions with more than one; or the cipher after its first round, which may come of
/// a table, beside the whole of it.
const CALLS: &[(&str, usize)] = &[
    ("ctr::", 2),
    ("ccm::Stream", 2),
    ("ccm::Crypt", 2),
    ("eax::", 2),
    ("cloc::", 2),
    ("silc::", 2),
    ("poet::", 3),
    ("otr::", 2),
    ("copa::", 2),
    ("cobra::", 2),
];

fn is_one_of(direction: &str, list: &[&str]) -> bool {
    let direction = without_modules(direction);
    list.iter().any(|start| direction.starts_with(start))
}

/// AES-128 has 10 rounds.
const ROUNDS: usize = 10;
/// A loop for all key sizes has 9 + 2 + 2 rounds and up to three last ones.
const MOST_ROUNDS: usize = 16;

/// A hot loop.
#[derive(Debug)]
pub struct Row {
    kernel: String,
    /// Place among the hot loops of the kernel.
    place: usize,
    /// First letter of the registers of its AES instructions.
    register: char,
    aes: usize,
    calls: usize,
    spills: usize,
    budget: usize,
    /// AES instructions whose key another chain has loaded, too.
    again: usize,
    /// Vector registers that the loop does not mention.
    free: usize,
}

#[derive(Debug, Default)]
pub struct Report {
    pub kernels: usize,
    pub rows: Vec<Row>,
    pub failures: Vec<String>,
}

/// `cbc::Encrypt, kernel, vaes512, 4`
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kernel<'a> {
    /// The instruction set, by its file.
    isa: &'a str,
    /// One of [`FUNCTIONS`].
    function: &'a str,
    /// In flight.
    registers: usize,
    /// The direction's type, with paths.
    direction: &'a str,
}

impl fmt::Display for Kernel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = without_modules(self.direction);
        let (function, isa, registers) = (self.function, self.isa, self.registers);
        write!(f, "{function} {isa} x{registers} {direction}")
    }
}

/// The instruction set that a function is the `run` or `run_with` of, by its file, and what it runs:
/// `<aescomb::isa::ni::AesNi as aescomb::isa::x86::InstructionSet>::run::<...>`
fn run(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix("<aescomb::isa::")?;
    let (set, rest) = rest.split_once("InstructionSet>::run")?;
    let rest = rest.strip_prefix("_with").unwrap_or(rest);
    Some((set.split("::").next()?, rest.strip_prefix("::<")?))
}

/// Of a `run::<aescomb::engine::kernel<aescomb::isa::x86::X86<aescomb::isa::ni::AesNi, 8, 8>,
/// aescomb::modes::cbc::Encrypt>::{closure#0}, ()>`, the order of the two parameters aside.
fn kernel(name: &str) -> Option<Kernel<'_>> {
    let (isa, rest) = run(name)?;
    let (inside, _) = rest.rsplit_once("::{closure")?;
    let (function, parameters) = FUNCTIONS.iter().find_map(|(module, function)| {
        let path = format!("aescomb::{module}::{function}");
        let (_, parameters) = inside.split_once(&path)?;
        let parameters = parameters.trim_start_matches(':').strip_prefix('<')?;
        Some((*function, parameters.strip_suffix('>')?))
    })?;
    // Tokens come first, of which the last is that of the call; then the direction.
    let (mut token, mut rest) = ("", parameters);
    while rest.starts_with("aescomb::isa::") {
        (token, rest) = rest.split_once(">, ")?;
    }
    let mut direction = rest;
    while let Some((first, number)) = direction.rsplit_once(", ")
        && (number.bytes().all(|b| b.is_ascii_digit()) || ["true", "false"].contains(&number))
    {
        direction = first;
    }
    Some(Kernel {
        isa,
        function,
        registers: token.split(", ").nth(1)?.parse().ok()?,
        direction,
    })
}

impl Instruction {
    /// Without the `v` of AVX.
    fn name(&self) -> &str {
        self.op.strip_prefix('v').unwrap_or(&self.op)
    }

    fn is_aes(&self) -> bool {
        self.name().starts_with("aes")
    }

    fn is_round(&self) -> bool {
        self.name().starts_with("aesenc") || self.name().starts_with("aesdec")
    }

    fn is_call(&self) -> bool {
        self.op.starts_with("call")
    }

    fn on_stack(&self) -> bool {
        self.args.contains("(%rsp") || self.args.contains("(%rbp")
    }

    /// Moves a vector to the stack: the register first, the memory last.
    fn is_spill(&self) -> bool {
        self.name().starts_with("mov")
            && self.on_stack()
            && self.args.ends_with(')')
            && vector(&self.args).is_some()
    }

    /// Where an AES round takes its key from, if from memory.
    fn key_in_memory(&self) -> Option<&str> {
        let (place, _) = self.args.split_once("), ")?;
        self.is_round().then_some(place)
    }

    /// What is called, demangled.
    fn callee(&self) -> String {
        let symbol = self.args.trim_start_matches('*');
        let symbol = symbol.split(['@', '(']).next().unwrap_or(symbol);
        format!("{:#}", rustc_demangle::demangle(symbol))
    }
}

/// First letter of the vector register that `operands` begin with.
fn vector(operands: &str) -> Option<char> {
    let name = operands.strip_prefix('%')?;
    let letter = name.chars().next()?;
    ("xyz".contains(letter) && name[1..].starts_with("mm")).then_some(letter)
}

/// AES rounds that load a key which another has loaded since the last branch: of another
/// chain, as a chain takes each key once. After a branch it may be the same chain, on its way
/// for another size of key.
fn loaded_again(body: &[&Instruction]) -> usize {
    let straight = body.split(|i| i.op.starts_with('j'));
    let again = straight.map(|part| {
        let keys = Vec::from_iter(part.iter().filter_map(|i| i.key_in_memory()));
        keys.len() - BTreeSet::from_iter(&keys).len()
    });
    again.sum()
}

/// Numbers of the vector registers that instructions mention.
fn mentioned(body: &[&Instruction]) -> BTreeSet<u8> {
    let words = body
        .iter()
        .flat_map(|i| i.args.split(|c: char| !c.is_ascii_alphanumeric()));
    let number = |word: &str| {
        word.strip_prefix(['x', 'y', 'z'])?
            .strip_prefix("mm")?
            .parse()
            .ok()
    };
    words.filter_map(number).collect()
}

/// Checks all functions of the crate.
pub fn check(functions: &[Function], expected: &Expected) -> Report {
    let mut report = Report::default();
    let mut kernels = BTreeSet::new();
    for function in functions {
        match kernel(&function.name) {
            Some(kernel) => {
                check_kernel(function, &kernel, expected, &mut report);
                kernels.insert(kernel);
            }
            None => check_other(function, &mut report),
        }
    }
    report.kernels = kernels.len();
    for isa in expected.sets.keys() {
        for name in ["kernel", "kernel_one"] {
            for direction in &expected.directions {
                let module = format!("::{}::", direction.module);
                for wanted in done_by(name, &direction.name) {
                    let has = |isa: &str, registers: Option<usize>| {
                        kernels.iter().any(|k| {
                            let direction = without_paths(k.direction);
                            (k.isa, k.function) == (isa, name)
                                && registers.is_none_or(|registers| k.registers == registers)
                                && (direction == wanted || direction == format!("After<{wanted}>"))
                                && k.direction.contains(&module)
                        })
                    };
                    let here = isa != FOR_SERIAL_MODES || has("vaes512", Some(8));
                    if here && !has(isa, None) {
                        report.failures.push(format!(
                            "no {name} of {}::{wanted} in isa/{isa}.rs",
                            direction.module
                        ));
                    }
                }
            }
        }
    }
    report
}

/// The directions of the kernels that do one: of `Apart<G, M, N>` there are those of M and N.
fn done_by<'d>(function: &str, direction: &'d str) -> Vec<&'d str> {
    match direction
        .strip_prefix("Apart<")
        .and_then(|passes| passes.strip_suffix('>'))
    {
        Some(passes) if function == "kernel" => arguments(passes).split_off(1),
        _ => vec![direction],
    }
}

/// `A<B, C>, D` as `A<B, C>` and `D`.
fn arguments(list: &str) -> Vec<&str> {
    let mut depth = 0;
    list.split(|c| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

fn check_other(function: &Function, report: &mut Report) {
    let name = &function.name;
    if run(name).is_none() && function.instructions().any(Instruction::is_aes) {
        report.failures.push(format!(
            "AES instructions that were not inlined into a kernel: {name}"
        ));
    }
}

fn check_kernel(
    function: &Function,
    kernel: &Kernel<'_>,
    expected: &Expected,
    report: &mut Report,
) {
    let mut fail = |message: String| report.failures.push(format!("{kernel}: {message}"));
    let Some(&register) = expected.sets.get(kernel.isa) else {
        return fail(format!("isa/{}.rs does not say its registers", kernel.isa));
    };
    for instruction in function.instructions().filter(|i| i.is_call()) {
        let callee = instruction.callee();
        let of_the_seam = [
            "aescomb::cipher::",
            "aescomb::isa::",
            "aescomb::modes::",
            "aescomb::pass::",
            "core_arch::",
        ]
        .iter()
        .any(|part| callee.contains(part));
        let apart = APART.iter().any(|part| callee.contains(part));
        if of_the_seam && !apart && !callee.contains("drop_in_place") {
            fail(format!("not inlined: {callee}"));
        }
    }
    let registers = match WITH_32_REGISTERS.contains(&kernel.isa) {
        true => 32,
        false => 16,
    };
    let mut rows = Vec::new();
    for body in function.innermost_loops() {
        let aes = body.iter().filter(|i| i.is_round());
        let Some(first) = aes.clone().next() else {
            continue;
        };
        let aes = aes.count();
        let target = first.args.rsplit(", ").next().and_then(vector);
        let calls = calls(kernel.direction);
        let most = MOST_ROUNDS * kernel.registers * calls;
        let is_line = register == 'z' && aes > most && aes <= most * LINE;
        if aes > most && !is_line {
            fail(format!(
                "hot loop {} has {aes} AES instructions, more than {MOST_ROUNDS} for each of {} registers",
                rows.len() + 1,
                kernel.registers
            ));
        }
        let calls_made = Vec::from_iter(body.iter().filter(|i| i.is_call()).map(|i| i.callee()));
        let row = Row {
            kernel: kernel.to_string(),
            place: rows.len() + 1,
            register: target.unwrap_or('?'),
            aes,
            calls: calls_made.len(),
            spills: body.iter().filter(|i| i.is_spill()).count(),
            budget: budget(kernel, is_line),
            again: loaded_again(&body),
            free: registers - mentioned(&body).len(),
        };
        if let Some(one) = calls_made.first() {
            fail(format!("hot loop {} calls {one}", row.place));
        }
        if row.spills > row.budget {
            fail(format!(
                "hot loop {} stores {} vectors to the stack, budget {}",
                row.place, row.spills, row.budget
            ));
        }
        // With one register more, LLVM cannot always do with a load less: it moves through it.
        if row.again > 0 && row.free > 1 {
            fail(format!(
                "hot loop {} has {} loads of keys that other chains load, too, and {} registers free",
                row.place, row.again, row.free
            ));
        }
        rows.push(row);
    }
    let along = ["neighbours", "by_themselves", "under_their_own"].contains(&kernel.function);
    let full = match along && is_one_of(kernel.direction, OF_FOUR) {
        true => ROUNDS * kernel.registers.min(4),
        false => ROUNDS * kernel.registers,
    };
    let without = match along {
        true => is_one_of(kernel.direction, WITHOUT_CIPHER),
        false => HASHES.contains(&&*without_modules(kernel.direction)),
    };
    if without && !rows.is_empty() {
        fail("has hot loops, and is listed as without".into());
    }
    let alone = ALONE.contains(&kernel.function);
    let (what, least) = match alone {
        true => (ROUNDS, 1),
        // One for all messages under one key, and one for those with keys of their own.
        false if kernel.function == "kernel" => (full, 2),
        false => (full, 1),
    };
    let derived = is_one_of(kernel.direction, DERIVED_KEYS) && kernel.function == "kernel";
    let found = rows
        .iter()
        .filter(|r| alone || r.register == register)
        .filter(|r| r.aes >= what)
        .count();
    if !without && !derived && found < least {
        fail(format!(
            "{found} hot loops with {what} AES instructions, {least} expected"
        ));
    }
    report.rows.extend(rows);
}

/// Calls of AES for a block.
fn calls(direction: &str) -> usize {
    let direction = without_modules(direction);
    let of_direction = CALLS.iter().find(|(d, _)| direction.starts_with(d));
    of_direction.map_or(1, |(_, calls)| *calls)
}

fn budget(kernel: &Kernel<'_>, is_line: bool) -> usize {
    let direction = without_modules(kernel.direction);
    if is_line {
        let of_direction = LINE_BUDGETS.iter().find(|(d, _)| direction.starts_with(d));
        return of_direction.map_or(0, |(_, budget)| *budget);
    }
    let of_direction = BUDGETS.iter().find(|(d, _)| direction.starts_with(d));
    let of_token = (TOKENS.iter()).position(|token| *token == (kernel.isa, kernel.registers));
    match (of_direction, of_token) {
        (Some((_, budgets)), Some(token)) => budgets[token],
        _ => 0,
    }
}

/// `pkcs7::Padded<cbc::Encrypt>`; of two passes `siv::Crypt, siv::Authenticate`.
fn without_modules(direction: &str) -> String {
    let mut passes = direction;
    for program in ["Apart<", "After<", "Two<", "Data<"] {
        let program = format!("aescomb::pass::{program}");
        if let Some(inner) = passes.strip_prefix(&*program) {
            passes = inner.strip_suffix('>').unwrap_or(inner);
        }
    }
    passes.replace("aescomb::modes::", "")
}

/// The rows for people.
pub fn table(rows: &[Row]) -> String {
    let mut out = format!(
        "{:<52} {:>4} {:>3} {:>4} {:>5} {:>6} {:>6} {:>5} {:>4}\n",
        "kernel", "loop", "reg", "AES", "calls", "spills", "budget", "again", "free"
    );
    for row in rows {
        out.push_str(&format!(
            "{:<52} {:>4} {}mm {:>4} {:>5} {:>6} {:>6} {:>5} {:>4}\n",
            row.kernel,
            row.place,
            row.register,
            row.aes,
            row.calls,
            row.spills,
            row.budget,
            row.again,
            row.free
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm;
    use crate::source::Direction;
    use std::collections::BTreeMap;

    /// Two registers in flight, so that snippets are short.
    const NAME: &str = "_RINvXNtNtCsgHGhRHhuFlx_7aescomb3isa2niNtB3_5AesNiNtNtB5_3x8614InstructionSet3runu\
                        NCINvNtB7_6engine6kernelINtBN_3X86BA_Kj2_ENtNtNtB7_5modes3cbc7EncryptE0EB7_";

    fn expected() -> Expected {
        Expected {
            sets: BTreeMap::from([("ni".into(), 'x')]),
            directions: BTreeSet::from([Direction {
                module: "cbc".into(),
                name: "Encrypt".into(),
            }]),
        }
    }

    /// A kernel of two hot loops, with `extra` in the first.
    fn kernel_with(extra: &str) -> String {
        let shared = "\taesenc %xmm1, %xmm0\n".repeat(20);
        let each = "\tmovdqa (%rax), %xmm1\n\taesenc %xmm1, %xmm0\n".repeat(20);
        let body = format!(
            "\t.cfi_startproc\n.LBB0_1:\n{shared}{extra}\tjne .LBB0_1\n\
             .LBB0_2:\n\tmovdqu (%rcx), %xmm2\n{each}\tjne .LBB0_2\n\tretq\n\t.cfi_endproc\n"
        );
        let alone = NAME.replace("6kernel", "10kernel_one");
        format!("{NAME}:\n{body}{alone}:\n{body}")
    }

    fn failures(text: &str) -> Vec<String> {
        check(&asm::parse(text), &expected()).failures
    }

    #[test]
    fn a_good_kernel_passes() {
        let report = check(&asm::parse(&kernel_with("")), &expected());
        assert_eq!(report.failures, [""; 0]);
        assert_eq!((report.kernels, report.rows.len()), (2, 4));
        assert_eq!(report.rows[0].kernel, "kernel ni x2 cbc::Encrypt");
    }

    #[test]
    fn a_call_in_a_loop_is_flagged() {
        let found = failures(&kernel_with("\tcallq *memcpy@GOTPCREL(%rip)\n"));
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("hot loop 1 calls memcpy"), "{found:?}");
    }

    #[test]
    fn a_spill_beyond_the_budget_is_flagged() {
        let found = failures(&kernel_with("\tmovaps %xmm0, 16(%rsp)\n"));
        assert!(found[0].contains("stores 1 vectors"), "{found:?}");
        // Not a spill: a reload, and a store elsewhere.
        let other = "\tmovaps 16(%rsp), %xmm0\n\tmovdqu %xmm0, (%rdx,%rax)\n";
        assert_eq!(failures(&kernel_with(other)), [""; 0]);
    }

    #[test]
    fn a_key_that_each_chain_loads_is_flagged() {
        let twice = "\taesenc 16(%rax), %xmm0\n\taesenc 16(%rax), %xmm2\n";
        let found = failures(&kernel_with(twice));
        assert_eq!(found.len(), 2);
        assert!(
            found[0].ends_with(
                "has 1 loads of keys that other chains load, too, and 13 registers free"
            ),
            "{found:?}"
        );
        // With a destination of its own, as AVX has it.
        let found = failures(&kernel_with(&twice.replace("%xmm2", "%xmm2, %xmm2")));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_key_that_has_to_be_loaded_is_not() {
        let twice = "\taesenc 16(%rax), %xmm0\n\taesenc 16(%rax), %xmm2\n";
        // No register is free.
        let all: String = (0..16)
            .map(|n| format!("\tpxor %xmm{n}, %xmm{n}\n"))
            .collect();
        assert_eq!(failures(&kernel_with(&(all + twice))), [""; 0]);
        // Keys of two lanes; and one chain, which goes another way for each size of key.
        let ways = twice.replacen("xmm0\n", "xmm0\n\tjmp .LBB0_1\n", 1);
        for other in [twice.replacen("16", "32", 1), ways] {
            assert_eq!(failures(&kernel_with(&other)), [""; 0]);
        }
    }

    #[test]
    fn a_loop_without_the_cipher_is_flagged() {
        let text = kernel_with("").replace("aesenc", "pxor");
        let found = failures(&text);
        assert!(found[0].contains("0 hot loops with 20"), "{found:?}");
    }

    #[test]
    fn an_unrolled_loop_is_flagged() {
        let found = failures(&kernel_with(&"\taesenc %xmm1, %xmm0\n".repeat(13)));
        assert!(found[0].contains("has 33 AES"), "{found:?}");
    }

    #[test]
    fn passes_that_are_apart() {
        let direction = "Apart<Two<A, B<1>>, A, B<1>>";
        assert_eq!(done_by("kernel", direction), ["A", "B<1>"]);
        assert_eq!(done_by("kernel_one", direction), [direction]);
        assert_eq!(done_by("kernel", "Two<A, B>"), ["Two<A, B>"]);
    }

    #[test]
    fn a_missing_kernel_is_flagged() {
        assert_eq!(
            failures(""),
            [
                "no kernel of cbc::Encrypt in isa/ni.rs",
                "no kernel_one of cbc::Encrypt in isa/ni.rs"
            ]
        );
    }

    #[test]
    fn an_intrinsic_left_outside_is_flagged() {
        let text = kernel_with("")
            + "_RNvNtCs_7aescomb5group4step:\n\t.cfi_startproc\n\taesenc %xmm1, %xmm0\n\
               \tretq\n\t.cfi_endproc\n";
        let found = failures(&text);
        assert!(found[0].ends_with("aescomb::group::step"), "{found:?}");
    }

    #[test]
    fn a_helper_called_outside_the_loops_is_flagged() {
        let text = kernel_with("").replace("\tretq", "\tcallq _RNvNtCs_7aescomb3isa4pack\n\tretq");
        let found = failures(&text);
        assert!(
            found[0].ends_with("not inlined: aescomb::isa::pack"),
            "{found:?}"
        );
    }
}
