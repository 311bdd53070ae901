//! Which traces are recorded.

use pml_protocol::{TraceContext, TraceId};

use crate::error::TelemetryError;

/// The rule for new traces, and whether the decision of a caller counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    ratio: f64,
    is_parent_based: bool,
}

impl Default for Sampler {
    fn default() -> Self {
        Self::parent_based(1.0)
    }
}

impl Sampler {
    /// The decision of the caller counts; without one, this share of the traces is recorded.
    pub fn parent_based(ratio: f64) -> Self {
        Self {
            ratio,
            is_parent_based: true,
        }
    }

    /// The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name.
    ///
    /// # Errors
    ///
    /// There is no such sampler, or the share is not a number from 0 to 1.
    pub fn named(name: &str, share: Option<&str>) -> Result<Self, TelemetryError> {
        let (is_parent_based, root) = match name.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, name),
        };
        let ratio = match root {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => match share {
                Some(share) => Self::share("OTEL_TRACES_SAMPLER_ARG", share)?,
                None => 1.0,
            },
            _ => {
                return Err(TelemetryError::invalid(
                    "OTEL_TRACES_SAMPLER",
                    name,
                    "expected always_on, always_off, traceidratio, or one of them behind parentbased_",
                ));
            }
        };
        Ok(Self {
            ratio,
            is_parent_based,
        })
    }

    /// A share from 0 to 1.
    pub(crate) fn share(name: &str, text: &str) -> Result<f64, TelemetryError> {
        let share = text.trim().parse().ok();
        share
            .filter(|share| (0.0..=1.0).contains(share))
            .ok_or_else(|| {
                TelemetryError::invalid(name, text, "expected a number from 0 to 1, such as 0.1")
            })
    }

    /// Whether a span is recorded.
    pub fn decides(&self, parent: Option<&TraceContext>, trace: TraceId) -> bool {
        if let (true, Some(parent)) = (self.is_parent_based, parent) {
            return parent.is_sampled();
        }
        // As the other SDKs do, so that services with one share record the same traces.
        let bound = (self.ratio * (1_u64 << 63) as f64) as u64;
        (trace.low() >> 1) < bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_decides_unless_the_sampler_is_not_based_on_parents() {
        let parent = TraceContext::root(true);
        let unsampled = parent.clone().sampled(false);
        let decides = |sampler: Sampler, parent: &TraceContext| {
            sampler.decides(Some(parent), parent.trace_id())
        };
        let never = Sampler::named("parentbased_always_off", None).unwrap();
        assert!(decides(never, &parent) && !decides(Sampler::default(), &unsampled));
        assert!(!never.decides(None, parent.trace_id()));
        assert!(decides(
            Sampler::named("always_on", None).unwrap(),
            &unsampled
        ));
        assert!(!decides(
            Sampler::named("always_off", None).unwrap(),
            &parent
        ));
        assert!(Sampler::named("jaeger_remote", None).is_err());
        assert!(Sampler::named("traceidratio", Some("2")).is_err());
    }

    #[test]
    fn a_share_of_the_traces_is_recorded() {
        let tenth = Sampler::named("traceidratio", Some("0.1")).unwrap();
        let recorded = (0..10_000).filter(|_| tenth.decides(None, TraceId::random()));
        let count = recorded.count();
        assert!((800..1_200).contains(&count), "{count} of 10,000");
    }
}
