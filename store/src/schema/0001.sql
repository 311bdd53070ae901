-- What the store knows about itself: the check of its key, its id, and on PostgreSQL its version.
CREATE TABLE pml_meta (
  name TEXT NOT NULL PRIMARY KEY,
  value BYTEA NOT NULL
);

-- Runs. `spec` and `outcome` are sealed. `fence` grows with every owner; a write names the fence that it
-- was made under. `packed` is 1 when the journal is in `pml_packs`.
CREATE TABLE pml_runs (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  principal TEXT NOT NULL,
  origin TEXT NOT NULL,
  script TEXT NOT NULL,
  script_digest BYTEA NOT NULL,
  spec BYTEA NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  outcome BYTEA,
  created BIGINT NOT NULL,
  updated BIGINT NOT NULL,
  ended BIGINT,
  owner TEXT,
  fence BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  packed BIGINT NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX pml_runs_created ON pml_runs (tenant, created);
CREATE INDEX pml_runs_ended ON pml_runs (packed, ended) WHERE ended IS NOT NULL;

-- Journals. `request` and `answer` are sealed.
CREATE TABLE pml_entries (
  tenant TEXT NOT NULL,
  run TEXT NOT NULL,
  number BIGINT NOT NULL,
  key BYTEA NOT NULL,
  occurrence BIGINT NOT NULL,
  title TEXT NOT NULL,
  class TEXT,
  state TEXT NOT NULL,
  request BYTEA NOT NULL,
  answer BYTEA,
  answer_order BIGINT,
  clock_ms BIGINT,
  at BIGINT NOT NULL,
  PRIMARY KEY (tenant, run, number)
);

-- Journals of runs that ended a while ago: many entries in one compressed, sealed value.
CREATE TABLE pml_packs (
  tenant TEXT NOT NULL,
  run TEXT NOT NULL,
  number BIGINT NOT NULL,
  entries BYTEA NOT NULL,
  PRIMARY KEY (tenant, run, number)
);

-- Values that scripts keep over a resume. `value` is sealed.
CREATE TABLE pml_checkpoints (
  tenant TEXT NOT NULL,
  run TEXT NOT NULL,
  key TEXT NOT NULL,
  value BYTEA NOT NULL,
  PRIMARY KEY (tenant, run, key)
);

-- Questions to people. `shown` is sealed.
CREATE TABLE pml_approvals (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  run TEXT NOT NULL,
  number BIGINT NOT NULL,
  tool TEXT NOT NULL,
  bound_to BYTEA NOT NULL,
  shown BYTEA NOT NULL,
  expires BIGINT NOT NULL,
  state TEXT NOT NULL,
  created BIGINT NOT NULL,
  answered BIGINT,
  answered_by TEXT,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, run, number, bound_to)
);

-- Which large values a run needs, by the table that refers to them.
CREATE TABLE pml_blob_refs (
  tenant TEXT NOT NULL,
  run TEXT NOT NULL,
  source TEXT NOT NULL,
  name BYTEA NOT NULL,
  PRIMARY KEY (tenant, run, source, name)
);
CREATE INDEX pml_blob_refs_name ON pml_blob_refs (name);
