//! The tables, and the migrations that make them.

/// One step from a version of the schema to the next.
pub(crate) struct Migration {
    /// The version that it leads to.
    pub version: i64,
    /// Its statements, as PostgreSQL has them; for SQLite, `BYTEA` reads `BLOB`.
    pub sql: &'static str,
    /// More statements, for PostgreSQL alone.
    pub postgres_sql: &'static str,
}

/// All migrations. A released one never changes: a change of the schema is a new entry.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: include_str!("schema/0001.sql"),
        postgres_sql: include_str!("schema/0001_postgres.sql"),
    },
    Migration {
        version: 2,
        sql: include_str!("schema/0002.sql"),
        postgres_sql: "",
    },
];

/// The version that a list of migrations leads to.
pub(crate) fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |migration| migration.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_numbered_from_one() {
        for (at, migration) in MIGRATIONS.iter().enumerate() {
            assert_eq!(migration.version, at as i64 + 1);
        }
    }

    #[test]
    fn the_tenant_is_in_every_table_and_every_primary_key() {
        let tables = MIGRATIONS
            .iter()
            .flat_map(|migration| [migration.sql, migration.postgres_sql])
            .flat_map(|sql| sql.split("CREATE TABLE ").skip(1));
        for table in tables.filter(|table| !table.starts_with("pml_meta ")) {
            assert!(table.contains("tenant TEXT NOT NULL"), "{table}");
            assert!(table.contains("PRIMARY KEY (tenant, "), "{table}");
        }
    }
}
