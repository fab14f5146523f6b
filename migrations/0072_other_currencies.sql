-- In which currencies beside its own a sandbox is charged: no estimate and no budget counts them.
ALTER TABLE sandbox ADD COLUMN other_currencies text[] NOT NULL DEFAULT '{}';
