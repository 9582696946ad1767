//! An array whose elements have not been read yet.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem;

use super::array::Aligned;
use super::read::refused;
use super::read_ahead::ahead;
use super::transpose::from_fortran;
use super::{Array, DataError, Dtype, Input, Narrow, Stored};
use bytemuck::Pod;
use gridsync::memory::{self, NoRoom};

/// An array that has been [opened](super::open): its type and shape are known. Its elements can be
/// read all at once or piece by piece, in C order.
pub struct Incoming {
    input: Input,
    stored: Stored,
    /// The type of the elements that are returned, if they are not widened.
    narrow: Option<Narrow>,
    shape: Vec<u64>,
    /// Whether the elements are in Fortran order, and this differs from C order.
    is_fortran: bool,
    /// The number of elements; `taken` of them have been read.
    len: u64,
    taken: u64,
    elements: Elements,
    /// The file and the offset of its first element, if elements can be skipped without reading
    /// them.
    file: Option<(File, u64)>,
}

pub(super) enum Elements {
    ToRead(Box<dyn Read + Send>),
    /// Elements that had to be read in advance, as they are in memory.
    Here(Aligned),
}

/// Bytes of narrow elements that are widened at a time.
const AT_ONCE: usize = 1 << 16;

impl Incoming {
    /// `len` is the number of elements of the shape.
    pub(super) fn new(
        input: &Input,
        stored: Stored,
        (shape, is_fortran): (Vec<u64>, bool),
        len: u64,
        elements: Elements,
    ) -> Self {
        // Both orders are the same for an empty array, or if at most one dimension is more than 1.
        let one_order = len == 0 || shape.iter().filter(|&&n| n > 1).count() <= 1;
        Self {
            input: input.clone(),
            stored,
            narrow: None,
            shape,
            is_fortran: is_fortran && !one_order,
            len,
            taken: 0,
            elements,
            file: None,
        }
    }

    /// Sets the file and the offset of the first element in it.
    pub(super) fn in_file(mut self, file: File, start: u64) -> Self {
        self.file = Some((file, start));
        self
    }

    /// The type of the elements in memory.
    pub fn dtype(&self) -> Dtype {
        self.stored.dtype()
    }

    /// Bytes of an element, as returned by [`next`](Self::next).
    pub fn size(&self) -> usize {
        if self.narrow.is_some() { self.stored.size() } else { self.dtype().size() }
    }

    /// The type of the elements in the file.
    pub fn stored(&self) -> Stored {
        self.stored
    }

