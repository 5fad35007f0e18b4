//! Types of Arrow columns, by their formats in the C data interface.

use crate::c_data::{Read, wrong};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

/// What columns may be of, for errors.
pub(crate) const TAKEN: &str = "binary, large_binary, binary_view, fixed_size_binary, string, \
     large_string, string_view, bool, numbers, decimals, dates, times or a dictionary of these";

/// A type whose values are bytes or have so many bytes; or what it is called, if it is another.
pub(crate) fn parse(format: &str) -> Read<Result<DataType, String>> {
    if let Some(width) = format.strip_prefix("w:") {
        return Ok(Ok(DataType::FixedSizeBinary(width_of(width)?)));
    }
    let of = match format.strip_prefix("d:") {
        Some(given) => Some(decimal(given)?),
        None => plain(format).or_else(|| with_unit(format)),
    };
    Ok(match of {
        // Their encoding has the lowest byte first, and is what lies in memory.
        Some(of) if cfg!(target_endian = "big") && of.primitive_width() > Some(1) => {
            Err(format!("{of} on a CPU with the highest byte first"))
        }
        Some(of) => Ok(of),
        None => Err(called(format)),
    })
}

fn plain(format: &str) -> Option<DataType> {
    Some(match format {
        "z" => DataType::Binary,
        "Z" => DataType::LargeBinary,
        "vz" => DataType::BinaryView,
        "u" => DataType::Utf8,
        "U" => DataType::LargeUtf8,
        "vu" => DataType::Utf8View,
        "b" => DataType::Boolean,
        "c" => DataType::Int8,
        "C" => DataType::UInt8,
        "s" => DataType::Int16,
        "S" => DataType::UInt16,
        "i" => DataType::Int32,
        "I" => DataType::UInt32,
        "l" => DataType::Int64,
        "L" => DataType::UInt64,
        "e" => DataType::Float16,
        "f" => DataType::Float32,
        "g" => DataType::Float64,
        "tdD" => DataType::Date32,
        "tdm" => DataType::Date64,
        "tts" => DataType::Time32(TimeUnit::Second),
        "ttm" => DataType::Time32(TimeUnit::Millisecond),
        "ttu" => DataType::Time64(TimeUnit::Microsecond),
        "ttn" => DataType::Time64(TimeUnit::Nanosecond),
        "tiM" => DataType::Interval(IntervalUnit::YearMonth),
        "tiD" => DataType::Interval(IntervalUnit::DayTime),
        "tin" => DataType::Interval(IntervalUnit::MonthDayNano),
        _ => return None,
    })
}

/// Durations, and timestamps with their time zones.
fn with_unit(format: &str) -> Option<DataType> {
    let (kind, rest) = format.split_at_checked(2)?;
    let (unit, rest) = rest.split_at_checked(1)?;
    let unit = match unit {
        "s" => TimeUnit::Second,
        "m" => TimeUnit::Millisecond,
        "u" => TimeUnit::Microsecond,
        "n" => TimeUnit::Nanosecond,
        _ => return None,
    };
    match (kind, rest, rest.strip_prefix(':')) {
        ("tD", "", _) => Some(DataType::Duration(unit)),
        ("ts", ":", _) => Some(DataType::Timestamp(unit, None)),
        ("ts", _, Some(zone)) => Some(DataType::Timestamp(unit, Some(zone.into()))),
        _ => None,
    }
}

/// Precision, scale and, if they are not 128, bits.
fn decimal(given: &str) -> Read<DataType> {
    let mut fields = given.split(',');
    let precision = fields.next().and_then(|field| field.parse().ok());
    let scale = fields.next().and_then(|field| field.parse().ok());
    let bits = fields.next().unwrap_or("128");
    match (precision, scale, bits, fields.next()) {
        (Some(p @ 1..=9), Some(scale), "32", None) => Ok(DataType::Decimal32(p, scale)),
        (Some(p @ 1..=18), Some(scale), "64", None) => Ok(DataType::Decimal64(p, scale)),
        (Some(p @ 1..=38), Some(scale), "128", None) => Ok(DataType::Decimal128(p, scale)),
        (Some(p @ 1..=76), Some(scale), "256", None) => Ok(DataType::Decimal256(p, scale)),
        _ => wrong(
            format_args!("format {:?}", format!("d:{given}")),
            "d: with precision, scale and 32, 64, 128 or 256 bits for them",
        ),
    }
}

fn width_of(given: &str) -> Read<i32> {
    let digits = given.bytes().all(|digit| digit.is_ascii_digit());
    // As many digits as the largest has.
    match given.parse() {
        Ok(width) if digits && given.len() <= 10 => Ok(width),
        _ => {
            let most = i32::MAX;
            wrong(
                format_args!("format {:?}", format!("w:{given}")),
                format_args!("w: and 0 to {most}"),
            )
        }
    }
}

/// What a type that is not taken is called.
fn called(format: &str) -> String {
    const NAMES: [(&str, &str); 6] = [
        ("n", "null"),
        ("+l", "list"),
        ("+L", "large_list"),
        ("+s", "struct"),
        ("+m", "map"),
        ("+r", "run_end_encoded"),
    ];
    match NAMES.iter().find(|(known, _)| *known == format) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("one of format {format:?}"),
    }
}
