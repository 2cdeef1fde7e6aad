-- c
CREATE TABLE foo (id INT PRIMARY KEY, name TEXT);  --? class foo table doc="c"; field foo.id; field foo.name
CREATE VIEW v AS SELECT * FROM foo;  --? class v view; read foo
CREATE FUNCTION f(a INT) RETURNS INT AS $$ SELECT 1 $$ LANGUAGE sql;  --? function f
CREATE INDEX i ON foo (id);  --? key i; read foo
ALTER TABLE foo ADD x INT;  --? read foo
CREATE TYPE t AS ENUM ('a');  --? type t
