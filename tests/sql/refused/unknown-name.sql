SELECT COUNT(*) FROM nowhere
SELECT COUNT(*) FROM 'visits.parquet'
SELECT COUNT(*) FROM sqlite_master
SELECT COUNT(*) FROM duckdb_tables
SELECT COUNT(nothing) FROM visits
SELECT COUNT(w.cost) FROM visits v JOIN wards w ON v.ward = w.ward
SELECT COUNT(ward) FROM visits v JOIN wards w ON v.ward = w.ward
SELECT COUNT(*) FROM visits JOIN visits ON visits.person = visits.person
SELECT COUNT(*) FROM visits WHERE "$owner" = 1
SELECT SUM("cost$steps") FROM visits
SELECT COUNT(*) FROM visits WHERE "$rank" = 1
SELECT COUNT(*) FROM (SELECT person AS "$owner" FROM visits)
SELECT COUNT(*) FROM (SELECT person, cost AS person FROM visits)
SELECT COUNT(*) FROM visits WHERE cost > ?
SELECT COUNT(*) FROM visits WHERE cost > :limit
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(trust_me = 1) COUNT(*) FROM visits
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = cost) COUNT(*) FROM visits
SELECT COUNT(rowid) FROM visits
WITH v AS (SELECT person FROM visits) SELECT SUM(cost) FROM v
