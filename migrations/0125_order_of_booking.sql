-- Events by their number are asked for near its end, which an index of this kind knows nothing of
-- until it is summarized: now that happens as the table grows, not when it is next vacuumed.
DROP INDEX usage_event_in_order;
CREATE INDEX usage_event_in_order ON usage_event USING brin (sequence) WITH (autosummarize = on);
