//! Nothing is refused that a real validator accepts.

use super::*;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// Names far from each other: a slip in an open schema is told although a validator accepts it.
const NAMES: [&str; 4] = ["alpha", "bravo", "charlie", "delta"];

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 6 } else { 9 }) {
        0 => json!(null),
        1 => json!(dice.roll(2) == 0),
        2 => json!(dice.roll(12) as i64 - 4),
        3 => json!(1.5),
        4 => json!(*dice.pick(&["", "a", "abc", "/x"])),
        5 => json!({}),
        6 => (0..dice.roll(4)).map(|_| value(dice, depth - 1)).collect(),
        _ => object(dice, depth),
    }
}

fn object(dice: &mut Dice, depth: usize) -> Value {
    let mut object = serde_json::Map::new();
    for _ in 0..dice.roll(4) {
        let name = *dice.pick(&NAMES);
        object.insert(name.to_owned(), value(dice, depth.saturating_sub(1)));
    }
    Value::Object(object)
}

fn schema(dice: &mut Dice, depth: usize) -> Value {
    if dice.roll(20) == 0 {
        return json!(dice.roll(2) == 0);
    }
    let mut keywords = serde_json::Map::new();
    let mut put =
        |dice: &mut Dice, odds: usize, key: &str, make: &mut dyn FnMut(&mut Dice) -> Value| {
            if dice.roll(odds) == 0 {
                let made = make(dice);
                keywords.insert(key.to_owned(), made);
            }
        };
    let types = [
        "string", "number", "integer", "boolean", "null", "array", "object",
    ];
    put(dice, 2, "type", &mut |dice| match dice.roll(4) {
        0 => {
            let first = dice.roll(types.len());
            json!([
                types[first],
                types[(first + 1 + dice.roll(types.len() - 1)) % types.len()]
            ])
        }
        _ => json!(*dice.pick(&types)),
    });
    put(dice, 8, "enum", &mut |dice| {
        (0..1 + dice.roll(3)).map(|_| value(dice, 1)).collect()
    });
    put(dice, 12, "const", &mut |dice| value(dice, 1));
    for key in [
        "minimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "multipleOf",
    ] {
        put(dice, 8, key, &mut |dice| json!(1 + dice.roll(4)));
    }
    put(dice, 8, "pattern", &mut |dice| {
        json!(*dice.pick(&["^a", "x$", "^[a-z]*$"]))
    });
    put(dice, 10, "$ref", &mut |dice| {
        json!(*dice.pick(&["#/$defs/one", "#/$defs/two"]))
    });
    if depth > 0 {
        let inner = depth - 1;
        put(dice, 2, "properties", &mut |dice| {
            let fields =
                (0..dice.roll(4)).map(|_| (dice.pick(&NAMES).to_string(), schema(dice, inner)));
            Value::Object(fields.collect())
        });
        put(dice, 4, "required", &mut |dice| {
            let skip = dice.roll(4);
            json!(&NAMES[skip..(skip + dice.roll(3)).min(4)])
        });
        put(dice, 4, "additionalProperties", &mut |dice| {
            schema(dice, inner)
        });
        put(
            dice,
            10,
            "patternProperties",
            &mut |dice| json!({ "^a": schema(dice, inner) }),
        );
        put(dice, 4, "items", &mut |dice| schema(dice, inner));
        put(dice, 8, "prefixItems", &mut |dice| {
            json!([schema(dice, inner)])
        });
        for key in ["allOf", "anyOf", "oneOf"] {
            put(dice, 6, key, &mut |dice| {
                (0..1 + dice.roll(3)).map(|_| schema(dice, inner)).collect()
            });
        }
        put(dice, 12, "not", &mut |dice| schema(dice, inner));
    }
    Value::Object(keywords)
}

#[test]
fn nothing_is_refused_that_a_validator_accepts() {
    let mut dice = Dice(7);
    let (mut refused, mut accepted, mut missed) = (0, 0, 0);
    for _ in 0..600 {
        let mut input = schema(&mut dice, 3);
        if let Value::Object(input) = &mut input {
            let definitions = json!({ "one": schema(&mut dice, 1), "two": schema(&mut dice, 2) });
            input.insert("$defs".to_owned(), definitions);
        }
        let Ok(validator) = jsonschema::validator_for(&input) else {
            continue;
        };
        let servers = BTreeMap::from([("s".to_owned(), ServerState::Listed)]);
        let catalog = Arc::new(Catalog::new("", 0, servers, &[tool("s:t", input.clone())]));
        for _ in 0..4 {
            let arguments = object(&mut dice, 3);
            let found = check(
                "script.ts",
                &format!("await tools.s.t({arguments});"),
                Some(&catalog),
            );
            match (found.is_empty(), validator.is_valid(&arguments)) {
                (true, true) => accepted += 1,
                (false, false) => refused += 1,
                // `not` and the like are not understood.
                (true, false) => missed += 1,
                (false, true) => panic!("{input:#}\n{arguments:#}\n{found:#?}"),
            }
        }
    }
    // The dice must show both sides, and what is missed must be the exception.
    assert!(
        accepted > 100 && refused > 100 && missed * 8 < refused,
        "{accepted} {refused} {missed}"
    );
}
