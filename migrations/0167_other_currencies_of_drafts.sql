-- In which currencies beside its own a draft's time is charged. To find them takes a look at every
-- event of that time, which whoever reads or issues a draft has no time for. Drafts from before say
-- none.
ALTER TABLE invoice ADD COLUMN other_currencies text[] NOT NULL DEFAULT '{}';
