//! Random schemas and arguments: the check refuses nothing that a complete validator accepts.

use super::*;

/// A generator with a fixed seed.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Names far from each other: a near miss in an open schema is reported although a validator
/// accepts it.
const NAMES: [&str; 4] = ["alpha", "bravo", "charlie", "delta"];

fn value(random: &mut SeededRandom, depth: usize) -> Value {
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 => json!(null),
        1 => json!(random.below(2) == 0),
        2 => json!(random.below(12) as i64 - 4),
        3 => json!(1.5),
        4 => json!(*random.pick(&["", "a", "abc", "/x"])),
        5 => json!({}),
        6 => (0..random.below(4))
            .map(|_| value(random, depth - 1))
            .collect(),
        _ => object(random, depth),
    }
}

fn object(random: &mut SeededRandom, depth: usize) -> Value {
    let mut object = serde_json::Map::new();
    for _ in 0..random.below(4) {
        let name = *random.pick(&NAMES);
        object.insert(name.to_owned(), value(random, depth.saturating_sub(1)));
    }
    Value::Object(object)
}

fn schema(random: &mut SeededRandom, depth: usize) -> Value {
    if random.below(20) == 0 {
        return json!(random.below(2) == 0);
    }
    let mut keywords = serde_json::Map::new();
    let mut put = |random: &mut SeededRandom,
                   odds: usize,
                   key: &str,
                   make: &mut dyn FnMut(&mut SeededRandom) -> Value| {
        if random.below(odds) == 0 {
            let made = make(random);
            keywords.insert(key.to_owned(), made);
        }
    };
    let types = [
        "string", "number", "integer", "boolean", "null", "array", "object",
    ];
    put(random, 2, "type", &mut |random| match random.below(4) {
        0 => {
            let first = random.below(types.len());
            json!([
                types[first],
                types[(first + 1 + random.below(types.len() - 1)) % types.len()]
            ])
        }
        _ => json!(*random.pick(&types)),
    });
    put(random, 8, "enum", &mut |random| {
        (0..1 + random.below(3)).map(|_| value(random, 1)).collect()
    });
    put(random, 12, "const", &mut |random| value(random, 1));
    for key in [
        "minimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "multipleOf",
    ] {
        put(random, 8, key, &mut |random| json!(1 + random.below(4)));
    }
    put(random, 8, "pattern", &mut |random| {
        json!(*random.pick(&["^a", "x$", "^[a-z]*$"]))
    });
    put(random, 10, "$ref", &mut |random| {
        json!(*random.pick(&["#/$defs/one", "#/$defs/two"]))
    });
    if depth > 0 {
        let inner = depth - 1;
        put(random, 2, "properties", &mut |random| {
            let fields = (0..random.below(4))
                .map(|_| (random.pick(&NAMES).to_string(), schema(random, inner)));
            Value::Object(fields.collect())
        });
        put(random, 4, "required", &mut |random| {
            let skip = random.below(4);
            json!(&NAMES[skip..(skip + random.below(3)).min(4)])
        });
        put(random, 4, "additionalProperties", &mut |random| {
            schema(random, inner)
        });
        put(
            random,
            10,
            "patternProperties",
            &mut |random| json!({ "^a": schema(random, inner) }),
        );
        put(random, 4, "items", &mut |random| schema(random, inner));
        put(random, 8, "prefixItems", &mut |random| {
            json!([schema(random, inner)])
        });
        for key in ["allOf", "anyOf", "oneOf"] {
            put(random, 6, key, &mut |random| {
                (0..1 + random.below(3))
                    .map(|_| schema(random, inner))
                    .collect()
            });
        }
        put(random, 12, "not", &mut |random| schema(random, inner));
    }
    Value::Object(keywords)
}

#[test]
fn nothing_is_refused_that_a_validator_accepts() {
    let mut random = SeededRandom(7);
    let (mut refused, mut accepted, mut missed) = (0, 0, 0);
    for _ in 0..600 {
        let mut input = schema(&mut random, 3);
        if let Value::Object(input) = &mut input {
            let definitions =
                json!({ "one": schema(&mut random, 1), "two": schema(&mut random, 2) });
            input.insert("$defs".to_owned(), definitions);
        }
        let Ok(validator) = jsonschema::validator_for(&input) else {
            continue;
        };
        let servers = BTreeMap::from([("s".to_owned(), ListingStatus::Listed)]);
        let catalog = Arc::new(Catalog::new("", 0, servers, &[tool("s:t", input.clone())]));
        for _ in 0..4 {
            let arguments = object(&mut random, 3);
            let found = check(
                "script.ts",
                &format!("await tools.s.t({arguments});"),
                Some(&catalog),
            );
            match (found.is_empty(), validator.is_valid(&arguments)) {
                (true, true) => accepted += 1,
                (false, false) => refused += 1,
                // `not` and the like are not supported.
                (true, false) => missed += 1,
                (false, true) => panic!("{input:#}\n{arguments:#}\n{found:#?}"),
            }
        }
    }
    // The random must show both limit, and what is missed must be the exception.
    assert!(
        accepted > 100 && refused > 100 && missed * 8 < refused,
        "{accepted} {refused} {missed}"
    );
}
