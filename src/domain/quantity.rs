//! Kubernetes quantities (`500m`, `256Mi`, `1.5e3`), read as `k8s.io/apimachinery/pkg/api/resource` reads them.
//!
//! A quantity is a decimal number with a suffix: `n u m k M G T P E` (powers of ten), `Ki Mi Gi Ti Pi Ei`
//! (powers of 1024) or an exponent (`e3`, `E-3`). Nothing finer than a billionth is kept: it is rounded up, so
//! that whoever asks for some gets some.

use std::str::FromStr;
use thiserror::Error;

/// Billionths in one.
const NANO: u128 = 1_000_000_000;
/// Billionths in a thousandth.
const NANOS_PER_MILLI: u128 = 1_000_000;

/// Why a text is no usable quantity. Each message names the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// There is no number, or more than one.
    #[error("`{0}` is not a quantity: a number is missing, expected for example 500m, 0.5, 256Mi or 1e3")]
    Number(Box<str>),
    /// The suffix is none of Kubernetes' suffixes.
    #[error("`{0}` is not a quantity: its suffix is none of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, e<number>")]
    Suffix(Box<str>),
    /// CPU and memory are never negative.
    #[error("`{0}` is negative: an amount of CPU or memory cannot be")]
    Negative(Box<str>),
    /// The value does not fit 64 bits, or has more digits than any amount needs.
    #[error("`{0}` is too large for an amount of CPU or memory")]
    TooLarge(Box<str>),
}

/// An amount that is not negative, exact to a billionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    nanos: u128,
}

impl Quantity {
    /// Whole units, rounded up as the kubelet rounds: bytes of memory, number of pods.
    ///
    /// Saturates at `u64::MAX`.
    pub fn whole(self) -> u64 {
        saturate(self.nanos.div_ceil(NANO))
    }

    /// Thousandths, rounded up as the kubelet rounds: millicores of CPU.
    ///
    /// Saturates at `u64::MAX`.
    pub fn milli(self) -> u64 {
        saturate(self.nanos.div_ceil(NANOS_PER_MILLI))
    }

    /// The amount as a fraction, not rounded: cores in use as `metrics.k8s.io` reports them (`5837n`).
    #[expect(clippy::cast_precision_loss, reason = "a measured value, 53 bits are plenty")]
    pub fn fraction(self) -> f64 {
        self.nanos as f64 / NANO as f64
    }
}

/// Millicores of a CPU quantity, e.g. `500` for `500m` or `0.5`.
///
/// # Errors
/// The text is no quantity, or is negative.
pub fn millicores(text: &str) -> Result<u64, QuantityError> {
    Ok(text.parse::<Quantity>()?.milli())
}

/// Bytes of a memory quantity, e.g. `268435456` for `256Mi`.
///
/// # Errors
/// The text is no quantity, or is negative.
pub fn bytes(text: &str) -> Result<u64, QuantityError> {
    Ok(text.parse::<Quantity>()?.whole())
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let end = unsigned
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(QuantityError::Number(text.into()));
        }
        let scale = Scale::of(suffix).ok_or_else(|| QuantityError::Suffix(text.into()))?;

        let fraction = fraction.trim_end_matches('0');
        let Some(mantissa) = mantissa(whole, fraction) else {
            return Err(QuantityError::TooLarge(text.into()));
        };
        if mantissa == 0 {
            return Ok(Self { nanos: 0 });
        }
        if negative {
            return Err(QuantityError::Negative(text.into()));
        }
        let nanos = scale
            .nanos(mantissa, fraction.len())
            .ok_or_else(|| QuantityError::TooLarge(text.into()))?;
        Ok(Self { nanos })
    }
}

/// What a suffix multiplies by: two to the one power, ten to the other.
#[derive(Clone, Copy)]
struct Scale {
    two: u32,
    ten: i64,
}

impl Scale {
    fn of(suffix: &str) -> Option<Self> {
        let ten = |ten| Some(Self { two: 0, ten });
        let two = |two| Some(Self { two, ten: 0 });
        match suffix {
            "n" => ten(-9),
            "u" => ten(-6),
            "m" => ten(-3),
            "" => ten(0),
            "k" => ten(3),
            "M" => ten(6),
            "G" => ten(9),
            "T" => ten(12),
            "P" => ten(15),
            "E" => ten(18),
            "Ki" => two(10),
            "Mi" => two(20),
            "Gi" => two(30),
            "Ti" => two(40),
            "Pi" => two(50),
            "Ei" => two(60),
            _ => {
                let exponent = suffix.strip_prefix(['e', 'E'])?;
                ten(i64::from(exponent.parse::<i32>().ok()?))
            }
        }
    }

    /// `mantissa` with its last `decimals` digits behind the point, times this scale, in billionths rounded up.
    fn nanos(self, mantissa: u128, decimals: usize) -> Option<u128> {
        let scaled = mantissa.checked_mul(1_u128 << self.two)?;
        let power = self.ten + 9 - i64::try_from(decimals).ok()?;
        match u32::try_from(power) {
            Ok(up) => scaled.checked_mul(10_u128.checked_pow(up)?),
            // More digits behind the point than a number of 128 bits has: less than one billionth is left.
            Err(_) => Some(
                u32::try_from(-power)
                    .ok()
                    .and_then(|down| 10_u128.checked_pow(down))
                    .map_or(1, |divisor| scaled.div_ceil(divisor)),
            ),
        }
    }
}

fn mantissa(whole: &str, fraction: &str) -> Option<u128> {
    whole
        .bytes()
        .chain(fraction.bytes())
        .try_fold(0_u128, |sum, digit| {
            sum.checked_mul(10)?.checked_add(u128::from(digit - b'0'))
        })
}

fn saturate(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
