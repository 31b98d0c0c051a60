import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import type { Offer } from "../../../http/request/view.ts";
import { pointerTo } from "../../../resource/pointer.ts";
import { excerptText, inCell } from "../excerpt.ts";
import { writeControl, writeFind } from "./controls.ts";
import type { FormRecords } from "./form-records.ts";
import type { Input } from "./inputs.ts";
import type { Options } from "./options.ts";

/** The parts of one field of a form, apart from its declaration. */
interface FormField {
  /** The value of the record, or what was typed. */
  readonly value: unknown;
  /** The typed time zone of a time. */
  readonly zone: unknown;
  /** True for a form that was not sent yet: it shows the default. */
  readonly isNew: boolean;
  readonly mistakes: readonly Issue[];
  /** The records that a reference may name. Null if the field is none, or the caller may list no records. */
  readonly options: Options | null;
  /** The names of the records that the value refers to. */
  readonly names: ReadonlyMap<number | string, string>;
  /** The prefix of ids, for a page with several forms. */
  readonly prefix: string;
}

/** Writes one field: its label, its hint, its mistakes and its control. */
function writeFormField(input: Input, field: FormField): Markup {
  const id = `${field.prefix}${input.name}`;
  const hint = writeHint(input, id);
  const wrong = field.mistakes.map(({ detail }) => detail).join(" ");
  const described = [...(wrong === "" ? [] : [`${id}-wrong`]), ...(hint === "" ? [] : [`${id}-hint`])];
  const marks = html`${described.length === 0 ? "" : html` aria-describedby="${described.join(" ")}"`}${wrong === "" ? "" : html` aria-invalid="true"`}`;
  const wrongLine = wrong === "" ? "" : html`<p class="wrong" id="${id}-wrong">${wrong}</p>`;
  const value = field.isNew && field.value === undefined ? input.initial : field.value;
  if (input.isBox) return writeBox(input, { id, marks, wrongLine, isChecked: value === true || value === "true" });
  const label = html`${input.label}${isOptional(input) ? html` <span class="opt">(optional)</span>` : ""}`;
  const boxes = collectBoxes(input, value, field);
  if (boxes !== null)
    return html`<fieldset class="field" id="${id}" tabindex="-1"${marks}><legend>${label}</legend>
${hint}${wrongLine}${boxes}</fieldset>
`;
  const zone = typeof field.zone === "string" ? { zone: field.zone } : {};
  const options = input.checkboxes === null ? field.options : null;
  const control = writeControl({ input, id, value, ...zone, options, names: field.names, marks });
  return html`<div class="field${isShort(input) ? " short" : ""}"><label for="${id}">${label}</label>
${hint}${wrongLine}${control}</div>
`;
}

function isOptional({ isEmptiable, isNeeded, initial, field }: Input): boolean {
  if (initial !== undefined && initial !== null) return false;
  return isEmptiable || (!isNeeded && field?.options.default !== undefined);
}

function isShort({ control, choices, field }: Input): boolean {
  if (control === "date" || control === "time" || choices !== null) return true;
  const type = field?.kind.column.type;
  return field?.kind.references === undefined && (type === "integer" || type === "decimal" || type === "double");
}

function writeHint({ description, control }: Input, id: string): PageContent {
  const zone = html`In the time of <span data-zone="${id}-zone">UTC</span>.`;
  if (control === "time")
    return html`<p class="hint" id="${id}-hint">${description === undefined ? "" : html`${description} `}${zone}</p>`;
  return description === undefined ? "" : html`<p class="hint" id="${id}-hint">${description}</p>`;
}

interface Box {
  readonly id: string;
  readonly marks: PageContent;
  readonly wrongLine: PageContent;
  readonly isChecked: boolean;
}

// A browser sends nothing for an unchecked checkbox, so a hidden input of the same name comes first.
function writeBox({ name, label, description }: Input, { id, marks, wrongLine, isChecked }: Box): Markup {
  const hint = description === undefined ? "" : html`<span class="hint" id="${id}-hint">${description}</span>`;
  return html`<div class="field">${wrongLine}<input type="hidden" name="${name}" value="false"><label class="pick"><input type="checkbox" id="${id}" name="${name}" value="true"${isChecked ? html` checked` : ""}${marks}> <span><b>${label}</b>${hint}</span></label></div>
`;
}

/** Writes a checkbox for each possible and each current value. Null if the field holds one value, or too many. */
function collectBoxes(input: Input, value: unknown, { options, names, prefix }: FormField): Markup | null {
  const { checkboxes, name } = input;
  if (checkboxes === null) return null;
  const current = [value ?? []].flat();
  if (!current.every((each) => typeof each === "number" || typeof each === "string")) return null;
  const offered = checkboxes.among ?? options?.records.map(({ id }) => id) ?? [];
  const all = [...new Set([...current, ...offered].map(String))].filter((each) => each !== "");
  const nameOf = (id: string): string => {
    const record = options?.records.find((each) => String(each.id) === id);
    const known = [...names].find(([each]) => String(each) === id)?.[1];
    return record?.name ?? known ?? (checkboxes.among === null ? id : input.nameValue(id));
  };
  const boxes = all.map(
    (each) =>
      html`<label class="pick"><input type="checkbox" name="${name}" value="${each}"${current.some((one) => String(one) === each) ? html` checked` : ""}> <span dir="auto">${excerptText(nameOf(each), inCell.characters)}</span></label>
`,
  );
  const more = checkboxes.among === null && options?.hasMore !== false;
  const find = writeFind(input, `${prefix}${name}`);
  return html`<input type="hidden" name="${name}" value="">${boxes}${more ? find : ""}`;
}

/** The fields of one form, with what it shows. */
export interface FormFields {
  readonly offer: Offer;
  readonly inputs: readonly Input[];
  readonly records: FormRecords;
  /** The values of the record, and over them what was typed. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The typed values. Null for a form that was not sent yet. */
  readonly typed: Readonly<Record<string, unknown>> | null;
  readonly mistakes: readonly Issue[];
  readonly prefix: string;
}

/** Writes the fields of a form. */
export function writeFormFields({ offer, inputs, records, values, typed, mistakes, prefix }: FormFields): Markup {
  const fields = inputs.map((input) =>
    writeFormField(input, {
      value: values[input.name],
      zone: typed?.[`${input.name}.zone`],
      isNew: offer.method === "POST" && typed === null,
      mistakes: mistakes.filter(({ pointer }) => isAt(pointer, input.name)),
      options: records.options.get(input.name) ?? null,
      names: records.names.get(input.name) ?? new Map(),
      prefix,
    }),
  );
  return html`${fields}`;
}

/** True if a JSON pointer leads to a field or into it. */
export function isAt(pointer: string, name: string): boolean {
  const at = pointerTo(name);
  return pointer === at || pointer.startsWith(`${at}/`);
}
