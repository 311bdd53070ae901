//! Values that are identified by their context: a key, a label, a separator.

use pml_scrub::{ScrubConfig, Scrubber};

fn kinds(text: &str, key: Option<&str>) -> Vec<&'static str> {
    let scrubber = Scrubber::new(&ScrubConfig::default()).expect("the default configuration");
    let found = scrubber.find(text, key);
    found.iter().map(|f| f.kind.as_str()).collect()
}

#[test]
fn the_words_of_a_key_are_context_in_every_case_style() {
    for (key, value, kind) in [
        ("license_number", "D1234567", "DRIVER_LICENSE"),
        ("drivers_license", "F162823540116", "DRIVER_LICENSE"),
        ("driverLicense", "F162823540116", "DRIVER_LICENSE"),
        ("social_insurance_number", "130692544", "CA_SIN"),
        ("tax_file_number", "123456782", "AU_TFN"),
        ("employer_identification_number", "12-3456789", "US_EIN"),
        ("checking_account", "945456787654", "BANK_ACCOUNT"),
        ("checkingAccount", "945456787654", "BANK_ACCOUNT"),
    ] {
        assert_eq!(kinds(value, Some(key)), [kind], "{key}");
    }
    for (key, value) in [
        ("licenseNumbering", "D1234567"),
        ("taxFilename", "123456782"),
        ("rechecking_accounting", "945456787654"),
        ("callMethod", "4155550132"),
    ] {
        assert!(kinds(value, Some(key)).is_empty(), "{key}");
    }
}

#[test]
fn a_number_sign_joins_a_label_to_its_value() {
    for (text, kind) in [
        ("SSN#536-22-1234", "US_SSN"),
        ("Card#4111111111111111", "CARD"),
        ("Acct#945456787654", "BANK_ACCOUNT"),
        ("Phone#415-555-0132", "PHONE"),
    ] {
        assert_eq!(kinds(text, None), [kind], "{text}");
    }
    for text in ["issue#945456787654", "color#536221234"] {
        assert!(kinds(text, None).is_empty(), "{text}");
    }
}

#[test]
fn a_french_number_with_dots_is_not_a_date() {
    assert_eq!(kinds("le 06.12.34.56.78 ou", None), ["PHONE"]);
    assert!(kinds("le 06.12.34.56 ou 06.12.2034", None).is_empty());
}
