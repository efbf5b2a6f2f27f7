//! The names of ranges of numbers: `uint8` for `>=0 & <=255 & int`.

use super::context::Ctx;
use super::ir::Op;
use super::kind::Kind;
use super::value::{Val, Value};

impl Ctx {
    /// The name of a conjunction that is exactly a range with one.
    pub fn range_name(&self, values: &[Val]) -> Option<&'static str> {
        let mut is_int = false;
        let (mut low, mut high) = (None, None);
        for &v in values {
            let Val::Lit(id) = v else { return None };
            match self.value(id) {
                Value::Type(kind) if *kind == Kind::INT => is_int = true,
                Value::Bound { op, value } => {
                    let Some(Value::Num(n)) = self.scalar(*value) else {
                        return None;
                    };
                    match op {
                        Op::Ge => low = Some(n.to_string()),
                        Op::Le => high = Some(n.to_string()),
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        let high = high.as_deref();
        match (is_int, low.as_deref()?) {
            (true, "0") => Some(match high {
                None => "uint",
                Some("255") => "uint8",
                Some("65535") => "uint16",
                Some("4294967295") => "uint32",
                Some("18446744073709551615") => "uint64",
                Some("340282366920938463463374607431768211455") => "uint128",
                _ => return None,
            }),
            (true, "-128") if high == Some("127") => Some("int8"),
            (true, "-32768") if high == Some("32767") => Some("int16"),
            (true, "-2147483648") if high == Some("2147483647") => Some("int32"),
            (true, "-9223372036854775808") if high == Some("9223372036854775807") => Some("int64"),
            (true, "-170141183460469231731687303715884105728")
                if high == Some("170141183460469231731687303715884105727") =>
            {
                Some("int128")
            }
            (false, "-340282346638528859811704183484516925440") => Some("float32"),
            (false, "-1.797693134862315708145274237317043567981E+308") => Some("float64"),
            _ => None,
        }
    }
}
