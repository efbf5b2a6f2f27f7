//! Package `list`. Elements are moved as they are; what compares or sorts them is the evaluator's.

use super::call::{as_list, fatal};
use super::member::{ANY, INT, LIST, NUMBER, function, special};
use super::{Args, Error, Kinds, MAX_REPEAT, MAX_RESULT, Package, Special, Value};
use crate::number::{Context, Decimal, Num};

pub(super) const PACKAGE: Package = Package {
    path: "list",
    cue: Some(
        "{\n\
         Comparer: {T: _, x: T, y: T, less: bool}\n\
         Ascending: {Comparer, T: number | string, x: T, y: T, less: x < y}\n\
         Descending: {Comparer, T: number | string, x: T, y: T, less: x > y}\n\
         }",
    ),
    members: &[
        function("Drop", &[LIST, INT], Kinds::LIST, drop),
        function("FlattenN", &[ANY, INT], Kinds::LIST, flatten_n),
        function("Repeat", &[LIST, INT], Kinds::LIST, repeat),
        function("Concat", &[LIST], Kinds::LIST, concat),
        function("Take", &[LIST, INT], Kinds::LIST, take),
        function("Slice", &[LIST, INT, INT], Kinds::LIST, slice),
        function("Reverse", &[LIST], Kinds::LIST, reverse),
        special("MinItems", &[LIST, INT], Kinds::BOOL, Special::ListMinItems),
        special("MaxItems", &[LIST, INT], Kinds::BOOL, Special::ListMaxItems),
        special(
            "UniqueItems",
            &[LIST],
            Kinds::BOOL,
            Special::ListUniqueItems,
        ),
        special("Contains", &[LIST, ANY], Kinds::BOOL, Special::ListContains),
        special(
            "MatchN",
            &[LIST, ANY, ANY],
            Kinds::BOOL,
            Special::ListMatchN,
        ),
        function("Avg", &[LIST], Kinds::NUMBER, avg),
        function("Max", &[LIST], Kinds::NUMBER, max),
        function("Min", &[LIST], Kinds::NUMBER, min),
        function("Product", &[LIST], Kinds::NUMBER, product),
        function("Range", &[NUMBER, NUMBER, NUMBER], Kinds::LIST, range),
        function("Sum", &[LIST], Kinds::NUMBER, sum),
        special("Sort", &[LIST, ANY], Kinds::LIST, Special::ListSort),
        special("SortStable", &[LIST, ANY], Kinds::LIST, Special::ListSort),
        function("SortStrings", &[LIST], Kinds::LIST, sort_strings),
        special("IsSorted", &[LIST, ANY], Kinds::BOOL, Special::ListIsSorted),
        function("IsSortedStrings", &[LIST], Kinds::BOOL, is_sorted_strings),
    ],
};

/// How deep [`flatten`] goes.
const MAX_DEPTH: usize = 500;

fn index(value: i64) -> Result<usize, Error> {
    if value < 0 {
        return Err(fatal("negative index"));
    }
    Ok(usize::try_from(value).unwrap_or(usize::MAX))
}

fn drop(args: Args<'_>) -> Result<Value, Error> {
    let n = index(args.int(1)?)?;
    Ok(Value::List(args.list(0)?.iter().skip(n).cloned().collect()))
}

fn take(args: Args<'_>) -> Result<Value, Error> {
    let n = index(args.int(1)?)?;
    Ok(Value::List(args.list(0)?.iter().take(n).cloned().collect()))
}

fn slice(args: Args<'_>) -> Result<Value, Error> {
    let (from, to) = (args.int(1)?, args.int(2)?);
    let start = index(from)?;
    if from > to {
        return Err(fatal(format!("invalid index: {from} > {to}")));
    }
    let end = index(to)?;
    args.list(0)?
        .get(start..end)
        .map(|items| Value::List(items.to_vec()))
        .ok_or_else(|| fatal("slice bounds out of range"))
}

fn reverse(args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::List(args.list(0)?.iter().rev().cloned().collect()))
}

fn repeat(args: Args<'_>) -> Result<Value, Error> {
    let (items, count) = (args.list(0)?, args.int(1)?);
    if count < 0 {
        return Err(fatal("negative count"));
    }
    if count > MAX_REPEAT {
        return Err(fatal(format!(
            "count {count} exceeds limit of {MAX_REPEAT}"
        )));
    }
    let count = usize::try_from(count).unwrap_or(0);
    if items.len().saturating_mul(count) > MAX_RESULT / 32 {
        return Err(fatal("result has too many elements"));
    }
    let all = std::iter::repeat_n(items, count).flatten().cloned();
    Ok(Value::List(all.collect()))
}

