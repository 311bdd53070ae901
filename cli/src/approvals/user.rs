//! The name of the user who answers on the command line.

/// The name of this process's user in the user database, or `uid:` and the number of one that is not
/// in it. Variables such as `USER` do not count: everyone can set them.
pub fn name() -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&users, uid).unwrap_or_else(|| format!("uid:{uid}"))
}

fn name_in(users: &str, uid: u32) -> Option<String> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == uid).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_database_names_the_user() {
        let users = "root:x:0:0:root:/root:/bin/sh\n:x:7:7::/:/bin/sh\nada:x:1000:1000::/home/ada:";
        assert_eq!(name_in(users, 1000).as_deref(), Some("ada"));
        assert_eq!(name_in(users, 7), None);
        assert_eq!(name_in(users, 5), None);
    }
}
