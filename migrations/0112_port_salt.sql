-- A token that a repeated request is given again is worked out from the request; with this, one that
-- comes after the port was closed gets another. Not secret: the key is.
ALTER TABLE port ADD COLUMN salt text NOT NULL DEFAULT '';
