-- Facts whose tables could still be emptied as a whole.
CREATE TRIGGER reconciliation_stays BEFORE TRUNCATE ON reconciliation
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER budget_event_stays BEFORE TRUNCATE ON budget_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
