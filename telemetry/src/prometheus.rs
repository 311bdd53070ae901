//! Metrics as text of Prometheus (exposition format 0.0.4).

use std::fmt::Write as _;

use crate::families::{Family, FamilyKind};
use crate::metrics::{Gauge, Metrics};
use crate::series::{Point, Series};

/// All metrics that have a value.
pub fn text(metrics: &Metrics) -> String {
    let mut text = String::with_capacity(16 * 1024);
    metrics.each(|family, series| write_family(&mut text, family, series));
    write_gauges(&mut text, &metrics.observed());
    text
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn write_family(text: &mut String, family: &Family, series: &Series) {
    let mut points = series.points().peekable();
    if points.peek().is_none() {
        return;
    }
    let name = family.prometheus_name();
    let kind = match family.kind {
        FamilyKind::Counter => "counter",
        FamilyKind::Histogram(_) => "histogram",
    };
    head(text, &name, family.help, kind);
    for (values, point) in points {
        let labels = labels(
            family
                .labels
                .iter()
                .copied()
                .zip(values.iter().map(String::as_str)),
        );
        match (point, family.kind) {
            (Point::Buckets { counts, sum }, FamilyKind::Histogram(bounds)) => {
                write_buckets(text, &name, &labels, bounds, counts, *sum);
            }
            (Point::Number(number), _) => {
                let _ = writeln!(text, "{name}{} {number}", braced(&labels));
            }
            (Point::Buckets { .. }, _) => {}
        }
    }
}

fn write_buckets(
    text: &mut String,
    name: &str,
    labels: &str,
    bounds: &[f64],
    counts: &[u64],
    sum: f64,
) {
    let separator = if labels.is_empty() { "" } else { "," };
    let mut total = 0;
    let infinite = [f64::INFINITY];
    for (bound, count) in bounds.iter().chain(&infinite).zip(counts) {
        total += count;
        let _ = match bound.is_finite() {
            true => writeln!(
                text,
                "{name}_bucket{{{labels}{separator}le=\"{bound}\"}} {total}"
            ),
            false => writeln!(
                text,
                "{name}_bucket{{{labels}{separator}le=\"+Inf\"}} {total}"
            ),
        };
    }
    let labels = braced(labels);
    let _ = writeln!(
        text,
        "{name}_sum{labels} {sum}\n{name}_count{labels} {total}"
    );
}

fn write_gauges(text: &mut String, gauges: &[Gauge]) {
    let mut last = "";
    for gauge in gauges {
        let mut name = gauge.name.replace('.', "_");
        if gauge.is_counter {
            name += "_total";
        }
        if gauge.name != last {
            let kind = if gauge.is_counter { "counter" } else { "gauge" };
            head(text, &name, gauge.help, kind);
            last = gauge.name;
        }
        let labels = labels(
            gauge
                .labels
                .iter()
                .map(|(name, value)| (*name, value.as_str())),
        );
        let _ = writeln!(text, "{name}{} {}", braced(&labels), gauge.value);
    }
}

fn braced(labels: &str) -> String {
    match labels.is_empty() {
        true => String::new(),
        false => format!("{{{labels}}}"),
    }
}

/// `name="value",…` A label without a value is left out: to Prometheus it is the same.
fn labels<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, value) in pairs.filter(|(_, value)| !value.is_empty()) {
        if !text.is_empty() {
            text.push(',');
        }
        let _ = write!(text, "{}=\"", name.replace('.', "_"));
        for c in value.chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                // Other control characters would garble what a person looks at.
                c if c.is_control() => text.push('\u{fffd}'),
                c => text.push(c),
            }
        }
        text.push('"');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::call_end::{CallEnd, Speculated};

    #[test]
    fn a_histogram_has_cumulative_buckets_and_a_sum() {
        let metrics = Metrics::new(10);
        for millis in [5, 15, 15, 700, 400_000] {
            let took = Duration::from_millis(millis);
            metrics.call_ended(&CallEnd {
                took,
                ..CallEnd::new("tools/call", "s:\"t\"\n")
            });
        }
        let text = metrics.prometheus();
        let line = |labels: &str| {
            format!(
                "mcp_client_operation_duration_seconds_bucket{{mcp_method_name=\"tools/call\",gen_ai_tool_name=\"s:\\\"t\\\"\\n\",{labels}"
            )
        };
        for (le, count) in [
            ("0.01", 1),
            ("0.02", 3),
            ("0.5", 3),
            ("1", 4),
            ("300", 4),
            ("+Inf", 5),
        ] {
            let expected = format!("{}\n", line(&format!("le=\"{le}\"}} {count}")));
            assert!(text.contains(&expected), "{expected}\n{text}");
        }
        assert!(
            text.contains("pml_calls_total{tool=\"s:\\\"t\\\"\\n\",outcome=\"ok\"} 5\n"),
            "{text}"
        );
    }

    #[test]
    fn tools_beyond_the_limit_are_other_and_the_text_stays_small() {
        let metrics = Metrics::new(200);
        let name = |number: u32| format!("server-{number}:{}", "x".repeat(100));
        for number in 0..10_000 {
            for error in [None, Some("timeout"), Some("tool_error")] {
                metrics.call_ended(&CallEnd {
                    error,
                    ..CallEnd::new("tools/call", &name(number))
                });
            }
        }
        let text = metrics.prometheus();
        assert!(text.len() < 1024 * 1024, "{} bytes", text.len());
        assert!(
            text.contains("pml_calls_total{tool=\"other\",outcome=\"timeout\"}"),
            "{text}"
        );
        let total: u64 = text
            .lines()
            .filter(|line| line.starts_with("pml_calls_total{"))
            .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .sum();
        assert_eq!(total, 30_000, "no call is lost");
    }

    #[test]
    fn speculation_and_costs_are_counted() {
        let metrics = Metrics::new(10);
        let end = |speculation, attempts, cost| CallEnd {
            speculation,
            attempts,
            cost,
            ..CallEnd::new("tools/call", "s:t")
        };
        metrics.call_ended(&end(Speculated::Ahead, 1, Some(0.25)));
        metrics.call_ended(&end(Speculated::Ahead, 1, Some(0.25)));
        metrics.call_ended(&end(Speculated::Taken, 0, None));
        let text = metrics.prometheus();
        for line in [
            "pml_speculated_calls_total{result=\"ahead\"} 2\n",
            "pml_speculated_calls_total{result=\"taken\"} 1\n",
            "pml_calls_total{tool=\"s:t\",outcome=\"speculated\"} 1\n",
            "pml_call_cost_total{tool=\"s:t\"} 0.5\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let sent = "mcp_client_operation_duration_seconds_count{mcp_method_name=\"tools/call\",gen_ai_tool_name=\"s:t\"} 2\n";
        assert!(
            text.contains(sent),
            "a taken result is not a request\n{text}"
        );
    }

    #[test]
    fn names_of_tools_that_do_not_exist_take_no_place() {
        let metrics = Metrics::new(1);
        for number in 0..10 {
            let name = format!("s:guess-{number}");
            let error = Some("unknown");
            metrics.call_ended(&CallEnd {
                error,
                attempts: 0,
                ..CallEnd::new("tools/call", &name)
            });
        }
        let text = metrics.prometheus();
        assert!(!text.contains("guess"), "{text}");
        assert!(
            text.contains("{tool=\"other\",outcome=\"unknown\"} 10"),
            "{text}"
        );
    }

    #[test]
    fn observed_values_have_one_head_per_name() {
        let metrics = Metrics::new(10);
        metrics.observe(|| {
            let gauge = |server: &str| Gauge {
                name: "pml.breaker.state",
                help: "The state.",
                is_counter: false,
                labels: vec![("server", server.to_owned())],
                value: 2.0,
            };
            vec![gauge("a"), gauge("b")]
        });
        let expected = "# HELP pml_breaker_state The state.\n# TYPE pml_breaker_state gauge\npml_breaker_state{server=\"a\"} 2\npml_breaker_state{server=\"b\"} 2\n";
        assert_eq!(metrics.prometheus(), expected);
    }
}
