import type { ValueCheck } from "../../core/checking/members.ts";

/** A field of a resource, by the plural of the resource: `people.salary`. */
export type RevealedField = `${string}.${string}`;

/** Checks the fields that code shows on purpose. */
export const someReveals: ValueCheck = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === "string" && /^[^.\s]+\.[^.\s]+$/.test(each))
    ? null
    : 'it has to be a list of fields, like ["people.salary"]';
