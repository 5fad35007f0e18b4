//! Counts the instructions that a program executes: exactly, the same in every run, and
//! without hardware counters, which virtual machines seldom have.
//!
//! Single steps would do, but each is a trap to the virtual machine's host, 50 µs on some.
//! So the program runs from one branch to the next, stopped by breakpoints:
//!
//! ```text
//! from where it stands, decode up to an instruction that may go to several places
//! put a breakpoint there, and run
//! do by hand what the instruction does: set where to go on, and for a call or a
//! return the stack
//! ```
//!
//! A string instruction counts once, however often it repeats.

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};
use nix::libc::{SYS_write, user_regs_struct};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Runs a program that reads a line, `input`, and then writes lines, each in one system call.
/// What it executes after a line, up to the next, which must be empty, is the line's.
pub fn counts(program: &mut Command, input: &str) -> Result<Vec<(String, u64)>> {
    trace(program, input, Program::count)
}

/// The same, as `count` counts.
fn trace(
    program: &mut Command,
    input: &str,
    count: impl Fn(&mut Program) -> Result<u64>,
) -> Result<Vec<(String, u64)>> {
    // Each stop wakes the other process: on one core that is quickest.
    let mine = Pid::from_raw(0);
    let allowed = sched_getaffinity(mine)?;
    let mut one = CpuSet::new();
    let last = (0..CpuSet::count()).rfind(|core| allowed.is_set(*core) == Ok(true));
    one.set(last.ok_or("no core to run on")?)?;
    sched_setaffinity(mine, &one)?;
    let mut child = program
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    ptrace::seize(
        pid,
        ptrace::Options::PTRACE_O_TRACESYSGOOD | ptrace::Options::PTRACE_O_EXITKILL,
    )?;
    ptrace::interrupt(pid)?;
    waitpid(pid, None)?;
    writeln!(stdin, "{input}")?;
    let memory = File::options()
        .read(true)
        .write(true)
        .open(format!("/proc/{pid}/mem"))?;
    let mut program = Program {
        pid,
        memory,
        stretches: HashMap::new(),
        breakpoints: HashMap::new(),
    };
    let mut counts = Vec::new();
    while program.to_system_call()? {
        let line = program.line()?;
        if !program.to_system_call()? {
            break;
        }
        let Some(line) = line.filter(|line| !line.is_empty()) else {
            continue;
        };
        let count = count(&mut program)?;
        if program.line()?.as_deref() != Some("") {
            return Err(format!("{line}: a system call of another kind than its end").into());
        }
        counts.push((line, count));
        program.to_system_call()?;
    }
    Ok(counts)
}

/// Instructions that are executed one after the other, whatever the registers hold.
#[derive(Clone, Copy)]
struct Stretch {
    count: u64,
    /// The last of them, which may go to several places; none before a system call.
    branch: Option<Instruction>,
}

/// A program that has stopped.
struct Program {
    pid: Pid,
    memory: File,
    /// By the address of the first instruction.
    stretches: HashMap<u64, Stretch>,
    /// The bytes whose places they take.
    breakpoints: HashMap<u64, u8>,
}

/// What a processor does at a breakpoint.
const BREAKPOINT: u8 = 0xcc;

impl Program {
    /// Runs it until it begins or ends a system call; not if it has ended.
    fn to_system_call(&self) -> Result<bool> {
        ptrace::syscall(self.pid, None)?;
        match waitpid(self.pid, None)? {
            WaitStatus::PtraceSyscall(_) => Ok(true),
            WaitStatus::Exited(_, 0) => Ok(false),
            other => Err(format!("it stopped: {other:?}").into()),
        }
    }

    /// The line that the system call writes, without its end.
    fn line(&self) -> Result<Option<String>> {
        let registers = ptrace::getregs(self.pid)?;
        if (registers.orig_rax, registers.rdi) != (SYS_write as u64, 1) {
            return Ok(None);
        }
        let mut bytes = vec![0; usize::try_from(registers.rdx)?];
        self.memory.read_exact_at(&mut bytes, registers.rsi)?;
        Ok(Some(String::from_utf8(bytes)?.trim_end().to_owned()))
    }

