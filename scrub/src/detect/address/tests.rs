//! Addresses of each country, as its post office writes them, and what only looks alike.

use crate::cases;

#[test]
fn streets_with_a_number_are_addresses() {
    cases::check(
        "ADDRESS",
        &[
            ("at 221B Baker Street today", "221B Baker Street"),
            ("1600 Pennsylvania Ave NW", "1600 Pennsylvania Ave NW"),
            ("2437 Main St, Apt. 442", "2437 Main St, Apt. 442"),
            ("33 avenue de Provence", "33 avenue de Provence"),
            ("Calle Mayor 12", "Calle Mayor 12"),
            ("in der Hauptstraße 5a.", "Hauptstraße 5a"),
            ("P.O. Box 1234", "P.O. Box 1234"),
            ("Postfach 1234", "Postfach 1234"),
            ("to Calle Mayor 12\n Madrid 28001 now", "Calle Mayor 12"),
            (
                "Calle Mayor 12\n Madrid 28001",
                "Calle Mayor 12\n Madrid 28001",
            ),
        ],
        &[
            "drive 5 miles",
            "the street is long",
            "Main Street",
            "2 way binding",
            "Place 5 items",
            "via the 2 APIs",
            "acceleration of SHA-256 via SHA extension",
            "5 Ways to Drive",
            "Copyright (c) 2011 Jane Court",
            "const st = 5",
            "str. 5",
        ],
    );
}

#[test]
fn an_address_goes_on_with_its_unit_town_code_and_country() {
    cases::check(
        "ADDRESS",
        &[
            (
                "at 12 Oak Street, Suite 5, Springfield, United States.",
                "12 Oak Street, Suite 5, Springfield, United States",
            ),
            (
                "Flat 3, 12 High Street, London SW1A 1AA",
                "Flat 3, 12 High Street, London SW1A 1AA",
            ),
            (
                "Lindenweg 12, 10115 Berlin, Germany",
                "Lindenweg 12, 10115 Berlin, Germany",
            ),
            (
                "12 rue de la Paix, 75002 Paris",
                "12 rue de la Paix, 75002 Paris",
            ),
            (
                "Calle Mayor 12, 28013 Madrid",
                "Calle Mayor 12, 28013 Madrid",
            ),
            (
                "Via Garibaldi 7, 20121 Milano (MI), Italia",
                "Via Garibaldi 7, 20121 Milano (MI), Italia",
            ),
            (
                "C/ Alcalá 45, Madrid, España",
                "C/ Alcalá 45, Madrid, España",
            ),
            (
                "Flat No. 12, Sai Residency, MG Road, Bengaluru 560001",
                "Flat No. 12, Sai Residency, MG Road, Bengaluru 560001",
            ),
            (
                "PSC 1234, Box 567\nAPO AE 09021",
                "PSC 1234, Box 567\nAPO AE 09021",
            ),
            (
                "Unit 4719 Box 7394\nDPO AP 70942 in case",
                "Unit 4719 Box 7394\nDPO AP 70942",
            ),
        ],
        &[
            "12 angry men, 1957 film",
            "see chapter 3, 12345 words",
            "FPO AP is a region",
            "flat nose, 560001",
        ],
    );
}

#[test]
fn a_phrase_announces_an_address() {
    cases::check(
        "ADDRESS",
        &[
            ("She lives at Lindenau 12.", "Lindenau 12"),
            (
                "Please send it to 4711 Tjalling 125\n Suite 250\n Lippenhuizen\n Netherlands?",
                "4711 Tjalling 125\n Suite 250\n Lippenhuizen\n Netherlands",
            ),
            ("Address: 17693 Király u. 15.", "17693 Király u. 15"),
            ("at the corner of Kuusiku 7 and Ravala 12.", "Kuusiku 7"),
        ],
        &[
            "sent to Maria 5 minutes ago",
            "delivered to 12 Countries",
            "moved to Version 2",
            "IP address: 10",
            "located at line 5",
            "moved to Python 3.",
            "lives on Earth",
        ],
    );
}

#[test]
fn a_street_before_a_town_and_its_code_needs_no_word_such_as_street() {
    cases::check(
        "ADDRESS",
        &[
            (
                "wohnt Am Markt 5, 10115 Berlin.",
                "Am Markt 5, 10115 Berlin",
            ),
            (
                "Unter den Linden 77\nD-10117 Berlin\n",
                "Unter den Linden 77\nD-10117 Berlin",
            ),
            (
                "Calle Mayor, 12, 28013 Madrid",
                "Calle Mayor, 12, 28013 Madrid",
            ),
            (
                "Largo Augusto 3, 20122 Milano",
                "Largo Augusto 3, 20122 Milano",
            ),
            (
                "ship it to 17 Foxglove, Springfield, IL 62704-1234 today",
                "17 Foxglove, Springfield, IL 62704-1234",
            ),
            (
                "17 Foxglove\nSpringfield, IL 62704",
                "17 Foxglove\nSpringfield, IL 62704",
            ),
            (
                "at 4 The Rise, Bristol BS1 4ND now",
                "4 The Rise, Bristol BS1 4ND",
            ),
            (
                "14, 2nd Cross, Indiranagar, Bengaluru - 560038",
                "14, 2nd Cross, Indiranagar, Bengaluru - 560038",
            ),
            ("Neubaugasse 8, 1070 Wien", "Neubaugasse 8, 1070 Wien"),
        ],
        &[
            "see Table 5, 10115 Rows",
            "on March 5, 10115 People came",
            "in Figure 12, 2024 Results",
            "costs 5, 10115 in Berlin",
            "Springfield, IL 62704",
            "the London office, SW1A 1AA",
            "Bengaluru - 560038",
            "Error 5, 100000 more",
            "for Pascal (GTX 1070, 1080 Ti, Titan Xp)",
        ],
    );
}
