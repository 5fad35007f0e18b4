//! Reads x86-64 assembly as LLVM and `object.rs` print it (AT&T syntax): functions, and the
//! loops of a function from its control flow.
//!
//! ```text
//! basic blocks and their successors
//! a strongly connected set of blocks is a loop
//! without the edges back to its entries, its strongly connected sets are the
//! loops inside it
//! ```
//!
//! Blocks that leave a loop for good, such as the call of a panic, are in no
//! cycle and so in no loop, wherever the compiler has put them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub op: String,
    pub args: String,
}

/// A function: its instructions in basic blocks.
#[derive(Debug)]
pub struct Function {
    /// Demangled.
    pub name: String,
    blocks: Vec<Block>,
}

#[derive(Debug, Default)]
struct Block {
    instructions: Vec<Instruction>,
    next: Vec<usize>,
}

impl Function {
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks.iter().flat_map(|b| &b.instructions)
    }

    /// The loops that have no loop inside them, in the order of their lines: the
    /// instructions of each.
    pub fn innermost_loops(&self) -> Vec<Vec<&Instruction>> {
        let all: BTreeSet<usize> = (0..self.blocks.len()).collect();
        let mut found = Vec::new();
        self.loops_in(&all, &BTreeSet::new(), &mut found);
        found.sort();
        found
            .into_iter()
            .map(|blocks| {
                blocks
                    .into_iter()
                    .flat_map(|b| &self.blocks[b].instructions)
                    .collect()
            })
            .collect()
    }

    /// Appends the innermost loops among `blocks`, where edges to `cut` do not
    /// count; says whether there is any loop.
    fn loops_in(
        &self,
        blocks: &BTreeSet<usize>,
        cut: &BTreeSet<usize>,
        found: &mut Vec<BTreeSet<usize>>,
    ) -> bool {
        let next = |b: usize| {
            let inside = |n: &usize| blocks.contains(n) && !cut.contains(n);
            self.blocks[b].next.iter().copied().filter(inside)
        };
        let mut any = false;
        for component in components(blocks, next) {
            let first = *component.first().expect("a component has a block");
            if component.len() == 1 && !next(first).any(|n| n == first) {
                continue;
            }
            any = true;
            let mut entries: BTreeSet<usize> = (0..self.blocks.len())
                .filter(|b| !component.contains(b))
                .flat_map(|b| self.blocks[b].next.iter().copied())
                .filter(|n| component.contains(n))
                .collect();
            entries.extend(cut.intersection(&component));
            if entries.is_empty() {
                entries.insert(first);
            }
            if !self.loops_in(&component, &entries, found) {
                found.push(component);
            }
        }
        any
    }
}