    /// The dimensions, as in [`Array::shape`].
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The error for elements that do not fit in memory.
    pub(super) fn no_room(&self, no_room: NoRoom) -> DataError {
        out_of_memory(&self.input)(no_room)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        usize::try_from(self.len).unwrap_or(usize::MAX)
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the file has the elements in C order, or in one that is the same.
    pub fn is_in_c_order(&self) -> bool {
        !self.is_fortran
    }

    /// The same elements in the order of the file. This way, an array in Fortran order can be read
    /// piece by piece too; otherwise it has to be held whole.
    #[must_use]
    pub fn in_any_order(mut self) -> Self {
        self.is_fortran = false;
        self
    }

    /// The same elements, but f16 and bf16 as f32. Must be called before any elements are read.
    ///
    /// # Errors
    /// [`DataError::OutOfMemory`] for elements of a pipe, which are held in memory.
    pub fn in_f32(mut self) -> Result<Self, DataError> {
        let stored = self.stored.in_f32();
        if let Elements::Here(data) = &self.elements
            && stored != self.stored
        {
            let mut wide = Aligned::zeroed(self.len().saturating_mul(stored.dtype().size()))
                .map_err(out_of_memory(&self.input))?;
            // They are already in native byte order.
            let held = Stored::from(self.dtype()).in_f32();
            held.convert(data.bytes(), wide.bytes_mut());
            self.elements = Elements::Here(wide);
        }
        self.stored = stored;
        Ok(self)
    }

    /// Makes [`next`](Self::next) return the elements without widening them, and returns their
    /// type. Returns `None` and changes nothing if they are not widened or if they were widened in
    /// advance. Must be called before any elements are read.
    pub fn narrow(&mut self) -> Option<Narrow> {
        let is_to_read = matches!(self.elements, Elements::ToRead(_));
        self.narrow = self.stored.narrow().filter(|_| is_to_read);
        self.narrow
    }

    /// Reads all elements. Must be called before any of them are read.
    ///
    /// # Errors
    /// [`DataError::OutOfMemory`], [`DataError::Read`], [`DataError::Truncated`] and
    /// [`DataError::Trailing`].
    ///
    /// # Panics
    /// If the elements are [narrow](Self::narrow).
    pub fn all(mut self) -> Result<Array, DataError> {
        assert_eq!(self.narrow, None, "an array has wide elements");
        let dtype = self.dtype();
        let data = self.take_all()?;
        Ok(Array::new(dtype, self.shape, data))
    }

    /// Reads all elements of [narrow](Stored::narrow) integers, without widening them. `T` is their
    /// type. Must be called before any of them are read.
    ///
    /// # Errors
    /// As for [`all`](Self::all).
    ///
    /// # Panics
    /// If they have another size.
    pub fn all_narrow<T: Pod>(mut self) -> Result<Vec<T>, DataError> {
        assert_eq!(size_of::<T>(), self.stored.size(), "the size of an element");
        let mut elements = memory::zeroed::<T>(self.len()).map_err(out_of_memory(&self.input))?;
        let bytes = bytemuck::cast_slice_mut(&mut elements);
        if self.narrow().is_some() {
            self.next(bytes)?;
        } else {
            // They were widened in advance. The lowest bytes are the element.
            let wide = self.all()?;
            let wide = wide.bytes().chunks_exact(wide.dtype().size());
            for (to, wide) in bytes.chunks_exact_mut(size_of::<T>()).zip(wide) {
                to.copy_from_slice(&wide[..size_of::<T>()]);
            }
        }
        Ok(elements)
    }

    /// Reads the data of all elements.
    fn take_all(&mut self) -> Result<Aligned, DataError> {
        let bytes = self.len.saturating_mul(self.size() as u64);
        let elements = mem::replace(&mut self.elements, Elements::ToRead(Box::new(io::empty())));
        let data = match elements {
            Elements::Here(data) => return Ok(data),
            Elements::ToRead(reader) if self.stored.is_plain() => {
                let mut data = allocate(&self.input, bytes)?;
                // Reads one byte beyond the data, to check whether there is more; the capacity has
                // room for it.
                data.fill(reader, bytes.saturating_add(1))
                    .map_err(|cause| refused(&self.input, cause))?;
                check_len(&self.input, bytes, data.bytes().len() as u64)?;
                data
            }
            Elements::ToRead(reader) => {
                self.elements = Elements::ToRead(reader);
                let len = usize::try_from(bytes).unwrap_or(usize::MAX);
                let mut data = Aligned::zeroed(len).map_err(out_of_memory(&self.input))?;
                self.read_next(data.bytes_mut())?;
                data
            }
        };
        if self.is_fortran {
            from_fortran(data, self.size(), &self.shape).map_err(out_of_memory(&self.input))
        } else {
            Ok(data)
        }
    }

    /// Reads the next elements into `piece`. With the last element, it checks that no bytes follow.
    ///
    /// # Errors
    /// [`DataError::Read`], [`DataError::Truncated`] and [`DataError::Trailing`]; for an array in
    /// Fortran order, which is read whole, also [`DataError::OutOfMemory`].
    ///
    /// # Panics
    /// If fewer elements are left, or if the length of `piece` is not a multiple of the element
    /// size.
    pub fn next(&mut self, piece: &mut [u8]) -> Result<(), DataError> {
        let size = self.size();
        assert!(piece.len().is_multiple_of(size), "whole elements");
        let end = self.taken + (piece.len() / size) as u64;
        assert!(end <= self.len, "fewer elements are left");
        if self.is_fortran {
            let all = self.take_all()?;
            (self.elements, self.is_fortran) = (Elements::Here(all), false);
        }
        match &self.elements {
            Elements::Here(data) => {
                let start = self.taken as usize * size;
                piece.copy_from_slice(&data.bytes()[start..][..piece.len()]);
            }
            Elements::ToRead(_) => self.read_next(piece)?,
        }
        self.taken = end;
        Ok(())
    }

    /// Reads bytes of the elements in advance, until `is_enough` returns true for their number.
    pub(super) fn read_ahead(&mut self, is_enough: impl Fn(usize) -> bool) {
        if let Elements::ToRead(reader) = &mut self.elements {
            let rest = mem::replace(reader, Box::new(io::empty()));
            *reader = ahead(rest, is_enough);
        }
    }

    /// Skips the next `count` elements. A file is not read for that, but a pipe, an array of an
    /// archive and an array in Fortran order are.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    ///
    /// # Panics
    /// If fewer elements are left.
    pub fn skip(&mut self, count: usize) -> Result<(), DataError> {
        let left = self.len - self.taken;
        assert!(count as u64 <= left, "fewer elements are left");
        let is_to_read = matches!(self.elements, Elements::ToRead(_)) && !self.is_fortran;
        match &self.file {
            Some((file, start)) if is_to_read => {
                self.taken += count as u64;
                let size = self.stored.size() as u64;
                let opened = file.try_clone().and_then(|mut file| {
                    file.seek(SeekFrom::Start(start + self.taken * size))?;
                    Ok(file)
                });
                let file = opened.map_err(|cause| refused(&self.input, cause))?;
                // The length of the file was checked when it was opened. Bytes appended since then
                // are not part of the array.
                let bytes = (self.len - self.taken) * size;
                self.elements = Elements::ToRead(Box::new(file.take(bytes)));
                Ok(())
            }
            _ => {
                let size = self.size();
                let mut passed = vec![0; AT_ONCE.min(count * size)];
                let mut left = count;
                while left > 0 {
                    let now = left.min(AT_ONCE / size);
                    self.next(&mut passed[..now * size])?;
                    left -= now;
                }
                Ok(())
            }
        }
    }

    /// Reads the next elements into `piece`.
    fn read_next(&mut self, piece: &mut [u8]) -> Result<(), DataError> {
        let (stored, wide) = (self.stored, self.size());
        let size = stored.size() as u64;
        let count = (piece.len() / wide) as u64;
        let is_last = self.taken + count == self.len;
        let Elements::ToRead(reader) = &mut self.elements else {
            unreachable!("only elements that are still to be read get here");
        };
        let mut read = || -> io::Result<u64> {
            let mut found = 0;
            if size as usize == wide {
                found += read_up_to(reader, piece)?;
                stored.put_in_order(piece);
            } else {
                let mut narrow = [0; AT_ONCE];
                let at_once = AT_ONCE / stored.size() * wide;
                for piece in piece.chunks_mut(at_once) {
                    let narrow = &mut narrow[..piece.len() / wide * stored.size()];
                    let more = read_up_to(reader, narrow)?;
                    found += more;
                    stored.convert(narrow, piece);
                    if more < narrow.len() {
                        break;
                    }
                }
            }
            if is_last && found as u64 == count * size {
                found += read_up_to(reader, &mut [0])?;
            }
            Ok(found as u64)
        };
        let found = read().map_err(|cause| refused(&self.input, cause))?;
        let (found, all) = (self.taken * size + found, self.len * size);
        if found < (self.taken + count) * size || found > all {
            check_len(&self.input, all, found)
        } else {
            Ok(())
        }
    }
}

/// Reads until `into` is full or the input ends. Returns the number of bytes.
pub(super) fn read_up_to(reader: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    let mut found = 0;
    while found < into.len() {
        match reader.read(&mut into[found..]) {
            Ok(0) => break,
            Ok(more) => found += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

pub(super) fn out_of_memory(input: &Input) -> impl FnOnce(NoRoom) -> DataError {
    let input = input.clone();
    |no_room| DataError::OutOfMemory { input, no_room }
}

fn allocate(input: &Input, bytes: u64) -> Result<Aligned, DataError> {
    let len = usize::try_from(bytes).unwrap_or(usize::MAX);
    Aligned::with_capacity(len).map_err(out_of_memory(input))
}

pub(super) fn check_len(input: &Input, expected: u64, found: u64) -> Result<(), DataError> {
    let input = || input.clone();
    match found.cmp(&expected) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(DataError::Truncated { input: input(), expected, found }),
        Ordering::Greater => Err(DataError::Trailing { input: input(), expected, found }),
    }
}
