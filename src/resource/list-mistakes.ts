import { shownName, suggestion } from "../core/checking/nearest.ts";
import { everyOperator, orderOperators, textOperators, type Operator } from "../core/operators.ts";
import { isShown, type Field } from "./declaration/field.ts";

const ORDERED: ReadonlySet<Operator> = new Set(orderOperators);
const LIST_PARAMETERS = new Set(["limit", "cursor", "sort", "fields"]);
const MAX_SORTED_LENGTH = 1000;

/** Returns the mistakes in the filter of a field. */
export function filterMistakes(name: string, field: Field, operators: readonly Operator[]): string[] {
  const mistakes: string[] = [];
  const { type } = field.kind.column;
  if (LIST_PARAMETERS.has(name))
    mistakes.push("every list has a parameter of this name; rename the field or leave the filter out");
  if (!isShown(field)) mistakes.push("a search would reveal a field that is never shown; leave the filter out");
  const { members } = field.kind;
  if (type === "json" && members === undefined)
    mistakes.push("a JSON value cannot be filtered by; leave the filter out");
  if (members !== undefined && operators.some((each) => each !== "eq" && each !== "in"))
    mistakes.push("the filters of a list of ids are eq and in; leave the others out");
  if (operators.length === 0) mistakes.push('no operator is named; name some, like ["eq"], or leave the filter out');
  for (const operator of operators) {
    if (!everyOperator.includes(operator))
      mistakes.push(
        `there is no operator ${shownName(String(operator))}${suggestion(String(operator), everyOperator)}`,
      );
    if (textOperators.has(operator) && type !== "text")
      mistakes.push(`${operator} needs a text; leave the operator out`);
    if (ORDERED.has(operator) && type === "boolean")
      mistakes.push(`${operator} has no meaning for true and false; leave the operator out`);
    if (operator === "null" && field.options.optional !== true)
      mistakes.push("null needs an optional field; make it one or leave the operator out");
  }
  return mistakes;
}

/** Returns the mistakes in the sort by a field. */
export function sortMistakes(field: Field): string[] {
  const { kind } = field;
  if (!isShown(field)) return ["the order would reveal a field that is never shown; leave the sort out"];
  if (kind.column.type === "json") return ["a JSON value cannot be sorted by; leave the sort out"];
  // The link to the next page contains the value. It must fit into the request line, which has at most 8 KiB.
  if (Number(kind.schema["maxLength"] ?? 0) > MAX_SORTED_LENGTH)
    return [
      `the cursor contains the value, and it would make addresses too long; give it a maxLength of ${MAX_SORTED_LENGTH} or less`,
    ];
  return [];
}
