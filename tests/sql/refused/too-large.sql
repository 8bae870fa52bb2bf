SELECT SUM(cost * 1e400000000) FROM visits
SELECT COUNT(*) FROM visits GROUP BY CUBE (ward, zip, cost, age, ok, day, visit)
SELECT COUNT(*) FROM visits GROUP BY MONTH(day), DAY(day), WEEK(day), DAYOFYEAR(day)
SELECT COUNT(*) FROM visits v CROSS JOIN wards a CROSS JOIN wards b CROSS JOIN wards c CROSS JOIN wards d CROSS JOIN wards e CROSS JOIN wards f CROSS JOIN wards g CROSS JOIN wards h CROSS JOIN wards i CROSS JOIN wards j CROSS JOIN wards k CROSS JOIN wards l
SELECT SUM(age + 1e15) FROM visits
