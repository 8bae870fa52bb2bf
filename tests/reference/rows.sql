SELECT * FROM visits JOIN people USING (person)
SELECT v.*, p.sex FROM visits v JOIN people p USING (person)
SELECT * EXCLUDE (cost) FROM visits
SELECT COALESCE(v.person, p.person) AS person, COUNT(*) AS n FROM visits v FULL JOIN people p ON v.person = p.person GROUP BY COALESCE(v.person, p.person)
SELECT person, COUNT(*) AS n FROM visits v FULL JOIN people p USING (person) GROUP BY person
SELECT person, COUNT(*) FROM (SELECT COALESCE(v.person, p.person) AS person FROM visits v FULL JOIN people p ON v.person = p.person) GROUP BY person
SELECT p.person FROM people p LEFT JOIN visits v ON p.person = v.person AND EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward)
SELECT p.person FROM people p LEFT JOIN visits v ON p.person = v.person AND EXISTS (SELECT 1 FROM events e WHERE e.person = p.person)
SELECT v.person FROM visits v JOIN people p ON v.person = p.person AND v.ward IN (SELECT ward FROM wards)
SELECT person FROM people p WHERE EXISTS (SELECT 1 FROM visits v JOIN notes n ON n.visit = v.visit AND n.score > p.height WHERE v.person = p.person)
SELECT person FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person AND EXISTS (SELECT 1 FROM notes n WHERE n.visit = v.visit))
SELECT person FROM visits v WHERE (ward, age) IN (SELECT ward, floor FROM wards)
SELECT person FROM visits v WHERE (person, ward) NOT IN (SELECT person, kind FROM events)
SELECT person FROM people WHERE person IN (SELECT person FROM visits GROUP BY person HAVING COUNT(*) > 1)
SELECT person, CASE WHEN EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person) THEN 1 ELSE 0 END AS x FROM people p
SELECT person, (SELECT 2 * COUNT(*) + COALESCE(MAX(age), 0) FROM visits v WHERE v.person = p.person AND p.height > 1) AS x FROM people p
SELECT person, COUNT(*) AS n FROM visits v GROUP BY person HAVING COUNT(*) > (SELECT COUNT(*) FROM events e WHERE e.person = v.person)
SELECT person, SUM(cost) FILTER (WHERE ward IN (SELECT ward FROM wards)) AS s FROM visits GROUP BY person
SELECT person, age + 1 AS b, b * 2 AS c FROM visits
SELECT person, UPPER(zip) AS z, COUNT(*) AS n FROM visits GROUP BY person, UPPER(zip)
SELECT person, UPPER(zip) || 'x' AS z, COUNT(*) AS n FROM visits GROUP BY 1, UPPER(zip)
SELECT person, EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward) AS e, COUNT(*) FROM visits v GROUP BY person, EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward)
SELECT person, NULL AS x, 1 AS y FROM visits UNION ALL SELECT person, cost, 0.5 FROM visits
SELECT ward, MAX(floor) AS f, AVG(floor) AS g FROM wards GROUP BY ward
SELECT ward FROM wards UNION SELECT ward FROM wards
SELECT ward FROM wards EXCEPT SELECT ward FROM wards WHERE floor = 1
SELECT DISTINCT ward FROM wards
SELECT person, ward FROM visits UNION SELECT person, sex FROM people
SELECT person, sex, (SELECT height FROM people q WHERE q.person = v.person) AS h FROM people v
SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS r, SUM(age) OVER (PARTITION BY person ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM visits QUALIFY r = 1
SELECT person, day - LAG(day) OVER (PARTITION BY person ORDER BY day) AS gap FROM visits
SELECT person, DATE_PART('year', AGE(DATE '2024-01-01', day)) AS a, DATE_SUB('year', day, CURRENT_DATE) AS b, day + 3 AS c, INTERVAL 3 MONTH + day AS d, day - INTERVAL (age) DAY AS e, LAST_DAY(day) AS f, TO_CHAR(day, 'YYYY-MM') AS g, MONTHNAME(day) AS h FROM visits
SELECT person, CAST(age AS VARCHAR) AS a, CAST('2020-01-01' AS DATE) AS b, CAST(ok AS DOUBLE) AS c, CAST(age AS BOOLEAN) AS d, age::DOUBLE AS e FROM visits
SELECT person, zip NOT LIKE 'x%' AS a, ok IS NOT TRUE AS b, zip IS NOT DISTINCT FROM ward AS c, LOG10(cost) AS d, LOG2(age) AS e, TRIM(zip) AS f, LTRIM(zip) AS g, -cost AS h, - 3 AS i, ROUND(cost, -1) AS j FROM visits
SELECT person FROM visits v LEFT SEMI JOIN people p ON v.person = p.person AND p.height > v.cost
SELECT person FROM visits v ANTI JOIN wards w ON v.ward = w.ward
SELECT v.person FROM visits v LEFT JOIN wards w ON v.ward = w.ward LEFT JOIN people p ON p.person = v.person
SELECT v.person FROM wards w RIGHT JOIN visits v ON v.ward = w.ward
SELECT v.person FROM visits v RIGHT JOIN wards w USING (ward)
SELECT v.person FROM visits v JOIN wards w ON v.age = w.floor + 1
SELECT v.person FROM visits v JOIN wards w ON v.cost = w.floor
SELECT v.person, w.floor FROM wards w JOIN wards u ON w.ward = u.ward JOIN visits v ON v.ward = u.ward
SELECT person, BOOL_OR(ok) AS a, MIN(zip) AS b, COUNT_IF(ok) AS c, AVG(ok) AS d, SUM(ok) AS e, COUNT(DISTINCT ward) AS f FROM visits GROUP BY person
SELECT p.person, v.person AS q, COUNT(*) FROM visits v JOIN people p ON p.person = v.person GROUP BY p.person
SELECT person, NTILE(4) OVER (PARTITION BY person ORDER BY cost) AS q FROM visits
SELECT ward, ROW_NUMBER() OVER (ORDER BY floor) AS r FROM wards
SELECT person FROM visits WHERE ward = 'A' AND cost IN (1, 2.5) AND day > '2020-03-01' AND NULL IS NULL AND age = NULL
SELECT person, day FROM visits WHERE day BETWEEN '2020-01-01' AND '2020-06-30' + INTERVAL 1 DAY
SELECT p.person, v.ward, v.age FROM people p LEFT JOIN visits v ON p.person = v.person AND v.cost > p.height AND v.ok AND p.height > 0.5
SELECT p.person, v.ward, v.age FROM visits v RIGHT JOIN people p ON v.person = p.person AND p.height > 0.5 AND v.age > 1
SELECT COALESCE(v.person, p.person) AS a, v.ward, p.sex FROM visits v FULL JOIN people p ON v.person = p.person AND v.ward = p.sex AND v.age > 1 AND p.height > 0.5
SELECT person, ward, sex, kind FROM visits v FULL JOIN people p USING (person) FULL JOIN events e USING (person)
SELECT v.person, w.floor FROM visits v, wards w, people p WHERE v.ward = w.ward AND p.person = v.person AND p.height > 0.5
SELECT c.person, n.score, w.floor FROM notes n, wards w, people c, visits v WHERE c.person = v.person AND v.visit = n.visit AND w.ward = v.ward
SELECT v.person, v.visit FROM visits v WHERE v.cost > (SELECT AVG(u.cost) FROM visits u WHERE u.person = v.person) OR EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward AND w.floor > v.age)
SELECT v.person, v.visit, (SELECT COUNT(*) FROM notes n WHERE n.visit = v.visit) AS n, (SELECT MAX(score) FROM notes n WHERE n.visit = v.visit AND v.ok) AS m FROM visits v
SELECT v.person, n.score FROM visits v JOIN notes n ON n.visit = v.visit WHERE EXISTS (SELECT 1 FROM notes m WHERE m.visit = v.visit AND m.score >= n.score)
SELECT person FROM visits EXCEPT SELECT person FROM people
SELECT person, ward FROM visits INTERSECT SELECT person, sex FROM people
SELECT person, age FROM visits UNION ALL SELECT person, height FROM people
SELECT DISTINCT person, ward FROM visits
SELECT DISTINCT ON (person) person, cost, day FROM visits WHERE day IS NOT NULL ORDER BY person, day DESC
SELECT DISTINCT ON (person, ward) person, ward, day FROM visits WHERE day IS NOT NULL ORDER BY day
SELECT person, ward, SUM(COUNT(*)) OVER (PARTITION BY person) AS t, COUNT(*) AS n FROM visits GROUP BY person, ward HAVING n >= 1 QUALIFY t >= 2
SELECT person, LAST_VALUE(cost) OVER (PARTITION BY person ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS t, RANK() OVER w AS r FROM visits WINDOW w AS (PARTITION BY person ORDER BY cost DESC)
SELECT person, LAST_VALUE(cost) OVER (PARTITION BY person ORDER BY day DESC RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS t, FIRST_VALUE(age) OVER (PARTITION BY person ORDER BY day NULLS FIRST) AS f, LAST_VALUE(age) OVER (PARTITION BY person ORDER BY day) AS l FROM visits
SELECT person, SUM(age) OVER (PARTITION BY person ORDER BY day ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS a, COUNT(*) OVER (PARTITION BY person ORDER BY cost) AS b, AVG(cost) OVER (PARTITION BY person) AS c, COUNT(age) FILTER (WHERE ok) OVER (PARTITION BY person, ward) AS d, DENSE_RANK() OVER (PARTITION BY person ORDER BY ward DESC) AS e, LEAD(age, 1) OVER (PARTITION BY person ORDER BY day) AS f FROM visits
SELECT v.person, w.floor FROM visits v LEFT JOIN wards w ON v.ward = w.ward AND w.floor > 1
SELECT v.person, w.floor FROM visits v JOIN wards w ON v.age < w.floor
SELECT v.person, w.floor, u.floor AS g FROM visits v CROSS JOIN wards w LEFT JOIN wards u ON u.floor = w.floor + 1
SELECT v.person, w.ward, w.floor FROM visits v JOIN wards w ON v.age = w.floor + 1
SELECT v.person, w.floor FROM visits v JOIN wards w ON v.cost * 2 = w.floor
SELECT person, visit FROM visits v WHERE age > (SELECT MIN(floor) FROM wards) AND NOT EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward AND w.floor = v.age)
SELECT person, (SELECT top FROM (SELECT ward, MAX(floor) AS top FROM wards GROUP BY ward) w WHERE w.ward = v.ward) AS f FROM visits v
SELECT person, (SELECT SUM(floor) * 0.5 FROM wards w WHERE w.ward = v.ward) AS f, (SELECT COUNT(*) FROM wards w WHERE w.ward = v.ward) AS g FROM visits v
SELECT person, (SELECT AVG(floor) FROM wards) AS f, (SELECT COUNT(*) FROM wards WHERE floor > 100) AS g FROM visits v
SELECT e.person, e.kind, e.n, p.sex FROM (SELECT person, kind, COUNT(*) AS n FROM events GROUP BY person, kind) e JOIN people p ON p.person = e.person WHERE e.n > 1
SELECT person, COUNT(*) AS n, COUNT(DISTINCT kind) AS k, MIN(kind) AS a, MAX(amount) AS b, SUM(amount) AS c, AVG(amount) AS d, COUNT(*) FILTER (WHERE amount > 1) AS e FROM events GROUP BY person
SELECT person, BOOL_OR(ok) AS a, BOOL_AND(ok) AS b, AVG(cost) AS c, SUM(cost) AS d, MIN(day) AS e FROM visits GROUP BY person
SELECT ward, COUNT(*) AS n, SUM(floor) AS s FROM wards GROUP BY ward
SELECT COUNT(*) AS n, MAX(floor) AS m, MIN(ward) AS w FROM wards WHERE floor > 100
SELECT w.ward, u.floor FROM wards w LEFT JOIN wards u ON w.floor = u.floor + 1
SELECT w.ward, EXISTS (SELECT 1 FROM wards u WHERE u.floor > w.floor) AS x, (SELECT COUNT(*) FROM wards u WHERE u.ward = w.ward) AS n FROM wards w
SELECT person FROM people p WHERE person IN (SELECT person FROM visits WHERE ward = 'A') AND person NOT IN (SELECT person FROM events WHERE kind = 'x')
SELECT person, sex FROM people p WHERE (person, sex) IN (SELECT person, kind FROM events)
SELECT v.person, v.ward FROM visits v SEMI JOIN events e ON v.person = e.person AND (e.amount > v.age OR v.ok)
SELECT v.person, v.ward FROM visits v ANTI JOIN people p USING (person)
SELECT p.person, v.ward FROM people p LEFT JOIN visits v ON p.person = v.person AND EXISTS (SELECT 1 FROM notes n WHERE n.visit = v.visit AND n.score > 1)
SELECT p.person, v.ward FROM people p LEFT JOIN visits v ON p.person = v.person AND EXISTS (SELECT 1 FROM events e WHERE e.person = p.person AND e.amount > p.height)
SELECT p.person, v.ward FROM people p LEFT JOIN visits v ON p.person = v.person AND p.sex IN (SELECT ward FROM wards)
SELECT v.person, e.kind FROM people p LEFT JOIN visits v ON p.person = v.person JOIN events e ON v.person = e.person
SELECT person, CASE ward WHEN 'A' THEN 1 WHEN 'B' THEN 2.5 END AS x, IF(ok, age, 0) AS y, COALESCE(age, 0.5) AS z, NULLIF(age, 1) AS u, LEAST(age, 2, NULL) AS v, age IN (1, 2, NULL) AS w, ok IS NOT FALSE AS k FROM visits
SELECT person, day - DATE '2020-01-01' AS a, DATE '2020-01-01' - day AS b, day - 3 AS c, DATE_DIFF('month', DATE '2020-03-15', day) AS d, DATE_TRUNC('quarter', day) AS e, EXTRACT(dow FROM day) AS f, EXTRACT(isodow FROM day) AS g, WEEK(day) AS h, day + INTERVAL 1 MONTH AS i, day - INTERVAL (age) WEEK AS j, DATE_PART('doy', day) AS k, DATE_SUB('year', DATE '1990-03-01', day) AS l, DATE_PART('year', AGE(day, DATE '1990-03-01')) AS m FROM visits
SELECT person, zip || ward AS a, CONCAT(zip, '-', age) AS b, UPPER(zip) AS c, zip NOT LIKE 'x%' AS d, LENGTH(ward) AS e, SUBSTRING(ward, 1, 1) AS f, ward || '/' || person AS g FROM visits
SELECT v.person, v.ward FROM visits v WHERE v.ward IN (SELECT u.ward FROM visits u WHERE u.person = v.person AND u.visit <> v.visit)
WITH a AS (SELECT person, SUM(age) AS s FROM visits GROUP BY person), b AS (SELECT person, s FROM a WHERE s > 1) SELECT p.person, p.sex, b.s FROM people p LEFT JOIN b ON b.person = p.person
SELECT person, ward FROM (SELECT person, ward, ROW_NUMBER() OVER (PARTITION BY person ORDER BY visit) AS r FROM visits) WHERE r = 1
SELECT p.person, t.ward FROM people p JOIN (SELECT person, ward, ROW_NUMBER() OVER (PARTITION BY person ORDER BY visit) AS r FROM visits) t ON t.person = p.person AND t.r = 1
SELECT person, age FROM visits v WHERE age >= (SELECT MAX(u.age) FROM visits u WHERE u.person = v.person) AND (SELECT COUNT(*) FROM events e WHERE e.person = v.person) < 3
SELECT DISTINCT person, sex IS NULL AS x FROM people
SELECT person, MAX(age) - MIN(age) AS spread, COUNT(*) + 1 AS n FROM visits WHERE ok OR ok IS NULL GROUP BY person HAVING COUNT(*) > 0 AND MAX(age) IS NOT NULL
SELECT w.ward, w.floor FROM wards w SEMI JOIN wards u ON u.floor > w.floor
SELECT x.person, x.n FROM (SELECT p.person, COUNT(v.visit) AS n FROM people p LEFT JOIN visits v ON v.person = p.person GROUP BY p.person) x
SELECT a.person, a.ward, b.ward AS other FROM visits a JOIN visits b ON a.person = b.person AND a.visit < b.visit AND a.ward IS NOT DISTINCT FROM b.ward
SELECT person, visit, (SELECT COUNT(*) FROM visits u WHERE u.person = v.person AND u.day < v.day) AS before, (SELECT SUM(u.age - v.age) FROM visits u WHERE u.person = v.person) AS d FROM visits v
SELECT person, (SELECT MAX(w.floor) FROM wards w WHERE w.floor < v.age AND v.ok) AS f, (SELECT COUNT(*) FROM wards w WHERE w.ward = v.ward AND w.floor > v.age) AS g FROM visits v
SELECT ward, floor, (SELECT COUNT(*) FROM wards u WHERE u.floor < w.floor) AS f FROM wards w
SELECT person FROM visits v WHERE (SELECT COUNT(*) FROM events e WHERE e.person = v.person AND e.amount > v.age) > 0 OR (SELECT 2 * AVG(e.amount) + 1 FROM events e WHERE e.person = v.person AND (e.kind = v.zip OR v.ok)) > 3
SELECT p.person, COUNT(*) AS n FROM people p JOIN visits v ON v.person = p.person GROUP BY p.person HAVING COUNT(*) > (SELECT COUNT(*) FROM events e WHERE e.person = p.person AND e.amount > 3)
SELECT person, ward || zip AS a, CONCAT(zip, '-', ward) AS b, UPPER(zip) AS c, zip NOT LIKE 'x%' AS d, LENGTH(ward) AS e, SUBSTRING(ward, 1, 1) AS f, ward || '/' || person AS g FROM visits
SELECT person, LEFT(zip, 1) AS a, STRFTIME(day, '%Y-%m') AS b, MONTHNAME(day) AS c, LAST_DAY(day) AS d, REPLACE(zip, 'x', 'yy') AS e, SPLIT_PART(zip, '-', 1) AS f, STARTS_WITH(zip, 'x') AS g, POSITION('x' IN zip) AS h, CAST(age AS VARCHAR) AS i, TRY_CAST(zip AS INTEGER) AS j, MAKE_DATE(2020, age, 1) IS NULL AS k FROM visits WHERE age > 0