/// Strongly connected components, by Tarjan's algorithm without recursion.
fn components<I: Iterator<Item = usize>>(
    blocks: &BTreeSet<usize>,
    next: impl Fn(usize) -> I,
) -> Vec<BTreeSet<usize>> {
    let mut order: HashMap<usize, usize> = HashMap::new();
    let mut low: HashMap<usize, usize> = HashMap::new();
    let mut open = Vec::new();
    let mut is_open = BTreeSet::new();
    let mut out = Vec::new();
    for &root in blocks {
        if order.contains_key(&root) {
            continue;
        }
        let mut path = vec![(root, next(root))];
        order.insert(root, order.len());
        low.insert(root, order[&root]);
        open.push(root);
        is_open.insert(root);
        while let Some((b, successors)) = path.last_mut() {
            let b = *b;
            if let Some(n) = successors.next() {
                if !order.contains_key(&n) {
                    order.insert(n, order.len());
                    low.insert(n, order[&n]);
                    open.push(n);
                    is_open.insert(n);
                    path.push((n, next(n)));
                } else if is_open.contains(&n) {
                    low.insert(b, low[&b].min(order[&n]));
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                low.insert(*parent, low[parent].min(low[&b]));
            }
            if low[&b] == order[&b] {
                let mut component = BTreeSet::new();
                while let Some(member) = open.pop() {
                    is_open.remove(&member);
                    component.insert(member);
                    if member == b {
                        break;
                    }
                }
                out.push(component);
            }
        }
    }
    out
}

/// The functions of an assembly file.
pub fn parse(text: &str) -> Vec<Function> {
    let tables = jump_tables(text);
    let mut functions = Vec::new();
    let mut symbol = "";
    let mut lines: Option<Vec<&str>> = None;
    for line in text.lines() {
        match line.trim() {
            ".cfi_startproc" => lines = Some(Vec::new()),
            ".cfi_endproc" => {
                if let Some(lines) = lines.take() {
                    functions.push(function(symbol, &lines, &tables));
                }
            }
            _ => match (&mut lines, label(line)) {
                (Some(lines), _) => lines.push(line),
                (None, Some(name)) if !name.starts_with(".L") => symbol = name,
                _ => {}
            },
        }
    }
    functions
}

fn label(line: &str) -> Option<&str> {
    let line = line.split('#').next()?.trim_end();
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    line.strip_suffix(':').map(|name| name.trim_matches('"'))
}

/// Targets of jump tables, by the number of the function: `.LJTI7_0` and
/// `.LBB7_3` belong to function 7.
fn jump_tables(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut tables: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(name) = label(line) {
            current = name
                .strip_prefix(".LJTI")
                .and_then(|rest| rest.split('_').next());
        } else if let Some(number) = current {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some(".long" | ".quad"), Some(value)) => {
                    let target = value.split('-').next().unwrap_or(value);
                    tables.entry(number).or_default().insert(target);
                }
                _ => current = None,
            }
        }
    }
    tables
}

