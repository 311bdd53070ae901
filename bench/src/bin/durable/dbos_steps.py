"""A workflow of DBOS with steps that do nothing: the time of its journal. Usage: dbos_steps.py DATABASE STEPS"""

import sys
import time

from dbos import DBOS

DBOS(config={
    "name": "bench",
    "system_database_url": "sqlite:///" + sys.argv[1],
    "log_level": "ERROR",
    "run_admin_server": False,
})


@DBOS.step()
def step(number):
    return {"number": number}


@DBOS.workflow()
def work(steps):
    return sum(step(number)["number"] for number in range(steps))


DBOS.launch()
work(5)
begun = time.perf_counter()
work(int(sys.argv[2]))
print((time.perf_counter() - begun) * 1000)
DBOS.destroy()
