//! The structs of the Arrow C data interface and the Arrow C stream interface, as other
//! libraries hand them over.
//!
//! What the structs say is trusted nowhere: this file hands out numbers and memory, and
//! `arrow` checks the numbers. `unsafe` rests on what no field tells:
//! - A capsule of Arrow's names holds such a struct. Pointers in it that are not null lead
//!   to what the interface puts there: a string that ends, as many pointers to buffers as
//!   there are buffers, another struct of the kind for a dictionary, callbacks that do what
//!   the interface prescribes.
//! - A buffer that is not null has as many bytes as the column says, by its type, its
//!   length and its offset; the last offset or the list of lengths for the buffers with the
//!   bytes of values.
//! - Nobody writes to buffers, or frees them before the array is released.
#![allow(unsafe_code)]

use arrow_array::OffsetSizeTrait;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Display;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

pub(crate) const SCHEMA: &CStr = c"arrow_schema";
pub(crate) const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// More bytes than any machine has memory for. What claims more is damaged, and sums and
/// products of claims below it do not overflow.
pub(crate) const MOST: usize = match 1usize.checked_shl(48) {
    Some(most) => most,
    // An address has 32 bits.
    None => isize::MAX as usize,
};

/// Characters of a string of which any sense can be made.
const TEXT: usize = 1024;

/// What is wrong with a struct.
pub(crate) type Read<T> = Result<T, String>;

/// A field that is wrong.
pub(crate) fn wrong<T>(what: impl Display, allowed: impl Display) -> Read<T> {
    Err(format!("{what}; allowed: {allowed}"))
}

/// The type of a column.
#[repr(C)]
pub(crate) struct Schema {
    format: *const c_char,
    _name: *const c_char,
    _metadata: *const c_char,
    _flags: i64,
    pub(crate) n_children: i64,
    _children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    _private_data: *mut c_void,
}

/// The values of a column.
#[repr(C)]
pub(crate) struct Array {
    pub(crate) length: i64,
    pub(crate) null_count: i64,
    pub(crate) offset: i64,
    n_buffers: i64,
    pub(crate) n_children: i64,
    buffers: *mut *const c_void,
    _children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    _private_data: *mut c_void,
}

/// A column in several parts.
#[repr(C)]
pub(crate) struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// The string at an address, cut off after [`TEXT`] bytes.
///
/// # Safety
///
/// It ends, or goes on for so many bytes, and stays as it is for `'a`.
unsafe fn text<'a>(start: *const c_char) -> Option<&'a [u8]> {
    let start = NonNull::new(start.cast_mut())?;
    let mut len = 0;
    // SAFETY: by the caller; no byte behind its end is looked at.
    while len < TEXT && unsafe { start.add(len).read() } != 0 {
        len += 1;
    }
    // SAFETY: these are the bytes that were looked at.
    Some(unsafe { slice::from_raw_parts(start.as_ptr().cast(), len) })
}

/// The struct in a capsule of this name.
fn inside<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr) -> PyResult<Read<NonNull<T>>> {
    let place = capsule.pointer_checked(Some(name))?.cast::<T>();
    Ok(match place.is_aligned() {
        true => Ok(place),
        false => wrong(
            format_args!("{name:?} at {place:p}"),
            format_args!("a multiple of {}", align_of::<T>()),
        ),
    })
}

/// The address of a struct that belongs to another one, or null.
fn below<T>(place: *mut T) -> Read<*mut T> {
    match place.is_aligned() {
        true => Ok(place),
        false => wrong(
            format_args!("dictionary at {place:p}"),
            format_args!("a multiple of {}", align_of::<T>()),
        ),
    }
}

fn released<T>(name: &CStr) -> Read<T> {
    wrong(format_args!("{name:?} was released"), "one that was not")
}

impl Schema {
    /// What `look` finds in the struct of a capsule, which keeps it.
    pub(crate) fn look<T>(
        capsule: &Bound<'_, PyCapsule>,
        look: impl FnOnce(&Schema) -> Read<T>,
    ) -> PyResult<Read<T>> {
        Ok(inside::<Schema>(capsule, SCHEMA)?.and_then(|place| {
            // SAFETY: a capsule of this name holds such a struct. It lives as long as the
            // capsule, and nobody else gets to run while it is looked at.
            let schema = unsafe { place.as_ref() };
            match schema.release {
                Some(_) => look(schema),
                None => released(SCHEMA),
            }
        }))
    }

    /// The format string.
    pub(crate) fn format(&self) -> Read<&str> {
        const UTF8: &str = "a string of UTF-8";
        // SAFETY: the string of a struct that was not released ends.
        let Some(format) = (unsafe { text(self.format) }) else {
            return wrong("format is null", UTF8);
        };
        str::from_utf8(format)
            .or_else(|_| wrong(format_args!("format {}", format.escape_ascii()), UTF8))
    }

