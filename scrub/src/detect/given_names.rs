//! Common given names of many countries: enough to distinguish a person from a thing after `name:`.

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "aaron", "abdul", "abigail", "adam", "adrian", "agnes", "agnieszka", "ahmed", "aisha", "alan", "albert", "alejandro",
    "aleksander", "alessandro", "alex", "alexander", "alexandra", "alexis", "alfred", "ali", "alice", "alicia", "alison",
    "amanda", "amelia", "amir", "amit", "amy", "ana", "anders", "andrea", "andreas", "andres", "andrew", "andrzej", "angela",
    "anita", "anna", "anne", "anthony", "antonio", "arjun", "arthur", "ashley", "astrid", "barbara", "beatriz", "benjamin",
    "bernard", "beth", "betty", "bill", "björn", "bob", "brandon", "brian", "bruno", "camila", "carl", "carla", "carlos",
    "carmen", "carol", "caroline", "catherine", "cecilia", "charles", "charlotte", "chen", "chiara", "chloe", "chris",
    "christian", "christina", "christine", "christopher", "claire", "clara", "claudia", "claus", "craig", "cynthia",
    "dan", "daniel", "daniela", "david", "deborah", "denise", "dennis", "diana", "diego", "dimitri", "dmitri", "donald",
    "dorothy", "douglas", "eduardo", "edward", "elena", "eleanor", "elias", "elizabeth", "ella", "ellen", "emily", "emma",
    "enrique", "eric", "erik", "ernst", "eva", "evelyn", "fatima", "felix", "fernando", "filip", "florian", "frances",
    "francesca", "francesco", "francisco", "franck", "frank", "françois", "frederic", "fritz", "gabriel", "gareth", "gary",
    "george", "gerald", "giorgio", "giovanni", "giulia", "giuseppe", "gloria", "grace", "greg", "gregory", "guillaume",
    "gustav", "hannah", "hans", "harold", "harry", "hassan", "heather", "heidi", "heinrich", "helen", "helena", "henri",
    "henry", "hiroshi", "hugo", "ian", "ibrahim", "igor", "ines", "ingrid", "irene", "irina", "isabel", "isabella", "ivan",
    "jack", "jacob", "jacques", "jaime", "james", "jan", "jane", "janet", "janice", "jason", "javier", "jean", "jeffrey",
    "jennifer", "jenny", "jerry", "jessica", "joan", "joana", "joanna", "joe", "joel", "johan", "johann", "johannes", "john",
    "johnny", "jonas", "jonathan", "jorge", "josé", "jose", "josef", "joseph", "joshua", "joyce", "juan", "judith", "judy",
    "julia", "julian", "julie", "julien", "jürgen", "justin", "karen", "karin", "karl", "kate", "katherine", "kathleen",
    "katja", "kavita", "keith", "kelly", "kenneth", "kevin", "khalid", "kim", "klaus", "krzysztof", "kumar", "kyle", "lara",
    "larry", "lars", "laura", "lauren", "laurent", "lea", "lena", "leo", "leon", "leonardo", "lili", "linda", "lisa", "louis",
    "louise", "luca", "lucas", "lucia", "lucy", "luis", "luisa", "lukas", "magdalena", "maja", "marc", "marco", "marcos",
    "margaret", "maria", "maría", "marie", "marina", "mario", "marion", "mark", "markus", "marta", "martha", "martin",
    "mary", "mateo", "mathieu", "matteo", "matthew", "matthias", "maurice", "max", "maximilian", "mehmet", "mei", "melissa",
    "michael", "michel", "michelle", "miguel", "mike", "mohamed", "mohammad", "mohammed", "monica", "monika", "muhammad",
    "nadia", "nancy", "natalia", "natalie", "nathan", "nicholas", "nick", "nicola", "nicolas", "nicole", "niklas", "nina",
    "noah", "nora", "oleg", "oliver", "olivia", "olga", "omar", "oscar", "pablo", "pamela", "paolo", "patricia", "patrick",
    "paul", "paula", "pauline", "pavel", "pedro", "peter", "petra", "philip", "philippe", "phillip", "pierre", "piotr",
    "priya", "rachel", "rafael", "rahul", "raj", "rajesh", "ralph", "ramon", "raymond", "rebecca", "renate", "ricardo",
    "richard", "rita", "robert", "roberto", "roger", "roland", "ronald", "rosa", "rose", "roy", "russell", "ruth", "ryan",
    "sabine", "sally", "samantha", "samir", "samuel", "sandra", "sanjay", "sara", "sarah", "scott", "sean", "sebastian",
    "sergei", "sergio", "sharon", "shirley", "silvia", "simon", "simone", "sofia", "sophia", "sophie", "stefan", "stefano",
    "stella", "stephanie", "stephen", "steve", "steven", "stuart", "sunil", "susan", "susanne", "suzanne", "sven", "svetlana",
    "sylvia", "tatiana", "teresa", "terry", "theodore", "theresa", "thomas", "tim", "timothy", "tom", "tomasz", "tomas", "tony",
    "tracy", "ursula", "valentina", "valerie", "vanessa", "vera", "veronica", "victor", "victoria", "vikram", "vincent",
    "virginia", "vladimir", "walter", "wang", "wayne", "wei", "werner", "william", "wolfgang", "xavier", "yan", "yang", "yasmin",
    "yosef", "yuki", "yusuf", "yvonne", "zhang", "zoe", "zofia",
];

/// Whether the first word of a name is a known given name.
pub(super) fn begins_with_given_name(name: &str) -> bool {
    let first = name
        .split([' ', '-'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    NAMES.contains(&first.as_str())
}
