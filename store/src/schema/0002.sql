-- How many milliseconds a run can be read as an MCP task, from its creation; NULL for a run that is none.
ALTER TABLE pml_runs ADD COLUMN task_ttl BIGINT;
