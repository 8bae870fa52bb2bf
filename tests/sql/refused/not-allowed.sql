SELECT * FROM visits
SELECT ward FROM visits
SELECT cost, COUNT(*) FROM visits GROUP BY ward
SELECT 1 FROM visits
SELECT COUNT(*)
SELECT COUNT(*) FROM wards
SELECT COUNT(*) FROM read_csv('/etc/passwd')
SELECT COUNT(*) FROM glob('*')
SELECT COUNT(*) FROM information_schema.tables
SELECT COUNT(*) FROM duckdb_settings()
SELECT COUNT(*) FROM range(10)
SELECT COUNT(*) FROM (VALUES (1), (2)) AS v(x)
SELECT DISTINCT ward, COUNT(*) FROM visits GROUP BY ward
SELECT COUNT(*) FROM visits WHERE random() > 0.5
SELECT COUNT(*) FROM visits WHERE now() > day
SELECT COUNT(*) FROM visits WHERE CURRENT_DATE > day
SELECT COUNT(*) FROM visits WHERE uuid() = zip
SELECT COUNT(*) FROM visits WHERE getenv('HOME') = 'x'
SELECT COUNT(*) FROM visits WHERE current_setting('threads') = '1'
SELECT COUNT(*) FROM visits WHERE regexp_matches(zip, '(a+)+')
SELECT COUNT(*) FROM visits WHERE zip SIMILAR TO '(a+)+'
SELECT COUNT(*) FROM visits WHERE repeat(zip, 1000000) = 'x'
SELECT COUNT(*) FROM visits WHERE zip LIKE '%a%b%c%d%e%'
SELECT COUNT(*) FROM visits WHERE zip LIKE ward
SELECT COUNT(*) FROM visits WHERE CAST(zip AS BLOB) = 'x'
SELECT COUNT(*) FROM visits WHERE error('x') = 1
SELECT COUNT(*) FROM visits WHERE [1, 2][1] = 1
SELECT STRING_AGG(zip) FROM visits
SELECT ANY_VALUE(zip) FROM visits
SELECT FIRST(zip) FROM visits
SELECT ARG_MAX(zip, cost) FROM visits
SELECT LIST(cost) FROM visits
SELECT MODE(zip) FROM visits
SELECT SUM(DISTINCT cost) FROM visits
SELECT AVG(DISTINCT cost) FROM visits
SELECT COUNT(DISTINCT (zip, ward)) FROM visits
SELECT COUNT(*) FROM visits v FULL JOIN wards w ON v.ward = w.ward
SELECT COUNT(*) FROM visits NATURAL JOIN people
SELECT COUNT(*) FROM visits ASOF JOIN people USING (person)
SELECT COUNT(*) FROM visits POSITIONAL JOIN people
SELECT COUNT(*) FROM visits, LATERAL (SELECT 1) AS l
SELECT COUNT(*) FROM visits TABLESAMPLE 10%
SELECT COUNT(*) FROM visits QUALIFY row_number() OVER () = 1
SELECT COUNT(*) FROM visits LIMIT (SELECT 1)
SELECT COUNT(*) FROM visits LIMIT 10%
SELECT COUNT(*) FROM visits OFFSET 1
SELECT COUNT(*) FROM visits WHERE ward > 5
SELECT SUM(cost) FROM visits WHERE ward + 1 = 2
SELECT COUNT(*) FROM (SELECT person FROM visits LIMIT 1)
SELECT COUNT(*) FROM (SELECT person FROM visits ORDER BY cost)
SELECT COUNT(*) FROM (SELECT person FROM visits USING SAMPLE 5)
SELECT COUNT(*) FROM (SELECT ward FROM visits UNION ALL SELECT ward FROM wards)
SELECT COUNT(*) FROM (SELECT person FROM visits UNION ALL SELECT person, sex FROM people)
WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) FROM r
SELECT COUNT(*) FROM visits v JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) r ON v.ward = r.ward
WITH r AS (SELECT COUNT(*) AS n FROM visits) SELECT COUNT(*) FROM visits WHERE cost > (SELECT n FROM r)
SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits)
SELECT COUNT(*) FROM people WHERE person = (SELECT person FROM visits)
SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person LIMIT 1)
SELECT COUNT(*) FROM people p WHERE p.person IN (SELECT person, ward FROM visits)
SELECT SUM(x) FROM (SELECT person, FIRST(cost ORDER BY day) AS x FROM visits GROUP BY person)
SELECT SUM(x) FROM (SELECT person, ARG_MIN(cost, day) AS x FROM visits GROUP BY person)
SELECT COUNT(*) FROM (SELECT person, LAG(cost, 1, 0.5) OVER (PARTITION BY person ORDER BY day) AS x FROM visits)
SELECT COUNT(*) + 'a' FROM visits
SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING ward > COUNT(*)
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost, age) FROM visits
SELECT ward, COUNT(*) FROM visits GROUP BY ALL
SELECT COUNT(*) FROM visits.main.visits
SELECT COUNT(db.visits.cost) FROM visits
SELECT COUNT(*) FROM visits AS v(a, b)
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 1) COUNT(*) FROM visits
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_per_group = 1) ward, COUNT(*) FROM visits GROUP BY ward
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism = 'none') COUNT(*) FROM visits
SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) AS n FROM (SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM visits))
SELECT COUNT(*) FROM visits WHERE day + INTERVAL 9999999 DAY > DATE '2020-01-01'
SELECT EXTRACT(millennium FROM day) AS m, COUNT(*) FROM visits GROUP BY 1
SELECT COUNT(*) FROM visits WHERE cost
SELECT COUNT(*) FROM visits WHERE 'A' AND ok
SELECT COUNT(*) FROM visits WHERE day >= 'canary'
SELECT COUNT(*) FROM visits WHERE age = 'abc'
SELECT SUM(CASE WHEN zip THEN 1 ELSE 0 END) FROM visits
SELECT COUNT(*) FROM visits WHERE zip IS TRUE
SELECT COUNT(*) FROM visits WHERE COALESCE(age, 'abc') = 1
SELECT COUNT(*) FROM visits WHERE age BETWEEN 'a' AND 'b'
SELECT COUNT(*) FROM visits WHERE zip IN (SELECT floor FROM wards GROUP BY floor)
SELECT COUNT(*) FROM visits EXCEPT SELECT 1
SELECT COUNT(*) FROM visits EXCEPT SELECT COUNT(*) FROM people
SELECT COUNT(*) FROM visits WHERE "or"(ok, ok)
SELECT "count"(*) FROM visits
SELECT COUNT(*) FROM (SELECT ward FROM visits EXCEPT SELECT ward FROM visits)
SELECT COUNT(*) FROM (SELECT ward FROM visits INTERSECT SELECT sex FROM people)
SELECT SUM(day) FROM visits
