-- What a create's body gave as `env`, or the snapshot it began with brought: copies of the sandbox
-- inherit it. It may hold secrets, so it is sealed with the master key, bound to the sandbox's id,
-- and goes when the sandbox ends. A snapshot keeps what its sandbox had until it is removed.
ALTER TABLE sandbox ADD COLUMN sealed_env bytea;
ALTER TABLE snapshot ADD COLUMN sealed_env bytea;
