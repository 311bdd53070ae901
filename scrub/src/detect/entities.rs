//! Names of people, places and organisations in running text, by a model: see [`crate::entities`].

use super::{DefaultPolicy, Detector, Repeats};
use crate::Kind;
use crate::entities::{EntityKind, entities};
use crate::scan::Scan;

const NAME: Kind = Kind::new("NAME");
const PLACE: Kind = Kind::new("PLACE");
const ORGANIZATION: Kind = Kind::new("ORGANIZATION");

/// It also reports `NAME`, which is not listed: a rule for that kind does not turn the model on.
pub(crate) static DETECTOR: Detector = Detector {
    name: "entities",
    kinds: || vec![PLACE, ORGANIZATION],
    default_policy: DefaultPolicy::Off,
    repeats: Repeats::SearchedIfSeveralWords,
    triggers: &[],
};

/// The confidence in a name that is just likely enough; less than that of a value with a form, which wins
/// where both overlap.
const LEAST: f32 = 0.55;
/// How much the score of the model adds to it at most.
const MOST_ADDED: f32 = 0.14;
/// The score from which on the model is sure.
const SURE: f32 = 1_500.0;

/// Adds the names in a text. A name that another detector found in part, as after `Mr.`, is completed.
pub(crate) fn find(scan: &mut Scan<'_>) {
    scan.set_detector(&DETECTOR);
    // Below the threshold of the configuration's default, a name in context is a guess like any other.
    let mut in_context: Vec<_> = scan
        .candidates
        .iter()
        .filter(|c| c.kind == NAME && c.confidence >= 0.5)
        .copied()
        .collect();
    in_context.sort_by_key(|c| c.start);
    let longest = in_context.iter().map(|c| c.end - c.start).max();
    let longest = longest.unwrap_or_default();
    for entity in entities(scan.text) {
        let share = (entity.margin as f32 / SURE).min(1.0);
        let confidence = LEAST + MOST_ADDED * share;
        let mut kind = match entity.kind {
            EntityKind::Person => NAME,
            EntityKind::Place => PLACE,
            EntityKind::Organisation => ORGANIZATION,
        };
        let (mut start, mut end, mut confidence) =
            (entity.start.max(scan.key_end), entity.end, confidence);
        // Only names that begin shortly before the entity can reach into it.
        let until = in_context.partition_point(|c| c.start < entity.end);
        let near = in_context[..until].iter().rev();
        let near = near.take_while(|c| c.start + longest > entity.start);
        for other in near.filter(|c| entity.start < c.end) {
            (start, end) = (start.min(other.start), end.max(other.end));
            confidence = confidence.max(other.confidence);
            // What a title or a label says is surer than the model.
            kind = NAME;
        }
        scan.add(kind, start, end, confidence);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Profile, ScrubConfig, Scrubber};

    fn kinds(config: &ScrubConfig, text: &str, key: Option<&str>) -> Vec<(&'static str, String)> {
        let scrubber = Scrubber::new(config).expect("a valid configuration");
        let chars: Vec<char> = text.chars().collect();
        let found = scrubber.find(text, key);
        found
            .iter()
            .map(|f| {
                (
                    f.kind.as_str(),
                    chars[f.place.start..f.place.end].iter().collect(),
                )
            })
            .collect()
    }

    const TEXT: &str = "Yesterday Margarethe Quist flew from Lisbon to Oslo.";

    #[test]
    fn names_in_running_text_are_found_only_if_they_are_asked_for() {
        assert!(kinds(&ScrubConfig::default(), TEXT, None).is_empty());
        let with = ScrubConfig {
            entities: Some(true),
            ..ScrubConfig::default()
        };
        let expected = [
            ("NAME", "Margarethe Quist"),
            ("PLACE", "Lisbon"),
            ("PLACE", "Oslo"),
        ];
        assert_eq!(
            kinds(&with, TEXT, None),
            expected.map(|(kind, value)| (kind, value.to_owned()))
        );
        let hipaa = ScrubConfig {
            profile: Profile::Hipaa,
            ..ScrubConfig::default()
        };
        assert_eq!(kinds(&hipaa, TEXT, None).len(), 3);
        let without = ScrubConfig {
            entities: Some(false),
            ..hipaa
        };
        assert!(kinds(&without, TEXT, None).is_empty());
    }

    #[test]
    fn a_rule_for_names_alone_does_not_turn_the_model_on() {
        let rules = [("name".to_owned(), crate::Rule::Action(crate::Action::Mask))];
        let config = ScrubConfig {
            detectors: rules.into(),
            ..ScrubConfig::default()
        };
        assert!(kinds(&config, TEXT, None).is_empty());
    }

    #[test]
    fn a_name_found_in_part_by_its_title_is_completed() {
        let with = ScrubConfig {
            entities: Some(true),
            ..ScrubConfig::default()
        };
        let found = kinds(&with, "Ask Dr. Oyelaran Adebayo-Finch about it.", None);
        assert_eq!(found, [("NAME", "Oyelaran Adebayo-Finch".to_owned())]);
    }

    #[test]
    fn the_key_of_a_value_is_no_part_of_a_name() {
        let with = ScrubConfig {
            entities: Some(true),
            ..ScrubConfig::default()
        };
        for (kind, value) in kinds(&with, "Lisbon", Some("Maria")) {
            assert!(value == "Lisbon", "{kind} {value}");
        }
    }
}