    /// The type of the values that the column's indices lead to, if these are such.
    pub(crate) fn dictionary(&self) -> Read<Option<&Schema>> {
        // SAFETY: it leads to such a struct, which lives as long as this one.
        let dictionary = unsafe { below(self.dictionary)?.as_ref() };
        match dictionary {
            Some(Schema { release: None, .. }) => released(SCHEMA),
            other => Ok(other),
        }
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released, and nothing of it is borrowed any more.
            unsafe { release(self) }
        }
    }
}

impl Array {
    /// Moves the struct out of its capsule.
    pub(crate) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Read<Array>> {
        Ok(inside::<Array>(capsule, ARRAY)?.and_then(|place| {
            // SAFETY: a capsule of this name holds such a struct. The interface lets it be
            // moved if the old one is marked as released.
            let array = unsafe {
                let array = place.read();
                (&raw mut (*place.as_ptr()).release).write(None);
                array
            };
            match array.release {
                Some(_) => Ok(array),
                None => released(ARRAY),
            }
        }))
    }

    /// The values that the array's indices lead to, if these are such.
    pub(crate) fn dictionary(&self) -> Read<Option<&Array>> {
        // SAFETY: it leads to such a struct, which lives as long as this one.
        let dictionary = unsafe { below(self.dictionary)?.as_ref() };
        match dictionary {
            Some(Array { release: None, .. }) => released(ARRAY),
            other => Ok(other),
        }
    }

    /// How many buffers there are.
    pub(crate) fn buffers(&self) -> Read<usize> {
        let given = self.n_buffers;
        let there = !self.buffers.is_null() && self.buffers.is_aligned();
        match usize::try_from(given) {
            Ok(0) => Ok(0),
            Ok(count) if there => Ok(count),
            Ok(_) => wrong(format_args!("buffers at {:p}", self.buffers), "an address"),
            Err(_) => wrong(format_args!("n_buffers {given}"), "0 or more"),
        }
    }

    /// The address of buffer `i`.
    fn buffer(&self, i: usize) -> Read<*const u8> {
        let count = self.buffers()?;
        if i >= count {
            return wrong(format_args!("n_buffers {count}"), "more");
        }
        // SAFETY: there are so many pointers.
        Ok(unsafe { self.buffers.add(i).read() }.cast())
    }

    pub(crate) fn has_buffer(&self, i: usize) -> Read<bool> {
        Ok(!self.buffer(i)?.is_null())
    }

    /// The first `len` bytes of buffer `i`, which may be null if there are none.
    pub(crate) fn bytes(&self, i: usize, len: usize) -> Read<&[u8]> {
        let start = self.buffer(i)?;
        if len == 0 {
            return Ok(&[]);
        }
        if start.is_null() {
            return wrong(
                format_args!("buffer {i} is null"),
                format_args!("one of {len} bytes"),
            );
        }
        if len > MOST || start.addr().checked_add(len).is_none() {
            return wrong(
                format_args!("buffer {i} of {len} bytes"),
                format_args!("at most {MOST}"),
            );
        }
        // SAFETY: a buffer that is not null has so many bytes, and nobody writes to them
        // or frees them before the array is released, which takes `&mut self`.
        Ok(unsafe { slice::from_raw_parts(start, len) })
    }
}

// SAFETY: it owns what it leads to, which nobody changes. The interface lets any thread release
// it.
unsafe impl Send for Array {}
// SAFETY: likewise.
unsafe impl Sync for Array {}

impl Array {
    /// As [`Array::bytes`], for as long as the buffer or a part of it lives.
    pub(crate) fn shared(self: &Arc<Array>, i: usize, len: usize) -> Read<Buffer> {
        let bytes = self.bytes(i, len)?;
        let start = NonNull::from(bytes).cast();
        // SAFETY: the bytes stay where they are until the array is released, which it is when
        // the last of its owners is dropped.
        Ok(unsafe { Buffer::from_custom_allocation(start, bytes.len(), self.clone()) })
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released, and nothing of it is borrowed any more.
            unsafe { release(self) }
        }
    }
}

/// Offsets, of which nothing is known but that they are numbers; `None` if they are not
/// aligned as such.
pub(crate) fn offsets<O: OffsetSizeTrait>(bytes: &[u8]) -> Option<&[O]> {
    // SAFETY: `O` is `i32` or `i64`, as the trait is sealed: any bytes are one.
    let (before, offsets, after) = unsafe { bytes.align_to() };
    (before.is_empty() && after.is_empty()).then_some(offsets)
}

