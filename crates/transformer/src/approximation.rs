//! Approximations of elementary functions for 16 numbers at a time.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, i32x16};

/// Number whose addition rounds a float of at most 22 bits to a whole number: the result's lowest bits are that number
/// in two's complement.
pub(crate) const ROUNDING: f32 = 12_582_912.0;

/// Least exponent of [`exp2`]; smaller ones give its result, which is near 1e-38.
const EXPONENT_MIN: f32 = -126.0;

/// Computes 2^x for x ≤ 126 with a relative error below 4e-7.
#[inline(always)]
pub(crate) fn exp2<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let splat = |number: f32| f32x16::splat(simd, number);
    let x = x.max(splat(EXPONENT_MIN));
    let shifted = x + splat(ROUNDING);
    let fraction = x - (shifted - splat(ROUNDING));
    // Taylor polynomial of 2^f for |f| ≤ 1/2.
    let mut power = splat(1.540_353e-4);
    for coefficient in [
        1.333_355_8e-3,
        9.618_129e-3,
        5.550_411e-2,
        2.402_265e-1,
        std::f32::consts::LN_2,
        1.0,
    ] {
        power = power.mul_add(fraction, splat(coefficient));
    }
    let exponent: i32x16<S> = shifted.bitcast();
    let bits: i32x16<S> = power.bitcast();
    (bits + (exponent << 23)).bitcast()
}

/// Computes the Gaussian error linear unit, x · Φ(x), with an absolute error below 1e-6.
///
/// erf is formula 7.1.26 of Abramowitz and Stegun. The tanh formula that other programs use is not faster and differs
/// by up to 5e-4.
#[inline(always)]
pub(crate) fn gelu<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let splat = |number: f32| f32x16::splat(simd, number);
    let size = x.abs();
    let t = splat(1.0)
        / size.mul_add(
            splat(0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2),
            splat(1.0),
        );
    let mut tail = splat(0.5 * 1.061_405_4);
    for coefficient in [
        0.5 * -1.453_152,
        0.5 * 1.421_413_7,
        0.5 * -0.284_496_74,
        0.5 * 0.254_829_6,
    ] {
        tail = tail.mul_add(t, splat(coefficient));
    }
    // Half of 1 − erf(|x| / √2), times |x|.
    let gauss = exp2(simd, x * x * splat(-0.5 * std::f32::consts::LOG2_E));
    x.max(splat(0.0)) - tail * t * gauss * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    /// Applies a function to numbers at the best level and at the scalar one.
    fn apply(numbers: [f32; 16], is_gelu: bool) -> [[f32; 16]; 2] {
        [Level::new(), Level::fallback()].map(|level| {
            dispatch!(level, simd => {
                let x = f32x16::load_array(simd, numbers);
                if is_gelu { gelu(simd, x) } else { exp2(simd, x) }.to_array()
            })
        })
    }

    /// 16 numbers around the middle.
    fn around(middle: f32, step: f32) -> [f32; 16] {
        std::array::from_fn(|at| middle + (at as f32 - 7.5) * step)
    }

    #[test]
    fn exp2_is_within_stated_error() {
        for middle in -1300..=1250 {
            let numbers = around(middle as f32 / 10.0, 0.007);
            for results in apply(numbers, false) {
                for (x, found) in numbers.iter().zip(results) {
                    let exact = f64::from(*x).max(-126.0).exp2();
                    let error = (f64::from(found) - exact).abs() / exact;
                    assert!(error < 4e-7, "2^{x}: {found}, {error:e}");
                }
            }
        }
        let extreme = apply([f32::NEG_INFINITY; 16], false);
        assert!(
            extreme
                .iter()
                .flatten()
                .all(|power| (0.0..1.2e-38).contains(power))
        );
    }

    /// Computes the normal distribution by integration, since the standard library has no erf.
    fn exact_gelu(x: f64) -> f64 {
        let steps = 2_000;
        let width = x / f64::from(steps);
        let density = |at: f64| (-at * at / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let middle = |step: i32| density((f64::from(step) + 0.5) * width);
        x * (0.5 + (0..steps).map(middle).sum::<f64>() * width)
    }

    #[test]
    fn gelu_is_within_stated_error() {
        for middle in -24..=24 {
            let numbers = around(middle as f32 / 3.0, 0.021);
            for results in apply(numbers, true) {
                for (x, found) in numbers.iter().zip(results) {
                    let error = (f64::from(found) - exact_gelu(f64::from(*x))).abs();
                    assert!(error < 1e-6, "gelu({x}): {found}, {error:e}");
                }
            }
        }
        let mut far = [0.0; 16];
        far[..5].copy_from_slice(&[-1e9, 1e9, -0.0, -40.0, 40.0]);
        for results in apply(far, true) {
            let expected = [0.0, 1e9, 0.0, 0.0, 40.0];
            assert!(
                results
                    .iter()
                    .zip(expected)
                    .all(|(a, b)| (a - b).abs() < 1e-6),
                "{results:?}"
            );
        }
    }
}
