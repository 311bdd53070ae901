//! In-memory vectors of a set of tools, with 8-bit scalar quantization, and their cosines with a query.

/// One quantized vector per tool, all of the same width.
///
/// A component has 8 bits. That is a quarter of the memory that a query reads, which is most of its
/// work, and changes a cosine by less than 0.001.
#[derive(Debug, Clone, Default)]
pub struct QuantizedVectors {
    width: usize,
    components: Vec<i8>,
    /// The scale of each vector: the value of a component of 1.
    scales: Vec<f32>,
}

/// The largest quantized components of a tool's vector and of a query's, which has 16 bits. A dot
/// product stays within 32 bits for vectors a hundred times wider than any model's.
const MAX_COMPONENT: f32 = i8::MAX as f32;
const MAX_QUERY_COMPONENT: f32 = 1_000.0;

impl QuantizedVectors {
    /// Quantizes vectors. `None` if they differ in width.
    pub fn new<V: AsRef<[f32]>>(vectors: &[V]) -> Option<Self> {
        let width = vectors.first().map_or(0, |vector| vector.as_ref().len());
        let mut components = Vec::with_capacity(width * vectors.len());
        let mut scales = Vec::with_capacity(vectors.len());
        for vector in vectors.iter().map(AsRef::as_ref) {
            if vector.len() != width {
                return None;
            }
            let scale = scale_of(vector, MAX_COMPONENT);
            components.extend(vector.iter().map(|value| (value / scale).round() as i8));
            scales.push(scale);
        }
        Some(Self {
            width,
            components,
            scales,
        })
    }

    /// The cosine of `query`, a vector of length 1, with each vector, in order. Empty for a query of
    /// another width.
    pub fn cosines(&self, query: &[f32]) -> Vec<f32> {
        if self.width == 0 || query.len() != self.width {
            return Vec::new();
        }
        let scale = scale_of(query, MAX_QUERY_COMPONENT);
        let query: Vec<i16> = query
            .iter()
            .map(|value| (value / scale).round() as i16)
            .collect();
        let mut products = Vec::with_capacity(self.scales.len());
        dot_products(&self.components, &query, &mut products);
        let cosine = |(product, own): (i32, &f32)| product as f32 * own * scale;
        products.into_iter().zip(&self.scales).map(cosine).collect()
    }
}

/// The scale that maps the largest component to `max`.
fn scale_of(vector: &[f32], max: f32) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
    (largest / max).max(f32::MIN_POSITIVE)
}

fn dot_products(components: &[i8], query: &[i16], products: &mut Vec<i32>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has the feature, as just detected.
        return unsafe { dot_products_avx2(components, query, products) };
    }
    dot_products_scalar(components, query, products);
}

/// The same code, vectorised by the compiler for AVX2: 16 components at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_products_avx2(components: &[i8], query: &[i16], products: &mut Vec<i32>) {
    dot_products_scalar(components, query, products);
}

#[inline(always)]
fn dot_products_scalar(components: &[i8], query: &[i16], products: &mut Vec<i32>) {
    products.extend(components.chunks_exact(query.len()).map(|vector| {
        let product = |(a, b): (&i8, &i16)| i32::from(*a) * i32::from(*b);
        vector.iter().zip(query).map(product).sum::<i32>()
    }));
}

/// The vector scaled to length 1; a zero vector is returned unchanged.
pub fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

/// The mean of the vectors, scaled to length 1.
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
                    (0..384)
                        .map(|at| ((row * 7 + at) % 11) as f32 - 5.0)
                        .collect(),
                )
            })
            .collect();
        let query = vectors[3].clone();
        let cosines = QuantizedVectors::new(&vectors).unwrap().cosines(&query);
        for (cosine, vector) in cosines.iter().zip(&vectors) {
            let plain: f32 = vector.iter().zip(&query).map(|(a, b)| a * b).sum();
            assert!((cosine - plain).abs() < 1e-3, "{cosine} {plain}");
        }
        assert!((cosines[3] - 1.0).abs() < 1e-3);
    }

    #[test]
    fn widths_that_differ_are_refused() {
        assert!(QuantizedVectors::new(&[vec![1.0], vec![1.0, 0.0]]).is_none());
        let vectors = QuantizedVectors::new(&[vec![1.0, 0.0]]).unwrap();
        assert!(vectors.cosines(&[1.0]).is_empty());
        assert!(QuantizedVectors::default().cosines(&[]).is_empty());
        let zero = QuantizedVectors::new(&[[0.0, 0.0]]).unwrap();
        assert_eq!(zero.cosines(&[1.0, 0.0]), [0.0]);
    }
}
