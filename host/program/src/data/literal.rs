//! The Python dictionary in a `.npy` header, limited to the syntax that the format uses.
//!
//! This parser is hand-written: a general literal parser brings a grammar engine and big integers,
//! recurses on its input, and reports errors without a position. This one reads three known keys,
//! never recurses, and reports the byte where it stopped. Format: `numpy.lib.format`,
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use super::NpyError;

/// The values of the three keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fields {
    /// The text of `descr`: a type string without its quotes, or the whole list of a structured
    /// type.
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

impl Fields {
    /// Parses the header text: a dictionary with exactly the keys `descr`, `fortran_order` and
    /// `shape`, then blanks.
    pub(super) fn parse(text: &[u8]) -> Result<Self, NpyError> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut cursor = Cursor { text, at: 0 };
        cursor.expect(b'{', "'{'")?;
        while !cursor.accept(b'}') {
            let key = cursor.string()?;
            cursor.expect(b':', "':'")?;
            let repeated = match key {
                b"descr" => descr.replace(cursor.descr()?).is_some(),
                b"fortran_order" => fortran_order.replace(cursor.boolean()?).is_some(),
                b"shape" => shape.replace(cursor.tuple()?).is_some(),
                _ => {
                    return Err(NpyError::UnknownKey { key: printable(key) });
                }
            };
            if repeated {
                return Err(NpyError::RepeatedKey { key: printable(key) });
            }
            if !cursor.accept(b',') {
                cursor.expect(b'}', "',' or '}'")?;
                break;
            }
        }
        cursor.skip_blanks();
        if cursor.at < text.len() {
            return Err(cursor.error("nothing but blanks after the dictionary"));
        }
        let missing = |key| NpyError::MissingKey { key };
        Ok(Self {
            descr: descr.ok_or(missing("descr"))?,
            fortran_order: fortran_order.ok_or(missing("fortran_order"))?,
            shape: shape.ok_or(missing("shape"))?,
        })
    }
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        let blanks = self.rest().iter().take_while(|b| b.is_ascii_whitespace());
        self.at += blanks.count();
    }

    /// Skips blanks, then `byte` if it comes next; returns whether it did.
    fn accept(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let next = self.rest().first() == Some(&byte);
        self.at += usize::from(next);
        next
    }

    fn expect(&mut self, byte: u8, wanted: &'static str) -> Result<(), NpyError> {
        if self.accept(byte) { Ok(()) } else { Err(self.error(wanted)) }
    }

    fn error(&self, wanted: &'static str) -> NpyError {
        NpyError::Syntax { at: self.at, wanted, found: printable(self.rest()) }
    }

    /// A quoted string, without its quotes; escapes are kept as written.
    fn string(&mut self) -> Result<&'a [u8], NpyError> {
        self.skip_blanks();
        // Python 2 marks Unicode strings with a u.
        if let [b'u', b'\'' | b'"', ..] = self.rest() {
            self.at += 1;
        }
        let Some(&quote @ (b'\'' | b'"')) = self.rest().first() else {
            return Err(self.error("a quoted string"));
        };
        let inside = &self.rest()[1..];
        let mut escaped = false;
        for (len, &byte) in inside.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                _ if byte == quote => {
                    self.at += len + 2;
                    return Ok(&inside[..len]);
                }
                _ => {}
            }
        }
        Err(self.error("a string with a closing quote"))
    }

    /// A type string, or the list of a structured type; only the extent of a list is used.
    fn descr(&mut self) -> Result<String, NpyError> {
        self.skip_blanks();
        if self.rest().first() != Some(&b'[') {
            return Ok(String::from_utf8_lossy(self.string()?).into_owned());
        }
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.rest().first() {
                Some(b'[' | b'(') => depth += 1,
                Some(b']' | b')') => depth -= 1,
                Some(b'\'' | b'"') => {
                    self.string()?;
                    continue;
                }
                Some(_) => {}
                None => return Err(self.error("a closing ']'")),
            }
            self.at += 1;
            if depth == 0 {
                let list = &self.text[start..self.at];
                return Ok(String::from_utf8_lossy(list).into_owned());
            }
        }
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.skip_blanks();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("True or False"))
    }

    /// A tuple of sizes: `()`, `(3,)`, `(3, 4)`. As in Python, `(3)` is not a tuple.
    fn tuple(&mut self) -> Result<Vec<u64>, NpyError> {
        let mut sizes = Vec::new();
        self.expect(b'(', "'('")?;
        while !self.accept(b')') {
            sizes.push(self.size()?);
            if self.accept(b',') {
                continue;
            }
            if sizes.len() == 1 {
                return Err(self.error("','"));
            }
            self.expect(b')', "',' or ')'")?;
            break;
        }
        Ok(sizes)
    }

    fn size(&mut self) -> Result<u64, NpyError> {
        self.skip_blanks();
        let digits = self.rest().iter().take_while(|b| b.is_ascii_digit());
        let digits = &self.rest()[..digits.count()];
        if digits.is_empty() {
            return Err(self.error("a size, 0 or more"));
        }
        let size = digits.iter().try_fold(0_u64, |size, digit| {
            size.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        let size = size.ok_or_else(|| NpyError::SizeOverflow { size: printable(digits) })?;
        self.at += digits.len();
        // Python 2 marks long integers with an L.
        self.accept(b'L');
        Ok(size)
    }
}

/// Text from a file, made fit for a message: one line, short, no control characters.
pub(super) fn printable(bytes: &[u8]) -> String {
    const LONGEST: usize = 60;
    let text = String::from_utf8_lossy(bytes);
    let mut chars = text.trim_end().chars();
    let mut shown: String =
        chars.by_ref().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails_with(text: &str, part: &str) {
        let message = Fields::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }

    #[test]
    fn key_order_blanks_quotes_and_commas_may_vary() {
        let expected = Fields { descr: "<f4".to_owned(), fortran_order: false, shape: vec![3, 4] };
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n",
            "{\"shape\":(3L,4L,),\"fortran_order\":False,\"descr\":\"<f4\"}",
            "{u'descr': u'<f4', u'fortran_order': False, u'shape': (3L, 4L)}",
            "  {\n'shape' : ( 3 , 4 ) ,\t'descr':'<f4','fortran_order':False}",
        ] {
            assert_eq!(Fields::parse(text.as_bytes()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_structured_type_is_read_to_its_end() {
        let text =
            r"{'descr': [('a]', '<f4'), ('b\'', '<i4', (2,))], 'fortran_order': True, 'shape': ()}";
        let fields = Fields::parse(text.as_bytes()).unwrap();
        assert!(fields.descr.starts_with("[('a]'"));
        assert!(fields.fortran_order && fields.shape.is_empty());
    }

    #[test]
    fn every_error_names_the_expected_text() {
        fails_with("", "'{'");
        fails_with("{'descr': '<f4}", "closing quote");
        fails_with("{'descr': [('a', '<f4')", "']'");
        fails_with("{'shape': (3)}", "','");
        fails_with("{'shape': (-3,)}", "a size, 0 or more");
        fails_with("{'shape': (3.5,)}", "','");
        fails_with("{'shape': (99999999999999999999,)}", "99999999999999999999");
        fails_with("{'fortran_order': 0}", "True or False");
        fails_with("{'colour': 1}", "colour");
        fails_with("{'shape': (), 'shape': ()}", "'shape' twice");
        fails_with("{'descr': '<f4', 'fortran_order': False}", "'shape'");
        fails_with(
            "{'descr': '<f4', 'fortran_order': False, 'shape': ()} + 1",
            "after the dictionary",
        );
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let text = format!("{{'descr': {}", "[".repeat(1 << 20));
        fails_with(&text, "']'");
    }

    #[test]
    fn text_in_a_message_is_one_short_line() {
        let shown = printable(format!("a\n\u{1b}[31m{}", "x".repeat(1000)).as_bytes());
        assert!(shown.chars().count() < 100 && !shown.contains(['\n', '\u{1b}']));
    }
}