    /// Runs it up to its next system call: how many instructions that takes.
    fn count(&mut self) -> Result<u64> {
        let mut count = 0;
        let mut registers = ptrace::getregs(self.pid)?;
        loop {
            let stretch = self.stretch(registers.rip)?;
            count += stretch.count;
            ptrace::syscall(self.pid, None)?;
            match (waitpid(self.pid, None)?, &stretch.branch) {
                (WaitStatus::PtraceSyscall(_), None) => break,
                (WaitStatus::Stopped(_, Signal::SIGTRAP), Some(branch)) => {
                    registers = ptrace::getregs(self.pid)?;
                    self.take(branch, &mut registers)?;
                    ptrace::setregs(self.pid, registers)?;
                }
                (other, _) => return Err(format!("it stopped: {other:?}").into()),
            }
        }
        for (place, byte) in self.breakpoints.drain() {
            self.memory.write_all_at(&[byte], place)?;
        }
        Ok(count)
    }

    /// The instructions from `place` on, with a breakpoint at their end.
    fn stretch(&mut self, place: u64) -> Result<Stretch> {
        let stretch = match self.stretches.get(&place) {
            Some(stretch) => *stretch,
            None => self.decode(place)?,
        };
        self.stretches.insert(place, stretch);
        if let Some(branch) = &stretch.branch
            && !self.breakpoints.contains_key(&branch.ip())
        {
            let mut byte = [0];
            self.memory.read_exact_at(&mut byte, branch.ip())?;
            self.memory.write_all_at(&[BREAKPOINT], branch.ip())?;
            self.breakpoints.insert(branch.ip(), byte[0]);
        }
        Ok(stretch)
    }

    fn decode(&self, mut place: u64) -> Result<Stretch> {
        let mut count = 0;
        loop {
            let mut bytes = [0; 15];
            // Fewer at the end of a mapping.
            let len = self.memory.read_at(&mut bytes, place)?;
            if let Some(byte) = self.breakpoints.get(&place) {
                bytes[0] = *byte;
            }
            let decoder = &mut Decoder::with_ip(64, &bytes[..len], place, DecoderOptions::NONE);
            let instruction = decoder.decode();
            count += 1;
            place = match instruction.flow_control() {
                FlowControl::Next => instruction.next_ip(),
                FlowControl::Call if instruction.mnemonic() == Mnemonic::Syscall => {
                    let branch = None;
                    return Ok(Stretch { count, branch });
                }
                FlowControl::Call | FlowControl::UnconditionalBranch => {
                    instruction.near_branch_target()
                }
                FlowControl::ConditionalBranch
                | FlowControl::IndirectBranch
                | FlowControl::IndirectCall
                | FlowControl::Return => {
                    let branch = Some(instruction);
                    return Ok(Stretch { count, branch });
                }
                other => return Err(format!("at {place:#x}: {other:?}").into()),
            }
        }
    }

    /// Does what a branch does.
    fn take(&self, branch: &Instruction, registers: &mut user_regs_struct) -> Result<()> {
        if registers.rip != branch.ip() + 1 {
            return Err(format!("a breakpoint at {:#x}", registers.rip).into());
        }
        registers.rip = match branch.flow_control() {
            FlowControl::ConditionalBranch => {
                match is_taken(branch.condition_code(), registers.eflags)? {
                    true => branch.near_branch_target(),
                    false => branch.next_ip(),
                }
            }
            FlowControl::Return => {
                let to = self.word(registers.rsp)?;
                registers.rsp += 8;
                to
            }
            of_operand => {
                let to = self.operand(branch, registers)?;
                if of_operand == FlowControl::IndirectCall {
                    registers.rsp -= 8;
                    let back = branch.next_ip().to_le_bytes();
                    self.memory.write_all_at(&back, registers.rsp)?;
                }
                to
            }
        };
        Ok(())
    }

