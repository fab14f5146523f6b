-- Sessions of MCP clients. The sandbox of a session is the one whose scope_key is the session's id:
-- at any moment there is one, whichever gateway is asked. Kept for a while after its end, so that
-- what was still on its way then is found and ended too.
CREATE TABLE mcp_session (
  id text PRIMARY KEY CHECK (id ~ '^ms[a-z0-9]{24}$'),
  tenant text NOT NULL REFERENCES tenant,
  key text NOT NULL,  -- of whom opened it, who alone may use it; empty: the environment's operator key
  opened_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now(),  -- within a minute
  ended_at timestamptz
);

CREATE INDEX mcp_session_open ON mcp_session (tenant) WHERE ended_at IS NULL;
CREATE INDEX mcp_session_used ON mcp_session (used_at) WHERE ended_at IS NULL;
CREATE INDEX mcp_session_ended ON mcp_session (ended_at) WHERE ended_at IS NOT NULL;
