//! Maps the kinds of pml-scrub to the names in the data set, which are Presidio's.

/// Kinds with other or several names in the data set.
const DATA_NAMES: &[(&str, &[&str])] = &[
    ("EMAIL", &["EMAIL_ADDRESS"]),
    (
        "PHONE",
        &["PHONE_NUMBER", "TR_PHONE_NUMBER", "PH_MOBILE_NUMBER"],
    ),
    ("CARD", &["CREDIT_CARD"]),
    ("IBAN", &["IBAN_CODE"]),
    ("IP", &["IP_ADDRESS"]),
    ("MAC", &["MAC_ADDRESS"]),
    ("CRYPTO_WALLET", &["CRYPTO"]),
    ("NAME", &["PERSON"]),
    ("PLACE", &["GPE"]),
    ("ADDRESS", &["STREET_ADDRESS"]),
    ("BIRTH_DATE", &["DATE_TIME"]),
    ("DATE", &["DATE_TIME"]),
    ("URL", &["DOMAIN_NAME", "URL"]),
    ("POSTAL_CODE", &["ZIP_CODE", "DE_PLZ", "UK_POSTCODE"]),
    (
        "PASSPORT",
        &[
            "US_PASSPORT",
            "UK_PASSPORT",
            "DE_PASSPORT",
            "ES_PASSPORT",
            "IN_PASSPORT",
            "IT_PASSPORT",
            "KR_PASSPORT",
        ],
    ),
    (
        "DRIVER_LICENSE",
        &[
            "US_DRIVER_LICENSE",
            "UK_DRIVING_LICENCE",
            "DE_FUEHRERSCHEIN",
            "IT_DRIVER_LICENSE",
            "KR_DRIVER_LICENSE",
        ],
    ),
    (
        "VEHICLE_PLATE",
        &[
            "DE_KFZ",
            "UK_VEHICLE_REGISTRATION",
            "IN_VEHICLE_REGISTRATION",
            "NG_VEHICLE_REGISTRATION",
            "TR_LICENSE_PLATE",
        ],
    ),
    ("US_ROUTING_NUMBER", &["ABA_ROUTING_NUMBER"]),
    ("BANK_ACCOUNT", &["US_BANK_NUMBER"]),
];

/// The data set's name of a kind; of several, the one that the row tests.
pub fn in_data<'k>(ours: &'k str, tested: Option<&[String]>) -> &'k str {
    match DATA_NAMES.iter().find(|(kind, _)| *kind == ours) {
        Some((_, names)) => names
            .iter()
            .find(|name| tested.is_some_and(|t| t.iter().any(|t| t == **name)))
            .unwrap_or(&names[0]),
        None => ours,
    }
}

/// Whether a kind has a recognisable format, unlike names, places, organisations and others that depend on
/// language.
pub fn is_structured(kind: &str) -> bool {
    const UNSTRUCTURED: [&str; 10] = [
        "PERSON",
        "STREET_ADDRESS",
        "GPE",
        "LOCATION",
        "ORGANIZATION",
        "NRP",
        "TITLE",
        "DATE_TIME",
        "AGE",
        "NORP",
    ];
    !UNSTRUCTURED.contains(&kind)
}
