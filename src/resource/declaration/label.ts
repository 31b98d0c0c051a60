import { isObject, isText, joinMistakes, membersMistakes, seen, type ValueCheck } from "../../core/checking/members.ts";

/** The words of pages for the records of a resource: `{ one: "Loan", many: "Loans" }`. */
export interface ResourceLabel {
  /** One record. */
  readonly one: string;
  /** Several records. */
  readonly many: string;
}

const MAX_CHARACTERS = 60;

/** Checks a label: one line of at most 60 characters. */
export const aLabel: ValueCheck = seen((value) => {
  if (!isText(value)) return 'it has to be a text, like "Due at"';
  if (value.trim() === "" || value.trim() !== value) return "it has to be a word, without white space at its ends";
  if (/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/.test(value) || !value.isWellFormed())
    return "it has to be one line, without control characters";
  const { length } = [...value];
  return length > MAX_CHARACTERS ? `it has ${length} characters; shorten it to at most ${MAX_CHARACTERS}` : null;
});

/** Checks the label of a resource. */
export const aResourceLabel: ValueCheck = (value) =>
  isObject(value)
    ? joinMistakes(membersMistakes(value, { one: aLabel, many: aLabel }))
    : 'it has to be { one: "Loan", many: "Loans" }';
