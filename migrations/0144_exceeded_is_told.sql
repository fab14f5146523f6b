-- That a budget has no money left is told when its sandboxes are stopped, before what they used is
-- booked. The thresholds which that passes are told then: the two are noted apart.
ALTER TABLE budget ADD COLUMN told_exceeded boolean NOT NULL DEFAULT false;
UPDATE budget SET told_exceeded = true WHERE alerted >= 100;
