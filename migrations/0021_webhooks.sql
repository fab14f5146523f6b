-- Webhooks: where events are sent to, and what is still to be sent.
CREATE TABLE webhook (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,  -- empty: the operator's, which gets everybody's events
  name text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  url text NOT NULL,
  secret bytea NOT NULL,  -- sealed with the master key
  types text[] NOT NULL,  -- as event_matches() reads them
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_failure text,  -- one sentence
  last_failure_event text,
  failing_since timestamptz,  -- null: the last delivery went well
  rest_until timestamptz NOT NULL DEFAULT now(),  -- a failing one is not tried before
  disabled_at timestamptz,  -- a day without one success; until it is put again
  UNIQUE (tenant, name)
) WITH (fillfactor = 60);

-- One row for each event that a webhook has not taken yet. Who sends it moves next_try_at on first:
-- that is the lease, and what a sender that died leaves to others.
CREATE TABLE webhook_delivery (
  webhook bigint NOT NULL REFERENCES webhook ON DELETE CASCADE,
  position bigint NOT NULL REFERENCES event ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  attempts int NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (webhook, position)
) WITH (fillfactor = 70);
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, next_try_at);
CREATE INDEX webhook_delivery_of_event ON webhook_delivery (position);
