//! The machine code of a library, an archive of ELF objects, as the assembly that `asm.rs` reads: what
//! is checked is what tests are linked with, and nothing is compiled once more for it.
//!
//! ```text
//! a function is a symbol with code; what it jumps to in itself gets a label
//! what it calls is named by a relocation
//! a jump table has differences between places in the function and its own beginning, which the
//! function's code names
//! ```

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, Instruction, Mnemonic,
};
use object::read::archive::ArchiveFile;
use object::read::elf::{ElfFile64, ElfSection64};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What a relocation names, and where that is: a section's number, and a place in it. Of symbols of
/// other objects that is not known.
struct Target<'a> {
    name: &'a str,
    place: Option<(usize, i64)>,
}

/// The targets of a section by where they stand.
type Targets<'a> = BTreeMap<u64, Target<'a>>;

/// Addresses relative to the end of an instruction are its last four bytes, and relocations
/// count from where these begin.
const TO_END: i64 = 4;

/// The functions of all objects of an archive.
pub fn assembly(archive: &[u8]) -> Result<String> {
    let mut text = String::new();
    let mut number = 0;
    for member in ArchiveFile::parse(archive)?.members() {
        let member = member?;
        if !member.name().ends_with(b".o") {
            continue;
        }
        let file = ElfFile64::parse(member.data(archive)?)?;
        let mut targets = BTreeMap::new();
        for section in file.sections() {
            targets.insert(section.index().0, targets_of(&file, &section)?);
        }
        let mut functions = BTreeMap::new();
        for symbol in file.symbols() {
            if let (SymbolKind::Text, Some(section)) = (symbol.kind(), symbol.section_index()) {
                // Equal functions are one with several names.
                functions
                    .entry((section.0, symbol.address()))
                    .or_insert(symbol);
            }
        }
        let code = BTreeSet::from_iter(functions.keys().map(|(section, _)| *section));
        let tables = jump_tables(&code, &targets);
        for ((section, start), symbol) in functions {
            let data = file.section_by_index(SectionIndex(section))?;
            let bytes = data.data_range(start, symbol.size())?;
            let function = Function {
                number,
                name: symbol.name()?,
                start,
                bytes: bytes.ok_or("a function that is not in its section")?,
                targets: &targets[&section],
                table: tables.get(&section),
            };
            function.print(&mut text);
            number += 1;
        }
    }
    Ok(text)
}

fn targets_of<'a>(file: &ElfFile64<'a>, section: &ElfSection64<'a, '_>) -> Result<Targets<'a>> {
    let mut targets = Targets::new();
    for (at, relocation) in section.relocations() {
        let RelocationTarget::Symbol(symbol) = relocation.target() else {
            continue;
        };
        let symbol = file.symbol_by_index(symbol)?;
        let place = i64::try_from(symbol.address())? + relocation.addend();
        let target = Target {
            name: symbol.name()?,
            place: symbol.section_index().map(|section| (section.0, place)),
        };
        targets.insert(at, target);
    }
    Ok(targets)
}

/// Where the jump tables of sections of `code` lead, as places in these.
fn jump_tables(
    code: &BTreeSet<usize>,
    targets: &BTreeMap<usize, Targets<'_>>,
) -> BTreeMap<usize, BTreeSet<u64>> {
    let mut begins: BTreeMap<_, BTreeSet<i64>> = BTreeMap::new();
    for from in code {
        for (section, place) in targets[from].values().filter_map(|target| target.place) {
            let begins = begins.entry((*from, section)).or_default();
            begins.insert(place + TO_END);
        }
    }
    let mut tables: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    for (constants, entries) in targets
        .iter()
        .filter(|(section, _)| !code.contains(section))
    {
        for (at, target) in entries {
            let at = *at as i64;
            if let Some((to, place)) = target.place
                && let Some(begins) = begins.get(&(to, *constants))
                && let Some(begin) = begins.range(..=at).last()
                && let Ok(place) = u64::try_from(place - (at - begin))
            {
                tables.entry(to).or_default().insert(place);
            }
        }
    }
    tables
}

struct Function<'a> {
    number: usize,
    name: &'a str,
    /// Where it begins in its section.
    start: u64,
    bytes: &'a [u8],
    /// Its section's.
    targets: &'a Targets<'a>,
    table: Option<&'a BTreeSet<u64>>,
}