    fn word(&self, place: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        self.memory.read_exact_at(&mut bytes, place)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// The first operand of an indirect branch.
    fn operand(&self, branch: &Instruction, registers: &user_regs_struct) -> Result<u64> {
        let place = match branch.op0_kind() {
            OpKind::Register => return value(branch.op0_register(), registers),
            _ => branch.virtual_address(0, 0, |register, _, _| value(register, registers).ok()),
        };
        self.word(place.ok_or("an address that is not known")?)
    }
}

fn value(register: Register, registers: &user_regs_struct) -> Result<u64> {
    Ok(match register {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::FS => registers.fs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        other => return Err(format!("a branch by {other:?}").into()),
    })
}

/// Whether a jump on this condition is taken with these flags.
fn is_taken(condition: ConditionCode, flags: u64) -> Result<bool> {
    let flag = |bit: u32| flags >> bit & 1 == 1;
    let (carry, parity, zero, sign, overflow) = (flag(0), flag(2), flag(6), flag(7), flag(11));
    Ok(match condition {
        ConditionCode::o => overflow,
        ConditionCode::no => !overflow,
        ConditionCode::b => carry,
        ConditionCode::ae => !carry,
        ConditionCode::e => zero,
        ConditionCode::ne => !zero,
        ConditionCode::be => carry || zero,
        ConditionCode::a => !carry && !zero,
        ConditionCode::s => sign,
        ConditionCode::ns => !sign,
        ConditionCode::p => parity,
        ConditionCode::np => !parity,
        ConditionCode::l => sign != overflow,
        ConditionCode::ge => sign == overflow,
        ConditionCode::le => zero || sign != overflow,
        ConditionCode::g => !zero && sign == overflow,
        ConditionCode::None => return Err("a jump on a register's value".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By single steps, up to the next system call.
    fn steps(program: &mut Program) -> Result<u64> {
        let mut count = 1;
        let mut last = 0;
        loop {
            let place = ptrace::getregs(program.pid)?.rip;
            // A string instruction that repeats stays where it is.
            count += u64::from(last != 0 && place != last);
            last = place;
            let mut bytes = [0; 2];
            program.memory.read_exact_at(&mut bytes, place)?;
            if bytes == [0x0f, 0x05] {
                program.to_system_call()?;
                return Ok(count);
            }
            ptrace::step(program.pid, None)?;
            waitpid(program.pid, None)?;
        }
    }

    #[test]
    fn as_many_as_single_steps() {
        let shell = || {
            let mut shell = Command::new("sh");
            shell.args(["-c", "read x; echo a; echo; x=$((x * 7)); echo b$x; echo"]);
            shell
        };
        let counted = counts(&mut shell(), "6").expect("a shell");
        let stepped = trace(&mut shell(), "6", steps).expect("a shell");
        assert_eq!(counted, stepped);
        let lines: Vec<_> = counted.iter().map(|(line, _)| &line[..]).collect();
        assert_eq!(lines, ["a", "b42"]);
        assert!(counted.iter().all(|(_, count)| *count > 100), "{counted:?}");
    }

    #[test]
    fn conditions() {
        let (carry, zero, sign, overflow) = (1, 1 << 6, 1 << 7, 1 << 11);
        let taken = |condition, flags| is_taken(condition, flags).expect("a condition");
        for (condition, flags, without) in [
            (ConditionCode::b, carry, 0),
            (ConditionCode::be, zero, 0),
            (ConditionCode::a, 0, carry),
            (ConditionCode::l, sign, sign | overflow),
            (ConditionCode::ge, sign | overflow, overflow),
            (ConditionCode::le, zero, sign | overflow),
            (ConditionCode::g, 0, zero),
            (ConditionCode::p, 1 << 2, 0),
        ] {
            assert!(taken(condition, flags), "{condition:?}");
            assert!(!taken(condition, without), "{condition:?}");
        }
        assert!(is_taken(ConditionCode::None, 0).is_err());
    }
}
