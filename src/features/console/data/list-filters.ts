import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import type { Field } from "../../../resource/declaration/field.ts";
import { nameField, nameOne } from "../../../resource/record-labels.ts";
import type { Operator, Resource } from "../../../resource/resource.ts";
import { readParameters, withParameters } from "../addresses.ts";
import { loadOptions } from "../forms/options.ts";
import { labelsOf } from "../labels.ts";
import { nameMany, referredBy, type Drawing, type Site } from "../site.ts";
import { dayText, nameChoice, timeText } from "../values.ts";

/** The words in front of a value, for the operators that a control has. */
const relations: Readonly<Partial<Record<Operator, string>>> = {
  eq: "is",
  ne: "is not",
  lt: "below",
  lte: "at most",
  gt: "above",
  gte: "at least",
  contains: "contains",
  icontains: "contains",
  starts: "begins with",
  istarts: "begins with",
};

/** The words of operators for days and times. */
const ofTime: Readonly<Partial<Record<Operator, string>>> = {
  eq: "on",
  ne: "not on",
  lt: "before",
  lte: "until",
  gt: "after",
  gte: "from",
};

/** Draws the form of filters in a menu: one control for each useful question. It works without the script. */
export async function drawFilters({ site, view }: Drawing, resource: Resource): Promise<PageContent> {
  const controls = await Promise.all(
    [...resource.filters].map(([name, operators]) => drawFilter({ site, view }, resource, name, operators)),
  );
  const shown = controls.filter((each) => each !== "");
  if (shown.length === 0) return "";
  const named = new Set(resource.filters.keys());
  const retained = retainedInputs(view, (name) => named.has(name.replace(/\[[a-z]+\]$/, "")));
  return html`<details class="menu">
    <summary class="btn">Filter</summary>
    <div>
      <form class="form" action="${view.call.path}">
        ${retained}${shown}
        <div class="row"><button class="btn main">Show</button> <a class="btn" href="${view.call.path}">All ${nameMany(resource).toLowerCase()}</a></div>
      </form>
    </div>
  </details>`;
}

/**
 * Returns hidden inputs with the current parameters, for a form that sets others. Leaves out the cursor, so that the
 * list starts at its first page.
 */
