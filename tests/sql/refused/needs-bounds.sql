SELECT SUM(person) FROM visits
SELECT AVG(zip) FROM visits
SELECT SUM(cost / age) FROM visits
SELECT MEDIAN(visit) FROM visits
SELECT STDDEV(visit) FROM visits
SELECT MIN(zip) FROM visits
SELECT SUM(GREATEST(visit, 0)) FROM visits
SELECT SUM(x) FROM (SELECT person, SUM(visit) AS x FROM visits GROUP BY person)
SELECT SUM(TRY_CAST(zip AS INTEGER)) FROM visits
SELECT AVG(zip || 'x') FROM visits
SELECT SUM(visit * cost) FROM visits
SELECT SUM(CAST(zip AS DOUBLE)) FROM visits