impl Stream {
    /// Moves the struct out of its capsule.
    pub(crate) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Read<Stream>> {
        Ok(inside::<Stream>(capsule, STREAM)?.and_then(|place| {
            // SAFETY: as for an array.
            let stream = unsafe {
                let stream = place.read();
                (&raw mut (*place.as_ptr()).release).write(None);
                stream
            };
            match stream.release {
                Some(_) => Ok(stream),
                None => released(STREAM),
            }
        }))
    }

    /// The type of the arrays.
    pub(crate) fn schema(&mut self) -> Read<Schema> {
        let Some(get_schema) = self.get_schema else {
            return wrong("get_schema is null", "a function");
        };
        let schema = self.answer("get_schema", get_schema)?;
        match schema.release {
            Some(_) => Ok(schema),
            None => released(SCHEMA),
        }
    }

    /// The next array, if there is one.
    pub(crate) fn next(&mut self) -> Read<Option<Array>> {
        let Some(get_next) = self.get_next else {
            return wrong("get_next is null", "a function");
        };
        let array = self.answer("get_next", get_next)?;
        Ok(array.release.is_some().then_some(array))
    }

    /// What a callback answers, or the error that it reports.
    fn answer<T: Answer>(
        &mut self,
        name: &str,
        call: unsafe extern "C" fn(*mut Stream, *mut T) -> c_int,
    ) -> Read<T> {
        // Not dropped as long as it may not be valid.
        let mut answer = ManuallyDrop::new(T::EMPTY);
        // SAFETY: the stream was not released.
        let code = unsafe { call(self, &mut *answer) };
        if code == 0 {
            return Ok(ManuallyDrop::into_inner(answer));
        }
        let message = self.get_last_error.and_then(|last| {
            // SAFETY: as above; the string stays until the next call.
            unsafe { text(last(self)) }
        });
        let message = String::from_utf8_lossy(message.unwrap_or(b"no message"));
        Err(format!("{name} failed with code {code}: {message}"))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released.
            unsafe { release(self) }
        }
    }
}

/// What a stream that is made here hands out.
struct Export {
    of: DataType,
    parts: std::vec::IntoIter<ArrayData>,
}

/// A stream that is made here.
#[repr(transparent)]
struct Exported(Stream);

// SAFETY: it owns its [`Export`], which may go to any thread.
unsafe impl Send for Exported {}

/// The number of an error in an argument.
const EINVAL: c_int = 22;

/// A capsule with a stream of these arrays.
pub(crate) fn stream(
    py: Python<'_>,
    of: DataType,
    parts: Vec<ArrayData>,
) -> PyResult<Bound<'_, PyCapsule>> {
    /// # Safety
    ///
    /// The stream was made by [`stream`] and not released.
    unsafe fn export<'a>(stream: *mut Stream) -> &'a mut Export {
        // SAFETY: by the caller, the private data are such; only one callback runs at a time.
        unsafe { &mut *(*stream).private_data.cast() }
    }

    unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
        // SAFETY: the interface calls it so.
        let export = unsafe { export(stream) };
        match FFI_ArrowSchema::try_from(&export.of) {
            // SAFETY: there is room for such a struct, which both types are.
            Ok(schema) => unsafe { out.cast::<FFI_ArrowSchema>().write(schema) },
            Err(_) => return EINVAL,
        }
        0
    }

    unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
        // SAFETY: the interface calls it so.
        let export = unsafe { export(stream) };
        let next = export.parts.next();
        let next = next.map_or_else(FFI_ArrowArray::empty, |part| FFI_ArrowArray::new(&part));
        // SAFETY: there is room for such a struct, which both types are.
        unsafe { out.cast::<FFI_ArrowArray>().write(next) };
        0
    }

    unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
        ptr::null()
    }

    unsafe extern "C" fn release(stream: *mut Stream) {
        // SAFETY: the interface calls it once; the private data were made by a box.
        unsafe {
            drop(Box::from_raw((*stream).private_data.cast::<Export>()));
            (*stream).release = None;
        }
    }

    let parts = parts.into_iter();
    let stream = Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(Box::new(Export { of, parts })).cast(),
    };
    PyCapsule::new_with_value(py, Exported(stream), STREAM)
}

/// What a stream's callbacks fill in.
trait Answer {
    /// One that is released.
    const EMPTY: Self;
}

impl Answer for Schema {
    const EMPTY: Self = Schema {
        format: ptr::null(),
        _name: ptr::null(),
        _metadata: ptr::null(),
        _flags: 0,
        n_children: 0,
        _children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        _private_data: ptr::null_mut(),
    };
}

impl Answer for Array {
    const EMPTY: Self = Array {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        _children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        _private_data: ptr::null_mut(),
    };
}
