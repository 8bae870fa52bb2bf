SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward
SELECT COUNT(*) FROM visits a JOIN people p ON a.age = p.person
SELECT COUNT(*) FROM visits a JOIN visits b USING (ward)
SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.person OR v.age = 1
SELECT COUNT(*) FROM visits CROSS JOIN people
SELECT COUNT(*) FROM visits v, people p WHERE v.person > p.person
SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.person + 1
SELECT COUNT(*) FROM (SELECT person % 2 AS person, cost FROM visits) a JOIN (SELECT person % 2 AS person FROM visits) b ON a.person = b.person
SELECT COUNT(*) FROM (SELECT age AS person FROM visits) a JOIN people p ON a.person = p.person
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT sex FROM people)
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits u WHERE u.ward = v.ward)
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits WHERE visits.person = visits.person)
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE p.person = v.person OR TRUE)
SELECT COUNT(*) FROM people WHERE person IN (SELECT age FROM visits)
SELECT COUNT(*) FROM people WHERE person NOT IN (SELECT person + 1 FROM visits)
SELECT SUM(CASE WHEN cost > (SELECT MAX(cost) FROM visits) THEN 1 ELSE 0 END) FROM visits
SELECT COUNT(*) FILTER (WHERE cost > (SELECT MIN(cost) FROM visits)) FROM visits
SELECT COUNT(*) FROM (SELECT person, ROW_NUMBER() OVER (ORDER BY cost) AS r FROM visits) WHERE r = 1
SELECT SUM(x) FROM (SELECT person, SUM(cost) OVER (PARTITION BY ward) AS x FROM visits)
SELECT COUNT(*) FROM (SELECT person, RANK() OVER (PARTITION BY person % 2 ORDER BY cost) AS r FROM visits) WHERE r = 1
SELECT COUNT(*) FROM (SELECT person, cost FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY ward ORDER BY cost) = 1)
SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward AND EXISTS (SELECT 1 FROM visits u WHERE u.ward = w.ward)
SELECT COUNT(*) FROM visits v JOIN (SELECT w.ward FROM wards w WHERE w.ward IN (SELECT ward FROM visits)) x ON v.ward = x.ward
SELECT COUNT(*) FROM notes a JOIN notes b ON a.visit = b.visit
SELECT COUNT(*) OVER () FROM visits
SELECT COUNT(*) FROM (SELECT person, SUM(cost) OVER (ORDER BY day) AS x FROM visits)
