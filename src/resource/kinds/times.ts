import type { Only } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { defineField, Flaw, type Field, type FieldOptions, type OptionNames } from "../declaration/field.ts";
import { declaresColumns } from "./column-kinds.ts";
import { fieldOptions, reportThroughResource } from "./field-mistakes.ts";
import { dateTime } from "./fields.ts";

/**
 * Declares a day (RFC 3339, `full-date`): `2026-01-31`. A text without a time zone, from the year 0000 to 9999. A day
 * that does not exist is refused.
 */
export function date<const O extends FieldOptions<string> = {}>(
  options?: Only<O, FieldOptions<string>>,
): Field<string, OptionNames<O>["names"]>;
export function date(options: FieldOptions<string> = {}): Field<string> {
  const flaw = new Flaw("invalid", "A date is required, like 2026-01-31 (RFC 3339).");
  const parse = (value: unknown): string | Flaw => (typeof value === "string" && isDay(value) ? value : flaw);
  return defineField(
    {
      name: "date",
      parse,
      parseText: parse,
      schema: { type: "string", format: "date" },
      column: { type: "date" },
      rule: {},
    },
    options,
  );
}

declaresColumns("date", { columns: /^date$/, type: "date", values: "dates (2026-01-31)" });

function isDay(value: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  // The calendar repeats every 400 years, and Date.UTC maps the years 0 to 99 to 1900 to 1999.
  const lastDay = new Date(Date.UTC((year % 400) + 400, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay;
}

const updatedAtOptions: ChecksOf<UpdatedAtOptions> = {
  optional: fieldOptions.optional,
  description: fieldOptions.description,
  example: fieldOptions.example,
};

/** The options of `updatedAt`. */
export type UpdatedAtOptions = Pick<FieldOptions<string>, "optional" | "description" | "example">;

/**
 * Declares the time of the last write of the record. The service sets it at each write, and it is read-only. Use
 * `optional` if records already exist, because they have no value until their next write.
 */
export function updatedAt<const O extends UpdatedAtOptions = {}>(
  options?: Only<O, UpdatedAtOptions>,
): Field<string, OptionNames<O>["names"] | "generated">;
export function updatedAt(options: UpdatedAtOptions = {}): Field<string> {
  return reportThroughResource(() => updatedAtField(options));
}

function updatedAtField(options: UpdatedAtOptions): Field<string> {
  requireOptions(options, updatedAtOptions, { of: "updatedAt" });
  const { kind } = dateTime();
  return defineField(kind, { ...options, generated: formatInstant, regenerated: true });
}

/** Returns the current time in the form of stored date-times. */
export function formatInstant({ now }: { readonly now: number }): string {
  return new Date(now).toISOString();
}
