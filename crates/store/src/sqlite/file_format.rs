//! Decoding of numbers and records in SQLite's file format.
//!
//! Any byte may be wrong: invalid input gives `None`, never a panic.

use rusqlite::types::ValueRef;

/// Maximum number of columns of a record: far more than any of our tables has.
const COLUMNS_MAX: usize = 200;

/// Reads a big-endian number of two bytes.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes(two.try_into().ok()?))
}

/// Reads a big-endian number of four bytes.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// Reads a varint of one to nine bytes; returns it with the rest of `bytes`.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for at in 0..8 {
        let byte = *bytes.get(at)?;
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, bytes.get(at + 1..)?));
        }
    }
    let last = *bytes.get(8)?;
    Some(((value << 8) | u64::from(last), bytes.get(9..)?))
}

/// Decodes the values of a record, which must fill `payload` exactly: SQLite leaves no gaps.
pub(super) fn values(payload: &[u8]) -> Option<Vec<ValueRef<'_>>> {
    let (header_size, after_size) = varint(payload)?;
    let header_size = usize::try_from(header_size).ok()?;
    let size_bytes = payload.len().checked_sub(after_size.len())?;
    let mut types = payload.get(size_bytes..header_size)?;
    let mut body = payload.get(header_size..)?;
    let mut values = Vec::new();
    while !types.is_empty() {
        let (code, rest) = varint(types)?;
        types = rest;
        if values.len() == COLUMNS_MAX {
            return None;
        }
        let size = size_of(code)?;
        let (bytes, rest) = body.split_at_checked(size)?;
        body = rest;
        values.push(value(code, bytes)?);
    }
    (body.is_empty() && !values.is_empty()).then_some(values)
}

/// Returns the size of a value with this serial type, bytes.
fn size_of(code: u64) -> Option<usize> {
    match code {
        0 | 8 | 9 => Some(0),
        1..=4 => usize::try_from(code).ok(),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        _ => usize::try_from((code - 12) / 2).ok(),
    }
}

fn value(code: u64, bytes: &[u8]) -> Option<ValueRef<'_>> {
    Some(match code {
        0 => ValueRef::Null,
        1..=6 => ValueRef::Integer(integer(bytes)),
        7 => ValueRef::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        8 => ValueRef::Integer(0),
        9 => ValueRef::Integer(1),
        _ if code.is_multiple_of(2) => ValueRef::Blob(bytes),
        _ => ValueRef::Text(bytes),
    })
}

/// Decodes a two's complement number of one to eight bytes.
fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let start: i64 = if negative { -1 } else { 0 };
    bytes
        .iter()
        .fold(start, |value, byte| (value << 8) | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varint_decodes_every_length() {
        for (bytes, value, left) in [
            (&[0x05, 9][..], 5, 1),
            (&[0x81, 0x00], 128, 0),
            (&[0xff; 9], u64::MAX, 0),
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 7], 7, 0),
        ] {
            let (found, rest) = varint(bytes).unwrap();
            assert_eq!((found, rest.len()), (value, left), "{bytes:?}");
        }
        for cut in [&[][..], &[0x80], &[0xff; 8]] {
            assert_eq!(varint(cut), None);
        }
        assert_eq!(integer(&[0xff]), -1);
        assert_eq!(integer(&[0x80, 0]), -32_768);
        assert_eq!(integer(&[0x00, 0xff, 0xff]), 65_535);
    }

    #[test]
    fn record_must_fill_payload() {
        // Header of 5 bytes: null, one byte, text of 2, blob of 1.
        let payload = [5, 0, 1, 17, 14, 0xfe, b'h', b'i', 9];
        let wanted = vec![
            ValueRef::Null,
            ValueRef::Integer(-2),
            ValueRef::Text(b"hi"),
            ValueRef::Blob(&[9]),
        ];
        assert_eq!(values(&payload), Some(wanted));
        for end in 0..payload.len() {
            assert_eq!(values(&payload[..end]), None, "cut at {end}");
        }
        assert_eq!(values(&[payload.as_slice(), &[0]].concat()), None);
        // A reserved type, and a header that is longer than the payload.
        assert_eq!(values(&[2, 10]), None);
        assert_eq!(values(&[9, 1, 1]), None);
    }
}
