-- Port 0 stands for every port of a sandbox that is not open by its own number.
ALTER TABLE port DROP CONSTRAINT port_port_check,
  ADD CONSTRAINT port_port_check CHECK (port BETWEEN 0 AND 65535);
