import assert from "node:assert/strict";
import { test } from "node:test";
import { Flaw } from "../../core/problem/flaw.ts";
import { dateTime } from "./fields.ts";

test("accepts exactly the days of the calendar, with Z and with an offset", () => {
  const { parse } = dateTime().kind;
  for (const year of [1900, 2000, 2023, 2024])
    for (let month = 0; month <= 13; month++)
      for (let day = 0; day <= 32; day++) {
        const date = [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
        const isOfCalendar = new Date(Date.UTC(year, month - 1, day)).toISOString().startsWith(date);
        for (const time of ["T23:59:59.999Z", "T23:59:59.999+00:00"]) {
          const parsed = parse(date + time);
          if (isOfCalendar) assert.equal(parsed, `${date}T23:59:59.999Z`);
          else assert.ok(parsed instanceof Flaw, date);
        }
      }
});

for (const time of ["24:00:00.000", "23:60:00.000", "23:59:60.000", "23:59:59.99", "3:59:59.9990"])
  test(`does not store the time ${time} unchanged`, () => {
    assert.notEqual(dateTime().kind.parse(`2026-01-31T${time}Z`), `2026-01-31T${time}Z`);
  });
