//! One call: typed access to its arguments, and how it can fail.

use std::borrow::Cow;

use dashu_int::IBig;
use dashu_int::ops::{BitTest, UnsignedAbs};

use super::{Kinds, Value};
use crate::number::{ArithmeticError, Decimal, Num};

#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// No later refinement will help.
    Fatal(String),
    /// Something is not known yet.
    Incomplete(String),
    /// A constraint does not hold, for this reason. A plain call is `false`.
    Invalid(String),
}

impl Error {
    pub fn message(&self) -> &str {
        match self {
            Error::Fatal(text) | Error::Incomplete(text) | Error::Invalid(text) => text,
        }
    }
}

/// A fatal error.
pub(super) fn fatal(message: impl Into<String>) -> Error {
    Error::Fatal(message.into())
}

impl From<ArithmeticError> for Error {
    fn from(error: ArithmeticError) -> Error {
        Error::Fatal(error.to_string())
    }
}

/// The arguments, whose number and kinds have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a>(pub &'a [Value]);

impl<'a> Args<'a> {
    pub fn value(self, index: usize) -> &'a Value {
        self.0.get(index).unwrap_or(&Value::Null)
    }

    pub fn bool(self, index: usize) -> Result<bool, Error> {
        match self.value(index) {
            Value::Bool(value) => Ok(*value),
            other => Err(unusable(other, index, "bool")),
        }
    }

    pub fn str(self, index: usize) -> Result<&'a str, Error> {
        match self.value(index) {
            Value::String(text) => Ok(text),
            other => Err(unusable(other, index, "string")),
        }
    }

    /// Bytes, or the bytes of a string.
    pub fn bytes(self, index: usize) -> Result<&'a [u8], Error> {
        match self.value(index) {
            Value::Bytes(bytes) => Ok(bytes),
            Value::String(text) => Ok(text.as_bytes()),
            other => Err(unusable(other, index, "bytes")),
        }
    }

    /// A string, or bytes read as one.
    pub fn text(self, index: usize) -> Result<Cow<'a, str>, Error> {
        self.bytes(index).map(String::from_utf8_lossy)
    }

    pub fn num(self, index: usize) -> Result<&'a Num, Error> {
        match self.value(index) {
            Value::Num(num) => Ok(num),
            other => Err(unusable(other, index, "number")),
        }
    }

    pub fn decimal(self, index: usize) -> Result<&'a Decimal, Error> {
        self.num(index).map(|num| &num.value)
    }

    pub fn float(self, index: usize) -> Result<f64, Error> {
        let value = self.num(index)?.to_f64();
        if value.is_infinite() {
            let direction = if value > 0.0 { "up" } else { "down" };
            let error = unusable(self.value(index), index, "float64");
            return Err(Error::Fatal(format!(
                "{}: value was rounded {direction}",
                error.message()
            )));
        }
        Ok(value)
    }

    /// An integer of any size.
    pub fn big(self, index: usize) -> Result<IBig, Error> {
        self.num(index)?
            .to_ibig()
            .ok_or_else(|| unusable(self.value(index), index, "int"))
    }

    pub fn int(self, index: usize) -> Result<i64, Error> {
        let big = self.big(index)?;
        i64::try_from(&big).map_err(|_| overflow(&big, "int64", index))
    }

    pub fn int32(self, index: usize, name: &str) -> Result<i32, Error> {
        let big = self.big(index)?;
        i32::try_from(&big).map_err(|_| overflow(&big, name, index))
    }

    pub fn uint(self, index: usize) -> Result<u64, Error> {
        let big = self.big(index)?;
        if big < IBig::ZERO {
            return Err(unusable(self.value(index), index, "uint64"));
        }
        u64::try_from(&big).map_err(|_| overflow(&big, "uint64", index))
    }

    pub fn list(self, index: usize) -> Result<&'a [Value], Error> {
        match self.value(index) {
            Value::List(items) => Ok(items),
            other => Err(unusable(other, index, "list")),
        }
    }

    pub fn strings(self, index: usize) -> Result<Vec<&'a str>, Error> {
        let pick = |(place, item): (usize, &'a Value)| match item {
            Value::String(text) => Ok(text.as_str()),
            other => Err(element(other, place, index, Kinds::STRING, "string")),
        };
        self.list(index)?.iter().enumerate().map(pick).collect()
    }

    pub fn decimals(self, index: usize) -> Result<Vec<&'a Decimal>, Error> {
        let pick = |(place, item): (usize, &'a Value)| match item {
            Value::Num(num) => Ok(&num.value),
            other => Err(element(other, place, index, Kinds::NUMBER, "number")),
        };
        self.list(index)?.iter().enumerate().map(pick).collect()
    }
}

fn unusable(value: &Value, index: usize, wanted: &str) -> Error {
    Error::Fatal(format!(
        "cannot use {value} (type {}) as {wanted} in argument {index}",
        value.kinds()
    ))
}

fn overflow(value: &IBig, wanted: &str, index: usize) -> Error {
    let shown = if value.unsigned_abs().bit_len() > 4096 {
        "value".to_owned()
    } else {
        value.to_string()
    };
    Error::Fatal(format!(
        "int {shown} overflows {wanted} in argument {index}"
    ))
}

fn element(value: &Value, place: usize, index: usize, wanted: Kinds, name: &str) -> Error {
    let kinds = value.kinds();
    if kinds.meets(wanted) {
        return Error::Incomplete(format!(
            "non-concrete value {value} for element {place} of {name} list argument {index}"
        ));
    }
    Error::Fatal(format!(
        "invalid list element {place} in argument {index} to call: cannot use value {value} ({kinds}) as {name}"
    ))
}

/// A list where one is needed inside of an argument.
pub(super) fn as_list(value: &Value) -> Result<&[Value], Error> {
    match value {
        Value::List(items) => Ok(items),
        Value::Opaque(opaque) if opaque.kinds.meets(Kinds::LIST) => {
            Err(Error::Incomplete(format!("non-concrete value {value}")))
        }
        other => Err(fatal(format!(
            "cannot use value {other} (type {}) as list",
            other.kinds()
        ))),
    }
}