impl Function<'_> {
    fn print(&self, text: &mut String) {
        let decoder = || Decoder::with_ip(64, self.bytes, self.start, DecoderOptions::NONE);
        let inside = self.start..self.start + self.bytes.len() as u64;
        let label = |place: u64| format!(".LBB{}_{place:x}", self.number);
        let tabled = Vec::from_iter(
            (self.table.into_iter().flatten()).filter(|place| inside.contains(place)),
        );
        let mut labels = BTreeSet::from_iter(tabled.iter().map(|place| **place));
        labels.extend(decoder().iter().filter_map(|i| self.jump(&i)));
        let mut formatter = GasFormatter::new();
        let options = formatter.options_mut();
        options.set_space_after_operand_separator(true);
        options.set_rip_relative_addresses(true);
        *text += &format!("{}:\n.cfi_startproc\n", self.name);
        for instruction in &mut decoder() {
            if labels.contains(&instruction.ip()) {
                *text += &format!("{}:\n", label(instruction.ip()));
            }
            // Padding, which nothing leads to.
            if instruction.mnemonic() == Mnemonic::Nop {
                continue;
            }
            *text += "\t";
            let named = self
                .targets
                .range(instruction.ip()..instruction.next_ip())
                .next();
            match (self.jump(&instruction), instruction.flow_control(), named) {
                (Some(place), ..) => {
                    formatter.format_mnemonic(&instruction, text);
                    *text += &format!(" {}", label(place));
                }
                (_, FlowControl::Call | FlowControl::UnconditionalBranch, Some((_, target))) => {
                    formatter.format_mnemonic(&instruction, text);
                    *text += &format!(" {}", target.name);
                }
                (_, FlowControl::IndirectCall, Some((_, target))) => {
                    *text += &format!("call *{}@GOTPCREL(%rip)", target.name);
                }
                (.., Some((_, target))) if instruction.is_ip_rel_memory_operand() => {
                    let mut line = String::new();
                    formatter.format(&instruction, &mut line);
                    let place = target.place.map_or(0, |(_, place)| place + TO_END);
                    *text += &line.replace("(%rip)", &format!("{}+{place}(%rip)", target.name));
                }
                _ => formatter.format(&instruction, text),
            }
            *text += "\n";
        }
        *text += ".cfi_endproc\n";
        if !tabled.is_empty() {
            *text += &format!(".LJTI{}_0:\n", self.number);
            for place in tabled {
                *text += &format!("\t.long {}\n", label(*place));
            }
        }
    }

    /// Where an instruction jumps to in the same function.
    fn jump(&self, instruction: &Instruction) -> Option<u64> {
        let jumps = matches!(
            instruction.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        );
        let range = instruction.ip()..instruction.next_ip();
        let inside = jumps && self.targets.range(range).next().is_none();
        inside.then(|| instruction.near_branch_target())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::write::{Object, Relocation, StandardSection, Symbol, SymbolId, SymbolSection};
    use object::{Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags};
    use object::{RelocationKind, SymbolFlags, SymbolScope};

    fn symbol(name: &str, section: SymbolSection, size: usize) -> Symbol {
        Symbol {
            name: name.into(),
            value: 0,
            size: size as u64,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section,
            flags: SymbolFlags::None,
        }
    }

    fn relative(offset: u64, symbol: SymbolId, addend: i64) -> Relocation {
        Relocation {
            offset,
            symbol,
            addend,
            flags: RelocationFlags::Generic {
                kind: RelocationKind::Relative,
                encoding: RelocationEncoding::Generic,
                size: 32,
            },
        }
    }

    /// An archive with one object: its name's 16 bytes, 32 that say nothing here, its size.
    fn archive(object: &[u8]) -> Vec<u8> {
        let header = format!("!<arch>\n{:<16}{:<32}{:<10}`\n", "f.o/", "", object.len());
        [header.as_bytes(), object].concat()
    }

    #[test]
    fn jumps_calls_tables_and_padding() -> Result<()> {
        let code = [
            &[0x48, 0x8d, 0x05, 0, 0, 0, 0][..], // lea table(%rip), %rax
            &[0xff, 0xe0],                       // jmp *%rax
            &[0x90],                             // nop
            &[0xff, 0xc8],                       // dec %eax, where the table leads
            &[0x75, 0xfc],                       // jne to the dec
            &[0xe8, 0, 0, 0, 0],                 // call elsewhere
            &[0xc3],                             // ret
        ]
        .concat();
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let text = object.section_id(StandardSection::Text);
        let constants = object.section_id(StandardSection::ReadOnlyData);
        object.append_section_data(text, &code, 16);
        object.append_section_data(constants, &[0; 12], 4);
        // Two names of one function.
        for name in ["first", "second"] {
            object.add_symbol(symbol(name, SymbolSection::Section(text), code.len()));
        }
        let elsewhere = object.add_symbol(symbol("elsewhere", SymbolSection::Undefined, 0));
        let (code, table) = (
            object.section_symbol(text),
            object.section_symbol(constants),
        );
        // The table is the second of the section's three words, and the third.
        object.add_relocation(text, relative(3, table, 4 - TO_END))?;
        object.add_relocation(text, relative(15, elsewhere, -TO_END))?;
        object.add_relocation(constants, relative(4, code, 10))?;
        object.add_relocation(constants, relative(8, code, 14 + 4))?;
        let expected = "first:\n.cfi_startproc\n\
            \tlea +4(%rip), %rax\n\tjmp *%rax\n\
            .LBB0_a:\n\tdec %eax\n\tjne .LBB0_a\n\
            .LBB0_e:\n\tcall elsewhere\n\tret\n.cfi_endproc\n\
            .LJTI0_0:\n\t.long .LBB0_a\n\t.long .LBB0_e\n";
        assert_eq!(assembly(&archive(&object.write()?))?, expected);
        Ok(())
    }

    #[test]
    fn what_is_no_archive() {
        assert!(assembly(b"no archive").is_err());
        assert!(assembly(&archive(b"no object!")).is_err());
    }
}
