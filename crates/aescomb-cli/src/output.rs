//! Standard output and standard error.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

/// Standard output, buffered. That its reader went away (`| head`) is no error:
/// the rest is dropped.
pub(crate) struct Output(BufWriter<Pipe>);

struct Pipe {
    stdout: StdoutLock<'static>,
    closed: bool,
}

impl Output {
    /// The process's standard output.
    pub(crate) fn stdout() -> Output {
        Output(BufWriter::new(Pipe {
            stdout: io::stdout().lock(),
            closed: false,
        }))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        match self.stdout.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(bytes.len())
            }
            result => result,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.stdout.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result,
        }
    }
}

/// A line on standard error; a closed one is no reason to stop.
pub(crate) fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}
