//! The vectors of a set of tools, compared with those of a query.

/// One vector for each tool, all of one length, each of length 1.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    width: usize,
    values: Vec<f32>,
}

impl Vectors {
    /// `None` if the vectors differ in width.
    pub fn new<V: AsRef<[f32]>>(vectors: &[V]) -> Option<Self> {
        let width = vectors.first().map_or(0, |vector| vector.as_ref().len());
        let mut values = Vec::with_capacity(width * vectors.len());
        for vector in vectors.iter().map(AsRef::as_ref) {
            if vector.len() != width {
                return None;
            }
            values.extend_from_slice(vector);
        }
        Some(Self { width, values })
    }

    /// The cosine of `query` with each vector, in order. Nothing for a query of another width.
    pub fn cosines(&self, query: &[f32]) -> Vec<f32> {
        if self.width == 0 || query.len() != self.width {
            return Vec::new();
        }
        let mut out = Vec::with_capacity(self.values.len() / self.width);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has both features, as was just asked.
            unsafe { fill_wide(&self.values, query, &mut out) };
            return out;
        }
        fill(&self.values, query, &mut out);
        out
    }
}

/// The same code for processors that do eight at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fill_wide(values: &[f32], query: &[f32], out: &mut Vec<f32>) {
    fill(values, query, out);
}

#[inline(always)]
fn fill(values: &[f32], query: &[f32], out: &mut Vec<f32>) {
    out.extend(
        values
            .chunks_exact(query.len())
            .map(|vector| dot(vector, query)),
    );
}

/// Sixteen sums at once, so that the compiler may use the processor's wide registers: the order
/// of additions of a single sum is not its to change.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(a, b)| a * b)
        .sum();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// A vector of length 1 in the same direction; one without a direction stays.
pub fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

/// The direction between the vectors.
pub fn mean(vectors: impl Iterator<Item = Vec<f32>>) -> Vec<f32> {
    let sum = vectors.reduce(|mut sum, vector| {
        sum.iter_mut()
            .zip(vector)
            .for_each(|(sum, value)| *sum += value);
        sum
    });
    unit(sum.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_are_those_of_a_plain_sum() {
        let vectors: Vec<Vec<f32>> = (0..5)
            .map(|row| {
                unit(
                    (0..37)
                        .map(|at| ((row * 7 + at) % 11) as f32 - 5.0)
                        .collect(),
                )
            })
            .collect();
        let query = vectors[3].clone();
        let cosines = Vectors::new(&vectors).unwrap().cosines(&query);
        for (cosine, vector) in cosines.iter().zip(&vectors) {
            let plain: f32 = vector.iter().zip(&query).map(|(a, b)| a * b).sum();
            assert!((cosine - plain).abs() < 1e-5);
        }
        assert!((cosines[3] - 1.0).abs() < 1e-5);
    }

    #[test]
    fn widths_that_differ_are_refused() {
        assert!(Vectors::new(&[vec![1.0], vec![1.0, 0.0]]).is_none());
        let vectors = Vectors::new(&[vec![1.0, 0.0]]).unwrap();
        assert!(vectors.cosines(&[1.0]).is_empty());
        assert!(Vectors::default().cosines(&[]).is_empty());
    }
}