fn function(symbol: &str, lines: &[&str], tables: &BTreeMap<&str, BTreeSet<&str>>) -> Function {
    let mut blocks = vec![Block::default()];
    let mut places: HashMap<&str, usize> = HashMap::new();
    // Of every block, where it jumps, and whether it also goes on to the next.
    let mut ends = vec![(None, true)];
    for line in lines {
        let mut here = blocks.len() - 1;
        if let Some(name) = label(line) {
            if !blocks[here].instructions.is_empty() {
                blocks.push(Block::default());
                ends.push((None, true));
                here += 1;
            }
            places.insert(name, here);
            continue;
        }
        let line = line.split('#').next().unwrap_or(line).trim();
        if line.is_empty() || line.starts_with('.') {
            continue;
        }
        let (op, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let args = args.trim();
        blocks[here].instructions.push(Instruction {
            op: op.to_owned(),
            args: args.to_owned(),
        });
        let jumps = op.starts_with('j');
        // After a panic there may be no instruction that says so.
        let panics = op.starts_with("call") && args.contains("9panicking");
        let goes_on = !panics
            && !["jmp", "ret", "ud2", "hlt"]
                .iter()
                .any(|end| op.starts_with(end));
        if jumps || !goes_on {
            ends[here] = (jumps.then_some(args), goes_on);
            blocks.push(Block::default());
            ends.push((None, true));
        }
    }
    let number = places.keys().find_map(|name| {
        let rest = name.strip_prefix(".LBB")?;
        rest.split('_').next()
    });
    let table = number.and_then(|n| tables.get(n));
    for (b, (jump, goes_on)) in ends.into_iter().enumerate() {
        let mut next = BTreeSet::new();
        if goes_on && b + 1 < blocks.len() {
            next.insert(b + 1);
        }
        match jump {
            Some(jump) if jump.starts_with('*') => {
                let targets = table.into_iter().flatten();
                next.extend(targets.filter_map(|t| places.get(t)));
            }
            Some(jump) => next.extend(places.get(jump)),
            None => {}
        }
        blocks[b].next = next.into_iter().collect();
    }
    Function {
        name: format!("{:#}", rustc_demangle::demangle(symbol)),
        blocks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(body: &str) -> Vec<Vec<String>> {
        let text = format!("f:\n\t.cfi_startproc\n{body}\t.cfi_endproc\n");
        let functions = parse(&text);
        assert_eq!(functions.len(), 1);
        functions[0]
            .innermost_loops()
            .into_iter()
            .map(|body| body.into_iter().map(|i| i.op.clone()).collect())
            .collect()
    }

    #[test]
    fn straight_code_has_no_loop() {
        assert!(loops("\tpushq %rax\n\tjmp .LBB0_1\n.LBB0_1:\n\tretq\n").is_empty());
    }

    #[test]
    fn a_call_in_a_loop_is_in_it() {
        let found = loops(".LBB0_1:\n\taesenc %xmm1, %xmm0\n\tcallq g\n\tjne .LBB0_1\n\tretq\n");
        assert_eq!(found, [["aesenc", "callq", "jne"]]);
    }

    /// A panic block amid the loop's lines leaves it for good.
    #[test]
    fn a_call_that_never_comes_back_is_not() {
        let found = loops(
            ".LBB0_1:\n\taesenc %xmm1, %xmm0\n\tjb .LBB0_3\n\tcallq panic\n\tud2\n\
             .LBB0_3:\n\tdecq %rax\n\tjne .LBB0_1\n\tretq\n",
        );
        assert_eq!(found, [["aesenc", "jb", "decq", "jne"]]);
    }

    #[test]
    fn a_panic_never_comes_back() {
        let found = loops(
            ".LBB0_1:\n\taesenc %xmm1, %xmm0\n\tjb .LBB0_3\n\
             \tcallq *_ZN4core9panicking5panic17h0E@GOTPCREL(%rip)\n\
             .LBB0_3:\n\tdecq %rax\n\tjne .LBB0_1\n\tretq\n",
        );
        assert_eq!(found, [["aesenc", "jb", "decq", "jne"]]);
    }

    /// A block of the loop that stands after the function's end is in it.
    #[test]
    fn blocks_far_away_are_found() {
        let found = loops(
            ".LBB0_1:\n\taesenc %xmm1, %xmm0\n\tjb .LBB0_3\n.LBB0_2:\n\tjne .LBB0_1\n\tretq\n\
             .LBB0_3:\n\tcallq g\n\tjmp .LBB0_2\n",
        );
        assert_eq!(found, [["aesenc", "jb", "jne", "callq", "jmp"]]);
    }

    #[test]
    fn only_the_inner_of_two_loops() {
        let found = loops(
            ".LBB0_1:\n\tcallq g\n.LBB0_2:\n\taesenc %xmm1, %xmm0\n\tjne .LBB0_2\n\
             \tjb .LBB0_1\n\tretq\n",
        );
        assert_eq!(found, [["aesenc", "jne"]]);
    }

    /// Key sizes by two branches: one loop with several edges back.
    #[test]
    fn edges_back_from_several_places() {
        let found = loops(
            ".LBB0_1:\n\taesenc %xmm1, %xmm0\n\tje .LBB0_2\n\taesenclast %xmm2, %xmm0\n\
             \tjmp .LBB0_1\n.LBB0_2:\n\taesdec %xmm2, %xmm0\n\tjb .LBB0_1\n\tretq\n",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].len(), 6);
    }

    #[test]
    fn jump_tables_are_followed() {
        let found = loops(
            ".LBB0_1:\n\tjmpq *%rax\n.LBB0_2:\n\tcallq g\n\tjmp .LBB0_1\n\
             .LBB0_3:\n\tretq\n",
        );
        assert!(found.is_empty(), "no table, no way on");
        let text = "f:\n\t.cfi_startproc\n.LBB0_1:\n\tjmpq\t*%rax\n.LBB0_2:\n\tcallq\tg\n\
                    \tjmp\t.LBB0_1\n.LBB0_3:\n\tretq\n\t.cfi_endproc\n\
                    .LJTI0_0:\n\t.long\t.LBB0_2-.LJTI0_0\n\t.long\t.LBB0_3-.LJTI0_0\n";
        let functions = parse(text);
        assert_eq!(functions[0].innermost_loops().len(), 1);
    }

    #[test]
    fn names_are_demangled() {
        let text = "_RNvC7mycrate3foo:\n\t.cfi_startproc\n\tretq\n\t.cfi_endproc\n";
        assert_eq!(parse(text)[0].name, "mycrate::foo");
    }
}
