//! The vectors of a set of tools, compared with those of a query.

/// One vector for each tool, all of one width.
///
/// A component is kept in 8 bits. That is a quarter of what a query has to read, which is most of
/// its work, and moves a cosine by less than a thousandth.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    width: usize,
    components: Vec<i8>,
    /// What a component of each vector is worth.
    units: Vec<f32>,
}

/// The largest components of a tool's vector, and of a query's, which has 16 bits. A sum of their
/// products stays within 32 bits for vectors a hundred times wider than any model's.
const MOST: f32 = i8::MAX as f32;
const MOST_OF_QUERY: f32 = 1_000.0;

impl Vectors {
    /// `None` if the vectors differ in width.
    pub fn new<V: AsRef<[f32]>>(vectors: &[V]) -> Option<Self> {
        let width = vectors.first().map_or(0, |vector| vector.as_ref().len());
        let mut components = Vec::with_capacity(width * vectors.len());
        let mut units = Vec::with_capacity(vectors.len());
        for vector in vectors.iter().map(AsRef::as_ref) {
            if vector.len() != width {
                return None;
            }
            let unit = unit_for(vector, MOST);
            components.extend(vector.iter().map(|value| (value / unit).round() as i8));
            units.push(unit);
        }
        Some(Self {
            width,
            components,
            units,
        })
    }

    /// The cosine of `query` with each vector, in order. Nothing for a query of another width.
    pub fn cosines(&self, query: &[f32]) -> Vec<f32> {
        if self.width == 0 || query.len() != self.width {
            return Vec::new();
        }
        let unit = unit_for(query, MOST_OF_QUERY);
        let query: Vec<i16> = query
            .iter()
            .map(|value| (value / unit).round() as i16)
            .collect();
        let mut products = Vec::with_capacity(self.units.len());
        fill(&self.components, &query, &mut products);
        let worth = |(product, own): (i32, &f32)| product as f32 * own * unit;
        products.into_iter().zip(&self.units).map(worth).collect()
    }
}

/// What a component is worth if the largest is `most`.
fn unit_for(vector: &[f32], most: f32) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
    (largest / most).max(f32::MIN_POSITIVE)
}

fn fill(components: &[i8], query: &[i16], products: &mut Vec<i32>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature, as was just asked.
        return unsafe { fill_wide(components, query, products) };
    }
    fill_plain(components, query, products);
}

/// The same code for processors that do sixteen at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_wide(components: &[i8], query: &[i16], products: &mut Vec<i32>) {
    fill_plain(components, query, products);
}

#[inline(always)]
fn fill_plain(components: &[i8], query: &[i16], products: &mut Vec<i32>) {
    products.extend(components.chunks_exact(query.len()).map(|vector| {
        let product = |(a, b): (&i8, &i16)| i32::from(*a) * i32::from(*b);
        vector.iter().zip(query).map(product).sum::<i32>()
    }));
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
                    (0..384)
                        .map(|at| ((row * 7 + at) % 11) as f32 - 5.0)
                        .collect(),
                )
            })
            .collect();
        let query = vectors[3].clone();
        let cosines = Vectors::new(&vectors).unwrap().cosines(&query);
        for (cosine, vector) in cosines.iter().zip(&vectors) {
            let plain: f32 = vector.iter().zip(&query).map(|(a, b)| a * b).sum();
            assert!((cosine - plain).abs() < 1e-3, "{cosine} {plain}");
        }
        assert!((cosines[3] - 1.0).abs() < 1e-3);
    }

    #[test]
    fn widths_that_differ_are_refused() {
        assert!(Vectors::new(&[vec![1.0], vec![1.0, 0.0]]).is_none());
        let vectors = Vectors::new(&[vec![1.0, 0.0]]).unwrap();
        assert!(vectors.cosines(&[1.0]).is_empty());
        assert!(Vectors::default().cosines(&[]).is_empty());
        let nothing = Vectors::new(&[[0.0, 0.0]]).unwrap();
        assert_eq!(nothing.cosines(&[1.0, 0.0]), [0.0]);
    }
}
