-- Large values, sealed. SQLite has them in files.
CREATE TABLE pml_blobs (
  tenant TEXT NOT NULL,
  name BYTEA NOT NULL,
  bytes BYTEA NOT NULL,
  PRIMARY KEY (tenant, name)
);
