"""Files as people have them, for whoever plays a newcomer: pay without an id, a survey with odd names and mixed cells, a shop of several tables."""

import random


def write_salaries(folder):
    rng = random.Random(1)
    rows = [f"{rng.randint(18, 65)},{rng.choice(['clerk', 'boss'])},{rng.randint(20_000, 90_000)}" for _ in range(500)]
    (folder / "salaries.csv").write_text("\n".join(["age,Job Title,salary", *rows]) + "\n")


def write_survey(folder):
    rng = random.Random(2)
    rows = [
        f"{rng.choice(['n/a', *range(20, 60)])};{rng.uniform(150, 200):.1f};{rng.choice(['yes', 'no'])};{rng.choice(['grün', 'rot'])};0{rng.randint(1000, 9999)};;{rng.choice(['n/a', *range(2)])}"
        for _ in range(500)
    ]
    header = "What is your age?;größe (cm);is-member;favourite colour;PLZ;€ $ x;都市から (km)"
    (folder / "survey 2024-results.csv").write_text("\n".join([header, *rows]) + "\n")


def write_shop(folder):
    rng = random.Random(3)
    customers = [f"{at},name {at},{rng.choice(['Rome', 'Oslo'])}" for at in range(100)]
    orders = [
        f"{at},{rng.randrange(100)},{rng.random() * 99:.2f},2024-03-{1 + at % 28:02} 10:30:00" for at in range(400)
    ]
    items = [f"{at},{rng.randrange(400)},{rng.randrange(9)}" for at in range(900)]
    (folder / "customers.csv").write_text("\n".join(["id,name,city", *customers]) + "\n")
    (folder / "orders.csv").write_text("\n".join(["order_id,customer_id,amount,ordered at", *orders]) + "\n")
    (folder / "order_items.csv").write_text("\n".join(["item_id,order_id,product_id", *items]) + "\n")