fn concat(args: Args<'_>) -> Result<Value, Error> {
    let mut all = Vec::new();
    for item in args.list(0)? {
        all.extend_from_slice(as_list(item)?);
    }
    Ok(Value::List(all))
}

fn flatten_n(args: Args<'_>) -> Result<Value, Error> {
    let mut all = Vec::new();
    let depth = args.int(1)?;
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    flatten(as_list(args.value(0))?, depth, MAX_DEPTH, &mut all)?;
    Ok(Value::List(all))
}

fn flatten(items: &[Value], depth: usize, limit: usize, all: &mut Vec<Value>) -> Result<(), Error> {
    for item in items {
        match item {
            Value::List(inner) if depth > 0 => {
                let limit = limit
                    .checked_sub(1)
                    .ok_or_else(|| fatal("list is nested too deeply"))?;
                flatten(inner, depth - 1, limit, all)?;
            }
            other => all.push(other.clone()),
        }
    }
    Ok(())
}

fn avg(args: Args<'_>) -> Result<Value, Error> {
    let numbers = args.decimals(0)?;
    if numbers.is_empty() {
        return Err(fatal("empty list"));
    }
    let count = Decimal::from_int(numbers.len());
    let average = Context::BASE.quo(&total(&numbers)?, &count)?;
    Ok(number(average.reduced_keeping_point()))
}

fn sum(args: Args<'_>) -> Result<Value, Error> {
    Ok(number(total(&args.decimals(0)?)?))
}

fn total(numbers: &[&Decimal]) -> Result<Decimal, Error> {
    let mut total = Decimal::ZERO;
    for number in numbers {
        total = Context::BASE.add(number, &total)?;
    }
    Ok(total)
}

fn product(args: Args<'_>) -> Result<Value, Error> {
    let mut product = Decimal::from_int(1);
    for number in args.decimals(0)? {
        product = Context::BASE.mul(number, &product)?;
    }
    Ok(number(product))
}

fn max(args: Args<'_>) -> Result<Value, Error> {
    // Of equal numbers the first counts, as `1` and `1.0` are.
    extreme(args, |next, best| next.compare(best).is_gt())
}

fn min(args: Args<'_>) -> Result<Value, Error> {
    extreme(args, |next, best| next.compare(best).is_lt())
}

fn extreme(args: Args<'_>, better: fn(&Decimal, &Decimal) -> bool) -> Result<Value, Error> {
    args.decimals(0)?
        .into_iter()
        .reduce(|best, next| if better(next, best) { next } else { best })
        .map(|best| number(best.clone()))
        .ok_or_else(|| fatal("empty list"))
}

fn range(args: Args<'_>) -> Result<Value, Error> {
    let (start, limit, step) = (args.decimal(0)?, args.decimal(1)?, args.decimal(2)?);
    if step.is_zero() {
        return Err(fatal("step must be non zero"));
    }
    let down = step.is_negative();
    if !down && start.compare(limit).is_gt() {
        return Err(fatal(
            "end must be greater than start when step is positive",
        ));
    }
    if down && start.compare(limit).is_lt() {
        return Err(fatal("end must be less than start when step is negative"));
    }
    let mut items = Vec::new();
    let mut next = start.clone();
    while if down {
        next.compare(limit).is_gt()
    } else {
        next.compare(limit).is_lt()
    } {
        if items.len() >= MAX_RESULT / 64 {
            return Err(fatal("range has too many elements"));
        }
        let following = Context::BASE.add(step, &next)?;
        if following.compare(&next).is_eq() {
            return Err(fatal("step is too small for the range"));
        }
        items.push(number(std::mem::replace(&mut next, following)));
    }
    Ok(Value::List(items))
}

fn sort_strings(args: Args<'_>) -> Result<Value, Error> {
    let mut strings = args.strings(0)?;
    strings.sort_unstable();
    Ok(Value::strings(strings))
}

fn is_sorted_strings(args: Args<'_>) -> Result<Value, Error> {
    Ok(args.strings(0)?.is_sorted().into())
}

fn number(value: Decimal) -> Value {
    Value::Num(Num::from_result(value))
}
