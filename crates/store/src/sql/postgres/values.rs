//! Conversion of values between the types of SQLite, which the store uses, and those of PostgreSQL.

use super::nul_encoding;
use bytes::BytesMut;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use std::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, Type};

/// Value of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PgValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl PgValue {
    /// Converts a value of a statement.
    pub(crate) fn of(value: &dyn ToSql) -> rusqlite::Result<Self> {
        Ok(match value.to_sql()? {
            ToSqlOutput::Borrowed(value) => Self::of_ref(value),
            ToSqlOutput::Owned(value) => match value {
                Value::Text(text) => Self::Text(nul_encoding::encode(text)),
                Value::Blob(bytes) => Self::Bytes(bytes),
                other @ (Value::Null | Value::Integer(_) | Value::Real(_)) => {
                    Self::of_ref(ValueRef::from(&other))
                }
            },
            _ => Self::Null,
        })
    }

    fn of_ref(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(nul_encoding::encode(
                String::from_utf8_lossy(text).into_owned(),
            )),
            ValueRef::Blob(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }

    /// Returns the type that the statement declares. PostgreSQL infers the type of a text, of bytes and of NULL from
    /// their place in the statement: they have one form for all types that a place can have.
    pub(crate) fn declared_type(&self) -> Type {
        match self {
            Self::Integer(_) => Type::INT8,
            Self::Real(_) => Type::FLOAT8,
            Self::Null | Self::Text(_) | Self::Bytes(_) => Type::UNKNOWN,
        }
    }
}

impl tokio_postgres::types::ToSql for PgValue {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Integer(number) => out.extend_from_slice(&number.to_be_bytes()),
            Self::Real(number) => out.extend_from_slice(&number.to_be_bytes()),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Bytes(bytes) => out.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// Value of a column in the form in which PostgreSQL sent it.
struct RawValue<'r>(ValueRef<'r>);

impl<'r> FromSql<'r> for RawValue<'r> {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let value = match *kind {
            Type::INT8 => ValueRef::Integer(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => ValueRef::Integer(i32::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => ValueRef::Integer(raw.first().copied().unwrap_or(0).into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_be_bytes(raw.try_into()?)),
            Type::BYTEA | Type::UUID => ValueRef::Blob(raw),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::JSON => ValueRef::Text(raw),
            _ => return Err(format!("a column has the unexpected type {kind}").into()),
        };
        Ok(Self(value))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Row with its texts as they were written.
#[derive(Debug)]
pub(crate) struct PgRow {
    row: Row,
    /// Texts of this row that differ from their stored form, by column.
    decoded: Vec<(usize, String)>,
}

impl PgRow {
    /// Decodes the texts of a row.
    pub(crate) fn new(row: Row) -> Self {
        let mut decoded = Vec::new();
        for column in 0..row.len() {
            if let Ok(RawValue(ValueRef::Text(text))) = row.try_get(column)
                && let Some(text) = nul_encoding::decode(text)
            {
                decoded.push((column, text));
            }
        }
        Self { row, decoded }
    }

    /// Returns the text in a column.
    pub(crate) fn text(&self, column: usize) -> Option<String> {
        let value = self.value(column).ok()?;
        value.as_str().ok().map(str::to_owned)
    }

    /// Returns the number of columns.
    pub(crate) fn len(&self) -> usize {
        self.row.len()
    }

    /// Returns the value of a column.
    pub(crate) fn value(&self, column: usize) -> rusqlite::Result<ValueRef<'_>> {
        if let Some((_, text)) = self.decoded.iter().find(|(known, _)| *known == column) {
            return Ok(ValueRef::Text(text.as_bytes()));
        }
        match self.row.try_get::<_, RawValue<'_>>(column) {
            Ok(value) => Ok(value.0),
            Err(_) if column >= self.row.len() => Err(rusqlite::Error::InvalidColumnIndex(column)),
            Err(error) => Err(rusqlite::Error::FromSqlConversionFailure(
                column,
                rusqlite::types::Type::Null,
                Box::new(error),
            )),
        }
    }
}