export function retainedInputs(view: View, isSet: (name: string) => boolean): readonly Markup[] {
  const retained = readParameters(view).filter(([name]) => name !== "cursor" && !isSet(name));
  return retained.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

type Operators = readonly Operator[];

async function drawFilter(
  { site, view }: { readonly site: Site; readonly view: View },
  { fields }: Resource,
  name: string,
  operators: Operators,
): Promise<PageContent> {
  const field = Object.hasOwn(fields, name) ? fields[name]! : null;
  if (field === null) return "";
  const label = nameField(name, field);
  const to = referredBy(site, field);
  if (to !== null) return operators.includes("eq") ? drawReferenceFilter({ site, view }, name, label, to) : "";
  if (field.kind.references !== undefined || field.kind.members !== undefined) return "";
  const words = field.kind.column.type === "boolean" ? [true, false] : field.kind.schema["enum"];
  if (Array.isArray(words)) return drawWordsFilter(view, { name, label, field, words, operators });
  return chooseOperators(field, operators).map((operator) => drawValueFilter(view, { name, label, field, operator }));
}

async function drawReferenceFilter(
  { site, view }: { readonly site: Site; readonly view: View },
  name: string,
  label: string,
  to: Resource,
): Promise<PageContent> {
  const listed = (await view.offers(to.path)).find(({ action }) => action === "list")?.resource ?? null;
  const records = listed === null ? [] : (await loadOptions(site, view, listed)).records;
  if (records.length === 0) return "";
  const chosen = findFilter(view, name, "eq")[0];
  const id = `filter-${name}`;
  const options = records.map(
    (each) => html`<option value="${each.id}"${String(each.id) === chosen ? selected : ""}>${each.name}</option>`,
  );
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${parameterOf(name, "eq")}"><option value="">Any</option>${options}</select></div>`;
}

interface WordsFilter {
  readonly name: string;
  readonly label: string;
  readonly field: Field;
  readonly words: readonly unknown[];
  readonly operators: Operators;
}

/** A repeated filter matches either value, so that checkboxes need no script. */
function drawWordsFilter(view: View, { name, label, field, words, operators }: WordsFilter): PageContent {
  if (!operators.includes("eq") && !operators.includes("in")) return "";
  const chosen = [...findFilter(view, name, "eq"), ...findFilter(view, name, "in").flatMap((each) => each.split(","))];
  const parameter = operators.includes("in") ? `${name}[in]` : parameterOf(name, "eq");
  const boxes = words.map(
    (each) =>
      html`<label class="pick"><input type="checkbox" name="${parameter}" value="${String(each)}"${chosen.includes(String(each)) ? html` checked` : ""}> <span>${nameChoice(field, each)}</span></label>`,
  );
  return html`<fieldset class="field"><legend>${label}</legend>${boxes}</fieldset>`;
}

/** Returns the operators that get a control. A form with each of them would be too long. */
function chooseOperators({ kind }: Field, operators: Operators): Operators {
  const { type } = kind.column;
  if (type === "json") return [];
  if (type !== "text") {
    const range = operators.filter((each) => ["gte", "lte"].includes(each));
    return range.length > 0 ? range : operators.filter((each) => ["eq", "gt", "lt"].includes(each));
  }
  const best = (["icontains", "contains", "istarts", "starts", "eq"] as const).find((each) => operators.includes(each));
  return best === undefined ? [] : [best];
}

interface ValueFilter {
  readonly name: string;
  readonly label: string;
  readonly field: Field;
  readonly operator: Operator;
}

function drawValueFilter(view: View, { name, label, field, operator }: ValueFilter): Markup {
  const id = `filter-${name}-${operator}`;
  const { type } = field.kind.column;
  const words = (type === "date" || type === "date-time" ? ofTime : relations)[operator] ?? "";
  const [value = ""] = findFilter(view, name, operator);
  if (type === "date-time")
    return html`<div class="field"><label for="${id}">${label} ${words}</label><p class="hint" id="${id}-hint">In the time of <span data-zone>UTC</span>.</p><input id="${id}" name="${parameterOf(name, operator)}" value="${value}" data-time placeholder="2026-01-31T09:30:00Z" aria-describedby="${id}-hint" autocomplete="off"></div>`;
  const kind = type === "date" ? html` type="date"` : type === "text" ? html` dir="auto"` : html` inputmode="decimal"`;
  return html`<div class="field"><label for="${id}">${label} ${words}</label><input id="${id}" name="${parameterOf(name, operator)}" value="${value}"${kind} autocomplete="off"></div>`;
}

const selected = html` selected`;

/** Returns the parameter of a filter. The names of the service's own parameters need the operator. */
function parameterOf(field: string, operator: Operator): string {
  return operator === "eq" && field !== "format" && field !== "form" ? field : `${field}[${operator}]`;
}

function findFilter(view: View, field: string, operator: Operator): readonly string[] {
  const names = operator === "eq" ? [field, `${field}[eq]`] : [`${field}[${operator}]`];
  return readParameters(view).flatMap(([name, value]) => (names.includes(name) ? [value] : []));
}

/** A filter in use, with its values. */
interface UsedFilter {
  readonly field: string;
  readonly operator: Operator;
  readonly values: string[];
}

function collectUsed(view: View, resource: Resource): ReadonlyMap<string, UsedFilter> {
  const used = new Map<string, UsedFilter>();
  for (const [name, value] of readParameters(view)) {
    const [, field = "", operator = "eq"] = /^([a-z][a-z0-9_]*)(?:\[([a-z]+)\])?$/.exec(name) ?? [];
    if (!resource.filters.has(field) || (name === "search" && resource.search.length > 0)) continue;
    const known = used.get(name);
    if (known === undefined) used.set(name, { field, operator: operator as Operator, values: [value] });
    else known.values.push(value);
  }
  return used;
}

/** Returns the filters in use, in words, each with a link that removes it. */
export async function drawChips({ site, view }: Drawing, resource: Resource): Promise<PageContent> {
  const used = collectUsed(view, resource);
  if (used.size === 0) return "";
  const chips = await Promise.all(
    [...used].map(async ([name, filter]) => {
      const text = await describeFilter(site, view, resource, filter);
      return html`<li class="x"><a href="${withParameters(view, { [name]: null })}" aria-label="${text}. Remove this filter" dir="auto">${text}</a></li>`;
    }),
  );
  const none = Object.fromEntries([...used.keys()].map((name) => [name, null]));
  const all = html`<li class="all"><a href="${withParameters(view, none)}">Remove all</a></li>`;
  return html`<ul class="chips" aria-label="Filters in use">${chips}${used.size > 1 ? all : ""}</ul>`;
}

/** Returns a filter as a person says it: `State: open, in work or late`. */
async function describeFilter(
  site: Site,
  view: View,
  { fields }: Resource,
  { field: name, operator, values }: UsedFilter,
): Promise<string> {
  const field = Object.hasOwn(fields, name) ? fields[name]! : null;
  const label = name === "id" ? "Number" : nameField(name, field);
  if (operator === "null") return `${values.includes("true") ? "Without" : "With"} ${label}`;
  const all = (operator === "in" ? values.flatMap((each) => each.split(",")) : values).slice(0, MOST_VALUES);
  const to = field === null ? null : referredBy(site, field);
  const shown = to === null ? all.map((each) => nameFilterValue(field, each)) : await nameRecords(site, view, to, all);
  const list = shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)!}`;
  const type = field?.kind.column.type ?? "integer";
  const isEqual = operator === "eq" || operator === "in";
  if (isEqual && (to !== null || name === "id" || field?.kind.tone !== undefined || type === "boolean"))
    return `${label}: ${list}`;
  const words = (type === "date" || type === "date-time" ? ofTime : relations)[operator] ?? "is";
  return `${label} ${words} ${type === "text" ? `“${list}”` : list}`;
}

/** The most values of one filter that are named. */
const MOST_VALUES = 10;

async function nameRecords(site: Site, view: View, to: Resource, ids: readonly string[]): Promise<readonly string[]> {
  const keys = ids.map((id) => (to.id === "integer" && /^\d{1,15}$/.test(id) ? Number(id) : id));
  const names = await labelsOf(site, view, to, keys);
  return keys.map((id) => names?.get(id) ?? nameOne(to, id));
}

function nameFilterValue(field: Field | null, value: string): string {
  if (field === null) return value;
  const { column, tone } = field.kind;
  if (column.type === "boolean") return value === "true" ? "yes" : "no";
  if (column.type === "date") return dayText(value);
  if (column.type === "date-time") return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? timeText(value) : value;
  return tone === undefined ? value : withSmallLetter(nameChoice(field, value));
}

/** Returns words with a small first letter, for use within a sentence. Does not change a word like `URL`. */
function withSmallLetter(words: string): string {
  const [first = "", second = ""] = words;
  return second !== "" && second === second.toUpperCase() ? words : first.toLowerCase() + words.slice(1);
}
