//! One suite for both databases. Each test gets a store of its own: a SQLite file, and a schema of a
//! PostgreSQL server that the test run installs and starts.

mod approvals;
mod child;
mod crash;
mod files;
mod fixture;
mod journal;
mod ownership;
mod postgres_server;
mod retention;
mod sealing;
mod settle;
mod tls;
